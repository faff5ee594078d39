"""Rows one after another, as they come from whatever may give more of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables.following import following
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.line_format import no_rows, parse_line
from mediaeval_ap.tables.lines import Lines, numbered
from mediaeval_ap.tables.reading import read
from mediaeval_ap.tables.sources import (
    MAX_BYTES,
    STANDARD_INPUT,
    ByteSource,
    Hasher,
    opening,
)

__all__ = ['arriving']


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
    r"""The rows of a file or of standard input, each as soon as its line is there.

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
        How many bytes a compressed file, Parquet or a pipe may come to.

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
    >>> import pathlib, tempfile
    >>> from mediaeval_ap.tables.layouts import HYPOTHESIS
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'run.txt')
    >>> path.write_text('x v 1 ann 0.5\nx v\nx v 2 bob 0.25\n')
    33
    >>> wrong = []
    >>> [row[3:] for row in arriving(path, HYPOTHESIS, on_wrong=wrong.append)]
    [('ann', 0.5), ('bob', 0.25)]
    >>> wrong[0].place
    'line 2'
    """
    source = ByteSource(origin, max_bytes)
    if source.origin == STANDARD_INPUT:
        with opening(source.name), source.open_stored(may_change=follow) as stream:
            yield from _parsed(stream, source.name, layout, on_wrong)
    elif follow:
        with following(source) as stream:
            yield from _parsed(stream, source.name, layout, on_wrong)
    elif source.is_parquet:
        yield from read(origin, layout, max_bytes=max_bytes).rows()
    else:
        with source.open(Hasher()) as lines:
            yield from _parsed(lines, source.name, layout, on_wrong)


def _parsed(
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
