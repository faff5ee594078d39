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

from mediaeval_ap.choices import CAMPAIGNS, MAX_PROBLEMS, check_part
from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import HEADINGS, QUIET, main
from mediaeval_ap.cli.options import Reporting, RunFile, reports
from mediaeval_ap.cli.output import STANDARD_STREAM, Output, as_usage, tell, write_document
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.errors import ParameterError, printable, shown, warn_caller
from mediaeval_ap.render.document import Document, Grid

if TYPE_CHECKING:
    from mediaeval_ap.execute.run_in_blocks import Part, RunInBlocks
    from mediaeval_ap.results.evaluation import Evaluation

OF_THE_RESULT = HEADINGS['Output'].split()
OF_COLLECTING = [*OF_THE_RESULT, '--resume', '--quiet', '--no-progress']
SHOWN_PROBLEMS = 20  # of a kind, so that every kind is seen on a few screens


def _part(value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    digits = re.fullmatch('([0-9]{1,18})/([0-9]{1,18})', value)
    try:
        return check_part(tuple(map(int, digits.groups())) if digits else value)
    except ParameterError:
        expected = 'I/N with I from 1 to N, as 1/8'
        raise click.BadParameter(f'found {value!r}, expected {expected}') from None


@main.command(
    examples=[
        'mediaeval-ap evaluate reference.txt hypothesis.txt --queries queries.txt --per-query',
        'mediaeval-ap evaluate reference.txt hypothesis.txt -K 10,all -o map.csv',
    ]
)
@options.OPTIONAL_REFERENCE
@options.OPTIONAL_RUNS
@options.NAMES
@options.MEASURES
@options.SCORING_OF_JUDGED
@options.JOBS
@options.option(
    '--resume', metavar='DIR', help='Keep blocks of queries in DIR, and compute what is missing.'
)
@options.option(
    '--part',
    metavar='I/N',
    read=_part,
    help='Compute every N-th block only, from the I-th. Needs --resume.',
)
@options.SCHEDULER
@options.SORT_QUERIES
@reports
def evaluate(
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
    """Score runs: average precision at K, per query and mean.

    With --resume DIR alone, put together what is kept in DIR, by parts for example.
    """
    if reference is None and resume is not None:
        _put_together(resume, reporting)
        return
    for argument, given in ('REFERENCE', reference), ('RUN...', runs):
        if not given:
            raise click.UsageError(f'Missing argument {argument!r}.')
    _check_options(resume, part, jobs, scheduler, runs, reporting)
    options.check_cutoffs(criteria['cutoffs'], criteria['definition'], measures)
    runs = options.with_names(runs, names)
    average_precision = options.read_reference(reference=reference, **criteria)
    from mediaeval_ap.execute import run_in_blocks
    from mediaeval_ap.execute.worker_tasks import EvaluationRequest

    with ExitStack() as stack:
        workers: Any = jobs
        if scheduler is not None:
            from mediaeval_ap.execute.worker_processes import connected

            workers = stack.enter_context(connected(scheduler))
        try:
            request = EvaluationRequest.of(average_precision.criteria, queries, measures)
            blocks = run_in_blocks.runs_in_blocks(request, runs, resume, options.names_of(runs))
            parts = [] if part is None else [each.compute_part(part, jobs) for each in blocks]
        except ParameterError as error:
            raise click.UsageError(str(error)) from error
        if part is not None:
            _tell_part(part, parts, blocks)
            return
        results = stack.enter_context(closing(run_in_blocks.evaluate_runs(blocks, workers)))
        reporting.write(runs, lambda _: [_given_out(next(results))])


def _given_out(result: Evaluation | Exception) -> Evaluation:
    """Return a result, and give out its warnings; or raise what stands in its place."""
    if isinstance(result, Exception):
        raise result
    warn_caller(result.warnings)
    return result


def _tell_part(part: tuple[int, int], parts: Sequence[Part], blocks: Sequence[RunInBlocks]) -> None:
    folder = blocks[0].folder
    if folder is None or click.get_current_context().meta[QUIET]:
        return
    computed, found = (sum(numbers) for numbers in zip(*parts, strict=True))
    n_done = sum(len(folder.finished_blocks(each.number)) for each in blocks)
    n_blocks = folder.n_blocks * len(blocks)
    told = f'computed {computed}, {found} were there' if computed + found else 'has no block'
    there = f'{printable(folder.path)} has {n_done} of {n_blocks} blocks'
    tell(f'Part {part[0]} of {part[1]}: {told}; {there}')


def _check_options(
    resume: str | None,
    part: tuple[int, int] | None,
    jobs: int,
    scheduler: str | None,
    runs: Sequence[str],
    reporting: Reporting,
) -> None:
    """Refuse options that say nothing together."""
    if scheduler is not None and (part is not None or jobs > 1):
        other = '--jobs' if part is None else '--part'
        raise click.UsageError(f'{other} and --scheduler: the scheduler shares out all blocks')
    if resume is None:
        if part is not None:
            raise click.UsageError('--part needs --resume DIR, a folder that all parts share')
        return
    if STANDARD_STREAM in runs:
        raise click.UsageError('--resume needs runs that can be read again; found standard input')
    if reporting.keep_going:
        raise click.UsageError('--keep-going and --resume: a folder holds the results of all runs')
    if part is not None and (option := options.first_given(OF_THE_RESULT.__contains__)):
        raise click.UsageError(
            f'--part writes no result: give {option} to evaluate --resume DIR, after all parts'
        )
    _check_output(reporting.output, resume)


def _put_together(folder: str, reporting: Reporting) -> None:
    """Write the results of the blocks that a folder has."""
    if option := options.first_given(lambda name: name not in OF_COLLECTING):
        raise click.UsageError(
            f'{option} needs REFERENCE and RUN: --resume alone puts together what DIR has'
        )
    _check_output(reporting.output, folder)
    from mediaeval_ap.execute.block_folder import collect

    reporting.show(collect(folder))


def _check_output(output: Output, folder: str) -> None:
    """Refuse to write the result over a file of the folder."""
    from mediaeval_ap.execute.block_folder import PLAN, is_block

    path = os.fspath(output)
    name = os.path.basename(path)
    is_kept = name == PLAN or is_block(name)
    if is_kept and os.path.realpath(os.path.dirname(path)) == os.path.realpath(folder):
        told = f'it is a file of the folder {printable(folder)}'
        raise click.UsageError(f'refusing to overwrite {printable(path)}: {told}')


@main.command(
    examples=[
        'mediaeval-ap rank reference.txt hypothesis.txt nicolas_sarkozy -n 10',
        'mediaeval-ap rank reference.txt hypothesis.txt alain_juppe -o ranking.csv',
    ]
)
@options.REFERENCE
@options.RUN
@click.argument('query')
@options.SUBSET
@options.DEFINITION
@options.JUDGEMENTS
@options.LIMITS
@options.integer('-n', '--depth', default=20, help='Hypotheses to show.')
@options.FORMAT
@options.OUTPUT
def rank(
    hypothesis: str, query: str, depth: int, format: str, output: Output, **criteria: Any
) -> None:
    """Show the top of the ranking for QUERY, a name, and its AP.

    csv, json and jsonl have the rows of the ranking alone.
    """
    from mediaeval_ap.evaluation.criteria import check_query

    with as_usage():
        check_query(query)
    average_precision = options.read_reference(cutoffs=[depth], **criteria)
    frame = average_precision.rank(hypothesis, query)
    ranking = Grid.from_frame(frame)
    figures = Grid(list(map(str, frame.attrs)), [list(frame.attrs.values())])
    document = replace(Document.from_grid(ranking), blocks=lambda: [ranking, figures])
    write_document(document, format, output)


@main.command(
    examples=[
        'mediaeval-ap explain reference.txt hypothesis.txt --queries queries.txt',
        'mediaeval-ap explain reference.txt hypothesis.txt nicolas_sarkozy -k 10 -o why.json',
    ]
)
@options.REFERENCE
@options.RUN
@click.argument('query', required=False)
@options.QUERIES
@options.input_file(
    '--against', 'Another run, to split what it gains or loses against RUN.', read=options.read_run
)
@options.SUBSET
@options.cutoff('-k', '-K', '--cutoff', default='100', help='Cutoff; "all" is no cutoff.')
@options.NEAR
@options.DEFINITION
@options.QUERIES_WITHOUT_RELEVANT
@options.JUDGEMENTS
@options.LIMITS
@options.flag('--per-query', help='List every query in tables; csv and json always do.')
@options.integer('-n', '--costliest', default=10, help='Queries and names to list in tables.')
@options.FORMAT
@options.OUTPUT
def explain(
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
    """Show where precision was lost, in all or for one QUERY.

    The loss, 1 - AP, is split into parts that add up to it: by ties, by confidence, by names, by
    shots that were not returned.
    """
    from mediaeval_ap.evaluation.criteria import check_query

    if query is not None:
        if queries is not None:
            raise click.UsageError('QUERY and --queries are given: give one of them')
        with as_usage():
            check_query(query)
        if os.path.isfile(query):
            raise click.UsageError(
                f'QUERY: found the file {shown(query)}, expected a name; '
                'a second run is given with --against, a file of names with --queries'
            )
    average_precision = options.read_reference(cutoffs=[cutoff], **criteria)
    read = average_precision.criteria.read_queries(queries)
    asked: Any = read if query is None else [query]
    runs = [hypothesis] if against is None else [hypothesis, against]
    name, *others = options.names_of(runs)
    diagnosis = average_precision.explain(hypothesis, asked, k=cutoff, near=near).called(name)
    if against is not None:
        other = average_precision.explain(against, asked, k=cutoff, near=near).called(*others)
        document = diagnosis.against(other).document(per_query=per_query, costliest=costliest)
    elif query is not None:
        document = diagnosis.of(query).document()
    else:
        document = diagnosis.document(per_query=per_query, costliest=costliest)
    write_document(document, format, output)


@main.command(
    examples=[
        'mediaeval-ap validate hypothesis.txt --reference reference.txt',
        "awk '$5 >= 0.5' hypothesis.txt | mediaeval-ap validate hypothesis.txt - --statistics",
    ],
    exit_status='0: no errors, perhaps warnings; 1: error in a run, or a file cannot be '
    'read or written; 2: error in the command line',
)
@options.RUNS
@options.input_file('--shots', 'All shots: corpus_id video_id shot_id start_time end_time.')
@options.input_file('--videos', 'All videos: corpus_id video_id.')
@options.input_file('--evidence', 'Evidence: person_name corpus_id video_id modality timestamp.')
@options.input_file('--reference', 'Reference, to warn of videos and names that it lacks.')
@options.choice(
    '--rules', CAMPAIGNS, '2016', 'Campaign whose rules apply: {words} (the format only).'
)
@options.integer(
    '--max-problems',
    default=MAX_PROBLEMS,
    help='Problems of a kind to list, others are counted.  [default: 20,000]',
)
@options.flag(
    '--all', 'show_all', help=f'Show all listed problems.  [default: {SHOWN_PROBLEMS} of each kind]'
)
@options.flag('--statistics', help='Count the problems of each kind instead.')
@options.file_format(['table', 'json', 'csv'])
@options.OUTPUT
@options.MESSAGES
def validate(
    runs: tuple[str, ...],
    show_all: bool,
    statistics: bool,
    format: str,
    output: Output,
    **settings: Any,
) -> None:
    """List all problems of each RUN, and how to correct them."""
    if settings['evidence'] is not None and len(runs) > 1:
        raise click.UsageError(f'--evidence is of one run: found {len(runs)} runs')
    for role in 'shots', 'videos', 'reference':
        options.refuse_to_read_again(f'--{role}', settings[role], len(runs))
    from mediaeval_ap.validation import examine, problems

    findings = {
        name: examine(run, **settings)
        for name, run in zip(options.names_of(runs), runs, strict=True)
    }
    if statistics:
        document = problems.statistics(findings)
    else:
        document = problems.problems_document(findings, None if show_all else SHOWN_PROBLEMS)
    write_document(document, format, output)
    if any(each.count('error') for each in findings.values()):
        sys.exit(1)
