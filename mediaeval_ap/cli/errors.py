"""The group of all commands, where errors become one line and an exit code, and what all share."""

from __future__ import annotations

import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap import __version__, definitions
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.errors import (
    DataWarning,
    Error,
    ParameterError,
    ReadError,
    WriteError,
    printable,
)
from mediaeval_ap.files import Destination, write_whole

if TYPE_CHECKING:
    from mediaeval_ap.average_precision import AveragePrecision

__all__ = [
    'INTERRUPTED',
    'STANDARD_STREAM',
    'check_cutoffs',
    'check_paths',
    'is_on_terminal',
    'main',
    'read_reference',
    'tell',
    'write',
]

INTERRUPTED = 130
STANDARD_STREAM = '-'
LACKS_OF_MEMORY = (
    'failed to map segment',
    'annot allocate memory',
    "can't start new thread",
    'Failed to launch worker thread',
)
OUT_OF_MEMORY = (
    'out of memory: give the command more, or less to do at once '
    '(fewer runs or queries, smaller cutoffs)'
)


class _Command(click.Command):
    """A command that takes each option once, but for those whose values add up."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:  # completion asks about a line that is not whole
            _, _, order = self.make_parser(ctx).parse_args(given)
            for option, times in Counter(order).items():
                if times > 1 and isinstance(option, click.Option) and not option.multiple:
                    raise click.UsageError(f'{max(option.opts, key=len)} is given twice', ctx)
        return rest


class _Edge(click.Group):
    """Where errors and warnings of the library become one line each."""

    command_class = _Command

    def invoke(self, ctx: click.Context) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter('default', DataWarning)  # the same text once
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except (Error, DataWarning, MemoryError, ImportError, RuntimeError) as error:
                if _is_lack_of_memory(error):
                    raise click.ClickException(OUT_OF_MEMORY) from None
                if not isinstance(error, Error | DataWarning):
                    raise
                raise click.ClickException(str(error)) from error
            except KeyboardInterrupt:
                ctx.exit(INTERRUPTED)


def _is_lack_of_memory(error: Exception) -> bool:
    """Whether that is why something failed, as those say it that cannot load or start something."""
    if isinstance(error, ReadError | ImportError | RuntimeError):
        return any(reason in str(error) for reason in LACKS_OF_MEMORY)
    return isinstance(error, MemoryError)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    tell(f'Warning: {message}')


@click.group('mediaeval-ap', cls=_Edge, context_settings={'help_option_names': ['-h', '--help']})
@click.version_option(__version__, prog_name='mediaeval-ap')
def main() -> None:
    """Evaluate retrieval by name: who is in which shot, and how sure.

    Files hold a row a line, fields separated by spaces or tabs. A REFERENCE has corpus_id
    video_id shot_id person_name; a HYPOTHESIS has these and a confidence. TRUTH, PREDICTIONS and
    SCORES, of other challenges, are CSV with a header. Files may be compressed (.gz, .bz2, .xz,
    .zst) or Parquet; - is standard input.
    """


def read_reference(
    reference: str, cutoffs: list[Cutoff], subset: str | None, definition: str, max_bytes: int
) -> AveragePrecision:
    """What scores runs.

    Parameters
    ----------
    reference : str
        A path.
    cutoffs : list of int or 'all'
        The cutoffs.
    subset : str or None
        A path.
    definition : str
        Name of a definition.
    max_bytes : int
        How many bytes a table may come to.

    Returns
    -------
    AveragePrecision
        The reference, read.

    Raises
    ------
    click.UsageError
        As of `check_cutoffs`.

    Examples
    --------
    >>> read_reference('samples/reference.txt', [10], None, 'trec', 1000).K
    [10]
    """
    check_cutoffs(cutoffs, definition)
    from mediaeval_ap.average_precision import AveragePrecision

    return AveragePrecision(
        reference, cutoffs, subset=subset, definition=definition, max_bytes=max_bytes
    )


def check_cutoffs(cutoffs: list[Cutoff], definition: str) -> None:
    """Refuse cutoffs that a definition does not have, or that are given twice.

    Parameters
    ----------
    cutoffs : list of int or 'all'
        The cutoffs.
    definition : str
        Name of a definition.

    Raises
    ------
    click.UsageError
        When one is there twice, or it is all and the definition divides by k alone.

    Examples
    --------
    >>> check_cutoffs([10, 'all'], 'trec')
    """
    try:
        definitions.check_cutoffs(cutoffs, definitions.get(definition))
    except ParameterError as error:
        raise click.UsageError(str(error)) from error


def is_on_terminal() -> bool:
    """Whether somebody sees standard error.

    Returns
    -------
    bool
        False where it is closed, too.

    Examples
    --------
    >>> isinstance(is_on_terminal(), bool)
    True
    """
    return sys.stderr is not None and sys.stderr.isatty()


def check_paths(inputs: Iterable[str | None], outputs: Iterable[str | Destination] = ()) -> None:
    """Refuse to read standard input for two things, and to write over what is read or written.

    Parameters
    ----------
    inputs : iterable of str or None
        What is read.
    outputs : iterable of str or Destination
        What is written.

    Raises
    ------
    click.UsageError
        When two inputs are ``-``, or an output is the same file as an input or another output.

    Examples
    --------
    >>> check_paths(['reference.txt', '-', None], ['-'])
    """
    read = [path for path in inputs if path is not None]
    if read.count(STANDARD_STREAM) > 1:
        raise click.UsageError('standard input (-) can be read once only')
    taken = {_identity(path): 'is read, too' for path in read}
    for path in (os.fspath(output) for output in outputs):
        if path == STANDARD_STREAM or (os.path.exists(path) and not os.path.isfile(path)):
            continue
        if (file := _identity(path)) in taken:
            raise click.UsageError(f'{printable(path)} cannot be written: it {taken[file]}')
        taken[file] = 'is written already'


def _identity(path: str) -> object:
    """What is equal for two names of one file."""
    try:
        status = os.fstat(0) if path == STANDARD_STREAM else os.stat(path)
    except (OSError, ValueError):  # not there yet, or closed
        return os.path.realpath(path) if '\0' not in path else path
    return status.st_dev, status.st_ino


def tell(message: str) -> None:
    """Say something on standard error, above what a terminal shows anew.

    Parameters
    ----------
    message : str
        One line.

    Examples
    --------
    >>> tell('skipped 1 wrong line')
    """
    click.echo(message, file=sys.stderr, err=True)


def write(text: str, output: str | Destination) -> None:
    """Write to a file whole, or to standard output as UTF-8 whatever the locale, flushed.

    What a terminal would obey is escaped on a terminal, and nowhere else.

    Parameters
    ----------
    text : str
        What to write.
    output : str or Destination
        A path, or ``-``.

    Raises
    ------
    WriteError
        When that cannot be done.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'map.txt')
    >>> write('MAP@1 0.5', path)
    >>> path.read_text()
    'MAP@1 0.5'
    """
    if output != STANDARD_STREAM:
        write_whole(output, text)
        return
    if sys.stdout is None:
        raise WriteError('<stdout>', 'is closed')
    try:
        click.echo((_harmless(text) if _is_shown() else text).encode(), nl=False)
    except BrokenPipeError:  # whoever read it has seen enough
        raise
    except OSError as error:
        raise WriteError('<stdout>', error.strerror or str(error)) from error


def _is_shown() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def _harmless(text: str) -> str:
    """Lines, and fields between tabs, in which nothing is left that a terminal would obey."""
    return ''.join(each if each in '\n\t' else printable(each) for each in text)
