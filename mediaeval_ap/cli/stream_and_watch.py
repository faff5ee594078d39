"""Commands that answer as lines arrive: ``stream`` names, ``watch`` hypotheses."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from queue import Empty, Queue
from threading import Event, Thread
from types import FrameType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import click

from mediaeval_ap.atomic_files import Destination, write_whole
from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import EXIT_STATUS, main
from mediaeval_ap.cli.output import (
    STANDARD_STREAM,
    Output,
    check_paths,
    is_on_terminal,
    tell,
    tell_held,
    write,
)
from mediaeval_ap.definitions import Cutoff, ap_column
from mediaeval_ap.errors import DataWarning, Error, FormatError
from mediaeval_ap.platforms import LONGEST_WAIT
from mediaeval_ap.progress import hidden
from mediaeval_ap.render.formats import ANSWER_FORMATS, POINT_FORMATS, find_format, short

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from mediaeval_ap.average_precision import AveragePrecision
    from mediaeval_ap.live import Point


@main.command(
    examples=[
        'mediaeval-ap stream reference.txt hypothesis.txt < queries.txt',
        'echo alain_juppe | mediaeval-ap stream reference.txt hypothesis.txt --format jsonl',
    ]
)
@options.REFERENCE
@options.RUN
@options.CRITERIA
@options.file_format(ANSWER_FORMATS, note='  [default: table on a terminal, else tsv]')
def stream(hypothesis: str, format: str | None, **criteria: Any) -> None:
    """Score names from standard input, each as it arrives.

    Each line of output has, in tsv, the name, its number of relevant shots, and AP at each cutoff.
    A line that is not a name (an empty one, say) is answered with an error in its place.
    """
    check_paths(click.get_current_context(), STANDARD_STREAM)
    from mediaeval_ap.tables import QUERIES, parse_line
    from mediaeval_ap.tables.reading import lines_of_standard_input

    if format is None:
        format = 'table' if sys.stdout is not None and sys.stdout.isatty() else 'tsv'
    answers = find_format(ANSWER_FORMATS, format)
    headers = ['query', 'n_relevant', *map(ap_column, criteria['cutoffs'])]
    average_precision = options.read_reference(**criteria)
    n_refused = 0
    with average_precision(hypothesis) as session:
        if heading := answers.heading(headers):
            write(heading)
        for number, line in lines_of_standard_input():
            try:
                fields = parse_line(line, QUERIES, '<stdin>', number)
                if fields is None:
                    raise FormatError('<stdin>', f'line {number}', '', 'an empty line', 'a name')
                (query,) = fields
                ap, n_relevant = session.send(query)
                answer = answers.row(headers, [query, n_relevant, *ap])
            except (Error, DataWarning) as error:
                text = line.rstrip(b'\r\n').decode(errors='backslashreplace')
                answer = answers.error(text, str(error))
                n_refused += 1
            write(answer)
    if n_refused:
        tell(f'Error: <stdin>: {n_refused} of {number} lines are not names')
        sys.exit(1)


HTML = 'html'


@main.command(
    examples=[
        'mediaeval-ap watch reference.txt hypothesis.txt --every 4000 -o watch.html',
        'head -2000 hypothesis.txt | mediaeval-ap watch reference.txt --format jsonl',
    ],
    exit_status=f'{EXIT_STATUS}; 130: Ctrl-C; 143: SIGTERM',
)
@options.REFERENCE
@options.run_argument('hypothesis', default=STANDARD_STREAM, metavar='[RUN]')
@options.SCORING
@options.integer(
    '--every', default=1000, help='New hypotheses (of SUBSET) after which to score again.'
)
@options.flag('--follow', help='At the end of RUN, wait for more.')
@options.input_file(
    '--follow-reference', 'Rows that come to REFERENCE while RUN is scored; wait for more.'
)
@options.flag('--skip-bad', help='Report, count and skip wrong lines instead of stopping.')
@options.file_format([*POINT_FORMATS, HTML])
@options.OUTPUT
def watch(
    hypothesis: str,
    queries: str | None,
    every: int,
    follow: bool,
    follow_reference: str | None,
    skip_bad: bool,
    format: str,
    output: Output,
    **criteria: Any,
) -> None:
    """Score a run as it grows, after every N hypotheses.

    RUN is standard input by default. Each line of output has the number of hypotheses, MAP at each
    cutoff, the number of queries that changed since the last line (in jsonl, their names), and the
    number of queries that MAP is over. The last line scores all hypotheses so far, even after an
    error, Ctrl-C or SIGTERM. With --output, FILE is replaced every few seconds while the run grows:
    look again for the newest. In html, it is a page that a browser loads again by itself, with a
    figure, all queries, and the names of those that changed.

    With --follow-reference, each line is scored by the reference of its moment: REFERENCE, which
    may be empty or the same file, and the rows that have come so far.
    """
    from mediaeval_ap.live import WatchPage

    if format == HTML and follow_reference is not None and queries is None:
        raise click.UsageError('--format html: --follow-reference needs --queries FILE beside it')
    if format == HTML and isinstance(output, str):
        raise click.UsageError('--format html: found no output file, expected -o FILE')
    skipped = Skipped()
    settings = {'follow': follow, 'max_bytes': criteria['max_bytes']}
    if skip_bad:
        settings['on_wrong'] = skipped.add
    with collected() as told, ExitStack() as ending, hidden():
        average_precision, arrived = _begun(hypothesis, follow_reference, settings, criteria)
        rows = ending.enter_context(Ending(arrived))
        if format == HTML:
            assert not isinstance(output, str)
            (name,) = options.names_of([hypothesis])
            page = WatchPage(average_precision, name)

            def content() -> str:
                reload = SECONDS_BETWEEN_RELOADS if rows.grows() else None
                notes, listed = [rows.state()], skipped.listed()
                text = page.to_html(notes=notes, warnings=told, skipped=listed, reload=reload)
                return str(text)

            showing = showing_in_file(output, page.add, content)
        else:
            counted = skipped if skip_bad else None
            judges = follow_reference is not None
            showing = showing_rows(criteria['cutoffs'], counted, judges, format, output, rows)
        with showing as show:
            for point in average_precision.watch(rows, queries, every=every):
                show(point)
    if skipped.n:
        tell(f'skipped {skipped.n} wrong line{"s" if skipped.n > 1 else ""}')
    if rows.error is not None:
        raise rows.error
    if rows.signal:
        sys.exit(128 + rows.signal)


def _arriving(
    average_precision: AveragePrecision, run: str, **settings: Any
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a run as they come; those of a store in the order of its places."""
    from mediaeval_ap.tables import HYPOTHESIS
    from mediaeval_ap.tables.reading import arriving

    criteria = average_precision._criteria
    if not settings['follow'] and (store := criteria.open_run(run)) is not None:
        yield from store.ranking.table.rows()
    else:
        yield from arriving(run, HYPOTHESIS, **settings)


