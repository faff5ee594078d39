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
from mediaeval_ap.errors import printable, require

if TYPE_CHECKING:
    from mediaeval_ap.campaign_report.campaign_report import CampaignReport

FIGURES = (
    *('leaderboard', 'loss', 'map_by_k', 'scatter', 'distribution', 'precision_recall'),
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
@options.cutoff(
    None, 'Cutoff whose loss is split; "all" means no cutoff.  [default: 100, or the last of -K]'
)
@options.NEAR
@procedure_options('tukey')
@options.LIMITS
@options.choice(
    '--figure', FIGURES, None, 'Write one figure instead of the page: {words}.', 'Output'
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
    format: str,
    output: Output,
    **settings: Any,
) -> None:
    """Write a page about the runs of a campaign.

    It says who leads and whether the data tell the runs apart, where each run lost precision, and
    shows every query. The page is one file, which requests nothing from elsewhere.
    """
    format = _checked_format(figure, format, output)
    named_runs(runs, settings['baseline'])
    for module in ('altair', 'vl_convert') if figure else ('altair', 'jinja2', 'vl_convert'):
        require(module, 'report', 'report')
    criteria = ('reference', 'subset', 'cutoffs', 'definition', 'max_bytes')
    average_precision = options.read_reference(**{name: settings.pop(name) for name in criteria})
    made = average_precision.report(runs, queries, k=cutoff, near=near, **settings)
    if figure is None:
        write(str(made.to_html()), output)
    else:
        _write_figure(made, figure, format, output)


def _checked_format(figure: str | None, format: str, output: Output) -> str:
    """Return the format, which must be one of the page or the figure, and fit the output."""
    path = os.fspath(output)
    if format == 'table':  # neither an option nor a suffix says it
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


def _write_figure(report: CampaignReport, figure: str, format: str, output: Output) -> None:
    from mediaeval_ap.report.vega import to_bytes, to_svg

    best, *others = report.comparison.runs
    runs = (best, others[0] if others else best) if figure == 'scatter' else ()
    chart = getattr(report.plot, figure)(*runs)
    if format == 'svg':
        write(to_svg(chart), output)
    else:
        write_whole(output, to_bytes(chart, format))
