"""Pieces of text in a block of bytes, as words of 8 bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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


def width_for(n_bytes: int) -> int:
    """Return the bytes of the words that hold so many bytes."""
    return -(-n_bytes // WORD) * WORD


def windows(
    buffer: NDArray[np.uint8], begins: NDArray[np.int64], n_words: int
) -> NDArray[np.uint64]:
    """Return the bytes from some places on as words, an array of shape (n, n_words)."""
    size = n_words * WORD
    # Overlapping items of one byte each that are not numbers are copied fastest.
    view = np.ndarray((len(buffer) - size + 1,), f'V{size}', buffer, strides=(1,))
    words: NDArray[np.uint64] = view[begins].view('<u8').reshape(-1, n_words)
    return words


def words_at(
    buffer: NDArray[np.uint8], begins: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return texts of at most `WIDEST` bytes as words, filled up with 0.

    As many bytes have to follow the begin of each in the buffer.
    """
    n_words = width_for(int(sizes.max(initial=1))) // WORD
    words = windows(buffer, begins, n_words)
    for position in range(n_words):
        words[:, position] &= AMONG_FIRST[position][sizes]
    return words
