"""Tables from pyarrow tables, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import FormatError, ParameterError, shortened, shown
from mediaeval_ap.plain_text import TEXT, is_text
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.table import Source, Table
from mediaeval_ap.tables.text.fast import text_column
from mediaeval_ap.tables.text.format import AS_TEXT, EXACT_NUMBER, FINITE_DECIMAL, no_rows

if TYPE_CHECKING:
    import pyarrow

SEARCHED_BYTES = 1 << 18  # in the caches: a quarter, or four times as many, take a fifth longer


def from_arrow(table: pyarrow.Table, layout: Layout, source: Source) -> Table:
    """Read a pyarrow table that has the fields of a layout among its columns."""
    check_names(table.column_names, layout, source.name)
    columns = {}
    for field in layout.texts:
        texts = _without_missing(text_array(table[field], field, source), field, source)
        columns[field] = text_column(texts.dictionary_encode())
    numbers = None
    if layout.number is not None:
        numbers = number_array(table[layout.number], layout.number, source)
    return _checked(Table(layout, columns, numbers, source))


def to_arrow(origin: Any) -> pyarrow.Table:
    """Return a table with `to_arrow` or `__arrow_c_stream__` as a pyarrow table."""
    import pyarrow

    try:
        if hasattr(origin, 'to_arrow'):  # polars, whose stream has types that old pyarrows lack
            return pyarrow.table(origin.to_arrow())
        return pyarrow.table(origin)
    except MemoryError:  # one of pyarrow's is an ArrowException, too
        raise
    except (pyarrow.ArrowException, TypeError) as error:
        found = f'found {type(origin).__name__}, which is no table to Arrow: {error}'
        raise ParameterError(found.splitlines()[0]) from error


def check_names(names: Sequence[str], layout: Layout, source: str) -> None:
    """Refuse a table that lacks a field of the layout among its columns, or has it twice."""
    if missing := [field for field in layout.fields if names.count(field) != 1]:
        found = f'columns {shown(", ".join(names))}'
        raise FormatError(source, '', missing[0], found, f'one column {missing[0]}')


def text_array(column: pyarrow.ChunkedArray, field: str, source: Source) -> Any:
    """Return a column of text as large strings in one chunk; missing ones are null."""
    import pyarrow

    if _value_type(column) not in ('string', 'large_string', 'string_view'):
        raise _wrong_type(column, field, 'text', source)
    try:
        column.validate(full=True)
    except pyarrow.ArrowInvalid:
        raise _not_utf8(column, field, source) from None
    # In one chunk, as to encode several costs each of them the values of all.
    return pyarrow.chunked_array([column.cast(pyarrow.large_string()).combine_chunks()])


def holds_any(texts: pyarrow.Array, characters: str) -> bool:
    """Return whether one of some ASCII characters is anywhere in large strings.

    Looks at the bytes of all at once, in a hundredth of the time of looking at each string.
    """
    _, offsets, content = texts.buffers()
    if content is None or not len(texts):
        return False
    ends = np.frombuffer(offsets, dtype=np.int64)[[texts.offset, texts.offset + len(texts)]]
    begin, end = ends.tolist()
    wanted = [character.encode() for character in characters]
    view = memoryview(content)
    for start in range(begin, end, SEARCHED_BYTES):
        block = bytes(view[start : min(start + SEARCHED_BYTES, end)])
        if any(each in block for each in wanted):
            return True
    return False


def number_array(
    column: pyarrow.ChunkedArray, field: str, source: Source, *, may_lack: bool = False
) -> NDArray[np.float64]:
    """Return a column of numbers as doubles, or refuse what is missing, not finite or not exact.

    Where numbers may lack, they are NaN, and NaN is no number.
    """
    import pyarrow

    if (kind := _value_type(column)) != column.type:
        column = column.cast(kind)
    if not may_lack:
        column = _without_missing(column, field, source)
    if not (pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind)):
        raise _wrong_type(column, field, 'numbers', source)
    try:
        numbers: NDArray[np.float64] = column.cast(pyarrow.float64()).to_numpy()
    except pyarrow.ArrowInvalid:
        raise FormatError(source.name, '', field, 'integers beyond 2**53', EXACT_NUMBER) from None
    if len(wrong := np.flatnonzero(np.isinf(numbers) if may_lack else ~np.isfinite(numbers))):
        raise _wrong_rows(wrong, field, str(numbers[wrong[0]]), FINITE_DECIMAL, source)
    return numbers


def _value_type(column: Any) -> Any:
    """Return the type of the values, also of a column that is encoded by a dictionary."""
    from pyarrow import types

    return column.type.value_type if types.is_dictionary(column.type) else column.type


def _wrong_type(column: Any, field: str, expected: str, source: Source) -> FormatError:
    from pyarrow import types

    kind = _value_type(column)
    is_numeric = types.is_integer(kind) or types.is_floating(kind)
    remedy = AS_TEXT if expected == 'text' and is_numeric else ''
    found = shortened(f'a column of {kind}')
    return FormatError(source.name, '', field, found, f'{expected}{remedy}')


def _not_utf8(column: Any, field: str, source: Source) -> FormatError:
    """Return the error of a column of text that holds something else."""
    import pyarrow

    binary = pyarrow.large_binary()
    for row, value in enumerate(column.cast(binary), 1):
        try:
            (value.as_py() or b'').decode()
        except UnicodeDecodeError as error:
            found = f'invalid UTF-8 at byte {error.start + 1} (0x{error.object[error.start]:02x})'
            return FormatError(source.name, f'row {row}', field, found, 'UTF-8')
    return FormatError(source.name, '', field, 'a damaged column', 'text')


def _without_missing(column: Any, field: str, source: Source) -> Any:
    if column.null_count:
        missing = np.flatnonzero(column.is_null().to_numpy())
        raise _wrong_rows(missing, field, 'nothing', 'a value', source)
    return column


def _wrong_rows(
    rows: NDArray[np.int64], field: str, found: str, expected: str, source: Source
) -> FormatError:
    return FormatError(source.name, f'row {rows[0] + 1}', field, found, expected, len(rows) - 1)


def _checked(table: Table) -> Table:
    """Refuse a table without rows, and texts that no line can hold."""
    if not len(table):
        raise no_rows(table.source.name, table.layout)
    for field, column in table.columns.items():
        for code, value in enumerate(column.values):
            if not is_text(value):
                row = int(np.argmax(column.codes == code))
                raise table.error([row], field, shown(value), TEXT)
    return table
