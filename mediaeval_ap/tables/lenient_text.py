"""The lenient reading: every line of a file, right or wrong, and where each field stands.

It accepts what the strict parser accepts; every other line is kept as it is, and explained when
somebody asks. A line whose fields are as many as they should be is a row, even where its number is
none: that row's number is not a number.
"""

from __future__ import annotations

import io
import os
from array import array
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import ParameterError
from mediaeval_ap.tables.causes import CAUSES, RIGHT, causes_of, splitter
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.line_format import BYTE_ORDER_MARK, Cause, holds_no_row
from mediaeval_ap.tables.lines import split, whole_lines
from mediaeval_ap.tables.reading import read
from mediaeval_ap.tables.sources import MAX_BYTES, ByteSource, Hasher
from mediaeval_ap.tables.strict_text import ColumnBuilder, prove
from mediaeval_ap.tables.table import Source, Table
from mediaeval_ap.tables.wrong_lines import MAX_PROBLEMS, LenientTable, Starts, WrongLines

__all__ = ['read_leniently']

PROVED_LINES = 64
STRICT_BLOCKS = 4
BLOCKS_AT_ONCE = 8
LINES_AT_ONCE = 1 << 14


def read_leniently(
    origin: Any,
    layout: Layout,
    *,
    max_bytes: int = MAX_BYTES,
    max_problems: int = MAX_PROBLEMS,
) -> LenientTable:
    r"""Read a table to its end, whatever its lines hold.

    Parameters
    ----------
    origin : str, path-like, file object, DataFrame, pyarrow table, iterable or Table
        What `mediaeval_ap.tables.read` takes. Tables of values and Parquet are read strictly.
    layout : Layout
        The fields of a row. A number is the last of them.
    max_bytes : int
        How many bytes a compressed file, Parquet, a pipe or standard input may come to.
    max_problems : int
        How many wrong lines of each cause are kept; the others are counted.

    Returns
    -------
    LenientTable
        Its rows, and its wrong lines.

    Raises
    ------
    ReadError
        When the source cannot be opened, decompressed or read to its end, or gives more.
    FormatError
        When a row of a table of values is wrong, or there is none.
    ParameterError
        When the origin or the layout is none of these, or the limit no positive integer.

    Examples
    --------
    >>> import io
    >>> from mediaeval_ap.tables.layouts import SUBSET
    >>> lenient = read_leniently(io.BytesIO(b'INA F2\nINA\n'), SUBSET)
    >>> len(lenient.table), lenient.wrong[0].wrong.found
    (1, "1 field in 'INA'")
    """
    if layout.number_at < len(layout.texts):  # behind a number nobody would know the columns
        raise ParameterError(f'layout: found {layout.name}, expected one whose number is last')
    if not isinstance(origin, str | os.PathLike) and not hasattr(origin, 'read'):
        return LenientTable(read(origin, layout, max_bytes=max_bytes))
    source = ByteSource(origin, max_bytes)
    if source.is_parquet:
        return LenientTable(read(origin, layout, max_bytes=max_bytes))
    hasher = Hasher()
    reading = _Reading(layout, max_problems)
    with source.open(hasher) as stream:
        reading.read(stream)
    return reading.result(Source(source.name, None if source.is_open else hasher.sha256))


