"""The normalized edit distance between each query and each distinct name of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance.Levenshtein import distance, normalized_distance
from rapidfuzz.process import cdist

from mediaeval_ap.ranking.bit_parallel import LONGEST_QUERY, BitParallel
from mediaeval_ap.ranking.distances import Distances, EditsByLength, Quotients, Run

BLOCK_CELLS = 4 << 20  # 32 MiB of distances at a time; half and double take as long
QUERIES_AT_ONCE = 16  # at least: with a million names 4 take twice as long each, 32 as long
EDIT_CELLS = 32 << 20  # 32 MiB of edit distances, of one byte as a rule
THREADED_CELLS = 1 << 18  # a choice: 3 ms of one core, where starting threads costs 0.1 to 0.3 ms
USUAL_CHARACTERS = 64  # what rapidfuzz compares in one machine word; longer names take longer
ALL_CORES = -1
# From so many names on they are compared side by side. At these numbers both ways take as long:
# with one query, and with several, which rapidfuzz compares together.
SIDE_BY_SIDE = 2_000
MANY_SIDE_BY_SIDE = 16_000
WIDTHS = (8, 16, 32, 64)  # bits of integers


class Names:
    """The distinct names of a run, in any order."""

    def __init__(self, values: Sequence[str]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def measured(self, queries: Sequence[str]) -> Iterator[Distances]:
        """Yield for each query its distances to the names."""
        return map(Quotients, self.distances(queries))

    def distances(self, queries: Sequence[str]) -> Iterator[NDArray[np.float64]]:
        """Yield for each query its Levenshtein distances to the names, over the longer length."""
        # A quotient of integers, rounded once: equal distances are equal doubles. Single precision
        # would merge different distances between names of more than about 4,000 characters.
        block = max(QUERIES_AT_ONCE, BLOCK_CELLS // max(1, len(self)))
        for start in range(0, len(queries), block):
            asked = queries[start : start + block]
            yield from cdist(
                asked,
                self.values,
                scorer=normalized_distance,
                dtype=np.float64,
                workers=self._workers(len(asked)),
            )

    def _workers(self, n_queries: int) -> int:
        is_much = (
            n_queries * len(self) > THREADED_CELLS
            or n_queries * self._n_characters > THREADED_CELLS * USUAL_CHARACTERS
        )
        return ALL_CORES if is_much else 1

    @cached_property
    def _n_characters(self) -> int:
        return sum(map(len, self.values))


class NamesByLength(Names):
    """The distinct names of a run in ascending order of length, which do not change."""

    def measured(self, queries: Sequence[str]) -> Iterator[Distances]:
        if len(self) < (SIDE_BY_SIDE if len(queries) == 1 else MANY_SIDE_BY_SIDE):
            yield from super().measured(queries)
            return
        block = max(1, EDIT_CELLS // len(self))
        for start in range(0, len(queries), block):
            asked = queries[start : start + block]
            for query, edits in zip(asked, self._edits(asked), strict=True):
                yield EditsByLength(edits, len(query), self._lengths, self._runs)

    def _edits(self, queries: Sequence[str]) -> NDArray[np.unsignedinteger]:
        """Return edit distances, shape (n_queries, n_names)."""
        longest = max(self._runs[-1].divisor, *map(len, queries))
        edits = np.empty((len(queries), len(self)), np.min_scalar_type(longest))
        n_compared = 0
        short = [row for row, query in enumerate(queries) if len(query) <= LONGEST_QUERY]
        for names in self._side_by_side:
            part = edits[:, n_compared : n_compared + len(names)]
            for row in short:
                names.distances(queries[row], part[row])
            n_compared += len(names)
        if n_compared < len(self):
            self._compare(queries, slice(None), slice(n_compared, None), edits)
        long = [row for row, query in enumerate(queries) if len(query) > LONGEST_QUERY]
        self._compare([queries[row] for row in long], long, slice(n_compared), edits)
        return edits

    def _compare(
        self,
        queries: Sequence[str],
        rows: slice | list[int],
        names: slice,
        edits: NDArray[np.unsignedinteger],
    ) -> None:
        """Write the edit distances of some names to the queries of some rows, by rapidfuzz."""
        if queries:  # else a slice of a million names would take as long as to compare them
            values, workers = self.values[names], self._workers(len(queries))
            found = cdist(queries, values, scorer=distance, dtype=edits.dtype, workers=workers)
            edits[rows, names] = found

    @cached_property
    def _side_by_side(self) -> list[BitParallel]:
        """Names from the shortest on, as many as are compared side by side."""
        names: list[BitParallel] = []
        begin = 0
        for bits in WIDTHS:
            end = int(self._lengths.searchsorted(bits, side='right'))
            if end - begin >= SIDE_BY_SIDE:  # else wider integers, or rapidfuzz, take them
                names.append(BitParallel(self.values[begin:end], self._lengths[begin:end], bits))
                begin = end
        return names

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        return np.fromiter(map(len, self.values), np.int64, len(self))

    @cached_property
    def _runs(self) -> list[Run]:
        lengths, begins = np.unique(self._lengths, return_index=True)
        borders = pairwise([*begins.tolist(), len(self)])
        return [
            Run(begin, end, length)
            for (begin, end), length in zip(borders, lengths.tolist(), strict=True)
        ]
