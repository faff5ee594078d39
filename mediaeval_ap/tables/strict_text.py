"""The strict parser: lines of text to columns, or the error of the first wrong line.

`mediaeval_ap.tables.line_format` says what a line may hold. Whole blocks of lines are proved right
at once; only where that fails is each line looked at.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables import line_format
from mediaeval_ap.tables.diagnoses import exchanged, other_file
from mediaeval_ap.tables.faults import Faults, no_row_of_text
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.line_numbers import LineCounter
from mediaeval_ap.tables.lines import blocks, split
from mediaeval_ap.tables.table import Column, Source, Table
from mediaeval_ap.tables.wrong_lines import explained, splitter, wrong_places

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
        rows = (line for line in piece.lines if not line_format.holds_no_row(line, layout))
        first = first or next(rows, b'')
        if not faults.count:
            collector.add(piece)
    if faults.count:
        is_first_wrong = not has_rows and line_format.explain(first, layout)
        if is_first_wrong and (other := other_file(first, layout)):
            faults.remedy = exchanged(other)
        raise faults.error
    if not first:
        raise no_row_of_text(source, layout, collector.lines.next_line - 1)
    table = collector.table(Source(source))
    if line_format.is_header(text := first.decode(), layout):
        raise line_format.header_of(text).error(source, table.place(0))
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
    if not line_format.holds_text(text):
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
        rows = [row for row, line in numbered if not line_format.holds_no_row(line, layout)]
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
    allowed = line_format.number_bytes(layout)
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
