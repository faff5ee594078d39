"""The line format: what a line may hold, and what is wrong with one that holds something else.

A line holds its fields separated by one or more spaces or tabs, and only those. Text is UTF-8; a
number is a finite decimal, or an integer where the layout says so. A blank line holds nothing, and
is not wrong; nor does a comment, whatever its bytes, in the layouts that have comments.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import islice

from mediaeval_ap.errors import FormatError, shown
from mediaeval_ap.plain_text import BETWEEN_WORDS
from mediaeval_ap.tables.layouts import Layout, RecordLayout

__all__ = [
    'BYTE_ORDER_MARK',
    'EXACT_NUMBER',
    'FINITE_DECIMAL',
    'INTEGER',
    'LARGEST_INTEGER',
    'TEXT',
    'Cause',
    'Faults',
    'Wrong',
    'cause_of',
    'count_fields',
    'explain',
    'explain_bytes',
    'find_fields',
    'header_of',
    'holds_no_row',
    'holds_text',
    'is_finite_decimal',
    'is_header',
    'is_number',
    'no_rows',
    'number_bytes',
    'parse_line',
]

BYTE_ORDER_MARK = b'\xef\xbb\xbf'
LARGEST_INTEGER = 1 << 53  # up to which doubles hold all
NUMBER_BYTES = b'0123456789+-.eE'
INTEGER_BYTES = b'0123456789+-'
FINITE_DECIMAL = 'a finite decimal number'
INTEGER = 'an integer in digits'
EXACT_NUMBER = 'a finite number that a double can hold'
TEXT = 'trimmed text on one line, not empty'

_field = re.compile(b'[^%b]+' % BETWEEN_WORDS.encode())
find_fields = _field.findall
_is_integer = re.compile(rb'[+-]?[0-9]+').fullmatch
_match_fields = _field.finditer
_SHAPES = bytes(ord(' ') if chr(byte) in BETWEEN_WORDS else ord('x') for byte in range(256))
QUOTED_BYTES = 1000  # more than are shown


class Cause(Enum):
    """Why a line is wrong.

    Examples
    --------
    >>> Cause('fields')
    <Cause.FIELDS: 'fields'>
    """

    LENGTH = 'length'
    BYTES = 'bytes'
    FIELDS = 'fields'
    NUMBER = 'number'


@dataclass(frozen=True)
class Wrong:
    """What is wrong with a line or a row.

    Parameters
    ----------
    field : str
        The field at fault, or nothing when it is the whole of it.
    found, expected : str
        What stands there, and what should.
    at : int
        Where in a line it begins, in bytes from 0. It is not compared.

    Examples
    --------
    >>> Wrong('confidence', "'nan'", FINITE_DECIMAL).field
    'confidence'
    """

    field: str
    found: str
    expected: str
    at: int = dataclasses.field(default=0, repr=False, compare=False)

    def error(self, source: str, place: str, further: int = 0) -> FormatError:
        """The error that says so.

        Parameters
        ----------
        source : str
            Name of the source.
        place : str
            As ``line 3``; nothing where there is none.
        further : int
            How many more are wrong.

        Returns
        -------
        FormatError
            To be raised.
        """
        return FormatError(source, place, self.field, self.found, self.expected, further)


class Faults:
    """The first wrong line or row of a source, and how many there are.

    Parameters
    ----------
    source : str
        Name of the source.
    kind : {'line', 'row'}
        What it is made of.

    Attributes
    ----------
    count : int
        How many are wrong so far.
    remedy : str
        What the error says behind what it expected.

    Examples
    --------
    >>> faults = Faults('run.txt', 'line')
    >>> faults.look([None, Wrong('confidence', "'high'", FINITE_DECIMAL)], 1)
    >>> print(faults.error)
    run.txt, line 2, confidence: found 'high', expected a finite decimal number
    """

    def __init__(self, source: str, kind: str) -> None:
        self.count = 0
        self.remedy = ''
        self._source = source
        self._kind = kind
        self._first: tuple[int, Wrong] | None = None

    def look(self, explained: Iterable[Wrong | None], number: int) -> None:
        """Look at some lines or rows, one after another.

        Parameters
        ----------
        explained : iterable of Wrong or None
            What is wrong with each.
        number : int
            Number of the first of them, from 1.
        """
        for each, wrong in enumerate(explained, number):
            if wrong is not None:
                self.add(each, wrong)

    def add(self, number: int, wrong: Wrong, further: int = 0) -> None:
        """Add a wrong line or row.

        Parameters
        ----------
        number : int
            Which, from 1.
        wrong : Wrong
            What is wrong with it.
        further : int
            How many behind it are wrong as well.
        """
        self.count += 1 + further
        self._first = self._first or (number, wrong)

    @property
    def error(self) -> FormatError:
        """The error that names the first and counts the others."""
        if self._first is None:
            raise ValueError('nothing is wrong')
        number, wrong = self._first
        wrong = dataclasses.replace(wrong, expected=f'{wrong.expected}{self.remedy}')
        return wrong.error(self._source, f'{self._kind} {number}', self.count - 1)


def cause_of(line: bytes, layout: Layout) -> Cause | None:
    """Why a line is wrong, for those who look at many before they `explain` a few.

    Parameters
    ----------
    line : bytes
        The line without its end.
    layout : Layout
        Its fields.

    Returns
    -------
    Cause or None
        The first cause; none when it is right, blank, or a comment.

    Examples
    --------
    >>> from mediaeval_ap.tables.layouts import SUBSET
    >>> cause_of(b'INA F2', SUBSET), cause_of(b'INA', SUBSET)
    (None, <Cause.FIELDS: 'fields'>)
    """
    if layout.is_comment(line):
        return None
    if not holds_text(line):
        return Cause.BYTES
    count = count_fields(line)
    if not count:
        return None
    if count != len(layout.fields):
        return Cause.FIELDS
    if layout.number is not None and not is_number(find_fields(line)[layout.number_at], layout):
        return Cause.NUMBER
    return None


def count_fields(line: bytes) -> int:
    r"""How many fields a line holds: there may be millions.

    Parameters
    ----------
    line : bytes
        The line without its end.

    Returns
    -------
    int
        Their number.

    Examples
    --------
    >>> count_fields(b' INA	  F2')
    2
    """
    shape = line.translate(_SHAPES)
    return shape.count(b' x') + shape.startswith(b'x')


def explain(line: bytes, layout: Layout) -> Wrong | None:
    """What is wrong with one line.

    Parameters
    ----------
    line : bytes
        The line without its end.
    layout : Layout
        Its fields.

    Returns
    -------
    Wrong or None
        The first thing wrong with it; none when it is right, blank, or a comment.

    Examples
    --------
    >>> from mediaeval_ap.tables.layouts import SUBSET
    >>> explain(b'INA F2', SUBSET) is None
    True
    >>> explain(b'INA', SUBSET).found, explain(b'INA F2  7', SUBSET).at
    ("1 field in 'INA'", 8)
    """
    match cause_of(line, layout):
        case Cause.BYTES:
            return explain_bytes(line)
        case Cause.FIELDS:
            count = count_fields(line)
            quoted = shown(line[:QUOTED_BYTES].decode(errors='ignore'))
            found = f'{count} field{"s" if count > 1 else ""} in {quoted}'
            return Wrong('', found, layout.expected, _end_of(line, len(layout.fields)))
        case Cause.NUMBER:
            at = layout.number_at
            field = find_fields(line)[at]
            if is_header(line.decode(), layout):
                return header_of(line.decode())
            expected = INTEGER if layout.integers and not _is_integer(field) else FINITE_DECIMAL
            start = next(islice(_match_fields(line), at, None)).start()
            return Wrong(str(layout.number), shown(field.decode()), expected, start)
    return None


def is_header(line: str, layout: Layout) -> bool:
    """Return whether a line holds the names of the fields in place of a row.

    Parameters
    ----------
    line : str
        The line without its end.
    layout : Layout
        Its fields.

    Returns
    -------
    bool
        True whatever the case of the letters.

    Examples
    --------
    >>> from mediaeval_ap.tables.layouts import SUBSET
    >>> is_header('Corpus_ID Video_ID', SUBSET), is_header('INA F2', SUBSET)
    (True, False)
    """
    words = tuple(field.decode() for field in find_fields(line.casefold().encode()))
    return words == layout.fields


def header_of(line: str) -> Wrong:
    """Describe a header where rows are expected.

    Parameters
    ----------
    line : str
        The line.

    Returns
    -------
    Wrong
        To be told.

    Examples
    --------
    >>> header_of('corpus_id video_id').expected
    'rows only; remove this line'
    """
    return Wrong('', f'the header {shown(line)}', 'rows only; remove this line')


def holds_no_row(line: bytes, layout: Layout) -> bool:
    """Whether a line is passed over: it is blank, or a comment.

    Parameters
    ----------
    line : bytes
        The line without its end.
    layout : Layout
        Its fields.

    Returns
    -------
    bool
        False for a line that holds a row, or is wrong.

    Examples
    --------
    >>> from mediaeval_ap.tables.layouts import QRELS, QUERIES
    >>> [holds_no_row(b'#1', layout) for layout in (QRELS, QUERIES)]
    [True, False]
    """
    return not line.strip(b' \t') or bool(layout.is_comment(line))


def _end_of(line: bytes, n_fields: int) -> int:
    """Where a line has too many fields, or ends too early."""
    return next((each.start() for each in islice(_match_fields(line), n_fields, None)), len(line))


def parse_line(line: bytes, layout: Layout, source: str, number: int) -> tuple[str, ...] | None:
    r"""The fields of one line of a stream that is answered line by line.

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
        The fields; none of a blank line, or a comment.

    Raises
    ------
    FormatError
        When the line is wrong.

    Examples
    --------
    >>> from mediaeval_ap.tables.layouts import QUERIES
    >>> parse_line(b'alain_juppe\r\n', QUERIES, '<stdin>', 1)
    ('alain_juppe',)
    """
    text = line.removesuffix(b'\r\n') if line.endswith(b'\r\n') else line.removesuffix(b'\n')
    if (wrong := explain(text, layout)) is not None:
        raise wrong.error(source, f'line {number}')
    if holds_no_row(text, layout):
        return None
    return tuple(field.decode() for field in find_fields(text))


def no_rows(source: str, layout: Layout | RecordLayout) -> FormatError:
    """The error of a source that holds nothing.

    Parameters
    ----------
    source : str
        Its name.
    layout : Layout or RecordLayout
        What it should hold.

    Returns
    -------
    FormatError
        To be raised.

    Examples
    --------
    >>> from mediaeval_ap.tables.layouts import SUBSET
    >>> print(no_rows('subset.txt', SUBSET))
    subset.txt: found no rows, expected at least one of 2 fields: corpus_id video_id
    """
    return FormatError(source, '', '', 'no rows', f'at least one of {layout.expected}')


def holds_text(lines: bytes) -> bool:
    r"""Whether bytes are text as `explain_bytes` asks of a line, for many lines at once.

    Parameters
    ----------
    lines : bytes
        Lines that end with LF.

    Returns
    -------
    bool
        False where there is a NUL, a carriage return, or what is not UTF-8.

    Examples
    --------
    >>> holds_text(b'caf\xc3\xa9\n'), holds_text(b'caf\xe9\n'), holds_text(b'a\r\n')
    (True, False, False)
    """
    if b'\0' in lines or b'\r' in lines:
        return False
    if lines.isascii():
        return True
    try:
        lines.decode()
    except UnicodeDecodeError:
        return False
    return True


def explain_bytes(line: bytes) -> Wrong | None:
    r"""What is wrong with the bytes of a line, whatever its fields.

    Parameters
    ----------
    line : bytes
        The line without its end.

    Returns
    -------
    Wrong or None
        The first NUL, carriage return, or byte that is not UTF-8; none when it is text.

    Examples
    --------
    >>> explain_bytes(b'caf\xe9').found
    'invalid UTF-8 at byte 4 (0xe9)'
    """
    wrong = []
    for byte, name in ((b'\0', 'a NUL byte'), (b'\r', 'a carriage return')):
        if (at := line.find(byte)) >= 0:
            wrong.append(Wrong('', f'{name} at byte {at + 1}', 'text', at))
    try:
        line.decode()
    except UnicodeDecodeError as error:
        found = f'invalid UTF-8 at byte {error.start + 1} (0x{line[error.start]:02x})'
        wrong.append(Wrong('', found, 'UTF-8', error.start))
    return min(wrong, key=lambda each: each.at, default=None)


def is_finite_decimal(field: bytes) -> bool:
    """Whether a field is a finite decimal number, as in ``0.5``, ``-3`` and ``1e-7``.

    Parameters
    ----------
    field : bytes
        The field.

    Returns
    -------
    bool
        False for ``nan``, ``1_000``, ``0x10`` and ``1e400``.

    Examples
    --------
    >>> [is_finite_decimal(field) for field in (b'1e-7', b'1e400', b' 1')]
    [True, False, False]
    """
    if field.translate(None, NUMBER_BYTES):
        return False
    try:
        return math.isfinite(float(field))
    except ValueError:
        return False


def is_number(field: bytes, layout: Layout) -> bool:
    """Whether a field is a number as the layout asks for it: a finite decimal, or an integer.

    Parameters
    ----------
    field : bytes
        The field.
    layout : Layout
        Its layout.

    Returns
    -------
    bool
        False where its number would be wrong.

    Examples
    --------
    >>> from mediaeval_ap.tables.layouts import QRELS
    >>> [is_number(field, QRELS) for field in (b'-1', b'+02', b'1.0', b'10e-1')]
    [True, True, False, False]
    """
    return not field.translate(None, number_bytes(layout)) and is_finite_decimal(field)


def number_bytes(layout: Layout) -> bytes:
    """The bytes that a number of a layout may be written with.

    Parameters
    ----------
    layout : Layout
        The layout.

    Returns
    -------
    bytes
        Each once.

    Examples
    --------
    >>> from mediaeval_ap.tables.layouts import QRELS
    >>> number_bytes(QRELS)
    b'0123456789+-'
    """
    return INTEGER_BYTES if layout.integers else NUMBER_BYTES
