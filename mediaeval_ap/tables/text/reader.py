"""Lines of text to rows and faults: the one stream behind the strict and lenient readers.

A block of lines is proved right at once, by Python or, in large files, by pyarrow
(`mediaeval_ap.tables.text.fast`). Only where that fails is each line looked at, by the functions of
`mediaeval_ap.tables.text.format`, which say what a line may hold.
"""

from __future__ import annotations

import math
import zlib
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.cores import own_cores
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.table import Column, LineCounter, Source, Table
from mediaeval_ap.tables.text import format
from mediaeval_ap.tables.text.format import Cause, Fields, Piece, Wrong

# What text of campaign size does not need is imported where it is used.
if TYPE_CHECKING:
    import pyarrow

PROVED_BYTES = 1 << 15  # double takes a sixth more time, as fields no longer fit the caches
LONG_BYTES = 1 << 20  # the list of the fields of a line takes several times its bytes
LONG_LINE = 1 << 12
CONTINUATIONS = bytes(range(0x80, 0xC0))  # the bytes of UTF-8 that begin no character
_NO_SEPARATOR = bytes(set(range(256)) - set(b' \t\n'))
_TAB_TO_SPACE = bytes.maketrans(b'\t', b' ')


def pieces(
    blocks: Iterable[bytes | None], layout: Layout, by_python: float = math.inf
) -> Iterator[Piece]:
    """Read blocks of lines; behind so many bytes for Python, pyarrow reads them in threads."""
    blocks = iter(blocks)
    for block in blocks:
        if by_python <= 0:
            yield from _in_bulk(chain([block], blocks), layout)
            return
        yield from _by_python(block, layout)
        by_python -= len(block or b'')


def _in_bulk(blocks: Iterable[bytes | None], layout: Layout) -> Iterator[Piece]:
    from concurrent.futures import ThreadPoolExecutor

    from mediaeval_ap.tables.text.fast import N_THREADS, proved_block, results_of

    def read(block: bytes | None) -> Iterable[Piece]:
        piece = proved_block(block, layout)
        # What is not proved is read when this is asked for.
        return _by_python(block, layout) if piece is None else [piece]

    with ThreadPoolExecutor(min(own_cores(), N_THREADS)) as threads:
        yield from chain.from_iterable(results_of(read, blocks, threads))


def _by_python(block: bytes | None, layout: Layout) -> Iterator[Piece]:
    if block is None:
        yield Piece(b'', 1, [], [], (), {0: (Cause.LENGTH, b'')})
    end = 0
    while block and end < len(block):
        begin, end = end, block.find(b'\n', end + PROVED_BYTES - 1) + 1 or len(block)
        part = block[begin:end]
        yield prove(part, layout) or _line_by_line(part, layout)


def prove(block: bytes, layout: Layout) -> Piece | None:
    """Split lines into fields, if all of them are right; None where one is wrong."""
    lines = given = format.split(block)
    text = b'\n'.join(lines)
    if layout.comment is not None and b'#' in text:
        lines = [line for line in lines if not layout.is_comment(line)]
        text = b'\n'.join(lines)
    if not format.holds_text(text):
        return None
    n_fields = len(layout.fields)
    columns = evenly_split(text, len(lines), n_fields)
    if columns is None:
        # To bytes.split, which is faster, vertical tabs and form feeds are white space.
        split_line = format.find_fields if b'\v' in text or b'\f' in text else bytes.split
        found = [fields for fields in map(split_line, lines) if fields]
        if set(map(len, found)) - {n_fields}:
            return None
        columns = list(zip(*found, strict=True))
    n_rows = len(columns[0]) if columns else 0
    numbers = array('d')
    if columns and layout.number is not None:
        fields = columns.pop(layout.number_at)
        if b''.join(fields).translate(
            None, format.INTEGER_BYTES if layout.integers else format.NUMBER_BYTES
        ):
            return None
        try:
            numbers.extend(map(float, fields))
        except ValueError:
            return None
        if not np.isfinite(numbers).all():
            return None
    rows = None
    if n_rows != len(given):
        rows = [row for row, line in enumerate(given) if not format.holds_no_row(line, layout)]
    return Piece(block, len(given), rows, columns, numbers, {})


