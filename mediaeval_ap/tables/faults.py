"""Why a value, a row or a source is wrong: a fault, and the wrong rows of a source."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from numbers import Real
from operator import itemgetter
from typing import Any, TypeGuard

from mediaeval_ap.choices import TEXT, is_text
from mediaeval_ap.errors import FormatError, shown
from mediaeval_ap.tables import values
from mediaeval_ap.tables.layouts import Layout, RecordLayout


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
    FOREIGN = 'other-format'
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
    expected = f'at least one row of {layout.expected}'
    return FormatError(source, '', '', found=content, expected=expected)


def is_row(row: object) -> TypeGuard[Sequence[Any]]:
    """Return True for a sequence of values, which is not text."""
    # Most rows are tuples; isinstance with the abstract class takes ten times as long.
    return type(row) is tuple or (isinstance(row, Sequence) and not isinstance(row, str))


def explain_row(row: object, layout: Layout) -> Fault | None:
    """Return the first fault of a row of values; None if the row is right."""
    if not is_row(row):
        return Fault('', _described(row), layout.expected)
    if len(row) != len(layout.fields):
        return Fault('', f'{len(row)} fields in {shown(row)}', layout.expected)
    for field, value in zip(layout.fields, row, strict=True):
        if field == layout.number:
            if values.as_double(value, layout.integers) is None:
                is_text_of_number = type(value) is str and not values.expected_number(value)
                remedy = values.AS_NUMBERS if is_text_of_number else ''
                return Fault(field, _described(value), f'{values.EXACT_NUMBER}{remedy}')
        elif isinstance(value, float):
            return Fault(field, _described(value), f'{TEXT}{values.AS_INTEGERS}')
        elif isinstance(value, Real):
            return Fault(field, _described(value), f'{TEXT}{values.AS_TEXT}')
        elif not is_text(value):
            return Fault(field, _described(value), TEXT)
    return None


def explain_number(field: bytes, layout: Layout) -> Fault | None:
    """Explain why a field is not a number that the layout allows; None if it is."""
    if values.is_number(field, layout.integers):
        return None
    expected = values.FINITE_DECIMAL
    if layout.integers and not values.is_integer(field):
        expected = values.INTEGER
        if values.is_number(field, integers=False):
            expected += layout.remedy
    return Fault(str(layout.number), shown(field.decode(errors='replace')), expected)


def invalid_utf8(error: UnicodeDecodeError) -> str:
    """Name the first byte that is not UTF-8."""
    return f'invalid UTF-8 at byte {error.start + 1} (0x{error.object[error.start]:02x})'


def _described(value: object) -> str:
    return f'{shown(value)} ({type(value).__name__})'
