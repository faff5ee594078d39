"""Lines of text to columns: the strict reader, and the lenient one."""

from __future__ import annotations

import io
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import MAX_PROBLEMS
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.table import Column, LineCounter, Source, Table
from mediaeval_ap.tables.text.format import (
    BYTE_ORDER_MARK,
    Cause,
    Faults,
    Wrong,
    blocks,
    cause_of,
    diagnosed,
    endless,
    exchanged,
    explain,
    find_fields,
    header_of,
    holds_no_row,
    holds_text,
    is_header,
    is_number,
    match_fields,
    no_row_of_text,
    number_bytes,
    other_file,
    split,
    whole_lines,
)

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
        found = [cause_of(line, layout) or RIGHT for line in lines]
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
        is_right = {number: is_number(number, layout) for number in set(numbers)}
        causes[rows[[not is_right[number] for number in numbers]]] = Cause.NUMBER
        for row in rows[[number.lower() == layout.number.encode() for number in numbers]]:
            if is_header(lines[row].decode(), layout):
                causes[row] = Cause.HEADER
    return causes


def wrong_places(lines: list[bytes], layout: Layout) -> list[int]:
    """Find the positions of the wrong ones of some lines."""
    places: list[int] = np.flatnonzero(causes_of(lines, layout) != RIGHT).tolist()
    return places


def explained(line: bytes, layout: Layout) -> Wrong:
    """Explain a line that is known to be wrong."""
    wrong = explain(line, layout)
    if wrong is None:  # as the lenient reader gives a header of texts, and a line that is too long
        is_names = is_header(line.decode(), layout)
        wrong = header_of(line.decode()) if is_names else endless()
    return diagnosed(wrong, line, layout)


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


PROVED_BYTES = 1 << 15  # double takes a sixth more time, as fields no longer fit the caches
_NO_SEPARATOR = bytes(set(range(256)) - set(b' \t\n'))
_TAB_TO_SPACE = bytes.maketrans(b'\t', b' ')

Fields: TypeAlias = Sequence[bytes]  # of a column


class Piece(NamedTuple):
    """Lines without their ends, and the fields of those that hold rows, column by column."""

    lines: list[bytes]
    texts: Sequence[Fields]  # empty where no line holds a row
    numbers: Iterable[float]
    rows: list[int] | None  # the positions of the lines that hold rows; None for all lines


def parse(
    stream: BinaryIO, layout: Layout, source: str, *, first_line: int = 1, has_rows: bool = False
) -> Table:
    """Read lines strictly: a `FormatError` names the first wrong line, and counts the others.

    A stream that begins within a file says with which line, and whether rows stand before it.
    """
    collector = RowCollector(layout)
    faults = Faults(source, 'line')
    first = b''  # the line of the first row, right or wrong

    def count(number: int, lines: list[bytes]) -> Iterable[Piece]:
        places = wrong_places(lines, layout)
        faults.add(number + places[0], explained(lines[places[0]], layout), len(places) - 1)
        yield Piece(lines, [], (), [])

    read = blocks(stream.read, source, PROVED_BYTES, first_line=first_line)
    for piece in proved_pieces(read, layout, count, first_line=first_line):
        rows = (line for line in piece.lines if not holds_no_row(line, layout))
        first = first or next(rows, b'')
        if not faults.count:
            collector.add(piece)
    if faults.count:
        is_first_wrong = not has_rows and explain(first, layout)
        if is_first_wrong and (other := other_file(first, layout)):
            faults.remedy = exchanged(other)
        raise faults.error
    if not first:
        raise no_row_of_text(source, layout, collector.lines.next_line - 1)
    table = collector.table(Source(source))
    if is_header(text := first.decode(), layout):
        raise header_of(text).error(source, table.place(0))
    return table


def proved_pieces(
    blocks: Iterable[bytes],
    layout: Layout,
    on_wrong: Callable[[int, list[bytes]], Iterable[Piece]],
    *,
    first_line: int = 1,
    lines_at_once: int | None = None,
) -> Iterator[Piece]:
    """Prove blocks of lines, so many lines at once, and yield those that are all right.

    Where that fails, `on_wrong` takes the number of the first line in doubt, and all lines from
    there to the end of the block; the pieces that it makes of them are yielded in their place.
    """
    for block in blocks:
        lines = split(block)
        step = lines_at_once or len(lines)
        for start in range(0, len(lines), step):
            proved = prove(lines[start : start + step], layout)
            if proved is None:
                yield from on_wrong(first_line + start, lines[start:])
                break
            yield proved
        first_line += len(lines)


def prove(lines: list[bytes], layout: Layout) -> Piece | None:
    """Split lines without their ends into fields, if all of them are right; None on any doubt."""
    given = lines
    text = b'\n'.join(lines)
    if layout.comment is not None and b'#' in text:
        lines = [line for line in lines if not layout.is_comment(line)]
        text = b'\n'.join(lines)
    if not holds_text(text):
        return None
    n_fields = len(layout.fields)
    columns = evenly_split(text, len(lines), n_fields) or _split(text, lines, n_fields)
    if columns is None:
        return None
    n_rows = len(columns[0]) if columns else 0
    no_numbers = not columns or layout.number is None
    written = () if no_numbers else columns.pop(layout.number_at)
    numbers = numbers_of(written, layout)
    if numbers is None:
        return None
    rows = None
    if n_rows != len(given):
        numbered = enumerate(given)
        rows = [row for row, line in numbered if not holds_no_row(line, layout)]
    return Piece(given, columns, numbers, rows)


