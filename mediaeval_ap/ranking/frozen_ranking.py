"""A run that does not change, indexed once so that it can be ranked for any query.

A hypothesis gets its *place* in the order of ties once. For a query, the hypotheses of the nearest
names are sorted by one integer each: tie block and place.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import ranges
from mediaeval_ap.progress import Bar
from mediaeval_ap.ranking.edit_distances import Names
from mediaeval_ap.ranking.nearest_names import NearestFirst
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.ranking.temporal_ranks import temporal_ranks
from mediaeval_ap.ranking.tie_breaking import TieKeys, in_order
from mediaeval_ap.tables import HYPOTHESIS, Table

PLACE_BITS = 32  # more hypotheses than that fit into no memory; 31 are left for the tie block
PLACE_MASK = (1 << PLACE_BITS) - 1


class Ranking(NearestFirst):
    """The hypotheses of a run, ready to be ranked for any query."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.source = table.source
        with Bar('indexing', 4, ' steps') as bar:
            self.shots = Shots(table)
            self.n_shots = len(self.shots)
            bar.add()
            name = table['person_name'].sorted()
            self.names = Names(name.values)
            confidence = np.unique(-table.confidence, return_inverse=True)[1]
            bar.add()
            shot = self.shots.codes
            video = self.shots.videos[shot]
            self.temporal_rank, repeated = temporal_ranks(name.codes, confidence, shot, video)
            self.n_repeated = int(np.count_nonzero(repeated))
            bar.add()
            # the row of the table at each place
            self.row_at = in_order(*TieKeys(confidence, self.temporal_rank, shot, name.codes))
            bar.add()
        self.shot_at = shot[self.row_at].astype(np.int32)
        self.name_at = name.codes[self.row_at]
        # name << 32 | place, ascending: the places of each name, best first
        self._keys = np.sort(self.name_at.astype(np.int64) << PLACE_BITS | np.arange(len(self)))
        self._held = np.bincount(self.name_at, minlength=len(self.names))
        self._starts = np.cumsum(self._held) - self._held

    def __len__(self) -> int:
        return len(self.table)

    def n_held(self, name: int) -> int:
        """Return the number of hypotheses of a name, by its number."""
        return int(self._held[name])

    @cached_property
    def confidence_at(self) -> NDArray[np.float64]:
        """The confidence at each place, descending."""
        return self.table.confidence[self.row_at]

    def rest_of_ties(self, place: int, distances: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the places after a place that have its distance and confidence, ascending."""
        names = (distances == distances[self.name_at[place]]).nonzero()[0] << PLACE_BITS
        # Reversed, which copies nothing, confidences ascend.
        end = len(self) - self.confidence_at[::-1].searchsorted(self.confidence_at[place])
        begins = self._keys.searchsorted(names | place, side='right')
        ends = self._keys.searchsorted(names | end)
        places: NDArray[np.int64] = self._keys[ranges(begins, ends - begins)] & PLACE_MASK
        places.sort()
        return places

    def columns_at(
        self, places: NDArray[np.int64], distances: NDArray[np.float64]
    ) -> dict[str, list[str] | NDArray[Any]]:
        """Return the hypotheses at some places and their keys, from distances to all names."""
        rows = self.row_at[places]
        return {
            **{field: self.table.texts(field, rows) for field in HYPOTHESIS.texts},
            'distance': distances[self.name_at[places]],
            'confidence': self.table.confidence[rows],
            'temporal_rank': self.temporal_rank[rows],
        }

    def _first_of(
        self, positions: NDArray[np.int64], blocks: NDArray[np.int64], depth: int
    ) -> NDArray[np.int64]:
        keys = blocks << PLACE_BITS | (self._keys[positions] & PLACE_MASK)
        if len(keys) > depth:
            keys.partition(depth - 1)
            keys = keys[:depth]
        keys.sort()
        places: NDArray[np.int64] = keys & PLACE_MASK
        return places

    def _lent_by_tied(self, names: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
        # As many names as hypotheses are wanted give enough with their first ones alone, so nothing
        # behind the worst of these firsts is returned. That bounds a query that is equally far from
        # all names to about the cost of any other.
        begins = self._starts[names]
        first = self._keys[begins] & PLACE_MASK
        worst = np.partition(first, wanted - 1)[wanted - 1]
        ahead = (first <= worst).nonzero()[0]
        ends = self._keys.searchsorted(names[ahead] << PLACE_BITS | worst, side='right')
        lent = np.zeros(len(names), dtype=np.int64)
        lent[ahead] = ends - begins[ahead]
        return lent
