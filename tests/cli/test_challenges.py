"""The commands `map`, `gap` and `lrap`: what they print where, and with what exit code."""

import csv
import gzip
import json
import os
from pathlib import Path

import pandas
import pytest
from commands import run

from mediaeval_ap import challenges
from mediaeval_ap.choices import TIES
from mediaeval_ap.render.formats import FORMATS, render
from mediaeval_ap.results.result import describe

SAMPLES = Path(__file__).parents[2] / 'samples'
COMMANDS = {
    'map': ('map', 'fashion_truth.csv', 'fashion_predictions.csv'),
    'first-hit': ('map', 'whales_truth.csv', 'whales_predictions.csv', '--first-hit'),
    'gap': ('gap', 'landmarks_truth.csv', 'landmarks_predictions.csv'),
    'lrap': ('lrap', 'sounds_truth.csv', 'sounds_scores.csv'),
}
FUNCTIONS = {
    'map': challenges.evaluate_map,
    'first-hit': challenges.evaluate_first_hit,
    'gap': challenges.evaluate_gap,
    'lrap': challenges.evaluate_lrap,
}


@pytest.fixture(autouse=True)
def samples(monkeypatch):
    monkeypatch.chdir(SAMPLES)


def score(name, **options):
    return FUNCTIONS[name](*COMMANDS[name][1:3], **options)


@pytest.mark.parametrize('name', COMMANDS)
@pytest.mark.parametrize('format', FORMATS)
def test_formats(name, format):
    result = run(*COMMANDS[name], '--format', format)
    assert (result.exit_code, result.stderr) == (0, '')
    assert result.stdout == render(describe([score(name)]), format)
    result = run(*COMMANDS[name], '--format', format, '--per-query')
    assert (result.exit_code, result.stderr) == (0, '')
    by_query = render(describe([score(name, per_query=True)], per_query=True), format)
    assert result.stdout == by_query != render(describe([score(name)]), format)
    if name == 'lrap':
        result = run(*COMMANDS[name], '--format', format, '--per-class')
        assert result.stdout == render(describe([score(name, per_class=True)]), format)


@pytest.mark.parametrize(
    ('name', 'arguments', 'options'),
    [
        ('map', ['-K', '3'], {'k': 3}),
        ('map', ['--definition', 'trec'], {'definition': 'trec'}),
        ('first-hit', ['--cutoffs', '1'], {'k': 1}),
        *(('gap', ['--ties', ties], {'ties': ties}) for ties in TIES),
        ('lrap', ['--label-weighted'], {'label_weighted': True}),
    ],
)
def test_options(name, arguments, options):
    result = run(*COMMANDS[name], *arguments, '--format', 'json')
    assert result.stdout == render(describe([score(name, **options)]), 'json')
    is_default = options == {'ties': 'expected'}
    assert is_default == (result.stdout == render(describe([score(name)]), 'json'))


@pytest.mark.parametrize('name', COMMANDS)
@pytest.mark.parametrize('role', [1, 2])
def test_standard_input_gzip_and_parquet(name, role, tmp_path):
    arguments = [*COMMANDS[name], '--format', 'csv']
    expected = list(csv.DictReader(run(*arguments).stdout.splitlines()))
    file = Path(arguments[role])
    zipped, table = tmp_path / f'{file.name}.gz', tmp_path / f'{file.stem}.parquet'
    zipped.write_bytes(gzip.compress(file.read_bytes()))
    frame = pandas.read_csv(file, dtype=str, keep_default_na=False)
    if file.stem == 'sounds_scores':
        frame = frame.astype(dict.fromkeys(frame.columns[1:], float))
    frame.to_parquet(table)
    for origin in '-', str(zipped), str(table):
        arguments[role] = origin
        result = run(*arguments, input=file.read_text())
        assert (result.exit_code, result.stderr) == (0, '')
        (row,) = csv.DictReader(result.stdout.splitlines())
        assert row['value'] == expected[0]['value']


def test_output_file(tmp_path):
    target = tmp_path / 'gap.json'
    result = run(*COMMANDS['gap'], '-o', str(target))
    assert (result.exit_code, result.output) == (0, '')
    assert json.loads(target.read_text())['results'][0]['means'] == {'GAP': score('gap').value}


def test_nothing_is_written_when_the_predictions_are_wrong(tmp_path):
    target = tmp_path / 'gap.json'
    target.write_text('old')
    result = run('gap', 'landmarks_truth.csv', 'whales_predictions.csv', '-o', str(target))
    assert (result.exit_code, result.stdout, target.read_text()) == (1, '', 'old')
    assert os.listdir(tmp_path) == ['gap.json']


@pytest.mark.parametrize('name', COMMANDS)
def test_wrong_data_is_one_line_and_exit_code_1(name):
    result = run(*COMMANDS[name][:2], 'missing.csv', *COMMANDS[name][3:])
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr == 'Error: missing.csv: No such file or directory\n'
    lines = Path(COMMANDS[name][2]).read_text().splitlines(keepends=True)
    strange = lines[1].replace(lines[1].split(',')[0], 'stranger', 1)
    result = run(*COMMANDS[name][:2], '-', *COMMANDS[name][3:], input=''.join([*lines, strange]))
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr == (
        f'Error: <stdin>, line {len(lines) + 1}, {lines[0].split(",")[0]}: '
        f"found 'stranger', which {COMMANDS[name][1]} lacks, "
        'expected an id of the truth; leave others out by --unknown drop, '
        "in Python unknown='drop'\n"
    )


