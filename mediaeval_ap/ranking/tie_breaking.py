"""The order of hypotheses whose names are equally far from a query, known before it comes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class TieKeys(NamedTuple):
    """Columns of integers or doubles that break ties, from the first key to the last, ascending."""

    confidence: NDArray[Any]  # minus the confidence, or integers in the same order
    temporal_rank: NDArray[np.integer]
    shot: NDArray[np.integer]  # the place of the shot in the order of video, corpus and shot
    name: NDArray[np.integer]  # the place of the name in the order of names


def in_order(*keys: NDArray[Any]) -> NDArray[np.int64]:
    """Return rows in order of the first key, then of the second; integers are from 0."""
    # Integers are packed into as few columns as hold them: sorting by one column of 64 bits is
    # twenty times faster than `lexsort` by four.
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
    """Return the first rows in the order of `in_order`, without sorting the others."""
    # Key by key: rows before the last value that is wanted are decided, rows with that value are
    # left to the next key.
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
    keys: tuple[NDArray[Any], ...],
    rows: NDArray[np.integer],
    other_keys: tuple[NDArray[Any], ...],
    other_rows: NDArray[np.integer],
) -> NDArray[np.bool_]:
    """Return whether each row stands before the other row beside it; equal rows do not."""
    before = np.zeros(len(rows), dtype=np.bool_)
    undecided = np.arange(len(rows))
    for key, other_key in zip(keys, other_keys, strict=True):
        values, others = key[rows[undecided]], other_key[other_rows[undecided]]
        before[undecided] = values < others
        undecided = undecided[values == others]
    return before


def bisect(
    keys: tuple[NDArray[Any], ...],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    other_keys: tuple[NDArray[Any], ...],
    other_rows: NDArray[np.integer],
) -> NDArray[np.int64]:
    """Return where each other row would stand in its range of sorted rows, before equal ones."""
    low, high = begins.copy(), ends.copy()
    open_ = (low < high).nonzero()[0]
    while len(open_):
        middle = (low[open_] + high[open_]) // 2
        before = precedes(keys, middle, other_keys, other_rows[open_])
        low[open_[before]] = middle[before] + 1
        high[open_[~before]] = middle[~before]
        open_ = open_[low[open_] < high[open_]]
    return low
