"""Blocks of queries that ``evaluate`` keeps in a folder: resumed, computed in parts, collected."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from mediaeval_ap.choices import check_part
from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import is_quiet, main
from mediaeval_ap.cli.output import STANDARD_STREAM, Output, tell, write_document
from mediaeval_ap.cli.several_runs import PER_QUERY, SORT, Reporting
from mediaeval_ap.errors import ParameterError, printable, warn_caller

if TYPE_CHECKING:
    from mediaeval_ap.execute.resuming import KeptRun
    from mediaeval_ap.results.evaluation import Evaluation

OF_THE_RESULT = ('per_query', 'sort', 'format', 'output')  # which a part has none of


def _part(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    digits = re.fullmatch('([0-9]{1,18})/([0-9]{1,18})', value)
    try:
        return check_part(tuple(map(int, digits.groups())) if digits else value)
    except ParameterError:
        expected = 'I/N with I from 1 to N, as 1/8'
        raise click.BadParameter(f'found {value!r}, expected {expected}') from None


RESUME = options.option(
    '--resume',
    heading='Scoring',
    metavar='DIR',
    help='Keep the result of each block of queries in DIR; compute only blocks that are missing.',
)
PART = options.option(
    '--part',
    heading='Scoring',
    metavar='I/N',
    callback=_part,
    help='Compute every N-th block only, from the I-th; the command collect shows the results. '
    'Needs --resume.',
)


def check_options(
    resume: str | None,
    part: tuple[int, int] | None,
    runs: Sequence[str],
    reporting: Reporting,
) -> None:
    """Refuse options that say nothing together."""
    if resume is None:
        if part is not None:
            raise click.UsageError('--part needs --resume DIR, a folder that all parts share')
        return
    if STANDARD_STREAM in runs:
        raise click.UsageError('--resume needs runs that can be read again; found standard input')
    if reporting.keep_going:
        raise click.UsageError('--keep-going and --resume: a folder holds the results of all runs')
    ctx = click.get_current_context()
    for name in OF_THE_RESULT if part is not None else ():
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            (option,) = (each for each in ctx.command.params if each.name == name)
            raise click.UsageError(f'--part writes no result: give {option.opts[-1]} to collect')
    _check_output(reporting.output, resume)


def evaluate_kept(
    keep: Callable[[], list[KeptRun]],
    runs: Sequence[str],
    part: tuple[int, int] | None,
    jobs: int,
    report: Reporting,
) -> None:
    """Compute the blocks of runs that are missing; write the results, unless of a part."""
    try:
        kept = keep()
        parts = [] if part is None else [each.compute_part(part, jobs) for each in kept]
    except ParameterError as error:
        raise click.UsageError(str(error)) from error
    if part is None:
        report.write(runs, lambda _, each: [_evaluation(each, jobs)], kept)
    elif not is_quiet():
        computed, found = (sum(numbers) for numbers in zip(*parts, strict=True))
        folder = kept[0].folder
        n_done, n_blocks = len(folder.done()), folder.plan.n_blocks * len(set(folder.plan.keys))
        told = f'computed {computed}, {found} were there' if computed + found else 'has no block'
        there = f'{printable(folder.path)} has {n_done} of {n_blocks} blocks'
        tell(f'Part {part[0]} of {part[1]}: {told}; {there}')


def _evaluation(kept: KeptRun, jobs: int) -> Evaluation:
    kept.compute(jobs=jobs)
    evaluation = kept.evaluation()
    warn_caller(evaluation.warnings)
    return evaluation


def _check_output(output: Output, folder: str) -> None:
    """Refuse to write the result over a file of the folder."""
    from mediaeval_ap.execute.block_folder import is_kept

    path = os.fspath(output)
    if is_kept(path) and os.path.realpath(os.path.dirname(path)) == os.path.realpath(folder):
        told = f'it is a file of the folder {printable(folder)}'
        raise click.UsageError(f'refusing to overwrite {printable(path)}: {told}')


@main.command(
    examples=[
        'mediaeval-ap collect blocks --per-query',
        'mediaeval-ap collect blocks --sort -o map.csv',
    ]
)
@click.argument('folder', metavar='DIR')
@PER_QUERY
@SORT
@options.FORMAT
@options.OUTPUT
@options.MESSAGES
def collect(folder: str, per_query: bool, sort: bool, format: str, output: Output) -> None:
    """Put the blocks together that evaluate keeps in DIR."""
    _check_output(output, folder)
    from mediaeval_ap.execute.collecting import collect
    from mediaeval_ap.results.result import describe

    document = describe(collect(folder), per_query=per_query, sort=sort)
    write_document(document, format, output)
