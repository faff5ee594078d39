"""The relevant shots that a run returned for queries, under any name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import combine, ranges, run_starts
from mediaeval_ap.evaluation.relevance import Relevance
from mediaeval_ap.ranking.frozen_ranking import Ranking


class Returned(NamedTuple):
    """The hypotheses about relevant shots of some queries: by query, then by shot."""

    query: NDArray[np.int64]  # number of the query
    shot: NDArray[np.int64]
    place: NDArray[np.int64]  # of the ranking
    name: NDArray[np.int32]
    distance: NDArray[np.float64]  # from the query to the name, once it is known

    def of_query(self, rows: slice) -> Returned:
        """Return the rows of one query."""
        query, shot, place, name, distance = self
        return Returned(query[rows], shot[rows], place[rows], name[rows], distance[rows])


class ShotIndex:
    """Finds the hypotheses about a shot."""

    def __init__(self, ranking: Ranking) -> None:
        self.ranking = ranking
        self._places = np.argsort(ranking.shot_at, kind='stable')
        self._held = np.bincount(ranking.shot_at, minlength=ranking.n_shots)
        self._starts = np.cumsum(self._held) - self._held

    def returned(self, relevance: Relevance, queries: Sequence[str]) -> Returned:
        """Return the hypotheses about the relevant shots of queries, without distances."""
        shots = [np.unique(relevance.relevant_shots(query)) for query in queries]
        query = np.repeat(np.arange(len(shots)), list(map(len, shots)))
        shot = np.concatenate([*shots, np.empty(0, dtype=np.int64)])
        sizes = self._held[shot]
        place = self._places[ranges(self._starts[shot], sizes)]
        unknown = np.full(len(place), np.nan)
        name = self.ranking.name_at[place]
        return Returned(query.repeat(sizes), shot.repeat(sizes), place, name, unknown)


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
    kind = np.minimum.reduceat(kinds, begins) if len(begins) else kinds[:0]
    # The first hypothesis of each shot: sorted, shots begin where they began before.
    ranked = np.lexsort(
        (returned.place, returned.distance, combine([returned.query, returned.shot]))
    )
    first = ranked[begins]
    place, distance = returned.place[first], returned.distance[first]
    order = np.lexsort((place, distance, returned.query[first]))
    first = first[order]
    return ReturnedShots(
        returned.query[first], returned.shot[first], place[order], distance[order], kind[order]
    )
