"""A run that does not change, ready to be ranked: columnar, built once.

Everything about the order but the distance is known before a query comes: it gives each hypothesis
its *place*, once. For a query, the hypotheses of the nearest names are keyed by tie block and place
in one integer, and sorted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.ranking.edit_distances import Names
from mediaeval_ap.ranking.nearest_names import NearestFirst
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.ranking.temporal_ranks import temporal_ranks
from mediaeval_ap.ranking.tie_breaking import PlaceKeys, in_order
from mediaeval_ap.tables import Table

__all__ = ['Ranking']

PLACE_BITS = 32
PLACE_MASK = (1 << PLACE_BITS) - 1


class Ranking(NearestFirst):
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
    row_at : ndarray of int64, shape (n_hypotheses,)
        For each place, the row of the table.
    temporal_rank : ndarray of int32, shape (n_hypotheses,)
        For each row of the table, its temporal rank.
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
        self.source = table.source
        self.shots = Shots(table)
        self.n_shots = len(self.shots)
        name = table['person_name'].sorted()
        self.names = Names(name.values)
        confidence = np.unique(-table.confidence, return_inverse=True)[1]
        shot = self.shots.codes
        self.temporal_rank, repeated = temporal_ranks(
            name.codes, confidence, shot, self.shots.videos[shot]
        )
        self.n_repeated = int(np.count_nonzero(repeated))
        self.row_at = in_order(*PlaceKeys(confidence, self.temporal_rank, shot, name.codes))
        self.shot_at = shot[self.row_at].astype(np.int32)
        self._name_at = name.codes[self.row_at]
        # name << 32 | place, ascending: the places of each name, best first
        self._keys = np.sort(self._name_at.astype(np.int64) << PLACE_BITS | np.arange(len(self)))
        self._held = np.bincount(self._name_at, minlength=len(self.names))
        self._starts = np.cumsum(self._held) - self._held

    def __len__(self) -> int:
        return len(self.table)

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
        """The first hypotheses of so many names would be enough: none behind the worst counts."""
        begins = self._starts[names]
        first = self._keys[begins] & PLACE_MASK
        worst = np.partition(first, wanted - 1)[wanted - 1]
        ahead = (first <= worst).nonzero()[0]
        ends = self._keys.searchsorted(names[ahead] << PLACE_BITS | worst, side='right')
        lent = np.zeros(len(names), dtype=np.int64)
        lent[ahead] = ends - begins[ahead]
        return lent
