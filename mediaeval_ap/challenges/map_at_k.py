"""Challenges whose predictions are lists of labels, best first: first-hit MAP, and MAP at k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mediaeval_ap.challenges.alignment import align, check_labels, pieces, unique_ids
from mediaeval_ap.challenges.label_lists import split
from mediaeval_ap.choices import MISSING, UNKNOWN, Missing, Unknown, check_policy
from mediaeval_ap.definitions import Definition
from mediaeval_ap.errors import RepeatedRowsWarning, printable, warn_caller
from mediaeval_ap.evaluation.data_warnings import scores_above_one
from mediaeval_ap.metrics import MeanAveragePrecision, ReciprocalRank
from mediaeval_ap.results import Score, notes_of
from mediaeval_ap.tables import MAX_BYTES
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.records import Records, read_records

if TYPE_CHECKING:
    import pyarrow

__all__ = ['evaluate_first_hit', 'evaluate_map']

WHALES = RecordLayout(('Image', 'Id'))
LISTS = RecordLayout(('customer_id', 'prediction'))
PAIRS = RecordLayout(('customer_id', 'article_id'))
QUERIES_IN_PIECE = 100_000


def evaluate_first_hit(
    truth: Any,
    predictions: Any,
    k: int = 5,
    *,
    missing: Missing = 'error',
    unknown: Unknown = 'error',
    per_query: bool = False,
    progress: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Score:
    """Score predictions of one label an image by the rank of the first correct one.

    Parameters
    ----------
    truth : str, path-like, file object, DataFrame or pyarrow table
        ``Image,Id``: the label of each image. This, and the predictions, may be anything that
        `mediaeval_ap.tables.records.read_records` takes.
    predictions : like truth
        ``Image,Id``: labels with white space between them, best first, of each image.
    k : int
        How many of them count.
    missing : {'error', 'zero'}
        What an image of the truth is that the predictions lack: an error, or worth 0.
    unknown : {'error', 'drop'}
        What an image of the predictions is that the truth lacks: an error, or left out.
    per_query : bool
        Keep a table of images: ``Image``, ``Id`` and ``RR@k``.
    progress : bool
        Show a progress bar on standard error.
    max_bytes : int
        The limit of `mediaeval_ap.tables.records.read_records`.

    Returns
    -------
    Score
        First-hit MAP at k.

    Raises
    ------
    ReadError, FormatError
        When a file cannot be read, an image is repeated, missing or unknown, or the truth has
        another number of labels than one.
    ParameterError
        When k is no positive integer, or there is no such policy.

    Warns
    -----
    MissingIdsWarning, UnknownIdsWarning
        When there are such images, and that is no error.

    Examples
    --------
    >>> evaluate_first_hit('samples/whales_truth.csv', 'samples/whales_predictions.csv').metric
    'first-hit MAP@5'
    """
    import pandas

    metric = ReciprocalRank(k)
    missing = check_policy('missing', missing, MISSING)
    unknown = check_policy('unknown', unknown, UNKNOWN)
    true = read_records(truth, [WHALES], max_bytes=max_bytes)
    predicted = read_records(predictions, [WHALES], max_bytes=max_bytes)
    images = unique_ids(true, 'Image')
    true.refuse_empty('Id')
    true.refuse_several('Id')
    labels = true['Id']
    aligned = align(images, true, predicted, 'Image', missing, unknown)
    texts = aligned.take(predicted['Id'])
    values = [
        metric.update(labels[part], split(texts[part]))
        for part in pieces(len(images), QUERIES_IN_PIECE, progress)
    ]
    if not metric.compute():
        check_labels(true, predicted, labels, split(texts).values)
    table = None
    if per_query:
        columns = {'Image': images.to_pandas(), 'Id': labels.to_pandas()}
        table = pandas.DataFrame({**columns, f'RR@{k}': np.concatenate(values)})
    return Score(
        f'first-hit MAP@{k}',
        metric.compute(),
        {'k': k, 'missing': missing, 'unknown': unknown},
        aligned.inputs,
        {'queries': metric.n_images, **aligned.counts},
        table,
    )


def evaluate_map(
    truth: Any,
    predictions: Any,
    k: int = 12,
    *,
    definition: str | Definition = 'kaggle',
    missing: Missing = 'error',
    unknown: Unknown = 'error',
    per_query: bool = False,
    progress: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Score:
    """Score predictions of several labels a user by mean average precision at k.

    Parameters
    ----------
    truth : str, path-like, file object, DataFrame or pyarrow table
        ``customer_id,prediction``: the relevant labels of each user, separated by spaces; or
        ``customer_id,article_id``: one of them a row. This, and the predictions, may be anything
        that `mediaeval_ap.tables.records.read_records` takes.
    predictions : like truth
        ``customer_id,prediction``: labels with white space between them, best first, of each user.
    k : int
        The cutoff.
    definition : str or Definition
        What average precision is.
    missing : {'error', 'zero'}
        What a user of the truth is that the predictions lack: an error, or without predictions.
    unknown : {'error', 'drop'}
        What a user of the predictions is that the truth lacks: an error, or left out.
    per_query : bool
        Keep a table of users: ``customer_id``, ``AP@k`` and ``n_relevant``.
    progress : bool
        Show a progress bar on standard error.
    max_bytes : int
        The limit of `mediaeval_ap.tables.records.read_records`.

    Returns
    -------
    Score
        MAP at k over the users for whom something is relevant.

    Raises
    ------
    ReadError, FormatError
        When a file cannot be read, or a user is repeated, missing or unknown.
    ParameterError
        When k is no positive integer, the definition unknown, or there is no such policy.
    UndefinedScoreError
        When nothing is relevant for anybody.

    Warns
    -----
    MissingIdsWarning, UnknownIdsWarning
        When there are such users, and that is no error.
    RepeatedRowsWarning
        When the truth repeats labels of a user, and the definition counts them once.
    ScoreAboveOneWarning
        When an average precision exceeds 1, as counting labels again can make it.

    Examples
    --------
    >>> score = evaluate_map('samples/fashion_truth.csv', 'samples/fashion_predictions.csv')
    >>> score.metric, score.counts['without_truth']
    ('MAP@12', 0)
    """
    import pandas

    metric = MeanAveragePrecision(k, definition)
    missing = check_policy('missing', missing, MISSING)
    unknown = check_policy('unknown', unknown, UNKNOWN)
    true = read_records(truth, [LISTS, PAIRS], max_bytes=max_bytes)
    predicted = read_records(predictions, [LISTS], max_bytes=max_bytes)
    users, relevant = _relevant_lists(true)
    aligned = align(users, true, predicted, 'customer_id', missing, unknown)
    texts = aligned.take(predicted['prediction'])
    answers = [
        metric.update(relevant[part], split(texts[part]))
        for part in pieces(len(users), QUERIES_IN_PIECE, progress)
    ]
    ap, n_relevant = map(np.concatenate, zip(*answers, strict=True))
    _warn_of_repeated_labels(true, len(relevant.flatten()), int(n_relevant.sum()), metric)
    if not ap[n_relevant > 0].any():
        check_labels(true, predicted, relevant.values, split(texts).values)
    above = users.filter(ap > 1).to_pylist()
    warn_caller(scores_above_one(above, predicted.source.name, metric.definition))
    table = None
    if per_query:
        columns = {f'AP@{k}': ap, 'n_relevant': n_relevant}
        table = pandas.DataFrame({'customer_id': users.to_pandas(), **columns})
    return Score(
        f'MAP@{k}',
        metric.compute(),
        {'k': k, 'definition': metric.definition.name, 'missing': missing, 'unknown': unknown},
        aligned.inputs,
        {'queries': len(users), 'without_truth': metric.n_without_truth, **aligned.counts},
        table,
        notes_of(metric.n_without_truth, len(users), 'have no relevant label, and are left out'),
    )


def _relevant_lists(true: Records) -> tuple[pyarrow.Array, pyarrow.LargeListArray]:
    """The users of a truth, each once, and the relevant labels of each."""
    import pyarrow

    if true.layout == LISTS:
        return unique_ids(true, 'customer_id'), split(true['prediction'])
    for name in PAIRS.texts:
        true.refuse_empty(name)
    true.refuse_several('article_id')
    users = true['customer_id'].dictionary_encode()
    codes = users.indices.to_numpy()
    ends = np.bincount(codes).cumsum()
    labels = true['article_id'].take(pyarrow.array(codes.argsort(kind='stable')))
    lists = pyarrow.LargeListArray.from_arrays(np.concatenate([[0], ends]), labels)
    return users.dictionary, lists


def _warn_of_repeated_labels(
    true: Records, n_labels: int, n_relevant: int, metric: MeanAveragePrecision
) -> None:
    if n_labels > n_relevant:
        text = (
            f'{printable(true.source.name)}: {n_labels - n_relevant} of {n_labels} labels repeat '
            f'another of their user; {metric.definition} counts them once'
        )
        warn_caller([RepeatedRowsWarning(text)])
