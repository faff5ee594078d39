"""The bulk reader: a fast parser that proves, and leaves all explaining to the strict one.

White space is normalised in the byte stream, so that pyarrow sees one space between fields and
nothing else it could take for its own: no quote, escape, missing value or comment is a thing to
it here, and comments are made blank lines where a layout has them. What it reads is accepted when
every field is proved right; anything else is a doubt.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables import line_format
from mediaeval_ap.tables.decompression import Chunks
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.line_numbers import LineCounter, LineNumbers
from mediaeval_ap.tables.lines import endless, whole_lines
from mediaeval_ap.tables.table import Column, Source, Table

if TYPE_CHECKING:
    import pyarrow

PARSER_BLOCK_BYTES = 8 << 20  # for each core; half takes a seventh more time, double no less
LEAN_BLOCK_BYTES = 1 << 20  # half and double take as long; eight times takes 30 MiB more

_collapse_spaces = re.compile(rb' {2,}').sub
_is_comment_behind = re.compile(rb'\n[ \t]*#').search  # faster than to look at each line


class _Doubt(Exception):
    """Something in the bytes that the strict parser has to look at."""


def parse_in_bulk(stream: BinaryIO, layout: Layout, source: str) -> Table | None:
    """Read lines fast, or not at all: None on any doubt; a `FormatError` for an endless line."""
    read = read_in_bulk(stream, layout, source, layout.texts)
    if read is None:
        return None
    texts, numbers, lines = read
    columns = {field: text_column(texts[field]) for field in layout.texts}
    if line_format.is_header(' '.join(column.text(0) for column in columns.values()), layout):
        return None
    return Table(layout, columns, numbers, Source(source), lines)


def read_in_bulk(
    stream: BinaryIO, layout: Layout, source: str, texts: Sequence[str], *, lean: bool = False
) -> tuple[pyarrow.Table, NDArray[np.float64] | None, LineNumbers] | None:
    """Read some texts of lines and their finite numbers fast, or not at all: None on any doubt.

    Texts are encoded by a dictionary. A lean reading takes less memory, and more time where there
    are more cores: one block after another, and texts as they are.
    """
    import pyarrow

    text = pyarrow.string()
    types = dict.fromkeys(texts, text if lean else pyarrow.dictionary(pyarrow.int32(), text))
    if layout.number is not None:
        as_written = pyarrow.dictionary(pyarrow.int32(), pyarrow.binary())
        types[layout.number] = as_written if layout.integers else pyarrow.float64()
    counter = LineCounter()
    normal = Chunks(_normal_lines(stream, source, layout, counter))
    numbers = None
    try:
        table = read_csv(
            pyarrow.PythonFile(io.BufferedReader(normal, PARSER_BLOCK_BYTES), mode='r'),
            layout.fields,
            types,
            delimiter=' ',
            lean=lean,
        )
        if table is None or not len(table) or len(table) != counter.n_rows:
            return None
        if layout.number is not None:
            chunks = table[layout.number].chunks
            numbers = np.concatenate([_doubles(chunk, layout) for chunk in chunks])
    except _Doubt:
        return None
    return table, numbers, counter.line_numbers()


def _doubles(chunk: Any, layout: Layout) -> NDArray[Any]:
    """Return numbers as doubles if all of them are right."""
    doubles: NDArray[Any]
    if layout.integers:
        fields = chunk.dictionary.to_pylist()  # of which there are few
        if not all(line_format.is_number(field, layout) for field in fields):
            raise _Doubt
        doubles = np.array(list(map(float, fields)))[np.from_dlpack(chunk.indices)]
    else:
        doubles = np.from_dlpack(chunk)
    if not np.isfinite(doubles).all():
        raise _Doubt
    return doubles


def read_csv(
    source: Any,
    names: Sequence[str],
    types: dict[str, Any],
    *,
    delimiter: str = ',',
    skip_rows: int = 0,
    lean: bool = False,
) -> pyarrow.Table | None:
    """Read the columns that have types by pyarrow, in which nothing is quoted; None on any doubt.

    It runs in a thread of its own, so that this one goes on taking signals: in the main thread
    pyarrow would take them from it until all is read.
    """
    from concurrent.futures import ThreadPoolExecutor

    import pyarrow
    from pyarrow import csv

    options = (
        csv.ReadOptions(
            column_names=names,
            skip_rows=skip_rows,
            block_size=LEAN_BLOCK_BYTES if lean else PARSER_BLOCK_BYTES,
            use_threads=not lean,
        ),
        csv.ParseOptions(delimiter=delimiter, quote_char=False, escape_char=False),
        csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[]),
    )
    try:
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(csv.read_csv, source, *options).result()
    except MemoryError:  # one of pyarrow's is an ArrowException, too
        raise
    except pyarrow.ArrowException:
        return None


def text_column(column: pyarrow.ChunkedArray) -> Column:
    """Return a dictionary-encoded column without missing values as codes and distinct values."""
    chunks = column.unify_dictionaries().chunks
    if not chunks:
        return Column(np.empty(0, dtype=np.int32), [])
    # pyarrow's own way to an array imports pandas first.
    codes = np.concatenate([np.from_dlpack(chunk.indices) for chunk in chunks])
    return Column(codes.astype(np.int32, copy=False), chunks[-1].dictionary.to_pylist())


def _normal_lines(
    stream: BinaryIO, source: str, layout: Layout, counter: LineCounter
) -> Iterator[bytes]:
    """Yield blocks of lines with one space between fields, and LF for every line end."""
    for block in whole_lines(stream.read):
        if block is None:
            raise endless().error(source, f'line {counter.next_line}')
        normal = _normal(_without_comments(block, layout))
        if counter.next_line == 1 and normal.startswith(line_format.BYTE_ORDER_MARK):
            raise _Doubt
        _count(normal, counter)
        yield normal


def _without_comments(block: bytes, layout: Layout) -> bytes:
    """Make blank lines of comments."""
    if layout.comment is None or b'#' not in block:
        return block
    if not layout.is_comment(block) and not _is_comment_behind(block):
        return block
    lines = block.split(b'\n')
    return b'\n'.join([b'' if layout.is_comment(line) else line for line in lines])


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


def _normal(block: bytes) -> bytes:
    block = block.replace(b'\t', b' ')
    if b'\r' in block:  # a search for two bytes takes 80 times as long
        block = block.replace(b'\r\n', b'\n')
    if not line_format.holds_text(block):
        raise _Doubt
    if b'  ' in block:
        block = _collapse_spaces(b' ', block)
    return block.replace(b' \n', b'\n').replace(b'\n ', b'\n').strip(b' ')
