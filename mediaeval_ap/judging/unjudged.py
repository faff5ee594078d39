"""The shots of a pool that nobody judged, and what they could change for the runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mediaeval_ap.arrays import first_occurrences
from mediaeval_ap.definitions import depths
from mediaeval_ap.evaluation.relevance import ShotsByName
from mediaeval_ap.evaluation.scoring import CountedRun, Top
from mediaeval_ap.judging.bounds import BoundsOfRun, ByNumber, bounds_by_number
from mediaeval_ap.results.evaluation import judged_column
from mediaeval_ap.results.result import mean
from mediaeval_ap.tables import REFERENCE, Source, Table
from mediaeval_ap.tables.rows import from_rows

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