def _begun(
    run: str, follow_reference: str | None, settings: dict[str, Any], criteria: dict[str, Any]
) -> tuple[AveragePrecision, Iterator[Any]]:
    """Return the evaluator to begin with, and what comes: rows of the run, and of the reference."""
    if (path := follow_reference) is None:
        average_precision = options.read_reference(**criteria)
        return average_precision, _arriving(average_precision, run, **settings)
    from mediaeval_ap.tables import REFERENCE, Source, Table
    from mediaeval_ap.tables.reading import arriving, read_one_of

    reference = criteria.pop('reference')
    is_same = os.path.exists(path) and os.path.exists(reference)
    if is_same and os.path.samefile(path, reference):  # all of it will come
        table = Table.empty(REFERENCE, Source(reference))
    else:
        table = read_one_of(reference, [REFERENCE], max_bytes=criteria['max_bytes'])
    average_precision = options.read_reference(reference=table, **criteria)
    judged = arriving(path, REFERENCE, **{**settings, 'follow': True})
    return average_precision, together(_arriving(average_precision, run, **settings), judged)


# Whether a row is of the reference, and the row; at the end none, and the error that ended it.
Came: TypeAlias = tuple[bool, Any, Exception | None]


def together(run: Iterator[tuple[Any, ...]], reference: Iterator[tuple[Any, ...]]) -> Iterator[Any]:
    """Yield the rows of a run as they come, and among them, together, what is judged meanwhile."""
    from mediaeval_ap.live.watching import JudgedRows

    arrived: Queue[Came] = Queue(ROWS_AHEAD)
    for each in (False, run), (True, reference):
        Thread(target=_put, args=(arrived, *each), daemon=True).start()
    n_open, next_one = 2, None
    while n_open:
        is_judged, row, error = next_one or _next(arrived)
        next_one = None
        if error is not None:
            raise error
        if row is None:
            n_open -= 1
            if n_open and not is_judged:
                yield JudgedRows([])  # so that all of the run is shown now
        elif is_judged:
            rows, next_one = _judged_by_now(row, arrived)
            yield JudgedRows(rows)
        else:
            yield row


