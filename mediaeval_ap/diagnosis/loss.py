"""Split the loss of queries: repair one thing after another, and score after each repair.

A repair moves nothing but hits. So the state of a ranking after each repair is just the ranks of
its hits, and no ranking is built again.

An example with the definition ``trec``: for the query ``ann``, the shots 2, 4, 5 and 6 are
relevant, and the run returns four hypotheses as ``ann`` and one as ``anne``::

    rank  shot  name  confidence
    1     1     ann   .9          miss
    2     2     ann   .9          hit
    3     3     ann   .7          miss
    4     4     ann   .5          hit
    5     5     anne  .5          hit
                                  shot 6 is not returned

    repair                                         ranks of hits  AP                        part
    none                                           2 4 5          (1/2 + 2/4 + 3/5) / 4     .4
    repeats: count each shot once                  2 4 5          the same                  0
    ties: shot 2 before its equal, shot 1          1 4 5          (1/1 + 2/4 + 3/5) / 4     .125
    confidence: shots under ann to the front       1 2 5          (1/1 + 2/2 + 3/5) / 4     .125
    spelling: shot 5, behind these                 1 2 3          (1/1 + 2/2 + 3/3) / 4     .1
    absent: shot 6, behind these                   1 2 3 4        (1/1 + ... + 4/4) / 4     .25

A part is the AP that its repair adds. Together the parts are the loss, 1 - .4.

>>> from mediaeval_ap import AveragePrecision
>>> reference = [('x', 'v', shot, 'ann') for shot in '2456']
>>> ann = [('1', 0.9), ('2', 0.9), ('3', 0.7), ('4', 0.5)]
>>> run = [('x', 'v', shot, 'ann', confidence) for shot, confidence in ann]
>>> run.append(('x', 'v', '5', 'anne', 0.5))
>>> diagnosis = AveragePrecision(reference, definition='trec').explain(run, near=0.25)
>>> {part: round(loss, 3) for part, loss in diagnosis.mean_parts.items() if loss}
{'ties': 0.125, 'confidence': 0.125, 'spelling': 0.1, 'absent': 0.25}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats, combine, ranges, ranks_in_runs, run_starts
from mediaeval_ap.definitions import Definition, Repeats
from mediaeval_ap.evaluation.listing import RankingFacts, WholeListing
from mediaeval_ap.metrics.ap_of_hits import RankedHits

PARTS = {
    'repeats': 'shots that count again (a gain)',
    'ties': 'shots under the query, behind equal confidence',
    'unjudged': 'shots under the query, behind shots that are not judged',
    'confidence': 'shots under the query, behind higher confidence',
    'spelling': 'shots returned only under a near spelling',
    'confused': 'shots returned only under a wrong person',
    'part_of_name': 'shots returned only under part of the name',
    'noise': 'shots returned only under a name of nobody',
    'copresent': 'shots returned only under others shown in them',
    'absent': 'shots that were not returned',
    'cutoff': 'AP that no ranking reaches at this cutoff',
    'unanswerable': 'queries without a relevant shot',
}
NAME_PARTS = ('spelling', 'confused', 'part_of_name', 'noise', 'copresent')
# A shot gets the first kind in this list that any of its names has.
SHOT_KINDS = ('own', *NAME_PARTS)
OWN, SPELLING, CONFUSED, PART_OF_NAME, NOISE, COPRESENT = range(len(SHOT_KINDS))
RANKS_AT_ONCE = 2**20  # keeps memory low


class RelevantHypotheses(NamedTuple):
    """The hypotheses about relevant shots of some queries, sorted by query and shot."""

    query: NDArray[np.int64]  # number of the query
    shot: NDArray[np.int64]
    place: NDArray[np.int64]  # in the order of ties
    name: NDArray[np.int32]
    distance: Floats  # from the query to the name; NaN before the query is ranked


class ReturnedShots(NamedTuple):
    """Relevant shots that were returned, sorted by query and rank."""

    query: NDArray[np.int64]
    shot: NDArray[np.int64]
    place: NDArray[np.int64]  # of the first hypothesis
    distance: Floats
    kind: NDArray[np.int64]  # index in SHOT_KINDS


def shots_of(hypotheses: RelevantHypotheses, kinds: NDArray[np.int64]) -> ReturnedShots:
    """Reduce hypotheses to their shots, each with its first hypothesis and its first kind."""
    begins = run_starts([hypotheses.query, hypotheses.shot])
    kind = np.minimum.reduceat(kinds, begins)
    # Sort the hypotheses of each shot; shots still begin at `begins`, with their first hypothesis.
    ranked = np.lexsort(
        (hypotheses.place, hypotheses.distance, combine([hypotheses.query, hypotheses.shot]))
    )
    first = ranked[begins]
    place = hypotheses.place[first]
    distance = hypotheses.distance[first]
    order = np.lexsort((place, distance, hypotheses.query[first]))
    first = first[order]
    return ReturnedShots(
        hypotheses.query[first], hypotheses.shot[first], place[order], distance[order], kind[order]
    )


def tie_ranks(listing: WholeListing, definition: Definition) -> NDArray[np.int64]:
    """Return, for each listed relevant shot, the first rank, from 1, of its block of ties."""
    block_starts = listing.tie_starts
    starts = block_starts[block_starts.searchsorted(listing.facts.first_ranks) - 1]
    if definition.repeats is Repeats.DROP:  # ranks among the shots that are not dropped
        starts = listing.first_positions.searchsorted(starts)
    return starts + 1


class RepairableHits(NamedTuple):
    """All that a repair moves, and the sizes that AP is divided by."""

    shots: ReturnedShots
    # The rank of each shot, from 1, in each state before shots under other names move forward.
    first: NDArray[np.int64]  # each shot counts once
    ties: NDArray[np.int64]  # hits under the query first among equal confidences
    judged: NDArray[np.int64] | None  # without unjudged shots; None for names
    confidence: NDArray[np.int64]  # hits under the query before all others
    # Numbers of shots, one for each query.
    n_relevant: NDArray[np.int64]  # R of the definition
    n_distinct: NDArray[np.int64]  # relevant shots, each once
    n_ranked: NDArray[np.int64]  # N of the definition


def repairable_hits(
    shots: ReturnedShots,
    facts: Sequence[RankingFacts],
    ties: Sequence[NDArray[np.int64]],
    unjudged: Sequence[NDArray[np.int64]],  # the number of shots before these; empty for names
    *,
    definition: Definition,
) -> RepairableHits:
    """Rank the shots by the facts and the `tie_ranks` of each query."""
    n_ranked = np.array([ranking.n_returned(definition) for ranking in facts], dtype=np.int64)
    # Hits that are not listed stand below the largest cutoff: any rank behind all others will do.
    first = n_ranked[shots.query] + 1
    starts = first.copy()
    begins = shots.query.searchsorted(np.arange(len(facts)))
    drops = definition.repeats is Repeats.DROP
    for ranking, tie_starts, begin in zip(facts, ties, begins.tolist(), strict=True):
        listed_rows = slice(begin, begin + len(tie_starts))
        first[listed_rows] = ranking.distinct_ranks if drops else ranking.first_ranks
        starts[listed_rows] = tie_starts
    is_own = shots.kind == OWN
    in_block = ranks_in_runs(run_starts([shots.query, starts]), len(first))
    untied = np.where(is_own, starts + in_block - 1, first)
    return RepairableHits(
        shots,
        first,
        untied,
        judged=untied - np.concatenate(unjudged) if unjudged else None,
        confidence=np.where(is_own, ranks_in_runs(run_starts([shots.query]), len(first)), first),
        n_relevant=np.array([ranking.n_relevant(definition) for ranking in facts]),
        n_distinct=np.array([ranking.n_relevant_shots for ranking in facts]),
        n_ranked=n_ranked,
    )


def move_to_front(
    query: NDArray[np.int64], ranks: NDArray[np.int64], is_moved: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the ranks of hits after some of them moved to the front of their query, ascending.

    The hits are sorted by query and rank.

    >>> query = np.array([0, 0, 0, 1])
    >>> move_to_front(query, np.array([2, 5, 7, 3]), np.array([False, False, True, True]))
    array([1, 3, 6, 1])
    """
    begins = run_starts([query])
    sizes = np.diff(begins, append=len(query))
    n_moved = np.add.reduceat(is_moved, begins, dtype=np.int64)
    n_before = is_moved.cumsum() - is_moved  # moved hits before each hit, over all queries
    n_before -= (n_moved.cumsum() - n_moved).repeat(sizes)
    new_ranks = np.where(is_moved, n_before + 1, ranks + n_moved.repeat(sizes) - n_before)
    return new_ranks[np.lexsort((new_ranks, query))]


