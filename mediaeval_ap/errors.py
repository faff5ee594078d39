"""Errors and warnings, as two trees.

::

    Error (Exception)
    ├── ReadError (OSError)                an input cannot be opened, decompressed or read whole
    ├── WriteError (OSError)               an output cannot be written
    ├── FormatError (ValueError)           the content of an input is wrong
    ├── ParameterError (ValueError)        an argument is not valid
    ├── MissingExtraError (ImportError)    an optional dependency is not installed
    ├── SessionClosedError (RuntimeError)  a session is used after its end
    ├── ProcessError (RuntimeError)        a process or cluster ended, or cannot do the work
    └── UndefinedScoreError (ValueError)   a score is not defined, as the mean over no query

    DataWarning (UserWarning)              data that is scored all the same; `KINDS` has its kinds
    ├── NoOverlapWarning                   no id of an input occurs in the other one
    └── WithoutRelevantWarning             queries have no relevant shot, or are no names

Catch `Error` for all errors, or the builtin class in parentheses. Every message is one line.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = [
    'KINDS',
    'DataWarning',
    'Error',
    'FormatError',
    'MissingExtraError',
    'NoOverlapWarning',
    'Note',
    'ParameterError',
    'ProcessError',
    'ReadError',
    'SessionClosedError',
    'UndefinedScoreError',
    'WithoutRelevantWarning',
    'WriteError',
]

SHOWN_CHARACTERS = 60  # enough to find a value by, and a message stays one line
KINDS = {
    'repeated-rows': 'Rows that repeat an earlier row. Drop them: a definition may count them '
    'again.',
    'repeated-queries': 'Queries that are asked, and averaged, more than once. Ask for each name '
    'once.',
    'no-overlap': 'Two inputs without a common id. Are ids spelled alike, zeros included?',
    'empty-run': 'A run of which no hypothesis is in the subset. Are its videos those of the run?',
    'without-relevant': 'Queries without a relevant shot; --queries-without-relevant skip leaves '
    'them out.',
    'unknown-queries': 'Queries that are no names of the reference, or of its subset. Check the '
    'spelling.',
    'missing-ids': 'Ids of the truth that the predictions lack, scored 0 or left out. Predict all '
    'of them.',
    'unknown-ids': 'Predictions for ids or classes that the truth lacks, which are left out. Are '
    'both of the same data?',
    'unlisted-problems': 'More problems of a kind than are listed; the others were counted. '
    'Correct these first.',
    'few-clusters': 'Intervals over few clusters, or over one with many of the queries. They may '
    'be too narrow.',
    'no-verdict': 'Too few queries, or clusters, for a verdict: no data could fail, or pass.',
    'score-above-one': 'Average precision above 1: a shot counts again. --definition trec counts '
    'it once.',
    'uncertain-order': 'The two best runs, whose order unjudged shots could turn. Judge these '
    'first.',
    'no-worker': 'A cluster without workers, or with one that does not answer: start one, or wait.',
}
PACKAGE = os.path.dirname(__file__) + os.sep
NAMED_RUNS = 3  # of several that a message is about


class Error(Exception):
    """Base of all errors that this package raises on purpose."""


class _FileError(Error, OSError):
    """An error about a file: its `name`, and the `reason`."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(printable(f'{name or shown(name)}: {reason}'))
        self.name = name
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.reason)


class ReadError(_FileError):
    """An input that cannot be opened, decompressed or read to its end."""


class WriteError(_FileError):
    """An output that cannot be written."""


class FormatError(Error, ValueError):
    """An input whose content is wrong.

    Parameters
    ----------
    source : str
        Name of the input.
    place : str
        ``'line 12'``, ``'row 3'``, or empty for the input as a whole.
    field : str
        The wrong field; empty for the whole line.
    found, expected : str
        The content that was found, and the content that was expected.
    further : int
        Number of further wrong lines (or rows) of the input.
    """

    def __init__(
        self, source: str, place: str, field: str, found: str, expected: str, further: int = 0
    ) -> None:
        where = ', '.join(part for part in (source, place, shortened(field)) if part)
        more = ''
        if further:
            more = f' ({further} more wrong {place.split()[0]}{"s" if further > 1 else ""})'
        super().__init__(printable(f'{where}: found {found}, expected {expected}{more}'))
        self.source = source
        self.place = place
        self.field = field
        self.found = found
        self.expected = expected
        self.further = further

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self.source, self.place, self.field, self.found, self.expected, self.further)
        return type(self), arguments


class ParameterError(Error, ValueError):
    """An argument that is not valid."""


class MissingExtraError(Error, ImportError):
    """An optional dependency (an extra of the package) that is not installed."""


class SessionClosedError(Error, RuntimeError):
    """A session that is used after its end."""


class ProcessError(Error, RuntimeError):
    """A process, or a cluster, that ended before its work was done, or cannot do it."""


