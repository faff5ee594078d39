"""Hostile files: what becomes of each, in Python, by the command, and with the bulk reader."""

import json
import os
import pty
import subprocess
import sys
import termios
from collections import Counter
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from hostile.catalogue import CATALOGUE
from hostile.containers import NO_FILES
from hostile.entries import REFERENCE, A, B
from hostile.scored import CHALLENGES, files_2015, files_beside, score
from hostile.trec import TREC
from mediaeval_ap import tables
from mediaeval_ap.cli import main
from mediaeval_ap.errors import Error, printable
from mediaeval_ap.tables import HYPOTHESIS, read


def name_of(entry):
    return f'{entry.role}-{entry.name[:40]!a}'


@pytest.fixture(scope='module')
def made(tmp_path_factory):
    """What makes an entry: its file, once, and what stands beside it."""

    @cache
    def make(number):
        entry = CATALOGUE[number]
        path = tmp_path_factory.mktemp('hostile') / entry.name
        entry.make(path)
        return path

    beside = cache(lambda role: files_beside(tmp_path_factory.mktemp('beside'), role))

    def of(entry):
        once = make.__wrapped__ if entry in NO_FILES else make  # as a pipe, which is read once
        return once(CATALOGUE.index(entry)), beside(entry.role)

    return of


@pytest.fixture(params=CATALOGUE, ids=name_of)
def hostile(request, made):
    """An entry, its file, and the paths of what stands beside it, by role."""
    entry = request.param
    path, beside = made(entry)
    return entry, path, {**beside, entry.role: path}


def message(entry, path, paths):
    """The error that is expected."""
    names = {'path': path, 'truth': paths['truth'], 'reference': paths['reference']}
    names['shots'] = paths['2015-shots']
    error = entry.error
    for name, named in names.items():
        error = error.replace(f'{{{name}}}', printable(str(named)))
    return error


def check(entry, path, paths):
    if entry.error is not None:
        with pytest.raises(Error) as caught:
            score(entry, path, paths)
        assert str(caught.value) == message(entry, path, paths)
    else:
        assert score(entry, path, paths) == entry.value


def test_in_python(hostile):
    check(*hostile)


OF_LINES = [
    entry
    for entry in CATALOGUE
    if entry.role not in {*CHALLENGES, *TREC}
    and not entry.name.endswith('.parquet')
    and entry not in NO_FILES
]


@pytest.mark.parametrize('hostile', OF_LINES, indirect=True, ids=name_of)
def test_in_bulk(hostile, monkeypatch):
    """The bulk reader of lines comes first here, however small the file is."""
    monkeypatch.setattr(tables.reading, 'BULK_BYTES', -1)
    check(*hostile)


READ = [entry for entry in CATALOGUE if entry.rows is not None]


@pytest.mark.parametrize('hostile', READ, indirect=True, ids=name_of)
@pytest.mark.parametrize('bulk_bytes', [tables.reading.BULK_BYTES, -1])
def test_rows(hostile, monkeypatch, bulk_bytes):
    entry, path, _ = hostile
    monkeypatch.setattr(tables.reading, 'BULK_BYTES', bulk_bytes)
    assert tuple(read(path, HYPOTHESIS).rows()) == entry.rows


def a_few_of_each_kind():
    """Two of each role and end: what a command adds to Python is the same for all others."""
    n_taken = Counter()
    for entry in CATALOGUE:
        kind = entry.role, entry.error is None, entry.max_bytes is None, Path(entry.name).suffix
        n_taken[kind] += 1
        if n_taken[kind] <= 2:
            yield entry


@pytest.mark.parametrize('hostile', list(a_few_of_each_kind()), indirect=True, ids=name_of)
def test_by_the_command(hostile):
    entry, path, paths = hostile
    if entry.role in CHALLENGES:
        arguments = [entry.role, paths['truth'], path]
    elif entry.role in TREC:
        arguments = ['evaluate-trec', paths['qrels'], paths['trec-run'], '-K', '1']
    elif entry.role.startswith('2015-'):
        files = {role: str(path) for role, path in files_2015(paths).items()}
        arguments = ['evaluate-2015', files.pop('reference'), files.pop('labels')]
        arguments += [f'--{role}={path}' for role, path in files.items()]
    else:
        arguments = ['evaluate', paths['reference'], paths['hypothesis'], '-K', '1']
        arguments += [f'--{role}={paths[role]}' for role in ('queries', 'subset') if role in paths]
    if entry.max_bytes is not None:
        arguments += ['--max-bytes', entry.max_bytes]
    done = CliRunner().invoke(
        main, [*map(str, arguments), '--format', 'jsonl'], catch_exceptions=False
    )
    if entry.error is not None:
        assert (done.stdout, done.exit_code) == ('', 1)
        assert done.stderr == f'Error: {message(entry, path, paths)}\n'
    else:
        assert (done.stderr, done.exit_code) == ('', 0)
        result = json.loads(done.stdout)
        figure = 'value' if entry.role in CHALLENGES else 'AP@1'
        assert result['EwAP' if entry.role.startswith('2015-') else figure] == entry.value


