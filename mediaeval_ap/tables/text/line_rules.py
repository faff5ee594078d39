"""The rules of text lines: which lines hold a row, and why the other lines are wrong."""

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

from mediaeval_ap import choices
from mediaeval_ap.choices import BETWEEN_WORDS
from mediaeval_ap.errors import DataWarning, FormatError, printable, shown, warn_caller
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
AS_INTEGERS = (
    f"{AS_TEXT}, or as integers (dtype='Int64'), which missing values do not turn into floats"
)

BYTE_ORDER_MARK = choices.BYTE_ORDER_MARK.encode()
_NOT_IN_TEXT = {  # with their names
    b'\0': 'a NUL byte',
    b'\r': 'a carriage return',
    BYTE_ORDER_MARK: 'a byte order mark (U+FEFF)',
}
JOINED = 'were files joined? delete this mark, which begins the second one'
NUMBER_BYTES = b'0123456789+-.eE'
INTEGER_BYTES = b'0123456789+-'
LARGEST_INTEGER = 1 << 53  # doubles hold all integers up to this
MODALITIES = ('written', 'pronounced', 'image', 'audio', 'both')  # of all campaigns
SEPARATORS = {',': 'commas', ';': 'semicolons', '|': 'vertical bars', '\t': 'tabs'}

# Blocks two or four times as large take as long; half as large, a tenth longer, as more blocks
# encode the same texts. With larger ones, a process with little memory aborted in a pyarrow thread.
BLOCK_BYTES = 2 << 20
DECODER_BLOCK_BYTES = 1 << 20  # half and double take as long; memory grows
MAX_LINE_BYTES = 64 << 20  # a file without line ends is refused before it fills memory
QUOTED_BYTES = 1000  # more than a message shows, but few of an endless line
MAX_REMEDY_BYTES = 1 << 12  # a longer line is hardly a row with other separators

_EVALUATE_LAYOUTS = HYPOTHESIS, REFERENCE
_TREC = 'only evaluate-trec and compare read: type mediaeval-ap evaluate-trec QRELS RUN'
_2015 = 'only evaluate-2015 reads: type mediaeval-ap evaluate-2015 REFERENCE RUN --shots SHOTS'
_OTHER_COMMANDS = {  # files that users pass to `evaluate`, and the commands that read them
    'TREC run': (RUN, _TREC),
    '2015 hypothesis': (HYPOTHESIS_2015, _2015),
    '2015 reference': (REFERENCE_2015, _2015),
}
EXCHANGED = 'are two files exchanged?'
# Lines that no table has, and what to do about them.
_FOREIGN_LINES = (
    (r'version https://git-lfs', 'this is a pointer of Git LFS: get the file by git lfs pull'),
    (r'(?i)\s*<(?:!doctype html|html|head|body)\b', 'this is a web page: download the file itself'),
    (r'<{7} |={7}\s*\Z|>{7} ', 'this is a mark of a merge conflict: keep one of the two versions'),
)
_NUMBER_NAMES = frozenset(  # names of the column of numbers in headers of all kinds
    'confidence conf grade judgement judgment label probability rel relevance relevancy score sim '
    'similarity'.split()
)
_FIELD_NAMES = {field for family in FAMILIES for layout in family for field in layout.fields}
_SHAPES = bytes(ord(' ') if chr(byte) in BETWEEN_WORDS else ord('x') for byte in range(256))

find_fields = re.compile(b'[^%b]+' % BETWEEN_WORDS.encode()).findall
_is_integer = re.compile(rb'[+-]?[0-9]+').fullmatch
_has_decimal_comma = re.compile('[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+)?').fullmatch
_is_code = re.compile(rb'["{},;|]').search  # as in CSV or JSON
_separates_words = re.compile(f'[{BETWEEN_WORDS}]').search

ColumnFields: TypeAlias = Sequence[bytes]  # the fields of one column, a row each
Read = Callable[[int], bytes]  # as `read` of a binary stream: at most n bytes, b'' at the end