class UndefinedScoreError(Error, ValueError):
    """A score that is not defined, as the mean over no query."""


class Note(str):
    """A sentence about data that knows its numbers.

    Parameters
    ----------
    says : str
        The sentence behind its subject.
    number, of : int
        How many of how many.
    unit : str
        The things that are counted.

    Examples
    --------
    >>> note = Note('are close to no name', 3, 10)
    >>> note, note.number
    ('3 of 10 queries are close to no name', 3)
    """

    says: str
    number: int
    of: int
    unit: str

    def __new__(cls, says: str, number: int, of: int, unit: str = 'queries') -> Note:
        note = super().__new__(cls, f'{number} of {of} {unit} {says}')
        note.says = says
        note.number = number
        note.of = of
        note.unit = unit
        return note

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.says, self.number, self.of, self.unit

    @property
    def kind(self) -> str:
        """The sentence without its numbers."""
        return f'{self.unit} {self.says}'


class DataWarning(UserWarning):
    """A warning about data that is scored all the same.

    Parameters
    ----------
    kind : str
        One of `KINDS`, which says what to do.
    about : str
        The name of the input, or empty.
    note : str
        The finding.
    more : str
        Remedies or examples that follow it.
    """

    def __init__(self, kind: str, about: str, note: str, more: str = '') -> None:
        super().__init__(kind, about, note, more)
        self.kind = kind
        self.about = about
        self.note = note
        self.more = more

    @property
    def finding(self) -> str:
        """The note and what follows it, without the name of the input."""
        return f'{self.note}{self.more}' if self.more else self.note

    def __str__(self) -> str:
        return f'{self.about}: {self.finding}' if self.about else self.finding


class NoOverlapWarning(DataWarning):
    """Two inputs without a common id, or a run of which nothing is in the subset."""


class WithoutRelevantWarning(DataWarning):
    """Queries without a relevant shot, or that are no names of the reference."""


def require(module: str, extra: str, what: str) -> ModuleType:
    """Import a module of an optional dependency; `what` is the feature named in the error."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition('.')[0]
        raise MissingExtraError(
            f"{what}: {library} is not installed; pip install 'mediaeval-ap[{extra}]'"
        ) from error


def warn_caller(found: Iterable[DataWarning]) -> None:
    """Give out warnings at the line that called the package, from any depth inside of it."""
    # As `skip_file_prefixes` of Python 3.12 does.
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
        level = level + 1
    for warning in found:
        warnings.warn(warning, stacklevel=level)


def printable(text: str) -> str:
    """Return text with an escape for each character that a terminal would obey or hide."""
    if text.isprintable():
        return text
    return ''.join(
        character if character.isprintable() else character.encode('unicode_escape').decode()
        for character in text
    )


def counted(count: int, one: str, many: str) -> str:
    """Return a number with its noun."""
    return f'{count:,} {one if count == 1 else many}'


def together(said: Mapping[str, str]) -> str:
    """Return what is said of each of several runs as one text; notes differ in counts alone."""
    return f'in {len(said)} runs: {ranged(said.values())} ({some(list(said))})'


def ranged(notes: Iterable[str]) -> str:
    """Return notes of one kind as one, such as 3 to 5 of 9 queries."""
    first, *others = notes
    if not isinstance(first, Note):
        return first
    found = [first, *(each for each in others if isinstance(each, Note))]
    numbers = [each.number for each in found], [each.of for each in found]
    ranges = (' to '.join(map(str, dict.fromkeys((min(n), max(n))))) for n in numbers)
    return f'{" of ".join(ranges)} {first.kind}'


def kind_of(note: str) -> str:
    """Return what notes that differ in counts alone have in common."""
    return note.kind if isinstance(note, Note) else note


def some(names: Sequence[str], most: int = NAMED_RUNS) -> str:
    """Return the first of some names, and how many more there are."""
    further = len(names) - most
    return ', '.join(names[:most]) + (f' and {further:,} more' if further > 0 else '')


def shown(value: object) -> str:
    """Return a value as an error message quotes it: short, and on one line."""
    try:
        short = value[: SHOWN_CHARACTERS + 1] if isinstance(value, str | bytes) else value
        text = printable(repr(short))
    except Exception:  # whatever the class of somebody else raises
        if isinstance(value, int):  # Python prints none of more than a few thousand digits
            return f'<{type(value).__name__} of {int.bit_length(value)} bits>'
        return shortened(printable(f'<{type(value).__name__} that cannot be shown>'))
    return text if len(text) <= SHOWN_CHARACTERS + 2 else shortened(text)


def shortened(text: str) -> str:
    """Return text cut to a length at which a message stays one line."""
    return text if len(text) <= SHOWN_CHARACTERS else f'{text[:SHOWN_CHARACTERS]}…'
