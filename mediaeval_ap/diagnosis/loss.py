"""The loss of queries, split by repairing one thing after another and scoring after each.

A repair moves hits, so a state of a ranking is no more than the ranks of its hits. The hypotheses
between them are never moved about.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import combine, ranges, ranks_in_runs, run_starts
from mediaeval_ap.definitions import Definition, Repeats
from mediaeval_ap.diagnosis.other_definitions import Facts, Listing
from mediaeval_ap.metrics import average_precision_of_hits

PARTS = {
    'repeats': 'shots that count again (negative: a gain)',
    'ties': 'shots under the query, behind equal confidence',
    'confidence': 'shots under the query, behind higher confidence',
    'spelling': 'shots found only under a near spelling',
    'confused': 'shots found only under a wrong person',
    'part_of_name': 'shots found only under part of the name',
    'noise': 'shots found only under a name of nobody',
    'copresent': 'shots found only under others shown in them',
    'absent': 'shots that were not returned',
    'cutoff': 'what no ranking reaches at this cutoff',
    'unanswerable': 'queries without a relevant shot',
}
# A shot is of the first kind that one of its names is of.
KINDS = ('own', 'spelling', 'confused', 'part_of_name', 'noise', 'copresent')
OWN, SPELLING, CONFUSED, PART_OF_NAME, NOISE, COPRESENT = range(len(KINDS))
RANKS_AT_ONCE = 2**20  # so many at a time keep memory low
NO_RANKS = np.empty(0, dtype=np.int64)


class Returned(NamedTuple):
    """The hypotheses about relevant shots of some queries: by query, then by shot."""

    query: NDArray[np.int64]  # number of the query
    shot: NDArray[np.int64]
    place: NDArray[np.int64]  # of the ranking
    name: NDArray[np.int32]
    distance: NDArray[np.float64]  # from the query to the name, once it is known


class ReturnedShots(NamedTuple):
    """Relevant shots that were returned: by query, then in the order in which they are ranked."""

    query: NDArray[np.int64]
    shot: NDArray[np.int64]
    place: NDArray[np.int64]  # of the first hypothesis
    distance: NDArray[np.float64]
    kind: NDArray[np.int64]  # number in KINDS


def shots_of(returned: Returned, kinds: NDArray[np.int64]) -> ReturnedShots:
    """Return each shot once, with its first hypothesis and the first of the kinds of its names."""
    begins = run_starts([returned.query, returned.shot])
    kind = np.minimum.reduceat(kinds, begins)
    # The first hypothesis of each shot: sorted, shots begin where they began before.
    ranked = np.lexsort(
        (returned.place, returned.distance, combine([returned.query, returned.shot]))
    )
    first = ranked[begins]
    place = returned.place[first]
    distance = returned.distance[first]
    order = np.lexsort((place, distance, returned.query[first]))
    first = first[order]
    return ReturnedShots(
        returned.query[first], returned.shot[first], place[order], distance[order], kind[order]
    )


class ShotCounts(NamedTuple):
    """Numbers of shots, query by query."""

    relevant: NDArray[np.int64]  # R of the definition
    shots: NDArray[np.int64]  # distinct relevant shots
    ranked: NDArray[np.int64]  # N of the definition


def tie_ranks(listing: Listing, facts: Facts, definition: Definition) -> NDArray[np.int64]:
    """Return the ranks, from 1, at which the ties of the first hit of each shot begin."""
    ties = listing.tie_starts
    starts = ties[ties.searchsorted(facts.once, side='left') - 1]
    if definition.repeats is Repeats.DROP:  # ranks among the shots that are not dropped
        starts = listing.kept.searchsorted(starts)
    return starts + 1


class Ranks(NamedTuple):
    """The ranks of hits, from 1, in the states of the rankings before any shot is moved forward."""

    scored_query: NDArray[np.int64]
    scored: NDArray[np.int64]
    first: NDArray[np.int64]  # of each shot, in the order of `ReturnedShots`; as are the next
    ties: NDArray[np.int64]  # hits under the query first among equal confidences
    confidence: NDArray[np.int64]  # hits under the query before all others


def ranks_of(
    shots: ReturnedShots,
    facts: Sequence[Facts],
    ties: Sequence[NDArray[np.int64]],
    definition: Definition,
    n_ranked: NDArray[np.int64],
) -> Ranks:
    """Return the ranks of the shots from the facts and the `tie_ranks` of each query."""
    # Hits that are not listed stand below the largest cutoff, and so does what is behind all.
    first = n_ranked[shots.query] + 1
    starts = first.copy()
    begins = shots.query.searchsorted(np.arange(len(facts)))
    for each, of_ties, begin in zip(facts, ties, begins.tolist(), strict=True):
        listed = slice(begin, begin + len(of_ties))
        first[listed] = each.distinct if definition.repeats is Repeats.DROP else each.once
        starts[listed] = of_ties
    found = [each.ranks(definition) for each in facts]
    is_own = shots.kind == OWN
    in_block = ranks_in_runs(run_starts([shots.query, starts]), len(first))
    return Ranks(
        np.repeat(np.arange(len(facts)), list(map(len, found))),
        np.concatenate([NO_RANKS, *found]),
        first,
        np.where(is_own, starts + in_block - 1, first),
        np.where(is_own, ranks_in_runs(run_starts([shots.query]), len(first)), first),
    )


def in_front(
    query: NDArray[np.int64], ranks: NDArray[np.int64], moves: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the ranks of hits once some of them were moved to the front, each query's ascending.

    Both are in the order of the ranks.
    """
    begins = run_starts([query])
    sizes = np.diff(begins, append=len(query))
    n_moved = np.add.reduceat(moves, begins, dtype=np.int64)
    before = moves.cumsum() - moves  # moved hits before each one, of all queries
    before -= (n_moved.cumsum() - n_moved).repeat(sizes)
    moved = np.where(moves, before + 1, ranks + n_moved.repeat(sizes) - before)
    ascending: NDArray[np.int64] = moved[np.lexsort((moved, query))]
    return ascending


