"""Commands about finished runs: ``evaluate`` and ``rank``."""

from __future__ import annotations

from typing import Any

import click

from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import Output, write
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
@options.argument('hypotheses', nargs=-1, required=True, metavar='HYPOTHESIS...')
@options.QUERIES
@options.CRITERIA
@options.writes_results
@options.MEAN_ONLY
@click.option(
    '--measures',
    callback=options.checked(_check_measures),
    default='',
    help='Measures of ir_measures to add, for example "nDCG@10 P@5 RR".',
)
def evaluate(
    hypotheses: tuple[str, ...], queries: str | None, measures: str, **criteria: Any
) -> list[Any]:
    """Score runs: average precision at K, per query and mean."""
    from mediaeval_ap.tables import QUERIES, read

    average_precision = options.read_reference(**criteria)
    max_bytes = criteria['max_bytes']
    asked = None if queries is None else read(queries, QUERIES, max_bytes=max_bytes)
    return [
        average_precision.evaluate(hypothesis, asked, measures=measures)
        for hypothesis in hypotheses
    ]


@main.command(examples=['mediaeval-ap rank reference.txt run.txt nicolas_sarkozy -k 10'])
@options.REFERENCE
@options.HYPOTHESIS
@click.argument('query')
@options.integer('-k', 20, 'Number of hypotheses to show.')
@options.SUBSET
@options.DEFINITION
@options.LIMITS
@options.FORMAT
@options.OUTPUT
def rank(hypothesis: str, query: str, k: int, format: str, output: Output, **criteria: Any) -> None:
    """Show the top of the ranking for QUERY."""
    average_precision = options.read_reference(cutoffs=[k], **criteria)
    ranking = Grid.from_frame(average_precision.rank(hypothesis, query))
    write(render(Document.from_grid(ranking), format), output)