def _put(arrived: Queue[Came], is_judged: bool, rows: Iterator[tuple[Any, ...]]) -> None:
    error = None
    try:
        for row in rows:
            arrived.put((is_judged, row, None))
    except Exception as raised:
        error = raised
    arrived.put((is_judged, None, error))


def _next(arrived: Queue[Came]) -> Came:
    while True:
        with suppress(Empty):
            return arrived.get(timeout=LONGEST_WAIT)


def _judged_by_now(first: Any, arrived: Queue[Came]) -> tuple[list[Any], Came | None]:
    """Return a row and those judged behind it that wait already, and what else comes next."""
    rows = [first]
    with suppress(Empty):
        while True:
            came = arrived.get_nowait()
            if not came[0] or came[1] is None:
                return rows, came
            rows.append(came[1])
    return rows, None


ROWS_AHEAD = 10_000  # that were read and wait to be scored
Show = Callable[['Point'], None]
# After these the last point is shown; after SIGHUP nobody would see it. Each system lacks some.
LAST_POINT = [
    getattr(signal, name)
    for name in ('SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGBREAK')
    if hasattr(signal, name)
]
LISTED = 100  # skipped lines on a page: enough to see what is wrong with the run
SECONDS_BETWEEN_WRITES, SECONDS_BETWEEN_RELOADS = 2, 5  # of a file, and of a page in a browser
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
            # Before the first row, there is nothing to score, and a signal ends as it always does.
            for number in LAST_POINT if is_first else ():
                handler = signal.getsignal(number)
                if callable(handler):  # neither ignored nor left to the system
                    self._before[number] = handler
                    signal.signal(number, self._end)
            is_first = False
            yield row

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self.signal:  # the second ends at once
            self.before_leaving()
            self._before[number](number, frame)
        self.signal = number
        if self._waiting:
            raise KeyboardInterrupt

    def grows(self) -> bool:
        """Return whether more rows may come."""
        return self.error is None and not self.signal and not self.has_ended

    def state(self) -> str:
        """Say in a sentence how far the run is read."""
        if self.error is not None:
            return f'The run ended with an error: {self.error}'
        if self.signal:
            return 'The command was interrupted here: the run may have grown further.'
        if self.has_ended:
            return 'The run has ended, and all of it is scored.'
        return 'The run was growing when this page was written.'


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
    with warnings.catch_warnings():  # restores what shows them
        show = warnings.showwarning

        def collect(message: Any, *arguments: Any, **settings: Any) -> None:
            texts.append(str(message))
            show(message, *arguments, **settings)
            tell_held()  # as the end may be far

        warnings.showwarning = collect
        yield texts


@contextmanager
def showing_rows(
    cutoffs: Sequence[Cutoff],
    skipped: Skipped | None,
    judges: bool,
    format: str,
    output: Output,
    rows: Ending,
) -> Iterator[Show]:
    """Yield what shows a point: as a line, in a file, or in a table that a terminal shows anew."""
    means = [f'M{ap_column(k)}' for k in cutoffs]
    grown = ['hypotheses', *(['reference_rows'] if judges else [])]
    headers = [*grown, *means, 'changed', *(['skipped'] if skipped else []), 'n_queries']
    lines = find_format(POINT_FORMATS, format)
    shown = [lines.heading(headers)]  # from the first row on

    def row(point: Point) -> list[Any]:
        sizes = [point.n_hypotheses, *([point.n_reference] if judges else [])]
        values = [*sizes, *point.map.tolist(), point.changed]
        return [*values, *([skipped.n] if skipped else []), len(point.queries)]

    def add(point: Point) -> None:
        shown.append(lines.row(headers, row(point)))

    def show_line(point: Point) -> None:
        add(point)
        write(''.join(shown), output)
        shown.clear()

    if not isinstance(output, str) and not output.is_stream:
        with showing_in_file(output, add, lambda: ''.join(shown)) as show:
            yield show
    elif format == 'table' and isinstance(output, str) and (screen := Screen.on_terminal(headers)):
        rows.before_leaving = screen.give_back_cursor
        with closing(screen):
            yield lambda point: screen.show(row(point))
    else:
        yield show_line


@contextmanager
def showing_in_file(output: Destination, add: Show, content: Callable[[], str]) -> Iterator[Show]:
    """Yield what adds a point to the content of a file."""
    with RewrittenFile(output, content) as file:

        def show(point: Point) -> None:
            add(point)
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
