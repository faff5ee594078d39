"""Commands about other challenges, on their own files: ``map``, ``gap`` and ``lrap``."""

from __future__ import annotations

from typing import Any

import click

from mediaeval_ap.choices import MISSING, TIES, UNKNOWN
from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main

TRUTH = options.argument('truth')
PREDICTIONS = options.argument('predictions')
PER_QUERY = options.flag('--per-query', help='Show the values of each query, too.')
MISSING_IDS = options.choice(
    '--missing', MISSING, 'error', 'Ids of TRUTH without a prediction: stop, or score them 0.'
)
UNKNOWN_IDS = options.choice(
    '--unknown', UNKNOWN, 'error', 'Ids that are not in TRUTH: stop, or drop them.'
)


def _score(function: str, truth: str, predictions: str, **settings: Any) -> list[Any]:
    """Score predictions by a function of `mediaeval_ap.challenges`; None is its default."""
    from mediaeval_ap import challenges

    given = {name: value for name, value in settings.items() if value is not None}
    evaluate = getattr(challenges, function)
    return [evaluate(truth, predictions, **given)]


@main.command('map', examples=['mediaeval-ap map truth.csv predictions.csv -k 12'])
@TRUTH
@PREDICTIONS
@options.integer('-k', None, 'Cutoff.  [default: 12, or 5 with --first-hit]')
@options.definition(None, '  [default: kaggle]')
@options.flag('--first-hit', help='Score by the reciprocal rank of the first hit.')
@PER_QUERY
@MISSING_IDS
@UNKNOWN_IDS
@options.LIMITS
@options.writes_results
def score_lists(first_hit: bool, **settings: Any) -> list[Any]:
    """Score lists of labels: MAP at k, or first-hit MAP.

    PREDICTIONS has customer_id,prediction with the predicted labels separated by spaces, best
    first. TRUTH has the same columns (the relevant labels), or customer_id,article_id with one
    label per row. With --first-hit both have Image,Id, and TRUTH one label per row.
    """
    if not first_hit:
        return _score('evaluate_map', **settings)
    if settings.pop('definition'):
        raise click.UsageError('--first-hit has no --definition')
    return _score('evaluate_first_hit', **settings)


@main.command('gap', examples=['mediaeval-ap gap truth.csv predictions.csv'])
@TRUTH
@PREDICTIONS
@options.choice('--ties', TIES, 'expected', 'How to break ties between equal confidences.')
@PER_QUERY
@MISSING_IDS
@UNKNOWN_IDS
@options.LIMITS
@options.writes_results
def score_global_list(**settings: Any) -> list[Any]:
    """Score one label per query, all in one list: global AP.

    TRUTH has id,landmark_id. PREDICTIONS has id,landmarks, where landmarks is empty, or a label, a
    space and its confidence.
    """
    return _score('evaluate_gap', **settings)


@main.command('lrap', examples=['mediaeval-ap lrap truth.csv scores.csv --label-weighted'])
@TRUTH
@options.argument('predictions', metavar='SCORES')
@options.flag('--label-weighted', help='Take the mean over labels (lwlrap), not over samples.')
@options.flag('--per-class', help='Show the values of each class, too.')
@UNKNOWN_IDS
@options.LIMITS
@options.writes_results
def score_labels(**settings: Any) -> list[Any]:
    """Score one number per sample and class: label ranking AP.

    TRUTH has fname,labels with the labels separated by commas, in quotes. SCORES has fname and
    one column per class.
    """
    return _score('evaluate_lrap', **settings)
