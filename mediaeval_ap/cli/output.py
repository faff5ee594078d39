"""Inputs and outputs of the command: standard streams, and files that must not be the same."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from mediaeval_ap.errors import WriteError, printable
from mediaeval_ap.files import Destination, write_whole
from mediaeval_ap.report.formats import render

if TYPE_CHECKING:
    from mediaeval_ap.results.result import Result

STANDARD_STREAM = '-'


def is_on_terminal() -> bool:
    """Return whether standard error is a terminal, which shows a progress bar."""
    return sys.stderr is not None and sys.stderr.isatty()


def check_paths(inputs: Iterable[str | None], outputs: Iterable[str | Destination] = ()) -> None:
    """Refuse to read standard input twice, and to write over an input or another output."""
    read = [path for path in inputs if path is not None]
    if read.count(STANDARD_STREAM) > 1:
        raise click.UsageError('standard input (-) can be read once only')
    taken = {_identity(path): 'it is an input' for path in read}
    for path in (os.fspath(output) for output in outputs):
        if path == STANDARD_STREAM or (os.path.exists(path) and not os.path.isfile(path)):
            continue
        if (file := _identity(path)) in taken:
            raise click.UsageError(f'refusing to overwrite {printable(path)}: {taken[file]}')
        taken[file] = 'it is another output'


def _identity(path: str) -> object:
    """Return what is equal for two names of one file."""
    try:
        status = os.fstat(0) if path == STANDARD_STREAM else os.stat(path)
    except (OSError, ValueError):  # not there yet, or closed
        return os.path.realpath(path) if '\0' not in path else path
    return status.st_dev, status.st_ino


def tell(message: str) -> None:
    """Write a line to standard error, above a table that a terminal shows anew."""
    click.echo(message, file=sys.stderr, err=True)


def write_results(
    results: Sequence[Result], format: str, output: str | Destination, *, mean_only: bool = False
) -> None:
    """Write one or more results of the same kind."""
    from mediaeval_ap.results import describe

    write(render(describe(results, mean_only=mean_only), format), output)


def write(text: str, output: str | Destination = STANDARD_STREAM) -> None:
    """Write to a file whole, or to standard output as UTF-8 whatever the locale, flushed.

    What a terminal would obey is escaped on a terminal, and nowhere else.
    """
    if output != STANDARD_STREAM:
        write_whole(output, text)
        return
    if sys.stdout is None:
        raise WriteError('<stdout>', 'is closed')
    try:
        click.echo((_harmless(text) if sys.stdout.isatty() else text).encode(), nl=False)
    except BrokenPipeError:  # whoever read it has seen enough
        raise
    except OSError as error:
        raise WriteError('<stdout>', error.strerror or str(error)) from error


def _harmless(text: str) -> str:
    """Return the text with everything escaped that a terminal obeys, but for tabs and line ends."""
    return ''.join(each if each in '\n\t' else printable(each) for each in text)
