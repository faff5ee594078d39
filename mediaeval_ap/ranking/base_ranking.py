"""The search for the hypotheses nearest to a query, shared by frozen, stored and live rankings.

Words of the rankings:

- query: a name to search for; its distance to a name of the run is a normalized edit distance.
- tie block: names equally far from a query, with their hypotheses.
- place: the index of a hypothesis in the order of ties, by which each tie block of each query is
  sorted (`tie_breaking.TieKeys`). A live ranking has no places, as each insertion would move them.
- position: the index of a hypothesis when they are grouped by name, best first within each name.
- rank: the index of a hypothesis, from 1, in the answer to one query.
- depth: the number of first ranks that are needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences, ranges
from mediaeval_ap.ranking.edit_distances import Distances, DistinctNames
from mediaeval_ap.tables import Provenance

# Names to search for first, as a multiple of the number that holds enough hypotheses on average. At
# depth 1000, 1 and 4 take 10 % longer.
GUESS = 2
GROWTH = 4  # factor after a guess that was too low; 2 and 8 take as long


class NearestNames(NamedTuple):
    """The names nearest to a query, by distance."""

    names: NDArray[np.int64]
    blocks: NDArray[np.int64]  # the tie block of each, from 0
    counts: NDArray[np.int64]  # how many of its first hypotheses are needed


class BaseRanking(ABC):
    """Hypotheses, grouped by name, to rank for any query: by distance, then `TieKeys`."""

    names: DistinctNames
    shot_at: NDArray[np.integer]  # the shot of each hypothesis, by place, or by position if live
    n_shots: int  # distinct ones
    source: Provenance
    name_counts: NDArray[np.int64]  # the number of hypotheses of each name
    _starts: NDArray[np.int64]  # the position of the first hypothesis of each name

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of hypotheses."""

    def for_query(self, query: str) -> BaseRanking:
        """Return the hypotheses that answer a query: all; for topics of TREC, its own alone."""
        return self

    @abstractmethod
    def condensed(self, is_kept: NDArray[np.bool_]) -> BaseRanking:
        """Return the ranking without some shots; `is_kept` is a mask of the shots to keep."""

    @abstractmethod
    def _first_hypotheses(self, nearest: NearestNames, depth: int) -> NDArray[np.int64]:
        """Return the first `depth` hypotheses of some names, as indices of `shot_at`."""

    @abstractmethod
    def _counts_in_last_block(self, names: NDArray[np.int64], n_needed: int) -> NDArray[np.int64]:
        """Return how many hypotheses to take from each of more than `n_needed` tied names."""

    def n_ranked(self, *, distinct: bool) -> int:
        """Return the number of hypotheses, or of shots: N in the definitions."""
        return self.n_shots if distinct else len(self)

    def top(self, distances: Distances, depth: int, *, distinct: bool = False) -> NDArray[np.int64]:
        """Return the first hypotheses, or the first about each shot, as indices of `shot_at`."""
        n_needed = depth
        while True:
            n_ranked = min(n_needed, len(self))
            if not n_ranked:
                return np.empty(0, dtype=np.int64)
            ranked = self._first_hypotheses(self._nearest(distances, n_ranked), n_ranked)
            if not distinct:
                return ranked
            first = first_occurrences(self.shot_at[ranked])
            if len(first) >= depth or n_ranked == len(self):
                return ranked[first[:depth]]
            n_needed *= 2  # all earlier attempts together cost no more than the next one

    def _positions(self, nearest: NearestNames) -> NDArray[np.int64]:
        return ranges(self._starts[nearest.names], nearest.counts)

    def _nearest(self, distances: Distances, depth: int) -> NearestNames:
        """Select the names whose hypotheses can be among the first `depth` of a query.

        For the query `anna` and depth 4, the names of a run are, in order of distance:

            name    distance   hypotheses   their places   block   count
            anna       0           2           3 8           0       2
            anne       1/4         5           7 9 …       ┌ 1       0
            anni       1/4         3           0 2 6       │ 1       2
            enna       1/4         2           4 5         └ 1       1
            otto       1           9                       not needed

        `anna` has 2 hypotheses, so 2 more are needed, both from the next block. It has 3 names,
        more than 2, and their first hypotheses are at the places 7, 0 and 4. The first ones of
        `anni` and `enna` are already two, so nothing behind place 4 is needed. That leaves the
        places 0 and 2 of `anni`, 4 of `enna`, and none of `anne`. The caller sorts these 2 + 2 + 1
        hypotheses by block and place, and takes the first 4. From a last block of 1 or 2 names it
        would take up to 4 hypotheses of each.
        """
        # Sort only a few names: a first guess, and more if these hold too few hypotheses.
        n_guessed = GUESS * depth * len(self.names) // len(self) + 1
        while True:
            names = distances.nearest(n_guessed)
            near = distances[names]
            order = near.argsort()
            names = names[order]
            near = near[order]
            n_up_to = self.name_counts[names].cumsum()
            if n_up_to[-1] >= depth:
                break
            n_guessed *= GROWTH
        farthest = near[n_up_to.searchsorted(depth)]
        begin = near.searchsorted(farthest)
        end = near.searchsorted(farthest, side='right')
        names = names[:end]
        near = near[:end]
        # Equal distances are equal doubles, so tie blocks can be numbered from them.
        blocks = np.zeros(end, dtype=np.int64)
        (near[1:] != near[:-1]).cumsum(out=blocks[1:])
        counts = np.minimum(self.name_counts[names], depth)
        n_needed = depth - int(n_up_to[begin - 1] if begin else 0)
        if end - begin > n_needed:
            counts[begin:] = self._counts_in_last_block(names[begin:], n_needed)
        return NearestNames(names, blocks, counts)
