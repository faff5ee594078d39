"""A run that does not change, indexed once so that it can be ranked for any query.

A hypothesis gets its *place* in the order of ties once. For a query, the hypotheses of the nearest
names are sorted by one integer each: tie block and place. `base_ranking` explains the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import descending_ordinals, first_above, order_of_narrow_keys, ranges
from mediaeval_ap.errors import ParameterError, printable
from mediaeval_ap.progress import Bar
from mediaeval_ap.ranking.base_ranking import BaseRanking, NearestNames
from mediaeval_ap.ranking.edit_distances import Distances, NamesByLength
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.ranking.tie_breaking import (
    KeysByPlace,
    TieKeys,
    in_order,
    keys_by_place,
    temporal_ranks,
)
from mediaeval_ap.tables import HYPOTHESIS, Provenance, Table
from mediaeval_ap.tables.table import texts_at

if TYPE_CHECKING:
    import pandas

PLACE_BITS = 32  # of an int64, as places are int32; 31 are left for the tie block
PLACE_MASK = (1 << PLACE_BITS) - 1
MOST_HYPOTHESES = 2**31 - 1  # so that places are int32
MUCH = 1 / 6  # of all hypotheses: sorting all of them takes no longer than sorting these
OTHER_BLOCK = np.uint16(2**16 - 1)  # of names that are not needed
FEW_TIED = 1 << 14  # hypotheses of equal confidence; among more, bisecting each name is faster


class Ranking(BaseRanking):
    """The hypotheses of a run, ready to be ranked for any query."""

    names: NamesByLength
    shot_at: NDArray[np.int32]  # the number of the shot at each place
    name_at: NDArray[np.int32]  # the number of the name, in order of length
    temporal_rank_at: NDArray[np.int32]
    places: NDArray[np.int32]  # the place of the hypothesis at each position
    n_repeated: int  # hypotheses that equal an earlier one

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
            keys = keys_by_place(name.codes, confidence, shots)
            bar.add()
            names, numbers = NamesByLength.from_unsorted(name.values)
            keys = keys._replace(name=numbers[keys.name])
            name_counts = np.bincount(keys.name, minlength=len(names))
            places = order_of_narrow_keys(keys.name).astype(np.int32)
            bar.add()
        self._table = table
        self._set_columns(table.source, shots, names, keys)
        self._set_places(len(shots), places, name_counts)

    def _set_columns(
        self, source: Provenance, shots: Shots, names: NamesByLength, keys: KeysByPlace
    ) -> None:
        self.source = source
        self.shots = shots
        self.names = names
        self.shot_at = keys.shot
        self.name_at = keys.name
        self.temporal_rank_at = keys.temporal_rank
        self.n_repeated = keys.n_repeated

    def _set_places(
        self, n_shots: int, places: NDArray[np.int32], name_counts: NDArray[np.int64]
    ) -> None:
        self.n_shots = n_shots
        self.places = places
        self.name_counts = name_counts
        self._starts = name_counts.cumsum() - name_counts

    def __len__(self) -> int:
        return len(self.shot_at)

    @property
    def table(self) -> Table:
        """The hypotheses, in any order."""
        return self._table

    def to_frame(self) -> pandas.DataFrame:
        """Return all hypotheses, also repeated ones, as a DataFrame, which can be read as a run."""
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
        return -np.sort(-self.table.confidence)  # places are sorted by confidence first

    def later_ties(self, place: int, distances: Distances) -> NDArray[np.int64]:
        """Return the later places with the distance and confidence of a place, ascending."""
        distance = distances[self.name_at[place : place + 1]]
        # searchsorted needs ascending values: a reversed view, without a copy.
        end = len(self) - int(self.confidence_at[::-1].searchsorted(self.confidence_at[place]))
        if end - place <= FEW_TIED:
            is_tied = distances[self.name_at[place + 1 : end]] == distance
            tied_places: NDArray[np.int64] = is_tied.nonzero()[0] + place + 1
            return tied_places
        names = (distances[:] == distance).nonzero()[0]
        begins = self._starts[names]
        ends = begins + self.name_counts[names]
        begins = first_above(self.places, begins, ends, place)
        ends = first_above(self.places, begins, ends, end - 1)
        places = self.places[ranges(begins, ends - begins)].astype(np.int64)
        places.sort()
        return places

    def under_one_name(self, names: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the places of the hypotheses of some names, sorted as if all had the same name."""
        positions = ranges(self._starts[names], self.name_counts[names])
        places = self.places[positions].astype(np.int64)
        same_name = np.zeros(len(places), dtype=np.int64)
        shot = self.shot_at[places]
        confidence = -self.confidence_at[places]
        ranks, _ = temporal_ranks(same_name, confidence, shot, self.shots.videos_of(shot))
        return places[in_order(*TieKeys(confidence, ranks, shot, same_name))]

    def columns_at(
        self, places: NDArray[np.int64], distances: Distances
    ) -> dict[str, list[str] | NDArray[Any]]:
        """Return the hypotheses at some places, with distances and temporal ranks, as columns."""
        names = self.name_at[places]
        return {
            **self.shots.ids_of(self.shot_at[places]),
            'person_name': texts_at(self.names.values, names),
            'distance': distances[names],
            'confidence': self.confidence_at[places],
            'temporal_rank': self.temporal_rank_at[places],
        }

    def condensed(self, is_kept: NDArray[np.bool_]) -> CondensedRanking:
        places = self.places[is_kept[self.shot_at[self.places[:]]]]
        return CondensedRanking(self, is_kept, places)

    def _first_hypotheses(self, nearest: NearestNames, depth: int) -> NDArray[np.int64]:
        names, blocks, counts = nearest
        is_whole = len(self) == len(self.name_at)
        if is_whole and depth >= MUCH * len(self) and blocks[-1] < OTHER_BLOCK:
            # Hypotheses stand at their places, so a stable sort by block is enough; of 16 bits, it
            # takes an eighth of the time.
            block_of_name = np.full(len(self.names), OTHER_BLOCK)
            block_of_name[names] = blocks
            order = block_of_name[self.name_at[:]].argsort(kind='stable')
            return order[:depth]
        keys = blocks.repeat(counts) << PLACE_BITS | self.places[self._positions(nearest)]
        if len(keys) > depth:
            keys.partition(depth - 1)
            keys = keys[:depth]
        keys.sort()
        places: NDArray[np.int64] = keys & PLACE_MASK
        return places

    def _counts_in_last_block(self, names: NDArray[np.int64], n_needed: int) -> NDArray[np.int64]:
        # The first hypotheses of the best `n_needed` names are enough, so nothing behind the last
        # of these places is returned. Thus a query that is equally far from all names costs about
        # as much as any other.
        begins = self._starts[names]
        all_places = np.asarray(self.places)  # those of a store are checked once they are ranked
        first = all_places.take(begins, mode='clip')
        first[self.name_counts[names] == 0] = MOST_HYPOTHESES  # a condensed ranking has such names
        last = np.partition(first, n_needed - 1)[n_needed - 1]
        needed_names = (first <= last).nonzero()[0]
        begins = begins[needed_names]
        ends = begins + self.name_counts[names[needed_names]]
        counts = np.zeros(len(names), dtype=np.int64)
        counts[needed_names] = first_above(all_places, begins, ends, int(last)) - begins
        return counts


class CondensedRanking(Ranking):
    """Some hypotheses of a ranking, all about shots that are kept; their places do not change."""

    def __init__(
        self, whole: Ranking, is_kept: NDArray[np.bool_], places: NDArray[np.int32]
    ) -> None:
        name_counts = np.bincount(whole.name_at[places], minlength=len(whole.names))
        vars(self).update(vars(whole))
        # The mask is of all shots of the run, but a topic's own documents can be fewer.
        n_shots = min(int(np.count_nonzero(is_kept)), len(places))
        self._set_places(n_shots, places, name_counts)
        self._whole = whole
        self._is_kept = is_kept

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def confidence_at(self) -> NDArray[np.float64]:
        return self._whole.confidence_at

    def later_ties(self, place: int, distances: Distances) -> NDArray[np.int64]:
        return self._without_dropped(self._whole.later_ties(place, distances))

    def under_one_name(self, names: NDArray[np.integer]) -> NDArray[np.int64]:
        return self._without_dropped(self._whole.under_one_name(names))

    def _without_dropped(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        return places.compress(self._is_kept[self.shot_at[places]])
