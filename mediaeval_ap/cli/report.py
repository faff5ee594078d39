"""The command ``report``, which writes the page of a campaign, or one of its figures."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap.atomic_files import COMPRESSED_SUFFIXES, write_whole
from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import NEW_FILE, STANDARD_STREAM, Output, write
from mediaeval_ap.cli.procedure import named_runs, procedure_options
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.errors import printable, require, shown

if TYPE_CHECKING:
    from altair import TopLevelMixin

    from mediaeval_ap.campaign.campaign_report import CampaignReport

FIGURES = (
    'leaderboard',
    'loss',
    'map_by_k',
    'scatter',
    'distribution',
    'precision_recall',
    'confused',
)
PAGE = 'html'
OF_FIGURES = ('svg', 'png', 'pdf')


@main.command(
    examples=[
        "awk '$5 >= 0.5' hypothesis.txt > sure.txt && mediaeval-ap report reference.txt "
        'hypothesis.txt sure.txt --queries queries.txt -o report.html',
        'mediaeval-ap report reference.txt hypothesis.txt --queries queries.txt --figure loss '
        '-o loss.svg',
    ]
)
@options.REFERENCE
@options.RUNS
@options.QUERIES
@options.SUBSET
@options.CUTOFFS
@options.DEFINITION
@options.QUERIES_WITHOUT_RELEVANT
@options.cutoff(
    None, 'Cutoff whose loss is split; "all" means no cutoff.  [default: 100, or the last of -K]'
)
@options.NEAR
@procedure_options()
@options.LIMITS
@options.choice(
    '--figure',
    FIGURES,
    None,
    'Write one figure instead of the page: {words}. Those of AP are at the last of -K; scatter '
    'draws the two best runs (give two to choose them).',
    'Output',
)
@options.option(
    '--query',
    heading='Output',
    metavar='NAME',
    help='Query that precision_recall draws.  [default: the first with a relevant shot]',
)
@options.file_format([PAGE, *OF_FIGURES], note='  [default: by the suffix of the output]')
@options.option(
    *('-o', '--output'),
    heading='Output',
    type=NEW_FILE,
    metavar='FILE',
    required=True,
    help='File to write (atomically); - is standard output, for html and svg.',
)
def report(
    runs: tuple[str, ...],
    queries: str | None,
    cutoff: Cutoff | None,
    near: float,
    figure: str | None,
    query: str | None,
    format: str,
    output: Output,
    **settings: Any,
) -> None:
    """Write a page about the runs of a campaign.

    It says who leads and whether the data tell the runs apart, where each run lost precision, and
    shows every query. The page is one file, which requests nothing from elsewhere.
    """
    format = _checked_format(figure, format, output)
    if query is not None and figure != 'precision_recall':
        raise click.UsageError('--query is of the figure precision_recall: give --figure, too')
    if figure == 'scatter' and len(runs) == 1:
        raise click.UsageError('--figure scatter: found one run, expected two or more')
    named_runs(runs, settings['baseline'])
    _require_libraries(figure)
    criteria = ('reference', 'subset', 'cutoffs', 'definition', 'max_bytes')
    given = {name: settings.pop(name) for name in (*criteria, 'queries_without_relevant')}
    average_precision = options.read_reference(**given)
    made = average_precision.report(runs, queries, k=cutoff, near=near, **settings)
    if figure is None:
        write(str(made.to_html()), output)
    else:
        _write_chart(_chart(made, figure, query), format, output)


def _require_libraries(figure: str | None) -> None:
    """Miss what is not installed before anything is read."""
    of_figures = ('altair', 'vl_convert')
    for module in ('scipy', 'statsmodels', *of_figures, *(() if figure else ('jinja2',))):
        require(module, 'insight,report', 'report')


def _checked_format(figure: str | None, format: str, output: Output) -> str:
    """Return the format, which must be one of the page or the figure, and fit the output."""
    path = os.fspath(output)
    if format == 'table':  # neither an option nor a suffix says it
        if path != STANDARD_STREAM:
            expected = ', '.join(f'.{each}' for each in (PAGE, *OF_FIGURES))
            raise click.UsageError(
                f'-o: found {shown(path)}, expected a name that ends in {expected}, or --format'
            )
        format = PAGE if figure is None else OF_FIGURES[0]
    if figure is None and format != PAGE:
        names = ', '.join(FIGURES)
        raise click.UsageError(f'--format {format} is of a figure: give --figure, one of {names}')
    if figure is not None and format == PAGE:
        expected = ', '.join(OF_FIGURES)
        raise click.UsageError(f'--figure: found the format {PAGE}, expected one of {expected}')
    is_text = format in (PAGE, 'svg')
    if path == STANDARD_STREAM and not is_text:
        raise click.UsageError(f'--format {format} is not text: give a file, -o FILE')
    if os.path.splitext(path)[1].lower() in COMPRESSED_SUFFIXES and not is_text:
        raise click.UsageError(f'-o: {printable(path)}: {format} is compressed already')
    return format


def _chart(report: CampaignReport, figure: str, query: str | None) -> TopLevelMixin:
    plot, runs = report.plot, report.comparison.runs
    if figure == 'scatter':
        return plot.scatter(runs[0], runs[1])
    if figure == 'precision_recall':
        return plot.precision_recall(query)
    chart: TopLevelMixin = getattr(plot, figure)()
    return chart


def _write_chart(chart: TopLevelMixin, format: str, output: Output) -> None:
    from mediaeval_ap.render.page import to_bytes, to_svg

    if format == 'svg':
        write(to_svg(chart), output)
    else:
        write_whole(output, to_bytes(chart, format))
