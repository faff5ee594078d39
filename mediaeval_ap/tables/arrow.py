"""Tables from pyarrow tables and from Parquet, column by column."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import FormatError, is_text, shown
from mediaeval_ap.tables.bulk import text_column
from mediaeval_ap.tables.columns import Source, Table
from mediaeval_ap.tables.format import EXACT_NUMBER, FINITE_DECIMAL, TEXT, no_rows
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.sources import ByteSource, opening

if TYPE_CHECKING:
    import pyarrow

__all__ = ['check_names', 'from_arrow', 'read_parquet']


def from_arrow(table: pyarrow.Table, layout: Layout, source: Source) -> Table:
    """A table from a pyarrow table that has the layout's fields among its columns.

    Parameters
    ----------
    table : pyarrow.Table
        Columns are found by name; others are passed over.
    layout : Layout
        The fields.
    source : Source
        Where it came from.

    Returns
    -------
    Table
        The same rows.

    Raises
    ------
    FormatError
        When a column is not there or of the wrong type, or a field is missing or empty.

    Examples
    --------
    >>> import pyarrow
    >>> from mediaeval_ap.tables import SUBSET
    >>> table = pyarrow.table({'corpus_id': ['INA'], 'video_id': ['F2']})
    >>> from_arrow(table, SUBSET, Source('<Table>')).texts('video_id')
    ['F2']
    """
    import pyarrow

    check_names(table.column_names, layout, source)
    columns = {}
    for field in layout.texts:
        column = table[field]
        kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
        if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
            raise FormatError(source.name, '', field, f'a column of {column.type}', 'text')
        texts = _without_missing(column.cast(pyarrow.string()), field, source)
        columns[field] = text_column(texts.dictionary_encode())
    numbers = None
    if layout.number is not None:
        numbers = _arrow_numbers(table[layout.number], layout.number, source)
    result = Table(layout, columns, numbers, source)
    _check_values(result)
    return result


def read_parquet(source: ByteSource, layout: Layout) -> Table:
    """Read a Parquet file that has the layout's fields among its columns.

    Parameters
    ----------
    source : ByteSource
        A path.
    layout : Layout
        The fields.

    Returns
    -------
    Table
        Its rows.

    Raises
    ------
    ReadError
        When it cannot be read as Parquet.
    FormatError
        When a column is not there or of the wrong type, or a field is missing or empty.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas
    >>> from mediaeval_ap.tables import SUBSET
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'subset.parquet')
    >>> pandas.DataFrame({'corpus_id': ['INA'], 'video_id': ['F2']}).to_parquet(path)
    >>> read_parquet(ByteSource(path), SUBSET).texts('video_id')
    ['F2']
    """
    import pyarrow
    from pyarrow import parquet

    with opening(source.name), source.open_stored() as stream:
        described = Source(source.name, hashlib.file_digest(stream, 'sha256').hexdigest())
        try:
            file = parquet.ParquetFile(stream)
            check_names(file.schema_arrow.names, layout, described)
            table = file.read(columns=list(layout.fields))
        except pyarrow.ArrowException as error:
            raise OSError(f'not readable as Parquet: {str(error).splitlines()[0]}') from error
    return from_arrow(table, layout, described)


def check_names(names: Sequence[str], layout: Layout, source: Source) -> None:
    """Refuse a table that lacks a field of the layout among its columns, or has it twice.

    Parameters
    ----------
    names : sequence of str
        The columns of the table.
    layout : Layout
        The fields.
    source : Source
        Where the table came from.

    Raises
    ------
    FormatError
        Names the first such field.

    Examples
    --------
    >>> from mediaeval_ap.tables import SUBSET
    >>> check_names(['video_id', 'corpus_id', 'more'], SUBSET, Source('<Table>'))
    """
    if missing := [field for field in layout.fields if names.count(field) != 1]:
        found = f'columns {shown(", ".join(names))}'
        raise FormatError(source.name, '', missing[0], found, f'one column {missing[0]}')


def _arrow_numbers(column: Any, field: str, source: Source) -> NDArray[np.float64]:
    import pyarrow

    column = _without_missing(column, field, source)
    if not (pyarrow.types.is_floating(column.type) or pyarrow.types.is_integer(column.type)):
        raise FormatError(source.name, '', field, f'a column of {column.type}', 'numbers')
    try:
        numbers: NDArray[np.float64] = column.cast(pyarrow.float64()).to_numpy()
    except pyarrow.ArrowInvalid:
        raise FormatError(source.name, '', field, 'integers beyond 2**53', EXACT_NUMBER) from None
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        row = int(wrong[0])
        raise FormatError(
            source.name,
            f'row {row + 1}',
            field,
            str(numbers[row]),
            FINITE_DECIMAL,
            len(wrong) - 1,
        )
    return numbers


def _without_missing(column: Any, field: str, source: Source) -> Any:
    if column.null_count:
        row = column.is_null().to_numpy().argmax()
        raise FormatError(
            source.name, f'row {row + 1}', field, 'nothing', 'a value', column.null_count - 1
        )
    return column


def _check_values(table: Table) -> None:
    """Refuse a table without rows, empty text, and text that UTF-8 cannot hold."""
    if not len(table):
        raise no_rows(table.source.name, table.layout)
    for field, column in table.columns.items():
        for code, value in enumerate(column.values):
            if not is_text(value):
                row = int(np.argmax(column.codes == code)) + 1
                raise FormatError(table.source.name, f'row {row}', field, shown(value), TEXT)