@dataclass(frozen=True)
class Fault:
    """A fault of a line or row; the field is empty when the whole line is wrong."""

    field: str
    found: str
    expected: str
    remedy: str = ''  # only where the cause is certain

    def error(self, source: str, where: str, further: int = 0) -> FormatError:
        """Make the error for, say, ``line 3``; `further` is the number of other wrong lines."""
        content = self.field, self.found, self.expected
        return FormatError(source, where, *content, further, self.remedy)


class Cause(StrEnum):
    """The causes of a wrong line, spelled as the kinds of problems that validation lists."""

    LENGTH = 'long-line'
    BYTES = 'encoding'
    FIELDS = 'field-count'
    HEADER = 'header'
    NUMBER = 'number'


class Faults:
    """The wrong lines or rows of a source: a count of all, and the first few of each cause."""

    def __init__(self, unit: str, max_examples: int = 1) -> None:
        self.counts: Counter[str] = Counter()
        # By cause, with numbers of lines or rows, from 1.
        self.examples: defaultdict[str, list[tuple[int, Fault]]] = defaultdict(list)
        self._unit = unit
        self._max_examples = max_examples

    def add(self, number: int, fault: Fault) -> None:
        """Add the fault of the line or row with this number."""
        self.counts[''] += 1
        if len(examples := self.examples['']) < self._max_examples:
            examples.append((number, fault))

    def add_lines(
        self,
        first: int,
        lines: Mapping[int, tuple[Cause, bytes]],
        explain: Callable[[bytes, Cause], Fault],
    ) -> None:
        """Add wrong lines by position, where 0 is line `first`; explain the first few."""
        self.counts.update(cause for cause, _ in lines.values())
        for position, (cause, line) in lines.items():
            if len(examples := self.examples[cause]) < self._max_examples:
                examples.append((first + position, explain(line, cause)))

    def add_all(self, faults: Iterable[Fault | None]) -> None:
        """Add the faults of all lines or rows of a source; None stands for a right one."""
        for number, fault in enumerate(faults, 1):
            if fault is not None:
                self.add(number, fault)

    def refuse(self, source: str) -> None:
        """Raise an error for the first fault, if there is any; the error counts the others."""
        if self.counts:
            first_faults = (examples[0] for examples in self.examples.values())
            number, fault = min(first_faults, key=itemgetter(0))
            raise fault.error(source, f'{self._unit} {number}', self.counts.total() - 1)


def no_rows(source: str, layout: Layout | RecordLayout, content: str = 'no rows') -> FormatError:
    """Make the error for a source without rows."""
    return FormatError(source, '', '', content, f'at least one row of {layout.expected}')


def no_rows_in_text(source: str, layout: Layout, n_lines: int) -> FormatError:
    """Make the error for a text file whose lines, if it has any, are blank or comments."""
    content = 'only blank lines' if layout.comment is None else 'only blank lines or comments'
    return no_rows(source, layout, content if n_lines else 'an empty file')


class Piece(NamedTuple):
    """Consecutive lines: the rows among them, and the causes of wrong lines."""

    block: bytes  # the lines with their ends; b'' for an endless line
    n_lines: int
    rows: Sequence[int] | NDArray[np.int64] | None  # positions of lines with rows; None for all
    texts: Sequence[ColumnFields] | pyarrow.Table  # by column; empty where no line holds a row
    numbers: Iterable[float]
    # By position. A line with a wrong number is among the rows as well, with NaN.
    wrong: dict[int, tuple[Cause, bytes]]


def cause_of(line: bytes, layout: Layout) -> Cause | None:
    """Return the cause for which a line is wrong; None if it is right, blank or a comment.

    The line comes without its end.
    """
    if layout.is_comment(line):
        return None
    if not holds_text(line):
        return Cause.BYTES
    if count_fields(line) > len(layout.fields):
        return Cause.FIELDS
    return cause_of_fields(find_fields(line), layout)


def cause_of_fields(fields: list[bytes], layout: Layout) -> Cause | None:
    """Return the cause for which these fields are wrong, or None; their line is not a comment."""
    is_comment = layout.holds_comment(b' '.join(fields[:2]))
    if fields and (len(fields) != len(layout.fields) or is_comment):
        return Cause.FIELDS
    if not fields or layout.number is None or is_number(fields[layout.number_at], layout):
        return None
    return Cause.HEADER if is_header(b' '.join(fields).decode(), layout) else Cause.NUMBER