def test_the_catalogue():
    names = {(entry.role, entry.name) for entry in CATALOGUE}
    assert len(names) == len(CATALOGUE) >= 60
    assert all(entry.why and Path(entry.name).name == entry.name for entry in CATALOGUE)


HARMFUL = ['\x1b[31mann', 'a\x9b2Jnn', 'a\u202enn', 'a\u2028nn', 'a\x7fnn']
ESCAPED = [r'\x1b[31mann', r'a\x9b2Jnn', r'a\u202enn', r'a\u2028nn', r'a\x7fnn']


@pytest.fixture
def named(tmp_path, monkeypatch):
    """A reference, a run with each of its rows twice, and queries, of names that do harm."""
    monkeypatch.chdir(tmp_path)
    rows = [f'x v {shot} {name}' for shot, name in enumerate(HARMFUL)]
    Path('reference\x1b[2J.txt').write_text(''.join(f'{row}\n' for row in rows))
    Path('run\x1b[2J.txt').write_text(''.join(f'{row} 0.5\n' for row in rows * 2))
    Path('queries\x1b[2J.txt').write_text(''.join(f'{name}\n' for name in HARMFUL * 2))
    return [f'{name}\x1b[2J.txt' for name in ('reference', 'run', 'queries')]


def is_harmless(text):
    return all(line.isprintable() for line in text.split('\n'))


@pytest.mark.parametrize('format', ['table', 'markdown', 'latex'])
def test_names_for_eyes_are_escaped(named, format):
    reference, run, queries = named
    done = CliRunner().invoke(
        main,
        ['evaluate', reference, run, '--queries', queries, '--format', format, '--per-query'],
    )
    assert done.exit_code == 0
    assert is_harmless(done.stdout)
    assert is_harmless(done.stderr)
    shown = done.stdout.replace(r'\textbackslash{}', '\\')
    assert all(name in shown for name in ESCAPED) or format == 'latex'
    assert r'run\x1b[2J.txt: 5 of 10 rows repeat an earlier one exactly' in done.stderr
    assert r'queries\x1b[2J.txt: 5 of 10 queries repeat an earlier one' in done.stderr


def test_names_for_programs_are_exact(named):
    reference, run, _ = named
    done = CliRunner().invoke(
        main, ['evaluate', reference, run, '--format', 'jsonl', '--per-query']
    )
    queries = [json.loads(line)['query'] for line in done.stdout.split('\n') if line]
    assert set(HARMFUL) <= set(queries)


@pytest.mark.parametrize(
    'command',
    [
        'evaluate REFERENCE RUN --format csv --per-query',
        'evaluate REFERENCE RUN --format json --per-query',
        'stream REFERENCE RUN',
        'stream REFERENCE RUN --format jsonl',
        'rank REFERENCE RUN ann --format csv',
        'watch REFERENCE RUN --format jsonl',
    ],
)
def test_on_a_terminal_all_names_are_escaped(named, command, monkeypatch):
    """Also in formats for programs."""
    reference, run, queries = named
    paths = {'REFERENCE': reference, 'RUN': run}
    words = [paths.get(word, word) for word in command.split()]
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 500))
    with open(queries) as stdin, open(theirs, 'w') as stdout:
        monkeypatch.setattr('sys.stdin', stdin)
        monkeypatch.setattr('sys.stdout', stdout)
        main(words, standalone_mode=False)
    shown = b''
    with suppress(OSError):  # what Linux says when there is nothing more to read
        while chunk := os.read(ours, 1 << 16):
            shown += chunk
    os.close(ours)
    text = shown.decode().replace('\r\n', '\n').replace('\t', ' ')
    assert is_harmless(text)
    assert r'u202enn' in text


# What an unprivileged user sees: the rights of the one who runs the tests may be all there are.
# The program may lie where that user sees nothing, so all of it is imported before.
UNREADABLE = """
import importlib, os, pkgutil, sys
import mediaeval_ap, pyarrow.parquet
from mediaeval_ap.cli import main
for module in pkgutil.walk_packages(mediaeval_ap.__path__, 'mediaeval_ap.'):
    if not module.name.endswith('__main__'):
        importlib.import_module(module.name)
main(['evaluate', 'reference.txt', 'run.txt'], standalone_mode=False)
if os.getuid() == 0:
    os.setuid(65534)
for files in (each.split() for each in sys.argv[1:]):
    try:
        main(['evaluate', *files])
    except SystemExit as ended:
        print(ended.code, file=sys.stderr)
"""


def test_unreadable_files(tmp_path):
    tmp_path.chmod(0o755)  # the rest of the way there is the matter of the working directory
    (tmp_path / 'reference.txt').write_bytes(REFERENCE)
    (tmp_path / 'run.txt').write_bytes(A + B)
    secrets = 'secret.txt', 'secret.gz', 'secret.parquet'
    for name in secrets:
        (tmp_path / name).write_bytes(A)
        (tmp_path / name).chmod(0)
    pairs = ['secret.txt run.txt', *(f'reference.txt {name}' for name in secrets)]
    command = [sys.executable, '-c', UNREADABLE, *pairs]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    told = [f'Error: {name}: Permission denied\n1\n' for name in ('secret.txt', *secrets)]
    assert done.stderr == ''.join(told)
