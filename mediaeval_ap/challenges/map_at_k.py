"""MAP at k, the metric of H&M Personalized Fashion Recommendations, on that challenge's files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mediaeval_ap.challenges.matched_files import Files, split, unique_ids
from mediaeval_ap.choices import Missing, Unknown
from mediaeval_ap.definitions import Definition
from mediaeval_ap.errors import RepeatedRowsWarning
from mediaeval_ap.evaluation.data_warnings import scores_above_one
from mediaeval_ap.metrics import MeanAveragePrecision
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.score import Basis, Score
from mediaeval_ap.tables import MAX_BYTES
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.records import Records

if TYPE_CHECKING:
    import pyarrow

LISTS = RecordLayout(('customer_id', 'prediction'))
PAIRS = RecordLayout(('customer_id', 'article_id'))


@shows_progress
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
    """Score ranked labels of users by mean average precision at k.

    Parameters
    ----------
    truth : str, path-like, file object, DataFrame or pyarrow table
        ``customer_id,prediction``: relevant labels separated by white space; or
        ``customer_id,article_id``: one in each row. Files are CSV, compressed or not, or Parquet.
    predictions : like truth
        ``customer_id,prediction``: labels separated by white space, best first.
    k : int
        The cutoff.
    definition : str or Definition
        Definition of average precision.
    missing : {'error', 'zero'}
        A user whom the predictions lack is an error, or scored as without predictions.
    unknown : {'error', 'drop'}
        A user whom the truth lacks is an error, or left out.
    per_query : bool
        Keep a table of users: ``customer_id``, ``AP@k`` and ``n_relevant``.
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
        When no user has a relevant label.

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
    """
    metric = MeanAveragePrecision(k, definition)
    files = Files((truth, [LISTS, PAIRS]), (predictions, [LISTS]), missing, unknown, max_bytes)
    users, relevant = _relevant_labels(files.truth)
    files.match(users)
    lists = files.in_order(files.predictions['prediction'])
    pieces = [metric.update(relevant[part], split(lists[part])) for part in files.pieces()]
    ap, n_relevant = map(np.concatenate, zip(*pieces, strict=True))
    n_labels = len(relevant.flatten())
    if n_repeated := n_labels - int(n_relevant.sum()):
        text = (
            f'{files.truth_name}: {n_repeated} of {n_labels} labels repeat another of their user; '
            f'{metric.definition} counts them once'
        )
        files.warnings.append(RepeatedRowsWarning(text))
    if not ap[n_relevant > 0].any():
        files.warn_of_other_labels(relevant.values, split(lists).values)
    above = users.filter(ap > 1).to_pylist()
    files.warnings += scores_above_one(above, files.predictions.source.name, metric.definition)
    values = {f'AP@{k}': ap, 'n_relevant': n_relevant}
    return files.score(
        f'MAP@{k}',
        {'k': k, 'definition': metric.definition.name},
        {'without_truth': metric.n_without_truth},
        values,
        {'customer_id': users.to_pandas(), **values} if per_query else None,
        Basis(metric, 'have no relevant label, and are left out'),
    )


def _relevant_labels(true: Records) -> tuple[pyarrow.Array, pyarrow.LargeListArray]:
    """Return the users of a truth, each once, and the relevant labels of each."""
    import pyarrow

    if true.layout == LISTS:
        return unique_ids(true), split(true['prediction'])
    for name in PAIRS.texts:
        true.refuse_empty(name)
    true.refuse_several('article_id')
    users = true['customer_id'].dictionary_encode()
    codes = users.indices.to_numpy()
    ends = np.bincount(codes).cumsum()
    labels = true['article_id'].take(pyarrow.array(codes.argsort(kind='stable')))
    lists = pyarrow.LargeListArray.from_arrays(np.concatenate([[0], ends]), labels)
    return users.dictionary, lists
