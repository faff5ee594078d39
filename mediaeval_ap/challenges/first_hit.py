"""First-hit MAP, the metric of Humpback Whale Identification, on the files of that challenge."""

from __future__ import annotations

from typing import Any

import numpy as np

from mediaeval_ap.challenges.matched_files import Files, split, unique_ids
from mediaeval_ap.choices import Missing, Unknown
from mediaeval_ap.metrics import ReciprocalRank
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.score import Basis, Score
from mediaeval_ap.tables import MAX_BYTES
from mediaeval_ap.tables.layouts import RecordLayout

WHALES = RecordLayout(('Image', 'Id'))


@shows_progress
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
    """Score ranked labels of images by the rank of the first correct one (first-hit MAP).

    Parameters
    ----------
    truth, predictions : str, path-like, file object, DataFrame or pyarrow table
        ``Image,Id``: the label of each image; and labels separated by white space, best first.
    k : int
        The cutoff.
    per_query : bool
        Keep a table of images: ``Image``, ``Id`` and ``RR@k``.
    missing, unknown, progress, max_bytes
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
    """
    metric = ReciprocalRank(k)
    files = Files((truth, [WHALES]), (predictions, [WHALES]), missing, unknown, max_bytes)
    images, labels = unique_ids(files.truth), files.truth['Id']
    files.truth.refuse_empty('Id')
    files.truth.refuse_several('Id')
    files.match(images)
    lists = files.in_order(files.predictions['Id'])
    pieces = [metric.update(labels[part], split(lists[part])) for part in files.pieces()]
    values = {f'RR@{k}': np.concatenate(pieces)}
    if not metric.compute():
        files.warn_of_other_labels(labels, split(lists).values)
    table = {'Image': images.to_pandas(), 'Id': labels.to_pandas(), **values} if per_query else None
    return files.score(f'first-hit MAP@{k}', {'k': k}, {}, values, table, Basis(metric))
