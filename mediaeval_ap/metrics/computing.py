"""Metrics of datasets that need not fit in memory."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
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
    columns: Sequence[str] | None = None,
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
    columns : sequence of str, optional
        The columns that become the positional arguments of ``metric.update``. By default they are
        called as these.
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
    ...     compute(metric, folder, columns=('bought', 'listed')), metric.n_users
    (0.625, 2)
    """
    parts, names = planned(metric, dataset, columns)
    metric.reset()
    try:
        for part in tracked(parts, 'scoring', ' parts'):
            add_part(metric, part, names)
    except BaseException:
        metric.reset()
        raise
    return metric.compute()


def planned(
    metric: Accumulator, dataset: Any, columns: Sequence[str] | None
) -> tuple[list[Part], tuple[str, ...]]:
    """Return the parts of a dataset, and the names of the columns that a metric needs."""
    if not isinstance(metric, Accumulator):
        expected = 'an accumulator of mediaeval_ap.metrics, as MeanAveragePrecision()'
        raise ParameterError(f'metric: found {shown(metric)}, expected {expected}')
    names = _columns_of(metric, columns)
    return parts_of(dataset, names), names


def add_part(metric: Accumulator, part: Part, columns: Sequence[str]) -> None:
    """Update a metric with the rows of a part."""
    for first_row, arrays in part.batches(columns):
        try:
            metric.update(*arrays)
        except ParameterError:
            _refuse_row(metric, part.path, first_row, arrays, columns)
            raise


def _columns_of(metric: Accumulator, columns: Any) -> tuple[str, ...]:
    signature = inspect.signature(metric.update)
    needed = [
        name
        for name, parameter in signature.parameters.items()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if columns is None:
        return tuple(needed)
    arguments = f'names of columns for {", ".join(needed)}'
    is_list = isinstance(columns, list | tuple)
    if not is_list or not all(isinstance(name, str) for name in columns):
        raise ParameterError(f'columns: found {shown(columns)}, expected {arguments}')
    names = tuple(columns)
    try:
        signature.bind(*names)
    except TypeError:
        found = f'{len(names)} name{"" if len(names) == 1 else "s"}'
        expected = f'{len(needed)} ({", ".join(needed)})'
        raise ParameterError(f'columns: found {found}, expected {expected}') from None
    return names


def _refuse_row(
    metric: Accumulator,
    path: str,
    first_row: int,
    arrays: Sequence[pyarrow.Array],
    columns: Sequence[str],
) -> None:
    """Raise the error of the first row that cannot be added, found by bisection."""
    begin, n_rows = 0, len(arrays[0])
    while n_rows:
        n_tried = (n_rows + 1) // 2
        try:
            metric.update(*(array[begin : begin + n_tried] for array in arrays))
        except ParameterError as error:  # nothing has changed
            if n_tried == 1:
                raise _located(error, metric, path, first_row + begin + 1, columns) from error
            n_rows = n_tried
        else:
            begin, n_rows = begin + n_tried, n_rows - n_tried


def _located(
    error: ParameterError, metric: Accumulator, path: str, row: int, columns: Sequence[str]
) -> Error:
    """Return an error of `update` as that of a row and a column."""
    argument, _, what = _in_rows('', str(error)).partition(': found ')
    found, _, expected = what.partition(', expected ')
    if not expected:
        return ParameterError(f'{path}, row {row}: {error}')
    column_of = dict(zip(inspect.signature(metric.update).parameters, columns, strict=False))
    return FormatError(path, f'row {row}', column_of.get(argument, ''), found, expected)