def evenly_split(text: bytes, n_lines: int, n_fields: int) -> list[Fields] | None:
    """Split text at once into columns, if one space or tab stands between fields, none elsewhere.

    None on any doubt.
    """
    if b'\v' in text or b'\f' in text:  # white space to bytes.split
        return None
    # A line with n_fields - 1 separators has n_fields fields. An empty one would be missing from
    # the words.
    line = b' ' * (n_fields - 1)
    words = text.split()
    if not words or len(words) != n_lines * n_fields:
        return None
    if text.translate(_TAB_TO_SPACE, _NO_SEPARATOR) != b'\n'.join([line] * n_lines):
        return None
    return [words[field::n_fields] for field in range(n_fields)]


def _split(text: bytes, lines: list[bytes], n_fields: int) -> list[Fields] | None:
    """Split lines one by one into columns; None unless each is blank or has all fields."""
    fields = [row for row in map(splitter(text), lines) if row]
    if set(map(len, fields)) - {n_fields}:
        return None
    return list(zip(*fields, strict=True))


def numbers_of(fields: Sequence[bytes], layout: Layout) -> array[float] | None:
    """Read the numbers of a layout by Python, if all of them are right."""
    allowed = number_bytes(layout)
    if b''.join(fields).translate(None, allowed):
        return None
    try:
        numbers = array('d', map(float, fields))
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


class RowCollector:
    """The columns and line numbers of the rows read so far."""

    def __init__(self, layout: Layout) -> None:
        self.lines = LineCounter()
        self._layout = layout
        self._columns = [_ColumnBuilder() for _ in layout.texts]
        self._numbers = array('d')

    def add(self, piece: Piece) -> None:
        """Add the rows of a piece."""
        self.lines.count(len(piece.lines), piece.rows)
        for column, fields in zip(self._columns, piece.texts, strict=False):  # there may be no rows
            column.extend(fields)
        self._numbers.extend(piece.numbers)

    def add_table(self, n_lines: int, table: Table, rows: NDArray[np.int64] | None) -> None:
        """Add the rows of lines that were read already: of all, or of those at some positions."""
        self.lines.count(n_lines, rows)
        for name, column in zip(self._layout.texts, self._columns, strict=True):
            column.append(table[name])
        if table.numbers is not None:
            self._numbers.frombytes(table.numbers.tobytes())

    def table(self, source: Source) -> Table:
        """Return all rows so far."""
        columns = zip(self._layout.texts, self._columns, strict=True)
        return Table(
            self._layout,
            {name: column.column() for name, column in columns},
            None if self._layout.number is None else np.array(self._numbers, np.float64),
            source,
            self.lines.line_numbers(),
        )


class _ColumnBuilder:
    """A column that grows: codes, and the code of each distinct value so far."""

    def __init__(self) -> None:
        self._codes = array('i')
        self._code_of: defaultdict[bytes, int] = defaultdict()
        self._code_of.default_factory = self._code_of.__len__

    def extend(self, fields: Fields) -> None:
        # A quarter faster than to extend the array by the codes one by one.
        codes = np.fromiter(map(self._code_of.__getitem__, fields), np.int32, len(fields))
        self._codes.frombytes(codes.tobytes())

    def append(self, column: Column) -> None:
        codes = [self._code_of[value.encode()] for value in column.values]
        self._codes.frombytes(np.array(codes, dtype=np.int32)[column.codes].tobytes())

    def column(self) -> Column:
        codes = np.array(self._codes, dtype=np.int32)
        return Column(codes, [value.decode() for value in self._code_of])


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
        if len(text) > LONG:
            starts = np.array([list(_starts_of(line)) for line in text.split(b'\n')[:-1]])
            return starts, np.ones(len(starts), np.bool_)
        codes: NDArray[np.unsignedinteger] = np.frombuffer(text, np.uint8)
        if not text.isascii():
            codes = np.frombuffer(text.decode().encode('utf-32-le'), np.uint32)
        starts, ends, line_ends = fields_of(codes)
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
    return [n_characters(line[: each.start()]) for each in match_fields(line)]


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


class LenientReading:
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
        from mediaeval_ap.tables.text.fast import parse_in_bulk

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
        causes = causes_of(lines, self._layout)
        self.wrong.add(number, causes, lines)
        near = np.flatnonzero((causes == RIGHT) | (causes == Cause.NUMBER)).tolist()
        rows = [row for row in near if not holds_no_row(lines[row], self._layout)]
        split_line = splitter(b'\n'.join([lines[row] for row in rows]))
        columns = list(zip(*(split_line(lines[row]) for row in rows), strict=True))
        numbers: list[float] = []
        if columns and self._layout.number is not None:
            each = zip(columns.pop(), causes[rows].tolist(), strict=True)
            numbers = [float(text) if cause == RIGHT else np.nan for text, cause in each]
        return [Piece(lines, columns, numbers, rows)]
