"""Columnar tables: columns of pyarrow, Parquet files, and tables with the Arrow interface."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import BETWEEN_WORDS, TEXT, is_text
from mediaeval_ap.errors import ParameterError, ReadError, printable, shortened, shown
from mediaeval_ap.progress import tracked
from mediaeval_ap.tables import sources, values
from mediaeval_ap.tables.digests import digest_of_file
from mediaeval_ap.tables.faults import invalid_utf8, no_rows
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.sources import ByteSource
from mediaeval_ap.tables.table import Argument, ArrowTable, Provenance, Table
from mediaeval_ap.tables.text.arrow_reader import text_column

if TYPE_CHECKING:
    import pandas
    import pyarrow

BATCH_ROWS = 1 << 19  # about as many rows as a block of text has
TEXT_TYPES = ('string', 'large_string')
SEARCHED_BYTES = 1 << 18  # fits in caches; a quarter or four times as many takes a fifth longer

ArrowValues: TypeAlias = 'pyarrow.Array | pyarrow.ChunkedArray'
Choose: TypeAlias = Callable[[list[str]], Sequence[str]]  # chooses some names of columns


def from_arrow(table: pyarrow.Table, source: Provenance, layout: Layout) -> Table:
    check_names(table.column_names, layout, source.name)
    columns = {}
    integers = frozenset(field for field in layout.texts if holds_integers(table[field]))
    for field in layout.texts:
        texts = text_array(table[field], field, source)
        refuse_missing(texts, field, source)
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


def read_columns(
    origin: ByteSource | ArrowTable, choose: Choose, name: str
) -> tuple[pyarrow.Table, Provenance]:
    """Read some columns of a file, or of a table called `name`."""
    if isinstance(origin, ByteSource):
        return _read_parquet(origin, choose)
    table = to_arrow(origin)
    return table.select(choose(table.column_names)), Provenance(name)


def parquet_columns(source: ByteSource) -> list[str]:
    """Return the column names of a Parquet file, without reading values."""
    from pyarrow import parquet

    with _opened(source) as (stream, _):
        return list(parquet.read_schema(stream).names)


def to_arrow(origin: Argument) -> pyarrow.Table:
    """Convert a table with `to_arrow` or `__arrow_c_stream__` to a pyarrow table."""
    import pyarrow

    try:
        # `to_arrow` first: polars' stream has types that old versions of pyarrow lack.
        return pyarrow.table(origin.to_arrow() if hasattr(origin, 'to_arrow') else origin)
    except MemoryError:  # pyarrow's is an ArrowException, too
        raise
    except (pyarrow.ArrowException, TypeError) as error:
        (reason, *_) = str(error).splitlines() or ['']
        raise ParameterError(
            f'found {type(origin).__name__}, which is not a table to Arrow: {reason}'
        ) from error


def check_names(
    names: Sequence[str], layout: Layout, source: str, frame: pandas.DataFrame | None = None
) -> None:
    """Raise FormatError if a field of the layout is missing or repeated among the columns."""
    wrong_fields = [field for field in layout.fields if names.count(field) != 1]
    if wrong_fields:
        number = 'one column' if len(wrong_fields) == 1 else 'one column each of'
        expected = f'{number} {", ".join(wrong_fields)}'
        if frame is not None:
            expected += index_remedy(frame, [name for name in wrong_fields if name in layout.texts])
        columns = shown(', '.join(names))
        raise Provenance(source).error(f'columns {columns}', expected, field=wrong_fields[0])
    if layout.name == 'reference' and 'confidence' in names:
        expected = 'a reference, which has none: are two arguments exchanged?'
        raise Provenance(source).error('a column of a run', expected, field='confidence')


def index_remedy(frame: pandas.DataFrame, missing: Sequence[str]) -> str:
    """Return the call by which a frame would show columns of ids, or '' if none is known."""
    if frame.columns.nlevels > 1:
        return '; its columns have levels: .droplevel(0, axis=1)'
    index = frame.index
    if len(missing) != index.nlevels or getattr(index.dtype, 'kind', '') in 'iu':
        return ''
    names = missing[0] if index.nlevels == 1 else [*missing]
    return f'; if the index holds it, name it: .rename_axis({names!r})'


def _read_parquet(source: ByteSource, choose: Choose) -> tuple[pyarrow.Table, Provenance]:
    import pyarrow
    from pyarrow import parquet

    with _opened(source) as (stream, provenance):
        schema = parquet.read_schema(stream)
        names = list(choose(schema.names))
        for field in map(schema.field, names):
            if pyarrow.types.is_nested(field.type):
                actual = f'a column of {str(field.type).partition("<")[0]}'
                raise provenance.error(actual, 'one value in each row', field=field.name)
        texts = [name for name in names if schema.field(name).type in TEXT_TYPES]
        stream.seek(0)
        file = parquet.ParquetFile(stream, read_dictionary=texts)
        groups = range(file.num_row_groups)
        sizes = [file.metadata.row_group(number).total_byte_size for number in groups]
        sources.refuse_beyond_limit(source.name, sum(sizes))
        tracked_groups = tracked(groups, f'reading {printable(source.name)}', ' row groups')
        parts = [
            pyarrow.Table.from_batches([batch])
            for number in tracked_groups
            for batch in file.iter_batches(BATCH_ROWS, row_groups=[number], columns=names)
        ]
    return pyarrow.concat_tables(parts or [schema.empty_table().select(names)]), provenance


@contextmanager
def _opened(source: ByteSource) -> Iterator[tuple[Any, Provenance]]:
    """Open a file; yield its stream and provenance. A damaged file raises `ReadError`."""
    import pyarrow

    with sources.opening(source.name), source.open_stored() as stream:
        if not (source.is_remote or sources.version_of(stream)):
            raise ReadError(source.name, f'is {sources.PARQUET}, {sources.NOT_A_REGULAR_FILE}')
        digest = None
        if source.is_remote or not source.is_open:
            digest = digest_of_file(stream)
        try:
            yield stream, Provenance(source.name, digest)
        except (pyarrow.ArrowException, OSError) as error:
            if isinstance(error, ReadError | MemoryError) or getattr(error, 'strerror', None):
                raise
            reason = (str(error).splitlines() or ['damaged'])[0]
            raise OSError(f'not readable as Parquet: {reason}') from error


def array_of_values(items: Iterable[object]) -> ArrowValues:
    """Convert values of one kind; raise ValueError with the reason if pyarrow cannot."""
    import pyarrow

    try:
        return pyarrow.array(items, from_pandas=True)
    except MemoryError:  # pyarrow's is an ArrowException, too
        raise
    except (pyarrow.ArrowException, OverflowError, UnicodeError) as error:
        raise ValueError(str(error).splitlines()[0]) from None


def is_list(column: ArrowValues) -> bool:
    from pyarrow import types

    kind = column.type
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def holds_integers(column: ArrowValues) -> bool:
    """Return True if the values of a column, or the items of its lists, are integers."""
    from pyarrow import types

    return bool(types.is_integer(column.type.value_type if is_list(column) else _decoded(column)))


def name_of_type(kind: pyarrow.DataType) -> str:
    """Return a word for a type of pyarrow, in messages."""
    words = {'list': 'lists', 'string': 'text', 'float': 'floats', 'double': 'floats'}
    outer = str(kind).partition('<')[0]
    return next((word for part, word in words.items() if part in outer), shortened(str(kind)))


def text_array(
    column: pyarrow.ChunkedArray, field: str, source: Provenance
) -> pyarrow.ChunkedArray:
    """Return texts, or integers as digits, as large strings in one chunk; missing ones are null."""
    import pyarrow

    kind = _decoded(column)
    if pyarrow.types.is_integer(kind):
        column = column.cast(kind).cast(pyarrow.large_string())
    elif kind not in ('string', 'large_string', 'string_view'):
        expected = 'text or integers'
        if pyarrow.types.is_floating(kind):
            expected += values.AS_INTEGERS
        raise source.error(f'a column of {name_of_type(kind)}', expected, field=field)
    try:
        column.validate(full=True)
    except pyarrow.ArrowInvalid:
        with suppress(pyarrow.ArrowException):  # for example codes beyond the dictionary
            _refuse_invalid_utf8(column.cast(pyarrow.large_binary()), field, source)
        raise source.error('a damaged column', 'text', field=field) from None
    # In one chunk: pyarrow would encode each of several chunks with the values of all.
    return pyarrow.chunked_array([column.cast(pyarrow.large_string()).combine_chunks()])


def _refuse_invalid_utf8(column: pyarrow.ChunkedArray, field: str, source: Provenance) -> None:
    for row, value in enumerate(column, 1):
        try:
            (value.as_py() or b'').decode()
        except UnicodeDecodeError as error:
            place = f'row {row}'
            raise source.error(invalid_utf8(error), 'UTF-8', place=place, field=field) from None


def list_array(
    column: pyarrow.ChunkedArray, field: str, source: Provenance
) -> pyarrow.LargeListArray:
    """Return lists of labels as lists of large strings in one chunk; refuse missing labels."""
    import pyarrow
    from pyarrow import compute

    refuse_missing(column, field, source)
    lists = column.cast(pyarrow.large_list(column.type.value_type)).combine_chunks()
    offsets = lists.offsets.to_numpy()
    labels = pyarrow.chunked_array([lists.flatten()])
    if not len(labels):
        labels = labels.cast(pyarrow.large_string())
    (texts,) = text_array(labels, field, source).chunks
    is_missing = compute.equal(texts, '').fill_null(True).to_numpy(zero_copy_only=False)
    if is_missing.any():
        rows = np.unique(np.repeat(np.arange(len(lists)), np.diff(offsets))[is_missing])
        raise source.error(
            'a list with a missing label', 'text or integers', field=field, rows=rows
        )
    return pyarrow.LargeListArray.from_arrays(offsets - offsets[0], texts)


def holds_any(texts: pyarrow.LargeStringArray, characters: str) -> bool:
    """Return True if any of the large strings contains one of the characters."""
    # A search of the bytes of all strings is a hundred times faster than string by string.
    _, offsets, content = texts.buffers()
    if content is None or not len(texts):
        return False
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset :]
    view = memoryview(content)[ends[0] : ends[len(texts)]]
    encoded = [character.encode() for character in characters]
    n_bytes = SEARCHED_BYTES + max(map(len, encoded)) - 1  # a character may begin at the last one
    starts = range(0, len(view), SEARCHED_BYTES)
    blocks = (bytes(view[start : start + n_bytes]) for start in starts)
    return any(character in block for block in blocks for character in encoded)


def number_array(
    column: pyarrow.ChunkedArray,
    field: str,
    source: Provenance,
    *,
    allow_missing: bool = False,
    allow_boolean: bool = False,
) -> NDArray[np.float64]:
    """Return numbers as doubles; refuse infinite and inexact ones, and by default missing ones."""
    import pyarrow

    if (kind := _decoded(column)) != column.type:
        try:
            column = column.cast(kind)
        except pyarrow.ArrowException:  # codes beyond the dictionary
            raise source.error('a damaged column', 'numbers', field=field) from None
    if allow_boolean and kind == pyarrow.bool_():
        column = column.cast(kind := pyarrow.int8())
    if not allow_missing:
        refuse_missing(column, field, source)
    is_decimal = pyarrow.types.is_decimal(kind)
    if not (is_decimal or pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind)):
        remedy = values.AS_NUMBERS if name_of_type(kind) == 'text' else ''
        raise source.error(f'a column of {name_of_type(kind)}', f'numbers{remedy}', field=field)
    try:
        if is_decimal:  # a cast from decimals to doubles may miss the nearest one
            column = column.cast(pyarrow.int64() if kind.scale <= 0 else pyarrow.string())
        numbers: NDArray[np.float64] = column.cast(pyarrow.float64()).to_numpy()
    except pyarrow.ArrowInvalid:
        raise source.error('integers beyond 2**53', values.EXACT_NUMBER, field=field) from None
    is_wrong = np.isinf(numbers) if allow_missing else ~np.isfinite(numbers)
    if len(rows := np.flatnonzero(is_wrong)):
        raise source.error(str(numbers[rows[0]]), values.FINITE_DECIMAL, field=field, rows=rows)
    return numbers


def parse_decimals(texts: pyarrow.LargeStringArray) -> NDArray[np.float64]:
    """Parse texts as doubles; a text that `expected_number` refuses becomes NaN or infinite."""
    import pyarrow

    try:
        numbers = np.array(texts.cast(pyarrow.float64()))
    except pyarrow.ArrowInvalid:  # a wrong text, or a number that pyarrow cannot parse
        numbers = np.full(len(texts), np.nan)
        for row, text in enumerate(texts.to_pylist()):
            field = text.strip(BETWEEN_WORDS).encode()
            if values.is_finite_decimal(field):
                numbers[row] = float(field)
    for row in np.flatnonzero(np.abs(numbers) >= values.LARGEST_INTEGER).tolist():
        if values.expected_number(texts[row].as_py()):
            numbers[row] = np.nan
    return numbers


def refuse_missing(column: ArrowValues, field: str, source: Provenance) -> None:
    if column.null_count:
        rows = np.flatnonzero(column.is_null().to_numpy())
        raise source.error('nothing', 'a value', field=field, rows=rows)


def _decoded(column: ArrowValues) -> pyarrow.DataType:
    """Return the type of the values; for a dictionary-encoded column, of the decoded values."""
    from pyarrow import types

    return column.type.value_type if types.is_dictionary(column.type) else column.type
