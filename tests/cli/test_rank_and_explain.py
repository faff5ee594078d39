"""The commands `rank` and `explain`: what they write in each format, and its JSON by the schema."""

import json
from pathlib import Path

import pytest
from challenge_inputs import SAMPLES
from commands import json_of, output_of, refused
from schemas import follow_schema

from mediaeval_ap import AveragePrecision
from mediaeval_ap.render.formats import render

OTHER = 'other.txt'
EXPLAIN = 'explain', 'reference.txt', 'hypothesis.txt', '--quiet'

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')


@pytest.fixture(autouse=True)
def samples(monkeypatch, tmp_path):
    """The samples, and a run that lacks the last hypotheses of theirs."""
    for name in ('reference.txt', 'hypothesis.txt', 'queries.txt'):
        (tmp_path / name).write_bytes((SAMPLES / name).read_bytes())
    lines = (tmp_path / 'hypothesis.txt').read_text().splitlines(keepends=True)
    (tmp_path / OTHER).write_text(''.join(lines[:9000]))
    monkeypatch.chdir(tmp_path)


def explained(*options):
    return output_of(*EXPLAIN, *options)


def in_json(*options):
    written = json_of(*EXPLAIN, *options)
    follow_schema(written, 'diagnosis-1')
    return written


def in_python(queries='queries.txt', *, hypothesis='hypothesis.txt', k=100, near=0.2, **criteria):
    return AveragePrecision('reference.txt', **criteria).explain(
        hypothesis, queries, k=k, near=near
    )


@pytest.mark.parametrize('depth', ['-n', '-k', '-K', '--depth'])
def test_rank(depth):
    options = depth, '3', '--format', 'jsonl'
    lines = output_of('rank', 'reference.txt', 'hypothesis.txt', 'nicolas_sarkozy', *options)
    assert [json.loads(line)['relevant'] for line in lines.splitlines()] == [False, False, True]
    refused('rank', 'reference.txt', 'hypothesis.txt', '')


def test_what_is_shown():
    queries = '--queries', 'queries.txt'
    found, one = in_python(), in_python(['nicolas_sarkozy']).of('nicolas_sarkozy')
    difference = found.against(in_python(hypothesis=OTHER))
    against = explained(*queries, '--against', OTHER, '--format', 'csv')
    assert explained(*queries) == render(found.document(), 'table')
    assert explained('nicolas_sarkozy') == render(one.document(), 'table')
    assert against == render(difference.document(), 'csv')


def test_options():
    written = in_json('-k', '10', '--definition', 'trec', '--queries', 'queries.txt')
    assert written == json.loads(in_python(k=10, definition='trec').to_json())


def test_queries_that_are_listed():
    names = Path('queries.txt').read_text().split()
    every = explained('--queries', 'queries.txt', '--per-query')
    one = explained('--queries', 'queries.txt', '--costliest', '1')
    for text, listed in (every, names), (one, ['alain_juppe']):
        begins = [line.split(' ')[0] for line in text.splitlines()]
        first = begins.index('query' if text is every else 'COSTLIEST') + 2
        assert begins[first : first + len(listed)] == listed
    assert '… and ' in one


@pytest.mark.parametrize(
    'options',
    ['-k 1000 --queries queries.txt', 'nobody_at_all -k all', '--against other.txt'],
)
def test_schema(options):
    for name, n_rows in ('hypothesis.txt', 300), (OTHER, 200):
        Path(name).write_text('\n'.join(Path(name).read_text().split('\n')[:n_rows]))
    in_json(*options.split())


def test_schema_with_a_reason():
    rows = ['x v 1 anna 0.5', 'x v 1 anne 0.5', 'x v 2 anna 0.5']
    Path('hypothesis.txt').write_text('\n'.join(rows))
    Path('reference.txt').write_text('x v 1 ann')
    written = in_json('--definition', 'trec', '-k', '1')
    of_query = written['queries'][0]['ties']['equal_confidence']
    assert of_query['expected'] is written['ties']['equal_confidence']['expected'] is None


@pytest.mark.parametrize(
    ('options', 'status', 'message'),
    [
        ('-k 1,2', 2, "found '1,2', expected a positive integer, or all"),
        ('-k all --definition by-k', 2, 'K: found all, expected numbers: by-k divides by k'),
        ('--near 1', 2, "'--near': found 1.0, expected a number from 0 to below 1"),
        ('ann --queries queries.txt', 2, 'leave out --queries: ann is the only query'),
        ('--queries ann', 1, '--queries takes a file of names, one per line'),
        ('--against - --queries -', 2, 'standard input (-) can be read once only'),
        (
            'other.txt',
            2,
            "found the file 'other.txt', expected a name; a second run is given with "
            '--against, a file of names with --queries',
        ),
    ],
)
def test_errors(options, status, message):
    assert message in refused(*EXPLAIN, *options.split(), status=status)


def test_a_name_that_the_reference_lacks():
    """Its AP comes from the definition alone, whatever the run returns."""
    value = in_json('alain_jupe')
    assert value['ap'] == 1
    assert value['notes'] == [
        "'alain_jupe' has no relevant shot in the reference: AP is 1, whatever the run has; "
        "the nearest name there is 'alain_juppe'"
    ]


def test_unjudged_shots_before_a_hit_are_marked(tmp_path):
    reference, returned = (
        [tuple(line.split()[:3]) for line in Path(name).read_text().splitlines()]
        for name in ('reference.txt', 'hypothesis.txt')
    )
    rows = {*reference, *returned[::2]}
    Path('judged.txt').write_text(''.join(f'{" ".join(row)}\n' for row in rows))
    found = in_python(['francois_hollande'], judged='judged.txt').of('francois_hollande')
    n_unjudged = 0
    for each in found.ranking:
        assert each.judged == ((each.corpus, each.video, each.shot) in rows)
        if each.relevant:
            assert each.before.unjudged == n_unjudged
        n_unjudged += not each.judged
    shown = explained('francois_hollande', '--judged', 'judged.txt')
    assert shown == render(found.document(), 'table')
    assert 'unjudged)' in shown
    in_json('francois_hollande', '--judged', 'judged.txt')
    assert in_python().of('francois_hollande').ranking[0].judged is None
