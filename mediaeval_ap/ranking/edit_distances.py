"""The normalized edit distance between each query and each distinct name of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance.Levenshtein import normalized_distance
from rapidfuzz.process import cdist

BLOCK_CELLS = 4 << 20  # 32 MiB of distances at a time; half and double take as long
THREADED_CELLS = 1 << 18  # a choice: 3 ms of one core, where starting threads costs 0.1 to 0.3 ms
USUAL_CHARACTERS = 64  # what rapidfuzz compares in one machine word; longer names take longer
ALL_CORES = -1


class Names:
    """The distinct names of a run."""

    def __init__(self, values: Sequence[str]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def distances(self, queries: Sequence[str]) -> Iterator[NDArray[np.float64]]:
        """Yield for each query its Levenshtein distances to the names, over the longer length."""
        # A quotient of integers, rounded once: equal distances are equal doubles. Single precision
        # would merge different distances between names of more than about 4,000 characters.
        block = max(1, BLOCK_CELLS // max(1, len(self)))
        for start in range(0, len(queries), block):
            asked = queries[start : start + block]
            workers = ALL_CORES if self._is_much(len(asked)) else 1
            yield from cdist(
                asked, self.values, scorer=normalized_distance, dtype=np.float64, workers=workers
            )

    def _is_much(self, n_queries: int) -> bool:
        if n_queries * len(self) > THREADED_CELLS:
            return True
        return n_queries * self._n_characters > THREADED_CELLS * USUAL_CHARACTERS

    @cached_property
    def _n_characters(self) -> int:
        return sum(map(len, self.values))