def count_fields(line: bytes) -> int:
    """Count the fields of a line, without making a list: there may be millions."""
    shape = line.translate(_SHAPES)
    return shape.count(b' x') + shape.startswith(b'x')


def explain(line: bytes, cause: Cause, layout: Layout) -> Fault:
    """Explain a line that is wrong for this cause, with the remedy if one is certain."""
    fault: Fault | None
    match cause:
        case Cause.LENGTH:
            return explain_endless_line()
        case Cause.HEADER:
            header = f'the header {shown(line.decode())}'
            return Fault('', header, 'rows only', remedy='remove this line')
        case Cause.FIELDS:
            count = count_fields(line)
            quoted = shown(line[:QUOTED_BYTES].decode(errors='ignore'))
            if layout.comment is None and line.lstrip(b' \t').startswith(b'#'):
                return Fault('', f'a comment line {quoted}', 'rows only', remedy='delete it')
            fields = f'{count} field{"s" if count > 1 else ""}'
            fault = Fault('', f'{fields} in {quoted}', layout.expected)
        case Cause.NUMBER:
            fault = explain_number(find_fields(line)[layout.number_at], layout)
        case Cause.BYTES:
            fault = explain_bytes(line)
    assert fault is not None
    if fault.remedy or len(line) > MAX_REMEDY_BYTES:
        return fault
    text = line.decode(errors='replace')
    return replace(fault, remedy=remedy_of_foreign(text) or _remedy(line, layout))


def remedy_of_foreign(line: str) -> str:
    """Return the remedy for a line that no table has; '' for any other line."""
    return next((remedy for start, remedy in _FOREIGN_LINES if re.match(start, line)), '')


def explain_number(field: bytes, layout: Layout) -> Fault | None:
    """Explain why a field is not a number that the layout allows; None if it is."""
    if is_number(field, layout):
        return None
    needs_digits = layout.integers and not _is_integer(field)
    expected = INTEGER if needs_digits else FINITE_DECIMAL
    return Fault(str(layout.number), shown(field.decode(errors='replace')), expected)


def is_header(line: str, layout: Layout) -> bool:
    """Return True if a line holds the names of the fields, in any case, perhaps after a #."""
    words = tuple(field.decode() for field in find_fields(line.casefold().lstrip('#').encode()))
    is_named = len(words) == len(layout.fields) and layout.number is not None
    return words == layout.fields or (is_named and words[layout.number_at] in _NUMBER_NAMES)


def holds_no_row(line: bytes, layout: Layout) -> bool:
    """Return True if a line is blank or a comment."""
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
    """Return True if lines that end with LF are text: UTF-8 without NUL, CR and U+FEFF."""
    if b'\0' in lines or b'\r' in lines:
        return False
    if lines.isascii():
        return True
    # To search for one byte first takes a tenth of the time.
    holds_mark = BYTE_ORDER_MARK[:1] in lines and BYTE_ORDER_MARK in lines
    return not holds_mark and _is_utf8(lines)


def _is_utf8(text: bytes) -> bool:
    decode = getincrementaldecoder('utf-8')().decode
    size = DECODER_BLOCK_BYTES
    try:
        for begin in range(0, len(text), size):
            decode(text[begin : begin + size], begin + size >= len(text))
    except UnicodeDecodeError:
        return False
    return True


def explain_bytes(line: bytes) -> Fault | None:
    """Explain the first NUL, CR, U+FEFF or byte that is not UTF-8; None without any."""
    even_bytes = line[::2]
    odd_bytes = line[1::2]
    is_every_second_nul = len(line) > 3 and (
        (not any(even_bytes) and 0 not in odd_bytes) or (not any(odd_bytes) and 0 not in even_bytes)
    )
    remedy = ''
    if line.startswith(b'PK\x03\x04'):
        remedy = 'this looks like a ZIP archive, such as .xlsx: save the table as text'
    elif is_every_second_nul or line.startswith((b'\xff\xfe', b'\xfe\xff')):
        remedy = 'these bytes look like UTF-16: save the file as UTF-8'
    faults = []  # (first byte, problem, expected)
    for mark, name in _NOT_IN_TEXT.items():
        if (position := line.find(mark)) >= 0:
            faults.append((position, f'{name} at byte {position + 1}', 'text'))
    try:
        line.decode()
    except UnicodeDecodeError as error:
        problem = f'invalid UTF-8 at byte {error.start + 1} (0x{line[error.start]:02x})'
        faults.append((error.start, problem, 'UTF-8'))
    if not faults:
        return None
    position, problem, expected = min(faults)
    if line.startswith(BYTE_ORDER_MARK, position):
        remedy = JOINED
    elif line.startswith(b'\r', position) and not remedy:
        remedy = 'end lines with LF or CR LF; this one ends with CR CR LF'
        if position < len(line) - 1:
            remedy = 'end lines with LF or CR LF, not with CR alone'
    return Fault('', problem, expected, remedy)


