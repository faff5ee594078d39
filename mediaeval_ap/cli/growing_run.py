"""A growing run: its rows, which end at an error or a signal, and the output of its points."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from threading import Event, Thread
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from mediaeval_ap.atomic_files import Destination, write_whole
from mediaeval_ap.cli.output import Output, is_on_terminal, tell, write
from mediaeval_ap.definitions import Cutoff, ap_column
from mediaeval_ap.errors import Error, FormatError
from mediaeval_ap.render.formats import POINT_FORMATS, find_format, short

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from mediaeval_ap.live import Point, WatchPage

Show = Callable[['Point'], None]
# After these the last point is shown; after SIGHUP nobody would see it. Windows has no SIGQUIT.
LAST_POINT = [
    getattr(signal, name) for name in ('SIGINT', 'SIGTERM', 'SIGQUIT') if hasattr(signal, name)
]
LISTED = 100  # skipped lines on a page: enough to see what is wrong with the run
SECONDS_BETWEEN_WRITES = 2
LINES_AROUND_ROWS = 5  # of the table: borders, header, and the line of the cursor
SHOW_CURSOR = b'\x1b[?25h\n'
LEAST_WIDTH = len('100.000')  # of a MAP that exceeds 1, too


class Ending:
    """Rows that end at an error or, from the first row on, at the first signal that is handled."""

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self.error: Error | None = None
        self.signal = 0
        self.has_ended = False
        self.before_leaving: Callable[[], object] = lambda: None
        self._rows = rows
        self._waiting = False
        self._before: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
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
                self.has_ended = True
                return
            except KeyboardInterrupt:
                if self.signal:
                    return
                raise
            except Error as error:
                self.error = error
                return
            if is_first:  # before it, there is nothing to score
                self._take_signals()
                is_first = False
            yield row

    def _take_signals(self) -> None:
        for number in LAST_POINT:
            handler = signal.getsignal(number)
            if callable(handler):  # neither ignored nor left to the system
                self._before[number] = handler
                signal.signal(number, self._end)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self.signal:  # the second ends at once
            self.before_leaving()
            self._before[number](number, frame)
        self.signal = number
        if self._waiting:
            raise KeyboardInterrupt

    def state(self) -> str:
        """Say in a sentence how far the run is read."""
        if self.error is not None:
            return f'The run ended with an error: {self.error}'
        if self.signal:
            return 'The command was interrupted here: the run may have grown further.'
        if self.has_ended:
            return 'The run has ended, and all of it is scored.'
        return (
            'The run was growing when this page was written: load the page again for newer points.'
        )


class Skipped:
    """The errors of lines that were skipped: how many, and the first of them."""

    def __init__(self) -> None:
        self.n = 0
        self.first: list[str] = []

    def add(self, error: FormatError) -> None:
        self.n += 1
        if len(self.first) < LISTED:
            self.first.append(str(error))
        tell(f'Error: {error}')

    def listed(self) -> list[str]:
        """Return the first errors, and how many more there are."""
        n_more = self.n - len(self.first)
        return [*self.first, *([f'… and {n_more:,} more'] if n_more else [])]


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the texts of warnings, which are shown all the same."""
    texts: list[str] = []
    show = warnings.showwarning

    def collect(message: Any, *arguments: Any, **settings: Any) -> None:
        texts.append(str(message))
        show(message, *arguments, **settings)

    warnings.showwarning = collect
    try:
        yield texts
    finally:
        warnings.showwarning = show


class PointColumns:
    """The headers and values of points in lines; with a count of skipped lines where these are."""

    def __init__(self, cutoffs: Sequence[Cutoff], skipped: Skipped | None) -> None:
        means = [f'M{ap_column(k)}' for k in cutoffs]
        last = ['skipped'] if skipped else []
        self.headers = ['hypotheses', *means, 'changed', *last, 'n_queries']
        self._skipped = skipped

    def row(self, point: Point) -> list[Any]:
        last = [self._skipped.n] if self._skipped else []
        means = point.map.tolist()
        return [point.n_hypotheses, *means, point.changed, *last, len(point.queries)]


