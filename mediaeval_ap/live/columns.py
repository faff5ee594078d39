"""Columns that grow at their end, while older views of them stay as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST_CAPACITY = 64  # rows; a choice: an empty session takes 2 KB, and the size doubles from there


class Columns:
    """Append-only columns of one length, whose views other threads may go on reading."""

    def __init__(self, **types: Any) -> None:
        self._buffers = {name: np.empty(LEAST_CAPACITY, kind) for name, kind in types.items()}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._buffers[name][: self._size]

    def extend(self, **columns: NDArray[Any]) -> None:
        """Add rows at the end: O(n) time for n rows on average, as a full buffer doubles."""
        end = self._size + len(next(iter(columns.values())))
        for name, values in columns.items():
            if end > len(self._buffers[name]):
                grown = np.empty(2 * end, self._buffers[name].dtype)
                grown[: self._size] = self[name]
                self._buffers[name] = grown
            self._buffers[name][self._size : end] = values
        self._size = end

    def select(self, rows: NDArray[np.integer]) -> Columns:
        """Return a copy of some of the rows, with room for more."""
        selected = Columns(**{name: buffer.dtype for name, buffer in self._buffers.items()})
        selected.extend(**{name: self[name][rows] for name in self._buffers})
        return selected
