"""Read lines of text into tables, strictly (`parse`) or with all faults (`parse_leniently`)."""

from __future__ import annotations

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.cores import own_cores
from mediaeval_ap.tables.faults import Cause, Fault, Faults
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.table import Column, LineCounter, Provenance, Table
from mediaeval_ap.tables.text import line_rules, wrong_lines
from mediaeval_ap.tables.text.line_rules import ColumnFields, Piece, holds_no_row
from mediaeval_ap.tables.values import INTEGER_BYTES, NUMBER_BYTES

# Text files of campaign size need no pyarrow, so only functions that use it import it.
if TYPE_CHECKING:
    import pyarrow

PROVED_BYTES = 1 << 15  # double takes a sixth longer, as the fields no longer fit in caches
LONG_BYTES = 1 << 20  # the fields of a line, as a list, take several times its bytes
_NO_SEPARATOR = bytes(set(range(256)) - set(b' \t\n'))
_TAB_TO_SPACE = bytes.maketrans(b'\t', b' ')


def pieces(
    blocks: Iterable[bytes | None], layout: Layout, python_bytes: float = math.inf
) -> Iterator[Piece]:
    """Read blocks of lines: the first `python_bytes` by Python, the rest by pyarrow in threads."""
    blocks = iter(blocks)
    for block in blocks:
        if python_bytes <= 0:
            yield from _read_by_arrow(chain([block], blocks), layout)
            return
        yield from _read_by_python(block, layout)
        python_bytes -= len(block or b'')


def _read_by_arrow(blocks: Iterable[bytes | None], layout: Layout) -> Iterator[Piece]:
    from concurrent.futures import ThreadPoolExecutor

    from mediaeval_ap.tables.text.arrow_reader import N_THREADS, parse_in_threads, prove_block

    def read(block: bytes | None) -> Iterable[Piece]:
        if (piece := prove_block(block, layout)) is not None:
            return [piece]
        return _read_by_python(block, layout)  # lazily, by the thread that iterates

    with ThreadPoolExecutor(min(own_cores(), N_THREADS)) as threads:
        yield from chain.from_iterable(parse_in_threads(read, blocks, threads))


def _read_by_python(block: bytes | None, layout: Layout) -> Iterator[Piece]:
    if block is None:
        yield Piece(b'', 1, rows=[], texts=[], numbers=(), wrong={0: (Cause.LENGTH, b'')})
    end = 0
    while block and end < len(block):
        begin = end
        end = block.find(b'\n', end + PROVED_BYTES - 1) + 1 or len(block)
        part = block[begin:end]
        yield prove(part, layout) or _line_by_line(part, layout)


def prove(block: bytes, layout: Layout) -> Piece | None:
    """Split a block of lines into fields at once; None if a line is wrong or in doubt."""
    lines = all_lines = line_rules.split_lines(block)
    text = b'\n'.join(lines)
    if layout.comment is not None and b'#' in text:
        lines = [line for line in lines if not layout.is_comment(line)]
        text = b'\n'.join(lines)
    if not line_rules.holds_text(text) or layout.holds_comment(text):
        return None
    columns = evenly_split(text, len(lines), len(layout.fields))
    if columns is None:
        # bytes.split is faster, but also splits at vertical tabs and form feeds.
        split_line = line_rules.find_fields if b'\v' in text or b'\f' in text else bytes.split
        fields_by_row = [fields for fields in map(split_line, lines) if fields]
        if set(map(len, fields_by_row)) - {len(layout.fields)}:
            return None
        columns = list(zip(*fields_by_row, strict=True))
    n_rows = len(next(iter(columns), ()))
    numbers: Sequence[float] | None = ()
    if columns and layout.number is not None:
        numbers = _finite_numbers(columns.pop(layout.number_at), layout)
    if numbers is None:
        return None
    rows = None
    if n_rows != len(all_lines):
        rows = [row for row, line in enumerate(all_lines) if not holds_no_row(line, layout)]
    return Piece(block, len(all_lines), rows=rows, texts=columns, numbers=numbers, wrong={})


