"""Errors and warnings, as two trees.

::

    Error (Exception)
    ├── ReadError (OSError)                an input cannot be opened, decompressed or read fully
    ├── WriteError (OSError)               an output cannot be written
    ├── FormatError (ValueError)           the content of an input is wrong
    ├── ParameterError (ValueError)        an argument is not valid
    ├── MissingExtraError (ImportError)    an optional dependency is not installed
    ├── SessionClosedError (RuntimeError)  a session is used after its end
    ├── ProcessError (RuntimeError)        a worker ended before its work was done, or cannot do it
    └── UndefinedScoreError (ValueError)   a score is not defined, such as the mean over no query

    DataWarning (UserWarning)              data is unusual, but is scored; `KINDS` lists the kinds
    ├── NoOverlapWarning                   no id of an input occurs in the other one
    └── WithoutRelevantWarning             queries have no relevant shot, or are not names

Catch `Error` for all errors, or the builtin class in parentheses. Every message is one line.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Sequence
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

SHOWN_CHARACTERS = 60  # enough to recognise a value; the message stays one line
KINDS = {
    'repeated-rows': 'Rows that repeat an earlier row. Drop them: a definition may count them '
    'again.',
    'repeated-queries': 'Queries that are listed, and averaged, more than once. List each name '
    'once.',
    'cut-line': 'A run without a line end after its last row, which may be cut. Copy it again, or '
    'end it with a line end.',
    'no-overlap': 'Two inputs without a common id. Are ids spelled alike, zeros included?',
    'lost-zeros': 'Ids that equal others but for leading zeros, so do not match. Read ids as text.',
    'empty-run': 'A run without a hypothesis in the subset. Do both have the same videos?',
    'without-relevant': 'Queries without a relevant shot; --queries-without-relevant skip leaves '
    'them out.',
    'unknown-queries': 'Queries that are not names in the reference, or in its subset. Check the '
    'spelling.',
    'missing-ids': 'Ids of the truth that the predictions lack, scored 0 or left out. Predict all '
    'of them.',
    'unknown-ids': 'Predictions for ids or classes that the truth lacks, left out. Do both files '
    'have the same data?',
    'unnamed-runs': 'Runs that the file of names lacks. Does it have each path, or its last part?',
    'unlisted-problems': 'More problems of one kind than are listed; the rest is only counted. '
    'Correct the listed ones first.',
    'nothing-ignored': 'A relevance to ignore that no row of the qrels has. Is it the right one?',
    'doubtful-scores': 'Scores that hardly order. Are they distinct, and is the highest the best?',
    'one-sample': 'infAP of judgements that may be a sample by strata. Is it xinfAP that you need?',
    'hidden-labels': 'Metrics that a page without labels lacks. Choose AP or nDCG above cutoff 1.',
    'few-clusters': 'Confidence intervals from few clusters, or with many queries in one cluster. '
    'They may be too narrow.',
    'total-names': 'Items of a score table that are named like a total, or a statistic of pandas. '
    'Leave them out, unless they are items.',
    'score-above-one': 'Average precision above 1: a shot counts again. --definition trec counts '
    'it once.',
    'uncertain-order': 'Unjudged shots could swap the two best runs. Judge these shots first.',
    'no-worker': 'A scheduler without workers, or a worker that does not answer. Start one, or '
    'wait.',
}
PACKAGE = os.path.dirname(__file__) + os.sep
NAMES_IN_MESSAGE = 3  # of further names, a message gives only the number


class Error(Exception):
    """Base of all errors that this package raises on purpose."""

    def _render_traceback_(self) -> list[str]:
        """Return the user's frames and the message, which IPython shows in place of all frames."""
        from traceback import extract_tb, format_list

        frames = extract_tb(self.__traceback__)[1:]  # the first is that of IPython
        in_package = (frame.filename.startswith(PACKAGE) for frame in frames)
        n_own = next((n for n, is_ours in enumerate(in_package) if is_ours), len(frames))
        return [*format_list(frames[:n_own]), f'{type(self).__name__}: {self}']