def average_precisions(
    shots: ReturnedShots, ranks: Ranks, counts: ShotCounts, K: Sequence[int], definition: Definition
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


def gains(
    shots: ReturnedShots, ranks: Ranks, counts: ShotCounts, K: Sequence[int], definition: Definition
) -> NDArray[np.float64]:
    """Return the AP that moving each shot to the front adds, shape (n_shots, n_cutoffs).

    Kind by kind, and those of a kind by rank, each behind those that were moved before.
    """
    query = shots.query
    n_rows = len(shots.query)
    added = np.zeros((n_rows, len(K)))
    begins = run_starts([query])
    n_shots = np.diff(begins, append=n_rows)
    n_own = np.add.reduceat(shots.kind == OWN, begins, dtype=np.int64)
    order = np.lexsort((shots.kind, query))
    turn = np.empty_like(order)
    turn[order] = ranks_in_runs(begins, n_rows)
    # A query has a state for each number of shots in front, from its own ones to all.
    n_states = n_shots - n_own + 1
    of = np.arange(len(begins)).repeat(n_states)
    n_moved = ranges(n_own, n_states)
    values = np.empty((len(of), len(K)))
    blocks = run_starts([n_shots[of].cumsum() // RANKS_AT_ONCE])
    for states in np.split(np.arange(len(of)), blocks[1:]):
        sizes = n_shots[of[states]]
        rows = ranges(begins[of[states]], sizes)
        state = np.arange(len(states)).repeat(sizes)
        moves = turn[rows] <= n_moved[states].repeat(sizes)
        moved = in_front(state, ranks.confidence[rows], moves)
        asked = query[begins[of[states]]]
        values[states] = average_precision_of_hits(
            state, moved, counts.relevant[asked], counts.ranked[asked], K, definition
        )
    is_step = of[1:] == of[:-1]
    added[order[shots.kind[order] != OWN]] = np.diff(values, axis=0)[is_step]
    return added


def parts_of(
    values: NDArray[np.float64], n_relevant: NDArray[np.int64]
) -> dict[str, NDArray[np.float64]]:
    """Return the parts of the loss of queries from AP in each state, (n_states, n_queries)."""
    rest = 1 - values[-1]
    is_answerable = n_relevant > 0
    left = np.where(is_answerable, rest, 0), np.where(is_answerable, 0, rest)
    return dict(zip(PARTS, [*np.diff(values, axis=0), *left], strict=True))
