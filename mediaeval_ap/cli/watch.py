"""The command ``watch``, which scores a run as it grows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import STANDARD_STREAM, check_paths, tell, write
from mediaeval_ap.cli.watch_rows import Ending
from mediaeval_ap.cli.watch_screen import Screen
from mediaeval_ap.definitions import Cutoff, ap_column
from mediaeval_ap.errors import FormatError
from mediaeval_ap.report.formats import POINT_FORMATS, find_format

if TYPE_CHECKING:
    from mediaeval_ap.live import Point


@main.command(
    examples=[
        'mediaeval-ap watch reference.txt run.txt --follow -K 10',
        'my-system | mediaeval-ap watch reference.txt --every 100 --format jsonl',
    ],
    exit_status='0: done; 1: an input is wrong; 2: the command line is wrong; 130: Ctrl-C; '
    '143: SIGTERM',
)
@options.REFERENCE
@click.argument('hypothesis', type=options.FILE, default=STANDARD_STREAM)
@options.QUERIES
@options.CRITERIA
@click.option(
    '--every',
    type=options.RANK,
    default=1000,
    show_default=True,
    metavar='N',
    help='Number of hypotheses after which to score again.',
)
@click.option('--follow', is_flag=True, help='Wait for more at the end of HYPOTHESIS.')
@click.option('--skip-bad', is_flag=True, help='Report and count wrong lines, and go on.')
@options.choice('--format', POINT_FORMATS, 'table', 'Output format.')
def watch(
    hypothesis: str,
    queries: str | None,
    every: int,
    follow: bool,
    skip_bad: bool,
    format: str,
    **criteria: Any,
) -> None:
    """Score a run as it grows, each time that N hypotheses came.

    HYPOTHESIS is standard input by default. A line holds the number of hypotheses, MAP at each
    cutoff, and how many queries changed since the line before (with jsonl, which). The last line is
    for all hypotheses, also before an error, or after Ctrl-C or SIGTERM.
    """
    from mediaeval_ap.tables import HYPOTHESIS
    from mediaeval_ap.tables.streaming import arriving

    check_paths([criteria['reference'], hypothesis, queries, criteria['subset']])
    average_precision = options.read_reference(**criteria)
    skipped = _Skipped(skip_bad)
    rows = Ending(
        arriving(
            hypothesis,
            HYPOTHESIS,
            follow=follow,
            on_wrong=skipped.add,
            max_bytes=criteria['max_bytes'],
        )
    )
    with rows, _showing(_headers(criteria['cutoffs'], skipped), format, rows) as show:
        for point in average_precision.watch(rows, queries, every=every):
            show(_row(point, skipped))
    if skipped.count:
        plural = 's' if skipped.count > 1 else ''
        tell(f'skipped {skipped.count} wrong line{plural}')
    if rows.error is not None:
        raise rows.error
    if rows.signal:
        sys.exit(128 + rows.signal)


class _Skipped:
    """Wrong lines: an error or, where allowed, reported and counted."""

    def __init__(self, allowed: bool) -> None:
        self.allowed = allowed
        self.count = 0

    def add(self, error: FormatError) -> None:
        if not self.allowed:
            raise error
        self.count += 1
        tell(f'Error: {error}')


def _headers(cutoffs: list[Cutoff], skipped: _Skipped) -> list[str]:
    means = (f'M{ap_column(k)}' for k in cutoffs)
    return ['hypotheses', *means, 'changed', *(['skipped'] if skipped.allowed else [])]


def _row(point: Point, skipped: _Skipped) -> list[Any]:
    n_skipped = [skipped.count] if skipped.allowed else []
    return [point.n_hypotheses, *point.map.tolist(), point.changed, *n_skipped]


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
        with screen:
            yield screen.show
    else:
        yield show_line
