"""Global AP, the metric of Google Landmark Recognition, on the files of that challenge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.challenges.task import (
    CONFIDENCE,
    Columns,
    Files,
    Shape,
    Task,
    labels_at,
    none_if_empty,
    split_labels,
    unique_ids,
)
from mediaeval_ap.choices import Missing, Ties, Unknown
from mediaeval_ap.errors import shown
from mediaeval_ap.evaluation.data_warnings import IdPolicy
from mediaeval_ap.metrics import GlobalAveragePrecision
from mediaeval_ap.metrics.global_ap import in_rank_order
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.notes import notes_of
from mediaeval_ap.results.score import Score
from mediaeval_ap.tables.columnar import parse_decimals
from mediaeval_ap.tables.records import Records
from mediaeval_ap.tables.table import Frame
from mediaeval_ap.tables.values import EXACT_NUMBER, expected_number

if TYPE_CHECKING:
    import pyarrow

OWN_COLUMN = '; name a column of confidences by --columns confidence=…, in Python columns='
LABEL_WITH_CONFIDENCE: Shape = {'id': 'id', 'label': 'landmarks'}
GAP = Task(
    truth=[{'id': 'id', 'label': 'landmark_id'}],
    predictions=[LABEL_WITH_CONFIDENCE, {**LABEL_WITH_CONFIDENCE, CONFIDENCE: None}],
)


@shows_progress
def evaluate_gap(
    truth: Frame,
    predictions: Frame,
    *,
    ties: Ties = 'expected',
    columns: Columns | None = None,
    truth_columns: Columns | None = None,
    missing: Missing = 'error',
    unknown: Unknown = 'error',
    per_query: bool = False,
    progress: bool = False,
    name: str | None = None,
) -> Score:
    """Score predictions of one label per query, ranked in one list by confidence (GAP).

    Parameters
    ----------
    truth, predictions : str, path-like, file object, DataFrame or pyarrow table
        The truth has ``id,landmark_id``: the label of each query, or nothing. The predictions have
        ``id,landmarks``: a label and its confidence separated by white space, or nothing.
    ties : {'expected', 'threshold', 'stable', 'best', 'worst'}
        As for `metrics.global_average_precision`.
    columns : mapping of str to str or int, optional
        Other names, or positions, of the columns ``'id'``, ``'label'`` and ``'confidence'``, as for
        `evaluate_map`. Without ``'confidence'``, it follows the label in the same field.
    per_query : bool
        Keep a table of predictions in rank order: ``id``, ``predicted``, ``confidence``,
        ``truth``, ``correct``, ``precision`` and ``term``.
    truth_columns, missing, unknown, progress, name
        As for `evaluate_map`, which lists the errors and warnings, too.

    Returns
    -------
    Score
        Global average precision; `UndefinedScoreError` if no query has a true label.

    Examples
    --------
    >>> score = evaluate_gap('samples/landmarks_truth.csv', 'samples/landmarks_predictions.csv')
    >>> score.metric, score.counts['predictions']
    ('GAP', 48)
    """
    import pyarrow
    from pyarrow import compute

    metric = GlobalAveragePrecision(ties)
    layouts = GAP.layouts(columns, truth_columns)
    files = Files(layouts, truth, predictions, IdPolicy(missing, unknown), name=name)
    ids = unique_ids(files.truth)
    files.truth.refuse_several('label')
    predicted = unique_ids(files.predictions)
    label_by_row, confidence_by_row = _labels_and_confidence(files.predictions)
    truths = none_if_empty(labels_at(files.truth['label'], files.match(ids, predicted)))
    labels = none_if_empty(labels_at(label_by_row, files.rows))
    confidence = np.where(files.rows < 0, np.nan, confidence_by_row[files.rows])
    correct = compute.equal(labels, truths).fill_null(False).to_numpy(zero_copy_only=False)
    order = files.rows.argsort(kind='stable')  # the order of the file, for stable ties
    queries = {'y_pred': labels, 'confidence': confidence, 'y_true': truths}
    queries = {name: column.take(order) for name, column in queries.items()}
    metric.update(**queries)
    files.warn_of_other_labels(truths, labels, has_hits=metric.compute() > 0)
    table = None
    if per_query:
        arrays = [files.ids.take(order), *queries.values(), correct[order]]
        names = ['id', 'predicted', 'confidence', 'truth', 'correct']
        table = pyarrow.table(arrays, names).to_pandas().dropna(subset='predicted')
        table = in_rank_order(table, metric.ties, metric.n_true)
    n_without = metric.n_queries - metric.n_true
    wrong = 'have no true label: a prediction for one of them is wrong'
    files.notes += notes_of(n_without, len(files.ids), wrong)
    return files.score(
        {'GAP': metric.compute},
        {'confidence': confidence, 'correct': correct},
        parameters={'ties': metric.ties},
        counts={'predictions': metric.n_predictions, 'without_truth': n_without},
        table=table,
    )


def _labels_and_confidence(predictions: Records) -> tuple[pyarrow.Array, NDArray[np.float64]]:
    """Return the label and the confidence of each row; '' and NaN without a prediction."""
    import pyarrow
    from pyarrow import compute

    if CONFIDENCE in predictions.layout.by_role:
        predictions.refuse_several('label')
        labels = predictions['label']
        confidence = predictions[CONFIDENCE].to_numpy()
        has_label = compute.not_equal(labels, '').to_numpy(zero_copy_only=False)
        if len(wrong_rows := np.flatnonzero(has_label & np.isnan(confidence))):
            raise predictions.error(
                wrong_rows, CONFIDENCE, 'nothing', 'the confidence of the label'
            )
        return labels, confidence
    lists = split_labels(predictions['label'])
    words = lists.values
    offsets = lists.offsets.to_numpy()
    n_words = np.diff(offsets)
    rows_of_two = np.flatnonzero(n_words == 2)
    confidence = np.full(len(predictions), np.nan)
    confidence[rows_of_two] = parse_decimals(words.take(pyarrow.array(offsets[rows_of_two] + 1)))
    wrong_rows = np.flatnonzero((n_words > 0) & ~np.isfinite(confidence))
    if len(wrong_rows):
        first_words = lists[wrong_rows[0]].as_py()
        field = shown(predictions['label'][wrong_rows[0]].as_py())
        if len(first_words) == 2 and expected_number(first_words[1]) == EXACT_NUMBER:
            raise predictions.error(wrong_rows, 'label', field, f'a label and {EXACT_NUMBER}')
        remedy = OWN_COLUMN if len(first_words) == 1 else ''
        raise predictions.error(
            wrong_rows, 'label', field, f'a label and its finite confidence, or nothing{remedy}'
        )
    labels = words.take(pyarrow.array(offsets[:-1], mask=n_words == 0)).fill_null('')
    return labels, confidence
