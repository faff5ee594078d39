"""Hostile files: what becomes of each, with the bulk reader too; names that terminals obey."""

import re
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from hostile.catalogue import CATALOGUE
from hostile.containers import NO_FILES
from hostile.scored import CHALLENGES, files_beside, score
from hostile.trec import TREC
from mediaeval_ap.cli import main
from mediaeval_ap.errors import Error, printable
from mediaeval_ap.tables import HYPOTHESIS, read, reading
from mediaeval_ap.tables.sources import LIMIT_VARIABLE

OF_LINES = [
    entry
    for entry in CATALOGUE
    if entry.role not in {*CHALLENGES, *TREC}
    and not entry.name.endswith('.parquet')
    and entry not in NO_FILES  # as a pipe, which is read once
]
# The bulk reader of lines comes first where a file of any size is large for Python.
CASES = [(entry, reading.BULK_BYTES) for entry in CATALOGUE] + [(entry, -1) for entry in OF_LINES]


@pytest.fixture(scope='module')
def made(tmp_path_factory):
    """What makes an entry: its file, once, and what stands beside it."""

    @cache
    def make(entry):
        path = tmp_path_factory.mktemp('hostile') / entry.name
        entry.make(path)
        return path

    beside = cache(lambda role: files_beside(tmp_path_factory.mktemp('beside'), role))
    return lambda entry: (make(entry), beside(entry.role))


@pytest.mark.parametrize(
    ('entry', 'bulk_bytes'), CASES, ids=lambda case: f'{getattr(case, "name", case)!a}'[:40]
)
def test_what_becomes_of_a_file(entry, bulk_bytes, made, monkeypatch):
    monkeypatch.setattr(reading, 'BULK_BYTES', bulk_bytes)
    if entry.is_limited:
        monkeypatch.setenv(LIMIT_VARIABLE, '1000000')
    path, beside = made(entry)
    paths = {**beside, entry.role: path}
    if entry.error is None:
        assert score(entry, path, paths) == entry.value
        if entry.rows is not None:
            assert tuple(read(path, HYPOTHESIS).rows()) == entry.rows
        return
    with pytest.raises(Error) as caught:
        score(entry, path, paths)
    names = {'path': path, 'truth': paths['truth'], 'reference': paths['reference']}
    expected = entry.error
    for name, named in names.items():
        expected = expected.replace(f'{{{name}}}', printable(str(named)))
    assert re.sub('to [0-9]+ bytes', 'to N bytes', str(caught.value)) == expected


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


@pytest.mark.parametrize('format', ['table', 'latex'])
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


