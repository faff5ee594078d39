"""Arrays of numbers from whatever holds them, of which none was rounded on the way."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import ParameterError
from mediaeval_ap.tables.arrow import to_arrow
from mediaeval_ap.tables.line_format import EXACT_NUMBER, LARGEST_INTEGER
from mediaeval_ap.tables.table import is_arrow

__all__ = ['doubles', 'number_array']


def number_array(values: Any, name: str, n_dimensions: int, kinds: str) -> NDArray[Any]:
    """Return numbers as an array of their own type.

    Parameters
    ----------
    values : array_like or DataFrame
        Numbers.
    name : str
        What they are called, for errors.
    n_dimensions : int
        How many dimensions they have.
    kinds : str
        The kinds of types that are right, as numpy's ``dtype.kind``.

    Returns
    -------
    ndarray
        The same numbers: integers stay integers.

    Raises
    ------
    ParameterError
        When they are anything else, or integers of which numpy makes other numbers: where it meets
        integers and floats, or integers with a sign and larger ones without, it makes floats of
        all.

    Examples
    --------
    >>> number_array([[2**53, 2**53 + 1]], 'y_score', 2, 'iuf').tolist()
    [[9007199254740992, 9007199254740993]]
    >>> number_array([[0.5, 2**53 + 1]], 'y_score', 2, 'iuf')
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.ParameterError: y_score: found 9007199254740993 beside numbers of other \
types, expected a finite number that a double can hold
    """
    expected = f'expected {n_dimensions} of numbers'
    if isinstance(values, np.ma.MaskedArray):
        raise ParameterError(f'{name}: found a masked array, {expected}')
    try:
        array = np.asarray(values)
    except ValueError:
        raise ParameterError(f'{name}: found rows of different lengths, {expected}') from None
    if array.ndim != n_dimensions or array.dtype.kind not in kinds:
        raise ParameterError(f'{name}: found {array.ndim} dimensions of {array.dtype}, {expected}')
    # Numpy makes smaller floats of smaller integers only, which they hold.
    if array.dtype.kind == 'f' and array.itemsize >= 8 and not isinstance(values, np.ndarray):
        large = np.abs(array) >= LARGEST_INTEGER
        if large.any():
            _refuse_rounded(
                _objects(values)[large], array[large], name, ' beside numbers of other types'
            )
    return array


def doubles(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Return an array of numbers in double precision.

    Parameters
    ----------
    array : ndarray of int or float
        Numbers.
    name : str
        What they are called, for errors.

    Returns
    -------
    ndarray of float64
        The same numbers.

    Raises
    ------
    ParameterError
        When one is an integer that no double holds.

    Examples
    --------
    >>> doubles(np.array([1, 2]), 'sample_weight').tolist()
    [1.0, 2.0]
    """
    numbers = array.astype(np.float64)
    large = np.abs(numbers) >= LARGEST_INTEGER
    if large.any():
        _refuse_rounded(array[large], numbers[large], name, '')
    return numbers


def _refuse_rounded(given: NDArray[Any], rounded: NDArray[Any], name: str, where: str) -> None:
    for number, other in zip(given.tolist(), rounded.tolist(), strict=True):
        if isinstance(number, Integral) and math.isfinite(other) and int(number) != int(other):
            raise ParameterError(f'{name}: found {int(number)}{where}, expected {EXACT_NUMBER}')


def _objects(values: Any) -> NDArray[np.object_]:
    """Return numbers as the objects that they were before numpy found one type for all."""
    if hasattr(values, 'iloc'):  # of pandas
        values = values.astype(object).to_numpy()
    elif is_arrow(values):
        values = list(
            zip(*(column.to_pylist() for column in to_arrow(values).columns), strict=True)
        )
    return np.asarray(values, dtype=object)
