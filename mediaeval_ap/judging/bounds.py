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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences
from mediaeval_ap.definitions import Definition, depths
from mediaeval_ap.evaluation.relevance import ShotsByName
from mediaeval_ap.evaluation.scoring import CountedRun, Top
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.results.evaluation import judged_column
from mediaeval_ap.results.result import mean, mean_average_precision
from mediaeval_ap.tables import REFERENCE, Source, Table
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

    Examples
    --------
    >>> Bounds({'MAP@10': 0.25}, {'MAP@10': 0.5}, {'Judged@10': 0.9}, 1, 0).low
    {'MAP@10': 0.25}
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

    Examples
    --------
    >>> CertainOrder('a', 'b', 0.125).margin
    0.125
    """

    better: str
    worse: str
    margin: float


class ByNumber(NamedTuple):
    """Bounds for each number of unjudged shots made relevant (rows) and each cutoff (columns)."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    is_exact: NDArray[np.bool_]  # for each cutoff; elsewhere they may be wider than need be


class _Shared(NamedTuple):
    """The part of a ranking for one query that is the same for all labels."""

    known: Ranks
    n_relevant: int
    n_returned: int
    definition: Definition


class _Hits(NamedTuple):
    """Rankings with a hit or none at each of some ranks, and how many shots of the pool are hits.

    These are unjudged shots; shots that are known to be relevant are hits in all of them.
    """

    at: NDArray[np.bool_]  # shape (n_rankings, n_ranks)
    n_shots: NDArray[np.int64]


