"""Errors and warnings, as two trees.

::

    Error (Exception)
    ├── ReadError (OSError)                an input cannot be opened, decompressed or read whole
    ├── WriteError (OSError)               an output cannot be written
    ├── FormatError (ValueError)           the content of an input is wrong
    ├── ParameterError (ValueError)        an argument is not valid
    │   └── UnknownDefinitionError         no AP definition is registered under that name
    ├── MissingExtraError (ImportError)    an optional dependency is not installed
    ├── QueryError (ValueError)            a query is not a name
    ├── ClusterError (RuntimeError)        a cluster cannot be reached, or cannot do the work
    ├── SessionClosedError (RuntimeError)  a session is used after its end
    ├── MissingHypothesisError (KeyError)  a hypothesis to remove or change is not there
    ├── ProcessError (RuntimeError)        a process that was to compute ended before
    ├── CopyError (TypeError)              a live session cannot be copied or pickled
    └── UndefinedScoreError (ValueError)   a score is not defined, as the mean over no query

    DataWarning (UserWarning)
    ├── RepeatedRowsWarning                rows repeat an earlier row
    ├── RepeatedQueriesWarning             queries are asked more than once
    ├── NoOverlapWarning                   no id of an input occurs in the other one
    │   └── EmptyRunWarning                no hypothesis of a run is in the subset
    ├── WithoutRelevantWarning             queries have no relevant shot
    │   └── UnknownQueriesWarning          the reference has no such names
    ├── MissingIdsWarning                  the predictions lack ids of the truth
    ├── UnknownIdsWarning                  the predictions have ids that the truth lacks
    ├── UnlistedProblemsWarning            more problems of a kind than are listed
    ├── NarrowIntervalWarning              confidence intervals may be too narrow
    ├── FewPermutationsWarning             no data could be significant with so few permutations
    ├── ScoreAboveOneWarning               average precision exceeds 1
    ├── UncertainOrderWarning              unjudged shots could turn the order of the best runs
    ├── RestartedBuildWarning              an interrupted build of a store begins anew
    └── WaitingWarning                     a scheduler or a worker does not answer
        └── NoWorkerWarning                a cluster has no worker

Catch `Error` for all errors, or the builtin class in parentheses. Every message is one line.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

__all__ = [
    'ClusterError',
    'CopyError',
    'DataWarning',
    'EmptyRunWarning',
    'Error',
    'FewPermutationsWarning',
    'FormatError',
    'MissingExtraError',
    'MissingHypothesisError',
    'MissingIdsWarning',
    'NarrowIntervalWarning',
    'NoOverlapWarning',
    'NoWorkerWarning',
    'ParameterError',
    'ProcessError',
    'QueryError',
    'ReadError',
    'RepeatedQueriesWarning',
    'RepeatedRowsWarning',
    'RestartedBuildWarning',
    'ScoreAboveOneWarning',
    'SessionClosedError',
    'UncertainOrderWarning',
    'UndefinedScoreError',
    'UnknownDefinitionError',
    'UnknownIdsWarning',
    'UnknownQueriesWarning',
    'UnlistedProblemsWarning',
    'WaitingWarning',
    'WithoutRelevantWarning',
    'WriteError',
]

SHOWN_CHARACTERS = 60  # enough to find a value by, and a message stays one line


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


class UnknownDefinitionError(ParameterError):
    """An AP definition that is not registered."""


class QueryError(Error, ValueError):
    """A query that is not a name."""


class ClusterError(Error, RuntimeError):
    """A cluster that cannot be reached, or whose machines cannot do the work."""


class SessionClosedError(Error, RuntimeError):
    """A session that is used after its end."""


class ProcessError(Error, RuntimeError):
    """A process beside this one that ended before it had computed what it was asked for."""


class CopyError(Error, TypeError):
    """A copy of a live session, which may change while it is copied."""


class MissingHypothesisError(Error, KeyError):
    """A hypothesis to remove or change that is not there."""

    __str__ = Exception.__str__  # a KeyError's would be quoted


class UndefinedScoreError(Error, ValueError):
    """A score that is not defined, as the mean over no query."""


class DataWarning(UserWarning):
    """Base of all warnings about data that is scored all the same.

    The first argument says what was found; the second, if any, adds remedies or examples.
    """

    def __str__(self) -> str:
        return ''.join(map(str, self.args))


class RepeatedRowsWarning(DataWarning):
    """Rows that repeat an earlier row. Drop them: a definition may count them again."""


class RepeatedQueriesWarning(DataWarning):
    """Queries that are asked, and averaged, more than once. Ask for each name once."""


class NoOverlapWarning(DataWarning):
    """Two inputs without a common id. Are ids spelled alike, zeros included?"""


class EmptyRunWarning(NoOverlapWarning):
    """A run of which no hypothesis is in the subset. Are its videos those of the run?"""


class WithoutRelevantWarning(DataWarning):
    """Queries without a relevant shot; --queries-without-relevant skip leaves them out."""


class UnknownQueriesWarning(WithoutRelevantWarning):
    """Queries that are no names of the reference, or of its subset. Check the spelling."""


class MissingIdsWarning(DataWarning):
    """Ids of the truth that the predictions lack, scored 0 or left out. Predict all of them."""


class UnknownIdsWarning(DataWarning):
    """Predictions for ids that the truth lacks, which are left out. Are both of the same data?"""


class UnlistedProblemsWarning(DataWarning):
    """More problems of a kind than are listed; the others were counted. Correct these first."""


class NarrowIntervalWarning(DataWarning):
    """Confidence intervals that rest on few differences. Take --interval plus2, the default."""


class FewPermutationsWarning(DataWarning):
    """So few permutations of a test that no data could be significant: ask for more."""


class ScoreAboveOneWarning(DataWarning):
    """Average precision above 1: a shot counts again. --definition trec counts it once."""


class UncertainOrderWarning(DataWarning):
    """The two best runs, whose order unjudged shots could turn. Judge these first."""


class RestartedBuildWarning(DataWarning):
    """An interrupted build of a store that begins anew, as its inputs changed meanwhile."""


class WaitingWarning(DataWarning):
    """A cluster whose scheduler, or a worker, does not answer. Check its address, or wait."""


class NoWorkerWarning(WaitingWarning):
    """A cluster without workers, on which tasks wait until a worker joins: start one."""


def require(module: str, extra: str, what: str) -> ModuleType:
    """Import a module of an optional dependency; `what` is the feature named in the error."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition('.')[0]
        raise MissingExtraError(
            f"{what}: {library} is not installed; pip install 'mediaeval-ap[{extra}]'"
        ) from error


