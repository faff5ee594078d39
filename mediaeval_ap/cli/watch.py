"""The command ``watch``, which scores a run as it grows."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any

import click

from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import EXIT_STATUS
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import STANDARD_STREAM, Output
from mediaeval_ap.cli.watch_input import Ending, arriving_of
from mediaeval_ap.cli.watch_output import Columns, Skipped, collected, showing_page, showing_rows
from mediaeval_ap.progress import hidden
from mediaeval_ap.render.formats import POINT_FORMATS

HTML = 'html'


@main.command(
    examples=[
        'mediaeval-ap watch reference.txt hypothesis.txt --every 4000 -o watch.html',
        'head -2000 hypothesis.txt | mediaeval-ap watch reference.txt --format jsonl',
    ],
    exit_status=f'{EXIT_STATUS}; 130: Ctrl-C; 143: SIGTERM',
)
@options.REFERENCE
@options.argument('hypothesis', default=STANDARD_STREAM, metavar='[RUN]')
@options.QUERIES
@options.CRITERIA
@options.QUERIES_WITHOUT_RELEVANT
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
@options.file_format([*POINT_FORMATS, HTML])
@options.OUTPUT
def watch(
    hypothesis: str,
    queries: str | None,
    every: int,
    follow: bool,
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
    look again for the newest. In html, it is a page with a figure, and with the names of queries
    that changed.
    """
    from mediaeval_ap.live import WatchPage

    if format == HTML and isinstance(output, str):
        raise click.UsageError('--format html: found no output file, expected -o FILE')
    skipped = Skipped()
    settings = {'follow': follow, 'max_bytes': criteria['max_bytes']}
    if skip_bad:
        settings['on_wrong'] = skipped.add
    with collected() as told, ExitStack() as ending, hidden():
        average_precision = options.read_reference(**criteria)
        arrived = arriving_of(average_precision, hypothesis, **settings)
        rows = ending.enter_context(Ending(arrived))
        if format == HTML:
            assert not isinstance(output, str)
            name = '<stdin>' if hypothesis == STANDARD_STREAM else hypothesis
            page = WatchPage(average_precision, name)
            showing = showing_page(page, output, rows, told, skipped)
        else:
            columns = Columns(criteria['cutoffs'], skipped if skip_bad else None)
            showing = showing_rows(columns, format, output, rows)
        with showing as show:
            for point in average_precision.watch(rows, queries, every=every):
                show(point)
    skipped.tell()
    if rows.error is not None:
        raise rows.error
    if rows.signal:
        sys.exit(128 + rows.signal)
