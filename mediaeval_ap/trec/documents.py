"""Documents of TREC as arrays of their bytes: made, hashed, put in order.

Short ones are in an array of fixed width, filled up with NUL bytes, which no text of a table holds.
So equal texts are equal in arrays of any width, and the order of the bytes is kept. Where one is
longer than `WIDEST`, the array holds a `bytes` object for each.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables import Column
from mediaeval_ap.tables.byte_words import WIDEST, WORD, width_for

Documents: TypeAlias = NDArray[Any]  # of `S8`, `S16`, … or of objects
ROWS_AT_ONCE = 1 << 15  # 32 times as many take a third more time to hash
# Odd, so that no bit of a product is lost.
_FACTORS = [pow(0x9E3779B97F4A7C15, power, 1 << 64) for power in range(1, WIDEST // WORD + 2)]


def documents_of(column: Column) -> Documents:
    """Return the texts of a column, row by row."""
    values = [value.encode() for value in column.values]
    return array_of(values)[column.codes]


def array_of(texts: list[bytes]) -> Documents:
    """Return an array of some texts."""
    longest = max(map(len, texts), default=1)
    if longest <= WIDEST:
        return np.array(texts, dtype=f'S{width_for(longest)}')
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def pair_keys(topic: NDArray[np.integer], documents: Documents) -> NDArray[np.int64]:
    """Return hashes of topics and documents: equal pairs have equal keys, others hardly ever.

    Documents of two arrays can be compared so if both or neither are objects.
    """
    keys = topic.astype(np.uint64) * _FACTORS[-1]
    if documents.dtype == object:
        keys += np.fromiter(map(hash, documents), np.int64, len(documents)).view(np.uint64)
        return keys.view(np.int64)
    words = documents.view('<u8').reshape(-1, documents.itemsize // WORD)
    for begin in range(0, len(words), ROWS_AT_ONCE):
        rows = slice(begin, begin + ROWS_AT_ONCE)
        for word, factor in zip(words[rows].T, _FACTORS, strict=False):
            # A word of 0 adds 0, so that keys do not depend on the width.
            mixed = (word ^ (word >> 32)) * factor
            keys[rows] += (mixed ^ (mixed >> 29)) * factor
    return keys.view(np.int64)


def descending(documents: Documents) -> NDArray[np.int64]:
    """Return a number for each document, by which they are in descending order of their bytes."""
    _, places = np.unique(documents, return_inverse=True)
    return -places
