"""Operations on arrays: integer keys, runs of equal rows, ranges, and texts as words."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

# If the largest key is below DENSE times the number of keys, `number_keys` marks the keys that
# occur; otherwise it sorts. At this limit, marking takes 1 to 2 times as long as sorting with
# AVX-512, and a third as long without AVX; at twice the limit, 2 to 5 times and two thirds.
DENSE = 4
SPARSE = 16  # the same for `first_equal`, where a table takes a quarter to two thirds of the time
MIN_PACKED_KEYS = 1000  # fewer keys are sorted faster alone than by a table, or with positions
CACHE_LINE = 64  # bytes
LARGEST_KEY = 2**62  # half the range of int64, so that no product or sum overflows
WORD = 8  # bytes
MAX_PACKED_BYTES = 64  # the longest text packed into words: each further word slows short ones, too
# `WORD_MASKS[i][n_bytes]` keeps the bytes of word i that belong to a text of `n_bytes`. The first
# byte of a word is its lowest.
_masks = np.array([(1 << 8 * n_bytes) - 1 for n_bytes in range(WORD + 1)], dtype=np.uint64)
_bytes_left = np.arange(MAX_PACKED_BYTES + 1) - np.arange(0, MAX_PACKED_BYTES, WORD)[:, None]
WORD_MASKS = _masks[_bytes_left.clip(0, WORD)]

HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / the golden ratio: spreads bits
ROWS_HASHED_AT_ONCE = 1 << 15  # 32 times as many take a third more time

Floats: TypeAlias = NDArray[np.float64]
Key = TypeVar('Key', bound=np.integer)


class SpareArrays:
    """A pool of scratch arrays, one per concurrent user; interrupted users give none back."""

    # A new array for each query would be slow where freed memory returns to the system at once, as
    # in Dask's workers (`MALLOC_TRIM_THRESHOLD_`): the system maps each array again, page by page.

    def __init__(self, dtype: DTypeLike) -> None:
        self._dtype = np.dtype(dtype)
        self._spare: list[NDArray[Any]] = []

    def take(self, size: int) -> NDArray[Any]:
        """Return an array with at least `size` items: zeros, or leftovers of its last user."""
        with suppress(IndexError):
            array = self._spare.pop()  # atomic: no two threads get the same array
            if len(array) >= size:
                return array
        # Loops over zeros that begin at a cache line take a sixth less time.
        n_bytes = size * self._dtype.itemsize
        zeros = np.zeros(n_bytes + CACHE_LINE, np.uint8)
        begin = -zeros.ctypes.data % CACHE_LINE
        return zeros[begin : begin + n_bytes].view(self._dtype)

    def give_back(self, array: NDArray[Any]) -> None:
        """Keep an array for the next user."""
        self._spare.append(array)


def combine(columns: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
    """Combine columns of numbers from 0 into one key per row, equal where all columns are equal.

    >>> combine([np.array([0, 1, 0]), np.array([2, 0, 2])]).tolist()
    [2, 3, 2]
    """
    keys = columns[0].astype(np.int64)
    n_keys = int(keys.max(initial=0)) + 1
    for column in columns[1:]:
        n_values = int(column.max(initial=0)) + 1
        if n_keys * n_values > LARGEST_KEY:
            keys = number_keys(keys)[1].astype(np.int64)
            n_keys = int(keys.max()) + 1
        if n_keys * n_values > LARGEST_KEY:
            column = number_keys(column)[1]
            n_values = int(column.max()) + 1
        keys = keys * n_values + column
        n_keys *= n_values
    return keys


def sort_keys(keys: NDArray[Key]) -> tuple[NDArray[np.int64], NDArray[Key]]:
    """Sort keys stably; return their positions in ascending order, and the sorted keys."""
    if len(keys) < MIN_PACKED_KEYS or keys.min(initial=0) < 0:
        positions = keys.argsort(kind='stable')
        return positions, keys[positions]
    bits = int(keys.max(initial=0)).bit_length()
    cut = max(0, bits + len(keys).bit_length() - 64)
    positions = order_of_narrow_keys(keys >> cut)
    sorted_keys = keys[positions]
    # The first bits often decide: doubles that were written with a few digits differ there.
    if cut and (sorted_keys[1:] < sorted_keys[:-1]).any():
        positions = order_of_narrow_keys(keys & ((1 << cut) - 1))
        positions = positions[order_of_narrow_keys(keys[positions] >> cut)]
        sorted_keys = keys[positions]
    return positions, sorted_keys


def order_of_narrow_keys(keys: NDArray[Key]) -> NDArray[np.int64]:
    """Order keys that fit, each with a position, in 64 bits; overwrites `uint64` keys."""
    # Sorting integers that hold a key and its position takes a quarter of the time of `argsort`.
    position_bits = len(keys).bit_length()
    packed = keys.astype(np.uint64, copy=False)
    packed <<= position_bits
    packed |= np.arange(len(keys), dtype=np.uint32)
    packed.sort()
    packed &= (1 << position_bits) - 1
    return packed.view(np.int64)


def number_keys(keys: NDArray[Key]) -> tuple[NDArray[Key], NDArray[np.int32]]:
    """Return the distinct keys, ascending, and the number of each key among them, from 0.

    >>> distinct, number = number_keys(np.array([7, 3, 7]))
    >>> distinct.tolist(), number.tolist()
    ([3, 7], [1, 0, 1])
    """
    size = int(keys.max(initial=0)) + 1
    if size <= DENSE * len(keys):
        occurs = np.zeros(size, dtype=np.bool_)
        occurs[keys] = True
        number = occurs.cumsum(dtype=np.int32)
        number -= 1
        return occurs.nonzero()[0].astype(keys.dtype), number[keys]
    order, sorted_keys = sort_keys(keys)
    is_first = np.ones(len(keys), dtype=np.bool_)
    is_first[1:] = sorted_keys[1:] != sorted_keys[:-1]
    sorted_keys = sorted_keys[is_first]
    numbers = np.empty(len(keys), dtype=np.int32)
    numbers[order] = is_first.cumsum(dtype=np.int32)
    numbers -= 1
    return sorted_keys, numbers


def descending_ordinals(values: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the number of each finite value among the distinct ones, from 0 for the largest."""
    if not len(values):
        return np.empty(0, dtype=np.int32)
    bits = (0.0 - values).view(np.int64)  # 0.0 for both zeros
    bits ^= (bits >> 63) & np.iinfo(np.int64).max  # integers in the order of the doubles
    bits -= bits.min()
    return number_keys(bits.view(np.uint64))[1]


