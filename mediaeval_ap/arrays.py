"""Arrays of integer keys: first occurrences, positions, runs, ranges. Spare arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

# If the largest key is below DENSE times their number, the keys that occur are marked; otherwise
# keys are sorted. At this limit marking takes once or twice the time of sorting with AVX-512, and a
# third without AVX; at twice the limit, two to five times, and two thirds.
DENSE = 4
FEW = 1000  # fewer keys are sorted sooner as they are than packed with something
CACHE_LINE = 64  # bytes
LARGEST_KEY = 2**62  # half of what int64 holds, so that no product or sum overflows

Floats: TypeAlias = NDArray[np.float64]
Key = TypeVar('Key', bound=np.integer)
WORD = 8  # bytes
WIDEST = 64  # bytes of a text that is taken as words: each further word costs shorter texts, too
# For each word of a window, and a number of bytes from its begin: ones in those of the word among
# them. The first byte of a word is its lowest.
AMONG_FIRST = np.array(
    [
        [(1 << 8 * min(max(n_bytes - begin, 0), WORD)) - 1 for n_bytes in range(WIDEST + 1)]
        for begin in range(0, WIDEST, WORD)
    ],
    dtype=np.uint64,
)


class SpareArrays:
    """A pool of scratch arrays, one per concurrent user; an interrupted one gives none back.

    The system would map an array that is made for each query anew, page by page, where memory is
    given back at once, as in Dask's workers (`MALLOC_TRIM_THRESHOLD_`).
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self._dtype = np.dtype(dtype)
        self._spare: list[NDArray[Any]] = []

    def take(self, size: int) -> NDArray[Any]:
        """Return an array of at least a size: zeros, or what the last user left."""
        try:
            array = self._spare.pop()  # which no two threads do at the same time
        except IndexError:
            return _aligned_zeros(size, self._dtype)
        return array if len(array) >= size else _aligned_zeros(size, self._dtype)

    def give_back(self, array: NDArray[Any]) -> None:
        """Keep an array for the next user."""
        self._spare.append(array)


