"""Lines of text to rows and faults: the one stream behind the strict and the lenient reader.

A block of lines is proved right at once, by Python or, in large files, by pyarrow (`arrow_reader`).
Only where that fails is each line looked at, by `line_rules`, which defines the format.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.cores import own_cores
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.table import Column, LineCounter, Provenance, Table
from mediaeval_ap.tables.text import line_rules
from mediaeval_ap.tables.text.line_rules import Cause, ColumnFields, Fault, Faults, Piece

# What text of campaign size does not need is imported where it is used.
if TYPE_CHECKING:
    import pyarrow

PROVED_BYTES = 1 << 15  # double takes a sixth more time, as fields no longer fit the caches
LONG_BYTES = 1 << 20  # the list of the fields of a line takes several times its bytes
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

    from mediaeval_ap.tables.text.arrow_reader import N_THREADS, proved_block, results_of

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
        begin = end
        end = block.find(b'\n', end + PROVED_BYTES - 1) + 1 or len(block)
        part = block[begin:end]
        yield prove(part, layout) or _line_by_line(part, layout)


def prove(block: bytes, layout: Layout) -> Piece | None:
    """Split lines into fields, if all of them are right; None where one is wrong."""
    lines = given = line_rules.split_lines(block)
    text = b'\n'.join(lines)
    if layout.comment is not None and b'#' in text:
        lines = [line for line in lines if not layout.is_comment(line)]
        text = b'\n'.join(lines)
    if not line_rules.holds_text(text) or layout.holds_comment(text):
        return None
    n_fields = len(layout.fields)
    columns = evenly_split(text, len(lines), n_fields)
    if columns is None:
        # To bytes.split, which is faster, vertical tabs and form feeds are white space.
        split_line = line_rules.find_fields if b'\v' in text or b'\f' in text else bytes.split
        found = [fields for fields in map(split_line, lines) if fields]
        if set(map(len, found)) - {n_fields}:
            return None
        columns = list(zip(*found, strict=True))
    n_rows = len(columns[0]) if columns else 0
    numbers = array('d')
    if columns and layout.number is not None:
        fields = columns.pop(layout.number_at)
        if b''.join(fields).translate(
            None, line_rules.INTEGER_BYTES if layout.integers else line_rules.NUMBER_BYTES
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
        rows = [row for row, line in enumerate(given) if not line_rules.holds_no_row(line, layout)]
    return Piece(block, len(given), rows, columns, numbers, {})


def evenly_split(text: bytes, n_lines: int, n_fields: int) -> list[ColumnFields] | None:
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
    lines = line_rules.split_lines(block)
    wrong: dict[int, tuple[Cause, bytes]] = {}
    rows: list[int] = []
    columns: list[ColumnFields] = []
    numbers = array('d')
    # In most blocks all is text, and no line holds very many fields: a line is looked at once.
    is_plain = len(block) <= LONG_BYTES and layout.comment is None
    is_plain = is_plain and line_rules.holds_text(b'\n'.join(lines))
    for at, line in enumerate(lines):
        fields = line_rules.find_fields(line) if is_plain else []
        cause = (
            line_rules.cause_of_fields(fields, layout)
            if is_plain
            else line_rules.cause_of(line, layout)
        )
        if cause is not None:
            wrong[at] = cause, line
        if cause not in (None, Cause.NUMBER) or line_rules.holds_no_row(line, layout):
            continue
        fields = fields or line_rules.find_fields(line)
        if layout.number is not None:
            number = fields.pop(layout.number_at)
            numbers.append(float(number) if cause is None else np.nan)
        rows.append(at)
        columns.append(fields)
    return Piece(block, len(lines), rows, list(zip(*columns, strict=True)), numbers, wrong)


@dataclass(frozen=True)
class LenientTable:
    """The rows of a file, and its wrong lines; one whose number is wrong is in both."""

    table: Table
    faults: Faults
    n_lines: int = 0
    other: str = ''  # the file that the first row fits better, if there is any


class _Reading:
    """The rows of a file so far, and `most` of its wrong lines of each cause."""

    def __init__(self, layout: Layout, most: int) -> None:
        self.layout = layout
        self.faults = Faults('line', most)
        self.lines = LineCounter()
        self.other = ''  # the file that the first row, if it is right, fits better
        self._other_of_wrong = ''  # the same, of a first row that is wrong
        self._has_begun = False  # a line was neither blank nor a comment
        self._columns = [_ColumnBuilder() for _ in layout.texts]
        self._numbers: list[NDArray[np.float64]] = []
        self._tables: list[pyarrow.Table] = []

    def add(self, piece: Piece) -> None:
        """Add the rows and the wrong lines of a piece."""
        if not self._has_begun:
            piece = self._begin(piece)
        self.faults.add_lines(self.lines.next_line, piece.wrong, self._explained)
        self.lines.count(piece.n_lines, piece.rows)
        if isinstance(piece.texts, Sequence):
            for column, fields in zip(self._columns, piece.texts, strict=False):  # or no rows
                column.extend(fields)
        else:
            self._flush()
            self._tables.append(piece.texts)
        if self.layout.number is not None:
            self._numbers.append(np.asarray(piece.numbers, np.float64))

    def _explained(self, line: bytes, cause: Cause) -> Fault:
        wrong = line_rules.explain(line, cause, self.layout)
        other = self._other_of_wrong
        if other and not wrong.remedy and line_rules.better_layout(line, self.layout) == other:
            return replace(wrong, remedy=line_rules.explain_better_layout(other, self.layout))
        return wrong

    def _begin(self, piece: Piece) -> Piece:
        """Look at the first line that is not blank: it may be a header, or of another file."""
        rows = range(piece.n_lines) if piece.rows is None else piece.rows
        first = min([*rows[:1], *piece.wrong], default=None)
        if first is None:
            return piece
        self._has_begun = True
        if first in piece.wrong:
            self._other_of_wrong = line_rules.better_layout(piece.wrong[first][1], self.layout)
            return piece
        line = line_rules.split_lines(piece.block)[first]
        self.other = line_rules.better_layout(line, self.layout)
        if not line_rules.is_header(line.decode(), self.layout):
            return piece
        texts = piece.texts
        others = [each[1:] for each in texts] if isinstance(texts, Sequence) else texts.slice(1)
        wrong = {int(first): (Cause.HEADER, line), **piece.wrong}
        return piece._replace(rows=list(rows)[1:], texts=others, wrong=wrong)

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

    def table(self, source: Provenance) -> Table:
        """Return all rows so far, which are given up."""
        numbers = None
        if self.layout.number is not None:
            numbers = np.concatenate([*self._numbers, np.empty(0)])
            self._numbers.clear()
        if self._tables:
            from mediaeval_ap.tables.text.arrow_reader import joined_columns

            self._flush()
            columns = joined_columns(self._tables)
        else:
            columns = [column.column() for column in self._columns]
        by_name = dict(zip(self.layout.texts, columns, strict=True))
        return Table(self.layout, by_name, numbers, source, self.lines.line_numbers())


class _ColumnBuilder:
    """A column that grows: codes, and the code of each distinct value so far."""

    def __init__(self) -> None:
        self._codes = [np.empty(0, np.int32)]
        self._code_of: defaultdict[bytes, int] = defaultdict()
        self._code_of.default_factory = self._code_of.__len__

    def extend(self, fields: ColumnFields) -> None:
        codes = map(self._code_of.__getitem__, fields)
        self._codes.append(np.fromiter(codes, np.int32, len(fields)))

    def column(self) -> Column:
        return Column(np.concatenate(self._codes), [value.decode() for value in self._code_of])


def parse(
    blocks: Iterable[bytes | None],
    layout: Layout,
    source: str,
    by_python: float = math.inf,
    *,
    may_be_empty: bool = False,
) -> Table:
    """Read blocks of lines; the error names the first wrong line, and counts the others."""
    reading = _Reading(layout, most=1)
    for piece in pieces(blocks, layout, by_python):
        if any(cause is Cause.LENGTH for cause, _ in piece.wrong.values()):
            raise line_rules.explain_endless_line().error(source, f'line {reading.lines.next_line}')
        reading.add(
            piece._replace(rows=[], texts=[], numbers=()) if reading.faults.counts else piece
        )
    reading.faults.refuse(source)
    if not (reading.lines.n_rows or may_be_empty):
        raise line_rules.no_rows_in_text(source, layout, reading.lines.next_line - 1)
    return reading.table(Provenance(source))


def parse_leniently(
    stream: BinaryIO, layout: Layout, most: int, by_python: float = math.inf
) -> LenientTable:
    """Read lines to the end, right or wrong, and keep `most` wrong ones of each cause."""
    reading = _Reading(layout, most)
    for piece in pieces(line_rules.whole_lines(stream.read, skip_endless=True), layout, by_python):
        reading.add(piece)
    table = reading.table(Provenance(''))
    n_lines = reading.lines.next_line - 1
    return LenientTable(table, reading.faults, n_lines, reading.other)
