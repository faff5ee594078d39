"""The lenient reader: every line of a file, right or wrong, and where each field stands.

It accepts what the strict parser accepts; every other line is kept as it is, and explained when
somebody asks. A line with the right number of fields is a row, even where its number is wrong: that
row's number is NaN.
"""

from __future__ import annotations

import io
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import MAX_PROBLEMS
from mediaeval_ap.tables import wrong_lines
from mediaeval_ap.tables.diagnoses import other_file
from mediaeval_ap.tables.input_kinds import Kind, Origin
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.line_format import (
    BYTE_ORDER_MARK,
    Cause,
    explain,
    holds_no_row,
    is_header,
    match_fields,
)
from mediaeval_ap.tables.lines import split, whole_lines
from mediaeval_ap.tables.reading import read
from mediaeval_ap.tables.strict_text import Piece, RowCollector, proved_pieces
from mediaeval_ap.tables.table import Table
from mediaeval_ap.tables.wrong_lines import RIGHT, WrongLines

# Proved at once, as only what follows the first wrong one is slow. Half and twice as many take the
# same time, within a tenth.
PROVED_LINES = 64
STRICT_BLOCKS = 4  # megabytes: of 2, importing pyarrow takes the time that it saves
BLOCKS_AT_ONCE = 8  # megabytes, a choice: a few blocks for each core
LINES_AT_ONCE = 1 << 14  # whose fields are located at once, as arrays take many times their text


