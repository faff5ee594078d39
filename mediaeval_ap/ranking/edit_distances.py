"""The normalized edit distance between each query and each distinct name of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

BLOCK_CELLS = 4 << 20  # 32 MiB of distances at a time; half and double take as long
THREADED_CELLS = 1 << 18  # 3 ms of one core; threads are slower for half, and gain from double on
USUAL_CHARACTERS = 64  # what rapidfuzz compares in one machine word; longer names take longer
ALL_CORES = -1


class Names:
    """The distinct names of a run."""

    def __init__(self, values: Sequence[str]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def distances(self, queries: Sequence[str]) -> Iterator[NDArray[np.float64]]:
        """Yield the distance of each query to each name, shape (n_names,).

        It is the Levenshtein distance divided by the longer of the two lengths, in code points: 0
        for the same name, 1 for names with nothing in common.
        """
        # A quotient of integers, rounded once: equal distances are equal doubles. Single precision
        # would merge different distances between names of more than about 4,000 characters.
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
        if n_queries * len(self) > THREADED_CELLS:
            return True
        return n_queries * self._n_characters > THREADED_CELLS * USUAL_CHARACTERS

    @cached_property
    def _n_characters(self) -> int:
        return sum(map(len, self.values))
