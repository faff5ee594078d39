"""The shot and name at each place in the order of ties, by sorting integers that hold all keys.

Where the keys do not fit into one integer, rows are sorted, which takes longer. Rows are also
sorted when the row at each place is asked for; ranking does not need it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import order_of_narrow, ranks_in_runs, run_starts
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.ranking.temporal_ranks import temporal_ranks
from mediaeval_ap.ranking.tie_breaking import TieKeys, in_order

KEY_BITS = 63  # what a signed integer holds
BLOCK = 1 << 17  # keys that stay in the caches; all at once take 80 MB more for ten million


class Hypotheses(NamedTuple):
    """The hypotheses of a table as numbers from 0, each in the order of what it stands for."""

    name: NDArray[np.int32]
    confidence: NDArray[np.int32]  # 0 is the largest
    shots: Shots


class Places(NamedTuple):
    """The shot and the name at each place, and how many hypotheses repeat another one."""

    shot_at: NDArray[np.int32]
    name_at: NDArray[np.int32]
    n_repeated: int


class SortedRows(NamedTuple):
    """The row at each place, and of each row its temporal rank and whether it repeats another."""

    row_at: NDArray[np.int64]
    temporal_rank: NDArray[np.int32]
    is_repeated: NDArray[np.bool_]


def sorted_rows(hypotheses: Hypotheses) -> SortedRows:
    """Return the rows in order."""
    name, confidence, shots = hypotheses
    shot = shots.codes
    temporal_rank, is_repeated = temporal_ranks(name, confidence, shot, shots.videos_of(shot))
    row_at = in_order(*TieKeys(confidence, temporal_rank, shot, name))
    return SortedRows(row_at, temporal_rank, is_repeated)


def places(hypotheses: Hypotheses) -> Places:
    """Return what stands at each place."""
    if (found := _by_sorting_keys(hypotheses)) is not None:
        return found
    rows = sorted_rows(hypotheses)
    return Places(
        hypotheses.shots.codes[rows.row_at],
        hypotheses.name[rows.row_at],
        int(np.count_nonzero(rows.is_repeated)),
    )


def _by_sorting_keys(hypotheses: Hypotheses) -> Places | None:
    """Return what stands at each place; None where keys are too wide for an integer."""
    name, confidence, shots = hypotheses
    name_bits, confidence_bits, shot_bits = (
        int(key.max(initial=0)).bit_length() for key in (name, confidence, shots.codes)
    )
    if name_bits + confidence_bits + shot_bits > KEY_BITS:
        return None
    # Values are sorted, and not positions, which takes an eighth of the time. So what is at a place
    # has to be in its key.
    keys = name.astype(np.int64)
    keys <<= confidence_bits
    keys |= confidence
    keys <<= shot_bits
    keys |= shots.codes
    keys.sort()
    n_repeated = int(np.count_nonzero(keys[1:] == keys[:-1]))
    later, times = _later_times(keys, shot_bits, shots)
    time_bits = int(times.max(initial=0)).bit_length()
    if name_bits + confidence_bits + shot_bits + time_bits > KEY_BITS:
        return None
    # Each key becomes confidence, temporal rank, shot and name.
    for start in range(0, len(keys), BLOCK):
        part = keys[start : start + BLOCK]
        names = part >> (confidence_bits + shot_bits)
        part &= _mask(confidence_bits + shot_bits)
        part += (part >> shot_bits << shot_bits) * _mask(time_bits)
        part <<= name_bits
        part |= names
    keys[later] += times << (shot_bits + name_bits)
    keys.sort()
    name_at = _last_bits(keys, name_bits)
    keys >>= name_bits
    return Places(_last_bits(keys, shot_bits), name_at, n_repeated)


def by_name(name_at: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the places of each name, ascending."""
    return order_of_narrow(name_at).astype(np.int32)


def _later_times(
    keys: NDArray[np.int64], shot_bits: int, shots: Shots
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which of the sorted keys are not of temporal rank 1, and how far behind it."""
    later = ((keys[1:] ^ keys[:-1]) < 1 << shot_bits).nonzero()[0] + 1
    shot = keys[later] & _mask(shot_bits)
    before = keys[later - 1] & _mask(shot_bits)
    later = later[shots.videos_of(shot) == shots.videos_of(before)]
    return later, ranks_in_runs(run_starts([later - np.arange(len(later))]), len(later))


def _last_bits(keys: NDArray[np.int64], bits: int) -> NDArray[np.int32]:
    found = np.empty(len(keys), dtype=np.int32)
    return np.bitwise_and(keys, _mask(bits), out=found, casting='unsafe')


def _mask(bits: int) -> int:
    return (1 << bits) - 1
