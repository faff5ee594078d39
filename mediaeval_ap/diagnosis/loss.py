"""The loss of queries, split by repairing one thing after another and scoring after each.

A repair moves hits, so a state of a ranking is no more than the ranks of its hits. The hypotheses
between them are never moved about.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import ranges, run_starts
from mediaeval_ap.definitions import Definition
from mediaeval_ap.diagnosis.listings import Hits
from mediaeval_ap.diagnosis.name_kinds import KINDS, OWN
from mediaeval_ap.diagnosis.parts import PARTS
from mediaeval_ap.diagnosis.returned_shots import ReturnedShots
from mediaeval_ap.metrics import average_precision_of_hits

# The rank of hits that are not listed, because they stand below the largest cutoff. The sum with
# any number of shots stays below 2**63.
OUT_OF_REACH = 2**62


class Counts(NamedTuple):
    """Numbers of shots, query by query."""

    relevant: NDArray[np.int64]  # R of the definition
    shots: NDArray[np.int64]  # distinct relevant shots
    ranked: int  # N of the definition, the same for all


class Ranks(NamedTuple):
    """The ranks of hits, from 1, in the states of the rankings before any shot is moved forward."""

    scored_query: NDArray[np.int64]
    scored: NDArray[np.int64]
    first: NDArray[np.int64]  # of each shot, in the order of `ReturnedShots`; as are the next
    ties: NDArray[np.int64]  # hits first among equal distances and confidences
    confidence: NDArray[np.int64]  # hits first among equal distances


def ranks_of(shots: ReturnedShots, hits: Sequence[Hits | None]) -> Ranks:
    """Return the ranks of the shots from the hits of each query; None for one without any."""
    first = np.full(len(shots.query), OUT_OF_REACH)
    ties, equal = first.copy(), first.copy()
    begins = shots.query.searchsorted(np.arange(len(hits) + 1))
    for each, begin, end in zip(hits, begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        if each is None:
            continue
        listed = slice(begin, begin + len(each.first))
        first[listed], ties[listed] = each.first, each.tie_starts
        equal[begin:end][shots.distance[begin:end] == each.last_distance] = each.last_start
        equal[listed] = each.distance_starts
    found = [NO_RANKS if each is None else each.scored for each in hits]
    return Ranks(
        np.repeat(np.arange(len(hits)), list(map(len, found))),
        np.concatenate([NO_RANKS, *found]) + 1,
        first + 1,
        _one_after_another(shots.query, ties) + 1,
        _one_after_another(shots.query, equal) + 1,
    )


NO_RANKS = np.empty(0, dtype=np.int64)


def _one_after_another(query: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return positions from the start of each hit's block: hits come first in their block."""
    begins = run_starts([query, starts])
    sizes = np.diff(begins, append=len(starts))
    return starts + ranges(np.zeros_like(sizes), sizes)


def in_front(
    query: NDArray[np.int64], ranks: NDArray[np.int64], moves: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the ranks of hits once some of them were moved to the front, each query's ascending.

    Both are in the order of the ranks.
    """
    begins = run_starts([query])
    sizes = np.diff(begins, append=len(query))
    n_moved = np.add.reduceat(moves, begins, dtype=np.int64) if len(begins) else begins
    before = moves.cumsum() - moves  # moved hits before each one, of all queries
    before -= (n_moved.cumsum() - n_moved).repeat(sizes)
    moved = np.where(moves, before + 1, ranks + n_moved.repeat(sizes) - before)
    ascending: NDArray[np.int64] = moved[np.lexsort((moved, query))]
    return ascending


def average_precisions(
    shots: ReturnedShots, ranks: Ranks, counts: Counts, K: Sequence[int], definition: Definition
) -> NDArray[np.float64]:
    """Return AP after each repair, from the ranking as scored to all relevant shots in front.

    The shape is (n_states, n_queries, n_cutoffs).
    """
    query = shots.query
    by_kind = [
        in_front(query, ranks.confidence, shots.kind <= kind) for kind in range(OWN + 1, len(KINDS))
    ]
    states = [(ranks.scored_query, ranks.scored)]
    states += [(query, each) for each in (ranks.first, ranks.ties, ranks.confidence, *by_kind)]
    values = [
        average_precision_of_hits(*state, counts.relevant, counts.ranked, K, definition)
        for state in states
    ]
    found = np.repeat(np.arange(len(counts.shots)), counts.shots)
    all_in_front = ranges(np.ones_like(counts.shots), counts.shots)
    n_ranked = counts.ranked + counts.shots - np.bincount(query, minlength=len(counts.shots))
    values.append(
        average_precision_of_hits(found, all_in_front, counts.relevant, n_ranked, K, definition)
    )
    return np.stack(values)


AT_ONCE = 2**20  # ranks; a choice, for memory


def gains(
    shots: ReturnedShots, ranks: Ranks, counts: Counts, K: Sequence[int], definition: Definition
) -> NDArray[np.float64]:
    """Return the AP that moving each shot to the front adds, shape (n_shots, n_cutoffs).

    Kind by kind, and those of a kind by rank, each behind those that were moved before.
    """
    added = np.zeros((len(shots.query), len(K)))
    begins = shots.query.searchsorted(np.arange(len(counts.shots) + 1)).tolist()
    for query, (begin, end) in enumerate(pairwise(begins)):
        n_own, n_shots = int(np.count_nonzero(shots.kind[begin:end] == OWN)), end - begin
        order = shots.kind[begin:end].argsort(kind='stable')
        at_once = max(1, AT_ONCE // max(n_shots, 1))
        for first in range(n_own, n_shots, at_once):
            n_moved = np.arange(first, min(first + at_once, n_shots) + 1)
            state = np.arange(len(n_moved)).repeat(n_shots)
            moves = order.argsort() < n_moved[:, np.newaxis]
            moved = in_front(
                state, np.tile(ranks.confidence[begin:end], len(n_moved)), moves.ravel()
            )
            n_relevant = counts.relevant[query].repeat(len(n_moved))
            values = average_precision_of_hits(
                state, moved, n_relevant, counts.ranked, K, definition
            )
            added[begin + order[n_moved[:-1]]] = np.diff(values, axis=0)
    return added


def parts_of(
    values: NDArray[np.float64], n_relevant: NDArray[np.int64]
) -> dict[str, NDArray[np.float64]]:
    """Return the parts of the loss of queries from AP in each state, (n_states, n_queries)."""
    rest = 1 - values[-1]
    is_answerable = n_relevant > 0
    left = np.where(is_answerable, rest, 0), np.where(is_answerable, 0, rest)
    return dict(zip(PARTS, [*np.diff(values, axis=0), *left], strict=True))
