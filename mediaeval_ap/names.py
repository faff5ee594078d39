"""From a query to its normalized edit distance to each distinct name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

__all__ = ['Names']

BLOCK_CELLS = 4 << 20
THREADED_CELLS = 1 << 18  # fewer are done before threads are started
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
                workers=ALL_CORES if len(asked) * len(self) > THREADED_CELLS else 1,
            )
