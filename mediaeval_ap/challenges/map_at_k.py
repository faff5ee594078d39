"""MAP at k, the metric of H&M Personalized Fashion Recommendations, on that challenge's files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.challenges.columns import Columns, Shape
from mediaeval_ap.challenges.matched_files import Files, LabelLists
from mediaeval_ap.choices import Missing, Unknown
from mediaeval_ap.definitions import Definition
from mediaeval_ap.errors import RepeatedRowsWarning
from mediaeval_ap.evaluation.data_warnings import scores_above_one
from mediaeval_ap.metrics import MeanAveragePrecision
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.score import Basis, Score
from mediaeval_ap.tables import MAX_BYTES

LISTS: Shape = {'id': 'customer_id', 'labels': 'prediction'}
TRUTH: list[Shape] = [LISTS, {'id': 'customer_id', 'label': 'article_id'}]
PREDICTIONS: list[Shape] = [LISTS, {'id': 'customer_id', 'label': None}]


@shows_progress
def evaluate_map(
    truth: Any,
    predictions: Any,
    k: int = 12,
    *,
    definition: str | Definition = 'kaggle',
    columns: Columns | None = None,
    truth_columns: Columns | None = None,
    missing: Missing = 'error',
    unknown: Unknown = 'error',
    per_query: bool = False,
    progress: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Score:
    """Score ranked labels of users by mean average precision at k.

    Parameters
    ----------
    truth : str, path-like, file object, DataFrame or pyarrow table
        ``customer_id,prediction``: relevant labels separated by white space; or
        ``customer_id,article_id``: one in each row. Files are CSV, TSV (``.tsv``) or Parquet, and
        may be compressed.
    predictions : like truth
        ``customer_id,prediction``: labels separated by white space, best first.
    k : int
        The cutoff.
    definition : str or Definition
        Definition of average precision.
    columns : mapping of str to str or int, optional
        Other names of the columns: of ``'id'``, and of ``'labels'`` (several in a field) or
        ``'label'`` (one in each row; in the predictions, the rows of a user are best first).
        Integers are positions from 1, in a file without a header. It holds for both files, unless
        `truth_columns` is given.
    truth_columns : like columns, optional
        The columns of the truth.
    missing : {'error', 'zero', 'skip'}
        A user whom the predictions lack is an error, scored as without predictions, or left out.
    unknown : {'error', 'drop'}
        A user whom the truth lacks is an error, or left out.
    per_query : bool
        Keep a table of users: ``id``, ``AP@k`` and ``n_relevant``.
    progress : bool
        Show progress on standard error, if it takes longer than half a second.
    max_bytes : int
        Limit of what a compressed file, Parquet or a pipe may come to.

    Returns
    -------
    Score
        MAP at k over the users with a relevant label.

    Raises
    ------
    ReadError, FormatError
        When a file cannot be read, or a user is repeated, missing or unknown.
    ParameterError
        When k is no positive integer, or another parameter is none of these.
    UndefinedScoreError
        When no user has a relevant label, or none is left.

    Warns
    -----
    MissingIdsWarning, UnknownIdsWarning, NoOverlapWarning
        When users are missing or unknown without an error; no user, or no label, is in both files.
    RepeatedRowsWarning, ScoreAboveOneWarning
        When the truth repeats labels that the definition counts once; AP exceeds 1, as the
        definition counts repeated labels again.

    Examples
    --------
    >>> score = evaluate_map('samples/fashion_truth.csv', 'samples/fashion_predictions.csv')
    >>> score.metric, score.counts['without_truth']
    ('MAP@12', 0)

    Files with other columns:

    >>> import pandas
    >>> bought = pandas.DataFrame({'user': ['ann', 'bob'], 'items': ['a b', 'c']})
    >>> listed = pandas.DataFrame({'user': ['ann', 'bob'], 'items': ['a x b', 'x c']})
    >>> evaluate_map(bought, listed, k=2, columns={'id': 'user', 'labels': 'items'}).value
    0.5
    """
    (score,) = scores_at(
        truth,
        predictions,
        [k],
        definition=definition,
        columns=columns,
        truth_columns=truth_columns,
        missing=missing,
        unknown=unknown,
        per_query=per_query,
        max_bytes=max_bytes,
    )
    return score


def scores_at(
    truth: Any,
    predictions: Any,
    cutoffs: Iterable[int],
    *,
    definition: str | Definition = 'kaggle',
    per_query: bool = False,
    **settings: Any,
) -> list[Score]:
    """Return the scores of `evaluate_map` at some cutoffs, at least one; files are read once."""
    metrics = [MeanAveragePrecision(k, definition) for k in cutoffs]
    files = Files((truth, TRUTH), (predictions, PREDICTIONS), **settings)
    relevant, predicted = LabelLists(files.truth), LabelLists(files.predictions)
    users = files.match(relevant.ids, predicted.ids, predicted.codes)
    scored: list[list[Any]] = [[] for _ in metrics]
    n_labels = 0
    for part in files.pieces():
        true, lists = relevant.take(users[part]), predicted.take(files.rows[part])
        n_labels += len(true.flatten())
        for pieces, metric in zip(scored, metrics, strict=True):
            pieces.append(metric.update(true, lists))
    values = [tuple(map(np.concatenate, zip(*pieces, strict=True))) for pieces in scored]
    _warn_of_repeats(files, metrics[0], n_labels, int(values[0][1].sum()))
    if not any(ap[n_relevant > 0].any() for ap, n_relevant in values):
        files.warn_of_other_labels(
            relevant.take(users).flatten(), predicted.take(files.rows).flatten()
        )
    return [
        _score(files, metric, *columns_of_metric, per_query=per_query)
        for metric, columns_of_metric in zip(metrics, values, strict=True)
    ]


def _score(
    files: Files,
    metric: MeanAveragePrecision,
    ap: NDArray[np.float64],
    n_relevant: NDArray[np.int64],
    *,
    per_query: bool,
) -> Score:
    above = files.ids.filter(ap > 1).to_pylist()
    values = {f'AP@{metric.k}': ap, 'n_relevant': n_relevant}
    table = {'id': files.ids.to_pandas(), **values} if per_query else None
    return files.score(
        f'MAP@{metric.k}',
        {'k': metric.k, 'definition': metric.definition.name},
        {'without_truth': metric.n_without_truth},
        values,
        table,
        Basis(metric, 'have no relevant label, and are left out'),
        scores_above_one(above, files.predictions.source.name, metric.definition),
    )


def _warn_of_repeats(
    files: Files, metric: MeanAveragePrecision, n_labels: int, n_relevant: int
) -> None:
    if n_repeated := n_labels - n_relevant:
        text = (
            f'{files.truth_name}: {n_repeated} of {n_labels} labels repeat another of their user; '
            f'{metric.definition} counts them once'
        )
        files.warnings.append(RepeatedRowsWarning(text))
