"""A run that does not change, indexed once so that it can be ranked for any query.

A hypothesis gets its *place* in the order of ties once. For a query, the hypotheses of the nearest
names are sorted by one integer each: tie block and place.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import (
    descending_ordinals,
    first_above,
    order_of_narrow,
    ranges,
)
from mediaeval_ap.errors import ParameterError, printable
from mediaeval_ap.progress import Bar
from mediaeval_ap.ranking.base_ranking import BaseRanking
from mediaeval_ap.ranking.edit_distances import Distances, NamesByLength
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.ranking.tie_breaking import Places, TieKeys, in_order, places, temporal_ranks
from mediaeval_ap.tables import HYPOTHESIS, Provenance, Table
from mediaeval_ap.tables.table import texts_at

if TYPE_CHECKING:
    import pandas

PLACE_BITS = 32  # as places are int32; 31 are left for the tie block
PLACE_MASK = (1 << PLACE_BITS) - 1
MOST_HYPOTHESES = 2**31 - 1  # that int32 counts
FEW_TIED = 1 << 14  # hypotheses of one confidence that are looked at sooner than bisected by name


class Ranking(BaseRanking):
    """The hypotheses of a run, ready to be ranked for any query."""

    names: NamesByLength
    shot_at: NDArray[np.int32]  # the number of the shot at each place
    name_at: NDArray[np.int32]  # the number of the name, in order of length
    temporal_rank_at: NDArray[np.int32]
    places: NDArray[np.int32]  # of the hypotheses of each name, best first, name by name
    n_repeated: int  # hypotheses that repeat another one exactly

    def __init__(self, table: Table) -> None:
        if len(table) > MOST_HYPOTHESES:
            reason = f'{printable(table.source.name)}: found {len(table):,} hypotheses'
            raise ParameterError(f'{reason}, expected at most {MOST_HYPOTHESES:,}')
        with Bar('indexing', 4, ' steps') as bar:
            shots = Shots.of(table)
            bar.add()
            name = table['person_name'].sorted()
            confidence = descending_ordinals(table.confidence)
            bar.add()
            at = places(name.codes, confidence, shots)
            bar.add()
            names, numbers = NamesByLength.sorting(name.values)
            at = at._replace(name=numbers[at.name])
            held = np.bincount(at.name, minlength=len(names))
            places_by_name = order_of_narrow(at.name).astype(np.int32)
            bar.add()
        self._table = table
        self._set(table.source, shots, names, at, places_by_name, held)

    def _set(
        self,
        source: Provenance,
        shots: Shots,
        names: NamesByLength,
        at: Places,
        places: NDArray[np.int32],
        held: NDArray[np.int64],
    ) -> None:
        self.source = source
        self.shots = shots
        self.names = names
        self.shot_at = at.shot
        self.name_at = at.name
        self.temporal_rank_at = at.temporal_rank
        self.n_repeated = at.n_repeated
        self._hold(len(shots), places, held)

    def _hold(self, n_shots: int, places: NDArray[np.int32], held: NDArray[np.int64]) -> None:
        self.n_shots = n_shots
        self.places = places
        self.held = held
        self._starts = held.cumsum() - held

    def __len__(self) -> int:
        return len(self.shot_at)

    @property
    def table(self) -> Table:
        """The hypotheses, in any order."""
        return self._table

    def to_frame(self) -> pandas.DataFrame:
        """Return all hypotheses as a DataFrame, which can be read as a run; repeated rows stay."""
        import pandas

        table = self.table
        columns = {field: table.texts(field) for field in HYPOTHESIS.texts}
        return pandas.DataFrame({**columns, 'confidence': table.confidence})

    @property
    def texts(self) -> dict[str, Sequence[str]]:
        """The distinct texts of each field."""
        return {**self.shots.ids, 'person_name': self.names.values}

    @cached_property
    def confidence_at(self) -> NDArray[np.float64]:
        """The confidence at each place, descending."""
        return -np.sort(-self.table.confidence)  # the first key of the order

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
        ends = begins + self.held[names]
        begins = first_above(self.places, begins, ends, place)
        ends = first_above(self.places, begins, ends, end - 1)
        places = self.places[ranges(begins, ends - begins)].astype(np.int64)
        places.sort()
        return places

    def under_one_name(self, names: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the places of the hypotheses of some names, ordered as if they had one name."""
        places = self.places[ranges(self._starts[names], self.held[names])].astype(np.int64)
        one = np.zeros(len(places), dtype=np.int64)
        shot = self.shot_at[places]
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

    def condensed(self, is_kept: NDArray[np.bool_]) -> CondensedRanking:
        return CondensedRanking(self, is_kept)

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
        first = self.places.take(begins, mode='clip')
        first[self.held[names] == 0] = MOST_HYPOTHESES  # of names that lost all their hypotheses
        worst = np.partition(first, wanted - 1)[wanted - 1]
        ahead = (first <= worst).nonzero()[0]
        begins = begins[ahead]
        ends = begins + self.held[names[ahead]]
        lent = np.zeros(len(names), dtype=np.int64)
        lent[ahead] = first_above(self.places, begins, ends, int(worst)) - begins
        return lent


class CondensedRanking(Ranking):
    """A ranking without some of its shots; places stay those of the whole run."""

    def __init__(self, whole: Ranking, is_kept: NDArray[np.bool_]) -> None:
        places = whole.places[is_kept[whole.shot_at[whole.places]]]
        held = np.bincount(whole.name_at[places], minlength=len(whole.names))
        vars(self).update(vars(whole))
        self._hold(int(np.count_nonzero(is_kept)), places, held)
        self._whole = whole
        self._is_kept = is_kept

    def __len__(self) -> int:
        return len(self.places)

    @property
    def table(self) -> Table:
        return self._whole.table

    @cached_property
    def confidence_at(self) -> NDArray[np.float64]:
        return self._whole.confidence_at

    def rest_of_ties(self, place: int, distances: Distances) -> NDArray[np.int64]:
        return self._kept(self._whole.rest_of_ties(place, distances))

    def under_one_name(self, names: NDArray[np.integer]) -> NDArray[np.int64]:
        return self._kept(self._whole.under_one_name(names))

    def _kept(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        kept: NDArray[np.int64] = places[self._is_kept[self.shot_at[places]]]
        return kept
