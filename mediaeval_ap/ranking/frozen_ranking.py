"""A run that does not change, indexed once so that it can be ranked for any query.

A hypothesis gets its *place* in the order of ties once. For a query, the hypotheses of the nearest
names are sorted by one integer each: tie block and place.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_above, ranges
from mediaeval_ap.progress import Bar
from mediaeval_ap.ranking.distances import Distances
from mediaeval_ap.ranking.edit_distances import NamesByLength
from mediaeval_ap.ranking.nearest_names import NearestFirst
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.ranking.temporal_ranks import temporal_ranks
from mediaeval_ap.ranking.tie_breaking import TieKeys, in_order
from mediaeval_ap.tables import HYPOTHESIS, Table

PLACE_BITS = 32  # as places are int32; 31 are left for the tie block
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
            # Numbered by length, to be compared side by side; hypotheses are ordered by text.
            by_length = sorted(range(len(name.values)), key=lambda code: len(name.values[code]))
            self.names = NamesByLength([name.values[code] for code in by_length])
            number = np.empty(len(by_length), dtype=np.int32)
            number[by_length] = np.arange(len(by_length))
            bar.add()
            self.n_repeated = int(np.count_nonzero(self._temporal_ranks[1]))
            bar.add()
            self.shot_at = self.shots.codes[self.row_at].astype(np.int32)
            self.name_at = number[name.codes[self.row_at]]
            bar.add()
        # the places of each name, best first
        self.places = self.name_at.argsort(kind='stable').astype(np.int32)
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
        return -np.sort(-self.table.confidence)

    @cached_property
    def row_at(self) -> NDArray[np.int64]:
        """The row of the table at each place."""
        return in_order(
            *TieKeys(self._confidence, self.temporal_rank, self.shots.codes, self._name)
        )

    @property
    def temporal_rank(self) -> NDArray[np.int32]:
        """The temporal rank of each row of the table."""
        return self._temporal_ranks[0]

    @cached_property
    def _temporal_ranks(self) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        shot = self.shots.codes
        return temporal_ranks(self._name, self._confidence, shot, self.shots.videos[shot])

    @cached_property
    def _confidence(self) -> NDArray[np.int64]:
        """The place of the confidence of each row, descending."""
        return np.unique(-self.table.confidence, return_inverse=True)[1]

    @cached_property
    def _name(self) -> NDArray[np.int32]:
        return self.table['person_name'].sorted().codes

    def rest_of_ties(self, place: int, distances: Distances) -> NDArray[np.int64]:
        """Return the places after a place that have its distance and confidence, ascending."""
        here = self.name_at[place : place + 1]
        names = (distances[:] == distances[here]).nonzero()[0]
        # Reversed, which copies nothing, confidences ascend.
        end = len(self) - self.confidence_at[::-1].searchsorted(self.confidence_at[place])
        begins = self._starts[names]
        ends = begins + self._held[names]
        begins = first_above(self.places, begins, ends, place)
        ends = first_above(self.places, begins, ends, int(end) - 1)
        places = self.places[ranges(begins, ends - begins)].astype(np.int64)
        places.sort()
        return places

    def columns_at(
        self, places: NDArray[np.int64], distances: Distances
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
        keys = blocks << PLACE_BITS | self.places[positions]
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
        first = self.places[begins]
        worst = np.partition(first, wanted - 1)[wanted - 1]
        ahead = (first <= worst).nonzero()[0]
        begins = begins[ahead]
        ends = begins + self._held[names[ahead]]
        lent = np.zeros(len(names), dtype=np.int64)
        lent[ahead] = first_above(self.places, begins, ends, int(worst)) - begins
        return lent
