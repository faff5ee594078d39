"""The command, and the files of a small campaign, for tests of what it does."""

import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner

from mediaeval_ap import AveragePrecision
from mediaeval_ap.cli import main

NOT_OF_TERMINALS = ('COLUMNS', 'NO_COLOR', 'FORCE_COLOR', 'TERM')
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


def output_of(*arguments, **settings):
    """Return what a command that succeeds prints."""
    result = run(*arguments, **settings)
    assert result.exit_code == 0, result.output
    return result.stdout


def json_of(*arguments, **settings):
    return json.loads(output_of(*arguments, '--format', 'json', **settings))


def refused(*arguments, status=2, **settings):
    """Return the error of a command that is refused and prints nothing else."""
    result = run(*arguments, **settings)
    assert (result.exit_code, result.stdout) == (status, ''), result.output
    return result.stderr


def on_terminal(*arguments, columns=80, **environment):
    """Return what a terminal of that width shows of a command, which runs in this process."""
    import pty  # which Windows lacks
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, columns))
    shown = []

    def read():
        with contextlib.suppress(OSError):  # at the end, on Linux
            while part := os.read(ours, 1 << 16):
                shown.append(part)

    reader = Thread(target=read)
    reader.start()
    with (
        open(theirs, 'w') as out,
        open(os.dup(theirs)) as given,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name in NOT_OF_TERMINALS:
            patch.delenv(name, raising=False)
        for name, value in environment.items():
            patch.setenv(name, value)
        for name, stream in ('stdin', given), ('stdout', out), ('stderr', out), ('__stdout__', out):
            patch.setattr(sys, name, stream)
        main(arguments, prog_name='mediaeval-ap', standalone_mode=False)
    reader.join()
    os.close(ours)
    return b''.join(shown).decode().replace('\r\n', '\n')


def expected(*queries, K=(1, 10, 100, 1000), **options):
    return AveragePrecision('reference.txt', K, **options).evaluate('run.txt', queries or None)


# Of a line of shell, where no quotes are open: `(?=…)` looks for whole quotes up to the end.
SEPARATOR = re.compile(r"""( && | \| |; )(?=(?:[^'"]|'[^']*'|"[^"]*")*$)""")
OURS = re.compile(r'mediaeval-ap (.*?)(?: ([<>]) (\S+))?', re.DOTALL)


def run_line(line, folder='.'):
    """Run a line as `bash -o pipefail` does, our commands in this process: exit code and output.

    What is no list of pipelines, such as a loop, is run by bash as a whole.
    """
    parts = SEPARATOR.split(line) if 'mediaeval-ap ' in line and line[0] not in '(f' else [line]
    code, given, shown = 0, '', ''
    for (before, command), (after, _) in pairwise(
        [*zip(['; ', *parts[1::2]], parts[::2], strict=True), ('', '')]
    ):
        if before == ' && ' and code:
            break
        if re.fullmatch(r'cd \S+', command):
            folder = Path(folder, command.removeprefix('cd '))
            continue
        run_stage = run_ours if OURS.fullmatch(command) else run_by_bash
        ended, given, told = run_stage(command, given, folder, code, is_piped=after == ' | ')
        code = ended or (code if before == ' | ' else 0)
        shown += told
    return code, shown


def run_ours(command, given, folder, _, is_piped):
    """Run it here: its exit code, what it writes into a pipe, and what is seen."""
    words, direction, file = OURS.fullmatch(command).groups()
    path = Path(folder, file or '')
    with contextlib.chdir(folder):
        input = path.read_bytes() if direction == '<' else given
        done = CliRunner().invoke(main, shlex.split(words), input, prog_name='mediaeval-ap')
    if direction == '>':
        path.write_text(done.stdout)
    if direction == '>' or is_piped:
        return done.exit_code, done.stdout, done.stderr
    return done.exit_code, '', done.output


def run_by_bash(command, given, folder, code, is_piped):
    """Run it in a shell whose `$?` is the exit code so far."""
    path = f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}'
    done = subprocess.run(
        ['bash', '-o', 'pipefail', '-c', f'(exit {code}); {command}'],
        cwd=folder,
        env={**os.environ, 'PATH': path},
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if is_piped else subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, *((done.stdout, done.stderr) if is_piped else ('', done.stdout))
