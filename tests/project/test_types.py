"""The lines of a user pass type checkers, whose findings an editor shows."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]  # with the settings of mypy, and the cache of its last run
CHECKERS = {'mypy': [], 'pyright': ['--pythonpath', sys.executable]}


@pytest.mark.parametrize('checker', CHECKERS)
def test_lines_of_a_user_pass(checker):
    if find_spec(checker) is None:
        pytest.skip(f'{checker} is not installed')
    command = [sys.executable, '-m', checker, *CHECKERS[checker], 'tests/project/user_lines.py']
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
