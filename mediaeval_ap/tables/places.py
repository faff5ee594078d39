"""What a file holds that may be wrong: its rows, its wrong lines, and where each field stands."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables.columns import Table
from mediaeval_ap.tables.format import Cause, Wrong, explain
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.lines import endless

__all__ = ['LenientTable', 'Starts', 'WrongLine', 'WrongLines']


@dataclass(frozen=True, slots=True)
class WrongLine:
    """A line that the strict parser refuses.

    Parameters
    ----------
    line : int
        Its number, from 1.
    column : int
        The character at which it goes wrong, from 1.
    cause : Cause
        Why.
    wrong : Wrong
        What was found and expected.

    Examples
    --------
    >>> WrongLine(3, 1, Cause.FIELDS, Wrong('', "1 field in 'INA'", '2 fields')).line
    3
    """

    line: int
    column: int
    cause: Cause
    wrong: Wrong


class WrongLines(Sequence[WrongLine]):
    """The wrong lines of a file, explained when they are asked for: there may be millions.

    Parameters
    ----------
    layout : Layout
        What a line should hold.

    Examples
    --------
    >>> from mediaeval_ap.tables import SUBSET
    >>> lines = WrongLines(SUBSET)
    >>> lines.add(3, Cause.FIELDS, b'INA')
    >>> len(lines), lines[0].line, lines.places(Cause.FIELDS).tolist()
    (1, 3, [0])
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._numbers = array('q')
        self._causes = array('b')
        self._lines: list[bytes] = []

    def add(self, number: int, cause: Cause, line: bytes) -> None:
        """Add a line behind those that were added before.

        Parameters
        ----------
        number : int
            Its number, from 1.
        cause : Cause
            Why it is wrong.
        line : bytes
            What it is, without its end; nothing of one that is too long.
        """
        self._numbers.append(number)
        self._causes.append(_CAUSES.index(cause))
        self._lines.append(line)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> WrongLine: ...
    @overload
    def __getitem__(self, place: slice) -> list[WrongLine]: ...
    def __getitem__(self, place: int | slice) -> WrongLine | list[WrongLine]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        line, cause = self._lines[at], _CAUSES[self._causes[at]]
        wrong = explain(line, self._layout) or endless()
        column = len(line[: wrong.at].decode(errors='replace')) + 1
        return WrongLine(self._numbers[at], column, cause, wrong)

    def places(self, cause: Cause) -> NDArray[np.int64]:
        """Which lines are wrong for a cause.

        Parameters
        ----------
        cause : Cause
            Why.

        Returns
        -------
        ndarray of int64
            Their places among these, ascending.
        """
        return np.flatnonzero(np.array(self._causes) == _CAUSES.index(cause))


_CAUSES = tuple(Cause)
NOTHING = Layout('nothing', ())  # of which no line is wrong


@dataclass(frozen=True)
class LenientTable:
    r"""The rows of a file that may be wrong, and its wrong lines.

    Parameters
    ----------
    table : Table
        A row for each line with as many fields as there should be; there may be none. A number
        that is wrong is not a number here.
    wrong : WrongLines
        In the order of the file. The line of a wrong number is a row as well.
    lines : ndarray of int64, shape (n_rows,), or None
        The line of each row, from 1; none for a table of values, which has no lines.
    starts : Starts
        For the rows whose fields do not stand one space apart, the character at which each field
        begins, from 0.

    Examples
    --------
    >>> import io
    >>> from mediaeval_ap.tables import HYPOTHESIS
    >>> from mediaeval_ap.tables.lenient import read_leniently
    >>> lines = io.BytesIO(b'x v 1 ann high\nx v\nx  v 1 bob 1\n')
    >>> lenient = read_leniently(lines, HYPOTHESIS)
    >>> lenient.lines.tolist(), [wrong.line for wrong in lenient.wrong]
    ([1, 3], [1, 2])
    >>> lenient.column(0, 'confidence'), lenient.column(1, 'video_id')
    (11, 4)
    """

    table: Table
    wrong: WrongLines = field(default_factory=lambda: WrongLines(NOTHING))
    lines: NDArray[np.int64] | None = None
    starts: Starts = field(default_factory=lambda: Starts(0))

    def line(self, row: int) -> int:
        """The line of a row.

        Parameters
        ----------
        row : int
            From 0.

        Returns
        -------
        int
            From 1; of a table of values, the number of the row.
        """
        return row + 1 if self.lines is None else int(self.lines[row])

    def place(self, row: int) -> str:
        """Where a row stands, for people.

        Parameters
        ----------
        row : int
            From 0.

        Returns
        -------
        str
            As ``line 3``, or ``row 3`` of a table of values.
        """
        return f'{"row" if self.lines is None else "line"} {self.line(row)}'

    def column(self, row: int, field: str) -> int | None:
        """Where a field begins in the line of its row.

        Parameters
        ----------
        row : int
            From 0.
        field : str
            A field of the layout.

        Returns
        -------
        int or None
            The character, from 1; none in a table of values.
        """
        if self.lines is None:
            return None
        layout = self.table.layout
        place = layout.fields.index(field)
        if (starts := self.starts.find(row)) is not None:
            return starts[place] + 1
        before = (self.table[each] for each in layout.texts[:place])
        return 1 + sum(len(column.text(row)) + 1 for column in before)


class Starts:
    """Where the fields of some rows begin.

    Parameters
    ----------
    n_fields : int
        How many each row has.

    Examples
    --------
    >>> starts = Starts(2)
    >>> starts.add(7, [0, 5])
    >>> starts.find(7), starts.find(6)
    ([0, 5], None)
    """

    def __init__(self, n_fields: int) -> None:
        self._n_fields = n_fields
        self._rows = array('q')
        self._starts = array('i')

    def add(self, row: int, starts: Sequence[int]) -> None:
        """Keep a row.

        Parameters
        ----------
        row : int
            Greater than any before.
        starts : sequence of int
            The character of each field, from 0.
        """
        self._rows.append(row)
        self._starts.extend(starts)

    def find(self, row: int) -> list[int] | None:
        """What was kept of a row.

        Parameters
        ----------
        row : int
            Any row.

        Returns
        -------
        list of int or None
            Its starts, if it was added.
        """
        place = bisect_left(self._rows, row)
        if place == len(self._rows) or self._rows[place] != row:
            return None
        return self._starts[place * self._n_fields : (place + 1) * self._n_fields].tolist()