class _FileError(Error, OSError):
    """An error about a file, with its `name` and the `reason`."""

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
    source, place, field : str
        The name of the input; ``'line 12'``, ``'row 3'``, or empty for the input as a whole; the
        wrong field, or empty for the whole line.
    found, expected : str
        The actual content, and a description of the right content.
    further, remedy : int, str
        The number of further wrong lines (or rows); advice, if the cause is certain.
    """

    def __init__(
        self,
        source: str,
        place: str,
        field: str,
        found: str,
        expected: str,
        further: int = 0,
        remedy: str = '',
    ) -> None:
        where = ', '.join(part for part in (source, place, shortened(field)) if part)
        more = ''
        if remedy:
            more = f'; {remedy}'
        if further:
            unit = place.split()[0]
            more += f' ({further:,} more wrong {unit if further == 1 else unit + "s"})'
        super().__init__(printable(f'{where}: found {found}, expected {expected}{more}'))
        self.source = source
        self.place = place
        self.field = field
        self.found = found
        self.expected = expected
        self.further = further
        self.remedy = remedy

    def __reduce__(self) -> tuple[Any, ...]:
        content = self.field, self.found, self.expected
        return type(self), (self.source, self.place, *content, self.further, self.remedy)

    def with_remedy(self, remedy: str) -> FormatError:
        """Return the error with one more remedy.

        Parameters
        ----------
        remedy : str
            Advice that only a caller of the reader knows.

        Returns
        -------
        FormatError
        """
        remedies = '; '.join(filter(None, [self.remedy, remedy]))
        content = self.field, self.found, self.expected
        return FormatError(self.source, self.place, *content, self.further, remedies)


class ParameterError(Error, ValueError):
    """An argument that is not valid; `parameters` are its names, and `problem` is the rest."""

    def __init__(self, problem: str, *parameters: str) -> None:
        super().__init__(f'{", ".join(parameters)}: {problem}' if parameters else problem)
        self.problem = problem
        self.parameters = parameters

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem, *self.parameters)


class MissingExtraError(Error, ImportError):
    """An optional dependency (an extra of the package) that is not installed."""


class SessionClosedError(Error, RuntimeError):
    """A session that is used after its end."""


class ProcessError(Error, RuntimeError):
    """A worker (a process or a machine) that ended before its work was done, or cannot do it."""


class UndefinedScoreError(Error, ValueError):
    """A score that is not defined, such as the mean over no query."""


class Note(str):
    """A sentence about data that keeps its two numbers as attributes.

    Parameters
    ----------
    says, number, of, unit : str, int, int, str
        The sentence after its subject; the number of units that it is about, and of all units;
        their noun, in the plural.

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
        note = super().__new__(cls, f'{number:,} of {of:,} {unit} {says}')
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
    """A warning about unusual data, which is scored nevertheless.

    Parameters
    ----------
    kind : str
        A key of `KINDS`, whose value explains the warning and gives a remedy.
    about, note, more : str
        The name of the input, or empty; the finding; remedies or examples after it.
    """

    def __init__(self, kind: str, about: str, note: str, more: str = '') -> None:
        super().__init__(kind, about, note, more)
        self.kind = kind
        self.about = about
        self.note = note
        self.more = more

    @property
    def finding(self) -> str:
        """The note with its remedies or examples, without the name of the input."""
        return f'{self.note}{self.more}' if self.more else self.note

    def __str__(self) -> str:
        return f'{self.about}: {self.finding}' if self.about else self.finding


class NoOverlapWarning(DataWarning):
    """Two inputs without a common id, or with lost zeros; or no hypothesis in the subset."""


class WithoutRelevantWarning(DataWarning):
    """Queries that have no relevant shot, or are not names in the reference."""


def require(module: str, extra: str, feature: str) -> ModuleType:
    """Import a module of an optional dependency; an error names the feature that needs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = (error.name or module).partition('.')[0]  # perhaps one that it needs itself
        raise MissingExtraError(
            f'{feature}: {library} is not installed; '
            f"in the clone of mediaeval_ap, run pip install '.[{extra}]'"
        ) from error


def warn_caller(data_warnings: Iterable[DataWarning]) -> None:
    """Issue warnings that point to the user's line of code, however deep in the package."""
    # Python 3.12 has `skip_file_prefixes`, which stops at functions that other libraries call.
    for warning in data_warnings:  # `send` calls this for each query, mostly without any
        from traceback import walk_stack

        files = [frame.f_code.co_filename for frame, _ in walk_stack(sys._getframe(1))]
        outermost = max(level for level, file in enumerate(files, 2) if file.startswith(PACKAGE))
        warnings.warn(warning, stacklevel=outermost + 1)


def file_of(error: Exception, default: str = '') -> str:
    """Return the name of the input that an error or a warning is about."""
    name: str = getattr(error, 'source', getattr(error, 'name', default))
    return name


def is_ignored(category: type[Warning]) -> bool:
    """Return True if Python hides all warnings of a category, so that none needs examples."""
    for action, text, kind, module, line in warnings.filters:
        if issubclass(category, kind):
            return action == 'ignore' and not (text or module or line)
    return False


def printable(text: str) -> str:
    """Escape the characters that a terminal would obey or hide."""
    if text.isprintable():
        return text
    return ''.join(
        character if character.isprintable() else character.encode('unicode_escape').decode()
        for character in text
    )


def with_noun(count: int, singular: str, plural: str) -> str:
    """Return a number with its noun, in the singular or the plural."""
    return f'{count:,} {singular if count == 1 else plural}'


def abridged(names: Sequence[str], most: int = NAMES_IN_MESSAGE) -> str:
    """List the first names, and give the number of the others, such as "a, b, c and 4 more"."""
    n_more = len(names) - most
    return ', '.join(names[:most]) + (f' and {n_more:,} more' if n_more > 0 else '')


def shown(value: object) -> str:
    """Quote a value for an error message: its repr, shortened, on one line."""
    try:
        short = value[: SHOWN_CHARACTERS + 1] if isinstance(value, str | bytes) else value
        text = printable(repr(short))
    except Exception:  # the `__repr__` of a foreign class may raise anything
        if isinstance(value, int):  # Python refuses to print more than a few thousand digits
            return f'<{type(value).__name__} of {int.bit_length(value)} bits>'
        return shortened(printable(f'<{type(value).__name__} that cannot be shown>'))
    if len(text) > SHOWN_CHARACTERS + 2:
        text = shortened(text) + text[-1] * isinstance(value, str | bytes)  # with its last quote
    return text


def shortened(text: str) -> str:
    """Cut text to `SHOWN_CHARACTERS`, so that a message stays one line."""
    return text if len(text) <= SHOWN_CHARACTERS else f'{text[:SHOWN_CHARACTERS]}…'