def bounds_by_number(
    known: Ranks,
    unjudged: Sequence[Ranks],
    n_unjudged: int,
    n_relevant: int,
    n_returned: int,
    K: Sequence[int],
    definition: Definition,
) -> ByNumber:
    """Return the bounds of a query in one ranking.

    Parameters
    ----------
    known : ndarray of int
        Ranks of hits, from 1, ascending.
    unjudged : sequence of ndarray of int
        For each unjudged shot of the pool that is in the ranking, the ranks at which it would be a
        hit, ascending. Ranks beyond the largest cutoff may be left out, here and of `known`.
    n_unjudged : int
        Number of unjudged shots in the pool, in the ranking or not.
    n_relevant, n_returned, K, definition
        As `average_precision_of_hits` takes them.

    Returns
    -------
    ByNumber
        Bounds for 0 to `n_unjudged` unjudged shots made relevant.

    Examples
    --------
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
    shared = _Shared(known, n_relevant, n_returned, definition)
    # Which shots are hits differs by cutoff.
    at_once = [[k] for k in K] if divides_by_hits else [list(K)]
    parts = [_at_cutoffs(shared, unjudged, n_unjudged, each) for each in at_once]
    low, high = map(np.hstack, zip(*parts, strict=True))
    return ByNumber(low, high, is_exact)


def _is_exact(unjudged: Sequence[Ranks], k: int, definition: Definition) -> bool:
    """Return whether each shot counts once at a cutoff, so that one choice of m shots is best."""
    if 'k' in definition.depth:
        return all(np.count_nonzero(ranks <= k) <= 1 for ranks in unjudged)
    return 'H' not in definition.denominator and all(len(ranks) <= 1 for ranks in unjudged)


def _at_cutoffs(
    shared: _Shared, unjudged: Sequence[Ranks], n_unjudged: int, K: list[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    known, _, _, definition = shared
    if 'k' in definition.depth:
        known, *unjudged = (ranks[ranks <= max(K)] for ranks in (known, *unjudged))
    inside = sorted((ranks for ranks in unjudged if len(ranks)), key=lambda ranks: int(ranks[0]))
    n_outside = n_unjudged - len(inside)
    ranks = np.concatenate([*inside, np.empty(0, dtype=np.int64)])
    if len(ranks) == len(inside):
        first = np.tri(len(inside) + 1, len(inside), -1, dtype=np.bool_)
        best = _Hits(first, np.arange(len(inside) + 1))
        worst = _Hits(~first, len(inside) - best.n_shots)
    else:
        order = ranks.argsort()
        owners = np.repeat(np.arange(len(inside)), list(map(len, inside)))
        best, worst = _outer(owners[order], len(inside))
        ranks = ranks[order]
    if 'H' in definition.denominator:
        best, worst = (_with_any_outside(each, n_outside) for each in (best, worst))
    else:  # a shot of the ranking is never worse to have than one outside
        best = _with_outside_last(best, n_outside)
        worst = _with_outside_first(worst, n_outside)
    both = _Hits(*(np.concatenate(pair) for pair in zip(best, worst, strict=True)))
    values = _average_precision(both, ranks, shared._replace(known=known), K)
    high, low = (np.full((n_unjudged + 1, len(K)), each) for each in (-np.inf, np.inf))
    n_best = len(best.n_shots)
    np.maximum.at(high, best.n_shots, values[:n_best])
    np.minimum.at(low, worst.n_shots, values[n_best:])
    return low, high


def _outer(owners: NDArray[np.int64], n_shots: int) -> tuple[_Hits, _Hits]:
    """Return hits at least as early, and at least as late, as those of any choice.

    Down to each rank there are as many hits as the m shots have that stand most often so far, or
    least often. No choice has more or fewer down to any rank, but these may be other shots at each.
    """
    # One shot stands at each rank, so the sums over m shots grow by 1 at most: each is a ranking.
    stands = np.zeros((n_shots, len(owners)), dtype=np.int64)
    stands[owners, np.arange(len(owners))] = 1
    ascending = np.sort(stands.cumsum(axis=1), axis=0)
    at = []
    for ordered in ascending[::-1], ascending:
        sums = np.zeros((n_shots + 1, len(owners) + 1), dtype=np.int64)
        ordered.cumsum(axis=0, out=sums[1:, 1:])
        at.append(np.diff(sums) > 0)
    best, worst = (_Hits(each, np.arange(n_shots + 1)) for each in at)
    return best, worst


def _with_outside_last(hits: _Hits, n_outside: int) -> _Hits:
    """Add rankings where all shots inside are relevant, and some of those outside."""
    n_inside = int(hits.n_shots.max())
    full = np.ones((n_outside, hits.at.shape[1]), dtype=np.bool_)
    n_shots = n_inside + np.arange(1, n_outside + 1)
    return _Hits(np.concatenate([hits.at, full]), np.concatenate([hits.n_shots, n_shots]))


def _with_outside_first(hits: _Hits, n_outside: int) -> _Hits:
    """Let all shots outside be relevant, and add rankings where only some of these are."""
    empty = np.zeros((n_outside, hits.at.shape[1]), dtype=np.bool_)
    n_shots = np.concatenate([np.arange(n_outside), hits.n_shots + n_outside])
    return _Hits(np.concatenate([empty, hits.at]), n_shots)


def _with_any_outside(hits: _Hits, n_outside: int) -> _Hits:
    """Let each number of shots outside be relevant in each ranking."""
    times = n_outside + 1
    n_shots = hits.n_shots.repeat(times) + np.tile(np.arange(times), len(hits.n_shots))
    return _Hits(hits.at.repeat(times, axis=0), n_shots)


def _average_precision(
    hits: _Hits, ranks: Ranks, shared: _Shared, K: list[int]
) -> NDArray[np.float64]:
    """Return the values of rankings, which all have the known hits, too."""
    known, n_relevant, n_returned, definition = shared
    order = np.concatenate([ranks, known]).argsort()
    all_ranks = np.concatenate([ranks, known])[order]
    values = []
    step = max(1, AT_ONCE // max(1, len(order)))
    for begin in range(0, len(hits.n_shots), step):
        at = hits.at[begin : begin + step]
        is_hit = np.ones((len(at), len(order)), dtype=np.bool_)
        is_hit[:, : len(ranks)] = at
        rankings, which = is_hit[:, order].nonzero()
        R = n_relevant + hits.n_shots[begin : begin + step]
        found = all_ranks[which]
        values.append(average_precision_of_hits(rankings, found, R, n_returned, K, definition))
    return np.concatenate(values)


@dataclass(frozen=True, eq=False)
class BoundsOfRun:
    """Bounds of all queries about one run, of each number of unjudged shots made relevant."""

    low: NDArray[np.float64]  # shape (n_numbers of all queries together, n_cutoffs)
    high: NDArray[np.float64]
    begins: NDArray[np.int64]  # the row at which each query begins
    n_wider: int  # queries whose bounds may be wider than need be, at some cutoff

    @classmethod
    def of(cls, by_query: Sequence[ByNumber]) -> BoundsOfRun:
        sizes = np.array([len(each.low) for each in by_query])
        low, high = (np.concatenate([each[side] for each in by_query]) for side in (0, 1))
        n_wider = sum(not each.is_exact.all() for each in by_query)
        return cls(low, high, sizes.cumsum() - sizes, n_wider)

    def means(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lowest and the highest mean at each cutoff."""
        return (
            mean_average_precision(np.minimum.reduceat(self.low, self.begins)),
            mean_average_precision(np.maximum.reduceat(self.high, self.begins)),
        )

    def least_lead(self, other: BoundsOfRun) -> float:
        """Return a lower bound on this run's lead in MAP at the last cutoff, over all labels.

        Both runs have the same labels. Only the number of relevant ones is held equal for both, so
        the true least lead may be larger.
        """
        differences = self.low[:, -1] - other.high[:, -1]
        least = mean(np.minimum.reduceat(differences, self.begins))
        assert least is not None
        return least


