"""Commands about other challenges, on their own files: ``map``, ``gap`` and ``lrap``."""

from __future__ import annotations

from typing import Any

import click

from mediaeval_ap.choices import MISSING, TIES, UNKNOWN
from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import check_paths, is_on_terminal, write_results

TRUTH = click.argument('truth', type=options.FILE)
PREDICTIONS = click.argument('predictions', type=options.FILE)
PER_QUERY = click.option('--per-query', is_flag=True, help='Show the queries, too.')
UNKNOWN_IDS = options.choice(
    '--unknown', UNKNOWN, 'error', 'How to treat predictions for ids that TRUTH does not have.'
)
IDS = options.together(
    options.choice(
        '--missing', MISSING, 'error', 'How to score ids of TRUTH that have no prediction.'
    ),
    UNKNOWN_IDS,
)
COMMON = options.together(options.LIMITS, options.RESULT)


def _score(
    metric: str, truth: str, predictions: str, format: str, output: options.Output, **settings: Any
) -> None:
    """Score predictions by a function of `mediaeval_ap.challenges`, and write the score."""
    from mediaeval_ap import challenges

    check_paths([truth, predictions], [output])
    evaluate = getattr(challenges, metric)
    write_results(
        [evaluate(truth, predictions, **settings, progress=is_on_terminal())], format, output
    )


@main.command('map', examples=['mediaeval-ap map truth.csv predictions.csv -k 12'])
@TRUTH
@PREDICTIONS
@click.option('-k', type=options.RANK, help='Cutoff.  [default: 12, or 5 with --first-hit]')
@options.definition(None, '  [default: kaggle]')
@click.option(
    '--first-hit', is_flag=True, help='Count the first hit only; files have the columns Image,Id.'
)
@PER_QUERY
@IDS
@COMMON
def score_lists(k: int | None, definition: str | None, first_hit: bool, **settings: Any) -> None:
    """Score lists of labels: MAP at k, or first-hit MAP.

    PREDICTIONS has customer_id,prediction with the predicted labels separated by spaces, best
    first; TRUTH has the same, or customer_id,article_id with one label a row. With --first-hit
    both have Image,Id.
    """
    if first_hit and definition:
        raise click.UsageError('--first-hit has no --definition')
    settings |= {'k': k} if k else {}
    settings |= {'definition': definition} if definition else {}
    _score('evaluate_first_hit' if first_hit else 'evaluate_map', **settings)


@main.command('gap', examples=['mediaeval-ap gap truth.csv predictions.csv'])
@TRUTH
@PREDICTIONS
@options.choice('--ties', TIES, 'expected', 'How to break ties between equal confidences.')
@PER_QUERY
@IDS
@COMMON
def score_global_list(**settings: Any) -> None:
    """Score labels with a confidence, all in one list: global AP.

    TRUTH has id,landmark_id; PREDICTIONS has id,landmarks with a label and its confidence,
    separated by a space, or nothing.
    """
    _score('evaluate_gap', **settings)


@main.command('lrap', examples=['mediaeval-ap lrap truth.csv scores.csv --label-weighted'])
@TRUTH
@click.argument('scores', type=options.FILE)
@click.option(
    '--label-weighted', is_flag=True, help='Take the mean over labels (lwlrap), not over samples.'
)
@click.option('--per-class', is_flag=True, help='Show the classes, too.')
@UNKNOWN_IDS
@COMMON
def score_labels(scores: str, **settings: Any) -> None:
    """Score numbers for every class: label ranking AP.

    TRUTH has fname,labels with the labels separated by commas, in quotes; SCORES has fname and a
    column for each class.
    """
    _score('evaluate_lrap', predictions=scores, **settings)
