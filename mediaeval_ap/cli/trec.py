"""Commands about files of TREC: ``export-trec`` and ``evaluate-trec``."""

from __future__ import annotations

from typing import Any

import click

from mediaeval_ap import choices, definitions
from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import NEW_FILE, STANDARD_STREAM, Output
from mediaeval_ap.definitions import Cutoff


@main.command(
    'export-trec',
    examples=['mediaeval-ap export-trec reference.txt run.txt --qrels qrels --run run.trec'],
)
@options.REFERENCE
@options.HYPOTHESIS
@click.option('--qrels', type=NEW_FILE, required=True, help='Output file for the qrels.')
@click.option('--run', type=NEW_FILE, required=True, help='Output file for the run.')
@options.QUERIES
@options.SUBSET
@options.integer(
    '-k',
    choices.TREC_DEPTH,
    'Largest number of shots for each query.',
    largest=choices.LARGEST_TREC_DEPTH,
)
@options.valued(
    '--tag',
    'mediaeval_ap',
    'Name of the run, the last field of each line.',
    callback=options.checked(choices.check_tag),
)
@options.LIMITS
def export_trec(
    hypothesis: str,
    qrels: Output,
    run: Output,
    queries: str | None,
    k: int,
    tag: str,
    **criteria: Any,
) -> None:
    """Write a run and its qrels in the formats of TREC.

    Each query becomes a topic; each shot becomes the document corpus/video/shot, at most once in a
    ranking.
    """
    if STANDARD_STREAM in (qrels, run):
        raise click.UsageError('--qrels and --run are files, not standard output (-)')
    average_precision = options.read_reference(cutoffs=[k], definition='trec', **criteria)
    average_precision.export_trec(hypothesis, qrels, run, queries, k=k, tag=tag)


@main.command(
    'evaluate-trec', examples=['mediaeval-ap evaluate-trec qrels run.trec -K 100,all --mean-only']
)
@options.argument('qrels')
@options.argument('run')
@options.CUTOFFS
@options.definition('trec')
@options.choice(
    '--ties',
    choices.TREC_TIES,
    'trec_eval',
    'How to break ties between equal scores; trec_eval is version 10.',
)
@options.integer(
    '--relevance-level',
    1,
    'Lowest relevance of a relevant document.',
    least=-choices.LARGEST_TREC_LEVEL,
    largest=choices.LARGEST_TREC_LEVEL,
)
@options.choice(
    '--missing',
    choices.MISSING,
    'error',
    'Topics that RUN lacks: stop (error), score 0 (zero) or leave them out (skip).',
)
@options.choice(
    '--unknown',
    choices.UNKNOWN,
    'error',
    'Topics that QRELS lacks: stop (error) or leave them out (drop).',
)
@options.LIMITS
@options.writes_results
@options.MEAN_ONLY
def evaluate_trec_files(qrels: str, run: str, cutoffs: list[Cutoff], **settings: Any) -> list[Any]:
    """Score a run in the format of TREC: average precision at K.

    QRELS has qid, iteration, docno, relevance; RUN has qid, Q0, docno, rank, score, tag.
    """
    definition = settings['definition']
    if settings['ties'] == 'expected' and 'H' in definitions.get(definition).denominator:
        raise click.UsageError(f'--definition {definition} has no --ties expected')
    options.check_cutoffs(cutoffs, definition)
    from mediaeval_ap.trec import evaluate_trec

    return [evaluate_trec(qrels, run, cutoffs, **settings)]