@contextmanager
def showing_rows(
    columns: PointColumns, format: str, output: Output, rows: Ending
) -> Iterator[Show]:
    """Yield what shows a point: as a line, in a file, or in a table that a terminal shows anew."""
    headers, lines = columns.headers, find_format(POINT_FORMATS, format)
    shown = [lines.heading(headers)]  # from the first row on

    def show_line(point: Point) -> None:
        shown.append(lines.row(headers, columns.row(point)))
        write(''.join(shown), output)
        shown.clear()

    if not isinstance(output, str) and not output.is_stream:
        with RewrittenFile(output, lambda: ''.join(shown)) as file:

            def show_in_file(point: Point) -> None:
                shown.append(lines.row(headers, columns.row(point)))
                file.change()

            yield show_in_file
    elif format == 'table' and isinstance(output, str) and (screen := Screen.on_terminal(headers)):
        rows.before_leaving = screen.give_back_cursor
        with closing(screen):
            yield lambda point: screen.show(columns.row(point))
    else:
        yield show_line


@contextmanager
def showing_page(
    page: WatchPage, output: Destination, rows: Ending, told: Sequence[str], skipped: Skipped
) -> Iterator[Show]:
    """Yield what adds a point to the page in a file."""

    def content() -> str:
        return str(
            page.to_html(notes=[rows.state()], warnings=list(told), skipped=skipped.listed())
        )

    with RewrittenFile(output, content) as file:

        def show(point: Point) -> None:
            page.add(point)
            file.change()

        yield show


class RewrittenFile:
    """A file that a thread writes some time after each change, and that is whole at the end.

    A pipe or device, which keeps all that is written to it, is written to at the end alone.
    """

    def __init__(self, output: Destination, content: Callable[[], str]) -> None:
        self._output = output
        self._content = content
        self._has_content = False
        self._changed = Event()
        self._ended = Event()
        self._error: Exception | None = None
        self._thread = Thread(target=self._write_changes, daemon=True)

    def __enter__(self) -> Self:
        if not self._output.is_stream:
            self._thread.start()
        return self

    def change(self) -> None:
        """Have the file written soon; raise the error if it could not be written."""
        if self._error is not None:
            raise self._error
        self._has_content = True
        self._changed.set()

    def _write_changes(self) -> None:
        try:
            while self._changed.wait() and not self._ended.is_set():
                self._changed.clear()
                write_whole(self._output, self._content(), is_last=False)
                self._ended.wait(SECONDS_BETWEEN_WRITES)
        except Exception as error:
            self._error = error

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._ended.set()
        self._changed.set()
        if self._thread.ident is not None:
            self._thread.join()
        if kind is None and self._has_content:
            write_whole(self._output, self._content())


class Screen:
    """A table on the terminal, of the last rows that were shown."""

    def __init__(self, headers: Sequence[str], console: Console) -> None:
        from rich.live import Live

        self._headers = headers
        self._rows: deque[list[str]] = deque(maxlen=max(1, console.height - LINES_AROUND_ROWS))
        self._live = Live(console=console, redirect_stderr=is_on_terminal())

    @classmethod
    def on_terminal(cls, headers: Sequence[str]) -> Self | None:
        """Return the table if standard output is a terminal that can show it, else None."""
        if sys.stdout is None or not sys.stdout.isatty():
            return None
        from rich.console import Console

        console = Console()
        screen = cls(headers, console)
        unlimited = console.options.update_width(sys.maxsize)
        width = console.measure(screen._table(), options=unlimited).maximum
        fits = width <= console.width and console.height > LINES_AROUND_ROWS
        return screen if console.is_interactive and fits else None

    def show(self, row: Sequence[Any]) -> None:
        self._rows.append(list(map(short, row)))
        self._live.start()  # no sooner: until the first row is there, signals end at once
        self._live.update(self._table())

    def close(self) -> None:
        self._live.stop()

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
