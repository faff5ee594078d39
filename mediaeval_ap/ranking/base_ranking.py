"""The search for the hypotheses nearest to a query, shared by frozen, stored and live rankings."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences, ranges
from mediaeval_ap.ranking.edit_distances import Distances, Names
from mediaeval_ap.tables import Provenance

GUESS = 2  # times as many names as hold enough on average; at depth 1000, 1 and 4 take 10 % longer
GROWTH = 4  # of a guess that was too low; 2 and 8 take as long


class BaseRanking(ABC):
    """Hypotheses that can be ranked for any query: *positions* go name by name, best first.

    They stand in ascending order of the distance of their names, then of `tie_breaking.TieKeys`.
    Only those of the nearest names, whole tie blocks that together hold enough, are put in order.
    """

    names: Names
    shot_at: NDArray[np.integer]  # at each *place*, which is what `top` returns
    n_shots: int  # distinct ones
    source: Provenance
    held: NDArray[np.int64]  # number of hypotheses of each name
    _starts: NDArray[np.int64]  # position of its first one

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of hypotheses that it holds."""

    @abstractmethod
    def condensed(self, is_kept: NDArray[np.bool_]) -> BaseRanking:
        """Return the ranking without the hypotheses about other shots; is_kept is by shot."""

    @abstractmethod
    def _first_of(
        self, positions: NDArray[np.int64], blocks: NDArray[np.int64], depth: int
    ) -> NDArray[np.int64]:
        """Return the places of the first hypotheses, in order, from positions and tie blocks."""

    @abstractmethod
    def _lent_by_tied(self, names: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
        """Return how many hypotheses to take from each name of a block with more than `wanted`."""

    def top(self, distances: Distances, depth: int, *, distinct: bool = False) -> NDArray[np.int64]:
        """Return the places of the first hypotheses; with `distinct`, of the first of each shot."""
        wanted = depth
        while True:
            taken = min(wanted, len(self))
            if not taken:
                return np.empty(0, dtype=np.int64)
            names, blocks, lent = self._nearest(distances, taken)
            positions = ranges(self._starts[names], lent)
            places = self._first_of(positions, blocks.repeat(lent), taken)
            if not distinct:
                return places
            first = first_occurrences(self.shot_at[places])
            if len(first) >= depth or len(places) == len(self):
                return places[first[:depth]]
            wanted *= 2  # so that the last attempt costs no less than all before together

    def _nearest(
        self, distances: Distances, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the nearest names that hold enough, their tie blocks, and how much to take."""
        # Few names are sorted: a guess of how many hold enough, and more only where they do not.
        count = GUESS * depth * len(self.names) // len(self) + 1
        while True:
            names = distances.nearest(count)
            near = distances[names]
            order = near.argsort()
            names = names[order]
            near = near[order]
            held = self.held[names].cumsum()
            if held[-1] >= depth:
                break
            count *= GROWTH
        farthest = near[held.searchsorted(depth)]
        begin = near.searchsorted(farthest)
        end = near.searchsorted(farthest, side='right')
        names = names[:end]
        near = near[:end]
        # Tie blocks are counted from equal doubles, which are equal distances.
        blocks = np.zeros(end, dtype=np.int64)
        (near[1:] != near[:-1]).cumsum(out=blocks[1:])
        lent = np.minimum(self.held[names], depth)  # no name lends more than are wanted
        wanted = depth - int(held[begin - 1] if begin else 0)
        if end - begin > wanted:  # the last block has more names than hypotheses are wanted of it
            lent[begin:] = self._lent_by_tied(names[begin:], wanted)
        return names, blocks, lent