def first_occurrences(keys: NDArray[Key]) -> NDArray[np.int64]:
    """Return the position of each distinct key's first occurrence, ascending."""
    first_by_table = _first_by_table(keys)
    if first_by_table is not None:
        return np.flatnonzero(first_by_table == np.arange(len(keys)))
    positions, sorted_keys = sort_keys(keys)
    first: NDArray[np.int64] = positions[run_starts([sorted_keys])]
    first.sort()
    return first


def first_equal(keys: NDArray[Key]) -> NDArray[np.int64]:
    """Return, for each key, the position of the first equal key."""
    first_by_table = _first_by_table(keys)
    if first_by_table is not None:
        return first_by_table
    positions, sorted_keys = sort_keys(keys)
    begins = run_starts([sorted_keys])
    earliest = np.empty(len(keys), dtype=np.int64)
    earliest[positions] = positions[begins].repeat(np.diff(begins, append=len(keys)))
    return earliest


def _first_by_table(keys: NDArray[Key]) -> NDArray[np.int64] | None:
    """Return what `first_equal` returns, or None if sorting takes less time."""
    if len(keys) < MIN_PACKED_KEYS or keys.min(initial=0) < 0:
        return None
    largest = int(keys.max(initial=0))
    if largest >= SPARSE * len(keys):
        return None
    first_of_key = np.full(largest + 1, len(keys))
    np.minimum.at(first_of_key, keys, np.arange(len(keys)))
    first: NDArray[np.int64] = first_of_key[keys]
    return first


def find(keys: NDArray[np.integer], sought: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the position of each sought key among ascending `keys`, or -1."""
    if not len(keys):
        return np.full(len(sought), -1)
    positions = keys.searchsorted(sought)
    return np.where(keys.take(positions, mode='clip') == sought, positions, -1)


def run_starts(columns: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Return the first position of each run of equal rows; `columns` hold the rows' values."""
    begins = np.zeros(len(columns[0]), dtype=np.bool_)
    begins[:1] = True
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(begins)


def ranks_in_runs(begins: NDArray[np.int64], n_rows: int) -> NDArray[np.int64]:
    """Return the position of each row in its run of rows, from 1; runs start at `begins`."""
    return np.arange(1, n_rows + 1) - begins.repeat(np.diff(begins, append=n_rows))


def ranges(starts: NDArray[np.integer], sizes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Concatenate ranges of integers, each given by its start and size.

    >>> ranges(np.array([5, 0]), np.array([3, 2])).tolist()
    [5, 6, 7, 0, 1]
    """
    offsets: NDArray[np.int64] = (starts + sizes - sizes.cumsum()).repeat(sizes)
    return offsets + np.arange(len(offsets))


def first_above(
    values: NDArray[np.integer], begins: NDArray[np.int64], ends: NDArray[np.int64], limit: int
) -> NDArray[np.int64]:
    """Return the first position of a value above `limit` in each ascending range, or its end."""
    low = begins.copy()
    high = ends.copy()
    unfinished = (low < high).nonzero()[0]
    while len(unfinished):
        middle = (low[unfinished] + high[unfinished]) // 2
        is_above = values[middle] > limit
        high[unfinished[is_above]] = middle[is_above]
        low[unfinished[~is_above]] = middle[~is_above] + 1
        unfinished = unfinished[low[unfinished] < high[unfinished]]
    return low


# Texts within a buffer of bytes, packed into words of 8 bytes.


def width_for(n_bytes: int) -> int:
    """Round a number of bytes up to whole words."""
    return -(-n_bytes // WORD) * WORD


def words_at(
    buffer: NDArray[np.uint8], begins: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Pack texts into rows of words; the buffer has `MAX_PACKED_BYTES` or more after each start."""
    width = width_for(int(sizes.max(initial=1)))
    # numpy copies overlapping items fastest if they are not numbers (`V`).
    view = np.ndarray((len(buffer) - width + 1,), f'V{width}', buffer, strides=(1,))
    words: NDArray[np.uint64] = view[begins].view('<u8').reshape(-1, width // WORD)
    for word in range(width // WORD):
        words[:, word] &= WORD_MASKS[word][sizes]
    return words


def hash_words(columns: Sequence[NDArray[np.integer]], n_rows: int) -> NDArray[np.uint64]:
    """Return a hash of each row of words; words of 0 at its end change nothing."""
    hashes = np.zeros(n_rows, dtype=np.uint64)
    for begin in range(0, n_rows, ROWS_HASHED_AT_ONCE):
        rows = slice(begin, begin + ROWS_HASHED_AT_ONCE)
        block = hashes[rows]
        for column in reversed(columns):
            block ^= column[rows].astype(np.uint64, copy=False)
            block *= HASH_FACTOR
            block ^= block >> np.uint64(32)
    return hashes
