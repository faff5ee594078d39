"""Reading of tables from whatever holds them.

The fast path proves, the slow path explains: files of campaign size go straight through the strict
parser (`strict_text`). Larger ones take a bulk reader (`bulk`) whose result counts only where every
field is proved right; on any doubt the strict parser reads the file again, and accepts it or names
the line. Files with a header, as CSV, are read by `mediaeval_ap.tables.records`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mediaeval_ap.choices import MAX_BYTES
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.tables.byte_sources import ByteSource
from mediaeval_ap.tables.input_kinds import Kind, Origin
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.strict_text import parse
from mediaeval_ap.tables.table import Source, Table

# What a run of text does not need is imported where it is used.
if TYPE_CHECKING:
    import pyarrow

__all__ = ['read']

# A choice: pyarrow, with its import, takes as long as the strict parser for 4 MiB, and a quarter
# less for 8 MiB; there it takes twice the memory (138 MiB for 69).
BULK_BYTES = 4 << 20


def read(origin: Any, layout: Layout, *, max_bytes: int = MAX_BYTES) -> Table:
    """Read a table from whatever holds it.

    Parameters
    ----------
    origin : str, path-like, file object, DataFrame, array, iterable or Table
        A path, ``-`` for standard input, an open file (each as text, perhaps compressed, or as
        Parquet, as its first bytes say), a table with the layout's fields among its columns (of
        pandas, polars, pyarrow or any library with the Arrow stream interface), an array of text of
        shape (n_rows, n_fields), an iterable of tuples, or a table that was read before.
    layout : Layout
        The fields of a row.
    max_bytes : int
        The most bytes that a source may give which does not say how large it is: a compressed file
        or Parquet (once decompressed), standard input, a pipe, a device.

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
    >>> from mediaeval_ap.tables import REFERENCE
    >>> reference = read('samples/reference.txt', REFERENCE)
    >>> len(reference['person_name'].values)
    2003
    """
    given = Origin.of(origin, max_bytes)
    match given.kind:
        case Kind.TEXT:
            return _read_text(given.value, layout)
        case Kind.PARQUET:
            return _read_parquet(given.value, layout)
        case Kind.FRAME:
            from mediaeval_ap.tables.rows import from_frame

            return from_frame(given.value, layout)
        case Kind.ARROW:
            from mediaeval_ap.tables.arrow import from_arrow, to_arrow

            source = Source(f'<{type(given.value).__name__}>')
            return from_arrow(to_arrow(given.value), layout, source)
        case Kind.ARRAY:
            from mediaeval_ap.tables.rows import from_array

            return from_array(given.value, layout)
        case Kind.ROWS:
            from mediaeval_ap.tables.rows import from_rows

            return from_rows(given.value, layout)
        case Kind.TABLE if isinstance(given.value, Table):
            if given.value.layout != layout:
                found = given.value.layout.name
                raise ParameterError(f'table: found a {found}, expected a {layout.name}')
            return given.value
    expected = 'a path, an open file, a table or an iterable of rows'
    raise given.error(expected, f'{layout.name}: ')


def _read_text(source: ByteSource, layout: Layout) -> Table:
    if source.size() > BULK_BYTES:
        from mediaeval_ap.tables.bulk import parse_in_bulk

        with source.open() as stream:
            proved = parse_in_bulk(stream, layout, source.name)
        if proved is not None:
            return replace(proved, source=source.described())
    return read_strictly(source, layout)


def read_strictly(source: ByteSource, layout: Layout) -> Table:
    """Read text by the strict parser alone, which names what is wrong."""
    with source.open() as stream:
        table = parse(stream, layout, source.name)
    return replace(table, source=source.described())


def _read_parquet(source: ByteSource, layout: Layout) -> Table:
    from mediaeval_ap.tables.arrow import check_names, from_arrow
    from mediaeval_ap.tables.parquet import read_parquet

    def fields(schema: pyarrow.Schema) -> Sequence[str]:
        check_names(schema.names, layout, source.name)
        return layout.fields

    table, described = read_parquet(source, fields)
    return from_arrow(table, layout, described)