def _finite_numbers(fields: ColumnFields, layout: Layout) -> Sequence[float] | None:
    """Parse the numbers of a layout; None if one is wrong."""
    allowed = INTEGER_BYTES if layout.integers else NUMBER_BYTES
    if b''.join(fields).translate(None, allowed):
        return None
    try:
        numbers = array('d', map(float, fields))
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def evenly_split(text: bytes, n_lines: int, n_fields: int) -> list[ColumnFields] | None:
    r"""Split text into columns if all fields are one space or tab apart; None on any doubt.

    >>> evenly_split(b'x a\ny b', n_lines=2, n_fields=2)
    [[b'x', b'y'], [b'a', b'b']]
    """
    words = text.split()
    # bytes.split also splits at vertical tabs and form feeds. A line with n_fields - 1 separators
    # has n_fields fields; an empty one would be missing among the words.
    if b'\v' in text or b'\f' in text or not words or len(words) != n_lines * n_fields:
        return None
    line = b' ' * (n_fields - 1)
    if text.translate(_TAB_TO_SPACE, _NO_SEPARATOR) != b'\n'.join([line] * n_lines):
        return None
    return [words[field::n_fields] for field in range(n_fields)]


def _line_by_line(block: bytes, layout: Layout) -> Piece:
    """Read a block line by line: the rows, and the cause of each wrong line."""
    lines = line_rules.split_lines(block)
    wrong: dict[int, tuple[Cause, bytes]] = {}
    rows: list[int] = []
    fields_by_row: list[list[bytes]] = []
    numbers = array('d')
    # In most blocks, text without huge lines, each line is split only once.
    is_plain = len(block) <= LONG_BYTES and layout.comment is None
    is_plain = is_plain and line_rules.holds_text(b'\n'.join(lines))
    for position, line in enumerate(lines):
        fields = []
        if is_plain:
            fields = line_rules.find_fields(line)
            cause = line_rules.cause_of_fields(fields, layout)
        else:
            cause = line_rules.cause_of(line, layout)
        if cause is not None:
            wrong[position] = cause, line
        if cause not in (None, Cause.NUMBER) or holds_no_row(line, layout):
            continue
        fields = fields or line_rules.find_fields(line)
        if layout.number is not None:
            number = fields.pop(layout.number_at)
            numbers.append(np.nan if cause else float(number))
        rows.append(position)
        fields_by_row.append(fields)
    columns = list(zip(*fields_by_row, strict=True))
    return Piece(block, len(lines), rows=rows, texts=columns, numbers=numbers, wrong=wrong)


@dataclass(frozen=True)
class LenientTable:
    """The rows of a file and its wrong lines; a line with a wrong number is in both."""

    table: Table
    faults: Faults
    n_lines: int = 0
    better_layout: str = ''  # the name of a layout that the first row fits better, if any does
    is_cut: bool = False  # the last row has no line end


class _TableBuilder:
    """The rows of a file so far, and the first `max_examples` wrong lines of each cause."""

    def __init__(self, layout: Layout, max_examples: int) -> None:
        self.layout = layout
        self.faults = Faults('line', max_examples)
        self.lines = LineCounter()
        self.better_layout = ''  # of the first row, if it is right
        self._better_layout_of_wrong = ''  # of the first row, if it is wrong
        self._has_begun = False  # a line was neither blank nor a comment
        self.is_foreign = False  # this line begins a file that is no table
        self.is_cut = False  # the last line so far has no line end
        self._columns = [_ColumnBuilder() for _ in layout.texts]
        self._numbers: list[NDArray[np.float64]] = []
        self._tables: list[pyarrow.Table] = []

    def add(self, piece: Piece) -> None:
        self.is_cut = not piece.block.endswith(b'\n')
        if not self._has_begun:
            piece = self._begin(piece)
        self.faults.add_lines(self.lines.next_line, piece.wrong, self._explain)
        self.lines.count(piece.n_lines, piece.rows)
        if isinstance(piece.texts, Sequence):
            # A piece without rows may have no texts.
            for column, fields in zip(self._columns, piece.texts, strict=False):
                column.extend(fields)
        else:
            self._move_to_arrow()
            self._tables.append(piece.texts)
        if self.layout.number is not None:
            self._numbers.append(np.asarray(piece.numbers, np.float64))

    def _explain(self, line: bytes, cause: Cause) -> Fault:
        fault = wrong_lines.explain(line, cause, self.layout)
        better = self._better_layout_of_wrong
        if better and not fault.remedy and wrong_lines.better_layout(line, self.layout) == better:
            return replace(fault, remedy=wrong_lines.explain_better_layout(better, self.layout))
        return fault

    def _begin(self, piece: Piece) -> Piece:
        """Check the first line of content: it may be a header, or fit another layout better."""
        rows = piece.rows
        if rows is None:
            rows = range(piece.n_lines)
        first = min([*rows[:1], *piece.wrong], default=None)
        if first is None:
            return piece
        self._has_begun = True
        if first in piece.wrong:
            _, line = piece.wrong[first]
            if wrong_lines.begins_other_file(line):
                self.is_foreign = True
                wrong = {first: (Cause.FOREIGN, line)}
                return piece._replace(rows=[], texts=[], numbers=(), wrong=wrong)
            self._better_layout_of_wrong = wrong_lines.better_layout(line, self.layout)
            return piece
        line = line_rules.split_lines(piece.block)[first]
        self.better_layout = wrong_lines.better_layout(line, self.layout)
        if not line_rules.is_header(line.decode(), self.layout):
            return piece
        texts = piece.texts
        texts = [column[1:] for column in texts] if isinstance(texts, Sequence) else texts.slice(1)
        wrong = {int(first): (Cause.HEADER, line), **piece.wrong}
        return piece._replace(rows=list(rows)[1:], texts=texts, wrong=wrong)

    def _move_to_arrow(self) -> None:
        """Turn the rows that Python read into a pyarrow table, as pyarrow reads the rest."""
        import pyarrow

        columns = [builder.column() for builder in self._columns]
        if len(columns[0].codes):
            arrays = [
                pyarrow.DictionaryArray.from_arrays(column.codes, pyarrow.array(column.values))
                for column in columns
            ]
            self._tables.append(pyarrow.table(arrays, list(self.layout.texts)))
            self._columns = [_ColumnBuilder() for _ in columns]

    def table(self, source: Provenance) -> Table:
        """Return all rows so far; the builder drops its copies, to save memory."""
        numbers = None
        if self.layout.number is not None:
            numbers = np.concatenate([*self._numbers, np.empty(0)])
            self._numbers.clear()
        if self._tables:
            from mediaeval_ap.tables.text.arrow_reader import join_columns

            self._move_to_arrow()
            columns = join_columns(self._tables)
        else:
            columns = [builder.column() for builder in self._columns]
        column_by_name = dict(zip(self.layout.texts, columns, strict=True))
        lines = self.lines.line_numbers()
        return Table(self.layout, column_by_name, numbers, source, lines=lines)


