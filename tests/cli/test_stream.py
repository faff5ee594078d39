"""The command `stream`: a line for each line."""

import json
import os
import pty
import subprocess
from contextlib import suppress

import pytest
from commands import COMMAND, output_of, refused, run

from mediaeval_ap.errors import printable
from mediaeval_ap.evaluation import relevance
from mediaeval_ap.tables.text import line_rules

STREAM = ['stream', 'reference.txt', 'run.txt', '-K', '1']


def test_stream_answers_each_line(folder):
    answers = output_of(*STREAM[:-1], '1,2', input='\ufeffann\r\nbob')
    assert answers == 'ann\t2\t1.0\t1.0\nbob\t1\t1.0\t1.0\n'
    answer = output_of(*STREAM[:-1], 'all,2', '--format', 'jsonl', input='ann')
    assert json.loads(answer) == {'query': 'ann', 'n_relevant': 2, 'AP': 1.0, 'AP@2': 1.0}


NO_NAMES = {
    b'\n': ('', 'found an empty line, expected a name'),
    b' \t\r\n': (' \t', 'found an empty line, expected a name'),
    b'a b\n': ('a b', "found 2 fields in 'a b', "),
    b'\xff\n': ('\\xff', 'found invalid UTF-8 at byte 1 (0xff), '),
}


@pytest.mark.parametrize('line', NO_NAMES)
def test_stream_answers_what_is_no_name_in_its_place(folder, line):
    text, fault = NO_NAMES[line]
    result = run(*STREAM, input=line + b'ann\n')
    assert result.exit_code == 1
    told, answer = result.stdout.splitlines()
    name, error = told.split('\terror: ')
    assert (name, answer) == (printable(text), 'ann\t2\t1.0')
    assert error.startswith(f'<stdin>, line 1: {fault}')
    assert result.stderr == 'Error: <stdin>: 1 of 2 lines are not names\n'
    first, second = run(*STREAM, '--format', 'jsonl', input=line + b'ann').stdout.splitlines()
    assert json.loads(first) == {'query': text, 'error': error}
    assert json.loads(second)['query'] == 'ann'


def test_stream_counts_unknown_names(folder, monkeypatch):
    """The first three are warnings; the others are counted when standard input ends."""
    names = ''.join(f'unknown_{number}\n' for number in range(40))
    result = run(*STREAM, input=f'ann\n{names}bo\n')
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
    quiet = run(*STREAM, '-q', input=f'ann\n{names}bo\n')
    assert (quiet.stdout, quiet.stderr) == (result.stdout, '')


def test_stream_refuses_an_endless_line(folder, monkeypatch):
    """An input without line ends must not fill the memory."""
    monkeypatch.setattr(line_rules, 'MAX_LINE_BYTES', 1 << 20)
    result = run(*STREAM, input='ann\n' + 'x' * (2 << 20))
    assert (result.exit_code, result.stdout) == (1, 'ann\t2\t1.0\n')
    assert result.stderr.startswith('Error: <stdin>, line 2: found more than 1 MiB without a line')


def test_stream_keeps_standard_input_for_names(folder):
    """The run and the names cannot both come from standard input."""
    refused('stream', 'reference.txt', '-')


def test_a_terminal_gets_the_table(folder):
    ours, theirs = pty.openpty()
    subprocess.run(
        [*COMMAND, *STREAM],
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
    *rows, error, last = output.decode().splitlines()
    assert rows == [
        'n_relevant   AP@1  query',
        '----------  -----  -----',
        '         2  1.000  ann',
    ]
    assert error.startswith('error: <stdin>, line 2: found 2 fields ')
    assert last == '         1  1.000  bob'
