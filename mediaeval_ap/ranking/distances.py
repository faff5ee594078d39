"""From a query to its distance to each distinct name, or to the one that is closest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel, Levenshtein
from rapidfuzz.process import cdist

__all__ = ['Names', 'closest']

BLOCK_CELLS = 4 << 20
THREADED_CELLS = 1 << 18  # fewer are done before threads are started
USUAL_CHARACTERS = 64
ALL_CORES = -1


class Names:
    """Distinct names, and how far a query is from each.

    Parameters
    ----------
    values : sequence of str
        The distinct names.

    Examples
    --------
    >>> names = Names(['adam_willis', 'alain_juppe'])
    >>> next(names.distances(['alain_jupe'])).round(3).tolist()
    [0.818, 0.091]
    """

    def __init__(self, values: Sequence[str]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def distances(self, queries: Sequence[str]) -> Iterator[NDArray[np.float64]]:
        """The normalized edit distances of each query in turn, taken in blocks of queries.

        The distance is the Levenshtein distance divided by the longer of the two lengths, in
        Unicode code points: 0 for the same name, 1 for names with nothing in common. As quotients
        of integers rounded once, equal distances are equal doubles.

        Parameters
        ----------
        queries : sequence of str
            The names asked for, none of them empty.

        Yields
        ------
        ndarray of float64, shape (n_names,)
            The distance to each name.

        Notes
        -----
        Takes time in proportion to queries times names, and memory for a block of them.
        """
        block = max(1, BLOCK_CELLS // max(1, len(self)))
        for start in range(0, len(queries), block):
            asked = queries[start : start + block]
            yield from cdist(
                asked,
                self.values,
                scorer=Levenshtein.normalized_distance,
                dtype=np.float64,
                workers=ALL_CORES if self._is_much(len(asked)) else 1,
            )

    def _is_much(self, n_queries: int) -> bool:
        """Whether their distances take longer than it takes to start threads."""
        if n_queries * len(self) > THREADED_CELLS:
            return True
        return n_queries * self._n_characters > THREADED_CELLS * USUAL_CHARACTERS

    @cached_property
    def _n_characters(self) -> int:
        return sum(map(len, self.values))


def closest(
    queries: Sequence[str], names: Sequence[str], ratio: float
) -> tuple[list[str | None], NDArray[np.float64]]:
    """The name closest to each query, if it is close enough.

    Parameters
    ----------
    queries, names : sequence of str
        Names; those to choose from are distinct.
    ratio : float
        Close enough is above this.

    Returns
    -------
    names : list of str or None
        The first in the order of code points of those that are closest; none where none is close
        enough.
    ratios : ndarray of float64, shape (n_queries,)
        How close it is; 0 where there is none.

    Examples
    --------
    >>> names, ratios = closest(['ann_lee', 'bob'], ['ann_leee', 'anne_lee', 'rob'], 0.9)
    >>> names, ratios.round(3).tolist()
    (['ann_leee', None], [0.933, 0.0])
    """
    names = sorted(names)
    lengths = np.array(list(map(len, names)))
    known = set(names)
    chosen: list[str | None] = [
        query if query in known and ratio < 1 else None for query in queries
    ]
    ratios = np.array([float(name is not None) for name in chosen])
    others = [row for row, name in enumerate(chosen) if name is None]
    size = max(1, BLOCK_CELLS // len(names))
    for begin in range(0, len(others), size):
        rows = others[begin : begin + size]
        asked = [queries[row] for row in rows]
        both = np.array(list(map(len, asked)))[:, None] + lengths
        enough = int((1 - ratio) * both.max()) + 1  # a name that is farther is not close enough
        distances = cdist(asked, names, scorer=Indel.distance, dtype=np.int64, score_cutoff=enough)
        shares = (both - distances) / both
        best = shares.argmax(axis=1)
        for row, name, share in zip(rows, best.tolist(), shares.max(axis=1).tolist(), strict=True):
            if share > ratio:
                chosen[row], ratios[row] = names[name], share
    return chosen, ratios
