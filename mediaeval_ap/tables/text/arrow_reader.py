"""The bulk reader: pyarrow, which proves blocks of lines right, and explains nothing.

Blocks are made normal first: pyarrow then sees one space between fields, and its quoting, nulls and
comments are switched off. What it reads is accepted when every field is proved right.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from os import cpu_count
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.table import Column
from mediaeval_ap.tables.text.line_rules import BYTE_ORDER_MARK, Piece, holds_text, is_number

if TYPE_CHECKING:
    import pyarrow

N_THREADS = min(cpu_count() or 1, 8)  # each more holds a block, its text and columns
CSV_BLOCK_BYTES = 8 << 20  # for each core; half takes a seventh more time, double no less

Item = TypeVar('Item')
Result = TypeVar('Result')

_collapse_spaces = re.compile(rb' {2,}').sub
_is_comment_behind = re.compile(rb'\n[ \t]*#').search  # faster than to look at each line


def results_of(
    work: Callable[[Item], Result], items: Iterable[Item], threads: ThreadPoolExecutor
) -> Iterator[Result]:
    """Call `work` on each item, in threads, with few items at once; yield results in order.

    This thread goes on taking signals, which pyarrow would take from it if it read here.
    """
    pending: deque[Future[Result]] = deque()
    for item in items:
        pending.append(threads.submit(work, item))
        if len(pending) > N_THREADS:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def proved_block(
    block: bytes | None, layout: Layout, as_written: Sequence[str] = ()
) -> Piece | None:
    """Read a block of lines; None unless all of them are proved right.

    Texts are encoded, all of them; or only those of `as_written` are read, and stay as they are.
    """
    if block is None:  # an endless line
        return None
    import pyarrow

    types = dict.fromkeys(as_written or layout.texts, pyarrow.string())
    if layout.number is not None:
        digits = pyarrow.dictionary(pyarrow.int32(), pyarrow.binary())
        types[layout.number] = digits if layout.integers else pyarrow.float64()
    text = _normal(block, layout)
    if text is None or layout.holds_comment(text):
        return None
    n_lines, positions = _count(text)
    n_rows = n_lines if positions is None else len(positions)
    if not block.endswith(b'\n') and text[-1:] in (b'', b'\n'):  # the last line was spaces alone
        n_lines, positions = n_lines + 1, np.arange(n_lines) if positions is None else positions
    if not text or text.startswith(BYTE_ORDER_MARK):
        text = b'\n' + text  # pyarrow refuses an empty file, and drops a mark at its beginning
    content = pyarrow.BufferReader(text)
    # The pool of the system gives memory back, as small blocks of one thread need it; pyarrow's own
    # holds the codes of many threads in a third less.
    pool = pyarrow.system_memory_pool() if as_written else None
    reading = {'block_size': len(text) + 1, 'use_threads': False}
    table = _parsed(content, layout.fields, types, ' ', pool, **reading)
    if table is None or len(table) != n_rows:
        return None
    numbers = _doubles(table, layout)
    if numbers is None:
        return None
    texts = table.select(as_written or layout.texts)
    if not as_written:
        columns = [column.dictionary_encode() for column in texts.columns]
        texts = pyarrow.table(columns, list(layout.texts))
    return Piece(block, n_lines, positions, texts, numbers, {})


def _count(block: bytes) -> tuple[int, NDArray[np.int64] | None]:
    """Count normal lines, and find those that are not blank, if some are."""
    if not block:  # the last line of a file: spaces alone, or a comment
        return 0, None
    # As lines are short, bytes.find takes ten times as long for two line ends in a row.
    is_end = np.frombuffer(block, np.uint8) == ord('\n')
    if not (is_end[0] or (is_end[1:] & is_end[:-1]).any()):
        return int(np.count_nonzero(is_end)) + (not is_end[-1]), None
    starts = np.append(0, np.flatnonzero(is_end) + 1)
    starts = starts[starts < len(block)]
    return len(starts), np.flatnonzero(~is_end[starts])


def _normal(block: bytes, layout: Layout) -> bytes | None:
    """Return lines with one space between fields and no comments; None if they are no text."""
    may_comment = layout.comment is not None and b'#' in block
    if may_comment and (layout.is_comment(block) or _is_comment_behind(block)):
        lines = block.split(b'\n')
        block = b'\n'.join([b'' if layout.is_comment(line) else line for line in lines])
    if b'\t' in block:  # a search for two bytes takes 50 times as long as one for one byte
        block = block.replace(b'\t', b' ')
    if b'\r' in block:
        block = block.replace(b'\r\n', b'\n')
    if not holds_text(block):
        return None
    # Control characters are text, and count for white space here, which costs no more than time.
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
    if not layout.integers:
        doubles: NDArray[Any] = np.from_dlpack(column)
    else:
        fields = column.dictionary.to_pylist()  # of which there are few
        if not all(is_number(field, layout) for field in fields):
            return None
        doubles = np.array(list(map(float, fields)), np.float64)[np.from_dlpack(column.indices)]
    return doubles if np.isfinite(doubles).all() else None


def read_csv(
    source: Any, names: Sequence[str], types: dict[str, Any], *, delimiter: str, skip_rows: int
) -> pyarrow.Table | None:
    """Read columns of UTF-8 by pyarrow, as `results_of`; nothing is quoted; None on any doubt."""
    reading = {'block_size': CSV_BLOCK_BYTES, 'skip_rows': skip_rows}
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_parsed, source, names, types, delimiter, None, **reading).result()


def _parsed(
    source: Any,
    names: Sequence[str],
    types: dict[str, Any],
    delimiter: str,
    memory_pool: pyarrow.MemoryPool | None,
    **reading: Any,
) -> pyarrow.Table | None:
    from pyarrow import ArrowException, csv

    options = csv.ReadOptions(column_names=names, **reading)
    parsing = csv.ParseOptions(delimiter=delimiter, quote_char=False, escape_char=False)
    # Not to check UTF-8 saves a sixth of the time.
    converting = csv.ConvertOptions(column_types=types, null_values=[], check_utf8=False)
    converting.include_columns = list(types)
    try:
        return csv.read_csv(source, options, parsing, converting, memory_pool=memory_pool)
    except MemoryError:  # one of pyarrow's is an ArrowException, too
        raise
    except ArrowException:
        return None


def text_column(column: pyarrow.ChunkedArray) -> Column:
    """Return a dictionary-encoded column without missing values as codes and distinct values."""
    chunks = column.unify_dictionaries().chunks
    if not chunks:
        return Column(np.empty(0, dtype=np.int32), [])
    # pyarrow's own way to an array imports pandas first.
    codes = np.concatenate([np.from_dlpack(chunk.indices) for chunk in chunks])
    return Column(codes.astype(np.int32, copy=False), chunks[-1].dictionary.to_pylist())


def joined_columns(tables: list[pyarrow.Table]) -> list[Column]:
    """Join tables of the same columns; each column is given up when it is done."""
    import pyarrow

    joined = pyarrow.concat_tables(tables)
    columns = joined.columns[::-1]
    tables.clear()
    del joined
    # Not in threads: one that starts where memory is short may never say that it has started.
    found = [text_column(columns.pop()) for _ in range(len(columns))]
    pyarrow.default_memory_pool().release_unused()  # of ten million lines it would keep 340 MiB
    return found
