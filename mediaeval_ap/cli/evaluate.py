"""Commands about finished runs: ``evaluate`` and ``rank``."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any

import click

from mediaeval_ap.cli import kept_blocks, options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.on_cluster import evaluate_on_cluster
from mediaeval_ap.cli.output import Output, write_document
from mediaeval_ap.cli.several_runs import Reporting, reports
from mediaeval_ap.errors import QueryError
from mediaeval_ap.render.document import Document, Grid


@main.command(
    examples=[
        'mediaeval-ap evaluate reference.txt hypothesis.txt --queries queries.txt --per-query',
        'mediaeval-ap evaluate reference.txt hypothesis.txt -K 10,all -o map.csv',
    ]
)
@options.REFERENCE
@options.RUNS
@options.QUERIES
@options.MEASURES
@options.CRITERIA
@options.QUERIES_WITHOUT_RELEVANT
@options.JOBS
@kept_blocks.RESUME
@kept_blocks.PART
@options.SCHEDULER
@reports
def evaluate(
    runs: tuple[str, ...],
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
    kept_blocks.check_options(resume, part, runs, reporting)
    if scheduler is not None and (part is not None or jobs > 1):
        other = '--jobs' if part is None else '--part'
        raise click.UsageError(f'{other} and --scheduler: the scheduler shares out all blocks')
    options.check_cutoffs(criteria['cutoffs'], criteria['definition'], measures)
    average_precision = options.read_reference(**criteria)
    from mediaeval_ap.tables import QUERIES, read

    asked = None if queries is None else read(queries, QUERIES, max_bytes=criteria['max_bytes'])
    if scheduler is not None:
        evaluate_on_cluster(scheduler, average_precision, runs, asked, measures, resume, reporting)
        return
    if resume is not None:

        def keep() -> list[Any]:
            return average_precision._keep(runs, asked, measures, resume)

        kept_blocks.evaluate_kept(keep, runs, part, jobs, reporting)
        return
    if jobs == 1:
        evaluate = average_precision.evaluate
        reporting.write(runs, lambda run: [evaluate(run, asked, measures=measures)])
        return
    from mediaeval_ap.execute.evaluating import given_out

    with closing(average_precision._evaluate_runs(runs, asked, measures, jobs)) as results:
        reporting.write(runs, lambda _: [given_out(next(results))])


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
@options.LIMITS
@options.depth(20, 'Number of hypotheses to show.')
@options.FORMAT
@options.OUTPUT
def rank(
    hypothesis: str, query: str, depth: int, format: str, output: Output, **criteria: Any
) -> None:
    """Show the top of the ranking for QUERY, a name, and its AP.

    csv, json and jsonl have the rows of the ranking alone.
    """
    from mediaeval_ap.evaluation.queries import check_query

    try:
        check_query(query)
    except QueryError as error:
        raise click.UsageError(str(error)) from error
    average_precision = options.read_reference(cutoffs=[depth], **criteria)
    frame = average_precision.rank(hypothesis, query)
    ranking = Grid.from_frame(frame)
    figures = Grid(list(map(str, frame.attrs)), [list(frame.attrs.values())])
    document = replace(Document.from_grid(ranking), blocks=lambda: [ranking, figures])
    write_document(document, format, output)