def is_finite_decimal(field: bytes) -> bool:
    """Return True if a field is a finite decimal: 0.5, -3, 1e-7; not nan, 1_000, 0x10, 1e400."""
    if field.translate(None, NUMBER_BYTES):
        return False
    try:
        return math.isfinite(float(field))
    except ValueError:
        return False


def is_number(field: bytes, layout: Layout) -> bool:
    """Return True if a field is a finite decimal, or the integer that the layout demands."""
    return bool(not layout.integers or _is_integer(field)) and is_finite_decimal(field)


def whole_lines(read: Read, block_bytes: int | None = None) -> Iterator[bytes | None]:
    """Yield blocks of whole lines, each as soon as `read` gives its last byte.

    For a line that is too long, perhaps of a device that never ends, yield None and stop.
    """
    chunks = _chunks_without_mark(read, block_bytes or BLOCK_BYTES)
    pieces: list[bytes] = []
    pending = 0
    for chunk in chunks:
        end = chunk.find(b'\n')
        if pending + (len(chunk) if end < 0 else end) > MAX_LINE_BYTES:
            yield None
            return
        head, newline, tail = chunk.rpartition(b'\n')
        if newline:
            yield b''.join((*pieces, head, newline))
            pieces = []
            pending = 0
        pieces.append(tail)
        pending += len(tail)
    if pending:
        yield b''.join(pieces)


def _chunks_without_mark(read: Read, size: int) -> Iterator[bytes]:
    """Yield the bytes of a stream, without a byte order mark at its start."""
    chunk = read(size)
    # A pipe may give the first bytes of the mark alone.
    while chunk in (BYTE_ORDER_MARK[:1], BYTE_ORDER_MARK[:2]) and (more := read(size)):
        chunk += more
    yield chunk.removeprefix(BYTE_ORDER_MARK)
    while chunk := read(size):
        yield chunk


def split_lines(block: bytes) -> list[bytes]:
    """Split a block of whole lines into lines without their ends."""
    lines = (block.replace(b'\r\n', b'\n') if b'\r' in block else block).split(b'\n')
    if not lines[-1]:
        lines.pop()
    return lines


def warn_of_cut_line(source: str, line: int, layout: Layout) -> None:
    """Warn that the number in the last line may have lost digits, as the line has no end."""
    note = f'no line end after line {line}: is its {layout.number} whole, or cut?'
    warn_caller([DataWarning('cut-line', printable(source), note)])


def explain_endless_line() -> Fault:
    """Explain a line that is too long."""
    return Fault('', f'more than {MAX_LINE_BYTES >> 20} MiB without a line end', 'lines of text')


def _remedy(line: bytes, layout: Layout) -> str:
    """Say how to mend a wrong line, or return '' where that is not certain."""
    if not holds_text(line):
        return ''
    words = [word.decode() for word in find_fields(line)]
    if words == ['{'] or words[0].startswith('{"'):
        return 'it looks like JSON: mediaeval-ap compare reads results; write rows as CSV'
    if len(words) > 1 and _is_header(words):
        return 'remove this header'
    if len(words) == len(layout.fields):
        field = '' if layout.number is None else words[layout.number_at]
        unquoted = field.strip('"\'')
        if unquoted != field and is_number(unquoted.encode(), layout):
            return 'write the fields without quotes'
        if _has_decimal_comma(unquoted):
            return 'write a decimal point, not a comma'
        return _remedy_of_exchanged(words, layout)
    for separator, name in SEPARATORS.items():
        if fields := _fields_between(separator, line.decode(), layout):
            return f'{name} separate its fields: {_how_to_rewrite(line, separator, fields, layout)}'
        n_fields = line.count(separator.encode()) + 1
        if len(words) == 1 and n_fields > 2 and abs(n_fields - len(layout.fields)) == 1:
            all_fields = f'the {len(layout.fields)} fields, with spaces or tabs between them'
            return f'{name} separate its {n_fields} fields: write {all_fields}'
    return _remedy_of_spaces(words, layout)


