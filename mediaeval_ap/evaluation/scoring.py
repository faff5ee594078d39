"""Average precision of queries about one run: the one path of sessions, batches, ranked lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Cutoff, Definition, Repeats, depths
from mediaeval_ap.errors import DataWarning
from mediaeval_ap.evaluation.data_warnings import above_one, scores_above_one
from mediaeval_ap.evaluation.relevance import Relevance
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.progress import tracked
from mediaeval_ap.ranking.edit_distances import Distances
from mediaeval_ap.ranking.nearest_names import NearestFirst

NO_HITS = np.empty(0, dtype=np.int64)


class Top(NamedTuple):
    """The first hypotheses for a query, best first."""

    places: NDArray[np.int64]  # of the ranking
    hits: NDArray[np.int64]  # positions among these, from 0
    distances: Distances  # of the query to the names of the run


class Scorer:
    """Scores queries about one run against one reference."""

    def __init__(
        self,
        ranking: NearestFirst,
        relevance: Relevance,
        K: Sequence[Cutoff],
        definition: Definition,
    ) -> None:
        self.ranking = ranking
        self.definition = definition
        self.relevance = relevance
        self._K = depths(K)
        self._distinct = definition.repeats is Repeats.DROP

    def check_cutoffs(self) -> None:
        """Refuse cutoffs that are larger than the run is kept for."""
        self.ranking.check_depth(max(self._K))

    def score(self, queries: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return average precision, shape (n_queries, n_cutoffs), and numbers of relevant shots."""
        self.check_cutoffs()
        # A query none of whose relevant shots is in the run has no hits: it is not ranked.
        may_hit = [len(self.relevance.relevant_shots(query)) > 0 for query in queries]
        tops = self.top(list(compress(queries, may_hit)), max(self._K))
        scored = tracked(may_hit, 'scoring', ' queries')
        hits = [next(tops).hits if may else NO_HITS for may in scored]
        n_relevant = np.array([self.relevance.reference.n_relevant(query) for query in queries])
        n_returned = self.ranking.n_shots if self._distinct else self.ranking.n_hypotheses
        rankings = np.repeat(np.arange(len(hits)), list(map(len, hits)))
        ranks = np.concatenate(hits) + 1
        ap = average_precision_of_hits(
            rankings, ranks, n_relevant, n_returned, self._K, self.definition
        )
        return ap, n_relevant

    def top(self, queries: Sequence[str], depth: int) -> Iterator[Top]:
        """Rank hypotheses for each query, down to a depth."""
        for query, distances in zip(queries, self.ranking.names.measured(queries), strict=True):
            places = self.ranking.top(distances, depth, distinct=self._distinct)
            yield Top(places, self.relevance.hits(query, self.ranking.shot_at[places]), distances)

    def warnings(self, ap: NDArray[np.float64], queries: Sequence[str]) -> list[DataWarning]:
        """Return the warning that average precision exceeds 1 for some queries, if it does."""
        above = above_one(ap, queries)
        return scores_above_one(above, self.ranking.source.name, self.definition)
