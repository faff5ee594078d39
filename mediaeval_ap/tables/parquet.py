"""Parquet files, read within a limit.

A few bytes of Parquet can stand for very many: pages are compressed, and a value is written once
for all the rows that repeat it. So the limit is on what the rows come to when each has its own, and
is counted before they do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mediaeval_ap.errors import FormatError, ReadError
from mediaeval_ap.tables.columns import Source
from mediaeval_ap.tables.decompression import Limit
from mediaeval_ap.tables.sources import ByteSource, is_regular, opening

if TYPE_CHECKING:
    import pyarrow
    from pyarrow import parquet

__all__ = ['read_parquet']

LEAST_BYTES_OF_VALUE = 4
ROWS_OF_PART = 1 << 16
AS_LONG_AS_STORED = {'PLAIN', 'RLE', 'BIT_PACKED', 'PLAIN_DICTIONARY', 'RLE_DICTIONARY'}


def read_parquet(
    source: ByteSource, choose: Callable[[Sequence[str]], Sequence[str]]
) -> tuple[pyarrow.Table, Source]:
    """Read some columns of a Parquet file.

    Parameters
    ----------
    source : ByteSource
        A path, and how many bytes the rows may come to.
    choose : callable
        Takes the names of the columns, and returns those to read.

    Returns
    -------
    table : pyarrow.Table
        Their values; texts perhaps encoded by a dictionary.
    described : Source
        The file, with its SHA-256.

    Raises
    ------
    ReadError
        When it cannot be read as Parquet, or its rows come to too much.
    FormatError
        When a column holds lists or other values within values.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'subset.parquet')
    >>> pandas.DataFrame({'corpus_id': ['INA'], 'video_id': ['F2']}).to_parquet(path)
    >>> read_parquet(ByteSource(path), lambda names: names[1:])[0].column_names
    ['video_id']
    """
    import pyarrow

    with opening(source.name), source.open_stored() as stream:
        if not is_regular(stream):
            raise ReadError(source.name, 'not readable as Parquet: no regular file')
        described = Source(source.name, hashlib.file_digest(stream, 'sha256').hexdigest())
        try:
            table = _read(stream, choose, source)
        except (pyarrow.ArrowException, OSError) as error:
            if isinstance(error, ReadError) or getattr(error, 'strerror', None):
                raise
            reason = (str(error).splitlines() or ['damaged'])[0]
            raise OSError(f'not readable as Parquet: {reason}') from error
    return table, described


def _read(
    stream: Any, choose: Callable[[Sequence[str]], Sequence[str]], source: ByteSource
) -> pyarrow.Table:
    import pyarrow
    from pyarrow import parquet

    opened = parquet.ParquetFile(stream)
    names = list(choose(opened.schema_arrow.names))
    fields = [field for field in opened.schema_arrow if field.name in names]
    for field in fields:
        if pyarrow.types.is_nested(field.type):
            kind = str(field.type).partition('<')[0]
            raise FormatError(
                source.name, '', field.name, f'a column of {kind}', 'one value in each row'
            )
    texts = {field.name for field in fields if _is_text(field.type)}
    growing = texts & _growing(opened.metadata)
    file = parquet.ParquetFile(
        stream, metadata=opened.metadata, read_dictionary=sorted(texts - growing)
    )
    declared = Limit(source.name, source.max_bytes)
    for group in map(file.metadata.row_group, range(file.num_row_groups)):
        declared.add(group.num_rows * len(names) * LEAST_BYTES_OF_VALUE)
    limit = Limit(source.name, source.max_bytes)
    parts = []
    for part in _parts(file, names, growing, source.max_bytes):
        limit.add(sum(map(_n_bytes, part.columns)))
        parts.append(part)
    return pyarrow.concat_tables(parts) if parts else file.read(columns=names)


def _is_text(kind: pyarrow.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _growing(metadata: parquet.FileMetaData) -> set[str]:
    """Columns that are no dictionary, and may come to more than their uncompressed pages.

    Values that share their beginnings are stored so.
    """
    chunks = (
        metadata.row_group(number).column(place)
        for number in range(metadata.num_row_groups)
        for place in range(metadata.num_columns)
    )
    return {chunk.path_in_schema for chunk in chunks if set(chunk.encodings) - AS_LONG_AS_STORED}


def _parts(
    file: parquet.ParquetFile, names: Sequence[str], growing: Collection[str], max_bytes: int
) -> Iterator[pyarrow.Table]:
    """The rows of a file, some at a time, each part read when it is asked for."""
    import pyarrow

    for number in range(file.num_row_groups):
        if not growing:
            yield file.read_row_group(number, columns=names)
            continue
        group = file.metadata.row_group(number)
        chunks = map(group.column, range(group.num_columns))
        longest = max(
            chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema in growing
        )  # no value is longer than all that is stored
        size = min(ROWS_OF_PART, max_bytes // max(1, longest) + 1)
        for batch in file.iter_batches(size, row_groups=[number], columns=names):
            yield pyarrow.Table.from_batches([batch])


def _n_bytes(column: pyarrow.ChunkedArray) -> int:
    """How many bytes the values of a column are, written out one by one."""
    from pyarrow import compute, types

    if not types.is_dictionary(column.type):
        return int(column.nbytes)
    total = 0
    for chunk in column.chunks:
        codes = chunk.indices.drop_null().to_numpy()
        lengths = compute.binary_length(chunk.dictionary).fill_null(0).to_numpy()
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(lengths):
            raise OSError('a value that its dictionary lacks')  # which pyarrow does not look at
        total += int(lengths.astype(np.int64)[codes].sum()) + LEAST_BYTES_OF_VALUE * len(chunk)
    return total
