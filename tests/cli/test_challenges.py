"""The commands of other challenges: output, errors and exit codes."""

import csv
from pathlib import Path

import pytest
from challenge_inputs import SAMPLES
from commands import json_of, output_of, refused, run
from schemas import follow_schema

from mediaeval_ap import challenges
from mediaeval_ap.choices import TIES
from mediaeval_ap.render.formats import render
from mediaeval_ap.results.result import results_document

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
    assert output_of(*COMMANDS[name]) == render(results_document([once]), 'table')
    written = output_of(*COMMANDS[name], '--format', 'csv', '--per-query')
    assert written == render(results_document([by_query], per_query=True), 'csv')


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


@pytest.mark.parametrize('name', COMMANDS)
def test_policies(name):
    lines = Path(COMMANDS[name][2]).read_text().splitlines(keepends=True)
    arguments = [*COMMANDS[name][:2], '-', *COMMANDS[name][3:]]
    strange = lines[1].replace(lines[1].split(',')[0], 'stranger', 1)
    told = {('--unknown', 'drop'): 'are left out', ('--missing', 'zero'): 'nothing were predicted'}
    for option, content in zip(told, ([*lines, strange], lines[:-1]), strict=True):
        assert refused(*arguments, status=1, input=''.join(content)).startswith('Error: <stdin>, ')
        result = run(*arguments, *option, input=''.join(content))
        assert result.exit_code == 0
        assert told[option] in result.stderr


@pytest.mark.parametrize(
    'arguments',
    [
        'map a b -K all',
        'map a b --columns id',
        'map a b --columns id=1,id=2',
        'map a b --truth-columns user=1,labels=2',
        'gap - a b',
        'gap a b --columns id=user,label=2',
        'lrap a b --per-class --per-query',
        'map a b --first-hit --definition trec',
    ],
)
def test_wrong_options(arguments):
    refused(*arguments.split())


def test_several_runs_and_cutoffs_in_one_table():
    """Each run is read once, for all cutoffs."""
    content = Path('fashion_predictions.csv').read_text()
    arguments = ['map', *COMMANDS['map'][1:], '-', '-K', '5', '-K', '12', '--format', 'csv']
    rows = [*csv.DictReader(output_of(*arguments, input=content).splitlines())]
    for row in rows:
        assert [row[f'AP@{k}'] for k in (5, 12)] == [str(score('map', k=k).value) for k in (5, 12)]
    assert len(rows) == 2
    for options in [], ['--per-query']:
        follow_schema(json_of(*COMMANDS['map'], '-k', '5,12', *options), 'results-1')
