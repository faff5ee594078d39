"""Global AP, the metric of Google Landmark Recognition, on the files of that challenge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.challenges.matched_files import Files, none_if_empty, split, unique_ids
from mediaeval_ap.choices import Missing, Ties, Unknown
from mediaeval_ap.errors import shown
from mediaeval_ap.metrics import GlobalAveragePrecision
from mediaeval_ap.metrics.global_ap import ranked
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.score import Basis, Score
from mediaeval_ap.tables import MAX_BYTES
from mediaeval_ap.tables.csv_text import explain_number
from mediaeval_ap.tables.faults import EXACT_NUMBER
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.line_format import LARGEST_INTEGER, is_finite_decimal
from mediaeval_ap.tables.records import Records

if TYPE_CHECKING:
    import pandas
    import pyarrow

TRUTH = RecordLayout(('id', 'landmark_id'))
PREDICTIONS = RecordLayout(('id', 'landmarks'))


@shows_progress
def evaluate_gap(
    truth: Any,
    predictions: Any,
    *,
    ties: Ties = 'expected',
    missing: Missing = 'error',
    unknown: Unknown = 'error',
    per_query: bool = False,
    progress: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Score:
    """Score predictions of one label for each query, in one list by confidence (GAP).

    Parameters
    ----------
    truth, predictions : str, path-like, file object, DataFrame or pyarrow table
        ``id,landmark_id``: the label of each query, or nothing; and ``id,landmarks``: a label and
        its confidence separated by white space, or nothing.
    ties : {'expected', 'stable', 'best', 'worst'}
        Order of equal confidences: the mean over all orders, as in the predictions, correct ones
        first, or correct ones last.
    per_query : bool
        Keep a table of predictions in rank order: ``id``, ``predicted``, ``confidence``,
        ``truth``, ``correct``, ``precision`` and ``term``.
    missing, unknown, progress, max_bytes
        As for `evaluate_map`.

    Returns
    -------
    Score
        Global average precision.

    Raises
    ------
    ReadError, FormatError, ParameterError
        As for `evaluate_map`, and when a prediction is not a label and a finite confidence.
    UndefinedScoreError
        When no query has a true label.

    Warns
    -----
    MissingIdsWarning, UnknownIdsWarning, NoOverlapWarning
        As for `evaluate_map`.

    Examples
    --------
    >>> score = evaluate_gap('samples/landmarks_truth.csv', 'samples/landmarks_predictions.csv')
    >>> score.metric, score.counts['predictions']
    ('GAP', 48)
    """
    import pyarrow
    from pyarrow import compute

    metric = GlobalAveragePrecision(ties)
    files = Files((truth, [TRUTH]), (predictions, [PREDICTIONS]), missing, unknown, max_bytes)
    labels, confidence, truths = _match(files)
    correct = compute.equal(labels, truths).fill_null(False).to_numpy(zero_copy_only=False)
    order = files.rows.argsort(kind='stable')  # that of the predictions, for stable ties
    columns = {'predicted': labels, 'confidence': confidence, 'truth': truths}
    columns = {name: column.take(order) for name, column in columns.items()}
    for part in files.pieces():
        metric.update(*(column[part] for column in columns.values()))
    if not metric.compute():
        files.warn_of_other_labels(truths, labels)
    table = None
    if per_query:
        columns = {'id': files.ids.take(order), **columns, 'correct': correct[order]}
        table = pyarrow.table(columns).to_pandas().dropna(subset='predicted')
    return files.score(
        'GAP',
        {'ties': metric.ties},
        {'predictions': metric.n_predictions, 'without_truth': metric.n_queries - metric.n_true},
        {'confidence': confidence, 'correct': correct},
        table,
        Basis(metric, 'have no true label: a prediction for one of them is wrong', (), _ranked),
    )


def _ranked(metric: GlobalAveragePrecision, table: pandas.DataFrame) -> pandas.DataFrame:
    return ranked(table, metric.ties, metric.n_true)


def _match(files: Files) -> tuple[pyarrow.Array, NDArray[np.float64], pyarrow.Array]:
    """Match by id; return the predicted label of each id, its confidence, and the true label."""
    ids = unique_ids(files.truth)
    files.truth.refuse_several('landmark_id')
    labels, confidence = _labels_and_confidence(files.predictions)
    files.match(ids)
    confidence = np.where(files.rows < 0, np.nan, confidence[files.rows])
    truths = none_if_empty(files.truth['landmark_id'])
    return none_if_empty(files.in_order(labels)), confidence, truths


def _labels_and_confidence(answers: Records) -> tuple[pyarrow.Array, NDArray[np.float64]]:
    """Return the predicted label of each row, empty if there is none, and its confidence."""
    import pyarrow

    lists = split(answers['landmarks'])
    words, offsets = lists.values, lists.offsets.to_numpy()
    n_words = np.diff(offsets)
    given = np.flatnonzero(n_words == 2)
    confidence = np.full(len(answers), np.nan)
    confidence[given] = _decimals(words.take(pyarrow.array(offsets[given] + 1)))
    wrong = np.flatnonzero((n_words > 0) & ~np.isfinite(confidence))
    if len(wrong):
        found = shown(answers['landmarks'][wrong[0]].as_py())
        raise answers.error(wrong, 'landmarks', found, _expected(lists[wrong[0]].as_py()))
    labels = words.take(pyarrow.array(offsets[:-1], mask=n_words == 0)).fill_null('')
    return labels, confidence


def _decimals(words: pyarrow.Array) -> NDArray[np.float64]:
    """Return words as doubles; not finite where a word is no number, or no double holds it."""
    import pyarrow

    try:
        numbers = np.array(words.cast(pyarrow.float64()))
    except pyarrow.ArrowInvalid:  # of a word that is no number, or as the format takes, and it not
        texts = [word.encode() for word in words.to_pylist()]
        numbers = np.array([float(text) if is_finite_decimal(text) else np.nan for text in texts])
    for row in np.flatnonzero(np.abs(numbers) >= LARGEST_INTEGER):
        if explain_number(words[row].as_py().encode()):
            numbers[row] = np.nan
    return numbers


def _expected(words: list[str]) -> str:
    """Return what a wrong row should hold."""
    if len(words) == 2 and explain_number(words[1].encode()) == EXACT_NUMBER:
        return f'a label and {EXACT_NUMBER}'
    return 'a label and its finite confidence, or nothing'
