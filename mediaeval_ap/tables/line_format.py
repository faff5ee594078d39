"""The line format: which lines hold a row, and what is wrong with the others.

A line holds its fields separated by one or more spaces or tabs, and only those. Text is UTF-8; a
number is a finite decimal, or an integer where the layout says so. A blank line holds nothing, and
is not wrong; nor does a comment, whatever its bytes, in the layouts that have comments.
"""

from __future__ import annotations

import dataclasses
import math
import re
from codecs import getincrementaldecoder
from enum import IntEnum
from itertools import islice

from mediaeval_ap.errors import shown
from mediaeval_ap.plain_text import BETWEEN_WORDS
from mediaeval_ap.tables.faults import FINITE_DECIMAL, INTEGER, Wrong
from mediaeval_ap.tables.layouts import Layout

__all__ = ['parse_line']

BYTE_ORDER_MARK = b'\xef\xbb\xbf'
LARGEST_INTEGER = 1 << 53  # doubles hold all integers up to this
NUMBER_BYTES = b'0123456789+-.eE'
INTEGER_BYTES = b'0123456789+-'
DECODER_BLOCK_BYTES = 1 << 20  # a choice: half and double take as long; memory grows
QUOTED_BYTES = 1000  # a choice: more than a message shows, and little where a line is endless

_field = re.compile(b'[^%b]+' % BETWEEN_WORDS.encode())
find_fields = _field.findall
match_fields = _field.finditer
_is_integer = re.compile(rb'[+-]?[0-9]+').fullmatch
_SHAPES = bytes(ord(' ') if chr(byte) in BETWEEN_WORDS else ord('x') for byte in range(256))


class Cause(IntEnum):
    """The reasons for which a line is refused."""

    LENGTH = 1
    BYTES = 2
    FIELDS = 3
    HEADER = 4
    NUMBER = 5


def cause_of(line: bytes, layout: Layout) -> Cause | None:
    """Find why a line without its end is wrong; None when it is right, blank or a comment."""
    if layout.is_comment(line):
        return None
    if not holds_text(line):
        return Cause.BYTES
    count = count_fields(line)
    if not count:
        return None
    if count != len(layout.fields):
        return Cause.FIELDS
    if layout.number is None or is_number(find_fields(line)[layout.number_at], layout):
        return None
    return Cause.HEADER if is_header(line.decode(), layout) else Cause.NUMBER


def count_fields(line: bytes) -> int:
    """Count the fields of a line, without a list of them: there may be millions."""
    shape = line.translate(_SHAPES)
    return shape.count(b' x') + shape.startswith(b'x')


def explain(line: bytes, layout: Layout) -> Wrong | None:
    """Explain the first fault of a line without its end; None when nothing is wrong."""
    match cause_of(line, layout):
        case Cause.BYTES:
            return explain_bytes(line)
        case Cause.FIELDS:
            count = count_fields(line)
            quoted = shown(line[:QUOTED_BYTES].decode(errors='ignore'))
            found = f'{count} field{"s" if count > 1 else ""} in {quoted}'
            surplus = next(islice(match_fields(line), len(layout.fields), None), None)
            return Wrong('', found, layout.expected, surplus.start() if surplus else len(line))
        case Cause.HEADER:
            return header_of(line.decode())
        case Cause.NUMBER:
            each = next(islice(match_fields(line), layout.number_at, None))
            wrong = explain_number(each[0], layout)
            return wrong and dataclasses.replace(wrong, at=each.start())
    return None


def explain_number(field: bytes, layout: Layout) -> Wrong | None:
    """Explain why a field is no number of a layout; None where it is one."""
    if is_number(field, layout):
        return None
    needs_digits = layout.integers and not _is_integer(field)
    expected = INTEGER if needs_digits else FINITE_DECIMAL
    return Wrong(str(layout.number), shown(field.decode(errors='replace')), expected)


def is_header(line: str, layout: Layout) -> bool:
    """Return whether a line holds the names of the fields, in letters of any case."""
    words = tuple(field.decode() for field in find_fields(line.casefold().encode()))
    return words == layout.fields


