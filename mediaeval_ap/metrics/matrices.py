"""Matrices of labels and scores, from arrays, frames, lists and sparse matrices."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import ParameterError
from mediaeval_ap.metrics.arguments import tensor_error
from mediaeval_ap.tables.columnar import is_list, to_arrow
from mediaeval_ap.tables.reading import is_arrow, remedy_of
from mediaeval_ap.tables.values import EXACT_NUMBER, LARGEST_INTEGER, is_rounded


def with_classes(truth: Any) -> Any:
    """Return a matrix unchanged; raise ParameterError if it has no columns."""
    if not truth.shape[1]:
        raise ParameterError('y_true: found no classes, expected at least one')
    return truth


def read_matrices(y_true: Any, y_score: Any) -> tuple[Any, NDArray[Any]]:
    """Return both arguments as matrices of one shape; a sparse truth stays sparse."""
    if is_sparse(y_true):
        if y_true.ndim != 2 or y_true.dtype.kind not in 'biuf':
            kind = f'{y_true.ndim} dimensions of {y_true.dtype}'
            raise ParameterError(f'y_true: found {kind}, expected 2 of numbers')
        truth = with_classes(y_true.tocsr())
    else:
        truth = with_classes(dense_numbers(y_true, 'y_true', 2, 'biuf'))
    scores = dense_numbers(y_score, 'y_score', 2, 'iuf')
    names = [list(frame.columns) for frame in (y_true, y_score) if hasattr(frame, 'columns')]
    if len(names) == 2 and names[0] != names[1]:
        raise ParameterError('y_score: found other columns, expected those of y_true, in order')
    if truth.shape != scores.shape:
        expected = f'{truth.shape} as y_true'
        raise ParameterError(f'y_score: found shape {scores.shape}, expected {expected}')
    return truth, scores


def refuse_cells(
    name: Literal['y_true', 'y_score'],
    cells: NDArray[Any],
    first_row: int = 0,
    first_column: int = 0,
) -> None:
    """Refuse labels other than 0 and 1, or scores that are not finite."""
    begin = first_row, first_column
    if name == 'y_true':
        refuse_marked(name, cells, (cells != 0) & (cells != 1), '0 or 1', begin)
    else:
        refuse_marked(name, cells, ~np.isfinite(cells), 'a finite number', begin)


def refuse_marked(
    name: str,
    cells: NDArray[Any],
    is_wrong: NDArray[np.bool_],
    expected: str,
    begin: tuple[int, int] = (0, 0),
) -> None:
    """Raise ParameterError for the first marked cell; `begin` is the place of the first cell."""
    if is_wrong.any():
        row, column = np.argwhere(is_wrong)[0]
        place = f'row {begin[0] + row}, column {begin[1] + column}'
        raise ParameterError(f'{name}: found {cells[row, column]} in {place}, expected {expected}')


def is_sparse(values: object) -> bool:
    """Return True for a sparse matrix of scipy, without importing scipy."""
    scipy_sparse = sys.modules.get('scipy.sparse')
    return scipy_sparse is not None and bool(scipy_sparse.issparse(values))


def dense_numbers(values: Any, name: str, n_dimensions: int, kinds: str) -> NDArray[Any]:
    """Convert numbers to an array whose numpy kind is in `kinds`; integers stay integers."""
    expected = f'expected {n_dimensions} of numbers'
    if is_sparse(values):
        raise ParameterError(f'{name}: found a sparse matrix, expected a dense array')
    if isinstance(values, np.ma.MaskedArray):
        raise ParameterError(f'{name}: found a masked array, {expected}')
    try:
        array = np.asarray(_matrix_of_lists(values, name) if _is_list_array(values) else values)
    except ParameterError:
        raise
    except (TypeError, RuntimeError) as error:
        raise tensor_error(error, name) from None
    except ValueError:
        raise ParameterError(f'{name}: found rows of different lengths, {expected}') from None
    if array.dtype == object and 'b' in kinds and {*map(type, array.flat)} <= {bool, np.bool_}:
        array = array.astype(np.bool_)  # as pandas has them where a missing one is allowed
    if array.ndim != n_dimensions or array.dtype.kind not in kinds:
        actual = f'{array.ndim} dimensions of {array.dtype}'
        raise ParameterError(f'{name}: found {actual}, {expected}{remedy_of(values)}')
    # numpy converts integers beside floats, and int64 beside uint64, to doubles, and may round
    # them. (It converts smaller types to smaller floats only if these are exact.)
    if array.dtype.kind == 'f' and array.itemsize >= 8 and not isinstance(values, np.ndarray):
        suffix = ' beside numbers of other types'
        _refuse_rounded(lambda: _before_conversion(values), array, name, suffix)
    return array


def _is_list_array(values: object) -> bool:
    """Return True for a pyarrow array of lists, without importing pyarrow."""
    pyarrow = sys.modules.get('pyarrow')
    arrays = () if pyarrow is None else (pyarrow.Array, pyarrow.ChunkedArray)
    return isinstance(values, arrays) and is_list(values)


def _matrix_of_lists(lists: Any, name: str) -> NDArray[Any]:
    """Convert a pyarrow array of lists of numbers to an array of two dimensions."""
    from pyarrow import ChunkedArray, compute

    if isinstance(lists, ChunkedArray):
        lists = lists.combine_chunks()
    numbers = lists.flatten()
    if lists.null_count or numbers.null_count:
        kind = 'list' if lists.null_count else 'number'
        raise ParameterError(f'{name}: found a missing {kind}, expected numbers')
    lengths = compute.list_value_length(lists).to_numpy()
    length = int(lengths[0]) if len(lengths) else max(0, getattr(lists.type, 'list_size', 0))
    if (lengths != length).any():
        raise ValueError('rows of different lengths')  # as numpy does for Python lists
    array: NDArray[Any] = numbers.to_numpy(zero_copy_only=False)
    return array.reshape(len(lists), length)


def doubles(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Convert numbers to doubles; refuse an integer that a double cannot hold."""
    numbers = array.astype(np.float64)
    _refuse_rounded(lambda: array, numbers, name)
    return numbers


def _refuse_rounded(
    unconverted: Callable[[], NDArray[Any]], converted: NDArray[Any], name: str, suffix: str = ''
) -> None:
    """Raise ParameterError for an integer that was rounded; the suffix tells the cause."""
    is_large = np.abs(converted) >= LARGEST_INTEGER
    if not is_large.any():
        return
    originals = unconverted()[is_large].tolist()
    for number, double in zip(originals, converted[is_large].tolist(), strict=True):
        if math.isfinite(double) and is_rounded(number, double):
            raise ParameterError(f'{name}: found {int(number)}{suffix}, expected {EXACT_NUMBER}')


def _before_conversion(values: Any) -> NDArray[np.object_]:
    """Return numbers as objects, before numpy converts them to one type."""
    if hasattr(values, 'iloc'):  # a frame or series of pandas
        values = values.astype(object).to_numpy()
    elif is_arrow(values):
        columns = (column.to_pylist() for column in to_arrow(values).columns)
        values = list(zip(*columns, strict=True))
    return np.asarray(values, dtype=object)
