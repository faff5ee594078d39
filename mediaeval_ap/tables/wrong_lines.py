"""Wrong lines of a file: why each is wrong, found for very many at once.

`cause_of` of `mediaeval_ap.tables.line_format` says what is wrong with one line; `causes_of` gives
the same answers without a step of Python for each line.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import MAX_PROBLEMS
from mediaeval_ap.tables.faults import Wrong
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.line_format import (
    Cause,
    cause_of,
    explain,
    find_fields,
    holds_text,
    is_number,
)
from mediaeval_ap.tables.lines import endless

CAUSES = tuple(Cause)
RIGHT = -1  # in place of a cause
LONG = 2 << 20  # of which arrays would take several times as much: there is a long line
LONG_LINE = 1 << 12  # a longer one is explained at once, and not kept, as there may be many
CONTINUATIONS = bytes(range(0x80, 0xC0))  # the bytes of UTF-8 that begin no character
_BYTES, _FIELDS, _NUMBER = map(CAUSES.index, (Cause.BYTES, Cause.FIELDS, Cause.NUMBER))
_ESCAPED = range(0xDC80, 0xDD00)  # code points that stand for bytes that are not UTF-8


class Fields(NamedTuple):
    """The places of the fields of several lines in one text, in bytes or characters from 0."""

    starts: NDArray[np.int64]  # of each field
    ends: NDArray[np.int64]
    line_starts: NDArray[np.int64]  # of each line
    counts: NDArray[np.int64]  # how many fields each line has


def fields_of(text: NDArray[np.unsignedinteger]) -> Fields:
    """Find the fields of lines that each end with LF, in their bytes or code points."""
    is_between = (text == ord(' ')) | (text == ord('\t')) | (text == ord('\n'))
    edges = np.flatnonzero(np.diff(is_between, prepend=True))  # the last of them is an end
    starts, ends = edges[::2], edges[1::2]
    line_ends = np.flatnonzero(text == ord('\n'))
    counts = np.diff(starts.searchsorted(line_ends), prepend=0)
    return Fields(starts, ends, np.append(0, line_ends[:-1] + 1), counts)


def causes_of(lines: list[bytes], layout: Layout) -> NDArray[np.int8]:
    """Find the index in `CAUSES` of why each line is wrong; `RIGHT` where nothing is wrong."""
    text = b'\n'.join((*lines, b''))
    if len(text) > LONG:
        found = (cause_of(line, layout) for line in lines)
        return np.array([RIGHT if each is None else CAUSES.index(each) for each in found], np.int8)
    counts = fields_of(np.frombuffer(text, np.uint8)).counts
    causes = np.full(len(lines), RIGHT, np.int8)
    causes[(counts > 0) & (counts != len(layout.fields))] = _FIELDS
    causes[_lines_of_no_text(text)] = _BYTES
    if layout.comment is not None and b'#' in text:
        comments = [row for row, line in enumerate(lines) if layout.is_comment(line)]
        causes[comments], counts[comments] = RIGHT, 0
    if layout.number is not None:
        rows = np.flatnonzero((causes == RIGHT) & (counts > 0))
        split = splitter(text)
        numbers = [split(lines[row])[layout.number_at] for row in rows.tolist()]
        is_right = {number: is_number(number, layout) for number in set(numbers)}
        causes[rows[[not is_right[number] for number in numbers]]] = _NUMBER
    return causes


def wrong_places(lines: list[bytes], layout: Layout) -> list[int]:
    """Find the positions of the wrong ones of some lines."""
    places: list[int] = np.flatnonzero(causes_of(lines, layout) != RIGHT).tolist()
    return places


def explained(line: bytes, layout: Layout) -> Wrong:
    """Explain a line that is known to be wrong: if by nothing else, by its length."""
    return explain(line, layout) or endless()


def splitter(text: bytes) -> Callable[[bytes], list[bytes]]:
    """Return the fastest function that splits lines of a text, without their ends, into fields."""
    # To bytes.split, vertical tabs and form feeds are white space.
    return find_fields if b'\v' in text or b'\f' in text else bytes.split


def _lines_of_no_text(text: bytes) -> NDArray[np.int64]:
    """Find the lines that are no text to `holds_text`."""
    if holds_text(text):
        return np.empty(0, dtype=np.int64)
    decoded = text.decode(errors='surrogateescape')
    codes = np.frombuffer(decoded.encode('utf-32-le', 'surrogatepass'), np.uint32)
    is_bad = (codes >= _ESCAPED.start) & (codes < _ESCAPED.stop)
    is_bad |= (codes == 0) | (codes == ord('\r'))
    return np.flatnonzero(codes == ord('\n')).searchsorted(np.flatnonzero(is_bad))


@dataclass(frozen=True, slots=True)
class WrongLine:
    """A line that the strict parser refuses: its number and column, from 1, and why."""

    line: int
    column: int  # the character at which the fault begins
    cause: Cause
    wrong: Wrong


class WrongLines(Sequence[WrongLine]):
    """The wrong lines of a file, explained when they are asked for: there may be millions.

    Of each cause, the first `most` are kept; the others are counted.
    """

    def __init__(self, layout: Layout, most: int = MAX_PROBLEMS) -> None:
        self._layout = layout
        self._most = most
        self._counts = np.zeros(len(CAUSES), np.int64)
        self._numbers = array('q')
        self._causes = array('b')
        self._lines: list[bytes | WrongLine] = []

    def add(self, number: int, causes: NDArray[np.int8], lines: Sequence[bytes]) -> None:
        """Add the wrong ones of consecutive lines, from the number of the first.

        `causes` are as of `causes_of`. A line that is too long may be given as nothing.
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
        wrong = explained(line, self._layout)
        column = n_characters(line[: wrong.at]) + 1  # all before the fault is text
        return WrongLine(number, column, CAUSES[cause], wrong)

    def n_of(self, cause: Cause) -> int:
        """Return how many lines are wrong for a cause, kept or not."""
        return int(self._counts[CAUSES.index(cause)])

    def places(self, cause: Cause) -> NDArray[np.int64]:
        """Return the indices of the kept lines that are wrong for a cause, ascending."""
        return np.flatnonzero(np.array(self._causes) == CAUSES.index(cause))


def n_characters(text: bytes) -> int:
    """Count the characters of UTF-8."""
    return len(text.translate(None, CONTINUATIONS))
