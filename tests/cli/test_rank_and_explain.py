"""The commands `rank` and `explain`: what they write in each format, and its JSON by the schema."""

import json
from pathlib import Path

import jsonschema
import pytest
from commands import run

from mediaeval_ap import AveragePrecision
from mediaeval_ap.render.formats import render

ROOT = Path(__file__).parents[2]
SHAPE = json.loads((ROOT / 'docs/reference/schemas/diagnosis-1.schema.json').read_text())
OTHER = 'other.txt'

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')


@pytest.fixture(autouse=True)
def samples(monkeypatch, tmp_path):
    """The samples, and a run that lacks the last hypotheses of theirs."""
    for name in ('reference.txt', 'hypothesis.txt', 'queries.txt'):
        (tmp_path / name).write_bytes((ROOT / 'samples' / name).read_bytes())
    lines = (tmp_path / 'hypothesis.txt').read_text().splitlines(keepends=True)
    (tmp_path / OTHER).write_text(''.join(lines[:9000]))
    monkeypatch.chdir(tmp_path)


def explained(*options, expected=0):
    result = run('explain', 'reference.txt', 'hypothesis.txt', *options, '--quiet')
    assert result.exit_code == expected, result.output
    return result


def in_python(queries='queries.txt', *, hypothesis='hypothesis.txt', k=100, near=0.2, **criteria):
    return AveragePrecision('reference.txt', **criteria).explain(
        hypothesis, queries, k=k, near=near
    )


def test_rank():
    options = '-n', '3', '--format', 'jsonl'
    result = run('rank', 'reference.txt', 'hypothesis.txt', 'nicolas_sarkozy', *options)
    assert result.exit_code == 0
    relevant = [json.loads(line)['relevant'] for line in result.stdout.splitlines()]
    assert relevant == [False, False, True]
    assert run('rank', 'reference.txt', 'hypothesis.txt', '').exit_code == 2


def test_what_is_shown():
    queries = '--queries', 'queries.txt'
    found, one = in_python(), in_python(['nicolas_sarkozy']).of('nicolas_sarkozy')
    difference = found.against(in_python(hypothesis=OTHER))
    against = explained(*queries, '--against', OTHER, '--format', 'csv')
    assert explained(*queries).stdout == render(found.document(), 'table')
    assert explained('nicolas_sarkozy').stdout == render(one.document(), 'table')
    assert against.stdout == render(difference.document(), 'csv')


@pytest.mark.parametrize(
    ('options', 'settings'),
    [
        ('-k 10', {'k': 10}),
        ('--definition trec', {'definition': 'trec'}),
    ],
)
def test_options(options, settings):
    written = explained(*options.split(), '--queries', 'queries.txt', '--format', 'json').stdout
    assert json.loads(written) == json.loads(in_python(**settings).to_json())
    assert written != explained('--queries', 'queries.txt', '--format', 'json').stdout


def test_queries_that_are_listed():
    names = Path('queries.txt').read_text().split()
    every = explained('--queries', 'queries.txt', '--per-query').stdout
    one = explained('--queries', 'queries.txt', '--costliest', '1').stdout
    for text, listed in (every, names), (one, ['alain_juppe']):
        begins = [line.split(' ')[0] for line in text.splitlines()]
        first = begins.index('query' if text is every else 'COSTLIEST') + 2
        assert begins[first : first + len(listed)] == listed
    assert '… and ' in one


@pytest.mark.parametrize(
    'options',
    [
        '--queries queries.txt --definition trec -k 1000',
        'nobody_at_all -k all',
        '--queries queries.txt --against other.txt',
    ],
)
def test_schema(options):
    for name, n_rows in ('hypothesis.txt', 300), (OTHER, 200):
        Path(name).write_text('\n'.join(Path(name).read_text().split('\n')[:n_rows]))
    written = json.loads(explained(*options.split(), '--format', 'json').stdout)
    jsonschema.Draft202012Validator(SHAPE).validate(written)


def test_schema_with_a_reason():
    rows = ['x v 1 anna 0.5', 'x v 1 anne 0.5', 'x v 2 anna 0.5']
    Path('hypothesis.txt').write_text('\n'.join(rows))
    Path('reference.txt').write_text('x v 1 ann')
    options = '--definition', 'trec', '-k', '1', '--format', 'json'
    written = json.loads(explained(*options).stdout)
    jsonschema.Draft202012Validator(SHAPE).validate(written)
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
    ],
)
def test_errors(options, status, message):
    result = explained(*options.split(), expected=status)
    assert message in result.stderr
    assert not result.stdout


def test_a_name_that_the_reference_lacks():
    """Its AP comes from the definition alone, whatever the run returns."""
    value = json.loads(explained('alain_jupe', '--format', 'json').stdout)
    assert value['ap'] == 1
    assert value['notes'] == [
        "'alain_jupe' has no relevant shot in the reference: AP is 1, whatever the run has; "
        "the nearest name there is 'alain_juppe'"
    ]


def test_a_file_in_the_place_of_a_name():
    assert explained(OTHER, expected=2).stderr.endswith(
        "QUERY: found the file 'other.txt', expected a name; a second run is given with "
        '--against, a file of names with --queries\n'
    )


def test_unjudged_shots_before_a_hit_are_marked(tmp_path):
    reference, returned = (
        [tuple(line.split()[:3]) for line in Path(name).read_text().splitlines()]
        for name in ('reference.txt', 'hypothesis.txt')
    )
    rows = sorted({*reference, *returned[::2]})
    Path('judged.txt').write_text(''.join(f'{" ".join(row)}\n' for row in rows))
    found = in_python(['francois_hollande'], judged='judged.txt').of('francois_hollande')
    judged = set(rows)
    n_unjudged = 0
    for each in found.ranking:
        assert each.judged == ((each.corpus, each.video, each.shot) in judged)
        if each.relevant:
            assert each.before.unjudged == n_unjudged
        n_unjudged += not each.judged
    shown = explained('francois_hollande', '--judged', 'judged.txt')
    assert shown.stdout == render(found.document(), 'table')
    assert 'unjudged)' in shown.stdout
    written = explained('francois_hollande', '--judged', 'judged.txt', '--format', 'json')
    jsonschema.Draft202012Validator(SHAPE).validate(json.loads(written.stdout))
    assert in_python().of('francois_hollande').ranking[0].judged is None