def ap_by_state(
    scored: Floats, repairable: RepairableHits, K: Sequence[int], definition: Definition
) -> Floats:
    """Return AP as scored, then after each repair, shape (n_states, n_queries, n_cutoffs)."""
    shots, first, ties, judged, confidence, n_relevant, n_distinct, n_ranked = repairable
    query = shots.query
    ranks_by_kind = [
        move_to_front(query, confidence, shots.kind <= kind)
        for kind in range(OWN + 1, len(SHOT_KINDS))
    ]
    repaired = first, ties, judged, confidence, *ranks_by_kind
    states = [
        RankedHits(query, ranks, n_relevant, n_ranked) for ranks in repaired if ranks is not None
    ]
    # At last, all relevant shots are in front.
    query_of_all = np.repeat(np.arange(len(n_distinct)), n_distinct)
    all_in_front = ranges(np.ones_like(n_distinct), n_distinct)
    n_ranked = n_ranked + n_distinct - np.bincount(query, minlength=len(n_distinct))
    states.append(RankedHits(query_of_all, all_in_front, n_relevant, n_ranked))
    return np.stack([scored, *(hits.ap(K, definition) for hits in states)])


def gains(repairable: RepairableHits, K: Sequence[int], definition: Definition) -> Floats:
    """Return the AP that each shot adds as it moves behind those before it, by kind and rank."""
    shots = repairable.shots
    query = shots.query
    n_rows = len(query)
    shot_gains = np.zeros((n_rows, len(K)))
    begins = run_starts([query])
    n_shots = np.diff(begins, append=n_rows)
    n_own = np.add.reduceat(shots.kind == OWN, begins, dtype=np.int64)
    order = np.lexsort((shots.kind, query))
    turn = np.empty_like(order)
    turn[order] = ranks_in_runs(begins, n_rows)
    # A query has a state for each number of shots in front, from its own ones to all.
    n_states = n_shots - n_own + 1
    index = np.arange(len(begins)).repeat(n_states)  # of each state's query, in `begins`
    n_in_front = ranges(n_own, n_states)
    values = np.empty((len(index), len(K)))
    cuts = run_starts([n_shots[index].cumsum() // RANKS_AT_ONCE])[1:]
    for states in np.split(np.arange(len(index)), cuts):
        sizes = n_shots[index[states]]
        rows = ranges(begins[index[states]], sizes)
        state = np.arange(len(states)).repeat(sizes)
        is_moved = turn[rows] <= n_in_front[states].repeat(sizes)
        hits = move_to_front(state, repairable.confidence[rows], is_moved)
        queries = query[begins[index[states]]]
        sizes_of_states = repairable.n_relevant[queries], repairable.n_ranked[queries]
        values[states] = RankedHits(state, hits, *sizes_of_states).ap(K, definition)
    is_step = index[1:] == index[:-1]
    shot_gains[order[shots.kind[order] != OWN]] = np.diff(values, axis=0)[is_step]
    return shot_gains


def loss_parts(values: Floats, n_relevant: NDArray[np.int64]) -> dict[str, Floats]:
    """Return the parts of the loss of queries from AP in each state, (n_states, n_queries)."""
    unrepaired = 1 - values[-1]
    is_answerable = n_relevant > 0
    cutoff = np.where(is_answerable, unrepaired, 0)
    unanswerable = np.where(is_answerable, 0, unrepaired)
    losses = [*np.diff(values, axis=0), cutoff, unanswerable]
    parts = [part for part in PARTS if part != 'unjudged' or len(losses) == len(PARTS)]
    return dict(zip(parts, losses, strict=True))
