"""Hostile files in a submission: every problem is listed, and nothing obeyed."""

import json
import re

import pytest
from click.testing import CliRunner

from hostile.catalogue import CATALOGUE
from mediaeval_ap.cli import main
from mediaeval_ap.errors import Error, printable
from mediaeval_ap.render.formats import render
from mediaeval_ap.validation import examine
from mediaeval_ap.validation.problems import problems_document

OF_LINES = {'long-line', 'encoding', 'empty', 'header', 'field-count', 'confidence'}

# Where validation goes on to the end of a file, and scoring does not.
OTHER_ERRORS = {
    # A store is a run, and no submission.
    'folder.gz': '{path}: Is a directory',
}
RUNS = [entry for entry in CATALOGUE if entry.role == 'hypothesis' and not entry.is_limited]


def as_message(problem):
    """The words of scoring about a problem: its remedy only where the cause is known."""
    place = f', line {problem.line}' if problem.kind.name != 'empty' else ''
    field = f', {problem.field}' if problem.field else ''
    where = f'{printable(problem.source)}{place}{field}'
    is_told = problem.kind.name == 'header' or problem.remedy != problem.kind.remedy
    remedy = f'; {problem.remedy}' if is_told else ''
    return f'{where}: found {problem.found}, expected {problem.expected}{remedy}'


def is_of_lines(entry):
    """Return True if the file can be read to its end, so validation has no error to raise."""
    if entry.error is None:
        return True
    is_read = re.search(', line |: found (an empty file|only blank lines), ', entry.error)
    return is_read and entry.name not in OTHER_ERRORS and not entry.name.endswith('no-rows.parquet')


@pytest.mark.parametrize('entry', RUNS, ids=lambda entry: ascii(entry.name[:40]))
def test_runs(tmp_path, entry):
    """The problems of lines are those that the strict parser counts, the first in its words."""
    path = tmp_path / entry.name
    entry.make(path)
    error = OTHER_ERRORS.get(entry.name, entry.error)
    error = error and error.replace('{path}', printable(str(path)))
    if not is_of_lines(entry):
        with pytest.raises(Error) as caught:
            examine(path)
        assert str(caught.value) == error
        return
    findings = examine(path)
    problems = findings.problems()
    wrong = sorted(
        (each for each in problems if each.kind.name in OF_LINES), key=lambda each: each.line
    )
    if error is None:
        assert wrong == []
        assert entry.rows is None or findings.rows['hypothesis'] == len(entry.rows)
    else:
        further = len(wrong) - 1
        more = f' ({further} more wrong line{"s" if further > 1 else ""})' if further else ''
        assert as_message(wrong[0]) + more == error
    document = problems_document({'run': findings})
    assert all(line.isprintable() for line in render(document, 'table').split('\n'))
    assert len(json.loads(render(document, 'json'))['problems']) == len(problems)


HARMFUL = {
    'hypothesis': b'\xef\xbb\xbfx v 1 ann 0.9\r\n'
    b'x v 1 \x1b[2Jann 0.9\n'
    b'x v 2 \xe2\x80\xaebob nan\n'
    b'x v 2 b\0b 1\n'
    b'x v\x1b]0;t\x07 2\n'
    b'x v 3 bob\xc2\x9b 1e400\n'
    b'\xff\n',
    'evidence': b'ann x v \x1b[2J 1\nann x \x1b[2J written -1\n\x1b[2J\n',
    'shots': b'x v 1 \x1b[2J 1e400\nx v 2 0 1\n\xc2\x9b\n',
    'videos': b'\x1b[2J \x1b[2J\nx v\0\n',
    'reference': b'x v 1 \x1b[2J\n\x1b[2J\n',
}


def test_no_problem_is_obeyed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for role, content in HARMFUL.items():
        (tmp_path / f'{role}\x1b[2J').write_bytes(content)
    roles = [role for role in HARMFUL if role != 'hypothesis']
    command = ['validate', 'hypothesis\x1b[2J', *(f'--{role}={role}\x1b[2J' for role in roles)]
    done = CliRunner().invoke(main, [*command, '--all'], catch_exceptions=False)
    assert (done.exit_code, done.stderr) == (1, '')
    assert all(line.isprintable() for line in done.stdout.split('\n'))
    assert done.stdout.startswith('hypothesis\\x1b[2J:4: error: [encoding] found a NUL byte ')
    assert done.stdout.endswith(
        '\n22 errors, 9 warnings in 4 rows of hypothesis\\x1b[2J (rules 2016)\n'
    )
    # No name, without evidence, a second name of its shot, in upper case, not in the reference.
    assert done.stdout.count(r"found '\x1b[2Jann'") == 5
    done = CliRunner().invoke(main, [*command, '--all', '--format', 'json'], catch_exceptions=False)
    assert not set(done.stdout) & {chr(byte) for byte in (*range(10), *range(11, 32), 0x9B)}
    assert json.loads(done.stdout)['errors'] == 22
