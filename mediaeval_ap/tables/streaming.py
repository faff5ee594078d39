"""Rows one after another, from a file that may grow or a stream."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import sleep
from typing import Any, BinaryIO

from mediaeval_ap.errors import FormatError, ReadError
from mediaeval_ap.tables.faults import no_rows
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.line_format import parse_line
from mediaeval_ap.tables.lines import Lines, numbered
from mediaeval_ap.tables.reading import read
from mediaeval_ap.tables.sources import MAX_BYTES, ByteSource, opening

SECONDS_BETWEEN_LOOKS = 0.1  # a choice: at once to a person, and no load


def _refuse(error: FormatError) -> None:
    raise error


def arriving(
    origin: str | os.PathLike[str],
    layout: Layout,
    *,
    follow: bool = False,
    on_wrong: Callable[[FormatError], object] = _refuse,
    max_bytes: int = MAX_BYTES,
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a file or of standard input, each as soon as its line is there.

    Parameters
    ----------
    origin : str or path-like
        A path, as `mediaeval_ap.tables.read` takes it, or ``-`` for standard input.
    layout : Layout
        The fields of a row.
    follow : bool
        Wait for more where the file ends, as ``tail -f``.
    on_wrong : callable
        Takes the error of each wrong line, which is passed over; by default it is raised.
    max_bytes : int
        The most bytes that a compressed file, Parquet or a pipe may come to.

    Yields
    ------
    tuple
        The fields of a row, a number as a float.

    Raises
    ------
    ReadError
        When it cannot be opened or read, or gives more.
    FormatError
        When there was no row at its end.
    """
    source = ByteSource(origin, max_bytes)
    if source.is_parquet and not follow:
        yield from read(origin, layout, max_bytes=max_bytes).rows()
        return
    with _lines(source, follow) as lines:
        yield from _rows(lines, source.name, layout, on_wrong)


@contextmanager
def _lines(source: ByteSource, follow: bool) -> Iterator[Lines]:
    if source.is_standard_input:
        with opening(source.name), source.open_stored(may_change=follow) as stream:
            yield stream
    elif follow:
        with following(source) as grown:
            yield grown
    else:
        with source.open() as stream:
            yield stream


def _rows(
    lines: Lines, name: str, layout: Layout, on_wrong: Callable[[FormatError], object]
) -> Iterator[tuple[Any, ...]]:
    n_rows = 0
    for number, line in numbered(lines, name):
        try:
            fields = parse_line(line, layout, name, number)
        except FormatError as error:
            on_wrong(error)
            continue
        if fields is not None:
            n_rows += 1
            yield _with_number(fields, layout)
    if not n_rows:
        raise no_rows(name, layout)


def _with_number(fields: tuple[str, ...], layout: Layout) -> tuple[Any, ...]:
    if layout.number is None:
        return fields
    at = layout.number_at
    return (*fields[:at], float(fields[at]), *fields[at + 1 :])


class Following:
    """A stream of whole lines, which waits for more where the file ends."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._begun = b''

    def readline(self, limit: int, /) -> bytes:
        """Return the next line as soon as all of it, or `limit` bytes, are there."""
        while True:
            self._begun += self._file.readline(limit - len(self._begun))
            if self._begun.endswith(b'\n') or len(self._begun) >= limit:
                line, self._begun = self._begun, b''
                return line
            if self._file.seekable() and os.fstat(self._file.fileno()).st_size < self._file.tell():
                raise ReadError(self._name, 'became shorter while it was followed')
            sleep(SECONDS_BETWEEN_LOOKS)


@contextmanager
def following(source: ByteSource) -> Iterator[Following]:
    """Follow a file of plain text that grows, as ``tail -f``, from its first line."""
    if not source.is_plain:
        raise ReadError(source.name, f'{source.suffix} cannot be followed, only plain text')
    with opening(source.name), source.open_stored(may_change=True) as stored:
        yield Following(io.BufferedReader(stored), source.name)
