"""The scoring programs of the samples, in folders as their platforms lay them out."""

import importlib
import json
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


@pytest.mark.parametrize('names', [[], ['a.txt', 'b.txt']])
def test_one_run_is_expected(job, names):
    for name in names:
        shutil.copy(SAMPLES / 'hypothesis.txt', job / 'input/res' / name)
    done = run_job(job)
    assert done.returncode == 1
    assert done.stderr.endswith('expected one run\n')


def test_evalai(tmp_path, monkeypatch):
    """Its worker imports the package `evaluation_script`."""
    shutil.copytree(PROGRAM / 'evalai', tmp_path / 'evaluation_script')
    monkeypatch.syspath_prepend(tmp_path)
    evaluate = importlib.import_module('evaluation_script').evaluate
    files = str(SAMPLES / 'reference.txt'), str(SAMPLES / 'hypothesis.txt')
    returned = evaluate(*files, 'test', submission_metadata={})
    (split,) = returned['result']
    assert [*split] == ['test_split']
    assert rounded(split['test_split']) == OF_ALL_NAMES
    wrong = tmp_path / 'wrong.txt'
    wrong.write_text('NEWS v 3 ann high\n')
    with pytest.raises(ValueError, match=r'wrong\.txt:1: error: \[confidence\]'):
        evaluate(files[0], str(wrong), 'test')
