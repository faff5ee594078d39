"""A run that does not change, indexed once so that it can be ranked for any query.

A hypothesis gets its *place* in the order of ties once. For a query, the hypotheses of the nearest
names are sorted by one integer each: tie block and place.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import descending_ordinals, first_above, ranges
from mediaeval_ap.errors import ParameterError, printable
from mediaeval_ap.progress import Bar
from mediaeval_ap.ranking.edit_distances import Distances, NamesByLength
from mediaeval_ap.ranking.nearest_names import NearestFirst
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.ranking.tie_breaking import (
    NumberedHypotheses,
    SortedRows,
    TieKeys,
    by_name,
    in_order,
    places,
    sorted_rows,
    temporal_ranks,
)
from mediaeval_ap.tables import Source, Table
from mediaeval_ap.tables.table import texts_at

PLACE_BITS = 32  # as places are int32; 31 are left for the tie block
PLACE_MASK = (1 << PLACE_BITS) - 1
MOST_HYPOTHESES = 2**31 - 1  # that int32 counts
FEW_TIED = 1 << 14  # hypotheses of one confidence that are looked at sooner than bisected by name


class RankingColumns(NamedTuple):
    """The columns that ranking needs, one value for each place or name."""

    shot_at: NDArray[np.int32]  # the number of the shot at each place
    name_at: NDArray[np.int32]  # the number of the name, in order of length
    places: NDArray[np.int32]  # of the hypotheses of each name, best first, name by name
    held: NDArray[np.int64]  # how many hypotheses each name has
    n_repeated: int  # hypotheses that repeat another one exactly


class Ranking(NearestFirst):
    """The hypotheses of a run, ready to be ranked for any query."""

    names: NamesByLength

    def __init__(self, table: Table) -> None:
        if len(table) > MOST_HYPOTHESES:
            found = f'{printable(table.source.name)}: found {len(table):,} hypotheses'
            raise ParameterError(f'{found}, expected at most {MOST_HYPOTHESES:,}')
        with Bar('indexing', 4, ' steps') as bar:
            shots = Shots(table)
            bar.add()
            name = table['person_name'].sorted()
            hypotheses = NumberedHypotheses(
                name.codes, descending_ordinals(table.confidence), shots
            )
            bar.add()
            shot_at, name_at, n_repeated = places(hypotheses)
            bar.add()
            names, numbers = by_length(name.values)
            name_at = numbers[name_at]
            held = np.bincount(name_at, minlength=len(names))
            columns = RankingColumns(shot_at, name_at, by_name(name_at), held, n_repeated)
            bar.add()
        self._table = table
        self._set(table.source, shots, names, columns)

    def _set(
        self, source: Source, shots: Shots, names: NamesByLength, columns: RankingColumns
    ) -> None:
        self.source = source
        self.shots = shots
        self.n_shots = len(shots)
        self.names = names
        self.columns = columns
        self.shot_at = columns.shot_at
        self.name_at = columns.name_at
        self.places = columns.places
        self.n_repeated = columns.n_repeated
        self._held = columns.held
        self._starts = columns.held.cumsum() - columns.held

    def __len__(self) -> int:
        return len(self.shot_at)

    @property
    def table(self) -> Table:
        """The hypotheses, in any order."""
        return self._table

    @property
    def texts(self) -> dict[str, Sequence[str]]:
        """The distinct texts of each field."""
        return {**self.shots.ids, 'person_name': self.names.values}

    def n_held(self, name: int) -> int:
        """Return the number of hypotheses of a name, by its number."""
        return int(self._held[name])

    @cached_property
    def confidence_at(self) -> NDArray[np.float64]:
        """The confidence at each place, descending."""
        return self.table.confidence[self.row_at]

    @cached_property
    def temporal_rank_at(self) -> NDArray[np.int32]:
        """The temporal rank at each place."""
        return self._sorted_rows.temporal_rank[self.row_at]

    @property
    def row_at(self) -> NDArray[np.int64]:
        """The row of the table at each place."""
        return self._sorted_rows.row_at

    @cached_property
    def _sorted_rows(self) -> SortedRows:
        name = self.table['person_name'].sorted()
        confidence = descending_ordinals(self.table.confidence)
        return sorted_rows(NumberedHypotheses(name.codes, confidence, self.shots))

    def rest_of_ties(self, place: int, distances: Distances) -> NDArray[np.int64]:
        """Return the places after a place that have its distance and confidence, ascending."""
        distance = distances[self.name_at[place : place + 1]]
        # Reversed, which copies nothing, confidences ascend.
        end = len(self) - int(self.confidence_at[::-1].searchsorted(self.confidence_at[place]))
        if end - place <= FEW_TIED:
            is_tied = distances[self.name_at[place + 1 : end]] == distance
            tied: NDArray[np.int64] = is_tied.nonzero()[0] + place + 1
            return tied
        names = (distances[:] == distance).nonzero()[0]
        begins = self._starts[names]
        ends = begins + self._held[names]
        begins = first_above(self.places, begins, ends, place)
        ends = first_above(self.places, begins, ends, end - 1)
        places = self.places[ranges(begins, ends - begins)].astype(np.int64)
        places.sort()
        return places

    def under_one_name(self, names: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the places of the hypotheses of some names, ordered as if they had one name."""
        places = self.places[ranges(self._starts[names], self._held[names])].astype(np.int64)
        one, shot = np.zeros(len(places), dtype=np.int64), self.shot_at[places]
        confidence = -self.confidence_at[places]
        times, _ = temporal_ranks(one, confidence, shot, self.shots.videos_of(shot))
        return places[in_order(*TieKeys(confidence, times, shot, one))]

    def columns_at(
        self, places: NDArray[np.int64], distances: Distances
    ) -> dict[str, list[str] | NDArray[Any]]:
        """Return the hypotheses at some places and their keys, from distances to all names."""
        names = self.name_at[places]
        return {
            **self.shots.ids_of(self.shot_at[places]),
            'person_name': texts_at(self.names.values, names),
            'distance': distances[names],
            'confidence': self.confidence_at[places],
            'temporal_rank': self.temporal_rank_at[places],
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


def by_length(values: Sequence[str]) -> tuple[NamesByLength, NDArray[np.int32]]:
    """Return names in order of their length, to be compared side by side; their new numbers."""
    order = np.array(list(map(len, values)), dtype=np.int64).argsort(kind='stable')
    numbers = np.empty(len(order), dtype=np.int32)
    numbers[order] = np.arange(len(order))
    return NamesByLength([values[number] for number in order.tolist()]), numbers