class _Reading:
    """What was read of a file so far.

    The first blocks of lines are proved by the strict parser's own proof; behind these, a few
    blocks at once by the bulk reader, each alone where that is in doubt. What cannot be proved is
    looked at for the cause of each line.
    """

    def __init__(self, layout: Layout, max_problems: int) -> None:
        self._layout = layout
        self._builders = [ColumnBuilder() for _ in layout.texts]
        self._numbers = array('d')
        self._lines = array('q')
        self._wrong = WrongLines(layout, max_problems)
        self._starts = Starts(len(layout.fields))
        self._next = 1
        self._in_doubt = False  # the last block was wrong somewhere, as the next may be

    def result(self, source: Source) -> LenientTable:
        texts = zip(self._layout.texts, self._builders, strict=True)
        columns = {name: builder.column() for name, builder in texts}
        numbers = None if self._layout.number is None else np.array(self._numbers, np.float64)
        table = Table(self._layout, columns, numbers, source)
        return LenientTable(table, self._wrong, np.array(self._lines, np.int64), self._starts)

    def read(self, stream: BinaryIO) -> None:
        waiting: list[bytes] = []
        for n_before, block in enumerate(whole_lines(stream)):
            if block is None:
                self._read_in_bulk(waiting)
                waiting = []
                self._pass_over_line()
            elif n_before < STRICT_BLOCKS:
                self._read_strictly(block)
            else:
                waiting.append(block)
                if len(waiting) == BLOCKS_AT_ONCE:
                    self._read_in_bulk(waiting)
                    waiting = []
        self._read_in_bulk(waiting)

    def _pass_over_line(self) -> None:
        self._wrong.add(self._next, np.array([CAUSES.index(Cause.LENGTH)], np.int8), [b''])
        self._next += 1

    def _read_in_bulk(self, blocks: list[bytes]) -> None:
        if not blocks or (not self._in_doubt and self._accept_in_bulk(b''.join(blocks))):
            return
        for block in blocks:
            if self._in_doubt or not self._accept_in_bulk(block):
                self._read_strictly(block)

    def _read_strictly(self, block: bytes) -> None:
        lines = split(block)
        self._in_doubt = False
        for start in range(0, len(lines), PROVED_LINES):
            if not self._accept(lines[start : start + PROVED_LINES]):
                self._in_doubt = True
                self._look_at(lines[start:])
                break

    def _accept_in_bulk(self, block: bytes) -> bool:
        """Take the lines of a block if the bulk reader can prove all of them right."""
        from mediaeval_ap.tables.bulk import parse_in_bulk

        if block.startswith(BYTE_ORDER_MARK):  # which is text here, and no mark
            return False
        proved = parse_in_bulk(io.BytesIO(block), self._layout, '')
        if proved is None:
            return False
        columns, numbers = proved
        n_rows = len(columns[self._layout.texts[0]].codes)
        n_lines = block.count(b'\n') + (not block.endswith(b'\n'))
        if n_rows == n_lines and not _may_be_irregular(block):
            self._lines.extend(range(self._next, self._next + n_lines))
            self._next += n_lines
        else:
            self._number_rows(split(block), n_rows)
        for builder, name in zip(self._builders, self._layout.texts, strict=True):
            builder.append(columns[name])
        if numbers is not None:
            self._numbers.frombytes(numbers.tobytes())
        return True

    def _accept(self, lines: list[bytes]) -> bool:
        """Take the lines if all of them are right."""
        proved = prove(lines, self._layout)
        if proved is None:
            return False
        self._number_rows(lines, len(proved.texts[0]) if proved.texts else 0)
        for builder, fields in zip(self._builders, proved.texts, strict=False):
            builder.extend(fields)
        self._numbers.extend(proved.numbers)
        return True

    def _number_rows(self, lines: list[bytes], n_rows: int) -> None:
        """Keep where the rows stand of lines that are right."""
        numbers = range(self._next, self._next + len(lines))
        first_row = len(self._lines)
        if n_rows == len(lines):
            self._lines.extend(numbers)
        else:
            pairs = zip(numbers, lines, strict=True)
            rows = [pair for pair in pairs if not holds_no_row(pair[1], self._layout)]
            self._lines.extend(number for number, _ in rows)
            lines = [line for _, line in rows]
        self._note_starts(lines, first_row)
        self._next = numbers.stop

    def _note_starts(self, lines: list[bytes], first_row: int) -> None:
        """Keep where the fields begin of rows that are not one space apart."""
        text = b'\n'.join((*lines, b''))
        if not _may_be_irregular(text):
            return
        for begin in range(0, len(lines), LINES_AT_ONCE):
            some = lines[begin : begin + LINES_AT_ONCE]
            self._starts.look_at(b'\n'.join((*some, b'')), first_row + begin)

    def _look_at(self, lines: list[bytes]) -> None:
        """Take the lines that are right, or nearly, and keep the others."""
        causes = causes_of(lines, self._layout)
        self._wrong.add(self._next, causes, lines)
        rows = np.flatnonzero((causes == RIGHT) | (causes == CAUSES.index(Cause.NUMBER)))
        places = [row for row in rows.tolist() if not holds_no_row(lines[row], self._layout)]
        self._take(np.array(places, np.int64), [lines[place] for place in places], causes[places])
        self._next += len(lines)

    def _take(
        self, places: NDArray[np.int64], lines: list[bytes], causes: NDArray[np.int8]
    ) -> None:
        """Keep lines with as many fields as there should be."""
        if not lines:
            return
        first_row = len(self._lines)
        self._lines.frombytes((places + self._next).tobytes())
        columns = list(zip(*map(splitter(b'\n'.join(lines)), lines), strict=True))
        if self._layout.number is not None:
            numbers = zip(columns.pop(), causes.tolist(), strict=True)
            self._numbers.extend(
                float(text) if cause == RIGHT else np.nan for text, cause in numbers
            )
        for builder, fields in zip(self._builders, columns, strict=True):
            builder.extend(fields)
        self._note_starts(lines, first_row)


def _may_be_irregular(text: bytes) -> bool:
    return b'  ' in text or b'\t' in text or b'\n ' in text or text.startswith(b' ')
