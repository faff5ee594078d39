"""Commands about finished runs: ``evaluate`` and ``rank``."""

from __future__ import annotations

from typing import Any

import click

from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import check_paths, is_on_terminal, write, write_results
from mediaeval_ap.report.document import Document, Grid
from mediaeval_ap.report.formats import render


def _check_measures(names: str) -> None:
    if names:
        from mediaeval_ap.trec.measures import parse_measures

        parse_measures(names)


@main.command(
    examples=[
        'mediaeval-ap evaluate reference.txt run.txt',
        'mediaeval-ap evaluate reference.txt run.txt -K 10,all --format csv -o map.csv',
    ]
)
@options.REFERENCE
@click.argument('hypotheses', type=options.FILE, nargs=-1, required=True, metavar='HYPOTHESIS...')
@options.QUERIES
@options.CRITERIA
@options.RESULT
@options.MEAN_ONLY
@click.option(
    '--measures',
    callback=options.checked(_check_measures),
    default='',
    help='Measures of ir_measures to add, as "nDCG@10 P@5 RR".',
)
def evaluate(
    hypotheses: tuple[str, ...],
    queries: str | None,
    format: str,
    output: options.Output,
    mean_only: bool,
    measures: str,
    **criteria: Any,
) -> None:
    """Score runs: average precision at K, by query and in the mean."""
    check_paths([criteria['reference'], *hypotheses, queries, criteria['subset']], [output])
    from mediaeval_ap.tables import QUERIES, read

    average_precision = options.read_reference(**criteria)
    max_bytes = criteria['max_bytes']
    asked = None if queries is None else read(queries, QUERIES, max_bytes=max_bytes)
    evaluations = [
        average_precision.evaluate(hypothesis, asked, progress=is_on_terminal(), measures=measures)
        for hypothesis in hypotheses
    ]
    write_results(evaluations, format, output, mean_only=mean_only)


@main.command(examples=['mediaeval-ap rank reference.txt run.txt nicolas_sarkozy -k 10'])
@options.REFERENCE
@options.HYPOTHESIS
@click.argument('query')
@click.option(
    '-k', type=options.RANK, default=20, show_default=True, help='Number of hypotheses to show.'
)
@options.SUBSET
@options.DEFINITION
@options.LIMITS
@options.RESULT
def rank(
    hypothesis: str, query: str, k: int, format: str, output: options.Output, **criteria: Any
) -> None:
    """Show the first hypotheses for QUERY, as they are scored."""
    check_paths([criteria['reference'], hypothesis, criteria['subset']], [output])
    average_precision = options.read_reference(cutoffs=[k], **criteria)
    ranking = Grid.from_frame(average_precision.rank(hypothesis, query))
    write(render(Document.from_grid(ranking), format), output)
