"""The order of ties: the order of hypotheses whose names are equally far from a query.

It does not depend on the query, so each hypothesis gets its *place* once. All keys of a
hypothesis are packed into one integer, and the integers are sorted. If the keys are too wide for
one integer, rows are sorted by several, which takes longer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import (
    MIN_PACKED_KEYS,
    descending_ordinals,
    ranks_in_runs,
    run_starts,
    sort_keys,
)
from mediaeval_ap.ranking.shots import Shots

KEY_BITS = 63  # of a signed integer, without the sign
BLOCK = 1 << 17  # keys that fit the caches; ten million at once would take 80 MB more


class TieKeys(NamedTuple):
    """The columns that break ties, first key first, each ascending."""

    confidence: NDArray[Any]  # minus the confidence, or integers in the same order
    temporal_rank: NDArray[np.integer]
    shot: NDArray[np.integer]  # the position of the shot in the order of video, corpus and shot
    name: NDArray[np.integer]  # the position of the name in the order of names


def in_order(*keys: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rows, sorted by the first key, then the second, …; integers are not negative."""
    if len(keys[0]) < MIN_PACKED_KEYS:
        return np.lexsort(keys[::-1])
    # Keys are packed into as few columns of 63 bits as possible: to sort ten million rows by two
    # columns takes a third of the time of `lexsort`, and by one column a tenth.
    packed: list[NDArray[np.int64]] = []
    free_bits = -1
    for key in keys:
        numbers = descending_ordinals(-key) if key.dtype.kind == 'f' else key
        bits = int(numbers.max(initial=0)).bit_length()
        if bits > free_bits:
            packed.append(numbers.astype(np.int64))
            free_bits = 63 - bits
        else:
            packed[-1] = packed[-1] << bits | numbers
            free_bits -= bits
    order, _ = sort_keys(packed[-1])
    for column in packed[-2::-1]:
        order = order[sort_keys(column[order])[0]]
    return order


def first_in_order(keys: tuple[NDArray[Any], ...], count: int) -> NDArray[np.int64]:
    """Return the first `count` rows of `in_order`, without sorting the others."""
    # For each key, find the value of the row at `count`. Take all rows with smaller values; the
    # next key decides between rows with that value.
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


def temporal_ranks(
    name: NDArray[np.integer],
    confidence: NDArray[Any],
    shot: NDArray[np.integer],
    video: NDArray[np.integer],
) -> tuple[NDArray[np.int32], int]:
    """Return temporal ranks, from 1, and the number of hypotheses that equal an earlier one."""
    order = in_order(name, confidence, shot)
    columns = [column[order] for column in (name, confidence, video, shot)]
    begins = run_starts(columns[:3])
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = ranks_in_runs(begins, len(order))
    return ranks, len(order) - len(run_starts(columns))


class KeysByPlace(NamedTuple):
    """The keys of the hypothesis at each place, without its confidence."""

    temporal_rank: NDArray[np.int32]
    shot: NDArray[np.int32]
    name: NDArray[np.int32]
    n_repeated: int  # hypotheses that equal an earlier one


def keys_by_place(
    name: NDArray[np.int32], confidence: NDArray[np.int32], shots: Shots
) -> KeysByPlace:
    """Sort hypotheses by their tie keys; names and confidences are ordinals from 0."""
    if (keys := _sort_packed(name, confidence, shots)) is not None:
        return keys
    shot = shots.codes
    ranks, n_repeated = temporal_ranks(name, confidence, shot, shots.videos_of(shot))
    order = in_order(*TieKeys(confidence, ranks, shot, name))
    return KeysByPlace(ranks[order], shot[order], name[order], n_repeated)


def _sort_packed(
    name: NDArray[np.int32], confidence: NDArray[np.int32], shots: Shots
) -> KeysByPlace | None:
    """Do the same by sorting one integer for each row; return None if the keys are too wide."""
    name_bits, confidence_bits, shot_bits = (
        int(key.max(initial=0)).bit_length() for key in (name, confidence, shots.codes)
    )
    if name_bits + confidence_bits + shot_bits > KEY_BITS:
        return None
    # The integers are sorted themselves, as an argsort takes eight times as long. So the keys at a
    # place are unpacked from its integer.
    keys = name.astype(np.int64)
    keys <<= confidence_bits
    keys |= confidence
    keys <<= shot_bits
    keys |= shots.codes
    keys.sort()
    n_repeated = int(np.count_nonzero(keys[1:] == keys[:-1]))
    later, later_ranks = _later_ranks(keys, shot_bits, shots)
    rank_bits = int(later_ranks.max(initial=0)).bit_length()
    if name_bits + confidence_bits + shot_bits + rank_bits > KEY_BITS:
        return None
    # Each key is repacked as confidence, temporal rank from 0, shot and name.
    for start in range(0, len(keys), BLOCK):
        part = keys[start : start + BLOCK]
        names = part >> (confidence_bits + shot_bits)
        part &= _mask(confidence_bits + shot_bits)
        part += (part >> shot_bits << shot_bits) * _mask(rank_bits)
        part <<= name_bits
        part |= names
    keys[later] += later_ranks << (shot_bits + name_bits)
    keys.sort()
    name_at = _last_bits(keys, name_bits)
    keys >>= name_bits
    shot_at = _last_bits(keys, shot_bits)
    keys >>= shot_bits
    temporal_rank_at = _last_bits(keys, rank_bits)
    temporal_rank_at += 1
    return KeysByPlace(temporal_rank_at, shot_at, name_at, n_repeated)


def _later_ranks(
    keys: NDArray[np.int64], shot_bits: int, shots: Shots
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of sorted keys of temporal rank 2 or more, and these ranks minus 1."""
    later = ((keys[1:] ^ keys[:-1]) < 1 << shot_bits).nonzero()[0] + 1
    shot = keys[later] & _mask(shot_bits)
    before = keys[later - 1] & _mask(shot_bits)
    later = later[shots.videos_of(shot) == shots.videos_of(before)]
    return later, ranks_in_runs(run_starts([later - np.arange(len(later))]), len(later))


def _last_bits(keys: NDArray[np.int64], bits: int) -> NDArray[np.int32]:
    last = np.empty(len(keys), dtype=np.int32)
    return np.bitwise_and(keys, _mask(bits), out=last, casting='unsafe')


def _mask(bits: int) -> int:
    return (1 << bits) - 1
