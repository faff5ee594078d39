"""The scoring programs of the samples, in folders as their platforms lay them out."""

import importlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

SAMPLES = Path(__file__).parents[2] / 'samples'
PROGRAM = SAMPLES / 'scoring-program'
OF_QUERIES = {'MAP@10': 0.019, 'MAP@100': 0.111}
OF_ALL_NAMES = {'MAP@10': 0.382, 'MAP@100': 0.396}  # as the README's command prints them


@pytest.fixture
def job(tmp_path):
    """A folder of a job of Codabench: its program, the reference, and an empty submission."""
    program = tmp_path / 'program'
    shutil.copytree(PROGRAM, program, ignore=shutil.ignore_patterns('evalai'))
    for folder in 'input/ref', 'input/res', 'output':
        (tmp_path / folder).mkdir(parents=True)
    for name in 'reference.txt', 'queries.txt':
        shutil.copy(SAMPLES / name, tmp_path / 'input/ref')
    return tmp_path


def rounded(means):
    return {name: round(mean, 3) for name, mean in means.items()}


def run_job(job):
    """Run the command of the program's metadata as the worker of Codabench does."""
    command = yaml.safe_load((job / 'program/metadata').read_text())['command']
    for name in 'input', 'output', 'program':
        command = command.replace(f'${name}', str(job / name))
    _, *arguments = command.split(' ')
    return subprocess.run(
        [sys.executable, *arguments], cwd=job / 'program', capture_output=True, text=True
    )


def test_scores_and_a_page_without_labels(job):
    """A ZIP of macOS, in whose folder the run stands, beside the metadata of the platform."""
    submission = job / 'input/res'
    (submission / 'metadata').write_text('exitCode: 0\n')
    (submission / '__MACOSX').mkdir()
    (submission / '__MACOSX/._run.txt').write_bytes(b'\0')
    (submission / 'my run').mkdir()
    shutil.copy(SAMPLES / 'hypothesis.txt', submission / 'my run/run.txt')
    done = run_job(job)
    assert done.returncode == 0, done.stderr
    scores = json.loads((job / 'output/scores.json').read_text())
    assert rounded(scores) == OF_QUERIES
    page = (job / 'output/detailed_results.html').read_text()
    assert 'Labels are hidden' in page
    videos = {row.split()[1] for row in (SAMPLES / 'reference.txt').read_text().splitlines()}
    assert not any(video in page for video in videos)


def test_wrong_lines_are_told(job):
    (job / 'input/res/run.txt').write_text('NEWS 20040116 3 ann\nNEWS v 3 ann high\n')
    done = run_job(job)
    assert done.returncode == 1
    first, second = done.stderr.splitlines()
    assert first.startswith(f'{job}/input/res/run.txt:1: error: [field-count] ')
    assert second.startswith(f'{job}/input/res/run.txt:2: error: ')
    assert not [*(job / 'output').iterdir()]


def rows_of(name):
    return [row.split() for row in (SAMPLES / name).read_text().splitlines()]


def write(path, rows):
    path.write_text(''.join(' '.join(row) + '\n' for row in rows))


def without_leading_zeros(rows):
    return [[*row[:2], row[2].lstrip('0') or '0', *row[3:]] for row in rows]


def in_order(*columns):
    return lambda rows: [[row[column] for column in columns] for row in rows]


UNLIKE_THE_REFERENCE = {
    'videos and shots are exchanged': in_order(0, 2, 1, 3, 4),
    'corpora and videos are exchanged': in_order(1, 0, 2, 3, 4),
    'shots without leading zeros': without_leading_zeros,
    'half of the shots without leading zeros': lambda rows: [
        *without_leading_zeros(rows[::2]),
        *rows[1::2],
    ],
    'other videos': lambda rows: [['NEWS', f'other_{row[1]}', *row[2:]] for row in rows],
}


