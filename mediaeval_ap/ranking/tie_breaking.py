"""What decides between hypotheses at one distance from a query: their order before a query comes.

Hypotheses whose names are equally far from a query stand in ascending order of `PlaceKeys`, field
by field. Columns of keys are integers, or doubles.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ['PlaceKeys', 'bisect', 'first_in_order', 'in_order', 'precedes']


class PlaceKeys(NamedTuple):
    """What hypotheses at one distance are ordered by, from the first key to the last.

    Parameters
    ----------
    confidence : ndarray, shape (n,)
        Minus the confidence, or integers that compare as this does.
    temporal_rank : ndarray of int, shape (n,)
        The position of the shot among the hypotheses that share name, confidence and video.
    shot : ndarray of int, shape (n,)
        The place of the shot in the order of video, corpus and shot.
    name : ndarray of int, shape (n,)
        The place of the name in the order of names.

    Examples
    --------
    >>> keys = PlaceKeys(np.array([-0.5, -0.9]), *np.array([[1, 1], [0, 1], [0, 0]]))
    >>> in_order(*keys).tolist()
    [1, 0]
    """

    confidence: NDArray[Any]
    temporal_rank: NDArray[np.integer]
    shot: NDArray[np.integer]
    name: NDArray[np.integer]


def in_order(*keys: NDArray[Any]) -> NDArray[np.int64]:
    """The rows in ascending order of the first key, then of the second, and so on.

    Parameters
    ----------
    *keys : ndarray of int or float, shape (n,)
        Columns; integers are not negative.

    Returns
    -------
    ndarray of int64, shape (n,)
        Positions of the rows.

    Notes
    -----
    Takes O(n log n) time. Integers are packed into as few columns as hold them.

    Examples
    --------
    >>> in_order(np.array([1, 0, 1]), np.array([0.5, 0.5, -0.5])).tolist()
    [1, 2, 0]
    """
    packed: list[NDArray[Any]] = []
    free_bits = -1
    for key in keys:
        if key.dtype.kind == 'f':
            packed.append(key)
            free_bits = -1
            continue
        bits = int(key.max(initial=0)).bit_length()
        if bits > free_bits:
            packed.append(key.astype(np.int64))
            free_bits = 63 - bits
        else:
            packed[-1] = packed[-1] << bits | key
            free_bits -= bits
    return np.argsort(packed[0]) if len(packed) == 1 else np.lexsort(packed[::-1])


def first_in_order(keys: tuple[NDArray[Any], ...], count: int) -> NDArray[np.int64]:
    """The first rows in the order of some keys, without ordering the others.

    Parameters
    ----------
    keys : tuple of ndarray of int or float, shape (n,)
        Columns, as for `in_order`.
    count : int
        How many rows are wanted.

    Returns
    -------
    ndarray of int64, shape (at most count,)
        Positions of the rows, in order.

    Examples
    --------
    >>> first_in_order((np.array([1, 0, 1]), np.array([0.5, 0.5, -0.5])), 2).tolist()
    [1, 2]
    """
    undecided = np.arange(len(keys[0]))
    decided = []
    for key in keys:
        if len(undecided) <= count:
            break
        values = key[undecided]
        last = np.partition(values, count - 1)[count - 1]
        decided.append(undecided[values < last])
        undecided = undecided[values == last]
        count -= len(decided[-1])
    first = np.concatenate([*decided, undecided])
    ordered: NDArray[np.int64] = first[in_order(*(key[first] for key in keys))]
    return ordered[: sum(map(len, decided)) + count]


def precedes(
    keys: PlaceKeys,
    rows: NDArray[np.integer],
    other_keys: PlaceKeys,
    other_rows: NDArray[np.integer],
) -> NDArray[np.bool_]:
    """Whether each of some rows stands before the row beside it.

    Parameters
    ----------
    keys, other_keys : PlaceKeys
        What two sets of hypotheses are ordered by.
    rows, other_rows : ndarray of int, shape (n,)
        Rows of the one and of the other.

    Returns
    -------
    ndarray of bool, shape (n,)
        False where all keys are equal.

    Examples
    --------
    >>> one, other = (PlaceKeys(*np.array([[-0.5], [1], [shot], [0]])) for shot in (3, 4))
    >>> [precedes(one, np.array([0]), keys, np.array([0])).tolist() for keys in (other, one)]
    [[True], [False]]
    """
    before = np.zeros(len(rows), dtype=np.bool_)
    undecided = np.arange(len(rows))
    for key, other_key in zip(keys, other_keys, strict=True):
        values, others = key[rows[undecided]], other_key[other_rows[undecided]]
        before[undecided] = values < others
        undecided = undecided[values == others]
    return before


def bisect(
    keys: PlaceKeys,
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    other_keys: PlaceKeys,
    other_rows: NDArray[np.integer],
) -> NDArray[np.int64]:
    """Where rows would stand, each in a stretch of rows that are in order.

    Parameters
    ----------
    keys : PlaceKeys
        What the stretches are ordered by.
    begins, ends : ndarray of int64, shape (n,)
        Where each stretch begins, and where it has ended.
    other_keys : PlaceKeys
        What the rows are ordered by.
    other_rows : ndarray of int, shape (n,)
        A row for each stretch.

    Returns
    -------
    ndarray of int64, shape (n,)
        Behind all rows of the stretch that stand before the row.

    Notes
    -----
    Takes O(n log m) time for stretches of at most m rows.

    Examples
    --------
    >>> keys = PlaceKeys(*np.array([[-0.9, -0.9, -0.5, -0.2], [1, 2, 1, 1], [0] * 4, [0] * 4]))
    >>> bisect(keys, np.array([0, 0]), np.array([4, 1]), keys, np.array([2, 2])).tolist()
    [2, 1]
    """
    low, high = begins.copy(), ends.copy()
    open_ = (low < high).nonzero()[0]
    while len(open_):
        middle = (low[open_] + high[open_]) // 2
        before = precedes(keys, middle, other_keys, other_rows[open_])
        low[open_[before]] = middle[before] + 1
        high[open_[~before]] = middle[~before]
        open_ = open_[low[open_] < high[open_]]
    return low
