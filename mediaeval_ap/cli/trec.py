"""Commands about files of TREC: ``export-trec`` and ``evaluate-trec``."""

from __future__ import annotations

from typing import Any

import click

from mediaeval_ap import definitions
from mediaeval_ap.choices import (
    LARGEST_TREC_DEPTH,
    LARGEST_TREC_LEVEL,
    TREC_DEPTH,
    TREC_MISSING,
    TREC_TIES,
    check_tag,
)
from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import STANDARD_STREAM, check_paths, write_results
from mediaeval_ap.definitions import Cutoff


@main.command(
    'export-trec',
    examples=['mediaeval-ap export-trec reference.txt run.txt --qrels qrels --run run.trec'],
)
@options.REFERENCE
@options.HYPOTHESIS
@click.option('--qrels', type=options.NEW_FILE, required=True, help='Where to write the qrels.')
@click.option('--run', type=options.NEW_FILE, required=True, help='Where to write the run.')
@options.QUERIES
@options.SUBSET
@click.option(
    '-k',
    type=click.IntRange(1, LARGEST_TREC_DEPTH),
    default=TREC_DEPTH,
    show_default=True,
    help='Maximal number of shots for each query.',
)
@click.option(
    '--tag',
    callback=options.checked(check_tag),
    default='mediaeval_ap',
    show_default=True,
    help='Name of the run, the last field of each line.',
)
@options.LIMITS
def export_trec(
    hypothesis: str,
    qrels: options.Output,
    run: options.Output,
    queries: str | None,
    k: int,
    tag: str,
    **criteria: Any,
) -> None:
    """Write a run, and what is relevant, for the tools of TREC.

    A query is a topic, a shot the document corpus/video/shot, each once in a ranking.
    """
    if STANDARD_STREAM in (qrels, run):
        raise click.UsageError('--qrels and --run are files, not standard output (-)')
    check_paths([criteria['reference'], hypothesis, queries, criteria['subset']], [qrels, run])
    average_precision = options.read_reference(cutoffs=[k], definition='trec', **criteria)
    average_precision.export_trec(hypothesis, qrels, run, queries, k=k, tag=tag)


@main.command(
    'evaluate-trec', examples=['mediaeval-ap evaluate-trec qrels run.trec -K 100,all --mean-only']
)
@click.argument('qrels', type=options.FILE)
@click.argument('run', type=options.FILE)
@options.CUTOFFS
@options.definition('trec')
@options.choice(
    '--ties',
    TREC_TIES,
    'trec_eval',
    'How to break ties between equal scores; trec_eval is version 10.',
)
@click.option(
    '--relevance-level',
    type=click.IntRange(-LARGEST_TREC_LEVEL, LARGEST_TREC_LEVEL),
    default=1,
    show_default=True,
    help='Lowest relevance of a relevant document.',
)
@options.choice('--missing', TREC_MISSING, 'zero', 'How to score topics that RUN does not answer.')
@options.LIMITS
@options.RESULT
@options.MEAN_ONLY
def evaluate_trec_files(
    qrels: str,
    run: str,
    cutoffs: list[Cutoff],
    format: str,
    output: options.Output,
    mean_only: bool,
    **settings: Any,
) -> None:
    """Score a run in the format of TREC: average precision at K.

    QRELS has qid, iteration, docno, relevance; RUN has qid, Q0, docno, rank, score, tag.
    """
    definition = settings['definition']
    if settings['ties'] == 'expected' and 'H' in definitions.get(definition).denominator:
        raise click.UsageError(f'--definition {definition} has no --ties expected')
    options.check_cutoffs(cutoffs, definition)
    check_paths([qrels, run], [output])
    from mediaeval_ap.trec import evaluate_trec

    evaluation = evaluate_trec(qrels, run, cutoffs, **settings)
    write_results([evaluation], format, output, mean_only=mean_only)
