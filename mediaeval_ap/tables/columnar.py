"""Columnar tables: Parquet files, and tables of pyarrow or with the Arrow stream interface."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import TEXT, is_text
from mediaeval_ap.errors import FormatError, ParameterError, ReadError, printable, shortened, shown
from mediaeval_ap.progress import tracked
from mediaeval_ap.tables.faults import no_rows
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.sources import (
    NOT_A_REGULAR_FILE,
    PARQUET,
    ByteSource,
    opening,
    refuse_beyond_limit,
    version_of,
)
from mediaeval_ap.tables.table import Provenance, Table
from mediaeval_ap.tables.text.arrow_reader import text_column
from mediaeval_ap.tables.values import AS_INTEGERS, EXACT_NUMBER, FINITE_DECIMAL

if TYPE_CHECKING:
    import pandas
    import pyarrow

SEARCHED_BYTES = 1 << 18  # fits in caches; a quarter or four times as many takes a fifth longer
BATCH_ROWS = 1 << 19  # about as many rows as a block of text has
TEXT_TYPES = ('string', 'large_string')

Choose: TypeAlias = 'Callable[[pyarrow.Schema], Sequence[str]]'  # returns names of columns


def from_arrow(table: pyarrow.Table, source: Provenance, layout: Layout) -> Table:
    """Read a pyarrow table that has the fields of a layout among its columns."""
    check_names(table.column_names, layout, source.name)
    columns = {}
    integers = frozenset(field for field in layout.texts if holds_integers(table[field]))
    for field in layout.texts:
        texts = _require_values(text_array(table[field], field, source), field, source)
        columns[field] = text_column(texts.dictionary_encode())
    numbers = None
    if layout.number is not None:
        column = table[layout.number]
        numbers = number_array(column, layout.number, source, allow_boolean=layout.integers)
    rows = Table(layout, columns, numbers, source, integers=integers)
    if not len(rows):
        raise no_rows(source.name, layout)
    for field, column in columns.items():
        for code, value in enumerate(column.values):
            if not is_text(value):
                row = int(np.argmax(column.codes == code))
                raise rows.error([row], field, shown(value), TEXT)
    return rows


def read_columns(origin: Any, choose: Choose, name: str) -> tuple[pyarrow.Table, Provenance]:
    """Read some columns of a file, or of a table called `name`; `choose` names the columns."""
    if isinstance(origin, ByteSource):
        return _read_parquet(origin, choose)
    table = to_arrow(origin)
    return table.select(choose(table.schema)), Provenance(name)


def parquet_columns(source: ByteSource) -> list[str]:
    """Return the column names of a Parquet file, without reading values."""
    from pyarrow import parquet

    with _opened(source) as (stream, _):
        return list(parquet.read_schema(stream).names)


def to_arrow(origin: Any) -> pyarrow.Table:
    """Convert a table with `to_arrow` or `__arrow_c_stream__` to a pyarrow table."""
    import pyarrow

    try:
        # `to_arrow` first: polars' stream has types that old versions of pyarrow lack.
        return pyarrow.table(origin.to_arrow() if hasattr(origin, 'to_arrow') else origin)
    except MemoryError:  # pyarrow's is an ArrowException, too
        raise
    except (pyarrow.ArrowException, TypeError) as error:
        problem = f'found {type(origin).__name__}, which is not a table to Arrow: {error}'
        raise ParameterError(problem.splitlines()[0]) from error


def check_names(names: Sequence[str], layout: Layout, source: str, frame: Any = None) -> None:
    """Raise FormatError if a field of the layout is missing or repeated among the columns."""
    if wrong_fields := [field for field in layout.fields if names.count(field) != 1]:
        columns = f'columns {shown(", ".join(names))}'
        ids = [field for field in wrong_fields if field in layout.texts]
        remedy = '' if frame is None else index_remedy(frame, ids)
        expected = f'one column {wrong_fields[0]}{remedy}'
        raise FormatError(source, '', wrong_fields[0], columns, expected)
    if layout.name == 'reference' and 'confidence' in names:
        expected = 'a reference, which has none: are two arguments exchanged?'
        raise FormatError(source, '', 'confidence', 'a column of a run', expected)


def index_remedy(frame: pandas.DataFrame, missing: Sequence[str]) -> str:
    """Return the call by which a frame would show columns of ids, or '' if none is known."""
    if frame.columns.nlevels > 1:
        return '; its columns have levels: .droplevel(0, axis=1)'
    index = frame.index
    if len(missing) != index.nlevels or getattr(index.dtype, 'kind', '') in 'iu':
        return ''
    names = missing[0] if index.nlevels == 1 else [*missing]
    return f'; if the index holds it, name it: .rename_axis({names!r})'


def text_array(column: pyarrow.ChunkedArray, field: str, source: Provenance) -> Any:
    """Return texts, or integers as digits, as large strings in one chunk; missing ones are null."""
    import pyarrow

    if pyarrow.types.is_integer(kind := _value_type(column)):
        column = column.cast(kind).cast(pyarrow.large_string())
    if _value_type(column) not in ('string', 'large_string', 'string_view'):
        raise _type_error(column, field, 'text or integers', source)
    try:
        column.validate(full=True)
    except pyarrow.ArrowInvalid:
        with suppress(pyarrow.ArrowException):  # for example codes beyond the dictionary
            for row, value in enumerate(column.cast(pyarrow.large_binary()), 1):
                try:
                    (value.as_py() or b'').decode()
                except UnicodeDecodeError as error:
                    byte = f'byte {error.start + 1} (0x{error.object[error.start]:02x})'
                    problem = f'invalid UTF-8 at {byte}'
                    raise FormatError(source.name, f'row {row}', field, problem, 'UTF-8') from None
        raise FormatError(source.name, '', field, 'a damaged column', 'text') from None
    # In one chunk: pyarrow would encode each of several chunks with the values of all.
    return pyarrow.chunked_array([column.cast(pyarrow.large_string()).combine_chunks()])


def is_list(column: Any) -> bool:
    """Return True if the values of a column are lists."""
    from pyarrow import types

    kind = column.type
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def name_of_type(kind: Any) -> str:
    """Return a word for a type of pyarrow, in messages."""
    words = {'list': 'lists', 'string': 'text', 'float': 'floats', 'double': 'floats'}
    outer = str(kind).partition('<')[0]
    return next((word for part, word in words.items() if part in outer), shortened(str(kind)))


def list_array(column: pyarrow.ChunkedArray, field: str, source: Provenance) -> Any:
    """Return lists of labels as lists of large strings in one chunk; refuse missing labels."""
    import pyarrow
    from pyarrow import compute

    column = _require_values(column, field, source)
    lists = column.cast(pyarrow.large_list(column.type.value_type)).combine_chunks()
    offsets = lists.offsets.to_numpy()
    labels = pyarrow.chunked_array([lists.flatten()])
    if not len(labels):
        labels = labels.cast(pyarrow.large_string())
    (texts,) = text_array(labels, field, source).chunks
    is_missing = compute.equal(texts, '').fill_null(True).to_numpy(zero_copy_only=False)
    if is_missing.any():
        rows = np.unique(np.repeat(np.arange(len(lists)), np.diff(offsets))[is_missing])
        raise _rows_error(rows, field, 'a list with a missing label', 'text or integers', source)
    return pyarrow.LargeListArray.from_arrays(offsets - offsets[0], texts)


def holds_any(texts: pyarrow.Array, characters: str) -> bool:
    """Return True if any of the large strings contains one of the ASCII characters."""
    # A search of the bytes of all strings is a hundred times faster than string by string.
    _, offsets, content = texts.buffers()
    if content is None or not len(texts):
        return False
    ends = np.frombuffer(offsets, dtype=np.int64)[[texts.offset, texts.offset + len(texts)]]
    begin, end = ends.tolist()
    encoded_characters = [character.encode() for character in characters]
    view = memoryview(content)
    for start in range(begin, end, SEARCHED_BYTES):
        block = bytes(view[start : min(start + SEARCHED_BYTES, end)])
        if any(character in block for character in encoded_characters):
            return True
    return False


def number_array(
    column: pyarrow.ChunkedArray,
    field: str,
    source: Provenance,
    *,
    allow_missing: bool = False,
    allow_boolean: bool = False,
) -> NDArray[np.float64]:
    """Return numbers as doubles; refuse those that are infinite or not exact as doubles.

    Missing values and NaN are refused, too, or become NaN with `allow_missing`. With
    `allow_boolean`, true and false are 1 and 0.
    """
    import pyarrow

    if (kind := _value_type(column)) != column.type:
        try:
            column = column.cast(kind)
        except pyarrow.ArrowException:  # codes beyond the dictionary
            raise FormatError(source.name, '', field, 'a damaged column', 'numbers') from None
    if allow_boolean and kind == pyarrow.bool_():
        column = column.cast(kind := pyarrow.int8())
    if not allow_missing:
        column = _require_values(column, field, source)
    is_decimal = pyarrow.types.is_decimal(kind)
    if not (is_decimal or pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind)):
        raise _type_error(column, field, 'numbers', source)
    try:
        if is_decimal:  # a cast from decimals to doubles may miss the nearest one
            column = column.cast(pyarrow.int64() if kind.scale <= 0 else pyarrow.string())
        numbers: NDArray[np.float64] = column.cast(pyarrow.float64()).to_numpy()
    except pyarrow.ArrowInvalid:
        raise FormatError(source.name, '', field, 'integers beyond 2**53', EXACT_NUMBER) from None
    is_wrong = np.isinf(numbers) if allow_missing else ~np.isfinite(numbers)
    if len(wrong_rows := np.flatnonzero(is_wrong)):
        number = str(numbers[wrong_rows[0]])
        raise _rows_error(wrong_rows, field, number, FINITE_DECIMAL, source)
    return numbers


def _value_type(column: Any) -> Any:
    """Return the type of the values; for a dictionary-encoded column, of the decoded values."""
    from pyarrow import types

    return column.type.value_type if types.is_dictionary(column.type) else column.type


def holds_integers(column: Any) -> bool:
    """Return True if the values of a column, or the items of its lists, are integers."""
    from pyarrow import types

    kind = column.type.value_type if is_list(column) else _value_type(column)
    return bool(types.is_integer(kind))


def _type_error(column: Any, field: str, expected: str, source: Provenance) -> FormatError:
    from pyarrow import types

    kind = _value_type(column)
    remedy = AS_INTEGERS if expected != 'numbers' and types.is_floating(kind) else ''
    actual = f'a column of {name_of_type(kind)}'
    return FormatError(source.name, '', field, actual, f'{expected}{remedy}')


def _require_values(column: Any, field: str, source: Provenance) -> Any:
    """Return the column; raise FormatError if a value is missing."""
    if column.null_count:
        missing = np.flatnonzero(column.is_null().to_numpy())
        raise _rows_error(missing, field, 'nothing', 'a value', source)
    return column


def _rows_error(
    rows: NDArray[np.int64], field: str, found: str, expected: str, source: Provenance
) -> FormatError:
    return FormatError(source.name, f'row {rows[0] + 1}', field, found, expected, len(rows) - 1)


def _read_parquet(source: ByteSource, choose: Choose) -> tuple[pyarrow.Table, Provenance]:
    import pyarrow
    from pyarrow import parquet

    with _opened(source) as (stream, provenance):
        schema = parquet.read_schema(stream)
        names = list(choose(schema))
        for field in map(schema.field, names):
            if pyarrow.types.is_nested(field.type):
                actual = f'a column of {str(field.type).partition("<")[0]}'
                raise FormatError(source.name, '', field.name, actual, 'one value in each row')
        texts = [name for name in names if schema.field(name).type in TEXT_TYPES]
        stream.seek(0)
        file = parquet.ParquetFile(stream, read_dictionary=texts)
        sizes = [file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)]
        refuse_beyond_limit(source.name, sum(sizes))
        groups = tracked(
            range(file.num_row_groups), f'reading {printable(source.name)}', ' row groups'
        )
        parts = [
            pyarrow.Table.from_batches([batch])
            for number in groups
            for batch in file.iter_batches(BATCH_ROWS, row_groups=[number], columns=names)
        ]
    return pyarrow.concat_tables(parts or [schema.empty_table().select(names)]), provenance


@contextmanager
def _opened(source: ByteSource) -> Iterator[tuple[Any, Provenance]]:
    """Open a file; yield its stream and provenance. A damaged file raises `ReadError`."""
    import pyarrow

    with opening(source.name), source.open_stored() as stream:
        if not (source.is_remote or version_of(stream)):
            raise ReadError(source.name, f'is {PARQUET}, {NOT_A_REGULAR_FILE}')
        is_nameless = source.is_open and not source.is_remote
        digest = None if is_nameless else hashlib.file_digest(stream, 'sha256').hexdigest()
        try:
            yield stream, Provenance(source.name, digest)
        except (pyarrow.ArrowException, OSError) as error:
            if isinstance(error, ReadError | MemoryError) or getattr(error, 'strerror', None):
                raise
            reason = (str(error).splitlines() or ['damaged'])[0]
            raise OSError(f'not readable as Parquet: {reason}') from error
