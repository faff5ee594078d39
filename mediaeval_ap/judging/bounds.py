"""The unjudged shots of a pool, and bounds of average precision over their labels.

For one query, let R shots be relevant and u shots of the pool be unjudged. If m of these, from 0 to
u, turn out relevant, then R + m are. Depth and denominator are the same for all labels with the
same m, so only the sum of precisions differs: Σ j / r_j over the ranks r_1 < r_2 < … of hits. It
never falls when a hit moves to an earlier rank, or when a hit is added. So the greatest value takes
the m shots that stand earliest; the least takes shots outside the ranking first, then the latest.

A ranking of five shots with R = 1; a, c and x are unjudged, and only another run returned x::

    rank    1  2  3  4  5  none
    shot    a  b  c  d  e  x
    label   ?  1  ?  0  0  ?

    m       greatest AP, with these hits       least AP, with these hits
    0       (1/2) / 1 = .5              b      (1/2) / 1 = .5             b
    1       (1/1 + 2/2) / 2 = 1         a b    (1/2) / 2 = .25            b (x)
    2       (1/1 + 2/2 + 3/3) / 3 = 1   a b c  (1/2 + 2/3) / 3 = .39      b c (x)
    3       (1/1 + 2/2 + 3/3) / 4 = .75        the same

Where a definition counts a shot again, the m shots with the most hits down to one rank may not be
those down to another. Bounds then come from a ranking that has, down to each rank, the most or the
fewest hits of any m shots (see `_earliest_and_latest`). They hold, but may be wider than needed.
Where a definition also divides by hits (H), the bounds are 0 and `Definition.upper_bound`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats
from mediaeval_ap.definitions import Cutoff, Definition, ap_column, depths
from mediaeval_ap.evaluation.listing import NONE, Listing
from mediaeval_ap.evaluation.prepared_run import PreparedRun
from mediaeval_ap.evaluation.relevance import Reference, Relevance
from mediaeval_ap.metrics.ap_of_hits import RankedHits
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.results.evaluation import judged_column
from mediaeval_ap.results.rounding import OWN_ROUNDING, exact_mean, mean, mean_average_precision
from mediaeval_ap.tables import REFERENCE, Table
from mediaeval_ap.tables.layouts import SHOT_FIELDS

Ranks: TypeAlias = NDArray[np.int64]  # from 1, ascending
ShotIds: TypeAlias = tuple[str, ...]  # corpus, video and shot
IsHit: TypeAlias = NDArray[np.bool_]  # by m (rows) and rank (columns)

MOST_RANKS_AT_ONCE = 1 << 24  # of the rankings in one array


@dataclass(frozen=True)
class Bounds:
    """The bounds of one run over all labels of the unjudged shots of the pool.

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
        Number of queries whose bounds may be wider than needed, at some cutoff.
    """

    low: dict[str, float]
    high: dict[str, float]
    judged: dict[str, float | None]
    n_unjudged: int
    n_wider: int


@dataclass(frozen=True)
class CertainOrder:
    """Two runs whose order is the same for all labels of the unjudged shots of the pool.

    Parameters
    ----------
    better, worse : str
        The runs.
    margin : float
        A lower bound on the lead of the better run in MAP at the last cutoff, over all labels.
    """

    better: str
    worse: str
    margin: float


class BoundsByNumber(NamedTuple):
    """Bounds for each number of unjudged shots made relevant (rows) and each cutoff (columns)."""

    low: Floats
    high: Floats
    is_exact: NDArray[np.bool_]  # for each cutoff; elsewhere they may be wider than needed


class OpenRanking(NamedTuple):
    """The ranking of one query with shots that are not judged; ranks ascend from 1."""

    hits: Ranks  # judged ones
    unjudged: Sequence[Ranks]  # of each unjudged shot, where it would be a hit
    n_unjudged: int  # in the pool, also outside the ranking
    n_relevant: int  # R without these
    n_returned: int

    def down_to(self, k: int) -> OpenRanking:
        unjudged = [ranks[ranks <= k] for ranks in self.unjudged]
        return self._replace(hits=self.hits[self.hits <= k], unjudged=unjudged)


def bounds_by_number(
    ranking: OpenRanking, K: Sequence[int], definition: Definition
) -> BoundsByNumber:
    """Return the bounds of one query in one ranking, for 0 to `n_unjudged` shots made relevant.

    The example of the module, a and c at ranks 1 and 3, b at 2, and x outside the ranking:

    >>> from mediaeval_ap import definitions
    >>> a_and_c = [np.array([1]), np.array([3])]
    >>> ranking = OpenRanking(np.array([2]), a_and_c, n_unjudged=3, n_relevant=1, n_returned=5)
    >>> bounds = bounds_by_number(ranking, [10], definitions.get('trec'))
    >>> bounds.low.ravel().round(2).tolist(), bounds.high.ravel().round(2).tolist()
    ([0.5, 0.25, 0.39, 0.75], [0.5, 1.0, 1.0, 0.75])
    """
    ranking = ranking.down_to(max(K))
    divides_by_hits = 'H' in definition.denominator
    is_exact = np.array([_is_exact(ranking.unjudged, k, definition) for k in K])
    if divides_by_hits and not is_exact.all():
        N = ranking.n_returned
        numbers = range(ranking.n_relevant, ranking.n_relevant + ranking.n_unjudged + 1)
        high = np.array([[definition.upper_bound(k, R, N) for k in K] for R in numbers])
        return BoundsByNumber(np.zeros(high.shape), high, np.zeros(len(K), dtype=np.bool_))
    # A denominator of hits differs by cutoff, and with it the best choice of shots.
    groups = [[k] for k in K] if divides_by_hits else [list(K)]
    parts = [_bounds_at_cutoffs(ranking, cutoffs, definition) for cutoffs in groups]
    low, high = map(np.hstack, zip(*parts, strict=True))
    return BoundsByNumber(low, high, is_exact)


def _is_exact(unjudged: Sequence[Ranks], k: int, definition: Definition) -> bool:
    """Return True if each shot counts once at a cutoff: one choice of m shots is then the best."""
    if 'k' in definition.depth:
        return all(np.count_nonzero(ranks <= k) <= 1 for ranks in unjudged)
    return 'H' not in definition.denominator and all(len(ranks) <= 1 for ranks in unjudged)


def _bounds_at_cutoffs(
    ranking: OpenRanking, K: list[int], definition: Definition
) -> tuple[Floats, Floats]:
    """Return the least and the greatest value for each number of shots (rows) and cutoff."""
    if 'k' in definition.depth:
        ranking = ranking.down_to(max(K))
    n_unjudged = ranking.n_unjudged
    in_ranking = (ranks for ranks in ranking.unjudged if len(ranks))
    inside = sorted(in_ranking, key=lambda ranks: int(ranks[0]))
    n_inside = len(inside)
    n_outside = n_unjudged - len(inside)
    # Of m relevant shots, the best choice has `n_best` in the ranking, and the worst `n_worst`.
    if 'H' in definition.denominator:  # a hit enlarges it, so every split of m has to be tried
        n_best = n_worst = np.arange(n_inside + 1).repeat(n_outside + 1)
        m = n_best + np.tile(np.arange(n_outside + 1), n_inside + 1)
    else:  # a hit more in the ranking never lowers the value
        m = np.arange(n_unjudged + 1)
        n_best = np.minimum(m, n_inside)
        n_worst = np.maximum(m - n_outside, 0)
    open_ranks, earliest, latest = _earliest_and_latest(inside)
    unsorted_ranks = np.concatenate([open_ranks, ranking.hits])
    order = unsorted_ranks.argsort()
    ranks = unsorted_ranks[order]
    high, low = (np.full((n_unjudged + 1, len(K)), limit) for limit in (-np.inf, np.inf))
    step = max(1, MOST_RANKS_AT_ONCE // max(1, len(order)))
    for begin in range(0, len(m), step):
        block = slice(begin, begin + step)
        for bound, is_chosen, extreme in (
            (high, earliest[n_best[block]], np.maximum),
            (low, latest[n_worst[block]], np.minimum),
        ):
            is_hit = np.ones((len(is_chosen), len(order)), dtype=np.bool_)
            is_hit[:, : len(open_ranks)] = is_chosen
            rankings, columns = is_hit[:, order].nonzero()
            n_relevant = ranking.n_relevant + m[block]
            hits = RankedHits(rankings, ranks[columns], n_relevant, ranking.n_returned)
            extreme.at(bound, m[block], hits.ap(K, definition))
    return low, high


def _earliest_and_latest(shots: Sequence[Ranks]) -> tuple[Ranks, IsHit, IsHit]:
    """Return all ranks and, for each m, hits as early and as late as any m shots have them.

    Down to each rank there are the most hits, or the fewest, that any m shots have down to it.
    Three names that are equally near to the query tie, and return three shots::

        rank                   1     2     3     4     5
        name                   Ann   Ann   Anna  Anna  Anne
        shot                   a     b     b     c     a

        hits of a so far       1     1     1     1     2
        hits of b so far       0     1     2     2     2
        hits of c so far       0     0     0     1     1

        the most, m = 1        1     1     2     2     2     earliest: hits at ranks 1 and 3
        the fewest, m = 1      0     0     0     1     1     latest: a hit at rank 4

    No single shot has hits at ranks 1 and 3, so a bound from these may be wider than needed.

    >>> shots = [np.array([1, 5]), np.array([2, 3]), np.array([4])]
    >>> ranks, earliest, latest = _earliest_and_latest(shots)
    >>> ranks[earliest[1]].tolist(), ranks[latest[1]].tolist()
    ([1, 3], [4])
    """
    n = len(shots)
    ranks = np.concatenate([*shots, np.empty(0, dtype=np.int64)])
    if len(ranks) == n:
        earliest = np.tri(n + 1, n, -1, dtype=np.bool_)
        return ranks, earliest, earliest[:, ::-1]
    order = ranks.argsort()
    owners = np.repeat(np.arange(n), list(map(len, shots)))[order]
    # One shot stands at each rank, so sums over m shots grow by 0 or 1: each describes a ranking.
    is_owner = np.zeros((n, len(owners)), dtype=np.int64)
    is_owner[owners, np.arange(len(owners))] = 1
    hits_so_far = np.sort(is_owner.cumsum(axis=1), axis=0)  # at each rank, ascending
    sums = np.zeros((2, n + 1, len(owners) + 1), dtype=np.int64)
    sums[0, 1:, 1:] = hits_so_far[::-1].cumsum(axis=0)
    sums[1, 1:, 1:] = hits_so_far.cumsum(axis=0)
    earliest, latest = np.diff(sums) > 0
    return ranks[order], earliest, latest


def shot_texts(shots: Shots, numbers: NDArray[np.integer]) -> list[ShotIds]:
    """Return corpus, video and shot of each shot, by its number."""
    ids = shots.ids_of(numbers)
    return list(zip(*(ids[field] for field in SHOT_FIELDS), strict=True))


class PooledHits(NamedTuple):
    """The hits and unjudged shots of one ranking, down to the last cutoff; ranks are from 1."""

    n_ranked: int  # N of the definitions
    ranks: NDArray[np.int64]
    shots: NDArray[np.integer]
    unjudged_ranks: NDArray[np.int64]  # empty without judgements, as the next two
    unjudged_shots: NDArray[np.integer]
    judged_shares: Floats
    relevant: list[ShotIds]  # shots that enter the pool
    pooled: dict[ShotIds, bool]  # with judgements, all shots that enter it: True if judged


class RankedRun:
    """The hits and unjudged shots of a run, which reads a listing of each query."""

    def __init__(self, run: PreparedRun, depth: int, near: float) -> None:
        self.run = run
        self.hits_by_query: dict[str, PooledHits] = {}
        self._depth = depth
        self._near = near
        self._cutoffs = depths(run.criteria.K)

    def read(self, listing: Listing) -> None:
        """Keep the hits of a listing, and the shots that enter the pool."""
        run_shots = self.run.ranking.shots
        judged = self.run.lister.judged
        shots = listing.shots
        positions = listing.near_positions(self._depth, self._near)
        hits = listing.hits[listing.hits < max(self._cutoffs)]
        relevant = shot_texts(run_shots, shots[np.intersect1d(positions, listing.hits)])
        unjudged = NONE
        shares = np.empty(0)
        pooled = {}
        if judged is not None:
            mask = judged.mask(listing.query)
            unjudged = np.flatnonzero(~mask[shots[: max(self._cutoffs)]])
            shares = self.run.lister.share_judged(listing, self._cutoffs)
            numbers = np.unique(shots[positions])
            pooled = dict(zip(shot_texts(run_shots, numbers), mask[numbers].tolist(), strict=True))
        self.hits_by_query[listing.query] = PooledHits(
            n_ranked=listing.n_ranked,
            ranks=hits + 1,
            shots=shots[hits],
            unjudged_ranks=unjudged + 1,
            unjudged_shots=shots[unjudged],
            judged_shares=shares,
            relevant=relevant,
            pooled=pooled,
        )


class UnjudgedPool:
    """The shots that some run returned for a query and that are not judged for it."""

    def __init__(
        self, queries: Sequence[str], runs: Collection[RankedRun], counts_again: bool
    ) -> None:
        self._queries = queries
        pooled: dict[str, dict[ShotIds, bool]] = {query: {} for query in queries}
        for run, query in product(runs, pooled):
            pooled[query] |= run.hits_by_query[query].pooled
        self._unjudged = {
            query: sorted(ids for ids, is_judged in shots.items() if not is_judged)
            for query, shots in pooled.items()
        }
        self.counts = {  # pairs of a query and a shot
            'pool': sum(map(len, pooled.values())),
            'unjudged': sum(map(len, self._unjudged.values())),
        }
        sizes = np.array([len(shots) + 1 for shots in self._unjudged.values()])
        self._starts = sizes.cumsum() - sizes  # the first row of each query in bounds of a run
        # A reference of all unjudged pairs, as if each were relevant.
        rows = [(*shot, query) for query, shots in self._unjudged.items() for shot in shots]
        self._reference = Reference(Table.of_texts(rows, REFERENCE, '<unjudged>'), counts_again)

    def bounds_of(self, run: RankedRun) -> BoundsByNumber:
        """Return the bounds of a run: the rows of all queries, and a row of `is_exact` for each."""
        criteria = run.run.criteria
        relevance = Relevance(self._reference, run.run.ranking.shots)
        by_query = []
        for query in self._queries:
            hits = run.hits_by_query[query]
            ranks_by_shot: defaultdict[int, list[int]] = defaultdict(list)
            for position in relevance.hits(query, hits.unjudged_shots).tolist():
                rank = int(hits.unjudged_ranks[position])
                ranks_by_shot[int(hits.unjudged_shots[position])].append(rank)
            ranking = OpenRanking(
                hits.ranks,
                [np.array(ranks) for ranks in ranks_by_shot.values()],
                n_unjudged=len(self._unjudged[query]),
                n_relevant=criteria.reference.n_relevant(query),
                n_returned=hits.n_ranked,
            )
            by_query.append(bounds_by_number(ranking, depths(criteria.K), criteria.definition))
        return BoundsByNumber(*map(np.vstack, zip(*by_query, strict=True)))

    def summary(self, run: RankedRun, bounds: BoundsByNumber) -> Bounds:
        """Return the bounds of the means of a run."""
        K = run.run.criteria.K
        hits_of_queries = [run.hits_by_query[query] for query in self._queries]
        shares = np.array([hits.judged_shares for hits in hits_of_queries]).T
        columns = zip(map(judged_column, K), shares, strict=True)
        judged = {column: mean(share[~np.isnan(share)]) for column, share in columns}
        n_unjudged = sum(list(hits.pooled.values()).count(False) for hits in hits_of_queries)
        low = map_by_metric(np.minimum.reduceat(bounds.low, self._starts), K)
        high = map_by_metric(np.maximum.reduceat(bounds.high, self._starts), K)
        n_wider = int(np.count_nonzero(~bounds.is_exact.all(axis=1)))
        return Bounds(low, high, judged, n_unjudged, n_wider=n_wider)

    def certain_orders(self, bounds: Mapping[str, BoundsByNumber]) -> list[CertainOrder]:
        """Return the pairs of runs, best first, whose order at the last cutoff cannot turn."""
        certain = []
        for better, worse in combinations(bounds, 2):
            # Both runs need only have the same number of relevant shots, not the same shots, so the
            # true least lead may be larger.
            leads = bounds[better].low[:, -1] - bounds[worse].high[:, -1]
            margin = exact_mean(np.minimum.reduceat(leads, self._starts))
            if margin > OWN_ROUNDING:
                certain.append(CertainOrder(better, worse, margin))
        return certain


def map_by_metric(ap: Floats, K: Sequence[Cutoff]) -> dict[str, float]:
    """Return MAP at each cutoff, by its name, from average precision of queries and cutoffs."""
    metrics = [f'M{ap_column(k)}' for k in K]
    return dict(zip(metrics, mean_average_precision(ap).tolist(), strict=True))
