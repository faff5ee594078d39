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
from mediaeval_ap.report.formats import FORMATS, render
from mediaeval_ap.results.documents import describe

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
    detail = 'per_class' if name == 'lrap' else 'per_query'
    result = run(*COMMANDS[name], '--format', format, f'--{detail.replace("_", "-")}')
    assert (result.exit_code, result.stderr) == (0, '')
    assert result.stdout == render(describe([score(name, **{detail: True})]), format)


@pytest.mark.parametrize(
    ('name', 'arguments', 'options'),
    [
        ('map', ['-k', '3'], {'k': 3}),
        ('map', ['--definition', 'trec'], {'definition': 'trec'}),
        ('first-hit', ['-k', '1'], {'k': 1}),
        *(('gap', ['--ties', ties], {'ties': ties}) for ties in TIES),
        ('lrap', ['--label-weighted'], {'label_weighted': True}),
    ],
)
def test_options(name, arguments, options):
    result = run(*COMMANDS[name], *arguments, '--format', 'json')
    assert json.loads(result.stdout) == score(name, **options).to_dict()
    assert json.loads(result.stdout) != score(name).to_dict() or options == {'ties': 'expected'}


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
    result = run(*COMMANDS['gap'], '--format', 'json', '-o', str(target))
    assert (result.exit_code, result.output) == (0, '')
    assert json.loads(target.read_text())['value'] == score('gap').value


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
        'expected an id of the truth, unless unknown ids are dropped\n'
    )


@pytest.mark.parametrize('name', COMMANDS)
def test_policies(name):
    lines = Path(COMMANDS[name][2]).read_text().splitlines(keepends=True)
    arguments = [*COMMANDS[name][:2], '-', *COMMANDS[name][3:], '--format', 'csv']
    strange = lines[1].replace(lines[1].split(',')[0], 'stranger', 1)
    result = run(*arguments, '--unknown', 'drop', input=''.join([*lines, strange]))
    assert result.exit_code == 0
    assert result.stderr == (
        f'Warning: <stdin>: 1 of {len(lines)} rows have an id that {COMMANDS[name][1]} lacks, '
        'and are left out\n'
    )
    (row,) = csv.DictReader(result.stdout.splitlines())
    assert (float(row['value']), row['unknown']) == (score(name).value, '1')
    if name == 'lrap':
        assert run(*arguments, '--missing', 'zero').exit_code == 2
        return
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
        ['map', 'a', 'b', '-k', '0'],
        ['map', 'a', 'b', '-k', str(2**63)],
        ['map', 'a', 'b', '--definition', 'ap'],
        ['map', 'a', 'b', '--first-hit', '--definition', 'trec'],
        ['map', 'a', 'b', '--missing', 'skip'],
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