def only_the_reference_knows(text, rows):
    """The words of a text that are in the reference, but not in the run."""
    known = {word for row in rows_of('reference.txt') for word in row}
    return known & {*re.findall(r'\w+', text)} - {word for row in rows for word in row}


@pytest.mark.parametrize(
    'made',
    [
        pytest.param(made, id=how, marks=[] if how == 'other videos' else pytest.mark.slow)
        for how, made in UNLIKE_THE_REFERENCE.items()
    ],
)
def test_a_run_unlike_the_reference_is_refused_without_labels(job, evaluate, tmp_path, made):
    """`validate --reference` has errors then, or warnings, but with examples of the reference."""
    rows = made(rows_of('hypothesis.txt'))
    write(job / 'input/res/run.txt', rows)
    done = run_job(job)
    assert (done.returncode, done.stdout) == (1, '')
    assert done.stderr.startswith('no shot, or no name, of the run is in the reference')
    assert only_the_reference_knows(done.stderr, rows) == set()
    assert not [*(job / 'output').iterdir()]
    with pytest.raises(ValueError, match=r'^no shot, or no name, of the run') as refused:
        evaluate(str(SAMPLES / 'reference.txt'), str(job / 'input/res/run.txt'), 'test')
    assert f'{refused.value}\n' == done.stderr
    assert refused.value.__suppress_context__


@pytest.mark.slow
def test_warnings_are_not_told(job, evaluate, capfd):
    """They say that the reference repeats rows, and quote its names that are near to queries."""
    reference, queries, rows = map(rows_of, ('reference.txt', 'queries.txt', 'hypothesis.txt'))
    name = queries[0][0]
    write(job / 'input/ref/reference.txt', [*reference, reference[0]])
    write(job / 'input/ref/queries.txt', [*queries, [f'{name}x'], queries[0]])
    run = job / 'input/res/run.txt'
    write(run, [*rows, rows[0]])
    done = run_job(job)
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')
    evaluate(str(job / 'input/ref/reference.txt'), str(run), 'test')
    assert capfd.readouterr() == ('', '')


def test_errors_of_the_reference_are_not_quoted(job, evaluate):
    shutil.copy(SAMPLES / 'hypothesis.txt', job / 'input/res/run.txt')
    reference = job / 'input/ref/reference.txt'
    reference.write_text('NEWS secret_video 1\n')
    done = run_job(job)
    assert (done.returncode, done.stdout) == (1, '')
    assert done.stderr == 'the reference or the queries have errors: tell the organisers\n'
    with pytest.raises(ValueError, match=r'^the annotations have errors') as refused:
        evaluate(str(reference), str(job / 'input/res/run.txt'), 'test')
    assert refused.value.__suppress_context__


@pytest.mark.parametrize('names', [[], ['a.txt', 'b.txt']])
def test_one_run_is_expected(job, names):
    for name in names:
        shutil.copy(SAMPLES / 'hypothesis.txt', job / 'input/res' / name)
    done = run_job(job)
    assert done.returncode == 1
    assert done.stderr.endswith('expected one run\n')


@pytest.fixture
def evaluate(tmp_path, monkeypatch):
    """The function that the worker of EvalAI calls; it imports the package `evaluation_script`."""
    shutil.copytree(PROGRAM / 'evalai', tmp_path / 'evaluation_script')
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module('evaluation_script').evaluate


def test_evalai(tmp_path, evaluate):
    files = str(SAMPLES / 'reference.txt'), str(SAMPLES / 'hypothesis.txt')
    returned = evaluate(*files, 'test', submission_metadata={})
    (split,) = returned['result']
    assert [*split] == ['test_split']
    assert rounded(split['test_split']) == OF_ALL_NAMES
    wrong = tmp_path / 'wrong.txt'
    wrong.write_text('NEWS v 3 ann high\n')
    with pytest.raises(ValueError, match=r'wrong\.txt:1: error: \[confidence\]'):
        evaluate(files[0], str(wrong), 'test')
