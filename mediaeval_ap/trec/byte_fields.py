"""Fields of lines, found and taken by arithmetic on a block of bytes.

What is not certain here is left to the strict parser.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables import Layout
from mediaeval_ap.tables.byte_words import WIDEST, WORD, words_at
from mediaeval_ap.tables.text.format import is_utf8
from mediaeval_ap.trec.documents import Documents, array_of

# So a whole window around any field is in the buffer, and a line end before each line.
FRONT, BACK = b'#' * (3 * WORD - 1) + b'\n', b'#' * WIDEST
SPACE, TAB, LF = b' \t\n'


class Fields(NamedTuple):
    """The places of the fields of a block, row by row, and what they are places of."""

    text: bytes
    buffer: NDArray[np.uint8]  # the same bytes
    begins: NDArray[np.int64]  # shape (n_rows, n_fields)
    ends: NDArray[np.int64]
    n_lines: int
    rows: NDArray[np.int64] | None  # the positions of the lines that hold rows; None for all lines


def find_fields(block: bytes, layout: Layout) -> Fields | None:
    """Find the fields of whole lines if each is right, blank lines aside; None on any doubt.

    A line that may be a comment is a doubt. Numbers are not looked at.
    """
    if not is_utf8(block):
        return None
    if b'\r' in block:
        block = block.replace(b'\r\n', b'\n')
    text = b''.join((FRONT, block, b'' if block.endswith(b'\n') else b'\n', BACK))
    buffer = np.frombuffer(text, np.uint8)
    found = _between_spaces(buffer[: -len(BACK)], len(layout.fields))
    if found is None:
        return None
    begins, ends, n_lines, rows = found
    if layout.comment is not None and (buffer[begins[:, 0]] == ord('#')).any():
        return None
    return Fields(text, buffer, begins, ends, n_lines, rows)


def _between_spaces(
    lines: NDArray[np.uint8], n_fields: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], int, NDArray[np.int64] | None] | None:
    """Find fields in lines that end with LF: begins, ends, number of lines, lines with rows."""
    separators = np.flatnonzero(lines <= SPACE)
    begins, ends = separators[:-1] + 1, separators[1:]
    kinds = lines[ends]
    is_end = kinds == LF
    if not (is_end | (kinds == SPACE) | (kinds == TAB)).all():
        return None  # a control character, which may be a part of a field, or wrong
    n_lines = int(np.count_nonzero(is_end))
    shape = -1, n_fields
    holds = begins < ends
    if holds.all() and len(ends) == n_lines * n_fields and is_end[n_fields - 1 :: n_fields].all():
        return begins.reshape(shape), ends.reshape(shape), n_lines, None
    line = (is_end.cumsum() - is_end)[holds]
    if len(line) % n_fields:
        return None
    line = line.reshape(shape)
    rows = line[:, 0]
    if (line != line[:, :1]).any() or (rows[1:] == rows[:-1]).any():
        return None
    return begins[holds].reshape(shape), ends[holds].reshape(shape), n_lines, rows


def texts_at(fields: Fields, column: int) -> Documents:
    """Return the texts of one column."""
    begins, ends = fields.begins[:, column], fields.ends[:, column]
    sizes = ends - begins
    if sizes.max(initial=0) > WIDEST:
        places = zip(begins.tolist(), ends.tolist(), strict=True)
        return array_of([fields.text[begin:end] for begin, end in places])
    words = words_at(fields.buffer, begins, sizes)
    return words.view(f'S{words.shape[1] * WORD}')[:, 0]
