"""Parts of a Parquet dataset, each some row groups of a file, read in batches of few rows."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mediaeval_ap.errors import FormatError, ParameterError, ReadError, shown
from mediaeval_ap.plain_text import is_uri
from mediaeval_ap.tables.columnar import checked_footer
from mediaeval_ap.tables.sources import ByteSource

if TYPE_CHECKING:
    import pyarrow
    from pyarrow import dataset, fs, parquet

# A choice: less than a second of work, so that the last tasks end at about the same time, and a
# lost one costs little; and hundreds of times what it takes to send one.
BYTES_IN_PART = 64 << 20
FOOTERS_AT_ONCE = 32  # a choice: they are small, and a remote one takes mostly time to come
BUFFER_BYTES = 4 << 20  # a choice: of each column; otherwise a whole row group would be in memory
ROWS_IN_BATCH = 1 << 12  # twelve labels of so many users stay in the cache


@dataclass(frozen=True)
class Part:
    """Some row groups of a file, in a row."""

    path: str
    filesystem: fs.FileSystem
    version: str  # of the file, as an error tells it
    first_row: int  # of the file, from 0
    row_groups: tuple[int, ...] = ()
    n_rows: int = 0
    n_bytes: int = 0  # of all columns, as the file says

    def with_group(self, number: int, group: parquet.RowGroupMetaData) -> Part:
        """Return the part with the row group behind it."""
        return replace(
            self,
            row_groups=(*self.row_groups, number),
            n_rows=self.n_rows + group.num_rows,
            n_bytes=self.n_bytes + group.total_byte_size,
        )

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[int, list[pyarrow.Array]]]:
        """Give the columns of few rows at a time, with the first of these rows in the file."""
        with _opened(self.path, self.filesystem, self.version) as (file, _):
            end = self.first_row
            for batch in file.iter_batches(
                ROWS_IN_BATCH, row_groups=self.row_groups, columns=columns, use_threads=False
            ):
                begin, end = end, end + len(batch)
                yield begin, [batch.column(name) for name in columns]
            if (n_rows := end - self.first_row) != self.n_rows:
                found, expected = f'{n_rows} rows', f'{self.n_rows} as its metadata say'
                raise FormatError(self.path, '', '', found, expected)


def parts_of(origin: Any, columns: Sequence[str]) -> list[Part]:
    """Return the parts of a dataset, of which all files have these columns, of equal types."""
    opened = _dataset(origin)
    files = list(_files(opened))
    if not files:
        found = shown(_without_key(str(origin)))
        raise ParameterError(f'dataset: found no file in {found}, expected Parquet files')
    types = {field.name: field.type for field in opened.schema}
    parts_of_file = partial(_parts_of_file, columns=columns, types=types, like=files[0][0])
    with ThreadPoolExecutor(FOOTERS_AT_ONCE) as pool:
        parts = [part for some in pool.map(parts_of_file, files) for part in some]
    if not parts:
        raise FormatError(files[0][0], '', '', 'no row in any file', 'at least one')
    return parts


def _dataset(origin: Any) -> dataset.Dataset:
    from pyarrow import dataset

    if isinstance(origin, dataset.Dataset):
        return origin
    where = [*origin] if isinstance(origin, list | tuple) else [origin]
    if not where or not all(isinstance(each, str | os.PathLike) for each in where):
        expected = 'the path or URI of a folder or file, a list of files, or a pyarrow Dataset'
        raise ParameterError(f'dataset: found {shown(origin)}, expected {expected}')
    paths = [os.fspath(each) for each in where]
    # Workers may have another working directory.
    paths = [path if is_uri(path) else os.path.abspath(path) for path in paths]
    with _reading(_without_key(paths[0])):
        if len(paths) == 1:
            return dataset.dataset(paths[0], format='parquet')
        inside, filesystem = _in_one_filesystem(paths)
        return dataset.dataset(inside, filesystem=filesystem, format='parquet')


def _in_one_filesystem(paths: list[str]) -> tuple[list[str], fs.FileSystem]:
    """Return paths and URIs as paths of the file system that all of them are in."""
    from pyarrow import fs

    systems, inside = zip(*map(fs.FileSystem.from_uri, paths), strict=True)
    for path, system in zip(paths, systems, strict=True):
        if not system.equals(systems[0]):
            found = f'{shown(_without_key(path))} beside {shown(_without_key(paths[0]))}'
            raise ParameterError(f'dataset: found {found}, expected files of one file system')
    return list(inside), systems[0]


def _without_key(text: str) -> str:
    """Return text about a URI without the key and the secret that may stand in it."""
    return re.sub(r'(?<=://)\S*@', '', text)


def _files(opened: dataset.Dataset) -> Iterator[tuple[str, fs.FileSystem]]:
    """Give path and file system of each file of a dataset."""
    from pyarrow import dataset

    try:
        fragments = list(opened.get_fragments())
    except ValueError as error:  # of one with a filter, which would not be applied here
        raise ParameterError(f'dataset: {error}') from None
    for fragment in fragments:
        if not isinstance(fragment, dataset.ParquetFileFragment):
            found = f'found a {type(fragment).__name__}, which is no Parquet file'
            raise ParameterError(f'dataset: {found}, expected Parquet files')
        path = fragment.path
        if fragment.filesystem.type_name == 'local':
            path = os.path.abspath(path)
        yield path, fragment.filesystem


def _parts_of_file(
    file: tuple[str, fs.FileSystem],
    columns: Sequence[str],
    types: Mapping[str, pyarrow.DataType],
    like: str,
) -> list[Part]:
    path, filesystem = file
    parts: list[Part] = []
    with _opened(path, filesystem) as (opened, version):
        _check_columns(path, opened.schema_arrow, columns, types, like)
        first_row = 0
        for number in range(opened.num_row_groups):
            group = opened.metadata.row_group(number)
            if not parts or parts[-1].n_bytes + group.total_byte_size > BYTES_IN_PART:
                parts.append(Part(path, filesystem, version, first_row))
            parts[-1] = parts[-1].with_group(number, group)
            first_row += group.num_rows
    return [part for part in parts if part.n_rows]


def _check_columns(
    path: str,
    schema: pyarrow.Schema,
    columns: Sequence[str],
    types: Mapping[str, pyarrow.DataType],
    like: str,
) -> None:
    """Refuse a file that lacks a column, has it twice, or has another type in it."""
    for name in columns:
        if (n := schema.names.count(name)) != 1:
            which = f'{n} columns' if n else 'no column'
            found = f'{which} {name} among {", ".join(schema.names)}'
            raise FormatError(path, '', name, found, 'one; name the columns by columns=')
        found, expected = schema.field(name).type, types.get(name)
        if found != expected:
            remedy = f'{expected} as in {like}; write all files with one schema'
            raise FormatError(path, '', name, str(found), remedy)


@contextmanager
def _opened(
    path: str, filesystem: fs.FileSystem, version: str = ''
) -> Iterator[tuple[parquet.ParquetFile, str]]:
    """Open a Parquet file, and give it with its version, which may not change meanwhile."""
    from pyarrow import parquet

    with _reading(path), filesystem.open_input_file(path) as stream:
        expected = version or _version(path, filesystem)
        _expect_version(path, filesystem, expected)
        limits = checked_footer(stream, ByteSource(path))
        opened = parquet.ParquetFile(stream, pre_buffer=False, buffer_size=BUFFER_BYTES, **limits)
        yield opened, expected
        _expect_version(path, filesystem, expected)


def _version(path: str, filesystem: fs.FileSystem) -> str:
    """Return what another file at that place would hardly have as well."""
    info = filesystem.get_file_info(path)
    return f'{info.size} bytes of {info.mtime}'


def _expect_version(path: str, filesystem: fs.FileSystem, expected: str) -> None:
    if (found := _version(path, filesystem)) != expected:
        remedy = (
            f'{expected}, as when the dataset was opened; a copy needs the time of its original'
        )
        raise FormatError(path, '', '', found, remedy)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turn all that opening and reading can raise into a `ReadError`."""
    import pyarrow

    try:
        yield
    except (FormatError, ReadError, MemoryError):
        raise
    except (pyarrow.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or ['damaged'])[0]
        if isinstance(error, FileNotFoundError):  # of which pyarrow often says the path alone
            reason = os.strerror(errno.ENOENT)
        reason = _without_key(getattr(error, 'strerror', None) or reason)
        raise ReadError(name, reason) from error
