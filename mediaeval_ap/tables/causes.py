"""Why lines are wrong, for very many of them at once.

What is wrong with one line is the matter of `mediaeval_ap.tables.line_format`; this gives the same
answers without a step of Python for each line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.line_format import Cause, cause_of, find_fields, holds_text, is_number

__all__ = ['CAUSES', 'RIGHT', 'Fields', 'causes_of', 'fields_of', 'splitter']

CAUSES = tuple(Cause)
RIGHT = -1
LONG = 2 << 20  # of which arrays would take several times as much: there is a long line
_BYTES, _FIELDS, _NUMBER = map(CAUSES.index, (Cause.BYTES, Cause.FIELDS, Cause.NUMBER))
_ESCAPED = range(0xDC80, 0xDD00)  # what stands for bytes that are not UTF-8


class Fields(NamedTuple):
    r"""Where the fields of lines stand, all lines in one.

    Parameters
    ----------
    starts, ends : ndarray of int64, shape (n_fields,)
        Where each begins, and where it has ended, in bytes or characters from 0.
    line_starts : ndarray of int64, shape (n_lines,)
        Where each line begins.
    counts : ndarray of int64, shape (n_lines,)
        How many fields each line has.

    Examples
    --------
    >>> fields_of(np.frombuffer(b'ann  0.5\n\nbob\n', np.uint8)).counts.tolist()
    [2, 0, 1]
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    line_starts: NDArray[np.int64]
    counts: NDArray[np.int64]


def fields_of(text: NDArray[np.unsignedinteger]) -> Fields:
    r"""Find the fields of lines.

    Parameters
    ----------
    text : ndarray of unsigned integers
        The bytes or code points of lines that each end with LF.

    Returns
    -------
    Fields
        Where they are.

    Examples
    --------
    >>> fields = fields_of(np.frombuffer(b'ann  0.5\n', np.uint8))
    >>> fields.starts.tolist(), fields.ends.tolist()
    ([0, 5], [3, 8])
    """
    is_between = (text == ord(' ')) | (text == ord('\t')) | (text == ord('\n'))
    edges = np.flatnonzero(np.diff(is_between, prepend=True))  # the last of them is an end
    starts, ends = edges[::2], edges[1::2]
    line_ends = np.flatnonzero(text == ord('\n'))
    counts = np.diff(starts.searchsorted(line_ends), prepend=0)
    return Fields(starts, ends, np.append(0, line_ends[:-1] + 1), counts)


def causes_of(lines: list[bytes], layout: Layout) -> NDArray[np.int8]:
    """Why each of some lines is wrong, as `cause_of` says.

    Parameters
    ----------
    lines : list of bytes
        Lines without their ends.
    layout : Layout
        Their fields.

    Returns
    -------
    ndarray of int8, shape (n_lines,)
        The place of the cause in `CAUSES`; `RIGHT` for a line that is right, blank or a comment.

    Examples
    --------
    >>> from mediaeval_ap.tables.layouts import SUBSET
    >>> [CAUSES[each] for each in causes_of([b'INA F2', b'INA'], SUBSET)[1:]]
    [<Cause.FIELDS: 'fields'>]
    """
    text = b'\n'.join((*lines, b''))
    if len(text) > LONG:
        found = (cause_of(line, layout) for line in lines)
        return np.array([RIGHT if each is None else CAUSES.index(each) for each in found], np.int8)
    counts = fields_of(np.frombuffer(text, np.uint8)).counts
    causes = np.full(len(lines), RIGHT, np.int8)
    causes[(counts > 0) & (counts != len(layout.fields))] = _FIELDS
    causes[_lines_of_no_text(text)] = _BYTES
    if layout.comment is not None and b'#' in text:
        comments = [row for row, line in enumerate(lines) if layout.is_comment(line)]
        causes[comments], counts[comments] = RIGHT, 0
    if layout.number is not None:
        rows = np.flatnonzero((causes == RIGHT) & (counts > 0)).tolist()
        split = splitter(text)
        numbers = [split(lines[row])[layout.number_at] for row in rows]
        is_right = {number: is_number(number, layout) for number in set(numbers)}
        causes[[row for row, each in zip(rows, numbers, strict=True) if not is_right[each]]] = (
            _NUMBER
        )
    return causes


def splitter(text: bytes) -> Callable[[bytes], list[bytes]]:
    r"""The fastest way to find the fields of lines.

    Parameters
    ----------
    text : bytes
        All of the lines, without CR where they are split.

    Returns
    -------
    callable
        Takes a line, and returns its fields.

    Examples
    --------
    >>> splitter(b'INA\vF2')(b'INA\vF2')
    [b'INA\x0bF2']
    """
    return find_fields if b'\v' in text or b'\f' in text else bytes.split


def _lines_of_no_text(text: bytes) -> NDArray[np.int64]:
    """Which lines are no text, as `holds_text` has it."""
    if holds_text(text):
        return np.empty(0, dtype=np.int64)
    decoded = text.decode(errors='surrogateescape')
    codes = np.frombuffer(decoded.encode('utf-32-le', 'surrogatepass'), np.uint32)
    is_bad = (codes >= _ESCAPED.start) & (codes < _ESCAPED.stop)
    is_bad |= (codes == 0) | (codes == ord('\r'))
    return np.flatnonzero(codes == ord('\n')).searchsorted(np.flatnonzero(is_bad))
