"""The normalized edit distances of queries to the distinct names of a run; the nearest names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from heapq import merge
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance.Levenshtein import distance, normalized_distance
from rapidfuzz.process import cdist

from mediaeval_ap.arrays import LentArray, SpareArrays, run_starts
from mediaeval_ap.cores import own_cores
from mediaeval_ap.ranking.bit_parallel import LONGEST_QUERY, BitParallel, letter_matrix
from mediaeval_ap.tables.table import StoredTexts

BLOCK_CELLS = 4 << 20  # 32 MiB of distances at a time; half and double take as long
QUERIES_AT_ONCE = 16  # at least: with a million names 4 take twice as long each, 32 as long
EDIT_CELLS = 32 << 20  # 32 MiB of edit distances, of one byte as a rule
THREADED_CELLS = 1 << 18  # 3 ms of one core, where starting threads costs 0.1 to 0.3 ms
USUAL_CHARACTERS = 64  # what rapidfuzz compares in one machine word; longer names take longer
# From so many names on they are compared side by side. At these numbers both ways take as long:
# with one query, and with several, which rapidfuzz compares together.
SIDE_BY_SIDE = 2_000
MANY_SIDE_BY_SIDE = 16_000
WIDTHS = (8, 16, 32, 64)  # bits of integers
NAMES_IN_RANGE = 1 << 16  # at most


class Distances(Protocol):
    """The normalized distances of one query, which names index."""

    def __getitem__(self, names: NDArray[np.integer] | slice, /) -> NDArray[np.float64]: ...

    def nearest(self, count: int) -> NDArray[np.int64]:
        """Return at least so many nearest names, or all: whole tie blocks, in no order."""


class Quotients:
    """Distances to all names as they are: for few names, or names in no order."""

    def __init__(self, values: NDArray[np.float64]) -> None:
        self._values = values

    def __getitem__(self, names: NDArray[np.integer] | slice) -> NDArray[np.float64]:
        return self._values[names]

    def nearest(self, count: int) -> NDArray[np.int64]:
        if count >= len(self._values):
            return np.arange(len(self._values))
        partitioned = self._values.copy()
        partitioned.partition(count)
        within: NDArray[np.int64] = (self._values <= partitioned[count]).nonzero()[0]
        return within


class LengthRange(NamedTuple):
    """Consecutive names, not too many, whose edits are divided by one number."""

    begin: int
    end: int
    divisor: int


def _in_pieces(begin: int, end: int, divisor: int) -> Iterator[LengthRange]:
    """Yield ranges so short that the system does not map their marks anew each time."""
    for first in range(begin, end, NAMES_IN_RANGE):
        yield LengthRange(first, min(first + NAMES_IN_RANGE, end), divisor)


class EditsByLength:
    """Edit distances to names in order of length, not divided until they are asked for.

    Names of one length have one divisor, so their edits, small integers, order them.
    """

    def __init__(
        self,
        edits: NDArray[np.unsignedinteger],
        length: int,
        lengths: NDArray[np.int64],
        ranges: Sequence[LengthRange],
        lent: LentArray | None = None,
    ) -> None:
        self._edits = edits
        self._length = length  # of the query
        self._lengths = lengths
        self._ranges = ranges
        self._lent = lent  # the edits are on it, and others will be once these are not held

    def __getitem__(self, names: NDArray[np.integer] | slice) -> NDArray[np.float64]:
        # A quotient of integers, rounded once: equal distances are equal doubles.
        return self._edits[names] / np.maximum(self._lengths[names], self._length)

    def nearest(self, count: int) -> NDArray[np.int64]:
        if count >= len(self._edits):
            return np.arange(len(self._edits))
        farthest: dict[LengthRange, int] = {}
        n_names, radius = 0, 0.0
        for next_, names, edits in merge(*map(self._ascending, self._merged_ranges())):
            if n_names >= count and next_ > radius:
                break
            radius, farthest[names] = next_, edits
            n_names += int(np.count_nonzero(self._edits[names.begin : names.end] == edits))
        within = [
            (self._edits[names.begin : names.end] <= edits).nonzero()[0] + names.begin
            for names, edits in farthest.items()
        ]
        return np.concatenate(within)

    def _merged_ranges(self) -> list[LengthRange]:
        """Return ranges of one divisor, which is at least the length of the query."""
        longer = [each for each in self._ranges if each.divisor > self._length]
        begin = longer[0].begin if longer else len(self._edits)
        return [*_in_pieces(0, begin, self._length), *longer]

    def _ascending(self, names: LengthRange) -> Iterator[tuple[float, LengthRange, int]]:
        """Return the distances that names of a range may have, from the least one on."""
        least = int(self._edits[names.begin : names.end].min())
        return ((edits / names.divisor, names, edits) for edits in range(least, names.divisor + 1))


class Names:
    """The distinct names of a run, in any order."""

    def __init__(self, values: Sequence[str]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def n_among(self, names: Collection[str]) -> int:
        """Return how many of the names are among others, which are distinct."""
        if isinstance(self.values, StoredTexts):
            return sum(position >= 0 for position in self.values.positions(list(names)))
        return sum(name in names for name in self.values)

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
        return own_cores() if is_much else 1

    @cached_property
    def _n_characters(self) -> int:
        return sum(map(len, self.values))


class NameColumns(NamedTuple):
    """Lengths and letters of names in ascending order of length, for queries without their texts.

    The first names, as many as are compared side by side, have their letters in matrices of 8, 16,
    32 or 64 columns, narrow ones first, one after another: a row for each name (`letter_matrix`).
    """

    lengths: NDArray[np.int64]  # in letters, shape (n_names,)
    letters: tuple[NDArray[np.unsignedinteger], ...]  # each of shape (names in it, width)


class NamesByLength(Names):
    """The distinct names of a run in ascending order of length, which do not change."""

    @classmethod
    def from_columns(cls, values: Sequence[str], columns: NameColumns) -> NamesByLength:
        """Make names of which these are the columns; a text is read only where it is compared."""
        names = cls(values)
        names.columns = columns
        names._lengths = columns.lengths
        return names

    @cached_property
    def _spare(self) -> SpareArrays:
        return SpareArrays(np.uint8)

    @cached_property
    def columns(self) -> NameColumns:
        """The lengths and letters, which depend on no query, so that a store can hold them."""
        lengths = self._lengths
        letters = []
        begin = 0
        for bits in WIDTHS:
            end = int(lengths.searchsorted(bits, side='right'))
            if end - begin >= SIDE_BY_SIDE:  # else wider integers, or rapidfuzz, take them
                letters.append(letter_matrix(self.values[begin:end], lengths[begin:end], bits))
                begin = end
        return NameColumns(lengths, tuple(letters))

    def measured(self, queries: Sequence[str]) -> Iterator[Distances]:
        if len(self) < (SIDE_BY_SIDE if len(queries) == 1 else MANY_SIDE_BY_SIDE):
            yield from self._one_by_one.measured(queries)
            return
        block = max(1, EDIT_CELLS // len(self))
        for start in range(0, len(queries), block):
            asked = queries[start : start + block]
            longest = max(self._ranges[-1].divisor, *map(len, asked))
            dtype = np.min_scalar_type(longest)
            lent = None
            if len(asked) == 1:  # a session asks one after another, a batch all of them at once
                lent = self._spare.lend(len(self) * dtype.itemsize)
                edits = lent.array[: len(self) * dtype.itemsize].view(dtype).reshape(1, -1)
            else:
                edits = np.empty((len(asked), len(self)), dtype)
            self._compare(asked, edits)
            for query, row in zip(asked, edits, strict=True):
                yield EditsByLength(row, len(query), self._lengths, self._ranges, lent)

    def _compare(self, queries: Sequence[str], edits: NDArray[np.unsignedinteger]) -> None:
        """Write edit distances, shape (n_queries, n_names)."""
        n_compared = 0
        short = [row for row, query in enumerate(queries) if len(query) <= LONGEST_QUERY]
        for names in self._side_by_side:
            part = edits[:, n_compared : n_compared + len(names)]
            for row in short:
                names.distances(queries[row], part[row])
            n_compared += len(names)
        if self._others:
            edits[:, n_compared:] = self._compared(queries, self._others, edits.dtype)
        long = [row for row, query in enumerate(queries) if len(query) > LONGEST_QUERY]
        if long and n_compared:
            asked = [queries[row] for row in long]
            texts = self._one_by_one.values[:n_compared]
            edits[long, :n_compared] = self._compared(asked, texts, edits.dtype)

    def _compared(
        self, queries: Sequence[str], names: Sequence[str], dtype: np.dtype[Any]
    ) -> NDArray[np.unsignedinteger]:
        """Return edit distances by rapidfuzz, shape (n_queries, n_names)."""
        workers = self._workers(len(queries))
        return cdist(queries, names, scorer=distance, dtype=dtype, workers=workers)

    @cached_property
    def _side_by_side(self) -> list[BitParallel]:
        """Names from the shortest on, as many as are compared side by side."""
        ends = accumulate(map(len, self.columns.letters))
        return [
            BitParallel(letters, self._lengths[end - len(letters) : end])
            for letters, end in zip(self.columns.letters, ends, strict=True)
        ]

    @cached_property
    def _others(self) -> Sequence[str]:
        """The names after those that are compared side by side."""
        return list(self.values[sum(map(len, self.columns.letters)) :])

    @cached_property
    def _one_by_one(self) -> Names:
        """The same names with all texts in memory, to be compared by rapidfuzz."""
        return Names(list(self.values))

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        return np.fromiter(map(len, self.values), np.int64, len(self))

    @cached_property
    def _n_characters(self) -> int:
        return int(self._lengths.sum())

    @cached_property
    def _ranges(self) -> list[LengthRange]:
        begins = run_starts([self._lengths]).tolist()
        return [
            each
            for begin, end in pairwise([*begins, len(self)])
            for each in _in_pieces(begin, end, int(self._lengths[begin]))
        ]
