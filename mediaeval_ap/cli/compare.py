"""The command ``compare``: confidence intervals, tests and groups of several runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap import choices
from mediaeval_ap.cli import option_kinds, options
from mediaeval_ap.cli.commands import EXIT_STATUS, main
from mediaeval_ap.cli.compared_files import (
    CRITERIA_NAMES,
    SCORING_OPTIONS,
    by_seed,
    check_nothing_to_score,
    comparison_options,
    naming_score_tables,
    read_result_files,
    sort_files,
)
from mediaeval_ap.cli.output import Output, tell, write_document
from mediaeval_ap.cli.run_files import RunFile, check_not_reread, names_of_runs, runs_by_name
from mediaeval_ap.errors import printable, require
from mediaeval_ap.progress import tracked
from mediaeval_ap.render.formats import FORMATS

if TYPE_CHECKING:
    from mediaeval_ap.comparison.comparison import Comparison
    from mediaeval_ap.results.evaluation import Evaluation

FAILED = 3  # no error: errors exit with 1 and 2
GATE_OPTIONS = ('--fail-if-worse', '--require-not-worse', '--require-better')


@main.command(
    'compare',
    examples=[
        "awk '$5 >= 0.5' hypothesis.txt | mediaeval-ap compare reference.txt hypothesis.txt sure=- "
        '--baseline hypothesis -o comparison.tex',
        'head -6000 hypothesis.txt | mediaeval-ap evaluate reference.txt hypothesis.txt - '
        '--format json --per-query | mediaeval-ap compare - -o comparison.md',
    ],
    exit_status=f'{EXIT_STATUS}; {FAILED}: a run fails {", ".join(GATE_OPTIONS)}',
    advanced='--columns --missing --unknown --ties',
)
@option_kinds.run_file_argument('reference', metavar='REFERENCE')
@options.optional_named_runs
@options.judged_scoring_options
@options.measures_option
@comparison_options
@option_kinds.unmatched_ids('Items or topics', 'a run', 'QRELS')
@options.trec_options
@option_kinds.number(
    '--fail-if-worse',
    None,
    partial(choices.check_margin, name='--fail-if-worse'),
    'Exit with 3 if a run is worse than --baseline: the interval of its difference is below '
    '-NUMBER.',
)
@option_kinds.number(
    '--require-not-worse',
    None,
    partial(choices.check_margin, name='--require-not-worse'),
    'Exit with 3 unless each run is shown not to be worse: that interval is above -NUMBER.',
)
@option_kinds.flag(
    '--require-better',
    help='Exit with 3 unless each run is better than --baseline: the interval of its '
    'difference is above 0.',
)
@option_kinds.number(
    '--power',
    None,
    partial(choices.check_above_zero, name='--power'),
    'Show how many queries tell a difference of this size, with a power of 80 %.',
)
@option_kinds.flag(
    '--pairs', help='Show all pairs of runs by each metric; csv and jsonl then have only these.'
)
@option_kinds.file_format(FORMATS)
@options.precision_option
@options.output_option
def compare_command(
    reference: RunFile,
    runs: Sequence[RunFile],
    names: str | None,
    queries: str | None,
    measures: list[str],
    pairs: bool,
    format: str,
    output: Output,
    **settings: Any,
) -> None:
    """Compare runs: confidence intervals, tests and groups.

    It scores two or more RUNs on the same queries, and says which of them differ significantly. In
    place of REFERENCE and RUNs it takes qrels and runs, as evaluate-trec does, by the definition
    trec; results that any command wrote with --format json --per-query, alone or after REFERENCE;
    or score tables of any tool: CSV, Parquet or JSON lines of item,system,value, or item,value, or
    item and a column for each system; or lines of trec_eval -q, and tables of qid,measure,value, in
    which --measures chooses the metrics.
    """
    criteria = {name: settings.pop(name) for name in CRITERIA_NAMES}
    trec_settings = {
        name: settings.pop(name) for name in options.TREC_SETTINGS if name != 'missing'
    }
    if settings['baseline'] is None and (option := options.first_typed_option(GATE_OPTIONS)):
        raise click.UsageError(f'{option} compares with a baseline: give --baseline RUN')
    if settings['by'] and format in ('csv', 'jsonl'):
        raise click.UsageError(f'--by: {format} has one table; write it as json or markdown')
    from mediaeval_ap.comparison.comparison import compare

    files = sort_files(reference, runs, names, settings['columns'])
    if files.score_tables:
        check_nothing_to_score('score tables')
        require('scipy', 'compare', 'compare')
        settings['measures'] = re.findall(r'(?:[^,\s(]|\([^)]*\))+', ','.join(measures)) or None
        _write(compare(files.score_tables, **settings), pairs, format, output)
        return
    truth, result_files, to_score, _ = files
    if result_files:
        _check_beside_results(truth, bool(to_score), settings)
    options.check_metrics(criteria['cutoffs'], criteria['definition'], measures)
    require('scipy', 'compare', 'compare')
    from mediaeval_ap.results.result import distinct_run_names
    from mediaeval_ap.tables import REFERENCE, SUBSET, read

    results, seeds = read_result_files(result_files)
    trec_settings |= {**criteria, 'measures': measures, 'queries': queries}
    if trec_results := _score_trec(truth, to_score, trec_settings, settings):
        results += trec_results
        seeds += [run.seed for run in to_score]
        truth, to_score = None, ()
    result_names = list(dict.fromkeys(distinct_run_names(results)))
    criteria['reference'] = None
    if truth is not None:
        with naming_score_tables(truth):
            criteria['reference'] = read(truth, REFERENCE)
    baseline = settings['baseline']
    if len(all_names := [*names_of_runs(to_score), *result_names]) < 2:
        if not options.first_typed_option(GATE_OPTIONS):
            raise click.UsageError(f'found 1 run ({printable(all_names[0])}), expected two or more')
        baseline = None  # its file may be missing: the comparison says so
    named_runs = runs_by_name(to_score, baseline, result_names)
    criteria['subset'] = criteria['subset'] and read(criteria['subset'], SUBSET)
    if named_runs:
        evaluator = options.read_reference(**criteria)
        criteria['reference'] = evaluator.criteria.reference.table  # without dropped rows
        query_table = evaluator.criteria.read_queries(queries)
        results[:0] = [
            evaluator.evaluate(run, query_table, measures=measures).called(run.given_name or name)
            for name, run in tracked(named_runs.items(), 'scoring', ' runs')
        ]
        seeds[:0] = [run.seed for run in named_runs.values()]
    settings |= {name: criteria[name] for name in ('reference', 'subset')}
    _write(compare(by_seed(results, seeds), **settings), pairs, format, output)


def _check_beside_results(
    reference: str | None, scores_runs: bool, settings: Mapping[str, object]
) -> None:
    """Raise UsageError for options that need runs to score, or the reference, but have none."""
    if not scores_runs:
        names = *SCORING_OPTIONS, '--measures'
        options.check_not_typed(names, 'results, which are scored already')
    for option, value in ('--cluster', 'video'), ('--by', 'corpus'):
        if reference is None and settings[option.removeprefix('--')] == value:
            raise click.UsageError(f'{option} {value} needs REFERENCE before the results')


def _score_trec(
    qrels: str | None, runs: Sequence[RunFile], criteria: dict[str, Any], settings: dict[str, Any]
) -> list[Evaluation]:
    """Score runs of TREC or another tool; return an empty list for other files."""
    if qrels is None or not options.are_trec([qrels, *runs]):
        options.check_not_typed(options.TREC_OPTIONS, 'no runs of TREC or another tool')
        return []
    options.check_not_typed(options.OPTIONS_WITHOUT_TREC, 'runs of TREC or another tool')
    if settings['missing'] == 'skip':
        raise click.UsageError('--missing skip: all runs need the same topics; give zero')
    check_not_reread('QRELS', qrels, len(runs))
    check_not_reread('--queries', criteria['queries'], len(runs))
    from mediaeval_ap.trec import evaluate_trec

    if not options.first_typed_option(['--definition']):
        criteria['definition'] = None
    criteria['missing'] = settings['missing']
    settings['missing'] = 'error'
    cutoffs = criteria.pop('cutoffs')
    K = cutoffs if options.first_typed_option(['--cutoffs']) else None
    for name in 'subset', 'judged', 'drop_unjudged_rows':
        del criteria[name]
    named_runs = list(zip(names_of_runs(runs), runs, strict=True))
    return [
        evaluate_trec(qrels, run, K, **criteria).called(run.given_name or name)
        for name, run in tracked(named_runs, 'scoring', ' runs')
    ]


def _write(comparison: Comparison, pairs: bool, format: str, output: Output) -> None:
    """Write a comparison, and tell its gate; exit with status 3 if the gate failed."""
    write_document(comparison.document(pairs=pairs), format, output)
    if comparison.gate is not None and not comparison.gate:
        tell(comparison.gate.words)
        if comparison.gate.outcome == 'failed':
            click.get_current_context().exit(FAILED)
