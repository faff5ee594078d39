"""Commands about files of TREC: ``export-trec`` and ``evaluate-trec``."""

from __future__ import annotations

from typing import Any

import click

from mediaeval_ap import choices, definitions
from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import NEW_FILE, STANDARD_STREAM, Output
from mediaeval_ap.cli.reporting import Reporting, refuse_to_read_again, reports
from mediaeval_ap.definitions import Cutoff


@main.command(
    'export-trec',
    examples=[
        'mediaeval-ap export-trec reference.txt hypothesis.txt --queries queries.txt '
        '--qrels my.qrels --run my.run',
        'mediaeval-ap export-trec reference.txt hypothesis.txt --queries queries.txt '
        '--qrels my.qrels --run my.run -n 100 --tag mine',
    ],
)
@options.REFERENCE
@options.RUN
@options.option(
    '--qrels',
    heading='Output',
    type=NEW_FILE,
    metavar='FILE',
    required=True,
    help='Output file for the qrels.',
)
@options.option(
    '--run',
    heading='Output',
    type=NEW_FILE,
    metavar='FILE',
    required=True,
    help='Output file for the run.',
)
@options.QUERIES
@options.SUBSET
@options.depth(
    choices.TREC_DEPTH,
    'Largest number of shots for each query.',
    largest=choices.LARGEST_TREC_DEPTH,
)
@options.valued(
    '--tag',
    default='mediaeval_ap',
    help='Name of the run, the last field of each line.',
    heading='Output',
    metavar='WORD',
    callback=options.checked(choices.check_tag),
)
@options.LIMITS
def export_trec(
    hypothesis: str,
    qrels: Output,
    run: Output,
    queries: str | None,
    depth: int,
    tag: str,
    **criteria: Any,
) -> None:
    """Write a run and its qrels in the formats of TREC.

    Each query becomes a topic; each shot becomes the document corpus/video/shot, at most once in a
    ranking.
    """
    if STANDARD_STREAM in (qrels, run):
        raise click.UsageError('--qrels and --run are files, not standard output (-)')
    average_precision = options.read_reference(cutoffs=[depth], definition='trec', **criteria)
    average_precision.export_trec(hypothesis, qrels, run, queries, k=depth, tag=tag)


@main.command(
    'evaluate-trec',
    examples=[
        'mediaeval-ap evaluate-trec my.qrels my.run -K 100,all --per-query',
        'mediaeval-ap evaluate-trec my.qrels my.run --missing skip --unknown drop -o map.json',
    ],
)
@options.argument('qrels')
@options.RUNS
@options.CUTOFFS
@options.definition('trec')
@options.choice(
    '--ties',
    choices.TREC_TIES,
    'trec_eval',
    'How to break ties between equal scores: {words}; trec_eval is version 10.',
)
@options.integer(
    '--relevance-level',
    default=1,
    help='Lowest relevance of a relevant document.',
    heading='Scoring',
    least=-choices.LARGEST_TREC_LEVEL,
    largest=choices.LARGEST_TREC_LEVEL,
)
@options.choice(
    '--missing',
    choices.MISSING,
    'error',
    'Topics that a RUN lacks: stop (error), score 0 (zero) or leave them out (skip).',
)
@options.choice(
    '--unknown',
    choices.UNKNOWN,
    'error',
    'Topics that QRELS lacks: stop (error) or leave them out (drop).',
)
@options.QUERIES_WITHOUT_RELEVANT
@options.MEASURES
@options.LIMITS
@reports
def evaluate_trec_files(
    qrels: str,
    runs: tuple[str, ...],
    cutoffs: list[Cutoff],
    reporting: Reporting,
    **settings: Any,
) -> None:
    """Score runs in the format of TREC: average precision at K.

    QRELS has qid, iteration, docno, relevance; RUN has qid, Q0, docno, rank, score, tag. trec_eval
    has --missing skip --unknown drop, and with -c --missing zero --unknown drop.
    """
    definition = settings['definition']
    if settings['ties'] == 'expected' and 'H' in definitions.get(definition).denominator:
        raise click.UsageError(f'--definition {definition} has no --ties expected')
    options.check_cutoffs(cutoffs, definition, settings['measures'])
    refuse_to_read_again('QRELS', qrels, len(runs))
    from mediaeval_ap.trec import evaluate_trec

    reporting.write(runs, lambda run: [evaluate_trec(qrels, run, cutoffs, **settings)])
