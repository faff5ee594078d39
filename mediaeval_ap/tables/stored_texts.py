"""Distinct texts that stay bytes, as of a mapped file, and are decoded when they are asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import ranges

FEW = 100  # so many texts are decoded sooner one by one than together
TEXTS_IN_BLOCK = 1 << 16  # a choice: some megabytes of text at a time


def encoded(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return texts as UTF-8, one after another, and where each of them ends."""
    each = [text.encode() for text in texts]
    ends = np.fromiter(map(len, each), np.int64, len(each)).cumsum()
    return np.frombuffer(b''.join(each), np.uint8), ends


def texts_at(texts: Sequence[str], at: NDArray[np.integer]) -> list[str]:
    """Return the texts at some positions."""
    if isinstance(texts, StoredTexts) and len(at) > FEW:
        return texts.together(at)
    return [texts[position] for position in at.tolist()]


class StoredTexts(Sequence[str]):
    """Distinct texts as UTF-8, in the ascending order of a key."""

    def __init__(
        self,
        content: NDArray[np.uint8],
        ends: NDArray[np.int64],
        key: Callable[[str], Any] = str,
    ) -> None:
        self.content = content
        self.ends = ends
        self._key = key

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            begin, end, step = at.indices(len(self))
            if step != 1:
                raise ValueError(f'found a step of {step}, expected texts one after another')
            return self._between(begin, end) if begin < end else []
        number = range(len(self))[at]
        begin = int(self.ends[number - 1]) if number else 0
        return self.content[begin : self.ends[number]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        for begin in range(0, len(self), TEXTS_IN_BLOCK):
            yield from self[begin : begin + TEXTS_IN_BLOCK]

    def _between(self, begin: int, end: int) -> list[str]:
        first = int(self.ends[begin - 1]) if begin else 0
        return _decoded(self.content[first : self.ends[end - 1]], self.ends[begin:end] - first)

    def together(self, at: NDArray[np.integer]) -> list[str]:
        """Return the texts at some positions, which are not negative."""
        texts = []
        for begin in range(0, len(at), TEXTS_IN_BLOCK):
            some = at[begin : begin + TEXTS_IN_BLOCK]
            begins = np.where(some > 0, self.ends[some - 1], 0)
            sizes = self.ends[some] - begins
            texts += _decoded(self.content[ranges(begins, sizes)], sizes.cumsum())
        return texts

    def positions(self, wanted: Sequence[str]) -> list[int]:
        """Return the position of each wanted text, or -1."""
        if len(wanted) * len(self).bit_length() < len(self):
            return list(map(self._position, wanted))
        # All of them are decoded, which takes less time, but a block at a time.
        is_wanted = set(wanted)
        found = {text: position for position, text in enumerate(self) if text in is_wanted}
        return [found.get(text, -1) for text in wanted]

    def _position(self, text: str) -> int:
        position = bisect_left(self, self._key(text), key=self._key)
        return position if position < len(self) and self[position] == text else -1


def _decoded(content: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[str]:
    """Decode texts that stand one after another."""
    stops = ends.tolist()
    as_bytes = content.tobytes()
    if as_bytes.isascii():  # a byte for each character
        text = as_bytes.decode()
        return [text[a:b] for a, b in zip([0, *stops], stops, strict=False)]
    return [as_bytes[a:b].decode() for a, b in zip([0, *stops], stops, strict=False)]
