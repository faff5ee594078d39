"""The bulk reader: a fast parser that proves, and leaves all explaining to the strict one.

White space is normalised in the byte stream, so that pyarrow sees one space between fields and
nothing else it could take for its own: no quote, escape, missing value or comment is a thing to
it here. What it reads is accepted when every field is proved right; anything else is a doubt.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables.columns import Column
from mediaeval_ap.tables.decompression import Chunks
from mediaeval_ap.tables.format import BYTE_ORDER_MARK
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.lines import blocks

if TYPE_CHECKING:
    import pyarrow

__all__ = ['parse_in_bulk', 'text_column']

PARSER_BLOCK_BYTES = 8 << 20

_collapse_spaces = re.compile(rb' {2,}').sub


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
    >>> from mediaeval_ap.tables import SUBSET
    >>> columns, _ = parse_in_bulk(io.BytesIO(b'INA  F2\n'), SUBSET, 'file')
    >>> columns['video_id'].values
    ['F2']
    >>> parse_in_bulk(io.BytesIO(b'INA\n'), SUBSET, 'file') is None
    True
    """
    import pyarrow
    from pyarrow import csv

    text = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    types = dict.fromkeys(layout.texts, text)
    if layout.number is not None:
        types[layout.number] = pyarrow.float64()
    try:
        table = csv.read_csv(
            pyarrow.PythonFile(_buffered_normal_lines(stream, source), mode='r'),
            read_options=csv.ReadOptions(
                column_names=list(layout.fields), block_size=PARSER_BLOCK_BYTES
            ),
            parse_options=csv.ParseOptions(delimiter=' ', quote_char=False, escape_char=False),
            convert_options=csv.ConvertOptions(
                column_types=types, null_values=[], strings_can_be_null=False
            ),
        )
    except (_Doubt, pyarrow.ArrowException):
        return None
    columns = {field: text_column(table[field]) for field in layout.texts}
    if not len(table) or any('' in column.values for column in columns.values()):
        return None
    if layout.number is None:
        return columns, None
    numbers = table[layout.number].to_numpy()
    return (columns, numbers) if np.isfinite(numbers).all() else None


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
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
    return Column(codes.astype(np.int32, copy=False), chunks[-1].dictionary.to_pylist())


def _normal_lines(stream: BinaryIO, source: str) -> Iterator[bytes]:
    """Blocks of lines with one space between fields, and LF for every line end."""
    first = True
    for block in blocks(stream, source):
        if b'\t' in block:
            block = block.replace(b'\t', b' ')
        if b'\r' in block:
            block = block.replace(b'\r\n', b'\n')
        if b'\0' in block or b'\r' in block:
            raise _Doubt
        if b'  ' in block:
            block = _collapse_spaces(b' ', block)
        if b' \n' in block:
            block = block.replace(b' \n', b'\n')
        if b'\n ' in block:
            block = block.replace(b'\n ', b'\n')
        block = block.strip(b' ')
        if first and block.startswith(BYTE_ORDER_MARK):
            raise _Doubt
        first = False
        yield block


def _buffered_normal_lines(stream: BinaryIO, source: str) -> BinaryIO:
    return io.BufferedReader(Chunks(_normal_lines(stream, source)), PARSER_BLOCK_BYTES)
