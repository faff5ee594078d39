"""Commands about other challenges, on their own files."""

from __future__ import annotations

from typing import Any

import click

from mediaeval_ap import definitions
from mediaeval_ap.choices import TIES
from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import check_paths, is_on_terminal, main, write
from mediaeval_ap.report import render_score

__all__ = ['score_global_list', 'score_labels', 'score_lists']


@main.command('map')
@options.TRUTH
@options.PREDICTIONS
@click.option('-k', type=options.RANK, help='The cutoff.  [default: 12, or 5 with --first-hit]')
@click.option(
    '--definition',
    type=click.Choice(definitions.names()),
    help='What average precision is.  [default: kaggle]',
)
@click.option('--first-hit', is_flag=True, help='Files are Image,Id; the first hit counts only.')
@options.PER_QUERY
@options.MISSING
@options.UNKNOWN
@options.STRICT
@options.MAX_BYTES
@options.FORMAT
@options.OUTPUT
def score_lists(
    truth: str,
    predictions: str,
    k: int | None,
    definition: str | None,
    first_hit: bool,
    format: str,
    output: options.Output,
    **options: Any,
) -> None:
    """Score lists of labels: mean average precision at k, or first-hit MAP.

    PREDICTIONS has customer_id,prediction, where the predicted labels stand between spaces, best
    first; TRUTH has the same, or customer_id,article_id with one label a row. With --first-hit
    both have Image,Id.
    """
    if first_hit and definition:
        raise click.UsageError('--first-hit has no --definition')
    from mediaeval_ap import challenges

    check_paths([truth, predictions], [output])
    options |= {'k': k} if k else {}
    options |= {'definition': definition} if definition else {}
    evaluate = challenges.evaluate_first_hit if first_hit else challenges.evaluate_map
    score = evaluate(truth, predictions, **options, progress=is_on_terminal())
    write(render_score(score, format), output)


@main.command('gap')
@options.TRUTH
@options.PREDICTIONS
@click.option(
    '--ties',
    type=click.Choice(TIES),
    default='expected',
    show_default=True,
    help='What stands first where confidences are equal.',
)
@options.PER_QUERY
@options.MISSING
@options.UNKNOWN
@options.STRICT
@options.MAX_BYTES
@options.FORMAT
@options.OUTPUT
def score_global_list(
    truth: str, predictions: str, format: str, output: options.Output, **options: Any
) -> None:
    """Score labels with a confidence, all in one list: global average precision.

    TRUTH has id,landmark_id; PREDICTIONS has id,landmarks, with a label and its confidence between
    which is a space, or nothing.
    """
    from mediaeval_ap import challenges

    check_paths([truth, predictions], [output])
    score = challenges.evaluate_gap(truth, predictions, **options, progress=is_on_terminal())
    write(render_score(score, format), output)


@main.command('lrap')
@options.TRUTH
@click.argument('scores', type=options.FILE)
@click.option('--label-weighted', is_flag=True, help='The mean over labels (lwlrap).')
@click.option('--per-class', is_flag=True, help='Show the classes.')
@options.UNKNOWN
@options.STRICT
@options.MAX_BYTES
@options.FORMAT
@options.OUTPUT
def score_labels(
    truth: str, scores: str, format: str, output: options.Output, **options: Any
) -> None:
    """Score numbers for every class: label ranking average precision.

    TRUTH has fname,labels with commas between the labels, in quotes; SCORES has fname and a column
    for each class.
    """
    from mediaeval_ap import challenges

    check_paths([truth, scores], [output])
    score = challenges.evaluate_lrap(truth, scores, **options, progress=is_on_terminal())
    write(render_score(score, format), output)
