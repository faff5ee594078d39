"""The shots of a pool that nobody judged, and bounds of average precision over their labels.

Of a query, let R shots be relevant and u shots of the pool be unjudged. Each number m of these from
0 to u may turn out relevant, and then R + m are. Depth and denominator are the same for all labels
with one m, so only the sum of precisions differs: Σ j / r_j over the ranks r_1 < r_2 < … of hits.
It never gets lower when a hit moves to an earlier rank, or when one is added. So the greatest value
has the m shots that stand earliest, and the least those outside the ranking, then the latest.

Where a definition counts shots again, the m shots that stand most often down to a rank may be other
shots at each rank. A ranking that has at each rank as many hits as the most frequent m shots bounds
all choices, but may be wider than needed. So may be what is returned where a definition divides by
hits (H) and counts shots again: 0 and `Definition.upper_bound`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Definition, depths
from mediaeval_ap.evaluation.relevance import Reference, Relevance
from mediaeval_ap.evaluation.scoring import PreparedRun, Top
from mediaeval_ap.judging.candidates import shot_texts
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.results.evaluation import judged_column
from mediaeval_ap.results.result import mean, mean_average_precision
from mediaeval_ap.tables import REFERENCE, Provenance, Table
from mediaeval_ap.tables.rows import from_rows

Ranks: TypeAlias = NDArray[np.int64]  # from 1, ascending

AT_ONCE = 1 << 24  # ranks of rankings in one array
LEAST_MARGIN = 1e-12  # of a mean: less may be rounding


@dataclass(frozen=True)
class Bounds:
    """The bounds of a run over what its unjudged shots in the pool could be.

    Parameters
    ----------
    low, high : dict of str to float
        The lowest and the highest MAP over all labels of these shots, by the name of the mean.
    judged : dict of str to float or None
        Judged@k: the share of the first k of each ranking that is judged, over the queries for
        which the run returns something; None if there is none.
    n_unjudged : int
        Number of unjudged shots that the run itself brought into the pool, over all queries.
    n_wider : int
        Number of queries whose bounds may be wider than those over all labels, at some cutoff.
    """

    low: dict[str, float]
    high: dict[str, float]
    judged: dict[str, float | None]
    n_unjudged: int
    n_wider: int


@dataclass(frozen=True)
class CertainOrder:
    """Two runs whose order stays the same whatever labels the unjudged shots of the pool get.

    Parameters
    ----------
    better, worse : str
        The runs.
    margin : float
        What the better one leads by at least, at the last cutoff.
    """

    better: str
    worse: str
    margin: float


class ByNumber(NamedTuple):
    """Bounds for each number of unjudged shots made relevant (rows) and each cutoff (columns)."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    is_exact: NDArray[np.bool_]  # for each cutoff; elsewhere they may be wider than need be


def bounds_by_number(
    known: Ranks,
    unjudged: Sequence[Ranks],
    n_unjudged: int,
    n_relevant: int,
    n_returned: int,
    K: Sequence[int],
    definition: Definition,
) -> ByNumber:
    """Return the bounds of a query in one ranking, for 0 to `n_unjudged` shots made relevant.

    `known` are the ranks of hits; `unjudged` has, for each unjudged shot of the ranking, the ranks
    at which it would be a hit. All ascend from 1, and may end at the largest cutoff. `n_unjudged`
    is the number of unjudged shots in the pool, in the ranking or not.

    >>> from mediaeval_ap import definitions
    >>> two = [np.array([1]), np.array([3])]
    >>> found = bounds_by_number(np.array([2]), two, 2, 1, 9, [10], definitions.get('trec'))
    >>> found.low.ravel().round(2).tolist(), found.high.ravel().round(2).tolist()
    ([0.5, 0.58, 1.0], [0.5, 1.0, 1.0])
    """
    known, *unjudged = (ranks[ranks <= max(K)] for ranks in (known, *unjudged))
    divides_by_hits = 'H' in definition.denominator
    is_exact = np.array([_is_exact(unjudged, k, definition) for k in K])
    if divides_by_hits and not is_exact.all():
        numbers = range(n_relevant, n_relevant + n_unjudged + 1)
        high = np.array([[definition.upper_bound(k, R, n_returned) for k in K] for R in numbers])
        return ByNumber(np.zeros(high.shape), high, np.zeros(len(K), dtype=np.bool_))
    # Which shots are hits differs by cutoff.
    at_once = [[k] for k in K] if divides_by_hits else [list(K)]
    fixed = n_relevant, n_returned, definition
    parts = [_at_cutoffs(known, unjudged, n_unjudged, each, *fixed) for each in at_once]
    low, high = map(np.hstack, zip(*parts, strict=True))
    return ByNumber(low, high, is_exact)


