"""Parquet files, read within a limit.

A few bytes of Parquet can stand for very many: pages are compressed, and a value is written once
for all the rows that repeat it. So the size of the pages is counted before they are decompressed,
and the size of the rows, each with values of its own, before these are made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from mediaeval_ap.errors import FormatError, ReadError, printable
from mediaeval_ap.progress import tracked
from mediaeval_ap.tables.byte_sources import PARQUET_IN_NO_FILE, ByteSource, is_regular, opening
from mediaeval_ap.tables.parquet_pages import BYTES_OF_VALUE, PageWatcher, check_footer
from mediaeval_ap.tables.table import Source

if TYPE_CHECKING:
    import pyarrow

ROWS_OF_PART = 1 << 12  # a choice: few, as each may be as long as all pages


def read_parquet(
    source: ByteSource, choose: Callable[[pyarrow.Schema], Sequence[str]]
) -> tuple[pyarrow.Table, Source]:
    """Read the columns that `choose` names when it is given the schema."""
    import pyarrow

    with opening(source.name), source.open_stored() as stream:
        if not is_regular(stream):
            raise ReadError(source.name, PARQUET_IN_NO_FILE)
        digest = None if source.is_open else hashlib.file_digest(stream, 'sha256').hexdigest()
        described = Source(source.name, digest)
        try:
            table = _read(stream, choose, source)
        except (pyarrow.ArrowException, OSError) as error:
            if isinstance(error, ReadError | MemoryError) or getattr(error, 'strerror', None):
                raise
            reason = (str(error).splitlines() or ['damaged'])[0]
            raise OSError(f'not readable as Parquet: {reason}') from error
    return table, described


def _read(
    stream: Any, choose: Callable[[pyarrow.Schema], Sequence[str]], source: ByteSource
) -> pyarrow.Table:
    from pyarrow import ArrowException, parquet, types

    check_footer(stream, source)
    watched = PageWatcher(stream)
    opened = parquet.ParquetFile(watched, pre_buffer=False)
    names = list(choose(opened.schema_arrow))
    fields = [field for field in opened.schema_arrow if field.name in names]
    for field in fields:
        if types.is_nested(field.type):
            found = f'a column of {str(field.type).partition("<")[0]}'
            raise FormatError(source.name, '', field.name, found, 'one value in each row')
    declared = source.limit()
    numbers = []
    for number in range(opened.num_row_groups):
        if n_rows := opened.metadata.row_group(number).num_rows:  # else nothing is there to be read
            declared.add(n_rows * len(names) * BYTES_OF_VALUE)
            numbers.append(number)
    if not numbers:
        return opened.schema_arrow.empty_table().select(names)
    encoded = [field.name for field in fields if field.type in ('string', 'large_string')]
    watched.limit = source.limit()
    file = parquet.ParquetFile(
        watched, metadata=opened.metadata, read_dictionary=encoded, pre_buffer=False
    )
    read_one_by_one = tracked(numbers, f'reading {printable(source.name)}', ' row groups')
    try:
        return _within_limit(
            (file.read_row_group(number, columns=names) for number in read_one_by_one), source
        )
    except (ReadError, MemoryError):
        raise
    except (ArrowException, OSError):  # damaged, or texts that cannot be read so
        parts = (_in_small_parts(opened, watched, number, names, source) for number in numbers)
        return _within_limit(chain.from_iterable(parts), source)


def _in_small_parts(
    opened: Any, watched: PageWatcher, number: int, names: list[str], source: ByteSource
) -> Iterator[pyarrow.Table]:
    """Read a row group in parts so small that none comes to much more than the limit.

    A value may be as long as all pages of its column, and much longer than its share of them.
    """
    import pyarrow

    watched.limit, watched.n_bytes = source.limit(), 0
    next(opened.iter_batches(1, row_groups=[number], columns=names), None)  # counts the pages
    n_rows = min(ROWS_OF_PART, source.max_bytes // max(1, watched.n_bytes) + 1)
    watched.limit = None
    for batch in opened.iter_batches(n_rows, row_groups=[number], columns=names):
        yield pyarrow.Table.from_batches([batch])


def _within_limit(parts: Iterable[pyarrow.Table], source: ByteSource) -> pyarrow.Table:
    """Put parts together, each read when it is asked for, until they come to too much."""
    import pyarrow

    limit = source.limit()
    read = []
    for part in parts:
        limit.add(sum(map(_n_bytes, part.columns)))
        read.append(part)
    if not read:
        raise OSError('fewer row groups than it says')
    return pyarrow.concat_tables(read)


def _n_bytes(column: pyarrow.ChunkedArray) -> int:
    """Count the bytes of the values of a column, written out one by one."""
    from pyarrow import compute, types

    if not types.is_dictionary(column.type):
        return int(column.nbytes)
    total = 0
    for chunk in column.chunks:
        codes = chunk.indices.drop_null().to_numpy()
        lengths = compute.binary_length(chunk.dictionary).fill_null(0).to_numpy()
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(lengths):
            raise OSError('a value that its dictionary lacks')  # which pyarrow does not look at
        total += int(lengths.astype(np.int64)[codes].sum()) + BYTES_OF_VALUE * len(chunk)
    return total
