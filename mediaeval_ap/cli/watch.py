"""The command ``watch``, which scores a run as it grows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import EXIT_STATUS
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import STANDARD_STREAM, tell, write
from mediaeval_ap.cli.watch_input import Ending
from mediaeval_ap.cli.watch_screen import Screen
from mediaeval_ap.definitions import ap_column
from mediaeval_ap.errors import FormatError
from mediaeval_ap.progress import hidden
from mediaeval_ap.report.formats import POINT_FORMATS, find_format


@main.command(
    examples=[
        'mediaeval-ap watch reference.txt hypothesis.txt --every 4000 -K 10',
        'head -2000 hypothesis.txt | mediaeval-ap watch reference.txt --format jsonl',
    ],
    exit_status=f'{EXIT_STATUS}; 130: Ctrl-C; 143: SIGTERM',
)
@options.REFERENCE
@options.argument('hypothesis', default=STANDARD_STREAM, metavar='[RUN]')
@options.QUERIES
@options.CRITERIA
@options.integer(
    '--every',
    default=1000,
    heading='Scoring',
    help='Number of new hypotheses after which to score again.',
)
@options.flag('--follow', heading='Input', help='At the end of RUN, wait for more.')
@options.flag(
    '--skip-bad',
    heading='Input',
    help='Report, count and skip wrong lines instead of stopping.',
)
@options.file_format(POINT_FORMATS, 'table')
def watch(
    hypothesis: str,
    queries: str | None,
    every: int,
    follow: bool,
    skip_bad: bool,
    format: str,
    **criteria: Any,
) -> None:
    """Score a run as it grows, after every N hypotheses.

    RUN is standard input by default. Each line of output has the number of hypotheses, MAP
    at each cutoff, and the number of queries that changed since the last line (in jsonl, their
    names). The last line scores all hypotheses so far, even after an error, Ctrl-C or SIGTERM.
    """
    from mediaeval_ap.tables import HYPOTHESIS
    from mediaeval_ap.tables.growing_files import arriving

    average_precision = options.read_reference(**criteria)
    settings = {'follow': follow, 'max_bytes': criteria['max_bytes']}
    n_skipped = 0

    def skip(error: FormatError) -> None:
        nonlocal n_skipped
        n_skipped += 1
        tell(f'Error: {error}')

    if skip_bad:
        settings['on_wrong'] = skip
    rows = Ending(arriving(hypothesis, HYPOTHESIS, **settings))
    means = [f'M{ap_column(k)}' for k in criteria['cutoffs']]
    headers = ['hypotheses', *means, 'changed', *(['skipped'] if skip_bad else [])]
    with rows, hidden(), _showing(headers, format, rows) as show:
        for point in average_precision.watch(rows, queries, every=every):
            row = [point.n_hypotheses, *point.map.tolist(), point.changed]
            show([*row, n_skipped] if skip_bad else row)
    if n_skipped:
        tell(f'skipped {n_skipped} wrong line{"s" if n_skipped > 1 else ""}')
    if rows.error is not None:
        raise rows.error
    if rows.signal:
        sys.exit(128 + rows.signal)


@contextmanager
def _showing(
    headers: list[str], format: str, rows: Ending
) -> Iterator[Callable[[list[Any]], None]]:
    """Yield what shows a row: as a line, or in a table that a terminal shows anew."""
    lines = find_format(POINT_FORMATS, format)
    heading = [lines.heading(headers)]  # until the first row is there

    def show_line(row: list[Any]) -> None:
        write((heading.pop() if heading else '') + lines.row(headers, row))

    if format == 'table' and (screen := Screen.on_terminal(headers)):
        rows.before_leaving = screen.give_back_cursor
        with closing(screen):
            yield screen.show
    else:
        yield show_line
