"""The command, and the files of a small campaign, for tests of what it does."""

import sys

import pytest
from click.testing import CliRunner

from mediaeval_ap import AveragePrecision
from mediaeval_ap.cli import main

COMMAND = [sys.executable, '-m', 'mediaeval_ap']
REFERENCE = 'x v 1 ann\nx v 2 ann\nx w 1 bob\n'
RUN = 'x v 1 ann 0.9\nx w 2 anne 0.8\nx v 2 ann 0.7\nx w 1 bob 0.5\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / 'reference.txt').write_text(REFERENCE)
    (tmp_path / 'run.txt').write_text(RUN)
    (tmp_path / 'queries.txt').write_text('bob\nann\n')
    (tmp_path / 'subset.txt').write_text('x w\n')
    (tmp_path / 'bad.txt').write_text('x v 1 ann 0.9\nx v 1 ann high\nx v 1\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, input=None):
    return CliRunner().invoke(main, arguments, input=input, catch_exceptions=False)


def expected(*queries, K=(1, 10, 100, 1000), **options):
    return AveragePrecision('reference.txt', K, **options).evaluate('run.txt', queries or None)
