"""Edit distances of one query to many names side by side, in integers of one bit for each letter.

The dynamic programming matrix of a query and a name is computed column by column, a column for each
letter of the query. Neighbours in a column differ by -1, 0 or 1, so that two integers hold all of
it: the bits of the letters where it grows, and of those where it falls. Each step takes a dozen
operations on integers (Myers 1999, https://doi.org/10.1145/316542.316550; Hyyrö 2003), here on
whole arrays, with an integer for each name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import CACHE_LINE, SpareArrays

NAMES_IN_BLOCK = 1 << 15  # their columns fit the caches; half and double take a tenth longer
N_COLUMNS = 5  # of integers, one for each name, that a step works on
# 32 letters of a million names of up to 16 letters, more of fewer names.
KEPT_BYTES = 64 << 20
LONGEST_QUERY = 64  # so that the letters of one query do not take more memory than names do


def letter_matrix(
    names: Sequence[str], lengths: NDArray[np.int64], bits: int
) -> NDArray[np.unsignedinteger]:
    """Return the letters of names, a row for each, filled up with zeros to a number of bits.

    They are code points, in the smallest of uint8, uint16 and uint32 that holds all of them.
    """
    code_points = np.frombuffer(''.join(names).encode('utf-32-le'), '<u4')
    letters = np.zeros((len(names), bits), np.min_scalar_type(code_points.max(initial=0)))
    letters[np.arange(bits) < lengths[:, None]] = code_points
    return letters


class BitParallel:
    """Names with no more letters than their integers have bits."""

    def __init__(self, letters: NDArray[np.unsignedinteger], lengths: NDArray[np.int64]) -> None:
        bits = letters.shape[1]
        self._type = np.dtype(f'<u{bits // 8}')  # packed bits come in this order of bytes
        self._letters = letters
        # Bits above the last letter never change those below.
        all_bits = self._type.type(-1 % (1 << bits))
        self._all_letters = all_bits >> (bits - lengths).astype(self._type)
        self._kept_bits: dict[str, NDArray[np.unsignedinteger]] = {}
        self._columns = SpareArrays(self._type)

    def __len__(self) -> int:
        return len(self._letters)

    def distances(self, query: str, out: NDArray[np.unsignedinteger]) -> None:
        """Write the edit distance of a query, which is not too long, to each name."""
        of_letter = self._bits_of(query)
        bits = [of_letter[letter] for letter in query]
        # whole cache lines, so that each column begins with one
        n_names = min(NAMES_IN_BLOCK, -(-len(out) // CACHE_LINE) * CACHE_LINE)
        spare = self._columns.take(N_COLUMNS * n_names)
        columns = spare[: N_COLUMNS * n_names].reshape(N_COLUMNS, n_names)
        for begin in range(0, len(out), n_names):
            block = slice(begin, begin + n_names)
            counted = self._all_letters[block]
            column = columns[:, : len(counted)]
            grows, falls = _last_column([each[block] for each in bits], column)
            grows &= counted
            falls &= counted
            # The column begins with the number of the query's letters.
            np.bitwise_count(grows, out=out[block])
            out[block] -= np.bitwise_count(falls)
            out[block] += len(query)
        self._columns.give_back(spare)

    def _bits_of(self, query: str) -> dict[str, NDArray[np.unsignedinteger]]:
        """Return the bits at which each letter of a query stands in each name."""
        kept = {letter: self._kept_bits[letter] for letter in query if letter in self._kept_bits}
        missing = [letter for letter in dict.fromkeys(query) if letter not in kept]
        if missing:
            # One array for all is large enough for the system to give it in large pages.
            bits = np.empty((len(missing), len(self)), self._type)
            for begin in range(0, len(self), NAMES_IN_BLOCK):
                block = self._letters[begin : begin + NAMES_IN_BLOCK].reshape(-1)
                for letter, row in zip(missing, bits, strict=True):
                    packed = np.packbits(block == ord(letter), bitorder='little')
                    row[begin : begin + NAMES_IN_BLOCK] = packed.view(self._type)
            kept.update(zip(missing, bits, strict=True))
            if (len(self._kept_bits) + len(missing)) * bits[0].nbytes > KEPT_BYTES:
                self._kept_bits.clear()
            if bits.nbytes <= KEPT_BYTES:
                self._kept_bits.update((letter, kept[letter]) for letter in missing)
        return kept


def _last_column(
    bits: Sequence[NDArray[np.unsignedinteger]],
    columns: NDArray[np.unsignedinteger],
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.unsignedinteger]]:
    """Return the bits at which the last column grows and falls, from the bits of each letter."""
    grows, falls, diagonal, not_right, falls_right = columns
    grows.fill(-1 % (1 << 8 * columns.itemsize))
    falls.fill(0)
    for equal in bits:
        # where the diagonal does not grow: (((equal & grows) + grows) ^ grows) | equal | falls
        np.bitwise_and(equal, grows, out=diagonal)
        diagonal += grows
        diagonal ^= grows
        diagonal |= equal
        diagonal |= falls
        # to the right, the row falls (diagonal & grows) or does not grow; both move up by a letter
        np.bitwise_or(diagonal, grows, out=not_right)
        not_right ^= falls
        not_right += not_right
        np.bitwise_and(diagonal, grows, out=falls_right)
        falls_right += falls_right
        # falls = diagonal & ~not_right; grows = falls_right | (not_right & ~diagonal)
        np.bitwise_and(diagonal, not_right, out=grows)
        np.bitwise_xor(diagonal, grows, out=falls)
        grows ^= not_right
        grows |= falls_right
    return grows, falls
