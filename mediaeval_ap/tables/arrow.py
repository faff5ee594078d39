"""Columns of pyarrow as text, lists of text and doubles; errors name the row of a wrong value."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import BETWEEN_WORDS
from mediaeval_ap.errors import shortened
from mediaeval_ap.tables import values
from mediaeval_ap.tables.faults import invalid_utf8
from mediaeval_ap.tables.table import Provenance

if TYPE_CHECKING:
    import pyarrow

SEARCHED_BYTES = 1 << 18  # fits in caches; a quarter or four times as many takes a fifth longer

ArrowValues: TypeAlias = 'pyarrow.Array | pyarrow.ChunkedArray'


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
    """Return True if any of the large strings contains one of the ASCII characters."""
    # A search of the bytes of all strings is a hundred times faster than string by string.
    _, offsets, content = texts.buffers()
    if content is None or not len(texts):
        return False
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset :]
    view = memoryview(content)[ends[0] : ends[len(texts)]]
    starts = range(0, len(view), SEARCHED_BYTES)
    blocks = (bytes(view[start : start + SEARCHED_BYTES]) for start in starts)
    return any(character.encode() in block for block in blocks for character in characters)


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
        raise source.error(f'a column of {name_of_type(kind)}', 'numbers', field=field)
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
