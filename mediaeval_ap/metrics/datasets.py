"""Metrics of Parquet datasets that need not fit in memory."""

from __future__ import annotations

import errno
import inspect
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from mediaeval_ap.choices import is_uri
from mediaeval_ap.errors import Error, FormatError, ParameterError, ReadError, shown
from mediaeval_ap.metrics.accumulator import Accumulator
from mediaeval_ap.progress import shows_progress, tracked

if TYPE_CHECKING:
    import pyarrow
    from pyarrow import dataset, fs, parquet

# Less than a second of work, so that the last tasks end at about the same time, and a lost one
# costs little; and hundreds of times what it takes to send one.
BYTES_IN_PART = 64 << 20
FOOTERS_AT_ONCE = 32  # they are small, and a remote one takes mostly time to come
BUFFER_BYTES = 4 << 20  # of each column; otherwise a whole row group would be in memory
ROWS_IN_BATCH = 1 << 12  # twelve labels of so many users stay in the cache
# Where something is in the rows that were given to `update`; the error has the row of the file.
_in_rows = re.compile(r' at position \d+| in row \d+').sub


@shows_progress
def compute(
    metric: Accumulator,
    dataset: Any,
    *,
    columns: Mapping[str, str] | Sequence[str] | None = None,
    progress: bool = False,
) -> float:
    """Compute a metric of all rows of a Parquet dataset, a few thousand rows at a time.

    Parameters
    ----------
    metric : Accumulator
        Afterwards it holds all rows of the dataset, with their counts; what it held before is
        forgotten. It holds nothing if an error is raised.
    dataset : str, path-like, list of these, or pyarrow.dataset.Dataset
        Path or URI of a file or folder, or a list of files in one file system. Folders are read
        with all that is in them, except what begins with ``.`` or ``_``.
    columns : mapping of str to str, or sequence of str, optional
        The column of each argument of ``metric.update``, by its name, or in the order of the
        arguments where these need no name. By default columns are called as the arguments.
    progress : bool
        Show a progress bar on standard error.

    Returns
    -------
    float
        What ``metric.compute()`` returns after one update with all rows, to the last bit.

    Raises
    ------
    ReadError
        When a file cannot be read.
    FormatError
        When a file lacks a column, files have columns of different types, a row is wrong, or there
        is no row.
    ParameterError
        When the metric, the dataset or the columns are none.
    UndefinedScoreError
        When there is nothing to take the mean of.

    Notes
    -----
    Lists of labels and of scores are lists of Parquet, of any length or of a fixed one. Memory does
    not depend on the number of rows or on how files are divided; only `GlobalAveragePrecision`
    keeps nine bytes of each.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import pyarrow
    >>> from pyarrow import parquet
    >>> from mediaeval_ap.metrics import MeanAveragePrecision
    >>> users = pyarrow.table({'bought': [['a'], ['a', 'b']], 'listed': [['a'], ['x', 'a']]})
    >>> metric = MeanAveragePrecision(k=12)
    >>> with TemporaryDirectory() as folder:
    ...     parquet.write_table(users, f'{folder}/0.parquet')
    ...     columns = {'y_true': 'bought', 'y_pred': 'listed'}
    ...     compute(metric, folder, columns=columns), metric.n_users
    (0.625, 2)
    """
    parts, column_of = planned(metric, dataset, columns)
    metric.reset()
    try:
        for part in tracked(parts, 'scoring', ' parts'):
            add_part(metric, part, column_of)
    except BaseException:
        metric.reset()
        raise
    return metric.compute()


def planned(
    metric: Accumulator, dataset: Any, columns: Mapping[str, str] | Sequence[str] | None
) -> tuple[list[DatasetPart], dict[str, str]]:
    """Return the parts of a dataset, and the column of each argument that a metric gets."""
    if not isinstance(metric, Accumulator):
        expected = 'an accumulator of mediaeval_ap.metrics, as MeanAveragePrecision()'
        raise ParameterError(f'metric: found {shown(metric)}, expected {expected}')
    column_of = _columns_of(metric, columns)
    return parts_of(dataset, list(column_of.values())), column_of


