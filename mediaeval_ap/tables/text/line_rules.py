"""The lines of text: which hold a row, and what is wrong with the others."""

from __future__ import annotations

import math
import re
from codecs import getincrementaldecoder
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from mediaeval_ap.choices import BETWEEN_WORDS
from mediaeval_ap.errors import FormatError, shown
from mediaeval_ap.tables.layouts import (
    FAMILIES,
    HYPOTHESIS,
    HYPOTHESIS_2015,
    REFERENCE,
    REFERENCE_2015,
    RUN,
    Layout,
    RecordLayout,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow
    from numpy.typing import NDArray

FINITE_DECIMAL = 'a finite decimal number'
INTEGER = 'an integer in digits'
EXACT_NUMBER = 'a finite number that a double can hold'
AS_TEXT = '; read them as text (dtype=str), so that leading zeros stay'
AS_INTEGERS = f"{AS_TEXT}, or as integers (dtype='Int64'), of which missing values make floats"
BYTE_ORDER_MARK = b'\xef\xbb\xbf'
LARGEST_INTEGER = 1 << 53  # doubles hold all integers up to this
NUMBER_BYTES = b'0123456789+-.eE'
INTEGER_BYTES = b'0123456789+-'
DECODER_BLOCK_BYTES = 1 << 20  # half and double take as long; memory grows
QUOTED_BYTES = 1000  # more than a message shows, and little where a line is endless
find_fields = re.compile(b'[^%b]+' % BETWEEN_WORDS.encode()).findall
_is_integer = re.compile(rb'[+-]?[0-9]+').fullmatch
_SHAPES = bytes(ord(' ') if chr(byte) in BETWEEN_WORDS else ord('x') for byte in range(256))
Fields: TypeAlias = Sequence[bytes]  # of a column
MAX_LINE_BYTES = 64 << 20  # a file without line ends is refused before it fills memory
# Blocks of two or four times the size take as long; of half, a tenth longer, as more blocks encode
# the same texts. With larger ones a process of little memory aborted in a thread of pyarrow.
BLOCK_BYTES = 2 << 20
Read = Callable[[int], bytes]  # gives at most so many of the next bytes, and nothing at the end
LONGEST = 1 << 12  # a longer line is no row that somebody wrote with other separators
SEPARATORS = {',': 'commas', ';': 'semicolons', '|': 'vertical bars', '\t': 'tabs'}
MODALITIES = ('written', 'pronounced', 'image', 'audio', 'both')  # of all campaigns
_FIELD_NAMES = {field for family in FAMILIES for layout in family for field in layout.fields}
_has_decimal_comma = re.compile('[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+)?').fullmatch
_is_code = re.compile(rb'["{},;|]').search  # as in CSV or JSON
_separates_words = re.compile(f'[{BETWEEN_WORDS}]').search
_OF_EVALUATE = HYPOTHESIS, REFERENCE
_TREC = 'evaluate-trec QRELS RUN'
_2015 = 'evaluate-2015 REFERENCE RUN --shots SHOTS'
_OF_OTHER_COMMANDS = {  # files that may be given to a command which does not read them
    'TREC run': (RUN, _TREC),
    '2015 hypothesis': (HYPOTHESIS_2015, _2015),
    '2015 reference': (REFERENCE_2015, _2015),
}


@dataclass(frozen=True)
class Wrong:
    """A fault of a line or row; the field is empty when the whole line is wrong."""

    field: str
    found: str
    expected: str
    remedy: str = ''  # only where the cause is certain

    def error(self, source: str, place: str, further: int = 0) -> FormatError:
        """Make the error of a place such as ``line 3``; `further` counts other wrong ones."""
        expected = f'{self.expected}; {self.remedy}' if self.remedy else self.expected
        return FormatError(source, place, self.field, self.found, expected, further)


class Cause(StrEnum):
    """The reasons for which a line is refused, by the kind of problem that validation lists."""

    LENGTH = 'long-line'
    BYTES = 'encoding'
    FIELDS = 'field-count'
    HEADER = 'header'
    NUMBER = 'number'


class Faults:
    """The wrong lines or rows of a source: all are counted, the first `most` of a cause kept."""

    def __init__(self, unit: str, most: int = 1) -> None:
        self.counts: Counter[str] = Counter()
        # With the number of each, from 1.
        self.kept: defaultdict[str, list[tuple[int, Wrong]]] = defaultdict(list)
        self._unit = unit
        self._most = most

    def add(self, number: int, wrong: Wrong) -> None:
        """Add a wrong line or row by its number."""
        self.counts[''] += 1
        if len(kept := self.kept['']) < self._most:
            kept.append((number, wrong))

    def add_lines(
        self,
        first: int,
        lines: Mapping[int, tuple[Cause, bytes]],
        explain: Callable[[bytes, Cause], Wrong],
    ) -> None:
        """Add wrong lines by their position behind the first, and explain those that are kept."""
        self.counts.update(cause for cause, _ in lines.values())
        for position, (cause, line) in lines.items():
            if len(kept := self.kept[cause]) < self._most:
                kept.append((first + position, explain(line, cause)))

    def look(self, explained: Iterable[Wrong | None], number: int) -> None:
        """Add the wrong ones of consecutive lines or rows, the first of which has a number."""
        for each, wrong in enumerate(explained, number):
            if wrong is not None:
                self.add(each, wrong)

    def refuse(self, source: str) -> None:
        """Raise the error of the first one, which counts the others, if there is any."""
        if self.counts:
            number, wrong = min((kept[0] for kept in self.kept.values()), key=itemgetter(0))
            raise wrong.error(source, f'{self._unit} {number}', self.counts.total() - 1)


def no_rows(source: str, layout: Layout | RecordLayout, found: str = 'no rows') -> FormatError:
    """Make the error of a source without rows."""
    return FormatError(source, '', '', found, f'at least one of {layout.expected}')


def no_row_of_text(source: str, layout: Layout, n_lines: int) -> FormatError:
    """Make the error of a file without rows, which may have lines that hold nothing."""
    passed_over = 'only blank lines' if layout.comment is None else 'only blank lines or comments'
    return no_rows(source, layout, passed_over if n_lines else 'an empty file')


class Piece(NamedTuple):
    """Consecutive lines, the rows among them, and why the others are wrong."""

    block: bytes  # the lines with their ends; nothing in place of an endless line
    n_lines: int
    rows: Sequence[int] | NDArray[np.int64] | None  # positions of lines with rows; None for all
    texts: Sequence[Fields] | pyarrow.Table  # by column; empty where no line holds a row
    numbers: Iterable[float]
    wrong: dict[int, tuple[Cause, bytes]]  # by position; with a wrong number a row, too, NaN


def cause_of(line: bytes, layout: Layout) -> Cause | None:
    """Find why a line without its end is wrong; None when it is right, blank or a comment."""
    if layout.is_comment(line):
        return None
    if not holds_text(line):
        return Cause.BYTES
    if count_fields(line) > len(layout.fields):
        return Cause.FIELDS
    return cause_of_fields(find_fields(line), layout)


def cause_of_fields(fields: list[bytes], layout: Layout) -> Cause | None:
    """Find why a line of text is wrong that has these fields, and is no comment."""
    is_comment = layout.holds_comment(b' '.join(fields[:2]))
    if fields and (len(fields) != len(layout.fields) or is_comment):
        return Cause.FIELDS
    if not fields or layout.number is None or is_number(fields[layout.number_at], layout):
        return None
    return Cause.HEADER if is_header(b' '.join(fields).decode(), layout) else Cause.NUMBER


def count_fields(line: bytes) -> int:
    """Count the fields of a line, without a list of them: there may be millions."""
    shape = line.translate(_SHAPES)
    return shape.count(b' x') + shape.startswith(b'x')


def explain(line: bytes, cause: Cause, layout: Layout) -> Wrong:
    """Explain a line that is wrong for a cause, with the remedy if one is certain."""
    wrong: Wrong | None
    match cause:
        case Cause.LENGTH:
            return endless()
        case Cause.HEADER:
            found = f'the header {shown(line.decode())}'
            return Wrong('', found, 'rows only', remedy='remove this line')
        case Cause.FIELDS:
            count = count_fields(line)
            quoted = shown(line[:QUOTED_BYTES].decode(errors='ignore'))
            if layout.comment is None and line.lstrip(b' \t').startswith(b'#'):
                return Wrong('', f'a comment line {quoted}', 'rows only', remedy='delete it')
            found = f'{count} field{"s" if count > 1 else ""} in {quoted}'
            wrong = Wrong('', found, layout.expected)
        case Cause.NUMBER:
            wrong = explain_number(find_fields(line)[layout.number_at], layout)
        case Cause.BYTES:
            wrong = explain_bytes(line)
    assert wrong is not None
    if cause is Cause.BYTES or len(line) > LONGEST:
        return wrong
    return replace(wrong, remedy=_remedy(line, layout))


def explain_number(field: bytes, layout: Layout) -> Wrong | None:
    """Explain why a field is no number of a layout; None where it is one."""
    if is_number(field, layout):
        return None
    needs_digits = layout.integers and not _is_integer(field)
    expected = INTEGER if needs_digits else FINITE_DECIMAL
    return Wrong(str(layout.number), shown(field.decode(errors='replace')), expected)


def is_header(line: str, layout: Layout) -> bool:
    """Return whether a line holds the names of the fields, in any case, perhaps after a #."""
    words = tuple(field.decode() for field in find_fields(line.casefold().lstrip('#').encode()))
    return words == layout.fields


def holds_no_row(line: bytes, layout: Layout) -> bool:
    """Return whether a line is passed over: it is blank, or a comment."""
    return not line.strip(b' \t') or bool(layout.is_comment(line))


def parse_line(line: bytes, layout: Layout, source: str, number: int) -> tuple[str, ...] | None:
    r"""Split a line of a stream into its fields; None for a blank line or a comment.

    >>> from mediaeval_ap.tables import QUERIES
    >>> parse_line(b'alain_juppe\r\n', QUERIES, '<stdin>', 1)
    ('alain_juppe',)
    """
    text = line.removesuffix(b'\r\n') if line.endswith(b'\r\n') else line.removesuffix(b'\n')
    if (cause := cause_of(text, layout)) is not None:
        raise explain(text, cause, layout).error(source, f'line {number}')
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
    size = DECODER_BLOCK_BYTES
    try:
        for begin in range(0, len(text), size):
            decode(text[begin : begin + size], begin + size >= len(text))
    except UnicodeDecodeError:
        return False
    return True


def explain_bytes(line: bytes) -> Wrong | None:
    """Explain the first NUL, carriage return or byte of a line that is not UTF-8."""
    halves = line[::2], line[1::2]
    is_every_second = len(line) > 3 and any(
        not any(zeros) and 0 not in others for zeros, others in (halves, halves[::-1])
    )
    remedy = ''
    if line.startswith(b'PK\x03\x04'):
        remedy = 'these bytes begin a ZIP archive, as .xlsx is: save the table as text'
    elif is_every_second or line.startswith((b'\xff\xfe', b'\xfe\xff')):
        remedy = 'these are bytes as in UTF-16: save the file as UTF-8'
    faults = []  # each with the byte at which it begins
    for byte, name in ((b'\0', 'a NUL byte'), (b'\r', 'a carriage return')):
        if (at := line.find(byte)) >= 0:
            faults.append((at, f'{name} at byte {at + 1}', 'text'))
    try:
        line.decode()
    except UnicodeDecodeError as error:
        found = f'invalid UTF-8 at byte {error.start + 1} (0x{line[error.start]:02x})'
        faults.append((error.start, found, 'UTF-8'))
    if not faults:
        return None
    _, found, expected = min(faults)
    return Wrong('', found, expected, remedy)


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
    return bool(not layout.integers or _is_integer(field)) and is_finite_decimal(field)


def whole_lines(
    read: Read, block_bytes: int | None = None, *, goes_on: bool = False
) -> Iterator[bytes | None]:
    """Yield blocks of whole lines, each as soon as `read` gives its last byte.

    In place of a line that is too long comes None, and nothing behind it unless this goes on.
    """
    chunks = _chunks(read, block_bytes or BLOCK_BYTES)
    pieces: list[bytes] = []
    pending = 0
    for chunk in chunks:
        end = chunk.find(b'\n')
        if pending + (len(chunk) if end < 0 else end) > MAX_LINE_BYTES:
            yield None
            if not goes_on:
                return
            pieces = []
            pending = 0
            while b'\n' not in chunk and (chunk := next(chunks, b'')):
                pass
            chunk = chunk.partition(b'\n')[2]
        head, newline, tail = chunk.rpartition(b'\n')
        if newline:
            yield b''.join((*pieces, head, newline))
            pieces = []
            pending = 0
        pieces.append(tail)
        pending += len(tail)
    if pending:
        yield b''.join(pieces)


def _chunks(read: Read, size: int) -> Iterator[bytes]:
    """Yield the bytes of a stream without its byte order mark, of which a part may come first."""
    start = read(size)
    while start in (BYTE_ORDER_MARK[:1], BYTE_ORDER_MARK[:2]) and (more := read(size)):
        start += more
    yield start.removeprefix(BYTE_ORDER_MARK)
    while start := read(size):
        yield start


def split(block: bytes) -> list[bytes]:
    """Split a block of whole lines into lines without their ends."""
    lines = (block.replace(b'\r\n', b'\n') if b'\r' in block else block).split(b'\n')
    if not lines[-1]:
        lines.pop()
    return lines


def endless() -> Wrong:
    """Explain a line that is too long."""
    return Wrong('', f'more than {MAX_LINE_BYTES >> 20} MiB without a line end', 'lines of text')


def _remedy(line: bytes, layout: Layout) -> str:
    words = [word.decode() for word in find_fields(line)]
    if words == ['{']:
        return 'it looks like JSON: mediaeval-ap compare reads results'
    if len(words) > 1 and _is_header(words):
        return 'remove this header'
    if len(words) == len(layout.fields):
        field = '' if layout.number is None else words[layout.number_at]
        unquoted = field.strip('"\'')
        if unquoted != field and is_number(unquoted.encode(), layout):
            return 'write the fields without quotes'
        return 'write a decimal point, not a comma' if _has_decimal_comma(unquoted) else ''
    for separator, name in SEPARATORS.items():
        if fields := _split(line.decode(), separator, layout):
            return f'{name} separate its fields: {_instead(line, separator, fields, layout)}'
    return ''


def _split(line: str, separator: str, layout: Layout) -> list[str]:
    """Return the fields of a line between other separators; nothing if these do not fit."""
    import csv

    try:
        (fields,) = csv.reader([line], delimiter=separator)
    except csv.Error:
        return []
    fields = [field.strip(BETWEEN_WORDS) for field in fields]
    if len(fields) != len(layout.fields) or len(fields) == 1 or not all(fields):
        return []
    # Two words in any other field are two fields.
    named = zip(layout.fields, fields, strict=True)
    others = (field for name, field in named if name != 'person_name')
    return [] if any(map(_separates_words, others)) else fields


def _instead(line: bytes, separator: str, fields: Sequence[str], layout: Layout) -> str:
    """Tell what to write in place of separated fields."""
    steps = [] if separator == '\t' else ['write spaces or tabs instead']
    if any(map(_separates_words, fields)):
        steps.append('write _ for each space within a field')
    if b'"' in line:
        steps.append('write them without quotes')
    if layout.number is not None and _has_decimal_comma(fields[layout.number_at]):
        steps.append('write a decimal point, not a comma')
    if _is_header(fields):
        steps.append('remove this header')
    return ', '.join(steps)


def _is_header(words: Sequence[str]) -> bool:
    return all(word.casefold() in _FIELD_NAMES for word in words)


def other_file(line: bytes, layout: Layout) -> str:
    """Name the other file that a row fits, if it does not look like a row of its own."""
    for family in FAMILIES:
        if layout in family and not _looks_like(line, layout):
            others = {each.name: each for each in family}
            if layout in _OF_EVALUATE:
                others |= {name: each for name, (each, _) in _OF_OTHER_COMMANDS.items()}
            return next((name for name, each in others.items() if _looks_like(line, each)), '')
    return ''


def exchanged(name: str, layout: Layout) -> str:
    """Tell that the first row fits another file, and which command reads that."""
    known = _OF_OTHER_COMMANDS if layout in _OF_EVALUATE else {}
    _, command = known.get(name, (None, ''))
    remedy = f'type mediaeval-ap {command}' if command else 'are two files exchanged?'
    return f'its first row fits {file_of(name)}: {remedy}'


def file_of(name: str) -> str:
    """Return the name of a layout with an article."""
    return f'{"an" if name[0] in "aeiou" else "a"} {name} file'


def _looks_like(line: bytes, layout: Layout) -> bool:
    """Return whether a line holds a right row of a file, with what people write into its fields."""
    if cause_of(line, layout) is not None or holds_no_row(line, layout) or _is_code(line):
        return False
    fields = dict(zip(layout.fields, find_fields(line), strict=True))
    if 'start_time' in fields:
        times = fields['start_time'], fields['end_time']
        return all(map(is_finite_decimal, times)) and 0 <= float(times[0]) <= float(times[1])
    if word := fields.get('modality') or fields.get('source'):
        return word.decode() in MODALITIES
    if not fields.get('rank', b'1').isdigit():
        return False
    # A row of text alone that ends with a number rather lacks a field.
    is_cut = layout.number is None and is_finite_decimal(find_fields(line)[-1])
    name = fields.get('person_name', b'')
    return not (is_cut or is_finite_decimal(name) or name.decode() in MODALITIES)