PACKAGE = os.path.dirname(__file__) + os.sep


def warn_caller(found: Iterable[DataWarning]) -> None:
    """Give out warnings at the line that called the package, from any depth inside of it."""
    # As `skip_file_prefixes` of Python 3.12 does.
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
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


NAMED_RUNS = 3  # of several that a message is about
# A number that counts something, and is no part of a name.
_find_counts = re.compile(r"""(?<![\w.,'"/-])([0-9]+(?:[.,][0-9]+)*)(?![\w'"/-])""")


def without_counts(text: str) -> tuple[str, ...]:
    """Return what is equal of texts that only differ in how many they count."""
    return tuple(_find_counts.split(text)[::2])


def ranged(texts: Iterable[str]) -> str:
    """Return texts that only differ in how many they count as one, such as 3 to 5 of 9 queries."""
    ranges = []
    for each in zip(*map(_find_counts.split, texts), strict=True):
        ascending = sorted(set(each), key=lambda count: (len(count.partition('.')[0]), count))
        ranges.append(' to '.join(dict.fromkeys((ascending[0], ascending[-1]))))
    return ''.join(ranges)


def together(said: Mapping[str, str]) -> str:
    """Return what is said of each of several runs as one text, if they only differ in counts."""
    return f'in {len(said)} runs: {ranged(said.values())} ({some(list(said))})'


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


# The check of each store that is in use: it compares the files with what was written.
checks_of_stores: WeakKeyDictionary[object, Callable[[], None]] = WeakKeyDictionary()


@contextmanager
def damage_told() -> Iterator[None]:
    """Raise the error of a damaged store instead of one that undamaged data cannot cause."""
    try:
        yield
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
        if not isinstance(error, Error):
            for check in list(checks_of_stores.values()):
                with suppress(ReadError):  # another store is there by now, or none
                    check()
        raise
