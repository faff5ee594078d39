"""The bulk reader: a fast parser that proves, and leaves all explaining to the strict one.

White space is normalised in the byte stream, so that pyarrow sees one space between fields and
nothing else it could take for its own: no quote, escape, missing value or comment is a thing to
it here, and comments are removed where a layout has them. What it reads is accepted when every
field is proved right; anything else is a doubt.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables.decompression import Chunks
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.line_format import (
    BYTE_ORDER_MARK,
    holds_no_row,
    holds_text,
    is_header,
    is_number,
)
from mediaeval_ap.tables.line_numbers import LineCounter, LineNumbers
from mediaeval_ap.tables.lines import endless, split, whole_lines
from mediaeval_ap.tables.table import Column, Source, Table

if TYPE_CHECKING:
    import pyarrow

PARSER_BLOCK_BYTES = 8 << 20  # for each core; half takes a seventh more time, double no less
LEAN_BLOCK_BYTES = 1 << 20  # of which a few are in memory at once

_collapse_spaces = re.compile(rb' {2,}').sub
_is_comment_behind = re.compile(rb'\n[ \t]*#').search  # faster than removing where none is


class _Doubt(Exception):
    """Something in the bytes that the strict parser has to look at."""


def parse_in_bulk(stream: BinaryIO, layout: Layout, source: str) -> Table | None:
    """Read lines fast, or not at all: None on any doubt; a `FormatError` for an endless line."""
    read = read_in_bulk(stream, layout, source, layout.fields)
    if read is None:
        return None
    table, lines = read
    columns = {field: text_column(table[field]) for field in layout.texts}
    if any('' in column.values for column in columns.values()):
        return None
    if is_header(' '.join(column.text(0) for column in columns.values()), layout):
        return None
    numbers = None if layout.number is None else number_column(table[layout.number].chunks)
    return Table(layout, columns, numbers, Source(source), lines)


def read_in_bulk(
    stream: BinaryIO, layout: Layout, source: str, fields: Sequence[str], *, lean: bool = False
) -> tuple[pyarrow.Table, LineNumbers] | None:
    """Read some fields of lines fast, or not at all: None on any doubt.

    Texts are encoded by a dictionary, numbers finite. A lean reading takes less memory, and more
    time where there are more cores: one block after another, and texts as they are.
    """
    import pyarrow
    from pyarrow import csv

    text = pyarrow.string()
    types = dict.fromkeys(layout.texts, text if lean else pyarrow.dictionary(pyarrow.int32(), text))
    if layout.number is not None:
        fields_of_numbers = pyarrow.dictionary(pyarrow.int32(), pyarrow.binary())
        types[layout.number] = fields_of_numbers if layout.integers else pyarrow.float64()
    counter = LineCounter()
    normal = io.BufferedReader(
        Chunks(_normal_lines(stream, source, layout, counter)), PARSER_BLOCK_BYTES
    )
    try:
        table = read_csv(
            pyarrow.PythonFile(normal, mode='r'),
            csv.ReadOptions(
                column_names=list(layout.fields),
                block_size=LEAN_BLOCK_BYTES if lean else PARSER_BLOCK_BYTES,
                use_threads=not lean,
            ),
            csv.ParseOptions(delimiter=' ', quote_char=False, escape_char=False),
            csv.ConvertOptions(
                column_types=types,
                include_columns=list(fields),
                null_values=[],
                strings_can_be_null=False,
            ),
        )
        if layout.integers and layout.number in fields:
            table = _with_integers(table, layout)
    except MemoryError:  # one of pyarrow's is an ArrowException, too
        raise
    except (_Doubt, pyarrow.ArrowException):
        return None
    numbers = table[layout.number].chunks if layout.number in fields else []
    finite = all(np.isfinite(np.from_dlpack(chunk)).all() for chunk in numbers)
    if not len(table) or len(table) != counter.n_rows or not finite:
        return None
    return table, counter.line_numbers()


def _with_integers(table: pyarrow.Table, layout: Layout) -> pyarrow.Table:
    """Turn integers in digits, of which there are few distinct ones, into doubles."""
    import pyarrow

    name = str(layout.number)
    chunks = []
    for chunk in table[name].chunks:
        fields = chunk.dictionary.to_pylist()
        if not all(is_number(field, layout) for field in fields):
            raise _Doubt
        doubles = np.array(list(map(float, fields)))[np.from_dlpack(chunk.indices)]
        buffers = [None, pyarrow.py_buffer(doubles)]  # pyarrow.array would import pandas first
        chunks.append(pyarrow.Array.from_buffers(pyarrow.float64(), len(chunk), buffers))
    place = table.column_names.index(name)
    return table.set_column(place, name, pyarrow.chunked_array(chunks, pyarrow.float64()))


def read_csv(source: Any, *options: Any) -> pyarrow.Table:
    """Read CSV by pyarrow in a thread of its own, so that this one goes on taking signals.

    In the main thread pyarrow would take them from it until all is read.
    """
    from concurrent.futures import ThreadPoolExecutor

    from pyarrow import csv

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(csv.read_csv, source, *options).result()


def text_column(column: pyarrow.ChunkedArray) -> Column:
    """Return a dictionary-encoded column without missing values as codes and distinct values."""
    chunks = column.unify_dictionaries().chunks
    if not chunks:
        return Column(np.empty(0, dtype=np.int32), [])
    codes = number_column(chunk.indices for chunk in chunks)
    return Column(codes.astype(np.int32, copy=False), chunks[-1].dictionary.to_pylist())


def number_column(chunks: Iterable[pyarrow.Array]) -> NDArray[Any]:
    """Return chunks of numbers without missing values as one array."""
    # pyarrow's own way to an array imports pandas first.
    return np.concatenate([np.from_dlpack(chunk) for chunk in chunks])


def _normal_lines(
    stream: BinaryIO, source: str, layout: Layout, counter: LineCounter
) -> Iterator[bytes]:
    """Yield blocks of lines with one space between fields, and LF for every line end."""
    first = True
    for block in whole_lines(stream.read):
        if block is None:
            raise endless().error(source, f'line {counter.next_line}')
        lines = _without_comments(block, layout)
        normal = _normal(lines)
        if first and normal.startswith(BYTE_ORDER_MARK):
            raise _Doubt
        first = first and not normal  # as one of comments alone
        if lines is block:
            _count(normal, counter)
        else:
            _count_with_comments(block, layout, counter)
        yield normal


def _without_comments(block: bytes, layout: Layout) -> bytes:
    if layout.comment is None or b'#' not in block:
        return block
    holds_comments = layout.is_comment(block) or _is_comment_behind(block)
    return layout.without_comments(block) if holds_comments else block


def _count(block: bytes, counter: LineCounter) -> None:
    """Count normal lines, of which some may be blank."""
    if not block:  # spaces, which end the file
        return
    # As lines are short, bytes.find takes ten times as long for two line ends in a row.
    is_end = np.frombuffer(block, np.uint8) == ord('\n')
    if is_end[0] or (is_end[1:] & is_end[:-1]).any():
        starts = np.append(0, np.flatnonzero(is_end) + 1)
        starts = starts[starts < len(block)]
        counter.count(len(starts), np.flatnonzero(~is_end[starts]))
    else:
        counter.count(int(np.count_nonzero(is_end)) + (not is_end[-1]))


def _count_with_comments(block: bytes, layout: Layout, counter: LineCounter) -> None:
    lines = split(block)
    rows = [row for row, line in enumerate(lines) if not holds_no_row(line, layout)]
    counter.count(len(lines), rows)


def _normal(block: bytes) -> bytes:
    if b'\t' in block:
        block = block.replace(b'\t', b' ')
    if b'\r' in block:
        block = block.replace(b'\r\n', b'\n')
    if not holds_text(block):
        raise _Doubt
    if b'  ' in block:
        block = _collapse_spaces(b' ', block)
    if b' \n' in block:
        block = block.replace(b' \n', b'\n')
    if b'\n ' in block:
        block = block.replace(b'\n ', b'\n')
    return block.strip(b' ')
