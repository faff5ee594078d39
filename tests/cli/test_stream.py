"""The command `stream`: a line for each line."""

import json
import os
import pty
import subprocess
from contextlib import suppress

import pytest
from commands import COMMAND, run

from mediaeval_ap.errors import printable
from mediaeval_ap.evaluation import relevance
from mediaeval_ap.tables.text import line_rules


def test_stream_answers_each_line(folder):
    result = run('stream', 'reference.txt', 'run.txt', '-K', '1,2', input='\ufeffann\r\nbob')
    assert (result.exit_code, result.stderr) == (0, '')
    assert result.stdout == 'ann\t2\t1.0\t1.0\nbob\t1\t1.0\t1.0\n'
    arguments = '-K all,2 --format jsonl'.split()
    result = run('stream', 'reference.txt', 'run.txt', *arguments, input='ann')
    assert json.loads(result.stdout) == {'query': 'ann', 'n_relevant': 2, 'AP': 1.0, 'AP@2': 1.0}


TWO_FIELDS = (
    "found 2 fields in 'a b', expected 1 field: person_name; write _ for each space within a name, "
    "as 'a_b'"
)
NO_NAMES = {
    b'\n': ('', 'line 1: found an empty line, expected a name'),
    b' \t\r\n': (' \t', 'line 1: found an empty line, expected a name'),
    b'a b\n': ('a b', f'line 1: {TWO_FIELDS}'),
    b'\xff\n': ('\\xff', 'line 1: found invalid UTF-8 at byte 1 (0xff), expected UTF-8'),
}


@pytest.mark.parametrize('line', NO_NAMES)
def test_stream_answers_what_is_no_name_in_its_place(folder, line):
    text, error = NO_NAMES[line]
    arguments = ['stream', 'reference.txt', 'run.txt', '-K', '1']
    result = run(*arguments, input=line + b'ann\n')
    assert result.exit_code == 1
    assert result.stdout == f'{printable(text)}\terror: <stdin>, {error}\nann\t2\t1.0\n'
    assert result.stderr == 'Error: <stdin>: 1 of 2 lines are not names\n'
    first, second = run(*arguments, '--format', 'jsonl', input=line + b'ann').stdout.splitlines()
    assert json.loads(first) == {'query': text, 'error': f'<stdin>, {error}'}
    assert json.loads(second)['query'] == 'ann'


def test_stream_counts_unknown_names(folder, monkeypatch):
    """The first three are warnings; the others are counted when standard input ends."""
    names = ''.join(f'unknown_{number}\n' for number in range(40))
    arguments = ['stream', 'reference.txt', 'run.txt', '-K', '1']
    result = run(*arguments, input=f'ann\n{names}bo\n')
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 42)
    where = 'Warning: reference.txt:'
    assert result.stderr.splitlines() == [
        *(
            f"{where} the query is not a name in the reference: 'unknown_{number}'"
            for number in range(3)
        ),
        f'{where} 38 further queries are not names in the reference',
    ]
    monkeypatch.setattr(relevance, 'nearest_name', None)  # not called
    quiet = run(*arguments, '-q', input=f'ann\n{names}bo\n')
    assert (quiet.exit_code, quiet.stdout, quiet.stderr) == (0, result.stdout, '')


def test_stream_refuses_an_endless_line(folder, monkeypatch):
    """An input without line ends must not fill the memory."""
    monkeypatch.setattr(line_rules, 'MAX_LINE_BYTES', 1 << 20)
    result = run('stream', 'reference.txt', 'run.txt', '-K', '1', input='ann\n' + 'x' * (2 << 20))
    assert (result.exit_code, result.stdout) == (1, 'ann\t2\t1.0\n')
    assert result.stderr.startswith('Error: <stdin>, line 2: found more than 1 MiB without a line')


def test_stream_keeps_standard_input_for_names(folder):
    """The run and the names cannot both come from standard input."""
    assert run('stream', 'reference.txt', '-').exit_code == 2


TABLE = f"""\
n_relevant   AP@1  query
----------  -----  -----
         2  1.000  ann
error: <stdin>, line 2: {TWO_FIELDS}
         1  1.000  bob
"""


def test_a_terminal_gets_the_table(folder):
    ours, theirs = pty.openpty()
    arguments = ['stream', 'reference.txt', 'run.txt', '-K', '1']
    subprocess.run(
        [*COMMAND, *arguments],
        input=b'ann\na b\nbob\n',
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    os.close(theirs)
    output = b''
    with suppress(OSError):  # a terminal may give its output in pieces, and ends with an error
        while piece := os.read(ours, 1 << 16):
            output += piece
    assert output.decode().replace('\r\n', '\n') == TABLE
