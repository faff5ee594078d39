"""The commands of other challenges: output, errors and exit codes."""

import csv
import json
from pathlib import Path

import jsonschema
import pytest
from commands import run

from mediaeval_ap import challenges
from mediaeval_ap.choices import TIES
from mediaeval_ap.render.formats import render
from mediaeval_ap.results.result import results_document

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / 'samples'
COMMANDS = {
    'map': ('map', 'fashion_truth.csv', 'fashion_predictions.csv'),
    'first-hit': ('map', 'whales_truth.csv', 'whales_predictions.csv', '--first-hit'),
    'gap': ('gap', 'landmarks_truth.csv', 'landmarks_predictions.csv'),
    'lrap': ('lrap', 'sounds_truth.csv', 'sounds_scores.csv'),
    'macro-ap': ('macro-ap', 'sounds_truth.csv', 'sounds_scores.csv'),
}
FUNCTIONS = {
    'map': challenges.evaluate_map,
    'first-hit': challenges.evaluate_first_hit,
    'gap': challenges.evaluate_gap,
    'lrap': challenges.evaluate_lrap,
    'macro-ap': challenges.evaluate_macro_ap,
}


@pytest.fixture(autouse=True)
def samples(monkeypatch):
    monkeypatch.chdir(SAMPLES)


def score(name, **options):
    return FUNCTIONS[name](*COMMANDS[name][1:3], **options)


@pytest.mark.parametrize('name', COMMANDS)
def test_scores_are_those_of_python(name):
    once, by_query = score(name), score(name, per_query=True)
    result = run(*COMMANDS[name])
    assert (result.exit_code, result.stderr) == (0, '')
    assert result.stdout == render(results_document([once]), 'table')
    result = run(*COMMANDS[name], '--format', 'csv', '--per-query')
    assert result.stdout == render(results_document([by_query], per_query=True), 'csv')


@pytest.mark.parametrize(
    ('name', 'arguments', 'options'),
    [
        ('map', ['-K', '3'], {'k': 3}),
        ('map', ['--definition', 'trec'], {'definition': 'trec'}),
        ('first-hit', ['--cutoffs', '1'], {'k': 1}),
        *(('gap', ['--ties', ties], {'ties': ties}) for ties in TIES),
        *(('macro-ap', ['--ties', ties], {'ties': ties}) for ties in TIES),
        ('lrap', ['--label-weighted'], {'label_weighted': True}),
        ('lrap', ['--per-class'], {'per_class': True}),
    ],
)
def test_options(name, arguments, options):
    result = run(*COMMANDS[name], *arguments, '--format', 'json')
    assert result.stdout == render(results_document([score(name, **options)]), 'json')
    is_default = options == {'ties': 'threshold' if name == 'macro-ap' else 'expected'}
    assert is_default == (result.stdout == render(results_document([score(name)]), 'json'))


def test_wrong_data_is_one_line_and_exit_code_1():
    content = Path('fashion_predictions.csv').read_text()
    n_lines = content.count('\n')
    result = run('map', 'fashion_truth.csv', '-', input=f'{content}stranger,a b\n')
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr == (
        f'Error: <stdin>, line {n_lines + 1}, customer_id: '
        "found 'stranger', which fashion_truth.csv lacks, "
        'expected an id of the truth; leave others out by --unknown drop, '
        "in Python unknown='drop'\n"
    )


@pytest.mark.parametrize('name', COMMANDS)
def test_policies(name):
    lines = Path(COMMANDS[name][2]).read_text().splitlines(keepends=True)
    arguments = [*COMMANDS[name][:2], '-', *COMMANDS[name][3:]]
    strange = lines[1].replace(lines[1].split(',')[0], 'stranger', 1)
    told = {('--unknown', 'drop'): 'are left out', ('--missing', 'zero'): 'nothing were predicted'}
    for option, content in zip(told, ([*lines, strange], lines[:-1]), strict=True):
        assert run(*arguments, input=''.join(content)).exit_code == 1
        result = run(*arguments, *option, input=''.join(content))
        assert result.exit_code == 0
        assert told[option] in result.stderr


@pytest.mark.parametrize(
    'arguments',
    [
        ['map', 'a', 'b', '-K', 'all'],
        ['map', 'a', 'b', '-K', '5,5'],
        ['map', 'a', 'b', '--columns', 'id'],
        ['map', 'a', 'b', '--columns', 'id=1,id=2'],
        ['map', 'a', 'b', '--columns', 'id=1,labels=2,label=3'],
        ['map', 'a', 'b', '--truth-columns', 'user=1,labels=2'],
        ['gap', '-', 'a', 'b'],
        ['gap', 'a', 'b', '--columns', 'id=user,label=2'],
        ['lrap', 'a', 'b', '--per-class', '--per-query'],
        ['map', 'a', 'b', '--first-hit', '--definition', 'trec'],
    ],
)
def test_wrong_options_are_exit_code_2(arguments):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, '')


def test_several_runs_and_cutoffs_in_one_table():
    """Each run is read once, for all cutoffs."""
    content = Path('fashion_predictions.csv').read_text()
    arguments = ['map', *COMMANDS['map'][1:], '-', '-K', '5', '-K', '12', '--format', 'csv']
    result = run(*arguments, input=content)
    assert (result.exit_code, result.stderr) == (0, '')
    rows = [*csv.DictReader(result.stdout.splitlines())]
    for row in rows:
        assert [row[f'AP@{k}'] for k in (5, 12)] == [str(score('map', k=k).value) for k in (5, 12)]
    assert len(rows) == 2
    schema = json.loads((ROOT / 'docs/reference/schemas/results-1.schema.json').read_text())
    for options in [], ['--per-query']:
        written = run(*COMMANDS['map'], '-k', '5,12', '--format', 'json', *options).stdout
        jsonschema.Draft202012Validator(schema).validate(json.loads(written))
