"""What a file holds that may be wrong: its rows, its wrong lines, and where each field stands."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables.causes import CAUSES, LONG, fields_of
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.line_format import Cause, Wrong, explain
from mediaeval_ap.tables.lines import endless
from mediaeval_ap.tables.table import Table

__all__ = ['MAX_PROBLEMS', 'LenientTable', 'Starts', 'WrongLine', 'WrongLines']

MAX_PROBLEMS = 20_000  # more than the lines of the largest run of a campaign
LONG_LINE = 1 << 12  # is explained at once, and not kept
CONTINUATIONS = bytes(range(0x80, 0xC0))  # the bytes of UTF-8 that begin no character


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
    most : int
        How many of each cause are kept; the others are counted.

    Examples
    --------
    >>> from mediaeval_ap.tables.layouts import SUBSET
    >>> from mediaeval_ap.tables.causes import causes_of
    >>> lines = WrongLines(SUBSET, most=1)
    >>> some = [b'INA', b'INA F2', b'F2']
    >>> lines.add(3, causes_of(some, SUBSET), some)
    >>> len(lines), lines[0].line, lines.n_of(Cause.FIELDS)
    (1, 3, 2)
    """

    def __init__(self, layout: Layout, most: int = MAX_PROBLEMS) -> None:
        self._layout = layout
        self._most = most
        self._counts = np.zeros(len(CAUSES), np.int64)
        self._numbers = array('q')
        self._causes = array('b')
        self._lines: list[bytes | WrongLine] = []

    def add(self, number: int, causes: NDArray[np.int8], lines: Sequence[bytes]) -> None:
        """Add the wrong ones of some lines, behind those that were added before.

        Parameters
        ----------
        number : int
            The number of the first, from 1.
        causes : ndarray of int8, shape (n_lines,)
            The place in `CAUSES` of why each is wrong; `RIGHT` where it is not.
        lines : sequence of bytes
            The lines without their ends; nothing of one that is too long.
        """
        kept = []
        for cause, count in enumerate(self._counts):
            places = np.flatnonzero(causes == cause)
            kept.append(places[: max(0, self._most - int(count))])
            self._counts[cause] += len(places)
        for place in np.sort(np.concatenate(kept)).tolist():
            line, cause = lines[place], int(causes[place])
            self._numbers.append(number + place)
            self._causes.append(cause)
            is_long = len(line) > LONG_LINE
            self._lines.append(self._explained(number + place, cause, line) if is_long else line)

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
        line = self._lines[at]
        if isinstance(line, WrongLine):
            return line
        return self._explained(self._numbers[at], self._causes[at], line)

    def _explained(self, number: int, cause: int, line: bytes) -> WrongLine:
        wrong = explain(line, self._layout) or endless()
        column = len(line[: wrong.at].translate(None, CONTINUATIONS)) + 1  # all of it is text
        return WrongLine(number, column, CAUSES[cause], wrong)

    def n_of(self, cause: Cause) -> int:
        """How many lines are wrong for a cause, kept or not.

        Parameters
        ----------
        cause : Cause
            Why.

        Returns
        -------
        int
            Their number.
        """
        return int(self._counts[CAUSES.index(cause)])

    def places(self, cause: Cause) -> NDArray[np.int64]:
        """Which lines that are kept are wrong for a cause.

        Parameters
        ----------
        cause : Cause
            Why.

        Returns
        -------
        ndarray of int64
            Their places among these, ascending.
        """
        return np.flatnonzero(np.array(self._causes) == CAUSES.index(cause))


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
    >>> from mediaeval_ap.tables.layouts import HYPOTHESIS
    >>> from mediaeval_ap.tables.lenient_text import read_leniently
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
    r"""Where the fields of some rows begin.

    Parameters
    ----------
    n_fields : int
        How many each row has.

    Examples
    --------
    >>> starts = Starts(2)
    >>> starts.look_at(b'ann 0.5\nbob  0.25\n', 6)
    >>> starts.find(7), starts.find(6)
    ([0, 5], None)
    """

    def __init__(self, n_fields: int) -> None:
        self._n_fields = n_fields
        self._rows = array('q')
        self._starts = array('i')

    def look_at(self, text: bytes, first_row: int) -> None:
        """Keep the rows whose fields do not stand one space apart.

        Parameters
        ----------
        text : bytes
            The lines of rows, each with an LF behind it and none of them blank.
        first_row : int
            The number of the first, greater than any before.
        """
        if len(text) > LONG:
            starts = np.array([list(_starts_of(line)) for line in text.split(b'\n')[:-1]])
            is_kept = np.ones(len(starts), np.bool_)
        else:
            starts, is_kept = self._irregular(text)
        self._rows.extend((first_row + np.flatnonzero(is_kept)).tolist())
        self._starts.frombytes(starts[is_kept].astype(np.int32).tobytes())

    def _irregular(self, text: bytes) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Where the fields of each line begin, and whether anybody could not compute it."""
        codes = np.frombuffer(text, np.uint8)
        if not text.isascii():
            codes = np.frombuffer(text.decode().encode('utf-32-le'), np.uint32)
        fields = fields_of(codes)
        starts, ends = (each.reshape(-1, self._n_fields) for each in (fields.starts, fields.ends))
        starts = starts - fields.line_starts[:, np.newaxis]
        ends = ends - fields.line_starts[:, np.newaxis]
        is_irregular = (starts[:, 0] > 0) | (starts[:, 1:] - ends[:, :-1] > 1).any(axis=1)
        return starts, is_irregular

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


def _starts_of(line: bytes) -> Iterator[int]:
    """The characters at which the fields of a line begin."""
    for each in re.finditer(rb'[^ \t]+', line):
        yield len(line[: each.start()].translate(None, CONTINUATIONS))
