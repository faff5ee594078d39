"""Metrics of datasets that need not fit in memory."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mediaeval_ap.errors import Error, FormatError, ParameterError, shown
from mediaeval_ap.metrics.accumulator import Accumulator
from mediaeval_ap.metrics.dataset_parts import Part, parts_of
from mediaeval_ap.progress import shows_progress, tracked

if TYPE_CHECKING:
    import pyarrow

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
) -> tuple[list[Part], dict[str, str]]:
    """Return the parts of a dataset, and the column of each argument that a metric gets."""
    if not isinstance(metric, Accumulator):
        expected = 'an accumulator of mediaeval_ap.metrics, as MeanAveragePrecision()'
        raise ParameterError(f'metric: found {shown(metric)}, expected {expected}')
    column_of = _columns_of(metric, columns)
    return parts_of(dataset, list(column_of.values())), column_of


def add_part(metric: Accumulator, part: Part, column_of: Mapping[str, str]) -> None:
    """Update a metric with the rows of a part."""
    for first_row, arrays in part.batches(list(column_of.values())):
        named = dict(zip(column_of, arrays, strict=True))
        try:
            metric.update(**named)
        except ParameterError:
            _refuse_row(metric, part.path, first_row, named, column_of)
            raise


def _columns_of(metric: Accumulator, columns: Any) -> dict[str, str]:
    parameters = inspect.signature(metric.update).parameters
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [
        name
        for name, each in parameters.items()
        if each.default is each.empty and each.kind not in optional
    ]
    need_names = any(each.kind is each.KEYWORD_ONLY for each in parameters.values())
    if columns is None:
        return {name: name for name in needed}
    by_name = isinstance(columns, Mapping)
    if not (by_name or isinstance(columns, list | tuple)) or not all(
        isinstance(name, str) for name in (columns.values() if by_name else columns)
    ):
        expected = f'names of columns for {", ".join(needed)}'
        raise ParameterError(f'columns: found {shown(columns)}, expected {expected}')
    if not by_name and need_names:
        example = ', '.join(f'{name!r}: …' for name in needed)
        raise ParameterError(f'columns: found {shown(columns)}, expected {{{example}}}')
    found = f'{len(columns)} name{"" if len(columns) == 1 else "s"}'
    expected = f'{len(needed)} ({", ".join(needed)})'
    if not by_name:
        if not len(needed) <= len(columns) <= len(parameters):
            raise ParameterError(f'columns: found {found}, expected {expected}')
        return dict(zip(parameters, columns, strict=False))
    if not set(needed) <= columns.keys() <= parameters.keys():
        found = ', '.join(map(shown, columns)) or 'none'
        raise ParameterError(f'columns: found {found}, expected {expected}')
    return {name: columns[name] for name in parameters if name in columns}


def _refuse_row(
    metric: Accumulator,
    path: str,
    first_row: int,
    named: Mapping[str, pyarrow.Array],
    column_of: Mapping[str, str],
) -> None:
    """Raise the error of the first row that cannot be added, found by bisection."""
    begin, n_rows = 0, len(next(iter(named.values())))
    while n_rows:
        n_tried = (n_rows + 1) // 2
        tried = {name: array[begin : begin + n_tried] for name, array in named.items()}
        try:
            metric.update(**tried)
        except ParameterError as error:  # nothing has changed
            if n_tried == 1:
                raise _located(error, path, first_row + begin + 1, column_of) from error
            n_rows = n_tried
        else:
            begin, n_rows = begin + n_tried, n_rows - n_tried


def _located(error: ParameterError, path: str, row: int, column_of: Mapping[str, str]) -> Error:
    """Return an error of `update` as that of a row and a column."""
    argument, _, what = _in_rows('', str(error)).partition(': found ')
    found, _, expected = what.partition(', expected ')
    if not expected:
        return ParameterError(f'{path}, row {row}: {error}')
    return FormatError(path, f'row {row}', column_of.get(argument, ''), found, expected)
