"""Commands about finished runs: ``evaluate``, ``rank``, ``explain`` and ``validate``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap.choices import CAMPAIGNS, check_part
from mediaeval_ap.cli import option_kinds, options
from mediaeval_ap.cli.commands import HEADINGS, QUIET, main
from mediaeval_ap.cli.output import STANDARD_STREAM, Output, as_usage_errors, tell, write_document
from mediaeval_ap.cli.result_options import Reporting, reporting_options
from mediaeval_ap.cli.run_files import (
    RunFile,
    check_not_reread,
    names_of_runs,
    read_run,
    with_names,
)
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.errors import ParameterError, printable, shown, warn_caller
from mediaeval_ap.render.document import Document, Grid

if TYPE_CHECKING:
    from mediaeval_ap.execute.run_in_blocks import Part, RunInBlocks
    from mediaeval_ap.results.evaluation import Evaluation

OUTPUT_OPTIONS = HEADINGS['Output'].split()
COLLECTING_OPTIONS = [*OUTPUT_OPTIONS, '--resume', '--quiet']
N_SHOWN_PROBLEMS = 20  # of each kind: all kinds fit on a few screens


def _read_part(value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    match = re.fullmatch('([0-9]{1,18})/([0-9]{1,18})', value)
    try:
        return check_part(tuple(map(int, match.groups())) if match else value)
    except ParameterError:
        expected = 'I/N with I from 1 to N, as 1/8'
        raise click.BadParameter(f'found {value!r}, expected {expected}') from None


@main.command(
    'evaluate',
    examples=[
        'mediaeval-ap evaluate reference.txt hypothesis.txt --queries queries.txt --per-query',
        'mediaeval-ap evaluate reference.txt hypothesis.txt -K 10,all -o map.csv',
    ],
)
@options.optional_reference_argument
@options.optional_runs_argument
@options.names_option
@options.measures_option
@options.judged_scoring_options
@options.jobs_option
@option_kinds.option(
    '--resume',
    metavar='DIR',
    help='Keep finished blocks of queries in DIR, and compute only the missing ones. With --resume '
    'DIR alone, combine the results that DIR holds, for example of several parts.',
)
@option_kinds.option(
    '--part',
    metavar='I/N',
    read=_read_part,
    help='Compute only every N-th block, from the I-th. Needs --resume.',
)
@options.scheduler_option
@options.sort_queries_option
@reporting_options
def evaluate_command(
    reference: str | None,
    runs: Sequence[RunFile],
    names: str | None,
    queries: str | None,
    measures: list[str],
    jobs: int,
    resume: str | None,
    part: tuple[int, int] | None,
    scheduler: str | None,
    reporting: Reporting,
    **criteria: Any,
) -> None:
    """Score runs: average precision at K, per query and mean."""
    if reference is None and resume is not None:
        _collect(resume, reporting)
        return
    for argument, value in ('REFERENCE', reference), ('RUN...', runs):
        if not value:
            raise click.UsageError(f'Missing argument {argument!r}.')
    _check_evaluate_options(resume, part, jobs, scheduler, runs, reporting)
    options.check_metrics(criteria['cutoffs'], criteria['definition'], measures)
    runs = with_names(runs, names)
    average_precision = options.read_reference(reference=reference, **criteria)
    from mediaeval_ap.execute import run_in_blocks
    from mediaeval_ap.execute.worker_tasks import EvaluationRequest

    with ExitStack() as stack:
        workers: Any = jobs
        if scheduler is not None:
            from mediaeval_ap.execute.worker_processes import connect

            workers = stack.enter_context(connect(scheduler))
        try:
            request = EvaluationRequest.of(average_precision.criteria, queries, measures)
            split_runs = run_in_blocks.runs_in_blocks(request, runs, resume, names_of_runs(runs))
            parts = [] if part is None else [run.compute_part(part, jobs) for run in split_runs]
        except ParameterError as error:
            raise click.UsageError(str(error)) from error
        if part is not None:
            _tell_part(part, parts, split_runs)
            return
        results = stack.enter_context(closing(run_in_blocks.evaluate_runs(split_runs, workers)))
        reporting.write(runs, lambda _: [_result_or_raise(next(results))])


def _result_or_raise(result: Evaluation | Exception) -> Evaluation:
    """Return a result and issue its warnings; raise if it is an exception."""
    if isinstance(result, Exception):
        raise result
    warn_caller(result.warnings)
    return result


def _tell_part(
    part: tuple[int, int], parts: Sequence[Part], split_runs: Sequence[RunInBlocks]
) -> None:
    """Tell how many blocks of a part were computed, and how many the folder has."""
    folder = split_runs[0].folder
    if folder is None or click.get_current_context().meta[QUIET]:
        return
    n_computed = sum(counts.computed for counts in parts)
    n_found = sum(counts.found for counts in parts)
    n_done = sum(len(folder.finished_blocks(run.number)) for run in split_runs)
    n_blocks = folder.n_blocks * len(split_runs)
    number, n_parts = part
    progress = 'has no block'
    if n_computed + n_found:
        progress = f'computed {n_computed}, {n_found} were there'
    state = f'{printable(folder.path)} has {n_done} of {n_blocks} blocks'
    tell(f'Part {number} of {n_parts}: {progress}; {state}')


def _check_evaluate_options(
    resume: str | None,
    part: tuple[int, int] | None,
    jobs: int,
    scheduler: str | None,
    runs: Sequence[str],
    reporting: Reporting,
) -> None:
    """Raise UsageError for options that exclude each other."""
    if scheduler is not None and (part is not None or jobs > 1):
        other = '--jobs' if part is None else '--part'
        raise click.UsageError(
            f'{other} and --scheduler exclude each other: the scheduler distributes all blocks'
        )
    if resume is None:
        if part is not None:
            raise click.UsageError('--part needs --resume DIR, a folder that all parts share')
        return
    if STANDARD_STREAM in runs:
        raise click.UsageError('--resume needs runs that can be read again; found standard input')
    if reporting.keep_going:
        raise click.UsageError(
            '--keep-going and --resume exclude each other: a folder holds the results of all runs'
        )
    if part is not None and (option := options.first_typed_option(OUTPUT_OPTIONS.__contains__)):
        raise click.UsageError(
            f'--part writes no result: give {option} to evaluate --resume DIR, after all parts'
        )
    _check_output(reporting.output, resume)


def _collect(folder: str, reporting: Reporting) -> None:
    """Write the results of all blocks in a folder."""
    if option := options.first_typed_option(lambda name: name not in COLLECTING_OPTIONS):
        raise click.UsageError(
            f'{option} needs REFERENCE and RUN: --resume alone combines the results in DIR'
        )
    _check_output(reporting.output, folder)
    from mediaeval_ap.execute.block_folder import collect

    reporting.show(collect(folder))


def _check_output(output: Output, folder: str) -> None:
    """Raise UsageError if the output is a plan or block file of the folder."""
    from mediaeval_ap.execute.block_folder import PLAN, is_block

    path = os.fspath(output)
    name = os.path.basename(path)
    is_own_name = name == PLAN or is_block(name)
    if is_own_name and os.path.realpath(os.path.dirname(path)) == os.path.realpath(folder):
        reason = f'it is a file of the folder {printable(folder)}'
        raise click.UsageError(f'refusing to overwrite {printable(path)}: {reason}')


@main.command(
    'rank',
    examples=[
        'mediaeval-ap rank reference.txt hypothesis.txt nicolas_sarkozy -n 10',
        'mediaeval-ap rank reference.txt hypothesis.txt alain_juppe -o ranking.csv',
    ],
)
@options.reference_argument
@options.run_argument
@click.argument('query')
@options.subset_option
@options.definition_option
@options.judgement_options
@options.warning_options
@option_kinds.integer('-n', '--depth', default=20, help='Number of hypotheses to show.')
@options.format_options
@options.output_option
def rank_command(
    hypothesis: str, query: str, depth: int, format: str, output: Output, **criteria: Any
) -> None:
    """Show the top of the ranking for QUERY, a name, and its AP.

    csv, json and jsonl have only the rows of the ranking.
    """
    from mediaeval_ap.evaluation.criteria import check_query

    with as_usage_errors():
        check_query(query)
    average_precision = options.read_reference(cutoffs=[depth], **criteria)
    frame = average_precision.rank(hypothesis, query)
    ranking = Grid.from_frame(frame)
    summary = Grid(list(map(str, frame.attrs)), [list(frame.attrs.values())])
    document = replace(Document.from_grid(ranking), blocks=lambda: [ranking, summary])
    write_document(document, format, output)


@main.command(
    'explain',
    examples=[
        'mediaeval-ap explain reference.txt hypothesis.txt --queries queries.txt',
        'mediaeval-ap explain reference.txt hypothesis.txt nicolas_sarkozy -k 10 -o why.json',
    ],
)
@options.reference_argument
@options.run_argument
@click.argument('query', required=False)
@options.queries_option
@option_kinds.input_file(
    '--against', 'Second run, to split its gain or loss against RUN.', read=read_run
)
@options.subset_option
@option_kinds.cutoff('-k', '-K', '--cutoff', default='100', help='Cutoff; "all" means without one.')
@options.near_option
@options.definition_option
@options.queries_without_relevant_option
@options.judgement_options
@options.warning_options
@option_kinds.flag('--per-query', help='List every query in tables; csv and json always do.')
@option_kinds.integer(
    '-n', '--costliest', default=10, help='Number of queries and names to list in tables.'
)
@options.format_options
@options.output_option
def explain_command(
    hypothesis: str,
    query: str | None,
    queries: str | None,
    against: str | None,
    cutoff: Cutoff,
    near: float,
    per_query: bool,
    costliest: int,
    format: str,
    output: Output,
    **criteria: Any,
) -> None:
    """Show where precision was lost, overall or for one QUERY.

    The loss, 1 - AP, is split into parts that add up to it: by ties, by confidence, by names, by
    shots that were not returned.
    """
    from mediaeval_ap.evaluation.criteria import check_query

    if query is not None:
        if queries is not None:
            raise click.UsageError(f'leave out --queries: {printable(query)} is the only query')
        with as_usage_errors():
            check_query(query)
        if os.path.isfile(query):
            raise click.UsageError(
                f'QUERY: found the file {shown(query)}, expected a name; '
                'a second run is given with --against, a file of names with --queries'
            )
    average_precision = options.read_reference(cutoffs=[cutoff], **criteria)
    query_table = average_precision.criteria.read_queries(queries)
    selected: Any = query_table if query is None else [query]
    runs = [hypothesis] if against is None else [hypothesis, against]
    name, *other_name = names_of_runs(runs)
    diagnosis = average_precision.explain(hypothesis, selected, k=cutoff, near=near).called(name)
    if against is not None:
        other = average_precision.explain(against, selected, k=cutoff, near=near)
        other = other.called(*other_name)
        document = diagnosis.against(other).document(per_query=per_query, costliest=costliest)
    elif query is not None:
        document = diagnosis.of(query).document()
    else:
        document = diagnosis.document(per_query=per_query, costliest=costliest)
    write_document(document, format, output)


@main.command(
    'validate',
    examples=[
        'mediaeval-ap validate hypothesis.txt --reference reference.txt',
        "awk '$5 >= 0.5' hypothesis.txt | mediaeval-ap validate hypothesis.txt - --statistics",
    ],
    exit_status='0: no errors, perhaps warnings; 1: error in a run, or a file cannot be '
    'read or written; 2: error in the command line',
)
@options.runs_argument
@option_kinds.input_file('--shots', 'All shots: corpus_id video_id shot_id start_time end_time.')
@option_kinds.input_file('--videos', 'All videos: corpus_id video_id.')
@option_kinds.input_file(
    '--evidence', 'Evidence: person_name corpus_id video_id modality timestamp.'
)
@option_kinds.input_file(
    '--reference', 'Reference, to find lost leading zeros, and videos and names that it lacks.'
)
@option_kinds.choice(
    '--rules', CAMPAIGNS, '2016', 'Campaign whose rules apply: {words} (the format only).'
)
@option_kinds.flag(
    '--all',
    'show_all',
    help=f'Show all problems, up to 20,000 of each kind.  [default: up to {N_SHOWN_PROBLEMS}]',
)
@option_kinds.flag('--statistics', help='Show only the number of problems of each kind.')
@option_kinds.file_format(['table', 'json', 'csv'])
@options.output_option
@options.quiet_option
def validate_command(
    runs: tuple[str, ...],
    show_all: bool,
    statistics: bool,
    format: str,
    output: Output,
    **settings: Any,
) -> None:
    """List all problems of each RUN, and how to correct them."""
    if settings['evidence'] is not None and len(runs) > 1:
        raise click.UsageError(f'--evidence belongs to one run: found {len(runs)} runs')
    for role in 'shots', 'videos', 'reference':
        check_not_reread(f'--{role}', settings[role], len(runs))
    from mediaeval_ap.validation import examine, problems

    problems_by_run = {
        name: examine(run, **settings) for name, run in zip(names_of_runs(runs), runs, strict=True)
    }
    if statistics:
        document = problems.statistics(problems_by_run)
    else:
        document = problems.problems_document(
            problems_by_run, None if show_all else N_SHOWN_PROBLEMS
        )
    write_document(document, format, output)
    if any(run_problems.count('error') for run_problems in problems_by_run.values()):
        sys.exit(1)