class FieldStarts:
    """The characters at which fields begin, of rows whose fields are not one space apart.

    For all other rows this follows from the lengths of the fields.
    """

    def __init__(self, n_fields: int) -> None:
        self._n_fields = n_fields
        self._rows = array('q')
        self._starts = array('i')

    def look_at(self, lines: Sequence[bytes], first_row: int) -> None:
        """Keep the irregular ones of lines that hold the rows from `first_row` on."""
        if not is_irregular(b'\n'.join((*lines, b''))):
            return
        for begin in range(0, len(lines), LINES_AT_ONCE):
            text = b'\n'.join((*lines[begin : begin + LINES_AT_ONCE], b''))
            starts, is_kept = self._located(text)
            self._rows.extend((first_row + begin + np.flatnonzero(is_kept)).tolist())
            self._starts.frombytes(starts[is_kept].astype(np.int32).tobytes())

    def _located(self, text: bytes) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return where the fields of each line begin, and which lines are irregular."""
        if len(text) > wrong_lines.LONG:
            starts = np.array([list(_starts_of(line)) for line in text.split(b'\n')[:-1]])
            return starts, np.ones(len(starts), np.bool_)
        codes: NDArray[np.unsignedinteger] = np.frombuffer(text, np.uint8)
        if not text.isascii():
            codes = np.frombuffer(text.decode().encode('utf-32-le'), np.uint32)
        starts, ends, line_ends = wrong_lines.fields_of(codes)
        line_starts = np.append(0, line_ends[:-1] + 1)[:, np.newaxis]
        starts = starts.reshape(-1, self._n_fields) - line_starts
        ends = ends.reshape(-1, self._n_fields) - line_starts
        return starts, (starts[:, 0] > 0) | (starts[:, 1:] - ends[:, :-1] > 1).any(axis=1)

    def find(self, row: int) -> list[int] | None:
        """Return where the fields of a row begin, from 0; None for a regular row."""
        place = bisect_left(self._rows, row)
        if place == len(self._rows) or self._rows[place] != row:
            return None
        return self._starts[place * self._n_fields : (place + 1) * self._n_fields].tolist()


def _starts_of(line: bytes) -> list[int]:
    return [wrong_lines.n_characters(line[: each.start()]) for each in match_fields(line)]


def is_irregular(text: bytes) -> bool:
    """Return whether some fields of lines may not be one space apart."""
    return b'  ' in text or b'\t' in text or b'\n ' in text or text.startswith(b' ')


@dataclass(frozen=True)
class LenientTable:
    """The rows of a file that may be wrong, and its wrong lines.

    A line with a wrong number is in both; a table of values has no wrong lines. `other` is the file
    that the first row fits better than this one, if there is any.
    """

    table: Table
    wrong: WrongLines
    starts: FieldStarts | None = None  # none if the table was not read from lines here
    n_lines: int = 0
    other: str = ''

    def column(self, row: int, field: str) -> int | None:
        """Return the character, from 1, at which a field begins; None if that is not known."""
        if self.starts is None:
            return None
        layout = self.table.layout
        place = layout.fields.index(field)
        if (starts := self.starts.find(row)) is not None:
            return starts[place] + 1
        before = (self.table[each] for each in layout.texts[:place])
        return 1 + sum(len(column.text(row)) + 1 for column in before)


def read_leniently(
    origin: Any, layout: Layout, *, max_problems: int = MAX_PROBLEMS
) -> LenientTable:
    """Read a table to its end, whatever its lines hold; tables of values are read strictly.

    The origin is what `mediaeval_ap.tables.read` takes, or an `Origin`. Of wrong lines,
    `max_problems` of each cause are kept. The layout's number, if any, is its last field.
    """
    given = Origin.of(origin)
    if given.kind is not Kind.TEXT:
        return LenientTable(read(given, layout), WrongLines(layout))
    reading = _Reading(layout, max_problems)
    with given.value.open() as stream:
        reading.read(stream)
    table = reading.rows.table(given.value.described())
    n_lines = reading.rows.lines.next_line - 1
    return LenientTable(table, reading.wrong, reading.starts, n_lines, reading.other)


class _Reading:
    """The rows and wrong lines of a file, as far as it has been read.

    The first blocks of lines are proved by the strict parser's own proof; behind these, a few
    blocks at once by the bulk reader, each alone where that is in doubt. What cannot be proved is
    looked at for the cause of each line.
    """

    def __init__(self, layout: Layout, max_problems: int) -> None:
        self.rows = RowCollector(layout)
        self.wrong = WrongLines(layout, max_problems)
        self.starts = FieldStarts(len(layout.fields))
        self.other = ''
        self._has_begun = False  # a line was neither blank nor a comment
        self._layout = layout
        self._in_doubt = False  # the last block was wrong somewhere, as the next may be

    def read(self, stream: BinaryIO) -> None:
        waiting: list[bytes] = []
        for n_before, block in enumerate(whole_lines(stream.read)):
            if block is None or len(waiting) == BLOCKS_AT_ONCE:
                self._read_in_bulk(waiting)
                waiting = []
            if block is None:
                cause = np.array([Cause.LENGTH], np.int8)
                self.wrong.add(self.rows.lines.next_line, cause, [b''])
                self._has_begun = True
                self.rows.lines.count(1, [])
            elif n_before < STRICT_BLOCKS:
                self._read_strictly(block)
            else:
                waiting.append(block)
        self._read_in_bulk(waiting)

    def _read_in_bulk(self, blocks: list[bytes]) -> None:
        if not blocks or (not self._in_doubt and self._accept_in_bulk(b''.join(blocks))):
            return
        for block in blocks:
            if self._in_doubt or not self._accept_in_bulk(block):
                self._read_strictly(block)

    def _accept_in_bulk(self, block: bytes) -> bool:
        """Take the lines of a block if the bulk reader can prove all of them right."""
        from mediaeval_ap.tables.bulk import parse_in_bulk

        if block.startswith(BYTE_ORDER_MARK):  # which is text here, and no mark
            return False
        parsed = parse_in_bulk(io.BytesIO(block), self._layout, '')
        if parsed is None:
            return False
        n_lines = block.count(b'\n') + (not block.endswith(b'\n'))
        rows = None if len(parsed) == n_lines else parsed.lines.array(len(parsed)) - 1
        if is_irregular(block):
            self._note_starts(split(block), rows)
        self._has_begun = True
        self.rows.add_table(n_lines, parsed, rows)
        return True

    def _read_strictly(self, block: bytes) -> None:
        self._in_doubt = False
        first_line = self.rows.lines.next_line
        for piece in proved_pieces(
            [block], self._layout, self._look_at, first_line=first_line, lines_at_once=PROVED_LINES
        ):
            piece = piece if self._has_begun else self._begin(piece)
            self._note_starts(piece.lines, piece.rows)
            self.rows.add(piece)

    def _begin(self, piece: Piece) -> Piece:
        """Look at the first line that is not blank: it may be a header, or of another file."""
        lines, layout = piece.lines, self._layout
        places = (place for place, line in enumerate(lines) if not holds_no_row(line, layout))
        if (place := next(places, None)) is None:
            return piece
        self._has_begun = True
        first_line = self.rows.lines.next_line
        if explain(lines[place], layout) is not None:
            self.wrong.other = other_file(lines[place], layout)
            return piece
        self.other = other_file(lines[place], layout)
        if not is_header(lines[place].decode(), layout):
            return piece
        causes = np.full(len(lines), RIGHT, np.int8)
        causes[place] = Cause.HEADER
        self.wrong.add(first_line, causes, lines)
        rows = list(range(len(lines)) if piece.rows is None else piece.rows)[1:]
        return Piece(lines, [fields[1:] for fields in piece.texts], piece.numbers, rows)

    def _note_starts(
        self, lines: list[bytes], rows: Sequence[int] | NDArray[np.int64] | None
    ) -> None:
        """Keep where the fields begin of the next rows, which are at some places among lines."""
        lines = lines if rows is None else [lines[row] for row in rows]
        self.starts.look_at(lines, self.rows.lines.n_rows)

    def _look_at(self, number: int, lines: list[bytes]) -> list[Piece]:
        """Keep the wrong lines, and return the rows of those right but for their number."""
        self._in_doubt = True
        causes = wrong_lines.causes_of(lines, self._layout)
        self.wrong.add(number, causes, lines)
        near = np.flatnonzero((causes == RIGHT) | (causes == Cause.NUMBER)).tolist()
        rows = [row for row in near if not holds_no_row(lines[row], self._layout)]
        split_line = wrong_lines.splitter(b'\n'.join([lines[row] for row in rows]))
        columns = list(zip(*(split_line(lines[row]) for row in rows), strict=True))
        numbers: list[float] = []
        if columns and self._layout.number is not None:
            each = zip(columns.pop(), causes[rows].tolist(), strict=True)
            numbers = [float(text) if cause == RIGHT else np.nan for text, cause in each]
        return [Piece(lines, columns, numbers, rows)]
