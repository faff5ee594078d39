"""Ranking for a query: the nearest names first, and no more of them than are needed.

For a query, hypotheses stand in ascending order of

1. the normalized edit distance between the query and the hypothesized name,
2. minus the confidence,
3. the temporal rank: the position of the shot among the hypotheses that share its name,
   confidence and video,
4. video, corpus, shot and name.

All but the first is known before a query comes (`tie_breaking`). For a query, the
names nearest to it that together hold enough hypotheses are taken, a whole tie block at a time,
and only their hypotheses are put in order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences, ranges
from mediaeval_ap.ranking.edit_distances import Names
from mediaeval_ap.tables import Source

__all__ = ['NearestFirst']


class NearestFirst(ABC):
    """Hypotheses that can be ranked for any query.

    Each has a position; those of one name stand side by side, in their order.

    Attributes
    ----------
    names : Names
        The distinct names.
    shot_at : ndarray of int, shape (n_places,)
        For each place that `top` gives, the number of the shot that stands there.
    n_shots : int
        How many distinct shots there are.
    source : Source
        Where the hypotheses came from.

    Examples
    --------
    >>> from mediaeval_ap.ranking.frozen_ranking import Ranking
    >>> from mediaeval_ap.tables import HYPOTHESIS, read
    >>> rows = [('x', 'v', '1', 'ann', 0.2), ('x', 'v', '1', 'anna', 0.9)]
    >>> ranking: NearestFirst = Ranking(read(rows, HYPOTHESIS))
    >>> (distances,) = ranking.names.distances(['anna'])
    >>> len(ranking.top(distances, 9)), len(ranking.top(distances, 9, distinct=True))
    (2, 1)
    """

    names: Names
    shot_at: NDArray[np.integer]
    n_shots: int
    source: Source
    _held: NDArray[np.int64]  # how many hypotheses of each name there are
    _starts: NDArray[np.int64]  # the position of its first one

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def _first_of(
        self, positions: NDArray[np.int64], blocks: NDArray[np.int64], depth: int
    ) -> NDArray[np.int64]:
        """The places of the first of some hypotheses, in order of tie block and place."""

    @abstractmethod
    def _lent_by_tied(self, names: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
        """What each of many names at one distance has to lend for so many hypotheses in all."""

    def top(
        self, distances: NDArray[np.float64], depth: int, *, distinct: bool = False
    ) -> NDArray[np.int64]:
        """The places of the hypotheses that come first.

        Parameters
        ----------
        distances : ndarray of float64, shape (n_names,)
            The distance of the query to each name.
        depth : int
            How many are wanted.
        distinct : bool
            Leave out every hypothesis whose shot came before.

        Returns
        -------
        ndarray of int64, shape (at most depth,)
            Places, best first.

        Notes
        -----
        Takes time in proportion to the distinct names, and to sorting the hypotheses of the
        nearest of them, of which no name lends more than `depth`.
        """
        wanted = depth
        while True:
            places = self._first(distances, min(wanted, len(self)))
            if not distinct:
                return places
            first = first_occurrences(self.shot_at[places])
            if len(first) >= depth or len(places) == len(self):
                return places[first[:depth]]
            wanted *= 2

    def _first(self, distances: NDArray[np.float64], depth: int) -> NDArray[np.int64]:
        if not depth:
            return np.empty(0, dtype=np.int64)
        names, blocks, lent = self._nearest(distances, depth)
        return self._first_of(ranges(self._starts[names], lent), blocks.repeat(lent), depth)

    def _nearest(
        self, distances: NDArray[np.float64], depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The nearest names that hold so many hypotheses, their tie blocks, what each lends."""
        count = 2 * depth * len(self.names) // len(self) + 1  # names that usually hold as many
        while True:
            names = _within_radius_of(distances, count)
            near = distances[names]
            order = near.argsort()
            names, near = names[order], near[order]
            held = self._held[names].cumsum()
            if held[-1] >= depth:
                break
            count *= 4
        farthest = near[held.searchsorted(depth)]
        begin, end = near.searchsorted(farthest), near.searchsorted(farthest, side='right')
        names, near = names[:end], near[:end]
        blocks = np.zeros(end, dtype=np.int64)
        (near[1:] != near[:-1]).cumsum(out=blocks[1:])
        lent = np.minimum(self._held[names], depth)
        wanted = depth - int(held[begin - 1] if begin else 0)
        if end - begin > wanted:
            lent[begin:] = self._lent_by_tied(names[begin:], wanted)
        return names, blocks, lent


def _within_radius_of(distances: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """The names not farther than so many are: whole tie blocks, in no order."""
    if count >= len(distances):
        return np.arange(len(distances))
    partitioned = distances.copy()
    partitioned.partition(count)
    within: NDArray[np.int64] = (distances <= partitioned[count]).nonzero()[0]
    return within
