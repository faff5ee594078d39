"""The order of a run's hypotheses for a query: frozen, columnar, built once.

For a query, hypotheses stand in ascending order of

1. the normalized edit distance between the query and the hypothesized name,
2. minus the confidence,
3. the temporal rank: the position of the shot among the hypotheses that share its name,
   confidence and video,
4. video, corpus, shot and name.

All but the first is known before a query comes: it gives each hypothesis its *place*, once. For a
query, the names nearest to it that together hold enough hypotheses are taken, a whole tie block at
a time; their hypotheses, keyed by tie block and place in one integer, are sorted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.keys import first_occurrences
from mediaeval_ap.names import Names
from mediaeval_ap.shots import Shots
from mediaeval_ap.tables import Table

__all__ = ['Ranking']

PLACE_BITS = 32
PLACE_MASK = (1 << PLACE_BITS) - 1


class Ranking:
    """A run, ready to be ranked for any query.

    Parameters
    ----------
    table : Table
        The hypotheses.

    Attributes
    ----------
    names : Names
        The distinct names of the run.
    shots : Shots
        Its distinct shots.
    shot_at : ndarray of int32, shape (n_hypotheses,)
        For each place, the number of the shot that stands there.
    n_repeated : int
        How many hypotheses say exactly what another one said.

    Notes
    -----
    Building takes O(n log n) time for n hypotheses.

    Examples
    --------
    >>> from mediaeval_ap.tables import HYPOTHESIS, read
    >>> rows = [
    ...     ('x', 'v', '1', 'ann', 0.2),
    ...     ('x', 'v', '2', 'anna', 0.9),
    ...     ('x', 'w', '1', 'ann', 0.5),
    ... ]
    >>> ranking = Ranking(read(rows, HYPOTHESIS))
    >>> (distances,) = ranking.names.distances(['ann'])
    >>> [rows[row] for row in ranking.row_at[ranking.top(distances, 2)]]
    [('x', 'w', '1', 'ann', 0.5), ('x', 'v', '1', 'ann', 0.2)]
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.shots = Shots(table)
        name = table['person_name'].sorted()
        self.names = Names(name.values)
        confidence = np.unique(-table.confidence, return_inverse=True)[1]
        self.temporal_rank, self.n_repeated = _temporal_ranks(
            name.codes, confidence, self.shots.codes, self.shots.videos
        )
        self.row_at = _order(confidence, self.temporal_rank, self.shots.codes, name.codes)
        self.shot_at = self.shots.codes[self.row_at].astype(np.int32)
        self._name_at = name.codes[self.row_at]
        # name << 32 | place, ascending: the places of each name, best first
        self._keys = np.sort(self._name_at.astype(np.int64) << PLACE_BITS | np.arange(len(self)))
        self._held = np.bincount(self._name_at, minlength=len(self.names))
        self._starts = np.cumsum(self._held) - self._held

    def __len__(self) -> int:
        return len(self.table)

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

    def distances_at(
        self, places: NDArray[np.int64], distances: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The distance of the name that stands at each place.

        Parameters
        ----------
        places : ndarray of int64, shape (n,)
            Places.
        distances : ndarray of float64, shape (n_names,)
            The distance of the query to each name.

        Returns
        -------
        ndarray of float64, shape (n,)
            Their distances.
        """
        found: NDArray[np.float64] = distances[self._name_at[places]]
        return found

    def _first(self, distances: NDArray[np.float64], depth: int) -> NDArray[np.int64]:
        if not depth:
            return np.empty(0, dtype=np.int64)
        names, blocks, lent = self._nearest(distances, depth)
        ends = lent.cumsum()
        within = np.arange(ends[-1]) + (self._starts[names] + lent - ends).repeat(lent)
        keys = (blocks << PLACE_BITS).repeat(lent) | (self._keys[within] & PLACE_MASK)
        if len(keys) > depth:
            keys.partition(depth - 1)
            keys = keys[:depth]
        keys.sort()
        places: NDArray[np.int64] = keys & PLACE_MASK
        return places

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

    def _lent_by_tied(self, names: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
        """What each of many names at one distance has to lend for so many hypotheses in all.

        The first hypotheses of so many names would be enough: none behind the worst of them counts.
        """
        begins = self._starts[names]
        first = self._keys[begins] & PLACE_MASK
        worst = np.partition(first, wanted - 1)[wanted - 1]
        ahead = (first <= worst).nonzero()[0]
        ends = self._keys.searchsorted(names[ahead] << PLACE_BITS | worst, side='right')
        lent = np.zeros(len(names), dtype=np.int64)
        lent[ahead] = ends - begins[ahead]
        return lent


def _within_radius_of(distances: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """The names not farther than so many are: whole tie blocks, in no order."""
    if count >= len(distances):
        return np.arange(len(distances))
    partitioned = distances.copy()
    partitioned.partition(count)
    within: NDArray[np.int64] = (distances <= partitioned[count]).nonzero()[0]
    return within


def _temporal_ranks(
    name: NDArray[np.int32],
    confidence: NDArray[np.int64],
    shot: NDArray[np.int64],
    videos: NDArray[np.int64],
) -> tuple[NDArray[np.int32], int]:
    """Position of each shot in its group, from 1, and how many rows repeat another one."""
    order = _order(name, confidence, shot)
    same = (np.diff(name[order]) == 0) & (np.diff(confidence[order]) == 0)
    begins = np.r_[True, ~(same & (np.diff(videos[shot[order]]) == 0))][: len(order)]
    positions = np.arange(len(order))
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = positions - np.maximum.accumulate(np.where(begins, positions, 0)) + 1
    return ranks, int(np.count_nonzero(same & (np.diff(shot[order]) == 0)))


def _order(*keys: NDArray[np.integer]) -> NDArray[np.int64]:
    """The rows in ascending order of the first key, then of the second, and so on."""
    packed: list[NDArray[np.int64]] = []
    free_bits = 0
    for key in keys:
        bits = int(key.max(initial=0)).bit_length()
        if not packed or bits > free_bits:
            packed.append(key.astype(np.int64))
            free_bits = 63 - bits
        else:
            packed[-1] = packed[-1] << bits | key
            free_bits -= bits
    return np.argsort(packed[0]) if len(packed) == 1 else np.lexsort(packed[::-1])
