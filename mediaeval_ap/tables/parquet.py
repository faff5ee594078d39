"""Parquet files, read within a limit.

A few bytes of Parquet can stand for very many: pages are compressed, and a value is written once
for all the rows that repeat it. So the size of the pages is counted before they are decompressed,
and the size of the rows, each with values of its own, before these are made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from mediaeval_ap.errors import FormatError, ReadError, printable
from mediaeval_ap.progress import tracked
from mediaeval_ap.tables.parquet_pages import BYTES_OF_VALUE, PageWatcher, check_footer
from mediaeval_ap.tables.sources import PARQUET_IN_NO_FILE, ByteSource, is_regular, opening
from mediaeval_ap.tables.table import Source

if TYPE_CHECKING:
    import pyarrow

BATCH_ROWS = 1 << 19  # a choice: as many rows as a part of text has, or so
ROWS_OF_PART = 1 << 12  # a choice: few, as each may be as long as all pages


def read_parquet(
    source: ByteSource, choose: Callable[[pyarrow.Schema], Sequence[str]]
) -> tuple[pyarrow.Table, Source]:
    """Read the columns that `choose` names when it is given the schema."""
    with _opened(source) as (stream, described):
        table = _read(stream, choose, source)
    return table, described


class ParquetParts:
    """The columns that `choose` names, behind some row groups, in parts of few rows."""

    def __init__(
        self,
        source: ByteSource,
        choose: Callable[[pyarrow.Schema], Sequence[str]],
        n_groups: int = 0,
    ) -> None:
        self.source = Source(source.name)  # with its hash once it is opened
        self._file = source
        self._choose = choose
        self._n_groups = n_groups

    def __iter__(self) -> Iterator[tuple[pyarrow.Table, int | None]]:
        """Yield parts, the last one of a row group with the number of row groups up to it."""
        with _opened(self._file) as (stream, self.source):
            groups = _RowGroups(stream, self._choose, self._file)
            limit = self._file.limit()
            begun = groups.numbers[self._n_groups :]
            for number in tracked(begun, f'reading {printable(self._file.name)}', ' row groups'):
                previous = None
                for part in groups.batches(number):
                    limit.add(sum(map(_n_bytes, part.columns)))
                    if previous is not None:
                        yield previous, None
                    previous = part
                self._n_groups += 1
                if previous is not None:
                    yield previous, self._n_groups


@contextmanager
def _opened(source: ByteSource) -> Iterator[tuple[Any, Source]]:
    """Open a file and describe it; what pyarrow says of a damaged one becomes a `ReadError`."""
    import pyarrow

    with opening(source.name), source.open_stored() as stream:
        if not is_regular(stream):
            raise ReadError(source.name, PARQUET_IN_NO_FILE)
        digest = None if source.is_open else hashlib.file_digest(stream, 'sha256').hexdigest()
        try:
            yield stream, Source(source.name, digest)
        except (pyarrow.ArrowException, OSError) as error:
            if isinstance(error, ReadError | MemoryError) or getattr(error, 'strerror', None):
                raise
            reason = (str(error).splitlines() or ['damaged'])[0]
            raise OSError(f'not readable as Parquet: {reason}') from error


class _RowGroups:
    """The row groups of an open file that have rows, each read within the limit of the file."""

    def __init__(
        self, stream: Any, choose: Callable[[pyarrow.Schema], Sequence[str]], source: ByteSource
    ) -> None:
        from pyarrow import parquet, types

        check_footer(stream, source)
        self._source = source
        self._watched = PageWatcher(stream)
        self._opened = parquet.ParquetFile(self._watched, pre_buffer=False)
        self.schema = self._opened.schema_arrow
        self.names = list(choose(self.schema))
        fields = [field for field in self.schema if field.name in self.names]
        for field in fields:
            if types.is_nested(field.type):
                found = f'a column of {str(field.type).partition("<")[0]}'
                raise FormatError(source.name, '', field.name, found, 'one value in each row')
        self.numbers = self._with_rows()
        encoded = [field.name for field in fields if field.type in ('string', 'large_string')]
        self._watched.limit = source.limit()
        self._file = parquet.ParquetFile(
            self._watched,
            metadata=self._opened.metadata,
            read_dictionary=encoded,
            pre_buffer=False,
        )

    def _with_rows(self) -> list[int]:
        declared = self._source.limit()
        numbers = []
        for number in range(self._opened.num_row_groups):
            if n_rows := self._opened.metadata.row_group(number).num_rows:  # else nothing to read
                declared.add(n_rows * len(self.names) * BYTES_OF_VALUE)
                numbers.append(number)
        return numbers

    def read(self, number: int) -> pyarrow.Table:
        """Read a row group."""
        return self._file.read_row_group(number, columns=self.names)

    def small_parts(self, number: int) -> Iterator[pyarrow.Table]:
        """Read a row group in parts so small that none comes to much more than the limit."""
        return _in_small_parts(self._opened, self._watched, number, self.names, self._source)

    def batches(self, number: int) -> Iterator[pyarrow.Table]:
        """Read a row group in parts of some rows."""
        import pyarrow

        n_read = 0
        try:
            for batch in self._file.iter_batches(
                BATCH_ROWS, row_groups=[number], columns=self.names
            ):
                n_read += len(batch)
                yield pyarrow.Table.from_batches([batch])
        except (ReadError, MemoryError):
            raise
        except (pyarrow.ArrowException, OSError):  # damaged, or texts that cannot be read so
            for part in self.small_parts(number):
                if n_read < len(part):
                    yield part.slice(n_read)
                n_read = max(0, n_read - len(part))


def _read(
    stream: Any, choose: Callable[[pyarrow.Schema], Sequence[str]], source: ByteSource
) -> pyarrow.Table:
    from pyarrow import ArrowException

    groups = _RowGroups(stream, choose, source)
    numbers = groups.numbers
    if not numbers:
        return groups.schema.empty_table().select(groups.names)
    read_one_by_one = tracked(numbers, f'reading {printable(source.name)}', ' row groups')
    try:
        return _within_limit(map(groups.read, read_one_by_one), source)
    except (ReadError, MemoryError):
        raise
    except (ArrowException, OSError):  # damaged, or texts that cannot be read so
        return _within_limit(chain.from_iterable(map(groups.small_parts, numbers)), source)


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
