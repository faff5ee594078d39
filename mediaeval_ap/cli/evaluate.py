"""Commands about finished runs: ``evaluate``, ``evaluate-2015`` and ``rank``."""

from __future__ import annotations

from typing import Any

import click

from mediaeval_ap.choices import RATIO_2015, check_ratio
from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import Output, width_of, write
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


@main.command(
    'evaluate-2015',
    examples=[
        'mediaeval-ap evaluate-2015 --shots shots.txt --reference reference.txt --labels run.txt'
    ],
)
@options.input_file(
    '--shots',
    'All shots: video_id shot_id start_time end_time first_frame last_frame.',
    required=True,
)
@options.input_file('--reference', 'Reference: video_id shot_id person_name.', required=True)
@options.input_file('--labels', 'Run: video_id shot_id person_name confidence.', required=True)
@options.input_file(
    '--evidence-reference', 'Where names are seen or heard: video_id shot_id person_name source.'
)
@options.input_file(
    '--evidence',
    'One piece of evidence for each name of the run: person_name video_id shot_id source.',
)
@options.input_file(
    '--queries',
    'Names to ask for, one per line.  [default: all in the reference that do not begin with ?]',
)
@options.input_file('--consensus', 'Shots to score: video_id shot_id.  [default: all]')
@options.valued(
    '--ratio',
    RATIO_2015,
    'A name answers a query if their similarity (0 to 1) is greater than this.',
    type=float,
    callback=options.checked(check_ratio),
)
@options.LIMITS
@options.writes_results
@options.MEAN_ONLY
def evaluate_2015(labels: str, evidence: str | None, queries: str | None, **task: Any) -> list[Any]:
    """Score a run of 2015: MAP, correctness and EwMAP.

    The files are those of MediaEval Person Discovery 2015, without a corpus. Each query is
    answered by the closest name of the run, if it is close enough. Correctness and EwMAP need
    evidence.
    """
    if (evidence is None) != (task['evidence_reference'] is None):
        raise click.UsageError('--evidence and --evidence-reference go together')
    from mediaeval_ap.discovery_2015 import PersonDiscovery2015

    return [PersonDiscovery2015(**task).evaluate(labels, evidence, queries)]


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
    write(render(Document.from_grid(ranking), format, width_of(output)), output)
