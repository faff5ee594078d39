"""A plan that was edited, or is none, is refused in one line."""

import json
import re
import tempfile
from pathlib import Path

import pytest
from block_folders import part_of, write_campaign
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from mediaeval_ap import __version__ as VERSION
from mediaeval_ap import collect
from mediaeval_ap.errors import FormatError

PLAN = 'expected the plan of an evaluation; begin again in another folder'
EDITS = {
    'nothing': (lambda _: '', f'line 1: found no JSON: Expecting value, {PLAN}'),
    'a list': (lambda _: '[]', f'found no plan, {PLAN}'),
    'cut': (lambda text: text[:-9], f"line 39: found no JSON: Expecting ',' delimiter, {PLAN}"),
    'a key twice': (
        lambda text: text.replace('"n_queries": 41', '"n_queries": 1, "n_queries": 41'),
        "found the key 'n_queries' twice, expected each key of an object once",
    ),
    'results': (
        lambda text: text.replace('mediaeval-ap/plan/1', 'mediaeval-ap/results/1'),
        'schema: found mediaeval-ap/results/1, expected mediaeval-ap/plan/1; use the version that '
        'began this folder, or begin again in another one',
    ),
    'a number': (
        lambda text: text.replace('"n_queries": 41', '"n_queries": 40'),
        'found an edited plan, expected what evaluate wrote; begin again in another folder',
    ),
    'a text': (
        lambda text: text.replace('"n_queries": 41', '"n_queries": "41"'),
        'found an edited plan, expected what evaluate wrote; begin again in another folder',
    ),
    'no blocks': (
        lambda text: text.replace('"block_queries": 3', '"block_queries": 0'),
        'found an edited plan, expected what evaluate wrote; begin again in another folder',
    ),
    'a name': (
        lambda text: text.replace('"run.txt"', '"ruin.txt"'),
        'found an edited plan, expected what evaluate wrote; begin again in another folder',
    ),
    'no runs': (
        lambda text: json.dumps({**json.loads(text), 'runs': None}),
        'found an edited plan, expected what evaluate wrote; begin again in another folder',
    ),
}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@examples(0.5)  # each begins a folder
@given(st.data())
def test_any_other_plan_is_refused_in_one_line(data):
    """Also one whose values are of other types."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        write_campaign(Path(folder))
        patch.chdir(folder)
        part_of(part=(1, 40))
        path = Path('out/plan.json')
        value = json.loads(path.read_text())
        field = data.draw(st.sampled_from(sorted(value)))
        other = data.draw(values.filter(lambda each: each != value[field]))
        content = data.draw(
            st.binary()
            | st.just(json.dumps({**value, field: other}, indent=2).encode())
            | st.builds(lambda each: json.dumps(each).encode(), values)
        )
        path.write_bytes(content)
        with pytest.raises(FormatError, match=r'^out/plan\.json') as caught:
            collect('out')
        assert str(caught.value).isprintable()


def test_a_plan_of_many_brackets_is_refused(campaign):
    part_of()
    for n_brackets in 500, 900, 100_000:
        brackets = '[' * n_brackets + ']' * n_brackets
        for text in brackets, f'{{"schema": {brackets}, "version": "{VERSION}"}}':
            Path('out/plan.json').write_text(text)
            with pytest.raises(FormatError, match=r'^out/plan\.json(, schema)?: found '):
                collect('out')


@pytest.mark.parametrize('edit', EDITS)
def test_a_plan_that_was_edited_is_refused(campaign, edit):
    part_of()
    change, told = EDITS[edit]
    path = Path('out/plan.json')
    before = path.read_text()
    path.write_text(change(before))
    assert path.read_text() != before
    for call in part_of, lambda: collect('out'):
        with pytest.raises(FormatError) as caught:
            call()
        assert re.sub(r'plan\.json(,|:) ', 'plan.json: ', str(caught.value)) == (
            f'out/plan.json: {told}'
        )
