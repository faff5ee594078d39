"""First-hit MAP, the metric of Humpback Whale Identification, on the files of that challenge."""

from __future__ import annotations

from typing import Any

import numpy as np

from mediaeval_ap.challenges.files import Files, unique_ids
from mediaeval_ap.challenges.label_fields import split
from mediaeval_ap.choices import Missing, Unknown
from mediaeval_ap.metrics import ReciprocalRank
from mediaeval_ap.results import Score
from mediaeval_ap.results.score import Basis
from mediaeval_ap.tables import MAX_BYTES
from mediaeval_ap.tables.layouts import RecordLayout

WHALES = RecordLayout(('Image', 'Id'))


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
    truth : str, path-like, file object, DataFrame or pyarrow table
        ``Image,Id``: the label of each image. A path to CSV, compressed or not, or to Parquet, an
        open CSV file, or a table.
    predictions : like truth
        ``Image,Id``: for each image, labels separated by white space, best first.
    k : int
        The cutoff.
    missing : {'error', 'zero'}
        How to score an image that the predictions lack: not at all, or 0.
    unknown : {'error', 'drop'}
        How to treat an image that the truth lacks: as an error, or leave it out.
    per_query : bool
        Keep a table of images: ``Image``, ``Id`` and ``RR@k``.
    progress : bool
        Show a progress bar on standard error.
    max_bytes : int
        Limit of what a compressed file, Parquet or a pipe may come to.

    Returns
    -------
    Score
        First-hit MAP at k.

    Raises
    ------
    ReadError, FormatError
        When a file cannot be read, an image is repeated, missing or unknown, or the truth has not
        one label for each image.
    ParameterError
        When k is not a positive integer, or a policy is unknown.

    Warns
    -----
    MissingIdsWarning, UnknownIdsWarning
        When images are missing or unknown, and that is no error.
    NoOverlapWarning
        When no image, or no label, is in both files.

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
    pieces = [metric.update(labels[part], split(lists[part])) for part in files.pieces(progress)]
    values = {f'RR@{k}': np.concatenate(pieces)}
    if not metric.compute():
        files.warn_of_other_labels(labels, split(lists).values)
    table = None
    if per_query:
        table = {'Image': images.to_pandas(), 'Id': labels.to_pandas(), **values}
    return files.score(f'first-hit MAP@{k}', {'k': k}, {}, values, table, Basis(metric))
