"""Label ranking AP, the metric of Freesound Audio Tagging 2019, on the files of that challenge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_equal
from mediaeval_ap.challenges.matched_files import Files, none_if_empty, places_of, unique_ids
from mediaeval_ap.choices import Unknown
from mediaeval_ap.errors import printable, shown
from mediaeval_ap.evaluation.likely_causes import likely_cause
from mediaeval_ap.metrics import LabelRankingAveragePrecision
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.score import Basis, Score
from mediaeval_ap.tables import MAX_BYTES
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.records import Records

if TYPE_CHECKING:
    import pandas

TRUTH = RecordLayout(('fname', 'labels'))
SCORES = RecordLayout(('fname',), other_numbers=True)
SCORES_IN_PIECE = 1 << 22  # a choice: 32 MiB of doubles at a time


@shows_progress
def evaluate_lrap(
    truth: Any,
    scores: Any,
    *,
    label_weighted: bool = False,
    unknown: Unknown = 'error',
    per_class: bool = False,
    progress: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Score:
    """Score numbers for every class by label ranking average precision (LRAP, or lwlrap).

    Parameters
    ----------
    truth, scores : str, path-like, file object, DataFrame or pyarrow table
        ``fname,labels``: the labels of each sample, separated by commas; and ``fname`` with a
        column of numbers for each class, under its name.
    label_weighted : bool
        Take the mean over all labels (lwlrap) instead of over samples.
    per_class : bool
        Keep a table of classes: ``class``, ``precision``, ``weight`` and ``n_labels``.
    unknown, progress, max_bytes
        As for `evaluate_map`.

    Returns
    -------
    Score
        LRAP, or lwlrap.

    Raises
    ------
    ReadError, FormatError, ParameterError
        As for `evaluate_map`; when a label is no class or repeated, or a score no finite number.
    UndefinedScoreError
        When lwlrap is asked for, and no sample has a label.

    Warns
    -----
    UnknownIdsWarning
        As for `evaluate_map`.

    Examples
    --------
    >>> evaluate_lrap('samples/sounds_truth.csv', 'samples/sounds_scores.csv').metric
    'LRAP'
    """
    metric = LabelRankingAveragePrecision(label_weighted=label_weighted)
    files = Files((truth, [TRUTH]), (scores, [SCORES]), None, unknown, max_bytes)
    samples = unique_ids(files.truth)
    classes = [name for name in files.predictions.columns.column_names if name != 'fname']
    rows, labels = _labels(files.truth, classes, files.predictions.source.name)
    files.match(samples)
    numbers = [files.predictions[name].to_numpy() for name in classes]
    values = []
    for part in files.pieces(max(1, SCORES_IN_PIECE // len(classes))):
        y_true = np.zeros((part.stop - part.start, len(classes)), dtype=np.bool_)
        begin, end = np.searchsorted(rows, [part.start, part.stop])
        y_true[rows[begin:end] - part.start, labels[begin:end]] = True
        y_score = np.column_stack([each[files.rows[part]] for each in numbers])
        values.append(metric.update(y_true, y_score))
    without_truth = 'they do not count' if label_weighted else 'each counts 1'
    return files.score(
        'lwlrap' if label_weighted else 'LRAP',
        {'label_weighted': label_weighted},
        {'classes': len(classes), 'labels': len(labels), 'without_truth': metric.n_without_label},
        {'LRAP': np.concatenate(values)},
        {'class': classes} if per_class else None,
        Basis(metric, f'have no true label: {without_truth}', classes, _table),
    )


def _table(metric: LabelRankingAveragePrecision, table: pandas.DataFrame) -> pandas.DataFrame:
    """Return each class once, with its precision, its weight and its number of labels."""
    precision, weight = metric.per_class()
    classes = table[['class']].drop_duplicates()
    return classes.assign(precision=precision, weight=weight, n_labels=metric.n_labels)


def _labels(
    true: Records, classes: list[str], scores: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row and the class of each label, row by row."""
    import pyarrow
    from pyarrow import compute

    lists = compute.split_pattern(none_if_empty(true['labels']), ',')
    rows = compute.list_parent_indices(lists).to_numpy()
    words = lists.flatten()
    labels = places_of(words, pyarrow.array(classes, words.type))
    if len(wrong := np.flatnonzero(labels < 0)):
        found = shown(words[wrong[0]].as_py())
        expected = f'classes of {printable(scores)}'
        if len(wrong) == len(labels) and (cause := likely_cause(words.to_pylist(), classes)):
            expected += f'; no label is a class: {cause}'
        raise true.error(np.unique(rows[wrong]), 'labels', found, expected)
    keys = rows * len(classes) + labels
    again = np.flatnonzero(first_equal(keys) != np.arange(len(keys)))
    if len(again):
        found = f'{shown(words[again[0]].as_py())} twice'
        raise true.error(np.unique(rows[again]), 'labels', found, 'each label once')
    return rows, labels