def evenly_split(text: bytes, n_lines: int, n_fields: int) -> list[Fields] | None:
    """Split text at once if one space or tab is between all fields; None on any doubt."""
    words = text.split()
    # Vertical tabs and form feeds are white space to bytes.split. A line with n_fields - 1
    # separators has n_fields fields; an empty one would be missing from the words.
    if b'\v' in text or b'\f' in text or not words or len(words) != n_lines * n_fields:
        return None
    line = b' ' * (n_fields - 1)
    if text.translate(_TAB_TO_SPACE, _NO_SEPARATOR) != b'\n'.join([line] * n_lines):
        return None
    return [words[field::n_fields] for field in range(n_fields)]


def _line_by_line(block: bytes, layout: Layout) -> Piece:
    """Find the cause for which each line is wrong, and the rows of the others."""
    lines = format.split(block)
    wrong: dict[int, tuple[Cause, bytes]] = {}
    rows: list[int] = []
    columns: list[Fields] = []
    numbers = array('d')
    # In most blocks all is text, and no line holds very many fields: a line is looked at once.
    is_plain = len(block) <= LONG_BYTES and layout.comment is None
    is_plain = is_plain and format.holds_text(b'\n'.join(lines))
    for at, line in enumerate(lines):
        fields = format.find_fields(line) if is_plain else []
        cause = (
            format.cause_of_fields(fields, layout) if is_plain else format.cause_of(line, layout)
        )
        if cause is not None:
            wrong[at] = cause, line
        if cause not in (None, Cause.NUMBER) or format.holds_no_row(line, layout):
            continue
        fields = fields or format.find_fields(line)
        if layout.number is not None:
            number = fields.pop(layout.number_at)
            numbers.append(float(number) if cause is None else np.nan)
        rows.append(at)
        columns.append(fields)
    return Piece(block, len(lines), rows, list(zip(*columns, strict=True)), numbers, wrong)


class WrongLine(NamedTuple):
    """A wrong line: its number and column, from 1, and why."""

    line: int
    column: int  # the character at which the fault begins
    wrong: Wrong


class WrongLines:
    """The wrong lines of a file: all are counted, and the first `most` of each cause are kept.

    They are explained when they are asked for, but for long ones, of which only that is kept.
    """

    def __init__(self, layout: Layout, most: int = 0) -> None:
        self.counts: Counter[Cause] = Counter()
        self.other = ''  # the file that the first row, which is wrong, fits
        self._kept: dict[Cause, list[WrongLine | tuple[int, bytes]]] = {each: [] for each in Cause}
        self._layout = layout
        self._most = most

    def add(self, first_line: int, wrong: Mapping[int, tuple[Cause, bytes]]) -> None:
        """Add wrong lines by their position behind the first of some lines."""
        self.counts.update(cause for cause, _ in wrong.values())
        for position, (cause, line) in wrong.items():
            if len(kept := self._kept[cause]) < self._most:
                number = first_line + position
                is_long = len(line) > LONG_LINE
                kept.append(self._explained(number, cause, line) if is_long else (number, line))

    def of(self, cause: Cause) -> Iterator[WrongLine]:
        """Explain the lines that are kept of those that are wrong for a cause."""
        for each in self._kept[cause]:
            yield each if isinstance(each, WrongLine) else self._explained(each[0], cause, each[1])

    def _explained(self, number: int, cause: Cause, line: bytes) -> WrongLine:
        wrong = format.explained(line, cause, self._layout)
        if self.other and not wrong.remedy and format.other_file(line, self._layout) == self.other:
            wrong = replace(wrong, remedy=format.exchanged(self.other, self._layout))
        return WrongLine(number, n_characters(line[: wrong.at]) + 1, wrong)  # before it is text


def n_characters(text: bytes) -> int:
    """Count the characters of UTF-8."""
    return len(text.translate(None, CONTINUATIONS))


