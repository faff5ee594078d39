"""Arrays of integer keys: first occurrences, positions, runs of equal rows, ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST_KEY = 2**62  # half of what int64 holds, so that no product or sum overflows


def combine(columns: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
    """Return keys that are equal where all columns of numbers from 0 are."""
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
    """Return the position of the first of each distinct key, ascending."""
    _, first = np.unique(keys, return_index=True)
    return np.sort(first)


def first_equal(keys: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return for each key the position of the first that is equal."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    earliest: NDArray[np.int64] = first[inverse]
    return earliest


def find(keys: NDArray[np.integer], wanted: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the position of each wanted key among ascending keys, or -1."""
    if not len(keys):
        return np.full(len(wanted), -1)
    places = keys.searchsorted(wanted)
    return np.where(keys.take(places, mode='clip') == wanted, places, -1)


def run_starts(columns: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Return the position at which each run of equal rows begins; columns hold the rows' values."""
    begins = np.zeros(len(columns[0]), dtype=np.bool_)
    begins[:1] = True
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(begins)


def ranges(starts: NDArray[np.integer], sizes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the integers of many ranges, one range after another."""
    offsets: NDArray[np.int64] = (starts + sizes - sizes.cumsum()).repeat(sizes)
    return offsets + np.arange(len(offsets))


def first_above(
    values: NDArray[np.integer],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    limit: int,
) -> NDArray[np.int64]:
    """Return the position of the first value above a limit in each ascending range, or its end."""
    low, high = begins.copy(), ends.copy()
    open_ = (low < high).nonzero()[0]
    while len(open_):
        middle = (low[open_] + high[open_]) // 2
        is_above = values[middle] > limit
        high[open_[is_above]] = middle[is_above]
        low[open_[~is_above]] = middle[~is_above] + 1
        open_ = open_[low[open_] < high[open_]]
    return low
