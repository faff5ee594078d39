"""Commands about files of TREC."""

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
from mediaeval_ap.cli.errors import (
    STANDARD_STREAM,
    check_cutoffs,
    check_paths,
    main,
    read_reference,
    write,
)
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.report import render_evaluations

__all__ = ['evaluate_trec_files', 'export_trec']


@main.command('export-trec')
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
    help='How long a ranking is at most.',
)
@click.option(
    '--tag',
    callback=options.checked(check_tag),
    default='mediaeval_ap',
    show_default=True,
    help='Names the run.',
)
@options.STRICT
@options.MAX_BYTES
def export_trec(
    reference: str,
    hypothesis: str,
    qrels: options.Output,
    run: options.Output,
    queries: str | None,
    subset: str | None,
    k: int,
    tag: str,
    max_bytes: int,
) -> None:
    """Write a run, and what is relevant, for the tools of TREC.

    A query is a topic, a shot the document corpus/video/shot, each once in a ranking.
    """
    if STANDARD_STREAM in (qrels, run):
        raise click.UsageError('--qrels and --run are files, not standard output (-)')
    check_paths([reference, hypothesis, queries, subset], [qrels, run])
    average_precision = read_reference(reference, [k], subset, 'trec', max_bytes)
    average_precision.export_trec(hypothesis, qrels, run, queries, k=k, tag=tag)


@main.command('evaluate-trec')
@click.argument('qrels', type=options.FILE)
@click.argument('run', type=options.FILE)
@options.CUTOFFS
@click.option(
    '--definition',
    type=click.Choice(definitions.names()),
    default='trec',
    show_default=True,
    help='What average precision is.',
)
@click.option(
    '--ties',
    type=click.Choice(TREC_TIES),
    default='trec_eval',
    show_default=True,
    help='How to break ties between equal scores; trec_eval is version 10.',
)
@click.option(
    '--relevance-level',
    type=click.IntRange(-LARGEST_TREC_LEVEL, LARGEST_TREC_LEVEL),
    default=1,
    show_default=True,
    help='From which relevance on a document is relevant.',
)
@click.option(
    '--missing',
    type=click.Choice(TREC_MISSING),
    default='zero',
    show_default=True,
    help='What a topic of QRELS is that RUN lacks.',
)
@options.STRICT
@options.MAX_BYTES
@options.FORMAT
@options.OUTPUT
@options.MEAN_ONLY
def evaluate_trec_files(
    qrels: str,
    run: str,
    cutoffs: list[Cutoff],
    format: str,
    output: options.Output,
    mean_only: bool,
    **options: Any,
) -> None:
    """Score a run in the format of TREC: average precision at K of each topic, and the means.

    QRELS has qid, iteration, docno, relevance; RUN has qid, Q0, docno, rank, score, tag.
    """
    if options['ties'] == 'expected' and 'H' in definitions.get(options['definition']).denominator:
        raise click.UsageError(f'--definition {options["definition"]} has no --ties expected')
    check_cutoffs(cutoffs, options['definition'])
    check_paths([qrels, run], [output])
    from mediaeval_ap.trec import evaluate_trec

    evaluation = evaluate_trec(qrels, run, cutoffs, **options)
    write(render_evaluations([evaluation], format, mean_only=mean_only), output)
