"""A plan that was edited, or is none, is refused in one line."""

import json
from pathlib import Path

import jsonschema
import pytest
from block_folders import part_of

from mediaeval_ap import collect
from mediaeval_ap.errors import FormatError

SCHEMAS = Path(__file__).parents[2] / 'docs/reference/schemas'
EDITED = 'found an edited plan, expected what evaluate wrote; begin in another folder'
EDITS = {
    'a list': (lambda _: '[]', 'schema: found [], expected mediaeval-ap/plan/2; begin in another'),
    'cut': (lambda text: text[:-9], 'found no JSON: '),
    'results': (
        lambda text: text.replace('mediaeval-ap/plan/2', 'mediaeval-ap/results/1'),
        "schema: found 'mediaeval-ap/results/1', expected mediaeval-ap/plan/2; begin in another",
    ),
    'a number': (lambda text: text.replace('"n_queries": 41', '"n_queries": 40'), EDITED),
}


@pytest.mark.parametrize('settings', [{}, {'measures': 'RR', 'subset': 'subset.txt'}])
def test_schema(campaign, settings):
    part_of(**settings)
    shape = json.loads((SCHEMAS / 'plan-2.schema.json').read_text())
    jsonschema.Draft202012Validator(shape).validate(json.loads(Path('out/plan.json').read_text()))


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
        assert told in str(caught.value)