def _remedy_of_exchanged(words: Sequence[str], layout: Layout) -> str:
    """Name the column of the number, if one other column alone holds a fraction."""
    is_fraction = [
        bool(re.search('[.eE]', word)) and is_number(word.encode(), layout) for word in words
    ]
    if is_fraction.count(True) != 1:
        return ''
    order = ' '.join(layout.fields)
    return f'column {is_fraction.index(True) + 1} holds the {layout.number}: write {order}'


def _remedy_of_spaces(words: Sequence[str], layout: Layout) -> str:
    """Say how to write a name, if the line would fit with _ for the spaces of its name."""
    if 'person_name' not in layout.fields or len(words) <= len(layout.fields):
        return ''
    begin = layout.fields.index('person_name')
    end = begin + 1 + len(words) - len(layout.fields)
    name = '_'.join(words[begin:end])
    line = ' '.join([*words[:begin], name, *words[end:]]).encode()
    if re.search('[0-9#]', name) or not _looks_like(line, layout):
        return ''
    return f'write _ for each space within a name, as {shown(name)}'


def _fields_between(separator: str, line: str, layout: Layout) -> list[str]:
    """Split a line at a separator such as a comma; [] if the fields do not fit the layout."""
    import csv

    try:
        (fields,) = csv.reader([line], delimiter=separator)
    except csv.Error:
        return []
    fields = [field.strip(BETWEEN_WORDS) for field in fields]
    if len(fields) != len(layout.fields) or len(fields) == 1 or not all(fields):
        return []
    # Only names of persons may hold spaces: two words in another field are two fields.
    field_by_name = zip(layout.fields, fields, strict=True)
    other_fields = (field for name, field in field_by_name if name != 'person_name')
    return [] if any(map(_separates_words, other_fields)) else fields


def _how_to_rewrite(line: bytes, separator: str, fields: Sequence[str], layout: Layout) -> str:
    """Say how to turn a line with another separator into a row."""
    steps = [] if separator == '\t' else ['write spaces or tabs instead']
    if separator == ',':
        steps[0] += f', or begin with the header {",".join(layout.fields)}'
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


def better_layout(line: bytes, layout: Layout) -> str:
    """Name the first other layout that a line fits; '' if it fits `layout`, or no other."""
    for family in FAMILIES:
        if layout in family and not _looks_like(line, layout):
            candidates = {other.name: other for other in family}
            if layout in _EVALUATE_LAYOUTS:
                candidates |= {name: other for name, (other, _) in _OTHER_COMMANDS.items()}
            fitting = (name for name, other in candidates.items() if _looks_like(line, other))
            return next(fitting, '')
    return ''


def explain_better_layout(name: str, layout: Layout) -> str:
    """Say that the first row fits another layout, and which command reads such files."""
    commands = _OTHER_COMMANDS if layout in _EVALUATE_LAYOUTS else {}
    _, command = commands.get(name, (None, ''))
    remedy = f', which {command}' if command else f': {EXCHANGED}'
    return f'its first row fits {with_article(name)}{remedy}'


def with_article(name: str) -> str:
    """Name a file of a layout, with an article: 'a subset file'."""
    return f'{"an" if name[0] in "aeiou" else "a"} {name} file'


def _looks_like(line: bytes, layout: Layout) -> bool:
    """Return True if a line is a valid row, and its fields hold plausible values."""
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
    # In a layout of texts alone, a number at the end suggests that a field is missing.
    is_cut = layout.number is None and is_finite_decimal(find_fields(line)[-1])
    name = fields.get('person_name', b'')
    return not (is_cut or is_finite_decimal(name) or name.decode() in MODALITIES)
