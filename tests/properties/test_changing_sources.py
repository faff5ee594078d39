"""Sources that somebody writes to while they are read: an error, and no score of half a file."""

import io
import os
import sys

import pyarrow
import pytest
from hostile.containers import COMPRESS
from pyarrow import parquet

from mediaeval_ap import AveragePrecision, tables, validate
from mediaeval_ap.errors import ReadError
from mediaeval_ap.tables import sources

REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob')]
LINE = 'x v 2 bob 0.9\n'
TEXT = 'x v 1 ann 0.5\n' + LINE
MESSAGE = 'changed while it was read: wait until nobody writes to it, or read a copy'


class Changing(io.FileIO):
    """A file that somebody changes once when it is first read."""

    change = staticmethod(os.utime)  # takes the path

    def _changed(self):
        change, self.change = self.change, None
        if change is not None:
            change(self.name)

    def read(self, size=-1):
        got = super().read(size)
        if size:
            self._changed()
        return got

    def readall(self):
        got = super().readall()
        self._changed()
        return got

    def readinto(self, buffer):
        got = super().readinto(buffer)
        self._changed()
        return got


def append(path, what=LINE):
    with open(path, 'a') as file:
        file.write(what)


def replace_by_as_much(path):
    status = os.stat(path)
    with open(path, 'r+b') as file:
        file.write(b'y')
    # As some time later: the clock of a file system may not have moved on since.
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))


def cut(path):
    os.truncate(path, 5)


CHANGES = [append, lambda path: append(path, 'half a li'), replace_by_as_much, cut]


@pytest.fixture(params=CHANGES, ids=['grows', 'half a line', 'as large', 'shorter'])
def changing(request, monkeypatch):
    """Whatever the readers open by its path changes while they read it."""
    monkeypatch.setattr(Changing, 'change', staticmethod(request.param))
    monkeypatch.setattr(sources, 'open', lambda path, *_, **__: Changing(path), raising=False)


def parquet_of(path, names, *columns):
    parquet.write_table(pyarrow.table(list(columns), names), path)


@pytest.fixture
def run(tmp_path):
    path = tmp_path / 'run.txt'
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize('suffix', ['', *COMPRESS, 'parquet'])
def test_a_run(tmp_path, changing, suffix):
    path = tmp_path / f'run.txt.{suffix}'
    if suffix == 'parquet':
        columns = [*zip(*map(str.split, TEXT.splitlines()), strict=True)][:4]
        parquet_of(path, tables.HYPOTHESIS.fields, *columns, [0.5, 0.9])
    else:
        path.write_bytes(COMPRESS.get(suffix, bytes)(TEXT.encode()))
    with pytest.raises(ReadError) as caught:
        AveragePrecision(REFERENCE).evaluate(path)
    assert str(caught.value).startswith(f'{path}: {MESSAGE}')


def test_validation(run, changing):
    with pytest.raises(ReadError, match=MESSAGE):
        validate(run)


@pytest.mark.parametrize('wrap', [lambda file: file, io.BufferedReader, io.TextIOWrapper])
def test_an_open_file(run, monkeypatch, wrap):
    monkeypatch.setattr(Changing, 'change', staticmethod(append))
    with Changing(run) as raw:
        file = wrap(io.BufferedReader(raw)) if wrap is io.TextIOWrapper else wrap(raw)
        with pytest.raises(ReadError, match=MESSAGE):
            AveragePrecision(REFERENCE).evaluate(file)


def test_standard_input(run, monkeypatch):
    monkeypatch.setattr(Changing, 'change', staticmethod(append))
    for read in AveragePrecision(REFERENCE).evaluate, validate:
        with Changing(run) as raw:
            monkeypatch.setattr(sys, 'stdin', io.TextIOWrapper(io.BufferedReader(raw)))
            with pytest.raises(ReadError, match=f'<stdin>: {MESSAGE}'):
                read('-')


def test_a_file_that_another_takes_the_place_of_is_read_as_it_was(run, monkeypatch):
    def replace(path):
        os.rename(path, f'{path}.old')
        run.write_text(LINE)

    monkeypatch.setattr(Changing, 'change', staticmethod(replace))
    monkeypatch.setattr(sources, 'open', lambda path, *_, **__: Changing(path), raising=False)
    assert len(tables.read(run, tables.HYPOTHESIS)) == 2
