"""Commands about other challenges, on their own files: ``map``, ``gap`` and ``lrap``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from mediaeval_ap import definitions
from mediaeval_ap.choices import TIES
from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.options import Reporting, refuse_to_read_again, reports
from mediaeval_ap.definitions import Cutoff

CUTOFF, CUTOFF_OF_FIRST_HIT = 12, 5  # of the two challenges


def _input(predictions: str, roles: str) -> options.Decorator:
    """Return the arguments and options of the files of a challenge."""
    return options.together(
        options.argument('truth'),
        options.run_argument('runs', nargs=-1, required=True, metavar=f'{predictions}...'),
        options.option(
            '--columns',
            metavar='ROLE=COLUMN,...',
            read=options.columns_by_role,
            help=f'Columns of other files, by name, or by position from 1: {roles}.',
        ),
        options.option(
            '--truth-columns',
            metavar='ROLE=COLUMN,...',
            read=options.columns_by_role,
            help='Columns of TRUTH.  [default: as --columns]',
        ),
        options.other_ids('Ids', predictions, 'TRUTH'),
        options.LIMITS,
    )


def _score(
    reporting: Reporting,
    truth: str,
    runs: tuple[str, ...],
    evaluate: Callable[..., Any],
    **settings: Any,
) -> None:
    """Score each run by a function, with the settings that are given; None is its default."""
    refuse_to_read_again('TRUTH', truth, len(runs))
    given = {name: value for name, value in settings.items() if value is not None}
    given['per_query'] = reporting.per_query
    reporting.write(runs, lambda run: [evaluate(truth, run, **given)])


@main.command(
    'map',
    examples=[
        'mediaeval-ap map fashion_truth.csv fashion_predictions.csv -K 5,12',
        'mediaeval-ap map whales_truth.csv whales_predictions.csv --first-hit --per-query',
    ],
)
@_input('PREDICTIONS', 'id, and labels (several in a field) or label (one in each row)')
@options.cutoffs(
    None,
    f'Cutoffs, as 5,12.  [default: {CUTOFF}; with --first-hit {CUTOFF_OF_FIRST_HIT}]',
)
@options.definition(None, '  [default: kaggle]')
@options.flag('--first-hit', help='Score the reciprocal rank of the first hit.')
@reports
def score_lists(
    first_hit: bool, cutoffs: list[Cutoff], definition: str | None, **settings: Any
) -> None:
    """Score lists of labels: MAP at k, or first-hit MAP.

    PREDICTIONS has customer_id,prediction with the predicted labels separated by spaces, best
    first. TRUTH has the same columns (the relevant labels), or customer_id,article_id with one
    label per row. With --first-hit both have Image,Id, and TRUTH one label per row. --columns
    names the columns of other files.
    """
    if first_hit and definition:
        raise click.UsageError('--first-hit has no --definition')
    if definitions.ALL in cutoffs:
        raise click.UsageError('-K: found all, expected positive integers')
    cutoffs = cutoffs or [CUTOFF_OF_FIRST_HIT if first_hit else CUTOFF]
    options.check_cutoffs(cutoffs, definition or 'kaggle')
    from mediaeval_ap.challenges import evaluate_first_hit, evaluate_map

    evaluate = evaluate_first_hit if first_hit else evaluate_map
    _score(evaluate=evaluate, k=cutoffs, definition=definition, **settings)


@main.command(
    'gap',
    examples=[
        'mediaeval-ap gap landmarks_truth.csv landmarks_predictions.csv',
        'mediaeval-ap gap landmarks_truth.csv landmarks_predictions.csv --per-query -o gap.csv',
    ],
)
@_input('PREDICTIONS', 'id, label and, if it has its own column, confidence')
@options.choice('--ties', TIES, 'expected', 'Order of equal confidences: {words}.')
@reports
def score_global_list(**settings: Any) -> None:
    """Score one label per query, all in one list: global AP.

    TRUTH has id,landmark_id. PREDICTIONS has id,landmarks, where landmarks is empty, or a label, a
    space and its confidence. --columns names the columns of other files.
    """
    from mediaeval_ap.challenges import evaluate_gap

    _score(evaluate=evaluate_gap, **settings)


@main.command(
    'lrap',
    examples=[
        'mediaeval-ap lrap sounds_truth.csv sounds_scores.csv --label-weighted',
        'mediaeval-ap lrap sounds_truth.csv sounds_scores.csv --per-class -o classes.md',
    ],
)
@_input('SCORES', 'id, and in TRUTH labels (several in a field) or label (one in each row)')
@options.flag('--label-weighted', help='Take the mean over labels (lwlrap), not samples.')
@options.QUERIES_WITHOUT_RELEVANT
@options.flag('--per-class', help='Add the values of each class.')
@reports
def score_labels(reporting: Reporting, per_class: bool, **settings: Any) -> None:
    """Score one number per sample and class: label ranking AP.

    TRUTH has fname,labels with the labels separated by commas, in quotes. SCORES has fname and
    one column per class. --columns names the columns of other files.
    """
    if per_class and reporting.per_query:
        raise click.UsageError('--per-class and --per-query exclude each other')
    from mediaeval_ap.challenges import evaluate_lrap

    _score(reporting, evaluate=evaluate_lrap, per_class=per_class, **settings)