@pytest.mark.parametrize('name', COMMANDS)
def test_policies(name):
    lines = Path(COMMANDS[name][2]).read_text().splitlines(keepends=True)
    arguments = [*COMMANDS[name][:2], '-', *COMMANDS[name][3:], '--format', 'json']
    strange = lines[1].replace(lines[1].split(',')[0], 'stranger', 1)
    result = run(*arguments, '--unknown', 'drop', input=''.join([*lines, strange]))
    assert result.exit_code == 0
    assert result.stderr == (
        f'Warning: <stdin>: 1 of {len(lines)} rows have an id that {COMMANDS[name][1]} lacks, '
        'and are left out\n'
    )
    (scored,) = json.loads(result.stdout)['results']
    assert [*scored['means'].values()] == [score(name).value]
    assert scored['manifest']['counts']['unknown'] == 1
    assert run(*arguments, input=''.join(lines[:-1])).exit_code == 1
    result = run(*arguments, '--missing', 'zero', input=''.join(lines[:-1]))
    assert result.exit_code == 0
    assert result.stderr == (
        f'Warning: <stdin>: no row for 1 of {len(lines) - 1} ids of {COMMANDS[name][1]}, '
        'scored as if nothing were predicted\n'
    )


@pytest.mark.parametrize('name', COMMANDS)
def test_wrong_usage_is_exit_code_2(name):
    command, truth, *_ = COMMANDS[name]
    for arguments in ([], [truth], ['-', '-'], [*COMMANDS[name][1:], '--format', 'xml']):
        result = run(command, *arguments)
        assert (result.exit_code, result.stdout) == (2, '')


@pytest.mark.parametrize(
    'arguments',
    [
        ['map', 'a', 'b', '-K', '0'],
        ['map', 'a', 'b', '-K', str(2**63)],
        ['map', 'a', 'b', '-K', 'all'],
        ['map', 'a', 'b', '-K', '5,5'],
        ['map', 'a', 'b', '--columns', 'id'],
        ['map', 'a', 'b', '--columns', 'id=1,id=2'],
        ['map', 'a', 'b', '--columns', 'id=1,labels=2,label=3'],
        ['map', 'a', 'b', '--truth-columns', 'user=1,labels=2'],
        ['gap', '-', 'a', 'b'],
        ['gap', 'a', 'b', '--columns', 'id=user,label=2'],
        ['lrap', 'a', 'b', '--per-class', '--per-query'],
        ['map', 'a', 'b', '--definition', 'ap'],
        ['map', 'a', 'b', '--first-hit', '--definition', 'trec'],
        ['map', 'a', 'b', '--missing', 'drop'],
        ['gap', 'a', 'b', '--ties', 'random'],
        ['gap', 'a', 'b', '--unknown', 'zero'],
    ],
)
def test_wrong_options_are_exit_code_2(arguments):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, '')


def test_nothing_to_score_is_exit_code_1():
    text = 'id,landmark_id\n1,\n'
    result = run('gap', '-', 'landmarks_predictions.csv', '--unknown', 'drop', input=text)
    assert result.exit_code == 1
    assert 'no row for' in result.stderr
    result = run(
        *('gap', '-', 'landmarks_predictions.csv', '--unknown', 'drop', '--missing', 'zero'),
        input=text,
    )
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr.endswith('Error: GAP: none of 1 queries has a true label\n')


def test_several_runs_and_cutoffs_in_one_table(tmp_path):
    result = run(*COMMANDS['map'], COMMANDS['map'][2], '-K', '5', '-K', '12', '--format', 'csv')
    assert (result.exit_code, result.stderr) == (0, '')
    once = [score('map', k=5), score('map', k=12)]
    assert result.stdout == render(describe([*once, *once]), 'csv')
    rows = [*csv.DictReader(result.stdout.splitlines())]
    assert [row['metric'] for row in rows] == ['MAP@5', 'MAP@12'] * 2


def test_cutoffs_share_one_reading_of_standard_input():
    content = Path(COMMANDS['map'][2]).read_text()
    result = run('map', COMMANDS['map'][1], '-', '-K', '5,12', '--format', 'csv', input=content)
    values = [row['value'] for row in csv.DictReader(result.stdout.splitlines())]
    assert values == [str(score('map', k=k).value) for k in (5, 12)]


@pytest.mark.parametrize(
    ('truth', 'predictions', 'options'),
    [
        (
            'user,items\nu1,a b\nu2,c\n',
            'user,items\nu1,b\nu2,d c\n',
            ['--columns', 'id=user,labels=items'],
        ),
        (
            'item,user\na,u1\nb,u1\nc,u2\n',
            'u1,b\nu2,d c\n',
            ['--columns', 'id=1,labels=2', '--truth-columns', 'id=user,label=item'],
        ),
    ],
)
def test_files_with_other_columns(tmp_path, truth, predictions, options):
    """AP@2 of u1 is (1/1) / 2, and of u2 (1/2) / 1."""
    files = tmp_path / 'truth.csv', tmp_path / 'predictions.csv'
    for file, text in zip(files, (truth, predictions), strict=True):
        file.write_text(text)
    result = run('map', *map(str, files), *options, '-K', '2', '--format', 'csv', '--per-query')
    assert (result.exit_code, result.stderr) == (0, '')
    rows = csv.DictReader(result.stdout.splitlines())
    assert [(row['query'], row['value']) for row in rows] == [
        ('u1', '0.5'),
        ('u2', '0.5'),
        ('all', '0.5'),
    ]
