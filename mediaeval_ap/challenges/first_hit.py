"""First-hit MAP, the metric of Humpback Whale Identification, on the files of that challenge."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.challenges.columns import Columns, Shape
from mediaeval_ap.challenges.matched_files import Files, LabelLists, taken, unique_ids
from mediaeval_ap.choices import Missing, Unknown
from mediaeval_ap.metrics import ReciprocalRank
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.score import Basis, Score
from mediaeval_ap.tables import MAX_BYTES

if TYPE_CHECKING:
    import pyarrow

TRUTH: list[Shape] = [{'id': 'Image', 'label': 'Id'}, {'id': 'Image', 'labels': None}]
PREDICTIONS: list[Shape] = [{'id': 'Image', 'labels': 'Id'}, {'id': 'Image', 'label': None}]


@shows_progress
def evaluate_first_hit(
    truth: Any,
    predictions: Any,
    k: int = 5,
    *,
    columns: Columns | None = None,
    truth_columns: Columns | None = None,
    missing: Missing = 'error',
    unknown: Unknown = 'error',
    per_query: bool = False,
    progress: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Score:
    """Score ranked labels of images by the rank of the first correct one (first-hit MAP).

    Parameters
    ----------
    truth, predictions : str, path-like, file object, DataFrame or pyarrow table
        ``Image,Id``: the label of each image; and labels separated by white space, best first.
    k : int
        The cutoff.
    per_query : bool
        Keep a table of images: ``id``, ``label`` and ``RR@k``.
    columns, truth_columns, missing, unknown, progress, max_bytes
        As for `evaluate_map`.

    Returns
    -------
    Score
        First-hit MAP at k.

    Raises
    ------
    ReadError, FormatError, ParameterError
        As for `evaluate_map`, and when the truth has not one label for each image.

    Warns
    -----
    MissingIdsWarning, UnknownIdsWarning, NoOverlapWarning
        As for `evaluate_map`.

    Examples
    --------
    >>> evaluate_first_hit('samples/whales_truth.csv', 'samples/whales_predictions.csv').metric
    'first-hit MAP@5'

    Files with other columns, and one label in each row:

    >>> import pandas
    >>> truth = pandas.DataFrame({'photo': ['1', '2'], 'whale': ['a', 'b']})
    >>> listed = pandas.DataFrame({'photo': ['1', '2', '2'], 'whale': ['a', 'c', 'b']})
    >>> evaluate_first_hit(truth, listed, columns={'id': 'photo', 'label': 'whale'}).value
    0.75
    """
    (score,) = scores_at(
        truth,
        predictions,
        [k],
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
    per_query: bool = False,
    **settings: Any,
) -> list[Score]:
    """Return the scores of `evaluate_first_hit` at some cutoffs; files are read once."""
    metrics = [ReciprocalRank(k) for k in cutoffs]
    files = Files((truth, TRUTH), (predictions, PREDICTIONS), **settings)
    images, (label,) = unique_ids(files.truth), files.truth.layout.by_role.keys() - {'id'}
    files.truth.refuse_empty(label)
    files.truth.refuse_several(label)
    predicted = LabelLists(files.predictions)
    labels = taken(files.truth[label], files.match(images, predicted.ids, predicted.codes))
    scored: list[list[Any]] = [[] for _ in metrics]
    for part in files.pieces():
        lists = predicted.take(files.rows[part])
        for pieces, metric in zip(scored, metrics, strict=True):
            pieces.append(metric.update(labels[part], lists))
    if not any(metric.compute() for metric in metrics):
        files.warn_of_other_labels(labels, predicted.take(files.rows).flatten())
    return [
        _score(files, metric, labels, np.concatenate(pieces), per_query=per_query)
        for metric, pieces in zip(metrics, scored, strict=True)
    ]


def _score(
    files: Files,
    metric: ReciprocalRank,
    labels: pyarrow.Array,
    reciprocal: NDArray[np.float64],
    *,
    per_query: bool,
) -> Score:
    values, table = {f'RR@{metric.k}': reciprocal}, None
    if per_query:
        table = {'id': files.ids.to_pandas(), 'label': labels.to_pandas(), **values}
    return files.score(
        f'first-hit MAP@{metric.k}', {'k': metric.k}, {}, values, table, Basis(metric)
    )
