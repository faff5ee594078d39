"""Inputs and outputs of the command: paths, standard streams, warnings and documents."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import Any

import click

from mediaeval_ap.atomic_files import COMPRESSED_SUFFIXES, check_destination, write_whole
from mediaeval_ap.errors import DataWarning, ParameterError, WriteError, printable
from mediaeval_ap.progress import above_bars
from mediaeval_ap.render.document import Document
from mediaeval_ap.render.formats import BOLD, FORMAT_OF_SUFFIX, fill, render
from mediaeval_ap.render.plot import FIGURE_FORMATS
from mediaeval_ap.results.notes import across_runs, kind_of_note, merge_notes

STANDARD_STREAM = '-'
Output = str
FILE = click.Path(allow_dash=True, readable=False)  # read errors are not usage errors
WAITING_WARNINGS = 'mediaeval_ap.warnings'  # key of click's metadata of the command


class _NewFile(click.Path):
    """The path of an output, checked before anything is read."""

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> Output:
        path = os.fsdecode(super().convert(value, param, ctx))
        if not path:
            self.fail('found an empty path, expected a file')
        is_folder = self.dir_okay and (os.path.isdir(path) or path.endswith('/'))
        if path != STANDARD_STREAM and not is_folder:
            check_destination(path)
        return path


NEW_FILE = _NewFile(dir_okay=False, allow_dash=True)
NEW_FILE_OR_FOLDER = _NewFile(allow_dash=True)


def check_paths(
    ctx: click.Context, more_inputs: Sequence[str] = (), more_outputs: Sequence[str] = ()
) -> None:
    """Raise UsageError if standard input is read twice, or an output would replace another path."""

    def paths_of(*types: click.Path) -> list[str]:
        paths: list[str] = []
        for parameter in ctx.command.params:
            if parameter.type in types:
                value = ctx.params[parameter.name or '']
                if isinstance(value, tuple):
                    paths += value
                elif value is not None:
                    paths.append(value)
        return paths

    inputs = [*paths_of(FILE), *more_inputs]
    if inputs.count(STANDARD_STREAM) > 1:
        raise click.UsageError('standard input (-) can be read once only')
    reason_by_file = {_file_identity(path): 'it is an input' for path in inputs}
    for path in [*paths_of(NEW_FILE, NEW_FILE_OR_FOLDER), *more_outputs]:
        if path == STANDARD_STREAM or (os.path.exists(path) and not os.path.isfile(path)):
            continue
        if (file := _file_identity(path)) in reason_by_file:
            reason = reason_by_file[file]
            raise click.UsageError(f'refusing to overwrite {printable(path)}: {reason}')
        reason_by_file[file] = 'it is another output'


def _file_identity(path: str) -> object:
    """Return a key that is equal for all paths of one file."""
    try:
        status = os.fstat(0) if path == STANDARD_STREAM else os.stat(path)
    except (OSError, ValueError):  # does not exist yet, or is closed
        return os.path.realpath(path) if '\0' not in path else path
    return status.st_dev, status.st_ino


@contextmanager
def as_usage_errors(*, only_typed: bool = False) -> Iterator[None]:
    """Turn ParameterError, or only that of typed options, into UsageError with their names."""
    try:
        yield
    except ParameterError as error:
        typed = {name: option for name, option in typed_options() if name in error.parameters}
        if only_typed and typed.keys() <= {'baseline'}:  # its file may be the cause
            raise
        message = str(error)
        if typed:
            message = f'{", ".join(typed.values())}: {error.problem}'
        raise click.UsageError(message, click.get_current_context()) from error


def typed_options() -> Iterator[tuple[str, str]]:
    """Yield parameter and name of each option that was typed, in the order of the help."""
    ctx = click.get_current_context()
    for parameter in ctx.command.params:
        name = parameter.name or ''
        option = max(parameter.opts, key=len)
        is_typed = ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if option[0] == '-' and is_typed:
            yield name, option


def is_on_terminal() -> bool:
    """Return True if standard error is a terminal, which can show a progress bar."""
    return sys.stderr is not None and sys.stderr.isatty()


def tell(message: str) -> None:
    """Write a line to standard error, above any progress bars."""
    with above_bars():
        click.echo(message, file=sys.stderr, err=True)


def tell_warning(warning: Any) -> None:
    """Write a warning as a line; on a terminal, warnings about data wait, to be merged by kind."""
    if is_on_terminal() and isinstance(warning, DataWarning) and warning.kind != 'no-worker':
        click.get_current_context().meta.setdefault(WAITING_WARNINGS, []).append(warning)
    else:
        tell(f'Warning: {warning}')


def tell_waiting_warnings(below: str = '') -> None:
    """Write waiting warnings, each kind once; skip those whose note is in the text below."""
    from mediaeval_ap.results.run_names import run_names

    ctx = click.get_current_context(silent=True)
    if ctx is None:
        return
    warnings_by_kind: dict[object, dict[str, DataWarning]] = {}
    for warning in ctx.meta.pop(WAITING_WARNINGS, []):
        kind = warning.kind, kind_of_note(warning.note)
        warnings_by_kind.setdefault(kind, {})[warning.about] = warning
    texts = []
    below = ' '.join(below.split())  # undo folding
    for warning_by_run in warnings_by_kind.values():
        notes = [warning.note for warning in warning_by_run.values()]
        if merge_notes(notes) in below:
            continue
        if len(warning_by_run) > 1:
            names = run_names(list(warning_by_run))
            texts.append(f'in {across_runs(dict(zip(names, notes, strict=True)))}')
        else:
            ((about, warning),) = warning_by_run.items()
            source = f'{os.path.basename(about)}: ' if about else ''
            texts.append(f'{source}{warning.finding}')
    for text in texts:
        tell(fill(f'Warning: {text}', get_terminal_size().columns - 1, subsequent_indent='  '))
    if texts:
        tell('What to do about warnings: mediaeval-ap help warnings')


def write(text: str, output: Output = STANDARD_STREAM, is_coloured: bool = False) -> None:
    """Write text whole to a file, or to standard output, escaped if that is a terminal."""
    if output != STANDARD_STREAM:
        write_whole(output, text)
        return
    if sys.stdout is None:
        raise WriteError('<stdout>', 'is closed')
    try:
        if sys.stdout.isatty():  # a terminal would obey control characters
            tell_waiting_warnings(text)
            allowed = ['\n', '\t']
            if is_coloured:
                allowed += BOLD.split('{}')
            parts = re.split('(\x1b\\[[01]m|[\n\t])', text)
            text = ''.join(part if part in allowed else printable(part) for part in parts)
        click.echo(text.encode(), nl=False)
    except BrokenPipeError:  # the reader, such as head, has seen enough
        raise
    except OSError as error:
        raise WriteError('<stdout>', error.strerror or str(error)) from error


def format_by_suffix(output: Output, formats: Collection[str]) -> str:
    """Return the format, one of `formats`, for the suffix of an output; without suffix, table."""
    path, suffix = os.path.splitext(os.fspath(output).lower())
    if suffix in COMPRESSED_SUFFIXES:
        suffix = os.path.splitext(path)[1]
    if not suffix or suffix == '.txt':
        return 'table'
    allowed = {key: format for key, format in FORMAT_OF_SUFFIX.items() if format in formats}
    if suffix in allowed:
        return allowed[suffix]
    expected = f'one of {", ".join(allowed)}, or --format'
    if suffix[1:] in FIGURE_FORMATS:
        expected += '; figures: report --figure'
    raise click.UsageError(f'-o: found the suffix {suffix}, expected {expected}')


def write_document(document: Document, format: str, output: Output) -> None:
    """Write a document in a format; fold it to the width of a terminal."""
    is_shown = output == STANDARD_STREAM and sys.stdout is not None and sys.stdout.isatty()
    width = get_terminal_size().columns if is_shown else None
    is_coloured = output == STANDARD_STREAM and format == 'table' and shows_colour()
    write(render(document, format, width, is_coloured), output, is_coloured)


def check_can_be_binary(format: str, output: Output) -> None:
    """Raise UsageError for a binary format on standard output, before anything is computed."""
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
    """Return True if standard output shows colours; rich reads the environment for this."""
    if sys.stdout is None or not (sys.stdout.isatty() or 'FORCE_COLOR' in os.environ):
        return False
    from rich.console import Console

    console = Console(file=sys.stdout)
    return console.color_system is not None and not console.no_color