class IrregularRows:
    """The blocks of lines whose fields are not all one space apart, compressed.

    In all others, the lengths of the fields say where each begins.
    """

    def __init__(self) -> None:
        self._first_rows: list[int] = []
        self._pieces: list[Piece] = []
        self._opened: tuple[int, list[bytes]] = (-1, [])

    def add(self, piece: Piece, first_row: int) -> None:
        """Keep the lines of a piece if some are irregular."""
        text = piece.block.replace(b'\t', b' ') if b'\t' in piece.block else piece.block
        if b'  ' in text or b'\n ' in text or text.startswith(b' '):
            self._first_rows.append(first_row)
            block = zlib.compress(piece.block, 1)
            self._pieces.append(piece._replace(block=block, texts=[], numbers=(), wrong={}))

    def starts(self, row: int) -> list[int] | None:
        """Return the characters, from 0, at which the fields of a row begin, if it is kept."""
        at = bisect_right(self._first_rows, row) - 1
        if at < 0:
            return None
        piece, position = self._pieces[at], row - self._first_rows[at]
        if position >= (piece.n_lines if piece.rows is None else len(piece.rows)):
            return None
        if self._opened[0] != at:
            self._opened = at, format.split(zlib.decompress(piece.block))
        line = self._opened[1][position if piece.rows is None else piece.rows[position]]
        return [n_characters(line[: each.start()]) for each in format.match_fields(line)]


@dataclass(frozen=True)
class LenientTable:
    """The rows of a file that may be wrong, and its wrong lines.

    A line with a wrong number is in both; a table of values has no wrong lines. `other` is the file
    that the first row fits better than this one, if there is any.
    """

    table: Table
    wrong: WrongLines
    irregular: IrregularRows | None = None  # none if the table was not read from lines here
    n_lines: int = 0
    other: str = ''

    def column(self, row: int, field: str) -> int | None:
        """Return the character, from 1, at which a field begins; None if that is not known."""
        if self.irregular is None:
            return None
        layout = self.table.layout
        n_before = layout.fields.index(field)
        if (starts := self.irregular.starts(row)) is not None:
            return starts[n_before] + 1
        before = (self.table[each] for each in layout.texts[:n_before])
        return 1 + sum(len(column.text(row)) + 1 for column in before)


