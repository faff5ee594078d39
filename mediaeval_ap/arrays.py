"""Keys: where each is first, where it is, where runs of equal ones begin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ['combine', 'find', 'first_equal', 'first_occurrences', 'ranges', 'run_starts']


LARGEST_KEY = 2**62


def combine(columns: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
    """One key for what several columns hold.

    Parameters
    ----------
    columns : sequence of ndarray of int, shape (n,)
        Numbers from 0.

    Returns
    -------
    ndarray of int64, shape (n,)
        Equal where all columns are.

    Examples
    --------
    >>> combine([np.array([0, 1, 0]), np.array([2, 2, 2])]).tolist()
    [2, 5, 2]
    """
    keys = columns[0].astype(np.int64)
    size = int(keys.max(initial=0)) + 1
    for column in columns[1:]:
        n_values = int(column.max(initial=0)) + 1
        if size * n_values > LARGEST_KEY:
            distinct, keys = np.unique(keys, return_inverse=True)
            size = len(distinct)
        if size * n_values > LARGEST_KEY:
            distinct, column = np.unique(column, return_inverse=True)
            n_values = len(distinct)
        keys = keys * n_values + column
        size *= n_values
    return keys


def first_occurrences(keys: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where each distinct key stands for the first time.

    Parameters
    ----------
    keys : ndarray of int, shape (n,)
        Integers, in any order.

    Returns
    -------
    ndarray of int64, shape (n_distinct,)
        Positions from 0, ascending.

    Examples
    --------
    >>> first_occurrences(np.array([7, 3, 7, 5])).tolist()
    [0, 1, 3]
    """
    _, first = np.unique(keys, return_index=True)
    return np.sort(first)


def first_equal(keys: NDArray[np.integer]) -> NDArray[np.int64]:
    """For each key, where the first that is equal stands.

    Parameters
    ----------
    keys : ndarray of int, shape (n,)
        Integers, in any order.

    Returns
    -------
    ndarray of int64, shape (n,)
        Positions from 0; its own where none before is equal.

    Examples
    --------
    >>> first_equal(np.array([7, 3, 7])).tolist()
    [0, 1, 0]
    """
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    earliest: NDArray[np.int64] = first[inverse]
    return earliest


def find(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of some keys among others.

    Parameters
    ----------
    keys : ndarray of int64, shape (n_keys,)
        Keys in ascending order.
    wanted : ndarray of int64, shape (n,)
        Keys in any order.

    Returns
    -------
    ndarray of int64, shape (n,)
        Positions from 0, -1 for what is not among the keys.

    Examples
    --------
    >>> find(np.array([2, 3, 5]), np.array([5, 4, 2])).tolist()
    [2, -1, 0]
    """
    if not len(keys):
        return np.full(len(wanted), -1)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, places, -1)


def run_starts(columns: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Where each run of equal rows begins.

    Parameters
    ----------
    columns : sequence of ndarray, shape (n,)
        What the rows hold, a column each.

    Returns
    -------
    ndarray of int64, shape (n_runs,)
        Positions from 0, ascending.

    Examples
    --------
    >>> run_starts([np.array([7, 7, 7, 8]), np.array([0.5, 0.5, 0.25, 0.25])]).tolist()
    [0, 2, 3]
    """
    begins = np.zeros(len(columns[0]), dtype=np.bool_)
    begins[:1] = True
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(begins)


def ranges(starts: NDArray[np.integer], sizes: NDArray[np.integer]) -> NDArray[np.int64]:
    """The integers of many ranges, one range after another.

    Parameters
    ----------
    starts : ndarray of int, shape (n,)
        Where each begins.
    sizes : ndarray of int, shape (n,)
        How many integers each has.

    Returns
    -------
    ndarray of int64
        All of them.

    Examples
    --------
    >>> ranges(np.array([7, 3]), np.array([2, 3])).tolist()
    [7, 8, 3, 4, 5]
    """
    offsets: NDArray[np.int64] = (starts + sizes - sizes.cumsum()).repeat(sizes)
    return offsets + np.arange(len(offsets))
