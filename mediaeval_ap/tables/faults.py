"""Wrong lines and rows, as error messages tell them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables.layouts import Layout, RecordLayout

FINITE_DECIMAL = 'a finite decimal number'
INTEGER = 'an integer in digits'
EXACT_NUMBER = 'a finite number that a double can hold'
AS_TEXT = '; read them as text (dtype=str), so that leading zeros stay'


@dataclass(frozen=True)
class Wrong:
    """The field of a line or row that is wrong, what was found there, and what was expected.

    The field is empty when the whole line is wrong. `at` is the byte of the line, from 0, at which
    the fault begins; it is not compared. `remedy` is what to do, where the cause is certain.
    """

    field: str
    found: str
    expected: str
    at: int = dataclasses.field(default=0, repr=False, compare=False)
    remedy: str = ''

    def error(self, source: str, place: str, further: int = 0) -> FormatError:
        """Make the error of a place such as ``line 3``; `further` counts other wrong ones."""
        expected = f'{self.expected}; {self.remedy}' if self.remedy else self.expected
        return FormatError(source, place, self.field, self.found, expected, further)


class Faults:
    """The first wrong line or row of a source, and the count of all.

    `kind` is ``line`` or ``row``. `remedy` is that of the first, if it has none of its own.
    """

    def __init__(self, source: str, kind: str) -> None:
        self.count = 0
        self.remedy = ''
        self._source = source
        self._kind = kind
        self._first: tuple[int, Wrong] | None = None

    def look(self, explained: Iterable[Wrong | None], number: int) -> None:
        """Add the wrong ones of consecutive lines or rows, the first of which has a number."""
        for each, wrong in enumerate(explained, number):
            if wrong is not None:
                self.add(each, wrong)

    def add(self, number: int, wrong: Wrong, further: int = 0) -> None:
        """Add a wrong line or row by its number, from 1, and count further ones behind it."""
        self.count += 1 + further
        self._first = self._first or (number, wrong)

    @property
    def error(self) -> FormatError:
        """The error that names the first and counts the others."""
        assert self._first is not None
        number, wrong = self._first
        wrong = dataclasses.replace(wrong, remedy=wrong.remedy or self.remedy)
        return wrong.error(self._source, f'{self._kind} {number}', self.count - 1)


def no_rows(source: str, layout: Layout | RecordLayout, found: str = 'no rows') -> FormatError:
    """Make the error of a source without rows."""
    return FormatError(source, '', '', found, f'at least one of {layout.expected}')


def no_row_of_text(source: str, layout: Layout, n_lines: int) -> FormatError:
    """Make the error of a file without rows, which may have lines that hold nothing."""
    passed_over = 'only blank lines' if layout.comment is None else 'only blank lines or comments'
    return no_rows(source, layout, passed_over if n_lines else 'an empty file')