class Reading:
    """The rows of a file so far, and `most` of its wrong lines of each cause."""

    def __init__(self, layout: Layout, most: int, n_lines: int = 0, n_rows: int = 0) -> None:
        self.layout = layout
        self.wrong = WrongLines(layout, most)
        self.lines = LineCounter(n_lines)
        self.irregular: IrregularRows | None = None  # by default they are not kept
        self.header: tuple[int, bytes] | None = None  # which is a row, where a row has no number
        self.other = ''  # the file that the first row, if it is right, fits better
        self._has_begun = n_rows > 0  # a line was neither blank nor a comment
        self._columns = [_ColumnBuilder() for _ in layout.texts]
        self._numbers: list[NDArray[np.float64]] = []
        self._tables: list[pyarrow.Table] = []

    def add(self, piece: Piece) -> None:
        """Add the rows and the wrong lines of a piece."""
        if not self._has_begun:
            piece = self._begin(piece)
        self.wrong.add(self.lines.next_line, piece.wrong)
        if self.irregular is not None:
            self.irregular.add(piece, self.lines.n_rows)
        self.lines.count(piece.n_lines, piece.rows)
        if isinstance(piece.texts, Sequence):
            for column, fields in zip(self._columns, piece.texts, strict=False):  # or no rows
                column.extend(fields)
        else:
            self._flush()
            self._tables.append(piece.texts)
        if self.layout.number is not None:
            self._numbers.append(np.asarray(piece.numbers, np.float64))

    def _begin(self, piece: Piece) -> Piece:
        """Look at the first line that is not blank: it may be a header, or of another file."""
        rows = range(piece.n_lines) if piece.rows is None else piece.rows
        first = min([*rows[:1], *piece.wrong], default=None)
        if first is None:
            return piece
        self._has_begun = True
        if first in piece.wrong:
            self.wrong.other = format.other_file(piece.wrong[first][1], self.layout)
            return piece
        line = format.split(piece.block)[first]
        self.other = format.other_file(line, self.layout)
        if not format.is_header(line.decode(), self.layout):
            return piece
        self.header = self.lines.next_line + int(first), line
        texts = piece.texts
        others = [each[1:] for each in texts] if isinstance(texts, Sequence) else texts.slice(1)
        return piece._replace(rows=list(rows)[1:], texts=others)

    def _flush(self) -> None:
        """Hand the rows of Python over to pyarrow, in whose columns the rows behind them are."""
        import pyarrow

        columns = [builder.column() for builder in self._columns]
        if len(columns[0].codes):
            arrays = [
                pyarrow.DictionaryArray.from_arrays(each.codes, pyarrow.array(each.values))
                for each in columns
            ]
            self._tables.append(pyarrow.table(arrays, list(self.layout.texts)))
            self._columns = [_ColumnBuilder() for _ in columns]

    def table(self, source: Source) -> Table:
        """Return all rows so far, which are given up."""
        numbers = None
        if self.layout.number is not None:
            numbers = np.concatenate([*self._numbers, np.empty(0)])
            self._numbers.clear()
        if self._tables:
            from mediaeval_ap.tables.text.fast import joined_columns

            self._flush()
            columns = joined_columns(self._tables)
        else:
            columns = [column.column() for column in self._columns]
        by_name = dict(zip(self.layout.texts, columns, strict=True))
        return Table(self.layout, by_name, numbers, source, self.lines.line_numbers())

    def add_strictly(self, piece: Piece, source: str) -> None:
        """Add a piece; an endless line is the error, and rows behind a wrong line do not count."""
        if any(cause is Cause.LENGTH for cause, _ in piece.wrong.values()):
            raise format.endless().error(source, f'line {self.lines.next_line}')
        if self.wrong.counts:
            piece = piece._replace(rows=[], texts=[], numbers=())
        self.add(piece)

    def refuse_wrong(self, source: str) -> None:
        """Raise the error of the first wrong line, which counts the others, if there is any."""
        if wrong := [each for cause in Cause for each in self.wrong.of(cause)]:
            first = min(wrong, key=lambda each: each.line)
            further = self.wrong.counts.total() - 1
            raise first.wrong.error(source, f'line {first.line}', further)
        if self.header is not None:
            number, line = self.header
            raise format.header_of(line.decode()).error(source, f'line {number}')


class _ColumnBuilder:
    """A column that grows: codes, and the code of each distinct value so far."""

    def __init__(self) -> None:
        self._codes = [np.empty(0, np.int32)]
        self._code_of: defaultdict[bytes, int] = defaultdict()
        self._code_of.default_factory = self._code_of.__len__

    def extend(self, fields: Fields) -> None:
        codes = map(self._code_of.__getitem__, fields)
        self._codes.append(np.fromiter(codes, np.int32, len(fields)))

    def column(self) -> Column:
        return Column(np.concatenate(self._codes), [value.decode() for value in self._code_of])


def parse(stream: BinaryIO, layout: Layout, source: str, by_python: float = math.inf) -> Table:
    """Read lines strictly: a `FormatError` names the first wrong line, and counts the others."""
    reading = Reading(layout, most=1)
    for piece in pieces(format.whole_lines(stream.read), layout, by_python):
        reading.add_strictly(piece, source)
    reading.refuse_wrong(source)
    if not reading.lines.n_rows:
        raise format.no_row_of_text(source, layout, reading.lines.next_line - 1)
    return reading.table(Source(source))


def parse_leniently(
    stream: BinaryIO, layout: Layout, most: int, by_python: float = math.inf
) -> LenientTable:
    """Read lines to the end, right or wrong, and keep `most` wrong ones of each cause."""
    reading = Reading(layout, most)
    reading.irregular = IrregularRows()
    for piece in pieces(format.whole_lines(stream.read, goes_on=True), layout, by_python):
        reading.add(piece)
    if reading.header is not None:
        number, line = reading.header
        reading.wrong.add(number, {0: (Cause.HEADER, line)})
    table, n_lines = reading.table(Source('')), reading.lines.next_line - 1
    return LenientTable(table, reading.wrong, reading.irregular, n_lines, reading.other)
