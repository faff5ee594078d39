"""Numbers of rows in their source, for messages: lines of text, or rows of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LineNumbers:
    """The line, or the number, of each row of a table.

    Nothing is stored while the rows follow one another: `numbers` is None, and row 0 is number
    `first`.
    """

    unit: Literal['line', 'row'] = 'row'
    numbers: NDArray[np.int64] | None = None
    first: int = 1

    def __getitem__(self, row: int | np.integer) -> int:
        return int(self.first + row if self.numbers is None else self.numbers[row])

    def array(self, n_rows: int) -> NDArray[np.int64]:
        """Return the numbers of all rows, of which there are `n_rows`."""
        return np.arange(n_rows) + self.first if self.numbers is None else self.numbers

    def select(self, rows: NDArray[np.bool_]) -> LineNumbers:
        """Return the numbers of some rows."""
        return self if rows.all() else replace(self, numbers=self.array(len(rows))[rows])


ROW_BY_ROW = LineNumbers()


class LineCounter:
    """Line numbers of the rows read so far; those that follow one another are kept as ranges."""

    def __init__(self) -> None:
        self.next_line = 1
        self.n_rows = 0
        self._parts: list[range | NDArray[np.int64]] = []

    def count(self, n_lines: int, rows: Sequence[int] | NDArray[np.int64] | None = None) -> None:
        """Count lines, of which all hold rows, or those at some positions, from 0."""
        first = self.next_line
        part = range(first, first + n_lines) if rows is None else first + np.asarray(rows, np.int64)
        if len(part):
            self._parts.append(part)
        self.n_rows += len(part)
        self.next_line += n_lines

    def line_numbers(self) -> LineNumbers:
        """Return the numbers of all rows so far, which are not stored if they follow from 1 on."""
        if not self._parts or self._parts[-1][-1] == self.n_rows:  # as they ascend
            return LineNumbers('line')
        parts = [
            np.arange(part.start, part.stop) if isinstance(part, range) else part
            for part in self._parts
        ]
        return LineNumbers('line', np.concatenate(parts))
