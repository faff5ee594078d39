"""Commands about several runs on the same queries: ``compare`` and ``report``."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap import choices, definitions
from mediaeval_ap.atomic_files import COMPRESSED_SUFFIXES
from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import EXIT_STATUS, main
from mediaeval_ap.cli.options import RunFile
from mediaeval_ap.cli.output import (
    FILE,
    NEW_FILE_OR_FOLDER,
    STANDARD_STREAM,
    Output,
    as_usage,
    refuse_binary,
    tell,
    write,
    write_document,
    write_figure,
)
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.errors import FormatError, ParameterError, printable, require, shown
from mediaeval_ap.progress import tracked
from mediaeval_ap.render.formats import FORMATS
from mediaeval_ap.render.plot import FIGURE_FORMATS, write_figures

if TYPE_CHECKING:
    from mediaeval_ap.comparison.comparison import Comparison
    from mediaeval_ap.comparison.comparison_plot import ComparisonPlot
    from mediaeval_ap.results.evaluation import Evaluation
    from mediaeval_ap.results.result import Result
    from mediaeval_ap.tables.layouts import Layout


CRITERIA = (
    *('reference', 'subset', 'cutoffs', 'definition'),
    *('queries_without_relevant', 'judged', 'unjudged', 'drop_unjudged_rows'),
)
FAILED = 3  # no error: errors exit with 1 and 2
PROCEDURE = options.together(
    options.option(
        '--baseline', metavar='RUN', help='Run that all others are compared with, by its name.'
    ),
    options.choice(
        '--correction', choices.CORRECTIONS, 'holm', 'Correction of p for many pairs: {words}.'
    ),
    options.number(
        '--level', choices.LEVEL, choices.check_level, 'Level of confidence, from 0 to 1.'
    ),
    options.choice(
        '--cluster',
        choices.CLUSTERS,
        None,
        'Queries to test together: {words}.  [default: video, of 50 or more]',
    ),
)
COLUMNS_REMEDY = 'name its columns by --columns item=…,system=…,value=…'
OF_GATE = ('--fail-if-worse', '--require-better')
OF_SCORING = (
    *('--queries', '--cutoffs', '--definition', '--measures', '--also-definitions'),
    *('--queries-without-relevant', '--judged', '--unjudged', '--drop-unjudged-rows'),
)
OF_TREC = '--ties', '--relevance-level', '--unknown', '--part'
NOT_OF_TREC = (
    '--queries',
    '--subset',
    '--judged',
    '--drop-unjudged-rows',
    '--also-definitions',
    '--range',
)
FIGURES = (
    *('leaderboard', 'loss', 'map_by_k', 'scatter', 'distribution', 'precision_recall', 'confused'),
)
FOR_SCORES = ('--by', '--columns', '--systems', '--missing', '--range', '--power')
OF_VALUES = ('leaderboard', 'map_by_k', 'scatter', 'distribution')  # which need no rankings
PAGE = 'html'
EVERY = 'all'


def _range(value: str | None) -> tuple[float, float] | None:
    """Return two numbers; `compare` checks them."""
    try:
        low, high = map(float, value.split(',')) if value is not None else (0, 0)
    except ValueError:
        raise click.BadParameter(f'found {value!r}, expected two numbers, as 0,1') from None
    return None if value is None else (low, high)


def _grouping(value: str | None) -> str | None:
    return value.lower() if value and value.lower() in choices.GROUPINGS else value


def _above_zero(name: str, metavar: str, help: str) -> options.Decorator:
    def read(value: float | None) -> float | None:
        return value and choices.check_above_zero(value, name)

    return options.option(name, type=float, metavar=metavar, read=read, help=help)


OF_SCORED = options.together(
    options.option(
        '--by',
        type=FILE,
        metavar='NAME',
        read=_grouping,
        help='Add means by corpus, relevant (number of shots), or groups: CSV with item,group.',
    ),
    options.option(
        '--columns',
        metavar='ROLE=NAME,...',
        read=options.columns_by_role,
        help='Columns of score tables: item, system, value and cluster.',
    ),
    options.option(
        '--systems',
        metavar='NAME,...',
        read=lambda value: value and value.split(','),
        help='Systems of score tables to compare; other columns are passed over.  [default: all]',
    ),
    options.option(
        '--range', metavar='LOW,HIGH', read=_range, help='Least and largest value of score tables.'
    ),
    _above_zero(
        '--power', 'DIFFERENCE', 'Say how many queries tell such a difference of each pair at 80 %.'
    ),
)
COMPARISON = options.together(
    PROCEDURE,
    OF_SCORED,
    options.other_ids('Items or topics', 'a run', 'QRELS'),
    options.TIES,
    options.RELEVANCE_LEVEL,
    options.PART,
    _above_zero(
        '--fail-if-worse',
        'NUMBER',
        'Exit with 3 if the interval of a difference to the baseline is below -NUMBER.',
    ),
    options.flag(
        '--require-better', help='Exit with 3 unless the interval of each difference is above 0.'
    ),
    options.flag('--pairs', help='Show all pairs of runs; csv and jsonl have these alone.'),
    options.file_format(FORMATS),
    options.PRECISION,
    options.OUTPUT,
)


def named_runs(
    runs: Sequence[RunFile], baseline: str | None, others: Sequence[str] = ()
) -> dict[str, RunFile]:
    """Return runs by the names that tell them apart, and refuse a baseline that is none of all."""
    from mediaeval_ap.comparison.testing import check_run
    from mediaeval_ap.results.run_names import repeated_name_error

    names = options.names_of(runs)
    with as_usage():
        if repeated := [each for each, times in Counter([*names, *others]).items() if times > 1]:
            raise repeated_name_error(repeated[0])
    with as_usage(prefix='--'):
        check_run('baseline', baseline, [*names, *others])
    return dict(zip(names, runs, strict=True))


def _definitions(values: tuple[str, ...]) -> list[str]:
    """Return names of definitions, each once."""
    names = [definitions.get(name).name for value in values for name in value.split(',')]
    if len(set(names)) < len(names):
        raise click.BadParameter(f'found {",".join(names)}, expected each name once')
    return names


@main.command(
    examples=[
        "awk '$5 >= 0.5' hypothesis.txt | mediaeval-ap compare reference.txt hypothesis.txt sure=- "
        '--baseline hypothesis -o comparison.tex',
        'head -6000 hypothesis.txt | mediaeval-ap evaluate reference.txt hypothesis.txt - '
        '--format json --per-query | mediaeval-ap compare - -o comparison.md',
    ],
    exit_status=f'{EXIT_STATUS}; {FAILED}: a run is worse than --fail-if-worse allows, or not '
    'better as --require-better asks',
    advanced='--columns --systems --missing --unknown --ties --fail-if-worse',
)
@options.run_argument('reference', metavar='REFERENCE')
@options.OPTIONAL_RUNS
@options.NAMES
@options.SCORING_OF_JUDGED
@options.MEASURES
@options.option(
    '--also-definitions',
    metavar='NAME,...',
    multiple=True,
    read=_definitions,
    help='Other definitions, to compare the orders of the runs.',
)
@COMPARISON
def compare(
    reference: RunFile,
    runs: Sequence[RunFile],
    names: str | None,
    queries: str | None,
    measures: list[str],
    also_definitions: list[str],
    pairs: bool,
    format: str,
    output: Output,
    **settings: Any,
) -> None:
    """Compare runs: confidence intervals, tests and groups.

    It scores two RUNs or more on the same queries, and says which of them the data tell apart. In
    place of REFERENCE and RUNs it takes qrels and runs, as evaluate-trec does (by trec); results,
    which any command wrote with --format json --per-query, alone or after REFERENCE; or score
    tables of any tool: CSV, Parquet or JSON lines of item,system,value, or item,value, or item and
    a column for each system.
    """
    criteria = {name: settings.pop(name) for name in CRITERIA if name != 'reference'}
    definition = criteria.pop('definition')
    of_trec = {name: settings.pop(name) for name in ('ties', 'relevance_level', 'unknown', 'part')}
    _check_options(settings, also_definitions, format)
    if score_tables := _score_tables([reference, *runs], settings['columns']):
        named = options.with_names(score_tables, names)
        _check_scored('score tables')
        require('scipy', 'compare', 'compare')
        _write(_compared(named, **settings), pairs, format, output)
        return
    known, files, to_score = _told_apart(reference, runs)
    named = options.with_names([*files, *to_score], names)
    files, to_score = named[: len(files)], named[len(files) :]
    if definition in also_definitions:
        raise click.UsageError(f'--also-definitions: {definition} is the definition already')
    if files:
        _check_results(known, bool(to_score and not also_definitions), settings)
    every = definition, *also_definitions
    for each in every:
        options.check_cutoffs(criteria['cutoffs'], each, measures)
    require('scipy', 'compare', 'compare')
    from mediaeval_ap.results.result import distinct_run_names
    from mediaeval_ap.tables import REFERENCE, SUBSET, read

    scored = [each for path in files for each in _read_results(path)]
    of_trec |= {**criteria, 'definition': definition, 'measures': measures}
    if of_runs := _score_trec(known, to_score, of_trec, settings):
        scored = [*scored, *of_runs]
        known = None
        to_score = []
    others = list(dict.fromkeys(distinct_run_names(scored)))
    tables: dict[str, Any] = {'reference': known and _read_first(read, known, REFERENCE)}
    baseline = settings['baseline']
    if len(given := [*options.names_of(to_score), *others]) < 2:
        if not options.first_given(OF_GATE.__contains__):
            raise click.UsageError(f'found 1 run ({printable(given[0])}), expected two or more')
        baseline = None  # which may be lost, as comparing says
    by_name = named_runs(to_score, baseline, others)
    tables['subset'] = criteria['subset'] and read(criteria['subset'], SUBSET)
    if (path := criteria['judged']) is not None:
        from mediaeval_ap.evaluation.judged import Judged

        judged = Judged.read(path)
        criteria['judged'] = judged.table
    results = _score(by_name, every, queries, measures, **{**criteria, **tables})
    if criteria['drop_unjudged_rows']:
        tables['reference'] = tables['reference'].select(
            ~judged.unjudged_rows_of(tables['reference'])
        )
    best = [*results.pop(definition).values(), *scored]
    _write(_compared(best, **tables, also=results or None, **settings), pairs, format, output)


def _compared(results: Any, **settings: Any) -> Comparison:
    """Compare; a refused option is an error of usage, but a baseline may be lost with its file."""
    from mediaeval_ap.comparison.comparison import compare

    try:
        return compare(results, **settings)
    except ParameterError as error:
        names = str(error).partition(':')[0].replace('_', '-').split(', ')
        named = {f'--{name}' for name in names if name != 'baseline'}
        if options.first_given(named.__contains__):
            raise click.UsageError(str(error)) from error
        raise


def _write(compared: Comparison, pairs: bool, format: str, output: Output) -> None:
    """Write a comparison, and exit with the status of a run that did not pass."""
    from mediaeval_ap.comparison.testing import FAILING

    write_document(compared.document(pairs=pairs), format, output)
    failed = [each for each in compared.verdicts if each.verdict in FAILING]
    for each in failed:
        tell(f'{printable(each.run)} is {each.words}: {each.metric} {each.difference:+.4f}')
    if failed:
        click.get_current_context().exit(FAILED)


def _score_tables(files: Sequence[RunFile], columns: dict[str, str] | None) -> list[RunFile]:
    """Return the files if they are score tables; all are if their columns are given."""
    from mediaeval_ap.comparison.score_tables import SCORE_SHAPES, holds_scores

    item = (columns or {}).get('item', 'item')
    tables = [each for each in files if columns is not None or holds_scores(each, item)]
    others = [each for each in files if each not in tables and os.path.exists(each)]
    if tables and others:
        found = f'found {shown(others[0])} beside score tables, expected score tables alone'
        raise click.UsageError(f'{found} ({SCORE_SHAPES}); {COLUMNS_REMEDY}')
    return list(files) if tables else []


def _read_first(reads: Callable[..., Any], path: str, *layout: Layout) -> Any:
    """Read a reference or results; what begins as neither might have been a score table."""
    from mediaeval_ap.comparison.score_tables import SCORE_COLUMNS_REMEDY, SCORE_SHAPES

    try:
        return reads(path, *layout)
    except FormatError as error:
        if error.place not in ('', 'schema', 'line 1', 'line 2'):
            raise
        expected = f'{error.expected}; or a score table: {SCORE_SHAPES}{SCORE_COLUMNS_REMEDY}'
        place = error.place, error.field, error.found
        raise FormatError(error.source, *place, expected, error.further) from None


def _refuse(names: Sequence[str], told: str) -> None:
    """Refuse options that do not go with what was found."""
    if option := options.first_given(names.__contains__):
        raise click.UsageError(f'{option}: found {told}')


def _check_scored(kind: str, figures: Sequence[str] = ()) -> None:
    """Refuse options and figures that need runs to score, or their rankings."""
    of_runs = *OF_SCORING, *OF_TREC, '--subset', '--near', '--loss-cutoff'
    _refuse(of_runs, f'{kind}, which are scored already')
    if wrong := [each for each in figures if each not in OF_VALUES]:
        raise click.UsageError(f'--figure {wrong[0]} needs rankings: found {kind}')


def _check_options(
    settings: Mapping[str, Any], also_definitions: Sequence[str], format: str
) -> None:
    """Refuse options that lack one that they need, or have more tables than the format."""
    if settings['baseline'] is None and (option := options.first_given(OF_GATE.__contains__)):
        raise click.UsageError(f'{option} compares with a baseline: give --baseline RUN')
    for option, value in ('--by', settings['by']), ('--also-definitions', also_definitions):
        if value and format in ('csv', 'jsonl'):
            told = f'{format} has one table; write it as json or markdown'
            raise click.UsageError(f'{option}: {told}')


def _score(
    runs: Mapping[str, RunFile],
    every: Sequence[str],
    queries: str | None,
    measures: list[str],
    **criteria: Any,
) -> dict[str, dict[str, Evaluation]]:
    """Return the result of each run, by definition, the first with measures; read each run once."""
    from mediaeval_ap.store.store import as_store
    from mediaeval_ap.tables import HYPOTHESIS, read

    results: dict[str, dict[str, Evaluation]] = {each: {} for each in every}
    if not runs:
        return results
    evaluators = {each: options.read_reference(definition=each, **criteria) for each in every}
    asked = evaluators[every[0]].criteria.read_queries(queries)
    for name, run in tracked(runs.items(), 'scoring', ' runs'):
        store = as_store(run)
        hypotheses = read(run, HYPOTHESIS) if store is None else store
        for each, evaluator in evaluators.items():
            added = measures if each == every[0] else ()
            result = evaluator.evaluate(hypotheses, asked, measures=added)
            results[each][name] = result.called(name)
    return results


def _score_trec(
    qrels: str | None, runs: Sequence[RunFile], criteria: dict[str, Any], settings: dict[str, Any]
) -> list[Evaluation]:
    """Return the results of runs of TREC or of other tools; none if the files are others."""
    from mediaeval_ap.trec.other_tools import is_for_trec

    is_trec = qrels is not None and any(map(is_for_trec, [qrels, *runs]))
    found = 'runs' if is_trec else 'no runs'
    _refuse(NOT_OF_TREC if is_trec else OF_TREC, f'{found} of TREC or another tool')
    if qrels is None or not is_trec:
        return []
    if settings['missing'] == 'skip':
        raise click.UsageError('--missing skip: all runs need the same topics; give zero')
    options.refuse_to_read_again('QRELS', qrels, len(runs))
    from mediaeval_ap.trec import evaluate_trec

    if not options.first_given('--definition'.__eq__):
        criteria['definition'] = 'trec'
    criteria['missing'], settings['missing'] = settings['missing'], 'error'
    K, *_ = (criteria.pop(each) for each in ('cutoffs', 'subset', 'judged', 'drop_unjudged_rows'))
    by_name = zip(options.names_of(runs), runs, strict=True)
    return [
        evaluate_trec(qrels, run, K, **criteria).called(name)
        for name, run in tracked(list(by_name), 'scoring', ' runs')
    ]


def _told_apart(
    reference: RunFile, runs: Sequence[RunFile]
) -> tuple[str | None, list[RunFile], list[RunFile]]:
    """Return the reference, the files of results, and the runs to score."""
    # Results may come first; what can be read once only is a result if all others are.
    from mediaeval_ap.results.json_files import holds_json
    from mediaeval_ap.tables import REFERENCE, read
    from mediaeval_ap.trec.other_tools import is_for_trec

    files = [each for each in (reference, *runs) if holds_json(each) and not is_for_trec(each)]
    if reference in files or (len(files) == len(runs) and not os.path.isfile(reference)):
        if others := [each for each in runs if each not in files and os.path.exists(each)]:
            raise click.UsageError(
                f'found {shown(others[0])} after results, expected results; '
                'to score a run beside results, give REFERENCE first'
            )
        return None, [reference, *runs], []
    if not runs:
        _read_first(read, reference, REFERENCE)
        taken = f'{printable(reference)} was taken for a reference; for a score table'
        raise click.UsageError(f"Missing argument 'RUN...', as {taken}, {COLUMNS_REMEDY}")
    return reference, files, [each for each in runs if each not in files]


def _read_results(path: RunFile) -> list[Result]:
    """Read the results of a file; a given name is that of its only run."""
    from mediaeval_ap.results.json_files import read_results

    results = _read_first(read_results, path)
    if (name := path.given) and len({each.run for each in results}) > 1:
        raise click.UsageError(f'found the name {name} for a file of several runs, expected none')
    return [each.called(name) for each in results] if name else results


def _check_results(known: str | None, scores_others: bool, settings: Mapping[str, object]) -> None:
    """Refuse options that need runs to score, or a reference, beside results."""
    if not scores_others:
        _refuse(OF_SCORING, 'results, which are scored already')
    for option, value in ('--cluster', 'video'), ('--by', 'corpus'):
        if known is None and settings[option.removeprefix('--')] == value:
            raise click.UsageError(f'{option} {value} needs REFERENCE before the results')


def _check_campaign(scored: Sequence[str], runs: Sequence[str], figures: Sequence[str]) -> None:
    """Refuse results among the runs of a report, options of scores, and a scatter of one run."""
    if scored:
        raise click.UsageError(f'found {shown(scored[0])} beside runs, expected results alone')
    _refuse(FOR_SCORES, 'runs, expected score tables or results')
    if 'scatter' in figures and len(runs) == 1:
        raise click.UsageError('--figure scatter: found one run, expected two or more')


def _figures(value: str | None) -> list[str] | None:
    """Return names of figures; an empty list stands for all that can be drawn."""
    if value is None:
        return None
    names = [] if value == EVERY else dict.fromkeys(value.split(','))
    return [choices.check_policy('figure', name, FIGURES) for name in names]


def _links(values: tuple[str, ...]) -> dict[str, str]:
    from mediaeval_ap.render.page import checked_links

    links: dict[str, str] = {}
    for value in values:
        text, _, url = value.partition('=')
        if value.lower().startswith(('http:', 'https:', 'mailto:')):
            text = url = value
        if text in links:
            raise click.BadParameter(f'found {shown(text)} twice, expected each link once')
        links[text] = url
    return checked_links(links)


def _markdown(path: str) -> str:
    from mediaeval_ap.tables.sources import ByteSource

    source = ByteSource(path)
    with source.open() as stream:
        content = stream.read()
    try:
        return content.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        line = f'line {content.count(10, 0, error.start) + 1}'
        told = 'bytes that are not UTF-8', 'Markdown'
        raise FormatError(source.name, line, '', *told) from None


@main.command(
    examples=[
        "awk '$5 >= 0.5' hypothesis.txt > sure.txt && mediaeval-ap report reference.txt "
        'hypothesis.txt sure.txt --queries queries.txt -o report.html',
        'mediaeval-ap report reference.txt hypothesis.txt --queries queries.txt --figure all '
        '-o figures',
    ],
    advanced='--columns --systems --missing --by',
)
@options.run_argument('reference', metavar='REFERENCE')
@options.OPTIONAL_RUNS
@options.NAMES
@options.SCORING_OF_JUDGED
@options.cutoff(
    '--loss-cutoff',
    default=None,
    help='Cutoff of --figure loss; the page has all of -K.  [default: 100, or the last of -K]',
)
@options.NEAR
@PROCEDURE
@OF_SCORED
@options.choice(
    '--missing',
    choices.MISSING,
    'error',
    'Items of score tables that some system lacks: {words}.',
)
@options.option('--title', metavar='TEXT', help='Title of the page.')
@options.input_file('--intro', 'Markdown that stands below the title.')
@options.option(
    '--link',
    'links',
    metavar='TEXT=URL',
    multiple=True,
    read=_links,
    help='Link below the title, such as Task=https://example.org, or a URL alone. Can be repeated.',
)
@options.option(
    '--figure',
    'figures',
    metavar='NAME,...',
    read=_figures,
    help=f'Write figures instead of the page: {", ".join(FIGURES)}, or all.',
)
@options.option(
    '--query',
    metavar='NAME',
    help='Query of precision_recall.  [default: the first with a relevant shot]',
)
@options.file_format([PAGE, *FIGURE_FORMATS], note='  [default: by the suffix of -o]')
@options.output(
    'File to write, or - for standard output (html, svg); a folder for several figures.',
    required=True,
    type=NEW_FILE_OR_FOLDER,
)
def report(
    reference: RunFile,
    runs: Sequence[RunFile],
    names: str | None,
    loss_cutoff: Cutoff | None,
    title: str | None,
    intro: str | None,
    links: dict[str, str],
    figures: list[str] | None,
    query: str | None,
    format: str,
    output: Output,
    **settings: Any,
) -> None:
    """Write a page about the runs of a campaign.

    It says who leads and whether the data tell the runs apart, where each run lost precision, and
    shows every query. The page is one file, which requests nothing from elsewhere. Instead of
    REFERENCE and runs, results or score tables can be given, as compare takes them: then the page
    has no rankings, and no loss.
    """
    format = _checked_format(figures, format, output)
    asked = () if figures is None else figures or FIGURES
    if query is not None and 'precision_recall' not in asked:
        raise click.UsageError('--query is of the figure precision_recall: give --figure, too')
    if asked and (title is not None or intro is not None or links):
        raise click.UsageError('--title, --intro and --link are of the page: leave out --figure')
    if title is not None and not choices.is_text(title):
        raise click.UsageError(f'--title: found {shown(title)}, expected {choices.TEXT}')
    given = [reference, *runs]
    tables = _score_tables(given, settings['columns'])
    known, scored, to_score = (None, tables, []) if tables else _told_apart(reference, runs)
    if known is None:
        _check_scored('score tables' if tables else 'results', figures or ())
    else:
        _check_campaign(scored, to_score, figures or ())
        if loss_cutoff not in (None, *settings['cutoffs']) and 'loss' not in asked:
            raise click.UsageError(
                f'--loss-cutoff {loss_cutoff}: the page has the loss at each of -K: add it there'
            )
    named = options.with_names(scored or to_score, names)
    by_name = named_runs(named, None if scored else settings['baseline'])
    of_page = () if asked else ('jinja2', 'markdown_it')
    modules = ('scipy', 'altair', 'vl_convert', *of_page)
    for module in tracked(modules, 'loading libraries', ''):  # before anything is read
        require(module, 'report', 'report')
    criteria = {name: settings.pop(name) for name in CRITERIA if name != 'reference'}
    text = '' if intro is None else _markdown(intro)
    of_runs = {name: settings.pop(name) for name in ('queries', 'near')}
    made: Any
    if known is None:
        results: list[Any] = named
        if not tables:
            results = [each for path in named for each in _read_results(path)]
        made = _compared(results, **settings)
    else:
        of_runs |= {name: settings[name] for name in settings if f'--{name}' not in FOR_SCORES}
        teams = {name: run.team for name, run in by_name.items() if run.team}
        average_precision = options.read_reference(reference=known, **criteria)
        made = average_precision.report(by_name, k=loss_cutoff, teams=teams, **of_runs)
    if figures is None:
        write(str(made.to_html(title=title, intro=text, links=links)), output)
    else:
        _write_figure_files(made.plot, figures, query, format, output)


def _write_figure_files(
    plot: ComparisonPlot, figures: list[str], query: str | None, format: str, output: Output
) -> None:
    """Write one figure to a file, or several to a folder."""
    arguments = {'precision_recall': [query]}
    if _to_folder(figures, output):
        write_figures(plot, os.fspath(output), figures or None, format, arguments)
    else:
        (figure,) = figures
        write_figure(getattr(plot, figure)(*arguments.get(figure, ())), format, output)


def _to_folder(figures: list[str] | None, output: Output) -> bool:
    """Return whether figures are written to a folder: several of them, or one that is there."""
    is_there = os.path.isdir(output) or output.endswith('/')
    return figures is not None and (is_there or len(figures) != 1)


def _checked_format(figures: list[str] | None, format: str, output: Output) -> str:
    """Return the format, which must be one of the page or the figure, and fit the output."""
    path = os.fspath(output)
    if figures is None and (os.path.isdir(path) or path.endswith('/')):
        raise click.UsageError(f'-o: found the folder {shown(path)}, expected a file')
    is_folder = _to_folder(figures, output)
    is_named_file = os.path.splitext(path)[1].lower().removeprefix('.') in FIGURE_FORMATS
    if is_folder and not os.path.isdir(path) and (is_named_file or os.path.isfile(path)):
        raise click.UsageError(f'-o: found the file {shown(path)}, expected a folder for figures')
    if is_folder and path == STANDARD_STREAM:
        raise click.UsageError('--figure: several figures are written to a folder: give -o FOLDER')
    if format == 'table':  # neither an option nor a suffix says it
        if path != STANDARD_STREAM and not is_folder:
            expected = ', '.join(f'.{each}' for each in (PAGE, *FIGURE_FORMATS))
            raise click.UsageError(
                f'-o: found {shown(path)}, expected a name that ends in {expected}, or --format'
            )
        format = PAGE if figures is None else FIGURE_FORMATS[0]
    if figures is None and format != PAGE:
        names = ', '.join(FIGURES)
        raise click.UsageError(f'--format {format} is of a figure: give --figure, one of {names}')
    if figures is not None and format == PAGE:
        expected = ', '.join(FIGURE_FORMATS)
        raise click.UsageError(f'--figure: found the format {PAGE}, expected one of {expected}')
    refuse_binary(format, output)
    if os.path.splitext(path)[1].lower() in COMPRESSED_SUFFIXES and format not in (PAGE, 'svg'):
        raise click.UsageError(f'-o: {printable(path)}: {format} is compressed already')
    return format
