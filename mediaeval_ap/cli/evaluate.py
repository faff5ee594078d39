"""The command ``evaluate``: scores runs at once, in parts, or from a folder of results."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap import progress
from mediaeval_ap.choices import check_part
from mediaeval_ap.cli import option_kinds, options
from mediaeval_ap.cli.commands import HEADINGS, QUIET, main
from mediaeval_ap.cli.output import STANDARD_STREAM, Output, tell, typed_options
from mediaeval_ap.cli.result_options import Reporting, reporting_options
from mediaeval_ap.cli.run_files import RunFile, names_of_runs, with_names
from mediaeval_ap.errors import ParameterError, printable, warn_caller

if TYPE_CHECKING:
    from mediaeval_ap.execute.run_in_blocks import Part, RunInBlocks
    from mediaeval_ap.results.evaluation import Evaluation

OUTPUT_OPTIONS = HEADINGS['Output'].split()
COLLECTING_OPTIONS = [*OUTPUT_OPTIONS, '--resume', '--quiet']


def _read_part(value: str) -> tuple[int, int]:
    with suppress(ParameterError):
        if match := re.fullmatch('([0-9]{1,18})/([0-9]{1,18})', value):
            return check_part(tuple(map(int, match.groups())))
    raise click.BadParameter(f'found {value!r}, expected I/N with I from 1 to N, as 1/8')


@main.command(
    'evaluate',
    examples=[
        'mediaeval-ap evaluate reference.txt hypothesis.txt --queries queries.txt --per-query',
        'mediaeval-ap evaluate reference.txt hypothesis.txt -K 10,all -o map.csv',
    ],
)
@options.optional_reference_argument
@options.optional_named_runs
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
    if scheduler is not None:
        _check_scheduler_alone(part, jobs)
    if resume is not None:
        _check_folder(resume, part, runs, reporting)
    elif part is not None:
        raise click.UsageError('--part needs --resume DIR, a folder that all parts share')
    options.check_metrics(criteria['cutoffs'], criteria['definition'], measures)
    runs = with_names(runs, names)
    average_precision = options.read_reference(reference=reference, **criteria)
    from mediaeval_ap.execute import run_in_blocks
    from mediaeval_ap.execute.run_in_blocks import EvaluationRequest

    with ExitStack() as stack:
        workers: Any = jobs
        if scheduler is not None:
            from mediaeval_ap.execute.worker_processes import connect

            workers = stack.enter_context(connect(scheduler))
        try:
            request = EvaluationRequest.of(average_precision.criteria, queries, measures)
            split_runs = run_in_blocks.runs_in_blocks(request, runs, resume, names_of_runs(runs))
            progress.describe_state = split_runs[0].describe_state
            if part is not None:
                parts = [run.compute_part(part, jobs) for run in split_runs]
                _tell_part(part, parts, split_runs)
                return
        except ParameterError as error:
            raise click.UsageError(str(error)) from error
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
    number, n_parts = part
    finding = 'has no block'
    if n_computed + n_found:
        finding = f'computed {n_computed}, {n_found} were there'
    tell(f'Part {number} of {n_parts}: {finding}; {folder.state}')


def _check_scheduler_alone(part: tuple[int, int] | None, jobs: int) -> None:
    """Raise UsageError for --part or --jobs beside --scheduler."""
    for option, is_given in ('--part', part is not None), ('--jobs', jobs > 1):
        if is_given:
            raise click.UsageError(
                f'{option} and --scheduler exclude each other: the scheduler distributes all blocks'
            )


def _check_folder(
    resume: str, part: tuple[int, int] | None, runs: Sequence[str], reporting: Reporting
) -> None:
    """Raise UsageError for options that the results in a folder exclude."""
    if STANDARD_STREAM in runs:
        raise click.UsageError('--resume needs runs that can be read again; found standard input')
    if reporting.keep_going:
        raise click.UsageError(
            '--keep-going and --resume exclude each other: a folder holds the results of all runs'
        )
    if part is not None and (option := options.first_typed_option(OUTPUT_OPTIONS)):
        raise click.UsageError(
            f'--part writes no result: give {option} to evaluate --resume DIR, after all parts'
        )
    _check_output(reporting.output, resume)


def _collect(folder: str, reporting: Reporting) -> None:
    """Write the results of all blocks in a folder."""
    if others := [option for _, option in typed_options() if option not in COLLECTING_OPTIONS]:
        raise click.UsageError(
            f'{others[0]} needs REFERENCE and RUN: --resume alone combines the results in DIR'
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
