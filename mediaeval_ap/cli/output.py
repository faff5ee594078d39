"""Inputs and outputs of the command: standard streams, and files that must not be the same."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

import click

from mediaeval_ap.atomic_files import COMPRESSED_SUFFIXES, check_destination, write_whole
from mediaeval_ap.errors import (
    DataWarning,
    ParameterError,
    WriteError,
    kind_of,
    printable,
    ranged,
    together,
)
from mediaeval_ap.progress import above_bars
from mediaeval_ap.render.document import Document
from mediaeval_ap.render.formats import BOLD, FORMAT_OF_SUFFIX, render

STANDARD_STREAM = '-'
Output = str
FILE = click.Path(allow_dash=True, readable=False)  # what cannot be read is wrong data, not usage
HELD = 'mediaeval_ap.warnings'  # in what click knows of the command that runs
LINES_OF_WARNING = 2


class _NewFile(click.Path):
    """A path of an output, checked before anything is read."""

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> Output:
        path = super().convert(value, param, ctx)
        if not path:
            self.fail('found an empty path, expected a file')
        if path == STANDARD_STREAM:
            return STANDARD_STREAM
        if self.dir_okay and (os.path.isdir(path) or os.fspath(path)[-1:] in ('/', b'/')):
            return os.fsdecode(path)
        check_destination(os.fsdecode(path))
        return os.fsdecode(path)


NEW_FILE = _NewFile(dir_okay=False, allow_dash=True)
NEW_FILE_OR_FOLDER = _NewFile(allow_dash=True)


def check_paths(ctx: click.Context, *others: str) -> None:
    """Refuse to read standard input twice (`others` too), and to write over another path."""

    def paths_of(*types: click.Path) -> list[str]:
        given = [ctx.params[each.name or ''] for each in ctx.command.params if each.type in types]
        paths = [path for each in given for path in (each if isinstance(each, tuple) else [each])]
        return [os.fspath(path) for path in paths if path is not None]

    read = [*paths_of(FILE), *others]
    if read.count(STANDARD_STREAM) > 1:
        raise click.UsageError('standard input (-) can be read once only')
    taken = {_identity(path): 'it is an input' for path in read}
    for path in paths_of(NEW_FILE, NEW_FILE_OR_FOLDER):
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


@contextmanager
def as_usage(error: type[click.UsageError] = click.UsageError, prefix: str = '') -> Iterator[None]:
    """Make an argument that Python refuses an error of usage."""
    try:
        yield
    except ParameterError as refused:
        raise error(prefix + str(refused)) from refused


def is_on_terminal() -> bool:
    """Return whether standard error is a terminal, which shows a progress bar."""
    return sys.stderr is not None and sys.stderr.isatty()


def tell(message: str) -> None:
    """Write a line to standard error, above a table that a terminal shows anew."""
    with above_bars():
        click.echo(message, file=sys.stderr, err=True)


def tell_warning(warning: Any) -> None:
    """Tell a warning in a line; on a terminal one about data waits for others of its kind."""
    if is_on_terminal() and isinstance(warning, DataWarning) and warning.kind != 'no-worker':
        click.get_current_context().meta.setdefault(HELD, []).append(warning)
    else:
        tell(f'Warning: {warning}')


def tell_held(below: str = '') -> None:
    """Tell the warnings that wait, each kind once, but not what the text below says already."""
    from mediaeval_ap.results.run_names import run_names

    ctx = click.get_current_context(silent=True)
    kinds: dict[object, dict[str, DataWarning]] = {}
    for warning in [] if ctx is None else ctx.meta.pop(HELD, []):
        kinds.setdefault((warning.kind, kind_of(warning.note)), {})[warning.about] = warning
    told = []
    below = ' '.join(below.split())  # as if it were not folded
    for found in kinds.values():
        notes = [warning.note for warning in found.values()]
        if ranged(notes) in below:
            continue
        if len(found) > 1:
            told.append(together(dict(zip(run_names(list(found)), notes, strict=True))))
        else:
            ((about, warning),) = found.items()
            told.append(f'{os.path.basename(about)}: {warning.finding}' if about else str(warning))
    for text in told:
        lines = wrap(
            f'Warning: {text}',
            get_terminal_size().columns - 1,
            max_lines=LINES_OF_WARNING,
            placeholder=' …',
            break_on_hyphens=False,
        )
        tell('\n  '.join(lines))
    if told:
        tell('What to do about warnings: mediaeval-ap help warnings')


def write(text: str, output: Output = STANDARD_STREAM, is_coloured: bool = False) -> None:
    """Write a file whole, or to standard output: UTF-8, flushed, harmless for a terminal."""
    if output != STANDARD_STREAM:
        write_whole(output, text)
        return
    if sys.stdout is None:
        raise WriteError('<stdout>', 'is closed')
    try:
        if sys.stdout.isatty():  # which obeys control characters
            tell_held(text)
            obeyed = ('\n', '\t', *(BOLD.split('{}') if is_coloured else ()))
            parts = re.split('(\x1b\\[[01]m|[\n\t])', text)
            text = ''.join(each if each in obeyed else printable(each) for each in parts)
        click.echo(text.encode(), nl=False)
    except BrokenPipeError:  # whoever read it has seen enough
        raise
    except OSError as error:
        raise WriteError('<stdout>', error.strerror or str(error)) from error


def format_of(output: Output, formats: Collection[str]) -> str:
    """Return the one of the formats that the suffix of an output stands for; table without one."""
    path, suffix = os.path.splitext(os.fspath(output).lower())
    if suffix in COMPRESSED_SUFFIXES:
        suffix = os.path.splitext(path)[1]
    if not suffix or suffix == '.txt':
        return 'table'
    suffixes = {each: format for each, format in FORMAT_OF_SUFFIX.items() if format in formats}
    if suffix in suffixes:
        return suffixes[suffix]
    known = ', '.join(suffixes)
    raise click.UsageError(f'-o: found the suffix {suffix}, expected one of {known}, or --format')


def write_document(document: Document, format: str, output: Output) -> None:
    """Write a document in a format, narrow enough for a terminal."""
    is_shown = output == STANDARD_STREAM and sys.stdout is not None and sys.stdout.isatty()
    width = get_terminal_size().columns if is_shown else None
    is_coloured = output == STANDARD_STREAM and format == 'table' and shows_colour()
    write(render(document, format, width, is_coloured), output, is_coloured)


def refuse_binary(format: str, output: Output) -> None:
    """Refuse a figure that is not text on standard output, before it is computed."""
    if format in ('png', 'pdf') and output == STANDARD_STREAM:
        raise click.UsageError(f'--format {format} is not text: give a file, -o FILE')


def write_figure(chart: Any, format: str, output: Output) -> None:
    """Write a chart of Altair as svg, png or pdf."""
    from mediaeval_ap.render.page import render_chart

    content = render_chart(chart, format)
    if format == 'svg':
        write(content, output)
    else:
        write_whole(output, content)


def shows_colour() -> bool:
    """Return whether standard output shows colours, by the variables that rich knows."""
    if sys.stdout is None or not (sys.stdout.isatty() or 'FORCE_COLOR' in os.environ):
        return False
    from rich.console import Console

    console = Console(file=sys.stdout)
    return console.color_system is not None and not console.no_color
