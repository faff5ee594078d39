"""The command that watches a run grow."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import click

from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import (
    STANDARD_STREAM,
    check_paths,
    main,
    read_reference,
    tell,
    write,
)
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.errors import Error, FormatError
from mediaeval_ap.report import (
    POINT_FORMATS,
    point_cells,
    point_headers,
    render_point,
    render_point_headers,
)

if TYPE_CHECKING:
    from types import FrameType

    from rich.console import Console
    from rich.table import Table

    from mediaeval_ap.live import Point

__all__ = ['watch']

Row = tuple[Any, ...]

LINES_AROUND_ROWS = 5
SHOW_CURSOR = b'\x1b[?25h\n'
LEAST_WIDTH = 7  # of a MAP that exceeds 1, too


@main.command()
@options.REFERENCE
@click.argument('hypothesis', type=options.FILE, default=STANDARD_STREAM)
@options.QUERIES
@options.SUBSET
@options.CUTOFFS
@options.DEFINITION
@options.STRICT
@options.MAX_BYTES
@click.option(
    '--every',
    type=options.RANK,
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
    cutoffs: list[Cutoff],
    definition: str,
    max_bytes: int,
    every: int,
    follow: bool,
    skip_bad: bool,
    format: str,
) -> None:
    """Score a run as it grows: a line each time that so many hypotheses have come.

    HYPOTHESIS is standard input by default. A line holds how many hypotheses there are, MAP at each
    cutoff, and how many queries changed since the line before (with jsonl, which). The last line is
    for all of them, also before an error or after Ctrl-C, which ends with exit code 130 (143 after
    SIGTERM).
    """
    from mediaeval_ap.tables import HYPOTHESIS
    from mediaeval_ap.tables.streaming import arriving

    check_paths([reference, hypothesis, queries, subset])
    average_precision = read_reference(reference, cutoffs, subset, definition, max_bytes)
    skipped = _Skipped(skip_bad)
    run = arriving(hypothesis, HYPOTHESIS, follow=follow, on_wrong=skipped.add, max_bytes=max_bytes)
    rows = _Ending(run)
    with rows, _showing(cutoffs, format, skipped, rows) as show:
        for point in average_precision.watch(rows, queries, every=every):
            show(point)
    if skipped.count:
        plural = 's' if skipped.count > 1 else ''
        tell(f'skipped {skipped.count} wrong line{plural}')
    if rows.error is not None:
        raise rows.error
    if rows.signal:
        sys.exit(128 + rows.signal)


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


class _Ending:
    """Rows that end at an error or at a signal, so that those before it are scored still.

    Until the first row is there, signals do what they did before, as there is nothing to score. A
    second signal does that, too. Those that are ignored, or left to the system, stay so.
    """

    def __init__(self, rows: Iterator[Row]) -> None:
        self.error: Error | None = None
        self.signal = 0
        self.before_leaving: Callable[[], object] = lambda: None
        self._rows = rows
        self._waiting = False
        self._before: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _take_signals(self) -> None:
        for number in signal.SIGINT, signal.SIGTERM:
            handler = signal.getsignal(number)
            if callable(handler):
                self._before[number] = handler
                signal.signal(number, self._end)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self.signal:
            self.before_leaving()
            self._before[number](number, frame)
        self.signal = number
        if self._waiting:
            raise KeyboardInterrupt

    def __iter__(self) -> Iterator[Row]:
        is_first = True
        while True:
            try:
                try:  # whenever the handler raises, it is in here
                    self._waiting = True
                    if self.signal:
                        return
                    row = next(self._rows)
                finally:
                    self._waiting = False
            except StopIteration:
                return
            except KeyboardInterrupt:
                if self.signal:
                    return
                raise
            except Error as error:
                self.error = error
                return
            if is_first:
                self._take_signals()
                is_first = False
            yield row


@contextmanager
def _showing(
    cutoffs: list[Cutoff], format: str, skipped: _Skipped, rows: _Ending
) -> Iterator[Callable[[Point], None]]:
    """What shows a point: as a line, or in a table that a terminal shows anew."""
    headers = point_headers(cutoffs, skipping=skipped.allowed)
    heading = [render_point_headers(headers)] if format == 'table' else []

    def counted() -> int | None:
        return skipped.count if skipped.allowed else None

    def show_line(point: Point) -> None:
        line = render_point(point, cutoffs, format, n_skipped=counted())
        write(heading.pop() + line if heading else line, STANDARD_STREAM)

    if format == 'table' and (screen := _Screen.on_terminal(headers)):
        rows.before_leaving = screen.give_back_cursor
        with screen:
            yield lambda point: screen.show(point_cells(point, counted()))
    else:
        yield show_line


class _Screen:
    """A table on the terminal, of the last rows that were shown."""

    def __init__(self, headers: Sequence[str], console: Console) -> None:
        from rich.live import Live

        self._headers = headers
        self._rows: deque[Sequence[str]] = deque(maxlen=max(1, console.height - LINES_AROUND_ROWS))
        on_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._live = Live(console=console, redirect_stderr=on_terminal)

    @classmethod
    def on_terminal(cls, headers: Sequence[str]) -> Self | None:
        """The table, where standard output is a terminal that can show it."""
        if sys.stdout is None or not sys.stdout.isatty():
            return None
        from rich.console import Console

        console = Console()
        screen = cls(headers, console)
        unlimited = console.options.update_width(sys.maxsize)
        width = console.measure(screen._table(), options=unlimited).maximum
        fits = width <= console.width and console.height > LINES_AROUND_ROWS
        return screen if console.is_interactive and fits else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._live.stop()

    def show(self, cells: Sequence[str]) -> None:
        self._rows.append(cells)
        self._live.start()  # no sooner: until the first row is there, signals end at once
        self._live.update(self._table())

    @staticmethod
    def give_back_cursor() -> None:
        """Show the cursor again, whatever is being written."""
        os.write(sys.stdout.fileno(), SHOW_CURSOR)

    def _table(self) -> Table:
        from rich.box import SIMPLE
        from rich.table import Table

        table = Table(box=SIMPLE)
        for header in self._headers:
            table.add_column(header, justify='right', no_wrap=True, min_width=LEAST_WIDTH)
        for row in self._rows:
            table.add_row(*row)
        return table
