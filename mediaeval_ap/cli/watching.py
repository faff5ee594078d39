"""The command that watches a run grow."""

from __future__ import annotations

import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar

import click

from mediaeval_ap.cli import options
from mediaeval_ap.cli.edge import (
    INTERRUPTED,
    STANDARD_STREAM,
    main,
    read_reference,
    read_standard_input_once,
    tell,
    write,
)
from mediaeval_ap.errors import FormatError
from mediaeval_ap.report import (
    POINT_FORMATS,
    point_cells,
    point_headers,
    render_point,
    render_point_headers,
)

if TYPE_CHECKING:
    from mediaeval_ap.live import Point
    from mediaeval_ap.tables.lines import Lines

__all__ = ['watch']

Row = tuple[Any, ...]
Item = TypeVar('Item')

LINES_AROUND_ROWS = 5


@main.command()
@options.REFERENCE
@click.argument('hypothesis', type=options.FILE, default=STANDARD_STREAM)
@options.QUERIES
@options.SUBSET
@options.CUTOFFS
@options.DEFINITION
@click.option(
    '--every',
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help='After how many hypotheses to score.',
)
@click.option('--follow', is_flag=True, help='Wait for more at the end of HYPOTHESIS.')
@click.option('--skip-bad', is_flag=True, help='Report lines that are wrong, count them, go on.')
@click.option('--format', type=click.Choice(POINT_FORMATS), default='table', show_default=True)
def watch(
    reference: str,
    hypothesis: str,
    queries: str | None,
    subset: str | None,
    cutoffs: list[int],
    definition: str,
    every: int,
    follow: bool,
    skip_bad: bool,
    format: str,
) -> None:
    """Score a run as it grows: a line each time that so many hypotheses have come.

    HYPOTHESIS is standard input by default. A line holds how many hypotheses there are, MAP at each
    cutoff, and how many queries changed since the line before (with jsonl, which). The last line is
    for all of them, also after an interrupt (Ctrl-C), which ends with exit code 130.
    """
    read_standard_input_once([reference, hypothesis, queries, subset])
    average_precision = read_reference(reference, cutoffs, subset, definition)
    interrupts, skipped = _Interrupts(), _Skipped(skip_bad)
    with (
        _reading(hypothesis, follow, skipped) as rows,
        _showing(cutoffs, format, skipped) as show,
        interrupts,
    ):
        for point in average_precision.watch(interrupts.ending(rows), queries, every=every):
            show(point)
    if skipped.count:
        plural = 's' if skipped.count > 1 else ''
        tell(f'skipped {skipped.count} wrong line{plural}')
    if interrupts.came:
        sys.exit(INTERRUPTED)


class _Skipped:
    """Lines that are wrong: an error, or reported and counted."""

    def __init__(self, allowed: bool) -> None:
        self.allowed = allowed
        self.count = 0

    def add(self, error: FormatError) -> None:
        if not self.allowed:
            raise error
        self.count += 1
        tell(f'Error: {error}')


class _Interrupts:
    """Where Ctrl-C ends the rows at once, and lets what is being scored be scored first."""

    def __init__(self) -> None:
        self.came = False
        self._waiting = False

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *exception: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _handle(self, *_: object) -> None:
        impatient, self.came = self.came, True
        if self._waiting or impatient:
            raise KeyboardInterrupt

    def ending(self, items: Iterator[Item]) -> Iterator[Item]:
        while not self.came:
            self._waiting = True
            try:
                item = next(items)
            except (StopIteration, KeyboardInterrupt):
                return
            finally:
                self._waiting = False
            yield item


@contextmanager
def _reading(hypothesis: str, follow: bool, skipped: _Skipped) -> Iterator[Iterator[Row]]:
    """The hypotheses of a run, as they come."""
    from mediaeval_ap.tables import STANDARD_INPUT, standard_input
    from mediaeval_ap.tables.following import following
    from mediaeval_ap.tables.sources import ByteSource, Hasher

    source = ByteSource(hypothesis)
    if hypothesis == STANDARD_INPUT:
        yield _parsed(standard_input(), source.name, skipped)
    elif follow:
        with following(source) as stream:
            yield _parsed(stream, source.name, skipped)
    elif source.is_parquet:
        from mediaeval_ap.tables import HYPOTHESIS, read

        yield iter(read(hypothesis, HYPOTHESIS).rows())
    else:
        with source.open(Hasher()) as stream:
            yield _parsed(stream, source.name, skipped)


def _parsed(lines: Lines, name: str, skipped: _Skipped) -> Iterator[Row]:
    from mediaeval_ap.tables import HYPOTHESIS, no_rows, numbered, parse_line

    n_rows = 0
    for number, line in numbered(lines, name):
        try:
            fields = parse_line(line, HYPOTHESIS, name, number)
        except FormatError as error:
            skipped.add(error)
            continue
        if fields is not None:
            n_rows += 1
            yield (*fields[:-1], float(fields[-1]))
    if not n_rows:
        raise no_rows(name, HYPOTHESIS)


@contextmanager
def _showing(
    cutoffs: list[int], format: str, skipped: _Skipped
) -> Iterator[Callable[[Point], None]]:
    """What shows a point: as a line, or in a table that a terminal shows anew."""
    headers = point_headers(cutoffs, skipping=skipped.allowed)
    heading = [render_point_headers(headers)] if format == 'table' else []

    def counted() -> int | None:
        return skipped.count if skipped.allowed else None

    def show_line(point: Point) -> None:
        line = render_point(point, cutoffs, format, n_skipped=counted())
        write(heading.pop() + line if heading else line, STANDARD_STREAM)

    if format == 'table' and sys.stdout is not None and sys.stdout.isatty():
        with _screen(headers) as show_cells:
            yield lambda point: show_cells(point_cells(point, counted()))
    else:
        yield show_line


@contextmanager
def _screen(headers: Sequence[str]) -> Iterator[Callable[[Sequence[str]], None]]:
    """A table on the terminal, of the last rows that were shown."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    console = Console()
    rows: deque[Sequence[str]] = deque(maxlen=max(1, console.height - LINES_AROUND_ROWS))
    on_terminal = sys.stderr is not None and sys.stderr.isatty()
    with Live(console=console, redirect_stderr=on_terminal) as live:

        def show(cells: Sequence[str]) -> None:
            rows.append(cells)
            table = Table(box=SIMPLE)
            for header in headers:
                table.add_column(header, justify='right')
            for row in rows:
                table.add_row(*row)
            live.update(table)

        yield show
