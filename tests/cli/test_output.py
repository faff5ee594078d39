"""Standard streams and files of the command."""

import fcntl
import gzip
import itertools
import lzma
import os
import pty
import re
import subprocess
import sys
import termios
import time
from contextlib import nullcontext
from pathlib import Path

import click
import pytest
from commands import COMMAND, RUN, expected, run

from mediaeval_ap.cli import commands, main
from mediaeval_ap.progress import DELAY_SECONDS
from mediaeval_ap.render.formats import render
from mediaeval_ap.results.result import describe


def outputs_and_inputs():
    for name, command in main.commands.items():
        params = {each.name: each for each in command.params}
        paths = {each for each in params if isinstance(params[each].type, click.Path)}
        outputs = {each for each in paths if not params[each].type.dir_okay}
        yield from ((name, *pair) for pair in itertools.product(outputs, paths - outputs))


@pytest.mark.parametrize(('command', 'output', 'read'), sorted(outputs_and_inputs()))
def test_no_input_is_written_over(folder, command, output, read):
    arguments = []
    for each in main.commands[command].params:
        if each.name in (output, read):
            value = './run.txt' if each.name == output else 'run.txt'
        elif each.required or 'evidence' in each.name:  # evidence and its reference go together
            value = f'{each.name}.txt'
        else:
            continue
        arguments += [each.opts[0], value] if isinstance(each, click.Option) else [value]
    result = run(command, *arguments)
    assert (result.exit_code, result.stdout) == (2, '')
    assert 'refusing to overwrite ./run.txt: it is an input\n' in result.stderr
    assert result.stderr.startswith(f'Usage: mediaeval-ap {command} ')
    assert (folder / 'run.txt').read_text() == RUN


def test_standard_input_is_not_written_over(folder):
    name = folder / 'run\x1b[31m.txt'
    name.write_text(RUN)
    with open(name) as stdin:
        done = subprocess.run(
            [*COMMAND, 'evaluate', 'reference.txt', '-', '-o', name],
            stdin=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (2, '')
    assert 'run\\x1b[31m.txt: it is an input\n' in done.stderr
    assert '\x1b' not in done.stderr
    assert name.read_text() == RUN


def test_output_is_utf8_whatever_the_locale(folder):
    Path('reference.txt').write_text('x v 1 é\n')
    done = subprocess.run(
        [*COMMAND, 'evaluate', 'reference.txt', 'run.txt', '--format', 'csv', '--per-query'],
        env={**os.environ, 'PYTHONIOENCODING': 'ascii', 'LC_ALL': 'C'},
        capture_output=True,
        check=True,
    )
    assert ',é,'.encode() in done.stdout


def on_a_terminal(arguments, **environment):
    """What a command shows on a terminal, if its second line of input comes after the delay."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, **environment},
    ) as process:
        process.stdin.write(b'x v 1 ann 0.5\n')
        process.stdin.flush()
        while int.from_bytes(fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)), sys.byteorder):
            time.sleep(0.01)  # until the command has read the first line
        time.sleep(1.2 * DELAY_SECONDS)
        process.stdin.write(b'x v 2 bob 0.5\n')
        process.stdin.close()
    os.close(theirs)
    try:
        return os.read(ours, 1 << 16).decode()
    except OSError:  # what Linux says when there is nothing to read
        return ''


COLOUR = re.compile(r'\x1b\[[0-9;]*[34]\d')


def test_progress_is_for_terminals(folder, monkeypatch):
    told = on_a_terminal(['evaluate', 'reference.txt', '-'], NO_COLOR='1')
    assert 'reading <stdin>: ' in told
    assert not COLOUR.search(told)
    asked = []
    monkeypatch.setattr(commands, 'shown', lambda on: asked.append(on) or nullcontext())
    monkeypatch.setattr(commands, 'is_on_terminal', lambda: True)
    for options in [], ['--no-progress'], ['--quiet']:
        run('evaluate', 'reference.txt', 'run.txt', *options)
    assert asked == [True, False, False]


@pytest.mark.parametrize(
    ('name', 'format'),
    [('MAP.JSON', 'json'), ('map', 'table'), ('map.csv.gz', 'csv'), ('map.txt.xz', 'table')],
)
def test_the_suffix_of_the_output_is_its_format(folder, name, format):
    assert run('evaluate', 'reference.txt', 'run.txt', '-o', name).output == ''
    content = Path(name).read_bytes()
    content = {'.gz': gzip.decompress, '.xz': lzma.decompress}.get(name[-3:], bytes)(content)
    assert content.decode() == render(describe([expected()]), format)


def test_a_format_that_is_given_wins(folder):
    run('evaluate', 'reference.txt', 'run.txt', '-o', 'map.csv', '--format', 'json')
    assert Path('map.csv').read_text() == render(describe([expected()]), 'json')
    run('validate', 'run.txt', '-o', 'problems.csv', '--format', 'table')
    assert Path('problems.csv').read_text() == run('validate', 'run.txt').stdout


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ('-o map.out', '-o: found the suffix .out, expected one of .txt, .csv, .json, .jsonl'),
        ('-o map.tar.gz', '-o: found the suffix .tar, expected one of .txt, .csv'),
    ],
)
def test_a_suffix_without_a_format_is_refused(folder, arguments, message):
    result = run('evaluate', 'reference.txt', 'run.txt', *arguments.split())
    assert result.exit_code == 2
    assert message in result.stderr


def test_an_empty_path_of_an_output_is_refused(folder):
    result = run('evaluate', 'reference.txt', 'run.txt', '-o', '')
    assert result.exit_code == 2
    assert 'found an empty path, expected a file' in result.stderr
