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
from mediaeval_ap.tables.line_format import BYTE_ORDER_MARK, holds_text, is_header, is_number
from mediaeval_ap.tables.lines import blocks
from mediaeval_ap.tables.table import Column

if TYPE_CHECKING:
    import pyarrow

__all__ = ['number_column', 'parse_in_bulk', 'read_csv', 'read_in_bulk', 'text_column']

PARSER_BLOCK_BYTES = 8 << 20
LEAN_BLOCK_BYTES = 1 << 20

_collapse_spaces = re.compile(rb' {2,}').sub
_is_comment_behind = re.compile(rb'\n[ \t]*#').search  # faster than removing where none is


class _Doubt(Exception):
    """Something in the bytes that the strict parser has to look at."""


def parse_in_bulk(
    stream: BinaryIO, layout: Layout, source: str
) -> tuple[dict[str, Column], NDArray[np.float64] | None] | None:
    r"""Read lines fast, or not at all.

    Parameters
    ----------
    stream : binary file
        Where the bytes come from.
    layout : Layout
        The fields of a line.
    source : str
        Name of the source, for errors.

    Returns
    -------
    columns : dict of str to Column
        The text fields.
    numbers : ndarray of float64 or None
        The field of numbers, where the layout has one.

    Raises
    ------
    FormatError
        When a line has no end.

    Notes
    -----
    The whole result is none on any doubt.

    Examples
    --------
    >>> from mediaeval_ap.tables.layouts import SUBSET
    >>> columns, _ = parse_in_bulk(io.BytesIO(b'INA  F2\n'), SUBSET, 'file')
    >>> columns['video_id'].values
    ['F2']
    >>> parse_in_bulk(io.BytesIO(b'INA\n'), SUBSET, 'file') is None
    True
    """
    table = read_in_bulk(stream, layout, source, layout.fields)
    if table is None:
        return None
    columns = {field: text_column(table[field]) for field in layout.texts}
    if any('' in column.values for column in columns.values()):
        return None
    if is_header(' '.join(column.text(0) for column in columns.values()), layout):
        return None
    return columns, None if layout.number is None else number_column(table[layout.number].chunks)


def read_in_bulk(
    stream: BinaryIO, layout: Layout, source: str, fields: Sequence[str], *, lean: bool = False
) -> pyarrow.Table | None:
    r"""Read some fields of lines fast, or not at all.

    Parameters
    ----------
    stream : binary file
        Where the bytes come from.
    layout : Layout
        The fields of a line.
    source : str
        Name of the source, for errors.
    fields : sequence of str
        Those that are wanted.
    lean : bool
        Take less memory, and more time where there are more cores: one block after another, without
        a dictionary for each.

    Returns
    -------
    pyarrow.Table or None
        A row a line that is neither blank nor a comment: texts by a dictionary or, where lean, as
        they are; numbers finite. None on any doubt.

    Raises
    ------
    FormatError
        When a line has no end.

    Examples
    --------
    >>> from mediaeval_ap.tables.layouts import SUBSET
    >>> read_in_bulk(io.BytesIO(b'INA F2\n'), SUBSET, 'file', ['video_id']).column_names
    ['video_id']
    """
    import pyarrow
    from pyarrow import csv

    text = pyarrow.string()
    types = dict.fromkeys(layout.texts, text if lean else pyarrow.dictionary(pyarrow.int32(), text))
    if layout.number is not None:
        fields_of_numbers = pyarrow.dictionary(pyarrow.int32(), pyarrow.binary())
        types[layout.number] = fields_of_numbers if layout.integers else pyarrow.float64()
    try:
        table = read_csv(
            pyarrow.PythonFile(_buffered_normal_lines(stream, source, layout), mode='r'),
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
    return table if len(table) and finite else None


def _with_integers(table: pyarrow.Table, layout: Layout) -> pyarrow.Table:
    """The same with doubles for integers in digits, of which there are few distinct ones."""
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
    r"""Read CSV by pyarrow in a thread of its own, so that this one goes on taking signals.

    In the main thread pyarrow would take them from it until all is read.

    Parameters
    ----------
    source : pyarrow file or buffer
        Where the bytes come from.
    *options : pyarrow.csv.ReadOptions, ParseOptions, ConvertOptions
        How to read them.

    Returns
    -------
    pyarrow.Table
        As of `pyarrow.csv.read_csv`.

    Raises
    ------
    pyarrow.ArrowException
        Likewise, or what reading the source raises.

    Examples
    --------
    >>> import pyarrow
    >>> read_csv(pyarrow.BufferReader(b'Image,Id\n1,w\n')).column_names
    ['Image', 'Id']
    """
    from concurrent.futures import ThreadPoolExecutor

    from pyarrow import csv

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(csv.read_csv, source, *options).result()


def text_column(column: pyarrow.ChunkedArray) -> Column:
    """A dictionary-encoded pyarrow column without missing values, as codes and distinct values.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Of dictionary type, in one chunk or many.

    Returns
    -------
    Column
        The same texts.

    Examples
    --------
    >>> import pyarrow
    >>> text_column(pyarrow.chunked_array([['b', 'a', 'b']]).dictionary_encode()).values
    ['b', 'a']
    """
    chunks = column.unify_dictionaries().chunks
    if not chunks:
        return Column(np.empty(0, dtype=np.int32), [])
    codes = number_column(chunk.indices for chunk in chunks)
    return Column(codes.astype(np.int32, copy=False), chunks[-1].dictionary.to_pylist())


def number_column(chunks: Iterable[pyarrow.Array]) -> NDArray[Any]:
    """Chunks of numbers without missing values, as one array.

    Parameters
    ----------
    chunks : iterable of pyarrow.Array
        Numbers of one type.

    Returns
    -------
    ndarray, shape (n_rows,)
        The same numbers. pyarrow's own way to an array imports pandas first.

    Examples
    --------
    >>> import pyarrow
    >>> number_column([pyarrow.array([1, 2]), pyarrow.array([3])]).tolist()
    [1, 2, 3]
    """
    return np.concatenate([np.from_dlpack(chunk) for chunk in chunks])


def _normal_lines(stream: BinaryIO, source: str, layout: Layout) -> Iterator[bytes]:
    """Blocks of lines with one space between fields, and LF for every line end."""
    first = True
    for block in blocks(stream, source):
        block = _normal(_without_comments(block, layout))
        if first and block.startswith(BYTE_ORDER_MARK):
            raise _Doubt
        first = first and not block  # as one of comments alone
        yield block


def _without_comments(block: bytes, layout: Layout) -> bytes:
    if layout.comment is None or b'#' not in block:
        return block
    holds_comments = layout.is_comment(block) or _is_comment_behind(block)
    return layout.without_comments(block) if holds_comments else block


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


def _buffered_normal_lines(stream: BinaryIO, source: str, layout: Layout) -> BinaryIO:
    return io.BufferedReader(Chunks(_normal_lines(stream, source, layout)), PARSER_BLOCK_BYTES)
