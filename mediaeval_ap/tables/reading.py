"""Tables of references, hypotheses, subsets and queries: text, frames and rows to columns.

The fast path proves, the slow path explains: files of campaign size go straight through the strict
parser (`lines`), which is the specification of the formats (`format`). Larger ones take a bulk
reader (`bulk`) whose result counts only where every field is proved right; on any doubt the strict
parser reads the file again, and accepts it or names the line.

Files with a header, as CSV or Parquet, are `mediaeval_ap.tables.records`. What a run of text does
not need is imported where it is used.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from mediaeval_ap.errors import FormatError, ParameterError, shown
from mediaeval_ap.tables.layouts import (
    HYPOTHESIS,
    QUERIES,
    REFERENCE,
    SUBSET,
    Layout,
)
from mediaeval_ap.tables.line_format import (
    Wrong,
    holds_no_row,
    is_finite_decimal,
    no_rows,
    parse_line,
)
from mediaeval_ap.tables.lines import numbered
from mediaeval_ap.tables.sources import (
    MAX_BYTES,
    STANDARD_INPUT,
    ByteSource,
    Hasher,
    check_limit,
    standard_input,
)
from mediaeval_ap.tables.strict_text import parse
from mediaeval_ap.tables.table import Column, Source, Table, is_arrow, is_instance

if TYPE_CHECKING:
    import pyarrow

__all__ = [
    'BULK_BYTES',
    'HYPOTHESIS',
    'MAX_BYTES',
    'QUERIES',
    'REFERENCE',
    'STANDARD_INPUT',
    'SUBSET',
    'Column',
    'Layout',
    'Source',
    'Table',
    'Wrong',
    'error_at',
    'has_all_fields',
    'is_finite_decimal',
    'is_rows',
    'no_rows',
    'numbered',
    'parse_line',
    'read',
    'standard_input',
]

BULK_BYTES = 32 << 20


def read(origin: Any, layout: Layout, *, max_bytes: int = MAX_BYTES) -> Table:
    """Read a table from whatever holds it.

    Parameters
    ----------
    origin : str, path-like, file object, DataFrame, iterable or Table
        A path (``.gz``, ``.bz2``, ``.xz`` and ``.zst`` are decompressed, ``.parquet`` and ``.pq``
        read as Parquet), ``-`` for standard input, an open file, a table with the layout's fields
        among its columns (of pandas, polars, pyarrow or anything that Arrow can take a stream of),
        an iterable of tuples, or a table that was read before.
    layout : Layout
        The fields of a row.
    max_bytes : int
        How many bytes what does not say how large it is may give: a compressed file or Parquet
        (once decompressed), standard input, a pipe, a device.

    Returns
    -------
    Table
        The rows.

    Raises
    ------
    ReadError
        When the source cannot be opened, decompressed or read to its end, or gives more.
    FormatError
        When a row is wrong, or there is none.
    ParameterError
        When the origin is none of these, or the limit no positive integer.

    Examples
    --------
    >>> reference = read('samples/reference.txt', REFERENCE)
    >>> len(reference['person_name'].values)
    2003
    """
    check_limit(max_bytes)
    if isinstance(origin, Table):
        if origin.layout != layout:
            raise ParameterError(f'table: found a {origin.layout.name}, expected a {layout.name}')
        return origin
    if is_instance(origin, 'pandas', 'DataFrame'):
        from mediaeval_ap.tables.rows import from_frame

        return from_frame(origin, layout)
    if is_arrow(origin):
        from mediaeval_ap.tables.arrow import from_arrow, to_arrow

        return from_arrow(to_arrow(origin), layout, Source(f'<{type(origin).__name__}>'))
    if isinstance(origin, str | os.PathLike) or hasattr(origin, 'read'):
        return _read_bytes(ByteSource(origin, max_bytes), layout)
    if is_rows(origin):
        from mediaeval_ap.tables.rows import from_rows

        return from_rows(origin, layout)
    raise ParameterError(
        f'{layout.name}: found {shown(origin)} ({type(origin).__name__}), '
        'expected a path, an open file, a table or an iterable of rows'
    )


def has_all_fields(origin: Any) -> bool:
    """Whether something has all fields of a format: lines of text, and what was read of them.

    Parameters
    ----------
    origin : object
        Anything that `read` takes.

    Returns
    -------
    bool
        False for tables of other libraries, Parquet and rows, which may have some alone.

    Examples
    --------
    >>> has_all_fields('run.txt'), has_all_fields('run.parquet'), has_all_fields([('x', 'v')])
    (True, False, False)
    """
    if isinstance(origin, str | os.PathLike):
        return not ByteSource(origin).is_parquet
    return isinstance(origin, Table) or hasattr(origin, 'read')


def error_at(
    origin: Any, layout: Layout, name: str, row: int, wrong: Wrong, *, max_bytes: int = MAX_BYTES
) -> FormatError:
    """The error of a row: it names the line in a file that can be read again, else the row.

    Parameters
    ----------
    origin : object
        What a table was read from.
    layout : Layout
        Its fields.
    name : str
        Its name.
    row : int
        From 0.
    wrong : Wrong
        The field, what stands there, and what should.
    max_bytes : int
        As it was read with.

    Returns
    -------
    FormatError
        To be raised.

    Raises
    ------
    ReadError
        When the file cannot be read any more.

    Examples
    --------
    >>> wrong = Wrong('video_id', "'v' again", 'each video once')
    >>> print(error_at([('x', 'v'), ('x', 'v')], SUBSET, '<rows>', 1, wrong))
    <rows>, row 2, video_id: found 'v' again, expected each video once
    """
    return wrong.error(name, _place_of(origin, layout, row, max_bytes))


def _place_of(origin: Any, layout: Layout, row: int, max_bytes: int) -> str:
    if isinstance(origin, str | os.PathLike):
        source = ByteSource(origin, max_bytes)
        if source.is_stored and not source.is_parquet:
            with source.open(Hasher()) as stream:
                lines = numbered(stream, source.name)
                rows = (
                    number
                    for number, line in lines
                    if not holds_no_row(line.strip(b'\r\n'), layout)
                )
                line = next(islice(rows, row, None), None)
            if line is not None:  # else somebody wrote to the file meanwhile
                return f'line {line}'
    return f'row {row + 1}'


def is_rows(origin: Any) -> bool:
    """Whether something holds rows that can be taken one after another.

    Parameters
    ----------
    origin : object
        Anything that `read` takes, or not.

    Returns
    -------
    bool
        True for an iterable that is no table, path or open file.

    Examples
    --------
    >>> is_rows(iter([('x', 'v')])), is_rows('run.txt')
    (True, False)
    """
    if isinstance(origin, str | bytes | dict | os.PathLike | Table) or hasattr(origin, 'read'):
        return False
    is_table = is_arrow(origin) or is_instance(origin, 'pandas', 'DataFrame')
    return isinstance(origin, Iterable) and not is_table


def _read_bytes(source: ByteSource, layout: Layout) -> Table:
    if source.is_parquet:
        from mediaeval_ap.tables.arrow import check_names, from_arrow
        from mediaeval_ap.tables.parquet import read_parquet

        def fields(schema: pyarrow.Schema) -> Sequence[str]:
            check_names(schema.names, layout, source.name)
            return layout.fields

        table, described = read_parquet(source, fields)
        return from_arrow(table, layout, described)
    if source.size() > BULK_BYTES:
        from mediaeval_ap.tables.bulk import parse_in_bulk

        hasher = Hasher()
        with source.open(hasher) as stream:
            proved = parse_in_bulk(stream, layout, source.name)
        if proved is not None:
            return Table(layout, *proved, Source(source.name, hasher.sha256))
    hasher = Hasher()
    with source.open(hasher) as stream:
        columns, numbers = parse(stream, layout, source.name)
    sha256 = None if source.is_open else hasher.sha256
    return Table(layout, columns, numbers, Source(source.name, sha256))
