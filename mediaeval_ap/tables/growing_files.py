"""Rows one after another, from a file that may grow or a stream."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import sleep
from typing import Any

from mediaeval_ap.choices import MAX_BYTES
from mediaeval_ap.errors import FormatError, ReadError
from mediaeval_ap.tables.byte_sources import STANDARD_INPUT, ByteSource, opening
from mediaeval_ap.tables.faults import no_row_of_text, no_rows
from mediaeval_ap.tables.input_kinds import Kind, Origin
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.lines import Read, blocks, numbered
from mediaeval_ap.tables.reading import read
from mediaeval_ap.tables.strict_text import PROVED_BYTES, Piece, prove, proved_pieces
from mediaeval_ap.tables.wrong_lines import explained, wrong_places

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

    Examples
    --------
    >>> from mediaeval_ap.tables import HYPOTHESIS
    >>> next(arriving('samples/hypothesis.txt', HYPOTHESIS))[3:]
    ('fort_brauchound', 0.718655)
    """
    given = Origin.of(origin, max_bytes)
    source = given.value
    if given.kind is not Kind.TEXT and not follow:
        yield from read(given, layout).rows()
        return
    if follow and source.format:
        raise ReadError(source.name, f'{source.format} cannot be followed, only plain text')

    n_wrong = 0

    def pass_over(number: int, lines: list[bytes]) -> Iterator[Piece]:
        nonlocal n_wrong
        begin = 0
        for place in [*wrong_places(lines, layout), len(lines)]:
            right = prove(lines[begin:place], layout)
            assert right is not None
            yield right
            if place < len(lines):
                wrong = explained(lines[place], layout)
                n_wrong += 1
                on_wrong(wrong.error(source.name, f'line {number + place}'))
            begin = place + 1

    n_lines = n_rows = 0
    with _opened(source, follow) as read_arrived:
        arrived = blocks(read_arrived, source.name, PROVED_BYTES)
        for piece in proved_pieces(arrived, layout, pass_over):
            n_lines += len(piece.lines)
            for row in _rows(piece, layout):
                n_rows += 1
                yield row
    if not n_rows and n_wrong:
        raise no_rows(source.name, layout)
    if not n_rows:
        raise no_row_of_text(source.name, layout, n_lines)


def _rows(piece: Piece, layout: Layout) -> Iterator[tuple[Any, ...]]:
    columns: list[Iterable[Any]] = [map(bytes.decode, fields) for fields in piece.texts]
    if columns and layout.number is not None:
        columns.insert(layout.number_at, piece.numbers)
    return zip(*columns, strict=True)


def lines_of_standard_input() -> Iterator[tuple[int, bytes]]:
    """Yield the lines of standard input, with their numbers, each as soon as it is there."""
    source = ByteSource(STANDARD_INPUT)
    with source.open_arriving(may_change=True) as stream:
        yield from numbered(stream, source.name)


@contextmanager
def _opened(source: ByteSource, follow: bool) -> Iterator[Read]:
    """Open a source, and yield the function that reads what has arrived of it."""
    if source.is_standard_input:
        with source.open_arriving(may_change=follow) as stream:
            yield stream.read1  # type: ignore[attr-defined]  # it is buffered
    elif follow:
        with following(source) as read_more:
            yield read_more
    else:
        with source.open() as stream:
            yield stream.read1  # type: ignore[attr-defined]  # it is buffered


@contextmanager
def following(source: ByteSource) -> Iterator[Read]:
    """Open a file of plain text that grows, as ``tail -f``; its function to read waits for more."""
    with opening(source.name), source.open_stored(may_change=True) as file:

        def read_more(size: int) -> bytes:
            while not (chunk := file.read(size)):
                if file.seekable() and os.fstat(file.fileno()).st_size < file.tell():
                    raise ReadError(source.name, 'became shorter while it was followed')
                sleep(SECONDS_BETWEEN_LOOKS)
            return bytes(chunk)

        yield read_more