class UnjudgedPool:
    """The shots that some run returned for a query and that are not judged for it."""

    def __init__(self, queries: Sequence[str]) -> None:
        self._queries = queries
        self._shots: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        self._all: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        self._brought: defaultdict[str, int] = defaultdict(int)
        self._judged: dict[str, dict[str, float | None]] = {}

    def add(self, name: str, run: CountedRun, tops: Sequence[Top], returned: Iterable[Top]) -> None:
        """Add a run: its rankings, and of these what counts as returned."""
        shots, judged = run.ranking.shots, run.scorer.judged
        assert judged is not None
        shares = []
        for query, top, near in zip(self._queries, tops, returned, strict=True):
            shares.append(run.scorer.share_judged(query, top.places))
            found = np.unique(run.ranking.shot_at[near.places])
            ids = list(zip(*shots.ids_of(found).values(), strict=True))
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
    def table(self) -> Table:
        """The unjudged pairs, as rows of a reference."""
        rows = [(*shot, query) for query, shots in self._shots.items() for shot in sorted(shots)]
        if not rows:
            return Table.empty(REFERENCE, Source('<unjudged>'))
        return from_rows(rows, REFERENCE, name='<unjudged>')

    def bounds_of(self, run: CountedRun, tops: Sequence[Top], table: Table) -> BoundsOfRun:
        """Return the bounds of a run; `table` is that of this pool."""
        return BoundsOfRun.of(list(self._by_query(run, tops, table)))

    def _by_query(self, run: CountedRun, tops: Sequence[Top], table: Table) -> Iterator[ByNumber]:
        criteria, ranking = run.criteria, run.ranking
        by_name = ShotsByName(table, ranking.shots)
        is_unjudged = np.zeros(len(ranking.shots), dtype=np.bool_)
        n_returned = run.scorer.n_ranked(ranking)
        K = depths(criteria.K)
        for query, top in zip(self._queries, tops, strict=True):
            unjudged = by_name.shots(query)
            ranked = ranking.shot_at[top.places]
            is_unjudged[unjudged] = True
            at = is_unjudged[ranked].nonzero()[0]
            is_unjudged[unjudged] = False
            if not criteria.definition.counts_again:
                at = at[first_occurrences(ranked[at])]
            ranks: defaultdict[int, list[int]] = defaultdict(list)
            for shot, rank in zip(ranked[at].tolist(), (at + 1).tolist(), strict=True):
                ranks[shot].append(rank)
            yield bounds_by_number(
                top.hits + 1,
                [np.array(each) for each in ranks.values()],
                len(self._shots[query]),
                criteria.reference.n_relevant(query),
                n_returned,
                K,
                criteria.definition,
            )

    def described(self, name: str, bounds: BoundsOfRun, metrics: Sequence[str]) -> Bounds:
        """Return the bounds of a run, by the names of its means."""
        low, high = (dict(zip(metrics, each.tolist(), strict=True)) for each in bounds.means())
        return Bounds(low, high, self._judged[name], self._brought[name], bounds.n_wider)


def certain_orders(runs: Sequence[str], bounds: Mapping[str, BoundsOfRun]) -> list[CertainOrder]:
    """Return the pairs of runs, best first, whose order at the last cutoff cannot turn."""
    found = []
    for better, worse in combinations(runs, 2):
        margin = bounds[better].least_lead(bounds[worse])
        if margin > LEAST_MARGIN:
            found.append(CertainOrder(better, worse, margin))
    return found
