"""Numbers that users give to metrics, as arrays in which none was rounded silently."""

from __future__ import annotations

import math
import sys
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import ParameterError
from mediaeval_ap.tables.columnar import is_list, to_arrow
from mediaeval_ap.tables.reading import is_arrow
from mediaeval_ap.tables.text.format import EXACT_NUMBER, LARGEST_INTEGER


def is_sparse(values: object) -> bool:
    """Return whether values are a sparse matrix of scipy; if it is not imported, nothing is one."""
    scipy_sparse = sys.modules.get('scipy.sparse')
    return scipy_sparse is not None and bool(scipy_sparse.issparse(values))


def number_matrix(values: Any, name: str, kinds: str) -> Any:
    """Return numbers as an array, or as a sparse matrix of scipy in rows if they are one."""
    if not is_sparse(values):
        return number_array(values, name, 2, kinds)
    if values.ndim != 2 or values.dtype.kind not in kinds:
        found = f'found {values.ndim} dimensions of {values.dtype}'
        raise ParameterError(f'{name}: {found}, expected 2 of numbers')
    return values.tocsr()


def number_array(values: Any, name: str, n_dimensions: int, kinds: str) -> NDArray[Any]:
    """Return numbers as an array whose type is one of `kinds` of numpy, integers as integers."""
    expected = f'expected {n_dimensions} of numbers'
    if is_sparse(values):
        raise ParameterError(f'{name}: found a sparse matrix, expected a dense array')
    if isinstance(values, np.ma.MaskedArray):
        raise ParameterError(f'{name}: found a masked array, {expected}')
    try:
        array = np.asarray(_of_lists(values, name) if _is_list_array(values) else values)
    except ParameterError:
        raise
    except ValueError:
        raise ParameterError(f'{name}: found rows of different lengths, {expected}') from None
    if array.ndim != n_dimensions or array.dtype.kind not in kinds:
        raise ParameterError(f'{name}: found {array.ndim} dimensions of {array.dtype}, {expected}')
    # Of integers beside floats, or of int64 beside uint64, numpy makes doubles. (Of smaller types
    # it makes smaller floats only where these are exact.)
    if array.dtype.kind == 'f' and array.itemsize >= 8 and not isinstance(values, np.ndarray):
        large = np.abs(array) >= LARGEST_INTEGER
        if large.any():
            given = _before_conversion(values)[large]
            _refuse_rounded(given, array[large], name, ' beside numbers of other types')
    return array


def _is_list_array(values: object) -> bool:
    """Return whether values are lists in an array of pyarrow; if not imported, nothing is one."""
    pyarrow = sys.modules.get('pyarrow')
    arrays = () if pyarrow is None else (pyarrow.Array, pyarrow.ChunkedArray)
    return isinstance(values, arrays) and is_list(values)


def _of_lists(lists: Any, name: str) -> NDArray[Any]:
    """Return lists of numbers in an array of pyarrow as an array of two dimensions."""
    from pyarrow import ChunkedArray, compute

    if isinstance(lists, ChunkedArray):
        lists = lists.combine_chunks()
    numbers = lists.flatten()
    if lists.null_count or numbers.null_count:
        what = 'list' if lists.null_count else 'number'
        raise ParameterError(f'{name}: found a missing {what}, expected numbers')
    lengths = compute.list_value_length(lists).to_numpy()
    length = int(lengths[0]) if len(lengths) else max(0, getattr(lists.type, 'list_size', 0))
    if (lengths != length).any():
        raise ValueError('rows of different lengths')  # as numpy says it of lists of Python
    array: NDArray[Any] = numbers.to_numpy(zero_copy_only=False)
    return array.reshape(len(lists), length)


def doubles(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Return numbers in double precision, and refuse an integer that no double holds."""
    numbers = array.astype(np.float64)
    large = np.abs(numbers) >= LARGEST_INTEGER
    if large.any():
        _refuse_rounded(array[large], numbers[large], name, '')
    return numbers


def _refuse_rounded(given: NDArray[Any], rounded: NDArray[Any], name: str, where: str) -> None:
    for number, other in zip(given.tolist(), rounded.tolist(), strict=True):
        if isinstance(number, Integral) and math.isfinite(other) and int(number) != int(other):
            raise ParameterError(f'{name}: found {int(number)}{where}, expected {EXACT_NUMBER}')


def _before_conversion(values: Any) -> NDArray[np.object_]:
    """Return numbers as the objects that they were before numpy found one type for all."""
    if hasattr(values, 'iloc'):  # of pandas
        values = values.astype(object).to_numpy()
    elif is_arrow(values):
        columns = (column.to_pylist() for column in to_arrow(values).columns)
        values = list(zip(*columns, strict=True))
    return np.asarray(values, dtype=object)
