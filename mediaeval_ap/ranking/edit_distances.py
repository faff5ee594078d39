"""From a query to its distance to each distinct name, or to the one that is closest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

__all__ = ['Names']

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
