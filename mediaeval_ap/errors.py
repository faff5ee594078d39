"""What can go wrong, as one tree.

::

    Error (Exception)
    ├── ReadError (OSError)           a source that cannot be opened, decompressed or read whole
    ├── WriteError (OSError)          an output that cannot be written
    ├── FormatError (ValueError)      a source that can be read, and whose content is wrong
    ├── ParameterError (ValueError)   an argument that means nothing here
    │   └── UnknownDefinitionError    a definition of average precision that nobody registered
    ├── MissingExtraError (ImportError)    something that an extra brings, and that is not installed
    ├── QueryError (ValueError)       a query that is no name
    ├── SessionClosedError (RuntimeError)  a session that is asked after its end
    ├── MissingHypothesisError (KeyError)  a hypothesis to withdraw that is not there
    ├── HalfStepError (RuntimeError)  a live session that something ended in the midst of a step
    ├── CopyError (TypeError)         what is copied or pickled, and changes meanwhile
    └── UndefinedScoreError (ValueError)  a mean over nothing

    DataWarning (UserWarning)
    ├── RepeatedRowsWarning           rows that say again what an earlier row said
    ├── RepeatedQueriesWarning        queries that are asked, and averaged, more than once
    ├── NoOverlapWarning              ids of which none is in the other input
    │   └── EmptyRunWarning           a subset that leaves nothing of a run
    ├── WithoutRelevantWarning        queries for which nothing is relevant
    ├── MissingIdsWarning             ids of a truth that the predictions lack
    ├── UnknownIdsWarning             predictions for ids that the truth lacks
    ├── UnlistedProblemsWarning       more problems of a kind than are listed
    └── ScoreAboveOneWarning          an average precision above 1

Catch `Error` for all of them, or the builtin in parentheses. Every message is one line.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable
from typing import Any

__all__ = [
    'CopyError',
    'DataWarning',
    'EmptyRunWarning',
    'Error',
    'FormatError',
    'HalfStepError',
    'MissingExtraError',
    'MissingHypothesisError',
    'MissingIdsWarning',
    'NoOverlapWarning',
    'ParameterError',
    'QueryError',
    'ReadError',
    'RepeatedQueriesWarning',
    'RepeatedRowsWarning',
    'ScoreAboveOneWarning',
    'SessionClosedError',
    'UndefinedScoreError',
    'UnknownDefinitionError',
    'UnknownIdsWarning',
    'UnlistedProblemsWarning',
    'WithoutRelevantWarning',
    'WriteError',
    'printable',
    'shown',
]

SHOWN_CHARACTERS = 60


class Error(Exception):
    """Base of every error that this package raises on purpose."""


class _FileError(Error, OSError):
    """A file, and what happened to it."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(printable(f'{name or shown(name)}: {reason}'))
        self.name = name
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.reason)


class ReadError(_FileError):
    """A source that cannot be opened, decompressed or read to its end.

    Parameters
    ----------
    name : str
        Name of the source.
    reason : str
        What happened.
    """


class WriteError(_FileError):
    """An output that cannot be written.

    Parameters
    ----------
    name : str
        Name of the output.
    reason : str
        What happened.
    """


class FormatError(Error, ValueError):
    """A source whose content breaks its format.

    Parameters
    ----------
    source : str
        Name of the source.
    place : str
        Where in the source: ``'line 12'``, ``'row 3'``, or nothing for the source as a whole.
    field : str
        The field at fault, or nothing when it is the whole line.
    found, expected : str
        What stands there, and what should.
    further : int
        How many more lines (or rows) of the source are wrong.
    """

    def __init__(
        self, source: str, place: str, field: str, found: str, expected: str, further: int = 0
    ) -> None:
        where = ', '.join(part for part in (source, place, _shortened(field)) if part)
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
    """An argument that means nothing here."""


class MissingExtraError(Error, ImportError):
    """Something that an extra of the package brings, and that is not installed."""


class UnknownDefinitionError(ParameterError):
    """A definition of average precision that nobody registered."""


class QueryError(Error, ValueError):
    """A query that is no name."""


class SessionClosedError(Error, RuntimeError):
    """A session that is asked after its end."""


class HalfStepError(Error, RuntimeError):
    """A live session that an interrupt, or lack of memory, ended in the midst of a step."""


class CopyError(Error, TypeError):
    """A copy of what may change while it is copied, as a live session does."""


class MissingHypothesisError(Error, KeyError):
    """A hypothesis to withdraw or change that is not there."""

    __str__ = Exception.__str__  # a KeyError's would be quoted


class UndefinedScoreError(Error, ValueError):
    """A score that nothing defines, as the mean over no query."""


class DataWarning(UserWarning):
    """Base of every warning about data that was scored all the same."""


class RepeatedRowsWarning(DataWarning):
    """Rows that say again what an earlier row said."""


class RepeatedQueriesWarning(DataWarning):
    """Queries that are asked, and averaged, more than once."""


class NoOverlapWarning(DataWarning):
    """Ids of which none is in the other input: a run's shots, the queries, or their like."""


class EmptyRunWarning(NoOverlapWarning):
    """A subset that leaves nothing of a run."""


class WithoutRelevantWarning(DataWarning):
    """Queries for which nothing is relevant: they count, and the same for every run."""


class MissingIdsWarning(DataWarning):
    """Ids of a truth that the predictions lack, scored as if nothing were predicted."""


class UnknownIdsWarning(DataWarning):
    """Predictions for ids that the truth lacks, and that were left out."""


class UnlistedProblemsWarning(DataWarning):
    """More problems of a kind than are listed; the others were counted."""


class ScoreAboveOneWarning(DataWarning):
    """An average precision above 1, which counting a shot more than once can give."""


PACKAGE = os.path.dirname(__file__) + os.sep


def warn_caller(found: Iterable[DataWarning]) -> None:
    """Warn at the line that called the package, however deep inside of it we are."""
    # Python 3.12 has `skip_file_prefixes` for this.
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    for warning in found:
        warnings.warn(warning, stacklevel=level)


def printable(text: str) -> str:
    r"""Text with each character that a terminal would obey or hide written as its escape.

    Parameters
    ----------
    text : str
        Any text: a name, a path.

    Returns
    -------
    str
        The same text where all of it can be seen.

    Examples
    --------
    >>> printable('zoë o"brien')
    'zoë o"brien'
    >>> print(printable('red\x1b[31m'))
    red\x1b[31m
    """
    if text.isprintable():
        return text
    return ''.join(
        character if character.isprintable() else character.encode('unicode_escape').decode()
        for character in text
    )


def shown(value: object) -> str:
    """A value as an error message quotes it: on one line, and not longer than a reader wants.

    Parameters
    ----------
    value : object
        What was found.

    Returns
    -------
    str
        Its ``repr``, shortened; of what has none, its class.

    Examples
    --------
    >>> shown('nan')
    "'nan'"
    >>> len(shown('x' * 1000)) < 100
    True
    >>> shown(10**5000)
    '<int of 16610 bits>'
    """
    try:
        short = value[: SHOWN_CHARACTERS + 1] if isinstance(value, str | bytes) else value
        text = printable(repr(short))
    except Exception:  # whatever the class of somebody else raises
        if isinstance(value, int):  # Python prints none of more than a few thousand digits
            return f'<{type(value).__name__} of {int.bit_length(value)} bits>'
        return _shortened(printable(f'<{type(value).__name__} that cannot be shown>'))
    return text if len(text) <= SHOWN_CHARACTERS + 2 else _shortened(text)


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f'{text[:SHOWN_CHARACTERS]}…'
