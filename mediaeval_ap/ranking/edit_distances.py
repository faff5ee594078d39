"""The normalized edit distances of queries to the distinct names of a run; the nearest names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from heapq import merge
from itertools import accumulate, compress
from operator import call
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance.Levenshtein import distance, normalized_distance
from rapidfuzz.process import cdist

from mediaeval_ap.arrays import CACHE_LINE, SpareArrays, run_starts
from mediaeval_ap.cores import on_all_cores, own_cores
from mediaeval_ap.tables.table import StoredTexts

BLOCK_CELLS = 4 << 20  # 32 MiB of distances at a time; half and double take as long
QUERIES_AT_ONCE = 16  # at least: with a million names, 4 take twice as long each, 32 as long
EDIT_CELLS = 32 << 20  # 32 MiB of edit distances, usually of one byte each
THREADED_CELLS = 1 << 18  # 3 ms on one core; starting threads costs 0.1 to 0.3 ms
# With fewer names, rapidfuzz compares them. At these numbers of names both ways take the same time:
# the first for one query, the second for several, which rapidfuzz compares together.
SIDE_BY_SIDE = 2_000
MANY_SIDE_BY_SIDE = 16_000
WIDTHS = (8, 16, 32, 64, 128)  # bits of the integer for a name; 128 are two words
WORD_BITS = 64
NAMES_IN_BLOCK = 1 << 15  # their columns fit the caches; half and double take a tenth longer
N_COLUMNS = 6  # arrays of one integer for each name that a step works on, and two for each word
CACHED_BYTES = 64 << 20  # enough for 32 letters in a million names of up to 16 letters
MOST_LETTERS = 64  # of a query: the bits of more distinct ones would take too much memory


@dataclass(eq=False)
class Quotients:
    """Distances of one query to all names, as doubles: for few names, or names in any order."""

    values: NDArray[np.float64]

    def __getitem__(self, names: NDArray[np.integer] | slice) -> NDArray[np.float64]:
        return self.values[names]

    def nearest(self, count: int) -> NDArray[np.int64]:
        """Return the nearest names, at least `count` or all: whole tie blocks in any order."""
        if count >= len(self.values):
            return np.arange(len(self.values))
        partitioned = self.values.copy()
        partitioned.partition(count)
        nearest: NDArray[np.int64] = (self.values <= partitioned[count]).nonzero()[0]
        return nearest


class LengthRange(NamedTuple):
    """Consecutive names whose numbers of edits have the same divisor: the longer length."""

    begin: int
    end: int
    divisor: int


@dataclass(eq=False)
class EditsByLength:
    """Edit distances of one query to names in order of length, divided only when needed."""

    edits: NDArray[np.unsignedinteger]
    length: int  # of the query
    lengths: NDArray[np.int64]
    ranges: Sequence[LengthRange]

    def __getitem__(self, names: NDArray[np.integer] | slice) -> NDArray[np.float64]:
        # A quotient of integers, rounded once: equal distances are equal doubles.
        return self.edits[names] / np.maximum(self.lengths[names], self.length)

    def nearest(self, count: int) -> NDArray[np.int64]:
        """Return the nearest names, as `Quotients.nearest` does."""
        if count >= len(self.edits):
            return np.arange(len(self.edits))
        # For names that are not longer than the query, the divisor is the length of the query.
        longer = [names for names in self.ranges if names.divisor > self.length]
        begin = longer[0].begin if longer else len(self.edits)
        all_ranges = [LengthRange(0, begin, self.length), *longer] if begin else longer
        farthest: dict[LengthRange, int] = {}
        n_names = 0
        radius = 0.0
        for quotient, names, edits in merge(*map(self._possible_distances, all_ranges)):
            if n_names >= count and quotient > radius:
                break
            radius = quotient
            farthest[names] = edits
            n_names += int(np.count_nonzero(self.edits[names.begin : names.end] == edits))
        nearest = [
            (self.edits[names.begin : names.end] <= edits).nonzero()[0] + names.begin
            for names, edits in farthest.items()
        ]
        return np.concatenate(nearest)

    def _possible_distances(self, names: LengthRange) -> Iterator[tuple[float, LengthRange, int]]:
        """Yield the possible distances of a range of names, ascending: (distance, range, edits)."""
        least = int(self.edits[names.begin : names.end].min())
        return ((edits / names.divisor, names, edits) for edits in range(least, names.divisor + 1))


Distances: TypeAlias = Quotients | EditsByLength  # names index them


class DistinctNames:
    """The distinct names of a run, in any order."""

    def __init__(self, values: Sequence[str]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def n_among(self, names: Collection[str]) -> int:
        """Return how many of these names are in a collection of distinct names."""
        if isinstance(self.values, StoredTexts):
            return sum(position >= 0 for position in self.values.positions(list(names)))
        return sum(name in names for name in self.values)

    def distances_from(self, queries: Sequence[str]) -> Iterator[Distances]:
        """Yield for each query its Levenshtein distances to the names, over the longer length."""
        # Single precision would merge distances between names of more than about 4,000 characters.
        block = max(QUERIES_AT_ONCE, BLOCK_CELLS // max(1, len(self)))
        for start in range(0, len(queries), block):
            batch = queries[start : start + block]
            n_threads = self._n_threads(len(batch))
            quotients = cdist(
                batch, self.values, scorer=normalized_distance, dtype=np.float64, workers=n_threads
            )
            yield from map(Quotients, quotients)

    def _n_threads(self, n_queries: int) -> int:
        return own_cores() if n_queries * len(self) > THREADED_CELLS else 1


class NamesByLength(DistinctNames):
    """The distinct names of a frozen run, in ascending order of length."""

    def __init__(
        self,
        values: Sequence[str],
        lengths: NDArray[np.int64],
        letters: tuple[NDArray[np.unsignedinteger], ...] | None = None,
    ) -> None:
        super().__init__(values)
        self.lengths = lengths
        if letters is not None:
            self.letters = letters

    @classmethod
    def from_unsorted(cls, values: Sequence[str]) -> tuple[NamesByLength, NDArray[np.int32]]:
        """Sort names by length; return them, and the new number of each of `values`."""
        lengths = np.array(list(map(len, values)), dtype=np.int64)
        order = lengths.argsort(kind='stable')
        numbers = np.empty(len(order), dtype=np.int32)
        numbers[order] = np.arange(len(order))
        return cls([values[number] for number in order.tolist()], lengths[order]), numbers

    @cached_property
    def letters(self) -> tuple[NDArray[np.unsignedinteger], ...]:
        """The letters of the shorter names, a row each: a matrix for each of `WIDTHS` that pays."""
        letters = []
        begin = 0
        for bits in WIDTHS:
            end = int(self.lengths.searchsorted(bits, side='right'))
            if end - begin >= SIDE_BY_SIDE:  # fewer go to the next width, or to rapidfuzz
                lengths = self.lengths[begin:end]
                letters.append(letter_matrix(self.values[begin:end], lengths, bits))
                begin = end
        return tuple(letters)

    def distances_from(self, queries: Sequence[str]) -> Iterator[Distances]:
        if len(self) < (SIDE_BY_SIDE if len(queries) == 1 else MANY_SIDE_BY_SIDE):
            yield from self._in_memory.distances_from(queries)
            return
        block = max(1, EDIT_CELLS // len(self))
        for start in range(0, len(queries), block):
            batch = queries[start : start + block]
            longest = max(self._ranges[-1].divisor, *map(len, batch))
            edits = np.empty((len(batch), len(self)), np.min_scalar_type(longest))
            self._compare(batch, edits)
            for query, row in zip(batch, edits, strict=True):
                yield EditsByLength(row, len(query), self.lengths, self._ranges)

    def _compare(self, queries: Sequence[str], edits: NDArray[np.unsignedinteger]) -> None:
        """Compute the edit distances, shape (n_queries, n_names), into `edits`."""

        def compare(queries: Sequence[str], names: Sequence[str]) -> NDArray[np.unsignedinteger]:
            n_threads = self._n_threads(len(queries))
            return cdist(queries, names, scorer=distance, dtype=edits.dtype, workers=n_threads)

        n_compared = 0
        has_many = np.array([len(set(query)) > MOST_LETTERS for query in queries])
        for names in self._bit_parallel:
            part = edits[:, n_compared : n_compared + len(names)]
            rows = np.flatnonzero(~has_many).tolist()
            work = [partial(names.distances, queries[row], part[row]) for row in rows]
            # Threads with shorter names would only wait for each other.
            if names.n_words > 1:
                on_all_cores(call, work)
            else:
                for compare_one in work:
                    compare_one()
            n_compared += len(names)
        if self._longer_names:
            edits[:, n_compared:] = compare(queries, self._longer_names)
        if n_compared and has_many.any():
            others = list(compress(queries, has_many))
            edits[has_many, :n_compared] = compare(others, self._in_memory.values[:n_compared])

    @cached_property
    def _bit_parallel(self) -> list[BitParallel]:
        """The names in each matrix of `letters`."""
        ends = accumulate(map(len, self.letters))
        return [
            BitParallel(letters, self.lengths[end - len(letters) : end])
            for letters, end in zip(self.letters, ends, strict=True)
        ]

    @cached_property
    def _longer_names(self) -> Sequence[str]:
        """The names that are in no matrix of `letters`, for rapidfuzz."""
        return list(self.values[sum(map(len, self.letters)) :])

    @cached_property
    def _in_memory(self) -> DistinctNames:
        """The same names with all texts in memory, for rapidfuzz."""
        return DistinctNames(list(self.values))

    @cached_property
    def _ranges(self) -> list[LengthRange]:
        begins = run_starts([self.lengths]).tolist()
        divisors = self.lengths[begins].tolist()
        return [*map(LengthRange, begins, [*begins[1:], len(self)], divisors)]


def letter_matrix(
    names: Sequence[str], lengths: NDArray[np.int64], bits: int
) -> NDArray[np.unsignedinteger]:
    """Return the code points of names, a row for each, padded with zeros to `bits` columns."""
    code_points = np.frombuffer(''.join(names).encode('utf-32-le'), '<u4')
    letters = np.zeros((len(names), bits), np.min_scalar_type(code_points.max(initial=0)))
    letters[np.arange(bits) < lengths[:, None]] = code_points
    return letters


class BitParallel:
    """Names, shortest first, to compare with a query: integers with a bit for each letter.

    The dynamic programming matrix of a query and a name is computed column by column, a column for
    each letter of the query. Neighbours in a column differ by -1, 0 or 1. So two integers describe
    a column: in `grows` the bits of the letters at which it grows by 1 are set, in `falls` those at
    which it falls by 1. Each step takes a dozen operations on integers (Myers 1999,
    https://doi.org/10.1145/316542.316550; Hyyrö 2003), here on arrays of one integer for each name.
    A name of more than 64 letters is two integers; the second begins where the first ends.

    For the query `ana` and the name `anna`, the last column is 3 2 1 1 1: it begins with the length
    of the query, falls at the letters 1 and 2, and never grows. The distance is 3 + 0 - 2 = 1.
    """

    def __init__(self, letters: NDArray[np.unsignedinteger], lengths: NDArray[np.int64]) -> None:
        bits = min(letters.shape[1], WORD_BITS)
        self._type = np.dtype(f'<u{bits // 8}')  # packed bits come in this order of bytes
        self._letters = letters
        self._lengths = lengths
        # Bits above the last letter never change those below.
        all_bits = self._type.type(-1 % (1 << bits))
        n_bits = np.clip(lengths - np.arange(0, letters.shape[1], bits)[:, None], 0, bits)
        self._all_letters = all_bits >> (bits - n_bits).astype(self._type)
        self.n_words = len(self._all_letters)
        self._cached_bits: dict[str, NDArray[np.unsignedinteger]] = {}
        self._columns = SpareArrays(self._type)

    def __len__(self) -> int:
        return len(self._letters)

    def distances(self, query: str, out: NDArray[np.unsignedinteger]) -> None:
        """Compute the edit distance of a query to each name; memory grows with its letters."""
        letter_bits = self._letter_bits(query)
        query_bits = [letter_bits[letter] for letter in query]
        # a whole number of cache lines, so that each column begins at one
        n_names = min(NAMES_IN_BLOCK, -(-len(out) // CACHE_LINE) * CACHE_LINE)
        n_columns = 2 * self.n_words + N_COLUMNS
        spare = self._columns.take(n_columns * n_names)
        columns = spare[: n_columns * n_names].reshape(n_columns, n_names)
        for begin in range(0, len(out), n_names):
            block = slice(begin, begin + n_names)
            n_words = -(-int(self._lengths[block][-1]) // WORD_BITS)
            all_letters = self._all_letters[:n_words, block]
            scratch = columns[: 2 * n_words + N_COLUMNS, : all_letters.shape[1]]
            # The column begins with the length of the query.
            out[block] = len(query)
            column = _last_column([bits[:n_words, block] for bits in query_bits], scratch)
            for grows, falls, mask in zip(*column, all_letters, strict=True):
                grows &= mask
                falls &= mask
                out[block] += np.bitwise_count(grows)
                out[block] -= np.bitwise_count(falls)
        self._columns.give_back(spare)

    def _letter_bits(self, query: str) -> dict[str, NDArray[np.unsignedinteger]]:
        """Return for each letter of a query its bits in each word and name: 1 where it is there."""
        cached = self._cached_bits
        letter_bits = {letter: cached[letter] for letter in query if letter in cached}
        uncached = [letter for letter in dict.fromkeys(query) if letter not in letter_bits]
        if uncached:
            # One array for all is large enough for the system to give it in large pages.
            bits = np.empty((len(uncached), *self._all_letters.shape), self._type)
            for begin in range(0, len(self), NAMES_IN_BLOCK):
                block = self._letters[begin : begin + NAMES_IN_BLOCK].reshape(-1)
                for letter, words in zip(uncached, bits, strict=True):
                    packed = np.packbits(block == ord(letter), bitorder='little').view(self._type)
                    words[:, begin : begin + NAMES_IN_BLOCK] = packed.reshape(-1, len(words)).T
            letter_bits.update(zip(uncached, bits, strict=True))
            if (len(self._cached_bits) + len(uncached)) * bits[0].nbytes > CACHED_BYTES:
                self._cached_bits = {}  # other threads may be reading the old one
            if bits.nbytes <= CACHED_BYTES:
                self._cached_bits.update((letter, letter_bits[letter]) for letter in uncached)
        return letter_bits


def _last_column(
    query_bits: Sequence[NDArray[np.unsignedinteger]], scratch: NDArray[np.unsignedinteger]
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.unsignedinteger]]:
    """Return, by word, the bits at which the last column grows, and those at which it falls."""
    diagonal, not_right, falls_right, entering, not_above, falls_above = scratch[:N_COLUMNS]
    all_grows, all_falls = scratch[N_COLUMNS::2], scratch[N_COLUMNS + 1 :: 2]
    all_grows.fill(-1 % (1 << 8 * scratch.itemsize))
    all_falls.fill(0)
    n_words = len(all_grows)
    words = [*zip(range(n_words), all_grows, all_falls, strict=True)]
    for letter_bits in query_bits:
        for word, grows, falls in words:
            equal = letter_bits[word]
            if word:  # where the row above falls, the diagonal does not grow, as at an equal letter
                equal = np.bitwise_or(equal, falls_above, out=entering)
            # where the diagonal does not grow: (((equal & grows) + grows) ^ grows) | equal | falls
            np.bitwise_and(equal, grows, out=diagonal)
            diagonal += grows
            diagonal ^= grows
            diagonal |= equal
            diagonal |= falls
            # to the right, the row falls (diagonal & grows) or does not grow; both move up by a
            # letter, the last one into the next word
            np.bitwise_or(diagonal, grows, out=not_right)
            not_right ^= falls
            np.bitwise_and(diagonal, grows, out=falls_right)
            if word + 1 < n_words:
                np.right_shift(not_right, WORD_BITS - 1, out=not_above)
                np.right_shift(falls_right, WORD_BITS - 1, out=falls_above)
            not_right += not_right
            falls_right += falls_right
            if word:
                not_right |= not_above
                falls_right |= falls_above
            # falls = diagonal & ~not_right; grows = falls_right | (not_right & ~diagonal)
            np.bitwise_and(diagonal, not_right, out=grows)
            np.bitwise_xor(diagonal, grows, out=falls)
            grows ^= not_right
            grows |= falls_right
    return all_grows, all_falls