def _is_exact(unjudged: Sequence[Ranks], k: int, definition: Definition) -> bool:
    """Return whether each shot counts once at a cutoff, so that one choice of m shots is best."""
    if 'k' in definition.depth:
        return all(np.count_nonzero(ranks <= k) <= 1 for ranks in unjudged)
    return 'H' not in definition.denominator and all(len(ranks) <= 1 for ranks in unjudged)


def _at_cutoffs(
    known: Ranks,
    unjudged: Sequence[Ranks],
    n_unjudged: int,
    K: list[int],
    n_relevant: int,
    n_returned: int,
    definition: Definition,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if 'k' in definition.depth:
        known, *unjudged = (ranks[ranks <= max(K)] for ranks in (known, *unjudged))
    inside = sorted((ranks for ranks in unjudged if len(ranks)), key=lambda ranks: int(ranks[0]))
    n_inside = len(inside)
    n_outside = n_unjudged - len(inside)
    if 'H' in definition.denominator:  # any number of shots outside goes with any of those inside
        best = worst = np.arange(n_inside + 1).repeat(n_outside + 1)
        m = best + np.tile(np.arange(n_outside + 1), n_inside + 1)
    else:  # a shot of the ranking is never worse to have than one outside
        m = np.arange(n_unjudged + 1)
        best = np.minimum(m, n_inside)
        worst = np.maximum(m - n_outside, 0)
    ranks, first, last = _earliest_and_latest(inside)
    order = np.concatenate([ranks, known]).argsort()
    all_ranks = np.concatenate([ranks, known])[order]
    high, low = (np.full((n_unjudged + 1, len(K)), each) for each in (-np.inf, np.inf))
    step = max(1, AT_ONCE // max(1, len(order)))
    for begin in range(0, len(m), step):
        now = slice(begin, begin + step)
        for bound, at, extreme in (
            (high, first[best[now]], np.maximum),
            (low, last[worst[now]], np.minimum),
        ):
            is_hit = np.ones((len(at), len(order)), dtype=np.bool_)
            is_hit[:, : len(ranks)] = at
            rankings, which = is_hit[:, order].nonzero()
            values = average_precision_of_hits(
                rankings, all_ranks[which], n_relevant + m[now], n_returned, K, definition
            )
            extreme.at(bound, m[now], values)
    return low, high


def _earliest_and_latest(
    shots: Sequence[Ranks],
) -> tuple[Ranks, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return all ranks of shots, and which are hits of the m earliest and latest, for each m."""
    # Down to each rank there are as many hits as the m shots have that stand most often so far, or
    # least often: no choice has more or fewer.
    n = len(shots)
    ranks = np.concatenate([*shots, np.empty(0, dtype=np.int64)])
    if len(ranks) == n:
        first = np.tri(n + 1, n, -1, dtype=np.bool_)
        return ranks, first, first[:, ::-1]
    order = ranks.argsort()
    owners = np.repeat(np.arange(n), list(map(len, shots)))[order]
    # One shot stands at each rank, so the sums over m shots grow by 1 at most: each is a ranking.
    stands = np.zeros((n, len(owners)), dtype=np.int64)
    stands[owners, np.arange(len(owners))] = 1
    ascending = np.sort(stands.cumsum(axis=1), axis=0)
    sums = np.zeros((2, n + 1, len(owners) + 1), dtype=np.int64)
    sums[0, 1:, 1:], sums[1, 1:, 1:] = ascending[::-1].cumsum(axis=0), ascending.cumsum(axis=0)
    first, last = np.diff(sums) > 0
    return ranks[order], first, last


@dataclass(frozen=True, eq=False)
class BoundsOfRun:
    """Bounds of all queries about one run, of each number of unjudged shots made relevant."""

    low: NDArray[np.float64]  # shape (n_numbers of all queries together, n_cutoffs)
    high: NDArray[np.float64]
    begins: NDArray[np.int64]  # the row at which each query begins
    n_wider: int  # queries whose bounds may be wider than need be, at some cutoff

    def least_lead(self, other: BoundsOfRun) -> float:
        """Return a lower bound on this run's lead in MAP at the last cutoff, over all labels."""
        # Only the number of relevant labels is held equal for both, so it may be larger.
        differences = self.low[:, -1] - other.high[:, -1]
        least = mean(np.minimum.reduceat(differences, self.begins))
        assert least is not None
        return least


class UnjudgedPool:
    """The shots that some run returned for a query and that are not judged for it."""

    def __init__(self, queries: Sequence[str], counts_again: bool) -> None:
        self._queries = queries
        self._counts_again = counts_again
        self._shots: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        self._all: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        self._brought: defaultdict[str, int] = defaultdict(int)
        self._judged: dict[str, dict[str, float | None]] = {}

    def add(
        self, name: str, run: PreparedRun, tops: Sequence[Top], returned: Sequence[Ranks]
    ) -> None:
        """Add a run: its rankings, and the positions of these that count as returned."""
        shots = run.ranking.shots
        judged = run.scorer.judged
        assert judged is not None
        shares = []
        for query, top, at in zip(self._queries, tops, returned, strict=True):
            shares.append(run.scorer.share_judged(query, top.places))
            found = np.unique(run.ranking.shot_at[top.places[at]])
            ids = shot_texts(shots, found)
            is_judged = judged.mask(query)[found].tolist()
            unjudged = [shot for shot, known in zip(ids, is_judged, strict=True) if not known]
            self._all[query].update(ids)
            self._shots[query].update(unjudged)
            self._brought[name] += len(unjudged)
        columns = zip(map(judged_column, run.criteria.K), np.array(shares).T, strict=True)
        self._judged[name] = {each: mean(share[~np.isnan(share)]) for each, share in columns}

    @property
    def counts(self) -> dict[str, int]:
        """The number of pairs of a query and a shot in the pool, and how many are not judged."""
        both = {'pool': self._all, 'unjudged': self._shots}
        return {what: sum(map(len, shots.values())) for what, shots in both.items()}

    @property
    def reference(self) -> Reference:
        """The reference in which all unjudged pairs would be relevant."""
        rows = [(*shot, query) for query, shots in self._shots.items() for shot in sorted(shots)]
        name = '<unjudged>'
        empty = Table.empty(REFERENCE, Provenance(name))
        table = from_rows(rows, REFERENCE, name=name) if rows else empty
        return Reference(table, self._counts_again)

    def bounds_of(self, run: PreparedRun, tops: Sequence[Top], reference: Reference) -> BoundsOfRun:
        """Return the bounds of a run; `reference` is that of this pool."""
        criteria = run.criteria
        ranking = run.ranking
        relevance = Relevance(reference, ranking.shots)
        n_returned = run.scorer.n_ranked(ranking)
        K = depths(criteria.K)
        by_query = []
        for query, top in zip(self._queries, tops, strict=True):
            ranked = ranking.shot_at[top.places]
            ranks: defaultdict[int, list[int]] = defaultdict(list)
            for at in relevance.hits(query, ranked).tolist():
                ranks[ranked[at]].append(at + 1)
            unjudged = [np.array(each) for each in ranks.values()]
            n_relevant = criteria.reference.n_relevant(query)
            fixed = n_relevant, n_returned, K, criteria.definition
            by_query.append(
                bounds_by_number(top.hits + 1, unjudged, len(self._shots[query]), *fixed)
            )
        sizes = np.array([len(each.low) for each in by_query])
        low, high = (np.concatenate([each[side] for each in by_query]) for side in (0, 1))
        n_wider = sum(not each.is_exact.all() for each in by_query)
        return BoundsOfRun(low, high, sizes.cumsum() - sizes, n_wider)

    def described(self, name: str, bounds: BoundsOfRun, metrics: Sequence[str]) -> Bounds:
        """Return the bounds of a run, by the names of its means."""
        extremes = (
            np.minimum.reduceat(bounds.low, bounds.begins),
            np.maximum.reduceat(bounds.high, bounds.begins),
        )
        low, high = (
            dict(zip(metrics, mean_average_precision(each).tolist(), strict=True))
            for each in extremes
        )
        return Bounds(low, high, self._judged[name], self._brought[name], bounds.n_wider)


def certain_orders(runs: Sequence[str], bounds: Mapping[str, BoundsOfRun]) -> list[CertainOrder]:
    """Return the pairs of runs, best first, whose order at the last cutoff cannot turn."""
    found = []
    for better, worse in combinations(runs, 2):
        margin = bounds[better].least_lead(bounds[worse])
        if margin > LEAST_MARGIN:
            found.append(CertainOrder(better, worse, margin))
    return found