def add_part(metric: Accumulator, part: DatasetPart, column_of: Mapping[str, str]) -> None:
    """Update a metric with the rows of a part."""
    for first_row, arrays in part.batches(list(column_of.values())):
        named = dict(zip(column_of, arrays, strict=True))
        try:
            metric.update(**named)
        except ParameterError:  # nothing has changed
            for row in range(len(arrays[0])):
                try:
                    metric.update(**{name: array[row : row + 1] for name, array in named.items()})
                except ParameterError as error:
                    raise _located(error, part.path, first_row + row + 1, column_of) from error
            raise


def _columns_of(metric: Accumulator, columns: Any) -> dict[str, str]:
    parameters = inspect.signature(metric.update).parameters
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [
        name
        for name, each in parameters.items()
        if each.default is each.empty and each.kind not in variable
    ]
    found, expected = shown(columns), f'{len(needed)} ({", ".join(needed)})'
    by_name = isinstance(columns, Mapping)
    names = columns.values() if by_name else columns
    if columns is None:
        return {name: name for name in needed}
    if not (by_name or isinstance(columns, list | tuple)) or not all(
        isinstance(name, str) for name in names
    ):
        expected = f'names of columns for {", ".join(needed)}'
    elif by_name:
        if set(needed) <= columns.keys() <= parameters.keys():
            return {name: columns[name] for name in parameters if name in columns}
        found = ', '.join(map(shown, columns)) or 'none'
    elif any(each.kind is each.KEYWORD_ONLY for each in parameters.values()):
        expected = f'{{{", ".join(f"{name!r}: …" for name in needed)}}}'
    elif len(needed) <= len(columns) <= len(parameters):
        return dict(zip(parameters, columns, strict=False))
    else:
        found = f'{len(columns)} name{"" if len(columns) == 1 else "s"}'
    raise ParameterError(f'columns: found {found}, expected {expected}')


def _located(error: ParameterError, path: str, row: int, column_of: Mapping[str, str]) -> Error:
    """Return an error of `update` as that of a row and a column."""
    argument, _, what = _in_rows('', str(error)).partition(': found ')
    found, _, expected = what.partition(', expected ')
    if not expected:
        return ParameterError(f'{path}, row {row}: {error}')
    return FormatError(path, f'row {row}', column_of.get(argument, ''), found, expected)


@dataclass(frozen=True)
class DatasetPart:
    """Some row groups of a file, in a row."""

    path: str
    filesystem: fs.FileSystem
    version: str  # of the file, as an error shows it
    first_row: int  # of the file, from 0
    row_groups: tuple[int, ...]
    n_rows: int

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


def parts_of(origin: Any, columns: Sequence[str]) -> list[DatasetPart]:
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
) -> list[DatasetPart]:
    path, filesystem = file
    parts: list[DatasetPart] = []
    with _opened(path, filesystem) as (opened, version):
        of_file = partial(DatasetPart, path, filesystem, version)
        _check_columns(path, opened.schema_arrow, columns, types, like)
        first_row = end = n_bytes = 0
        groups: list[int] = []
        for number in range(opened.num_row_groups):
            group = opened.metadata.row_group(number)
            if groups and n_bytes + group.total_byte_size > BYTES_IN_PART:
                parts.append(of_file(first_row, tuple(groups), end - first_row))
                first_row, n_bytes, groups = end, 0, []
            groups.append(number)
            n_bytes += group.total_byte_size
            end += group.num_rows
        parts.append(of_file(first_row, tuple(groups), end - first_row))
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

    def check_version(expected: str) -> str:
        info = filesystem.get_file_info(path)
        found = f'{info.size} bytes of {info.mtime}'  # which another file would hardly have as well
        if expected and found != expected:
            expected += ', as when the dataset was opened; a copy needs the time of its original'
            raise FormatError(path, '', '', found, expected)
        return found

    with _reading(path), filesystem.open_input_file(path) as stream:
        version = check_version(version)
        opened = parquet.ParquetFile(stream, pre_buffer=False, buffer_size=BUFFER_BYTES)
        yield opened, version
        check_version(version)


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
