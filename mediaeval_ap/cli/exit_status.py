"""The exit status of commands, and errors in one line."""

from __future__ import annotations

from typing import NoReturn

import click

from mediaeval_ap.errors import DataWarning, Error, ReadError

EXIT_STATUS = '0: success; 1: error in the data or files; 2: error in the command line'
INTERRUPTED = 130
OUT_OF_MEMORY_PHRASES = (  # in errors of libraries that could not load or start a thread
    'failed to map segment',
    'annot allocate memory',
    "can't start new thread",
    'Failed to launch worker thread',
)
OUT_OF_MEMORY = (
    'out of memory: give the command more, or less to do at once '
    '(fewer runs or queries, smaller cutoffs)'
)


def raise_in_one_line(error: Exception) -> NoReturn:
    """Raise an error about data or memory as one line of click; raise others unchanged."""
    if is_lack_of_memory(error):
        raise click.ClickException(OUT_OF_MEMORY) from None
    if isinstance(error, Error | DataWarning):
        notes = getattr(error, '__notes__', ())  # a remedy, or further errors
        raise click.ClickException('; '.join([str(error), *notes])) from error
    raise error


def is_lack_of_memory(error: BaseException) -> bool:
    """Return True if an error means that memory ran out."""
    if isinstance(error, ReadError | ImportError | RuntimeError):
        return any(phrase in str(error) for phrase in OUT_OF_MEMORY_PHRASES)
    return isinstance(error, MemoryError)
