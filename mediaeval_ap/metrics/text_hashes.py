"""Lists of text as hashes of their bytes, made without an operation in Python for each label.

Only what is proved is hashed: lists of nothing but short text, without NUL. `label_input` takes,
or refuses, everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.metrics.label_input import LabelLists
from mediaeval_ap.tables.byte_words import WIDEST, words_at

Hashes: TypeAlias = NDArray[np.uint64]

ORDERED: frozenset[type] = frozenset({list, tuple})
NUL = '\0'
ODD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio: spreads bits upwards


class Unproved(Exception):
    """Raised where the fast path cannot prove its input; the slow path decides then."""


def lists_of_python(lists: Any) -> Sequence[Any]:
    """Return the lists if a list, a tuple or an object array holds them; else raise `Unproved`."""
    if type(lists) is np.ndarray and lists.ndim == 1 and lists.dtype == object:
        lists = lists.tolist()
    if type(lists) not in ORDERED:
        raise Unproved
    return lists  # type: ignore[no-any-return]


def lengths_of(lists: Sequence[Any], kinds: frozenset[type] = ORDERED) -> NDArray[np.int64]:
    """Return the number of labels of each list; refuse lists of other kinds."""
    if not kinds.issuperset(map(type, lists)):
        raise Unproved
    return np.fromiter(map(len, lists), np.int64, len(lists))


def joined(n_labels: int, *lists: Sequence[Any]) -> bytes:
    """Return the text of all labels of some sequences of lists, with NUL between labels."""
    filled = filter(None, chain(*lists))
    try:
        text = NUL.join(map(NUL.join, filled)).encode()
    except (TypeError, UnicodeEncodeError):  # no text; surrogates
        raise Unproved from None
    if len(text) > n_labels * (WIDEST + 1):  # found now, before more such text is kept
        raise Unproved
    return text


def hashed_lists(text: bytes, lengths: NDArray[np.int64]) -> LabelLists:
    """Return joined lists of some lengths, with hashes as codes."""
    hashes, words = _hashes(text, int(lengths.sum()))
    n_bits = 1 + len(lengths).bit_length()  # bits freed for the number of the list
    codes = (hashes >> np.uint64(n_bits)).view(np.int64)
    return LabelLists(codes, np.append(0, lengths.cumsum()), words)


def _hashes(text: bytes, n_labels: int) -> tuple[Hashes, list[Hashes]]:
    """Return a hash of each label of joined text, and the words of 8 bytes that it is made of."""
    if not n_labels:
        return np.empty(0, dtype=np.uint64), []
    buffer = np.frombuffer(text + bytes(WIDEST), np.uint8)
    ends = np.append(np.flatnonzero(buffer[: len(text)] == 0), len(text))
    if len(ends) != n_labels:  # NUL in a label
        raise Unproved
    starts = np.append(0, ends[:-1] + 1)
    sizes = ends - starts
    if sizes.max() > WIDEST:
        raise Unproved
    hashes, of_labels = np.zeros(n_labels, dtype=np.uint64), [*words_at(buffer, starts, sizes).T]
    for word in of_labels:
        hashes = (hashes ^ word) * ODD
        hashes ^= hashes >> np.uint64(32)
    return hashes, of_labels
