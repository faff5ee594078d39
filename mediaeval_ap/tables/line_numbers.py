"""Numbers of rows in their source, for messages: lines of text, or rows of values."""

from __future__ import annotations

from array import array
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
    """Line numbers of the rows read so far; stored from the first row behind a skipped line."""

    def __init__(self) -> None:
        self.next_line = 1
        self.n_rows = 0
        self._numbers: array[int] | None = None

    def count(self, n_lines: int, rows: Sequence[int] | NDArray[np.int64] | None = None) -> None:
        """Count lines, of which all hold rows, or those at some positions, from 0."""
        first = self.next_line
        self.next_line += n_lines
        n_rows = n_lines if rows is None else len(rows)
        skips = first != self.n_rows + 1 or n_rows != n_lines
        if skips and n_rows and self._numbers is None:
            self._numbers = array('q', range(1, self.n_rows + 1))
        if self._numbers is not None:
            positions = np.arange(n_lines) if rows is None else np.asarray(rows, np.int64)
            self._numbers.frombytes((positions + first).tobytes())
        self.n_rows += n_rows

    def line_numbers(self) -> LineNumbers:
        """Return the numbers of all rows so far."""
        numbers = None if self._numbers is None else np.array(self._numbers, np.int64)
        return LineNumbers('line', numbers)
