"""The ranking at one moment of hypotheses that change: one moment's is made from the last one's."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import ranges
from mediaeval_ap.live.hypotheses import SOURCE, Hypotheses
from mediaeval_ap.live.numbering import Columns
from mediaeval_ap.ranking.edit_distances import Names
from mediaeval_ap.ranking.nearest_names import NearestFirst
from mediaeval_ap.ranking.temporal_ranks import temporal_ranks
from mediaeval_ap.ranking.tie_breaking import PlaceKeys, first_in_order, in_order

__all__ = ['LiveRanking', 'Rows']

LEAST_GARBAGE = 1024


class Rows(NamedTuple):
    """Hypotheses as columns. No two of one moment are equal.

    Parameters
    ----------
    confidence : ndarray of float64, shape (n,)
        Minus the confidence.
    temporal_rank : ndarray of int32, shape (n,)
        From 1.
    shot : ndarray of int32, shape (n,)
        The number of the shot.
    name : ndarray of int32, shape (n,)
        The code of the name.

    Examples
    --------
    >>> rows = Rows(np.array([-0.5, -0.9]), *np.array([[1, 1], [7, 8], [0, 0]]))
    >>> rows.at(np.array([1])).shot.tolist()
    [8]
    """

    confidence: NDArray[Any]
    temporal_rank: NDArray[Any]
    shot: NDArray[Any]
    name: NDArray[Any]

    def at(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Rows:
        """Some of the hypotheses.

        Parameters
        ----------
        rows : ndarray of int or bool
            Which.

        Returns
        -------
        Rows
            Those.
        """
        return Rows(*(column[rows] for column in self))

    def joined(self, others: Rows) -> Rows:
        """These hypotheses and others.

        Parameters
        ----------
        others : Rows
            Any hypotheses.

        Returns
        -------
        Rows
            All of them.
        """
        return Rows(*(np.concatenate(pair) for pair in zip(self, others, strict=True)))


class LiveRanking(NearestFirst):
    """The hypotheses of one moment, ready to be ranked for any query.

    The hypotheses of each name are a segment of columns that only grow. When some names change, the
    next moment's ranking holds new segments for them and shares all others, and what is there of
    the old ones is left as it is, until half of it is no longer used.

    Parameters
    ----------
    hypotheses : Hypotheses
        What is there now.
    before : LiveRanking, optional
        The ranking before the names changed that `hypotheses` holds as changed.

    Notes
    -----
    Takes O(m log m) time for the m hypotheses that names which changed have now, and a pass of
    numpy over the names.

    Examples
    --------
    >>> from mediaeval_ap.live.known_shots import KnownShots
    >>> hypotheses = Hypotheses(KnownShots(None))
    >>> hypotheses.add(('x', 'v', '1', 'ann', 0.2))
    >>> one = LiveRanking(hypotheses)
    >>> hypotheses.add(('x', 'w', '1', 'ann', 0.5))
    >>> other = LiveRanking(hypotheses, one)
    >>> distances = np.zeros(1)
    >>> [ranking.shot_at[ranking.top(distances, 9)].tolist() for ranking in (one, other)]
    [[0], [1, 0]]
    """

    def __init__(self, hypotheses: Hypotheses, before: LiveRanking | None = None) -> None:
        self.source = SOURCE
        self._shot_order = hypotheses.shots.order()
        self._name_places = hypotheses.names.places()
        n_names = len(self._name_places)
        if before is not None and len(before.names) == n_names:
            self.names = before.names
        else:
            self.names = Names(tuple(hypotheses.names.values))
        self._held = np.zeros(n_names, dtype=np.int64)
        self._starts = np.zeros(n_names, dtype=np.int64)
        if before is None:
            self._columns = Columns(
                confidence=np.float64, temporal_rank=np.int32, shot=np.int32, name=np.int32
            )
        else:
            self._columns = before._columns
            self._held[: len(before.names)] = before._held
            self._starts[: len(before.names)] = before._starts
        self._append(hypotheses)
        self._n = int(self._held.sum())
        if len(self._columns) > 2 * self._n + LEAST_GARBAGE:
            self._compact()
        self._rows = Rows(*(self._columns[field] for field in Rows._fields))
        self.shot_at = self._rows.shot
        self.n_shots = hypotheses.shots.n_held

    def __len__(self) -> int:
        return self._n

    def changed_since(self, before: LiveRanking) -> NDArray[np.int64]:
        """The names whose hypotheses may be others than at an earlier moment.

        Parameters
        ----------
        before : LiveRanking
            A ranking that this one was made from, in one step or several.

        Returns
        -------
        ndarray of int64
            Their codes.
        """
        same = np.zeros(len(self.names), dtype=np.bool_)
        if before._columns is self._columns:  # where nothing is written twice
            n = len(before.names)
            same[:n] = (self._starts[:n] == before._starts) & (self._held[:n] == before._held)
        return (~same).nonzero()[0]

    def rows(self, names: NDArray[np.int64] | None = None) -> Rows:
        """The hypotheses of some names.

        Parameters
        ----------
        names : ndarray of int64, optional
            Their codes; names that came later have none. By default all.

        Returns
        -------
        Rows
            Name after name, in the order of each.
        """
        if names is None:
            names = np.arange(len(self.names))
        names = names[names < len(self.names)]
        return self._rows.at(ranges(self._starts[names], self._held[names]))

    def keys(self, rows: Rows) -> PlaceKeys:
        """What some hypotheses are ordered by.

        Parameters
        ----------
        rows : Rows
            Hypotheses of now or before.

        Returns
        -------
        PlaceKeys
            Columns of keys.
        """
        return PlaceKeys(
            rows.confidence,
            rows.temporal_rank,
            self._shot_order.places(rows.shot),
            self._name_places[rows.name],
        )

    def _append(self, hypotheses: Hypotheses) -> None:
        changed = np.array(sorted(hypotheses.changed), dtype=np.int64)
        name, confidence, shot = hypotheses.of_names(changed.tolist())
        places = self._shot_order.places(shot)
        temporal_rank, _ = temporal_ranks(name, confidence, places, self._shot_order.videos(shot))
        order = in_order(name, *PlaceKeys(confidence, temporal_rank, places, name))
        held = np.bincount(name, minlength=len(self._held))[changed]
        self._starts[changed] = len(self._columns) + held.cumsum() - held
        self._held[changed] = held
        self._columns.extend(
            confidence=confidence[order],
            temporal_rank=temporal_rank[order],
            shot=shot[order],
            name=name[order],
        )

    def _compact(self) -> None:
        self._columns = self._columns.select(ranges(self._starts, self._held))
        self._starts = self._held.cumsum() - self._held

    def _first_of(
        self, positions: NDArray[np.int64], blocks: NDArray[np.int64], depth: int
    ) -> NDArray[np.int64]:
        first: NDArray[np.int64] = positions[
            first_in_order((blocks, *self.keys(self._rows.at(positions))), depth)
        ]
        return first

    def _lent_by_tied(self, names: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
        """As many names as are wanted would be enough: none less sure than the last of them."""
        held = self._held[names]
        first = np.full(len(names), np.inf)
        first[held > 0] = self._rows.confidence[self._starts[names[held > 0]]]
        worst = np.partition(first, wanted - 1)[wanted - 1]
        return np.where(first <= worst, np.minimum(held, wanted), 0)

    def _check(self) -> None:
        """Assert what always holds."""
        positions = ranges(self._starts, self._held).tolist()
        assert len(set(positions)) == len(positions) == len(self)
        rows = self.rows()
        assert (rows.name == np.arange(len(self.names)).repeat(self._held)).all()
        assert (in_order(rows.name, *self.keys(rows)) == np.arange(len(self))).all()
        assert self.n_shots == len(set(rows.shot.tolist()))
