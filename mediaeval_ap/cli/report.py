"""The command ``report``: a page, or figures, about the runs of a campaign."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap import choices
from mediaeval_ap.atomic_files import COMPRESSED_SUFFIXES
from mediaeval_ap.cli import option_kinds, options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.compared_files import (
    CRITERIA_NAMES,
    ComparedFiles,
    by_seed,
    check_nothing_to_score,
    comparison_options,
    read_result_files,
    sort_files,
)
from mediaeval_ap.cli.output import (
    NEW_FILE_OR_FOLDER,
    STANDARD_STREAM,
    Output,
    check_can_be_binary,
    tell,
    write,
    write_figure,
)
from mediaeval_ap.cli.run_files import RunFile, runs_by_name, teams_by_run
from mediaeval_ap.errors import FormatError, printable, require, shown
from mediaeval_ap.progress import tracked
from mediaeval_ap.render.plot import FIGURE_FORMATS, write_figures

if TYPE_CHECKING:
    from mediaeval_ap.campaign.campaign_report import CampaignReport
    from mediaeval_ap.comparison.comparison_plot import ComparisonPlot

FIGURES = tuple('leaderboard loss map_by_k scatter distribution precision_recall confused'.split())
FIGURES_WITHOUT_RANKINGS = ('leaderboard', 'map_by_k', 'scatter', 'distribution')
SCORE_TABLE_OPTIONS = '--macro --columns --where --systems --range --lower-is-better'.split()
PAGE_FORMAT = 'html'
ALL_FIGURES = 'all'


def _read_figures(value: str) -> list[str]:
    """Return the names of figures; an empty list means all that can be drawn."""
    if value == ALL_FIGURES:
        return []
    names = dict.fromkeys(value.split(','))
    return [choices.check_policy('figure', name, FIGURES) for name in names]


def _read_links(values: tuple[str, ...]) -> dict[str, str]:
    from mediaeval_ap.render.page import check_links

    links: dict[str, str] = {}
    for value in values:
        text, _, url = value.partition('=')
        if value.lower().startswith(('http:', 'https:', 'mailto:')):
            text = url = value
        if text in links:
            raise click.BadParameter(f'found {shown(text)} twice, expected each link once')
        links[text] = url
    return check_links(links)


def _read_markdown(path: str) -> str:
    from mediaeval_ap.tables.sources import ByteSource

    source = ByteSource(path)
    with source.open() as stream:
        content = stream.read()
    try:
        return content.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        line = f'line {content.count(10, 0, error.start) + 1}'
        actual = 'bytes that are not UTF-8'
        raise FormatError(source.name, line, '', actual, expected='Markdown') from None


@main.command(
    'report',
    examples=[
        "awk '$5 >= 0.5' hypothesis.txt > sure.txt && mediaeval-ap report reference.txt "
        'hypothesis.txt sure.txt --queries queries.txt -o report.html',
        'mediaeval-ap report reference.txt hypothesis.txt --queries queries.txt --figure all '
        '-o figures',
    ],
    advanced='--columns --systems --missing --unknown --ties --by',
)
@option_kinds.run_file_argument('reference', metavar='REFERENCE')
@options.optional_named_runs
@options.judged_scoring_options
@options.near_option
@comparison_options
@option_kinds.unmatched_ids('Items or topics', 'a run', 'QRELS')
@options.trec_options
@option_kinds.flag(
    '--keep-going',
    help='Leave out runs with errors, and name them on the page; the exit status is 1.',
)
@option_kinds.flag(
    '--hide-labels',
    help='Make the page from means and values by query alone, of AP or nDCG above cutoff 1, while '
    'REFERENCE is secret.',
)
@option_kinds.option('--title', metavar='TEXT', help='Title of the page.')
@option_kinds.input_file('--intro', 'Markdown to show below the title.')
@option_kinds.option(
    '--link',
    'links',
    metavar='TEXT=URL',
    multiple=True,
    read=_read_links,
    help='Link below the title, such as Task=https://example.org, or a URL alone. Can be repeated.',
)
@option_kinds.option(
    '--figure',
    'figures',
    metavar='NAME,...',
    read=_read_figures,
    help=f'Write figures instead of the page: {", ".join(FIGURES)}, or all.',
)
@option_kinds.option(
    '--query',
    metavar='NAME',
    help='Query of the figure precision_recall.  [default: where the two best runs differ most, of '
    'those with 3 relevant shots]',
)
@option_kinds.file_format([PAGE_FORMAT, *FIGURE_FORMATS], note='  [default: by the suffix of -o]')
@option_kinds.output(
    'File to write, or - for standard output (html, svg); a folder for several figures.',
    required=True,
    type=NEW_FILE_OR_FOLDER,
)
def report_command(
    reference: RunFile,
    runs: Sequence[RunFile],
    names: str | None,
    title: str | None,
    intro: str | None,
    links: dict[str, str],
    figures: list[str] | None,
    query: str | None,
    format: str,
    output: Output,
    keep_going: bool,
    hide_labels: bool,
    **settings: Any,
) -> None:
    """Write a page about the runs of a campaign.

    It shows who leads, which runs differ significantly, where each run lost precision, and every
    query. The page is one file that loads nothing from elsewhere. In place of REFERENCE and RUNs it
    takes qrels and runs of TREC; or results or score tables, as compare does: then it shows no
    rankings and no loss.
    """
    format = _check_format(figures, format, output)
    wanted_figures = () if figures is None else figures or FIGURES
    has_page_options = title is not None or intro is not None or bool(links)
    _check_page_or_figures(wanted_figures, query, has_page_options)
    if title is not None and not choices.is_text(title):
        raise click.UsageError(f'--title: found {shown(title)}, expected {choices.TEXT}')
    files = sort_files(reference, runs, names, settings['columns'])
    _check_files(files, figures or (), settings['baseline'], hide_labels)
    if hide_labels and keep_going:
        raise click.UsageError('--keep-going needs the whole page: leave out --hide-labels')
    modules = ['scipy', 'altair', 'vl_convert']
    if not wanted_figures:
        modules += ['jinja2', 'markdown_it']
    for module in tracked(modules, 'loading libraries', ''):  # before anything is read
        require(module, 'report', 'report')
    introduction = '' if intro is None else _read_markdown(intro)
    criteria = {name: settings.pop(name) for name in (*CRITERIA_NAMES, *options.TREC_SETTINGS)}
    about_rankings = {name: settings.pop(name) for name in ('queries', 'near')}
    report: Any
    results: Any = None
    if files.reference is None:
        settings['missing'] = criteria['missing']
        results = files.score_tables or by_seed(*read_result_files(files.results))
    else:
        evaluator: Any = options.read_reference_or_qrels(files.reference, files.runs, **criteria)
        if hide_labels:
            named_runs = tracked(runs_by_name(files.runs, None).items(), 'scoring', ' runs')
            queries = about_rankings['queries']
            results = {name: evaluator.evaluate(run, queries) for name, run in named_runs}
    if results is None:
        report = _report_on_runs(evaluator, files.runs, keep_going, settings | about_rankings)
    else:
        from mediaeval_ap.comparison.comparison import compare

        report = compare(results, hide_labels=hide_labels, **settings)
    if figures is None:
        write(str(report.to_html(title=title, intro=introduction, links=links)), output)
    else:
        _write_figure_files(report.plot, figures, query, format=format, output=output)
    if keep_going and report.missing:
        sys.exit(1)


def _report_on_runs(
    evaluator: Any, runs: Sequence[RunFile], keep_going: bool, settings: dict[str, Any]
) -> CampaignReport:
    """Score, diagnose and compare runs; tell the error of each run that is left out."""
    named_runs = runs_by_name(runs, settings['baseline'])
    for option in SCORE_TABLE_OPTIONS:
        settings.pop(option.removeprefix('--').replace('-', '_'), None)
    report: CampaignReport = evaluator.report(
        named_runs, teams=teams_by_run(named_runs), keep_going=keep_going, **settings
    )
    for error in report.missing.values():
        tell(f'Error: {error}')
    return report


def _check_page_or_figures(
    figures: Sequence[str], query: str | None, has_page_options: bool
) -> None:
    """Raise UsageError for options of the page with --figure, or --query without its figure."""
    if query is not None and 'precision_recall' not in figures:
        raise click.UsageError('--query is for the figure precision_recall: give --figure, too')
    if figures and has_page_options:
        raise click.UsageError('--title, --intro and --link are for the page: leave out --figure')


def _check_files(
    files: ComparedFiles, figures: Sequence[str], baseline: str | None, hide_labels: bool
) -> None:
    """Raise UsageError for options, figures and names that do not go with the files."""
    kind = 'score tables' if files.score_tables else 'results'
    wrong_figures = [name for name in figures if name not in FIGURES_WITHOUT_RANKINGS]
    if wrong_figures and (files.reference is None or hide_labels):
        actual = '--hide-labels' if hide_labels else kind
        raise click.UsageError(f'--figure {wrong_figures[0]} needs rankings: found {actual}')
    if files.reference is None:
        check_nothing_to_score(kind)
        runs_by_name(files.score_tables or files.results, None)
        return
    if files.results:
        raise click.UsageError(
            f'{shown(files.results[0])} holds results, but other arguments are runs'
        )
    options.check_not_typed(SCORE_TABLE_OPTIONS, 'runs, expected score tables or results')
    if 'scatter' in figures and len(files.runs) == 1:
        raise click.UsageError('--figure scatter: found one run, expected two or more')
    runs_by_name(files.runs, baseline)


def _write_figure_files(
    plot: ComparisonPlot, figures: list[str], query: str | None, *, format: str, output: Output
) -> None:
    """Write one figure to a file, or several to a folder."""
    arguments = {'precision_recall': [query]}
    if len(figures) != 1 or _is_folder(output):
        write_figures(plot, output, figures or None, format, arguments=arguments)
    else:
        (figure,) = figures
        write_figure(getattr(plot, figure)(*arguments.get(figure, ())), format, output)


def _is_folder(output: Output) -> bool:
    return os.path.isdir(output) or output.endswith('/')


def _check_format(figures: list[str] | None, format: str, output: Output) -> str:
    """Return the format; raise UsageError if page or figure, format and output do not fit."""
    suffix = os.path.splitext(output)[1].lower()
    if figures is None and _is_folder(output):
        raise click.UsageError(f'-o: found the folder {shown(output)}, expected a file')
    is_for_folder = figures is not None and (len(figures) != 1 or _is_folder(output))
    is_figure_file = suffix.removeprefix('.') in FIGURE_FORMATS
    if is_for_folder and not os.path.isdir(output) and (is_figure_file or os.path.isfile(output)):
        raise click.UsageError(f'-o: found the file {shown(output)}, expected a folder for figures')
    if is_for_folder and output == STANDARD_STREAM:
        raise click.UsageError('--figure: several figures are written to a folder: give -o FOLDER')
    if format == 'table':  # the default: neither an option nor a suffix names a format
        if output != STANDARD_STREAM and not is_for_folder:
            suffixes = ', '.join(f'.{name}' for name in (PAGE_FORMAT, *FIGURE_FORMATS))
            raise click.UsageError(
                f'-o: found {shown(output)}, expected a name that ends in {suffixes}, or --format'
            )
        format = PAGE_FORMAT if figures is None else FIGURE_FORMATS[0]
    if figures is None and format != PAGE_FORMAT:
        names = ', '.join(FIGURES)
        raise click.UsageError(f'--format {format} is for figures: give --figure, one of {names}')
    if figures is not None and format == PAGE_FORMAT:
        formats = ', '.join(FIGURE_FORMATS)
        raise click.UsageError(
            f'--figure: found the format {PAGE_FORMAT}, expected one of {formats}'
        )
    check_can_be_binary(format, output)
    if suffix in COMPRESSED_SUFFIXES and format not in (PAGE_FORMAT, 'svg'):
        raise click.UsageError(f'-o: {printable(output)}: {format} is compressed already')
    return format