def _aligned_zeros(size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return zeros that begin at a cache line, so that steps over them take a sixth less time."""
    n_bytes = size * dtype.itemsize
    zeros = np.zeros(n_bytes + CACHE_LINE, np.uint8)
    begin = -zeros.ctypes.data % CACHE_LINE
    return zeros[begin : begin + n_bytes].view(dtype)


def combine(columns: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
    """Return keys that are equal where all columns of numbers from 0 are."""
    keys = columns[0].astype(np.int64)
    size = int(keys.max(initial=0)) + 1
    for column in columns[1:]:
        n_values = int(column.max(initial=0)) + 1
        if size * n_values > LARGEST_KEY:
            keys = numbered(keys)[1].astype(np.int64)
            size = int(keys.max()) + 1
        if size * n_values > LARGEST_KEY:
            column = numbered(column)[1]
            n_values = int(column.max()) + 1
        keys = keys * n_values + column
        size *= n_values
    return keys


def ascending(keys: NDArray[Key]) -> tuple[NDArray[np.int64], NDArray[Key]]:
    """Return the positions of keys in ascending order, equal ones as they stand, and the keys."""
    if len(keys) < FEW or keys.min(initial=0) < 0:
        positions = keys.argsort(kind='stable')
        return positions, keys[positions]
    bits = int(keys.max(initial=0)).bit_length()
    cut = max(0, bits + len(keys).bit_length() - 64)
    positions = order_of_narrow(keys >> cut)
    ordered = keys[positions]
    # The first bits often decide, as those of doubles do that were written with a few digits.
    if cut and (ordered[1:] < ordered[:-1]).any():
        positions = order_of_narrow(keys & ((1 << cut) - 1))
        positions = positions[order_of_narrow(keys[positions] >> cut)]
        ordered = keys[positions]
    return positions, ordered


def order_of_narrow(keys: NDArray[Key]) -> NDArray[np.int64]:
    """Return the positions of keys in ascending order; keys leave bits for them, and may change."""
    # Sorting integers that hold a key and its position takes a quarter of the time of `argsort`.
    position_bits = len(keys).bit_length()
    both = keys.astype(np.uint64, copy=False)
    both <<= position_bits
    both |= np.arange(len(keys), dtype=np.uint32)
    both.sort()
    both &= (1 << position_bits) - 1
    return both.view(np.int64)


def numbered(keys: NDArray[Key]) -> tuple[NDArray[Key], NDArray[np.int32]]:
    """Return the distinct keys from 0, ascending, and the number that each has among them."""
    size = int(keys.max(initial=0)) + 1
    if size <= DENSE * len(keys):
        is_held = np.zeros(size, dtype=np.bool_)
        is_held[keys] = True
        number = is_held.cumsum(dtype=np.int32)
        number -= 1
        return is_held.nonzero()[0].astype(keys.dtype), number[keys]
    order, ordered = ascending(keys)
    begins = np.ones(len(keys), dtype=np.bool_)
    begins[1:] = ordered[1:] != ordered[:-1]
    ordered = ordered[begins]
    numbers = np.empty(len(keys), dtype=np.int32)
    numbers[order] = begins.cumsum(dtype=np.int32)
    numbers -= 1
    return ordered, numbers


def descending_ordinals(values: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the number of each finite value among the distinct values, the largest first."""
    if not len(values):
        return np.empty(0, dtype=np.int32)
    bits = (0.0 - values).view(np.int64)  # 0.0 for both zeros
    bits ^= (bits >> 63) & np.iinfo(np.int64).max  # integers in the order of the doubles
    bits -= bits.min()
    return numbered(bits.view(np.uint64))[1]


def first_occurrences(keys: NDArray[Key]) -> NDArray[np.int64]:
    """Return the position of the first of each distinct key, ascending."""
    positions, ordered = ascending(keys)
    first: NDArray[np.int64] = positions[run_starts([ordered])]
    first.sort()
    return first


def first_equal(keys: NDArray[Key]) -> NDArray[np.int64]:
    """Return for each key the position of the first that is equal."""
    positions, ordered = ascending(keys)
    begins = run_starts([ordered])
    earliest = np.empty(len(keys), dtype=np.int64)
    earliest[positions] = positions[begins].repeat(np.diff(begins, append=len(keys)))
    return earliest


def find(keys: NDArray[np.integer], wanted: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the position of each wanted key among ascending keys, or -1."""
    if not len(keys):
        return np.full(len(wanted), -1)
    positions = keys.searchsorted(wanted)
    return np.where(keys.take(positions, mode='clip') == wanted, positions, -1)


def run_starts(columns: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Return the position at which each run of equal rows begins; columns hold the rows' values."""
    begins = np.zeros(len(columns[0]), dtype=np.bool_)
    begins[:1] = True
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(begins)


def ranks_in_runs(begins: NDArray[np.int64], n_rows: int) -> NDArray[np.int64]:
    """Return the position of each row in its run, from 1; runs begin at some rows."""
    ranks: NDArray[np.int64] = np.arange(1, n_rows + 1) - begins.repeat(
        np.diff(begins, append=n_rows)
    )
    return ranks


def ranges(starts: NDArray[np.integer], sizes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the integers of many ranges, one range after another."""
    offsets: NDArray[np.int64] = (starts + sizes - sizes.cumsum()).repeat(sizes)
    return offsets + np.arange(len(offsets))


def first_above(
    values: NDArray[np.integer],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    limit: int,
) -> NDArray[np.int64]:
    """Return the position of the first value above a limit in each ascending range, or its end."""
    low = begins.copy()
    high = ends.copy()
    open_ = (low < high).nonzero()[0]
    while len(open_):
        middle = (low[open_] + high[open_]) // 2
        is_above = values[middle] > limit
        high[open_[is_above]] = middle[is_above]
        low[open_[~is_above]] = middle[~is_above] + 1
        open_ = open_[low[open_] < high[open_]]
    return low


# Pieces of text in a block of bytes, as words of 8 bytes.


def width_for(n_bytes: int) -> int:
    """Round a number of bytes up to whole words."""
    return -(-n_bytes // WORD) * WORD


def words_at(
    buffer: NDArray[np.uint8], begins: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return texts of at most `WIDEST` bytes as words; the buffer goes on that far past starts."""
    width = width_for(int(sizes.max(initial=1)))
    # Overlapping items of one byte each that are not numbers are copied fastest.
    view = np.ndarray((len(buffer) - width + 1,), f'V{width}', buffer, strides=(1,))
    words: NDArray[np.uint64] = view[begins].view('<u8').reshape(-1, width // WORD)
    for position in range(width // WORD):
        words[:, position] &= AMONG_FIRST[position][sizes]
    return words
