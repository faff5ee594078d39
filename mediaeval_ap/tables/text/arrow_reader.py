"""The bulk reader: pyarrow reads blocks of lines that are right as a whole, or explains nothing."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from os import cpu_count
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.table import Column
from mediaeval_ap.tables.text.line_rules import Piece, holds_text, with_lf
from mediaeval_ap.tables.values import is_number

if TYPE_CHECKING:
    import pyarrow

N_THREADS = min(cpu_count() or 1, 8)  # each thread keeps a block, its text and columns
CSV_BLOCK_BYTES = 8 << 20  # for each core; half takes a seventh longer; double saves nothing

LineBlock = TypeVar('LineBlock')
Parsed = TypeVar('Parsed')

_collapse_spaces = re.compile(rb' {2,}').sub
_has_later_comment = re.compile(rb'\n[ \t]*#').search  # faster than a test of each line


def parse_in_threads(
    parse: Callable[[LineBlock], Parsed], blocks: Iterable[LineBlock], threads: ThreadPoolExecutor
) -> Iterator[Parsed]:
    """Parse blocks in threads, a few at once; yield the results in the order of the blocks."""
    # The calling thread keeps handling signals: if pyarrow read in it, pyarrow would take them.
    pending: deque[Future[Parsed]] = deque()
    for block in blocks:
        pending.append(threads.submit(parse, block))
        if len(pending) > N_THREADS:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def prove_block(
    block: bytes | None, layout: Layout, types: Mapping[str, pyarrow.DataType] | None = None
) -> Piece | None:
    """Read a block of lines, or only the texts of these types; None unless all lines are right."""
    if block is None:  # an endless line
        return None
    text = _normalised(block, layout)
    if text is None or layout.holds_comment(text):
        return None
    n_lines, rows = _rows_among_lines(text)
    if not block.endswith(b'\n') and text[-1:] in (b'', b'\n'):
        if rows is None:
            rows = np.arange(n_lines)
        n_lines += 1  # the last line, which held only spaces or a comment
    table = _parse_normalised(text, layout, types)
    if table is None or len(table) != (n_lines if rows is None else len(rows)):
        return None
    numbers = _doubles(table, layout)
    if numbers is None:
        return None
    text_columns = table.select(types or layout.texts)
    if types is None:
        for index, name in enumerate(layout.texts):
            column = text_columns[name].dictionary_encode()
            text_columns = text_columns.set_column(index, name, column)
    return Piece(block, n_lines, rows=rows, texts=text_columns, numbers=numbers, wrong={})


def _parse_normalised(
    text: bytes, layout: Layout, types: Mapping[str, pyarrow.DataType] | None
) -> pyarrow.Table | None:
    """Parse lines with one space between fields; None if pyarrow cannot."""
    import pyarrow

    # For small blocks in one thread, only the system's pool gives memory back. For codes in many
    # threads, pyarrow's own pool needs a third less.
    pool = None if types is None else pyarrow.system_memory_pool()
    types = dict(types or dict.fromkeys(layout.texts, pyarrow.string()))
    if layout.number is not None:
        types[layout.number] = pyarrow.float64()
        if layout.integers:
            types[layout.number] = pyarrow.dictionary(pyarrow.int32(), pyarrow.binary())
    return _parse_csv(
        pyarrow.BufferReader(text or b'\n'),  # pyarrow refuses an empty file
        layout.fields,
        types,
        delimiter=' ',
        memory_pool=pool,
        block_size=len(text) + 1,
        use_threads=False,
    )


def _rows_among_lines(block: bytes) -> tuple[int, NDArray[np.int64] | None]:
    """Count normalised lines; return the positions of rows as well, if some lines are blank."""
    if not block:  # the last line of a file, with only spaces or a comment
        return 0, None
    # In short lines, bytes.find takes ten times as long to find two line ends in a row.
    is_end = np.frombuffer(block, np.uint8) == ord('\n')
    if not (is_end[0] or (is_end[1:] & is_end[:-1]).any()):
        return int(np.count_nonzero(is_end)) + (not is_end[-1]), None
    starts = np.append(0, np.flatnonzero(is_end) + 1)
    starts = starts[starts < len(block)]
    return len(starts), np.flatnonzero(~is_end[starts])


def _normalised(block: bytes, layout: Layout) -> bytes | None:
    """Return lines with one space between fields, without comments; None if they are not text."""
    may_hold_comments = layout.comment is not None and b'#' in block
    if may_hold_comments and (layout.is_comment(block) or _has_later_comment(block)):
        lines = block.split(b'\n')
        block = b'\n'.join([b'' if layout.is_comment(line) else line for line in lines])
    block = with_lf(block.replace(b'\t', b' '))
    if not holds_text(block):
        return None
    # Control characters are text; if this test takes one for white space, that only costs time.
    is_low = np.frombuffer(block, np.uint8) <= ord(' ')
    if not (is_low[:1].any() or block.endswith(b' ') or (is_low[1:] & is_low[:-1]).any()):
        return block
    block = _collapse_spaces(b' ', block)
    return block.replace(b' \n', b'\n').replace(b'\n ', b'\n').strip(b' ')


def _doubles(table: pyarrow.Table, layout: Layout) -> NDArray[np.float64] | None:
    """Return the numbers of a layout as doubles; None if one is wrong."""
    if layout.number is None:
        return np.empty(0)
    column = table[layout.number].combine_chunks()
    if layout.integers:
        fields = column.dictionary.to_pylist()  # few distinct numbers
        if not all(is_number(field, layout.integers) for field in fields):
            return None
        doubles = np.array(list(map(float, fields)), np.float64)[np.from_dlpack(column.indices)]
    else:
        doubles = np.from_dlpack(column).astype(np.float64, copy=False)
    return doubles if np.isfinite(doubles).all() else None


def read_csv(
    source: pyarrow.BufferReader,
    names: Sequence[str],
    types: Mapping[str, pyarrow.DataType],
    *,
    delimiter: str,
    skip_rows: int,
) -> pyarrow.Table | None:
    """Read UTF-8 CSV without quotes by pyarrow, in another thread; None on any doubt."""
    parse = partial(_parse_csv, delimiter=delimiter, skip_rows=skip_rows)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(parse, source, names, types, block_size=CSV_BLOCK_BYTES).result()


def _parse_csv(
    source: pyarrow.BufferReader,
    names: Sequence[str],
    types: Mapping[str, pyarrow.DataType],
    *,
    delimiter: str,
    memory_pool: pyarrow.MemoryPool | None = None,
    **read_options: int,
) -> pyarrow.Table | None:
    from pyarrow import ArrowException, csv

    reading = csv.ReadOptions(column_names=names, **read_options)
    parsing = csv.ParseOptions(delimiter=delimiter, quote_char=False, escape_char=False)
    # UTF-8 was checked before; a second check would take a sixth of the time.
    converting = csv.ConvertOptions(column_types=types, null_values=[], check_utf8=False)
    converting.include_columns = list(types)
    try:
        return csv.read_csv(source, reading, parsing, converting, memory_pool=memory_pool)
    except MemoryError:  # pyarrow's is an ArrowException, too
        raise
    except ArrowException:
        return None


def text_column(column: pyarrow.ChunkedArray) -> Column:
    """Turn a dictionary-encoded column without missing values into codes and distinct values."""
    chunks = column.unify_dictionaries().chunks
    if not chunks:
        return Column(np.empty(0, dtype=np.int32), [])
    # pyarrow's own conversion to an array would import pandas.
    codes = np.concatenate([np.from_dlpack(chunk.indices) for chunk in chunks])
    return Column(codes.astype(np.int32, copy=False), chunks[-1].dictionary.to_pylist())


def join_columns(tables: list[pyarrow.Table]) -> list[Column]:
    """Join tables of the same columns; empty the list, and free each column once it is joined."""
    import pyarrow

    joined = pyarrow.concat_tables(tables)
    columns = joined.columns[::-1]
    tables.clear()
    del joined
    # Not in threads: if memory is short, a new thread may hang before it reports an error.
    text_columns = [text_column(columns.pop()) for _ in range(len(columns))]
    pyarrow.default_memory_pool().release_unused()  # after ten million lines it would keep 340 MiB
    return text_columns
