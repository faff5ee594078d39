"""Challenges whose predictions are one label a query, and how sure it is: global AP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.challenges.alignment import align, check_labels, pieces, unique_ids
from mediaeval_ap.challenges.label_lists import none_if_empty, split
from mediaeval_ap.choices import MISSING, UNKNOWN, Missing, Ties, Unknown, check_policy
from mediaeval_ap.errors import shown
from mediaeval_ap.metrics import GlobalAveragePrecision, global_average_precision
from mediaeval_ap.results import Score, notes_of
from mediaeval_ap.tables import MAX_BYTES
from mediaeval_ap.tables.csv_text import explain_number
from mediaeval_ap.tables.faults import EXACT_NUMBER
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.line_format import LARGEST_INTEGER, is_finite_decimal
from mediaeval_ap.tables.origins import Origin
from mediaeval_ap.tables.records import Records, read_records

if TYPE_CHECKING:
    import pyarrow

__all__ = ['evaluate_gap']

TRUTH = RecordLayout(('id', 'landmark_id'))
PREDICTIONS = RecordLayout(('id', 'landmarks'))
QUERIES_IN_PIECE = 100_000


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
    """Score predictions of one label a query, with a confidence, in one list.

    Parameters
    ----------
    truth : str, path-like, file object, DataFrame or pyarrow table
        ``id,landmark_id``: the label of each query, or nothing where it has none. This, and the
        predictions, may be anything that `mediaeval_ap.tables.records.read_records` takes.
    predictions : like truth
        ``id,landmarks``: a label and its confidence with white space between them, or nothing, for
        each query.
    ties : {'expected', 'stable', 'best', 'worst'}
        What stands first among predictions of equal confidence: the mean over all their orders, the
        order of the predictions, the correct ones first, or the correct ones last.
    missing : {'error', 'zero'}
        What a query of the truth is that the predictions lack: an error, or without prediction.
    unknown : {'error', 'drop'}
        What a query of the predictions is that the truth lacks: an error, or left out.
    per_query : bool
        Keep a table of predictions in their order: ``id``, ``predicted``, ``confidence``,
        ``truth``, ``correct``, ``precision`` and ``term``.
    progress : bool
        Show a progress bar on standard error.
    max_bytes : int
        The limit of `mediaeval_ap.tables.records.read_records`.

    Returns
    -------
    Score
        Global average precision.

    Raises
    ------
    ReadError, FormatError
        When a file cannot be read, a query is repeated, missing or unknown, or what is predicted is
        not a label and a finite confidence.
    ParameterError
        When there is no such way with ties, or no such policy.
    UndefinedScoreError
        When no query has a true label.

    Warns
    -----
    MissingIdsWarning, UnknownIdsWarning
        When there are such queries, and that is no error.

    Examples
    --------
    >>> score = evaluate_gap('samples/landmarks_truth.csv', 'samples/landmarks_predictions.csv')
    >>> score.metric, score.counts['predictions']
    ('GAP', 48)
    """
    import pyarrow

    metric = GlobalAveragePrecision(ties)
    missing = check_policy('missing', missing, MISSING)
    unknown = check_policy('unknown', unknown, UNKNOWN)
    true = read_records(Origin.of(truth, max_bytes), [TRUTH])
    answers = read_records(Origin.of(predictions, max_bytes), [PREDICTIONS])
    ids = unique_ids(true, 'id')
    true.refuse_several('landmark_id')
    labels, confidence = _labels_and_confidence(answers)
    aligned = align(ids, true, answers, 'id', missing, unknown)
    order = np.argsort(aligned.rows, kind='stable')  # that of the predictions
    places = pyarrow.array(order)
    rows = (
        none_if_empty(aligned.take(labels)).take(places),
        confidence[aligned.rows[order]],  # whatever, where there is no row
        none_if_empty(true['landmark_id']).take(places),
    )
    for part in pieces(len(ids), QUERIES_IN_PIECE, progress):
        metric.update(*(column[part] for column in rows))
    if not metric.compute():
        check_labels(true, answers, true['landmark_id'], labels)
    table = None
    if per_query:
        _, table = global_average_precision(*rows, ties=metric.ties, return_frame=True)
        listed = pyarrow.array(order[table.index.to_numpy()])
        table.insert(0, 'id', ids.take(listed).to_pylist())
    n_queries, without_truth = metric.n_queries, metric.n_queries - metric.n_true
    note = 'have no true label: a prediction for one of them is wrong'
    return Score(
        'GAP',
        metric.compute(),
        {'ties': metric.ties, 'missing': missing, 'unknown': unknown},
        aligned.inputs,
        {
            'queries': n_queries,
            'predictions': metric.n_predictions,
            'without_truth': without_truth,
            **aligned.counts,
        },
        table,
        notes_of(without_truth, n_queries, note),
    )


def _labels_and_confidence(answers: Records) -> tuple[pyarrow.Array, NDArray[np.float64]]:
    """The predicted label of each row, empty where there is none, and how sure it is."""
    import pyarrow

    words = split(answers['landmarks'])
    offsets, words = words.offsets.to_numpy(), words.values
    n_words = np.diff(offsets)
    given = np.flatnonzero(n_words == 2)
    confidence = _decimals(words.take(pyarrow.array(offsets[given] + 1)))
    wrong = np.union1d(
        np.flatnonzero((n_words != 0) & (n_words != 2)), given[~np.isfinite(confidence)]
    )
    if len(wrong):
        found = answers['landmarks'][wrong[0]].as_py()
        raise answers.error(wrong, 'landmarks', shown(found), _expected(words, offsets, wrong[0]))
    labels = np.full(len(answers), -1)
    labels[given] = offsets[given]
    texts = words.take(pyarrow.array(labels, mask=labels < 0)).fill_null('')
    numbers = np.full(len(answers), np.nan)
    numbers[given] = confidence
    return texts, numbers


def _decimals(words: pyarrow.Array) -> NDArray[np.float64]:
    """Return the numbers that words are; not finite where one is none, or no double holds it."""
    import pyarrow

    numbers: NDArray[np.float64]
    try:
        numbers = words.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
    except pyarrow.ArrowInvalid:  # some are none, or this reader knows fewer than the format
        texts = [word.encode() for word in words.to_pylist()]
        numbers = np.array([float(text) if is_finite_decimal(text) else np.nan for text in texts])
    if len(large := np.flatnonzero(np.abs(numbers) >= LARGEST_INTEGER)):
        wrong = [row for row in large if explain_number(words[row].as_py().encode())]
        numbers = numbers.copy()  # pyarrow's cannot be written to
        numbers[wrong] = np.nan
    return numbers


def _expected(words: pyarrow.Array, offsets: NDArray[np.int64], row: int) -> str:
    """Return what a row should hold of which something is wrong."""
    begin, end = offsets[row : row + 2]
    if end - begin == 2 and explain_number(words[begin + 1].as_py().encode()) == EXACT_NUMBER:
        return f'a label and {EXACT_NUMBER}'
    return 'a label and its finite confidence, or nothing'