def header_of(line: str) -> Wrong:
    """Explain a header where rows are expected."""
    return Wrong('', f'the header {shown(line)}', 'rows only', remedy='remove this line')


def holds_no_row(line: bytes, layout: Layout) -> bool:
    """Return whether a line is passed over: it is blank, or a comment."""
    return not line.strip(b' \t') or bool(layout.is_comment(line))


def parse_line(line: bytes, layout: Layout, source: str, number: int) -> tuple[str, ...] | None:
    r"""Split one line of a stream into its fields.

    Parameters
    ----------
    line : bytes
        The line, with or without its end.
    layout : Layout
        Its fields.
    source : str
        Name of the stream, for errors.
    number : int
        Number of the line, from 1, for errors.

    Returns
    -------
    tuple of str or None
        The fields; None for a blank line or a comment.

    Raises
    ------
    FormatError
        When the line is wrong.

    Examples
    --------
    >>> from mediaeval_ap.tables import QUERIES
    >>> parse_line(b'alain_juppe\r\n', QUERIES, '<stdin>', 1)
    ('alain_juppe',)
    """
    text = line.removesuffix(b'\r\n') if line.endswith(b'\r\n') else line.removesuffix(b'\n')
    if (wrong := explain(text, layout)) is not None:
        raise wrong.error(source, f'line {number}')
    if holds_no_row(text, layout):
        return None
    return tuple(field.decode() for field in find_fields(text))


def holds_text(lines: bytes) -> bool:
    """Return whether lines that end with LF are all right to `explain_bytes`."""
    return b'\0' not in lines and b'\r' not in lines and is_utf8(lines)


def is_utf8(text: bytes) -> bool:
    if text.isascii():
        return True
    decode = getincrementaldecoder('utf-8')().decode
    try:
        for begin in range(0, len(text), DECODER_BLOCK_BYTES):
            decode(text[begin : begin + DECODER_BLOCK_BYTES])
        decode(b'', final=True)
    except UnicodeDecodeError:
        return False
    return True


def explain_bytes(line: bytes) -> Wrong | None:
    """Explain the first NUL, carriage return or byte of a line that is not UTF-8."""
    remedy = _remedy_of_bytes(line)
    wrong = []
    for byte, name in ((b'\0', 'a NUL byte'), (b'\r', 'a carriage return')):
        if (at := line.find(byte)) >= 0:
            wrong.append(Wrong('', f'{name} at byte {at + 1}', 'text', at, remedy))
    try:
        line.decode()
    except UnicodeDecodeError as error:
        found = f'invalid UTF-8 at byte {error.start + 1} (0x{line[error.start]:02x})'
        wrong.append(Wrong('', found, 'UTF-8', error.start, remedy))
    return min(wrong, key=lambda each: each.at, default=None)


def _remedy_of_bytes(line: bytes) -> str:
    """Tell what to do about bytes of a known format that is no text."""
    if line.startswith(b'PK\x03\x04'):
        return 'these bytes begin a ZIP archive, as .xlsx is: save the table as text'
    n_even, n_odd = line[::2].count(0), line[1::2].count(0)
    is_every_second = len(line) > 3 and (n_even, n_odd) in (
        (len(line[::2]), 0),
        (0, len(line[1::2])),
    )
    if is_every_second or line.startswith((b'\xff\xfe', b'\xfe\xff')):
        return 'these are bytes as in UTF-16: save the file as UTF-8'
    return ''


def is_finite_decimal(field: bytes) -> bool:
    """Return whether a field is a finite decimal: 0.5, -3, 1e-7; not nan, 1_000, 0x10, 1e400."""
    if field.translate(None, NUMBER_BYTES):
        return False
    try:
        return math.isfinite(float(field))
    except ValueError:
        return False


def is_number(field: bytes, layout: Layout) -> bool:
    """Return whether a field is a number of a layout: a finite decimal, or an integer."""
    return not field.translate(None, number_bytes(layout)) and is_finite_decimal(field)


def number_bytes(layout: Layout) -> bytes:
    """Return the bytes that numbers of a layout may be written with."""
    return INTEGER_BYTES if layout.integers else NUMBER_BYTES
