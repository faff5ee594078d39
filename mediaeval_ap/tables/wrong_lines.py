"""Wrong lines of a file: why each is wrong, found for very many at once.

`cause_of` of `mediaeval_ap.tables.line_format` says what is wrong with one line; `causes_of` gives
the same answers without a step of Python for each line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import MAX_PROBLEMS
from mediaeval_ap.tables import line_format
from mediaeval_ap.tables.diagnoses import diagnosed, exchanged, other_file
from mediaeval_ap.tables.faults import Wrong
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.line_format import Cause
from mediaeval_ap.tables.lines import endless

RIGHT = 0  # in place of a cause
LONG = 2 << 20  # of which arrays would take several times as much: there is a long line
LONG_LINE = 1 << 12  # a longer one is explained at once, and not kept, as there may be many
CONTINUATIONS = bytes(range(0x80, 0xC0))  # the bytes of UTF-8 that begin no character
_ESCAPED = range(0xDC80, 0xDD00)  # code points that stand for bytes that are not UTF-8


def fields_of(
    text: NDArray[np.unsignedinteger],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Find where fields begin and end, and lines end with LF, in bytes or code points."""
    is_between = (text == ord(' ')) | (text == ord('\t')) | (text == ord('\n'))
    edges = np.flatnonzero(np.diff(is_between, prepend=True))  # the last of them is an end
    return edges[::2], edges[1::2], np.flatnonzero(text == ord('\n'))


def causes_of(lines: list[bytes], layout: Layout) -> NDArray[np.int8]:
    """Find the `Cause` for which each line is wrong; `RIGHT` where nothing is wrong."""
    text = b'\n'.join((*lines, b''))
    if len(text) > LONG:
        found = [line_format.cause_of(line, layout) or RIGHT for line in lines]
        return np.array(found, np.int8)
    starts, _, line_ends = fields_of(np.frombuffer(text, np.uint8))
    counts = np.diff(starts.searchsorted(line_ends), prepend=0)
    causes = np.full(len(lines), RIGHT, np.int8)
    causes[(counts > 0) & (counts != len(layout.fields))] = Cause.FIELDS
    causes[_lines_of_no_text(text)] = Cause.BYTES
    if layout.comment is not None and b'#' in text:
        comments = [row for row, line in enumerate(lines) if layout.is_comment(line)]
        causes[comments], counts[comments] = RIGHT, 0
    if layout.number is not None:
        rows = np.flatnonzero((causes == RIGHT) & (counts > 0))
        split = splitter(text)
        numbers = [split(lines[row])[layout.number_at] for row in rows.tolist()]
        is_right = {number: line_format.is_number(number, layout) for number in set(numbers)}
        causes[rows[[not is_right[number] for number in numbers]]] = Cause.NUMBER
        for row in rows[[number.lower() == layout.number.encode() for number in numbers]]:
            if line_format.is_header(lines[row].decode(), layout):
                causes[row] = Cause.HEADER
    return causes


def wrong_places(lines: list[bytes], layout: Layout) -> list[int]:
    """Find the positions of the wrong ones of some lines."""
    places: list[int] = np.flatnonzero(causes_of(lines, layout) != RIGHT).tolist()
    return places


def explained(line: bytes, layout: Layout) -> Wrong:
    """Explain a line that is known to be wrong."""
    wrong = line_format.explain(line, layout)
    if wrong is None:  # as the lenient reader gives a header of texts, and a line that is too long
        is_header = line_format.is_header(line.decode(), layout)
        wrong = line_format.header_of(line.decode()) if is_header else endless()
    return diagnosed(wrong, line, layout)


def splitter(text: bytes) -> Callable[[bytes], list[bytes]]:
    """Return the fastest function that splits lines of a text, without their ends, into fields."""
    # To bytes.split, vertical tabs and form feeds are white space.
    return line_format.find_fields if b'\v' in text or b'\f' in text else bytes.split


def _lines_of_no_text(text: bytes) -> NDArray[np.int64]:
    """Find the lines that are no text to `holds_text`."""
    if line_format.holds_text(text):
        return np.empty(0, dtype=np.int64)
    decoded = text.decode(errors='surrogateescape')
    codes = np.frombuffer(decoded.encode('utf-32-le', 'surrogatepass'), np.uint32)
    is_bad = (codes >= _ESCAPED.start) & (codes < _ESCAPED.stop)
    is_bad |= (codes == 0) | (codes == ord('\r'))
    return np.flatnonzero(codes == ord('\n')).searchsorted(np.flatnonzero(is_bad))


class WrongLine(NamedTuple):
    """A line that the strict parser refuses: its number and column, from 1, and why."""

    line: int
    column: int  # the character at which the fault begins
    wrong: Wrong


class WrongLines:
    """The wrong lines of a file, explained when they are asked for: there may be millions.

    Of each cause, the first `most` are kept; the others are counted.
    """

    def __init__(self, layout: Layout, most: int = MAX_PROBLEMS) -> None:
        self.counts: Counter[Cause] = Counter()
        self.other = ''  # the file that the first row fits
        self._layout = layout
        self._most = most
        self._kept: dict[Cause, list[WrongLine | tuple[int, bytes]]] = {each: [] for each in Cause}

    def add(self, number: int, causes: NDArray[np.int8], lines: Sequence[bytes]) -> None:
        """Add the wrong ones of consecutive lines, from the number of the first.

        `causes` are as of `causes_of`. A line that is too long may be given as nothing.
        """
        for cause, kept in self._kept.items():
            places = np.flatnonzero(causes == cause)
            self.counts[cause] += len(places)
            for place in places[: self._most - len(kept)].tolist():
                each = number + place, lines[place]
                kept.append(self._explained(*each) if len(lines[place]) > LONG_LINE else each)

    def of(self, cause: Cause) -> Iterator[WrongLine]:
        """Explain the lines that are kept of those that are wrong for a cause."""
        for each in self._kept[cause]:
            yield each if isinstance(each, WrongLine) else self._explained(*each)

    def _explained(self, number: int, line: bytes) -> WrongLine:
        wrong = explained(line, self._layout)
        if self.other and not wrong.remedy and other_file(line, self._layout) == self.other:
            wrong = replace(wrong, remedy=exchanged(self.other))
        return WrongLine(number, n_characters(line[: wrong.at]) + 1, wrong)  # before it is text


def n_characters(text: bytes) -> int:
    """Count the characters of UTF-8."""
    return len(text.translate(None, CONTINUATIONS))
