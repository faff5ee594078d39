"""The ranking at one moment of hypotheses that change, made from the ranking before it."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import ranges
from mediaeval_ap.live.hypotheses import SOURCE, GrowingColumns, Hypotheses
from mediaeval_ap.ranking.edit_distances import Names
from mediaeval_ap.ranking.frozen_ranking import NearestFirst
from mediaeval_ap.ranking.tie_breaking import TieKeys, first_in_order, in_order, temporal_ranks


class LiveRows(NamedTuple):
    """Hypotheses as columns. No two of one moment are equal."""

    confidence: NDArray[Any]  # float64: minus the confidence
    temporal_rank: NDArray[Any]  # int32, from 1
    shot: NDArray[Any]  # int32: its number
    name: NDArray[Any]  # int32: its code

    def at(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> LiveRows:
        """Return some of the rows."""
        return LiveRows(*(column[rows] for column in self))


class LiveRanking(NearestFirst):
    """The hypotheses of one moment, ready to be ranked for any query.

    Those of each name are a segment of columns that only grow. The next moment's ranking writes new
    segments for names that changed, and shares all others. Old ones stay, as threads may read them.
    """

    def __init__(self, hypotheses: Hypotheses, before: LiveRanking | None = None) -> None:
        self.source = SOURCE
        self._shot_order = hypotheses.shots.order()
        self._name_positions = hypotheses.names.positions()
        n_names = len(self._name_positions)
        if before is not None and len(before.names) == n_names:
            self.names = before.names
        else:
            self.names = Names(tuple(hypotheses.names.values))
        self.held, self._starts = np.zeros((2, n_names), dtype=np.int64)
        if before is None:
            self._columns = GrowingColumns(
                confidence=np.float64, temporal_rank=np.int32, shot=np.int32, name=np.int32
            )
        else:
            self._columns = before._columns
            self.held[: len(before.names)] = before.held
            self._starts[: len(before.names)] = before._starts
        # A new segment for each name that changed, in its order.
        changed = np.array(sorted(hypotheses.changed), dtype=np.int64)
        name, confidence, shot = hypotheses.of_names(changed.tolist())
        shots, videos = self._shot_order.positions(shot), self._shot_order.videos(shot)
        temporal_rank, _ = temporal_ranks(name, confidence, shots, videos)
        order = in_order(name, *TieKeys(confidence, temporal_rank, shots, name))
        held = np.bincount(name, minlength=n_names)[changed]
        self._starts[changed] = len(self._columns) + held.cumsum() - held
        self.held[changed] = held
        self._columns.extend(**LiveRows(confidence, temporal_rank, shot, name).at(order)._asdict())
        hypotheses.changed.clear()
        self._n = int(self.held.sum())
        if len(self._columns) > 2 * self._n:  # so a copy costs no more than was written before it
            self._columns = self._columns.select(ranges(self._starts, self.held))
            self._starts = self.held.cumsum() - self.held
        self._rows = LiveRows(*(self._columns[field] for field in LiveRows._fields))
        self.shot_at = self._rows.shot
        self.n_shots = hypotheses.shots.n_held

    def __len__(self) -> int:
        return self._n

    def condensed(self, is_kept: NDArray[np.bool_]) -> LiveRanking:
        positions = ranges(self._starts, self.held)
        positions = positions[is_kept[self._rows.shot[positions]]]
        ranking = copy(self)
        ranking._rows = self._rows.at(positions)
        ranking.shot_at = ranking._rows.shot
        ranking.held = np.bincount(ranking._rows.name, minlength=len(self.held))
        ranking._starts = ranking.held.cumsum() - ranking.held
        ranking._n = len(positions)
        ranking.n_shots = len(np.unique(ranking.shot_at))
        return ranking

    def keys(self, rows: LiveRows) -> TieKeys:
        """Return the keys that some hypotheses are ordered by."""
        return TieKeys(
            rows.confidence,
            rows.temporal_rank,
            self._shot_order.positions(rows.shot),
            self._name_positions[rows.name],
        )

    def _first_of(
        self, positions: NDArray[np.int64], blocks: NDArray[np.int64], depth: int
    ) -> NDArray[np.int64]:
        first = first_in_order((blocks, *self.keys(self._rows.at(positions))), depth)
        chosen: NDArray[np.int64] = positions[first]
        return chosen

    def _lent_by_tied(self, names: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
        # The surest hypotheses of as many names as are wanted would be enough, so a name whose
        # surest one is less sure than all of these lends nothing.
        held = self.held[names]
        first = np.full(len(names), np.inf)
        first[held > 0] = self._rows.confidence[self._starts[names[held > 0]]]
        worst = np.partition(first, wanted - 1)[wanted - 1]
        return np.where(first <= worst, np.minimum(held, wanted), 0)
