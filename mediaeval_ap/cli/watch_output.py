"""Output of the points of a growing run: lines, a table on the terminal, a file, a page."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from mediaeval_ap.atomic_files import Destination
from mediaeval_ap.cli.output import Output, tell, write
from mediaeval_ap.cli.rewritten_file import RewrittenFile
from mediaeval_ap.cli.watch_input import Ending
from mediaeval_ap.cli.watch_screen import Screen
from mediaeval_ap.definitions import Cutoff, ap_column
from mediaeval_ap.errors import FormatError
from mediaeval_ap.render.formats import POINT_FORMATS, find_format

if TYPE_CHECKING:
    from mediaeval_ap.live import Point, WatchPage

Show = Callable[['Point'], None]
LISTED = 100  # skipped lines on a page; a choice: enough to see what is wrong with the run


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

    def tell(self) -> None:
        if self.n:
            tell(f'skipped {self.n} wrong line{"s" if self.n > 1 else ""}')


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


class Columns:
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
def showing_rows(columns: Columns, format: str, output: Output, rows: Ending) -> Iterator[Show]:
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
        notes = [_state_of(rows)]
        text = page.to_html(notes=notes, warnings=list(told), skipped=skipped.listed())
        assert text is not None
        return text

    with RewrittenFile(output, content) as file:

        def show(point: Point) -> None:
            page.add(point)
            file.change()

        yield show


def _state_of(rows: Ending) -> str:
    if rows.error is not None:
        return f'The run ended with an error: {rows.error}'
    if rows.signal:
        return 'The command was interrupted here: the run may have grown further.'
    if rows.has_ended:
        return 'The run has ended, and all of it is scored.'
    return 'The run was growing when this page was written: load the page again for newer points.'