class _ColumnBuilder:
    """A column that grows: the codes of its rows, and the code of each distinct value so far."""

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
    python_bytes: float = math.inf,
    *,
    may_be_empty: bool = False,
) -> Table:
    """Read blocks of lines; raise an error for the first wrong line, with a count of the others."""
    builder = _TableBuilder(layout, max_examples=1)
    for piece in pieces(blocks, layout, python_bytes):
        if any(cause is Cause.LENGTH for cause, _ in piece.wrong.values()):
            number = builder.lines.next_line
            raise wrong_lines.explain_endless_line().error(source, f'line {number}')
        if builder.faults.counts:  # only further faults are of interest
            piece = piece._replace(rows=[], texts=[], numbers=())
        builder.add(piece)
        if builder.is_foreign:
            break
    builder.faults.refuse(source)
    if not (builder.lines.n_rows or may_be_empty):
        raise wrong_lines.no_rows_in_text(source, layout, builder.lines.next_line - 1)
    if builder.is_cut and layout.number == layout.fields[-1] and not layout.integers:
        wrong_lines.warn_of_cut_line(source, builder.lines.next_line - 1, layout)
    return builder.table(Provenance(source))


def parse_leniently(
    stream: BinaryIO, layout: Layout, max_examples: int, python_bytes: float = math.inf
) -> LenientTable:
    """Read all lines, right or wrong; explain the first `max_examples` faults of each cause."""
    builder = _TableBuilder(layout, max_examples)
    for piece in pieces(line_rules.whole_lines(stream.read), layout, python_bytes):
        builder.add(piece)
        if builder.is_foreign:
            break
    table = builder.table(Provenance(''))
    n_lines = builder.lines.next_line - 1
    is_cut = builder.is_cut and len(table) > 0 and table.lines[len(table) - 1] == n_lines
    return LenientTable(table, builder.faults, n_lines, builder.better_layout, is_cut)


def parse_line(line: bytes, layout: Layout, source: str, number: int) -> tuple[str, ...] | None:
    r"""Split a line of a stream into its fields; None for a blank line or a comment.

    >>> from mediaeval_ap.tables import QUERIES
    >>> parse_line(b'alain_juppe\r\n', QUERIES, '<stdin>', 1)
    ('alain_juppe',)
    """
    text = re.sub(rb'\r?\n\Z', b'', line)
    if (cause := line_rules.cause_of(text, layout)) is not None:
        raise wrong_lines.explain(text, cause, layout).error(source, f'line {number}')
    if holds_no_row(text, layout):
        return None
    return tuple(field.decode() for field in line_rules.find_fields(text))
