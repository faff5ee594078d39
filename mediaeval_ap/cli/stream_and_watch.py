"""Commands that answer as lines arrive: ``stream`` names, ``watch`` hypotheses."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import EXIT_STATUS, main
from mediaeval_ap.cli.growing_run import (
    Ending,
    PointColumns,
    Skipped,
    collected,
    showing_page,
    showing_rows,
)
from mediaeval_ap.cli.output import (
    FILE,
    STANDARD_STREAM,
    Output,
    check_paths,
    paths_of,
    tell,
    write,
)
from mediaeval_ap.definitions import ap_column
from mediaeval_ap.errors import DataWarning, Error, FormatError
from mediaeval_ap.progress import hidden
from mediaeval_ap.render.formats import ANSWER_FORMATS, POINT_FORMATS, find_format

if TYPE_CHECKING:
    from mediaeval_ap.average_precision import AveragePrecision


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
    check_paths([STANDARD_STREAM, *paths_of(click.get_current_context(), FILE)], [])
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
@options.argument('hypothesis', default=STANDARD_STREAM, metavar='[RUN]')
@options.QUERIES
@options.CRITERIA
@options.QUERIES_WITHOUT_RELEVANT
@options.integer(
    '--every', default=1000, help='Number of new hypotheses after which to score again.'
)
@options.flag('--follow', help='At the end of RUN, wait for more.')
@options.flag('--skip-bad', help='Report, count and skip wrong lines instead of stopping.')
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
        arrived = _arriving(average_precision, hypothesis, **settings)
        rows = ending.enter_context(Ending(arrived))
        if format == HTML:
            assert not isinstance(output, str)
            name = '<stdin>' if hypothesis == STANDARD_STREAM else hypothesis
            page = WatchPage(average_precision, name)
            showing = showing_page(page, output, rows, told, skipped)
        else:
            columns = PointColumns(criteria['cutoffs'], skipped if skip_bad else None)
            showing = showing_rows(columns, format, output, rows)
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
