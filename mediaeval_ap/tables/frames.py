"""Tables that are tables already: DataFrames, pyarrow tables, Parquet, iterables of tuples."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import FormatError, is_text, shown
from mediaeval_ap.tables.bulk import text_column
from mediaeval_ap.tables.columns import Column, Source, Table
from mediaeval_ap.tables.format import FINITE_DECIMAL, no_rows
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.sources import ByteSource, opening

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ['from_arrow', 'from_frame', 'from_rows', 'read_parquet']

TEXT = 'text on one line, not empty'
EXACT_NUMBER = 'a finite number that a double can hold'


def from_rows(rows: Iterable[Any], layout: Layout) -> Table:
    """A table of tuples, one a row.

    Parameters
    ----------
    rows : iterable of sequences
        The fields of each row in the order of the layout; where the layout has one field only,
        a row may be that field itself.
    layout : Layout
        The fields.

    Returns
    -------
    Table
        The same rows.

    Raises
    ------
    FormatError
        When a row has another number of fields, or a field of the wrong type.

    Examples
    --------
    >>> from mediaeval_ap.tables import REFERENCE
    >>> from_rows([('INA', 'F2', '000010', 'nan')], REFERENCE).texts('shot_id')
    ['000010']
    """
    source = Source('<rows>')
    fields: list[tuple[Any, ...]] = []
    width = len(layout.fields)
    for number, row in enumerate(rows, 1):
        if isinstance(row, str) and width == 1:
            row = (row,)
        if isinstance(row, str) or not isinstance(row, Sequence):
            found = f'{shown(row)} ({type(row).__name__})'
            raise FormatError(source.name, f'row {number}', '', found, layout.expected)
        if len(row) != width:
            found = f'{len(row)} in {shown(row)}'
            raise FormatError(source.name, f'row {number}', '', found, layout.expected)
        fields.append(tuple(row))
    return _from_columns(list(zip(*fields, strict=True)), layout, source)


def from_frame(frame: pandas.DataFrame, layout: Layout) -> Table:
    """A table from a pandas DataFrame that has the layout's fields among its columns.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns are found by name; others are passed over.
    layout : Layout
        The fields.

    Returns
    -------
    Table
        The same rows.

    Raises
    ------
    FormatError
        When a column is not there, or a field is of the wrong type or missing.

    Examples
    --------
    >>> import pandas
    >>> from mediaeval_ap.tables import SUBSET
    >>> frame = pandas.DataFrame({'corpus_id': ['INA'], 'video_id': ['F2']})
    >>> from_frame(frame, SUBSET).texts('video_id')
    ['F2']
    """
    source = Source('<DataFrame>')
    _check_names([str(name) for name in frame.columns], layout, source)
    return _from_columns([frame[field].tolist() for field in layout.fields], layout, source)


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

    _check_names(table.column_names, layout, source)
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
            _check_names(file.schema_arrow.names, layout, described)
            table = file.read(columns=list(layout.fields))
        except pyarrow.ArrowException as error:
            raise OSError(f'not readable as Parquet: {str(error).splitlines()[0]}') from error
    return from_arrow(table, layout, described)


def _check_names(names: Sequence[str], layout: Layout, source: Source) -> None:
    if missing := [field for field in layout.fields if names.count(field) != 1]:
        found = f'columns {shown(", ".join(names))}'
        raise FormatError(source.name, '', missing[0], found, f'one column {missing[0]}')


def _from_columns(columns: Sequence[Sequence[Any]], layout: Layout, source: Source) -> Table:
    if not columns or not columns[0]:
        raise no_rows(source.name, layout)
    texts = {
        field: _text_column(column, field, source)
        for field, column in zip(layout.texts, columns, strict=False)
    }
    numbers = None
    if layout.number is not None:
        numbers = np.array(
            [_number(value, row, layout.number, source) for row, value in enumerate(columns[-1], 1)]
        )
    result = Table(layout, texts, numbers, source)
    _check_values(result)
    return result


def _text_column(column: Sequence[Any], field: str, source: Source) -> Column:
    code_of: dict[str, int] = {}
    codes = np.empty(len(column), dtype=np.int32)
    for row, value in enumerate(column):
        if not isinstance(value, str):
            found = f'{shown(value)} ({type(value).__name__})'
            raise FormatError(source.name, f'row {row + 1}', field, found, TEXT)
        codes[row] = code_of.setdefault(value, len(code_of))
    return Column(codes, [str(value) for value in code_of])


def _number(value: Any, row: int, field: str, source: Source) -> float:
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number) and not (isinstance(value, Integral) and number != value):
            return number
    found = f'{shown(value)} ({type(value).__name__})'
    raise FormatError(source.name, f'row {row}', field, found, EXACT_NUMBER)


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
