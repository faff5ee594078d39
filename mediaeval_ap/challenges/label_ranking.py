"""Challenges whose predictions are a score for each class: label ranking average precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences
from mediaeval_ap.challenges.alignment import align, pieces, places_of, unique_ids
from mediaeval_ap.choices import UNKNOWN, Unknown, check_policy
from mediaeval_ap.errors import printable, shown
from mediaeval_ap.evaluation.likely_causes import likely_cause
from mediaeval_ap.metrics import LabelRankingAveragePrecision
from mediaeval_ap.results import Score, notes_of
from mediaeval_ap.tables import MAX_BYTES
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.records import Records, read_records

__all__ = ['evaluate_lrap']

TRUTH = RecordLayout(('fname', 'labels'))
SCORES = RecordLayout(('fname',), other_numbers=True)
SCORES_IN_PIECE = 1 << 22


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
    """Score predictions that are a number for each class by label ranking average precision.

    Parameters
    ----------
    truth : str, path-like, file object, DataFrame or pyarrow table
        ``fname,labels``: the labels of each sample, separated by commas. This, and the scores, may
        be anything that `mediaeval_ap.tables.records.read_records` takes.
    scores : like truth
        ``fname`` and a column of numbers for each class, under its name.
    label_weighted : bool
        Take the mean over all labels (lwlrap) instead of over samples.
    unknown : {'error', 'drop'}
        What a sample of the scores is that the truth lacks: an error, or left out.
    per_class : bool
        Keep a table of classes: ``class``, ``precision``, ``weight`` and ``n_labels``.
    progress : bool
        Show a progress bar on standard error.
    max_bytes : int
        The limit of `mediaeval_ap.tables.records.read_records`.

    Returns
    -------
    Score
        LRAP, or lwlrap.

    Raises
    ------
    ReadError, FormatError
        When a file cannot be read, a sample is repeated, missing or unknown, a label is not a class
        or repeated, or a score is not a finite number.
    ParameterError
        When there is no such policy.
    UndefinedScoreError
        When no sample has a label, and these are what is weighted or asked for.

    Warns
    -----
    UnknownIdsWarning
        When there are unknown samples, and that is no error.

    Examples
    --------
    >>> evaluate_lrap(
    ...     'samples/sounds_truth.csv', 'samples/sounds_scores.csv', label_weighted=True
    ... ).metric
    'lwlrap'
    """
    import pandas

    metric = LabelRankingAveragePrecision(label_weighted=label_weighted)
    unknown = check_policy('unknown', unknown, UNKNOWN)
    true = read_records(truth, [TRUTH], max_bytes=max_bytes)
    predicted = read_records(scores, [SCORES], max_bytes=max_bytes)
    samples = unique_ids(true, 'fname')
    classes = [name for name in predicted.columns.column_names if name != 'fname']
    rows, labels = _labels(true, classes, predicted.source.name)
    aligned = align(samples, true, predicted, 'fname', None, unknown)
    numbers = [predicted[name].to_numpy() for name in classes]
    for part in pieces(len(samples), max(1, SCORES_IN_PIECE // len(classes)), progress):
        y_true = np.zeros((part.stop - part.start, len(classes)), dtype=np.bool_)
        begin, end = np.searchsorted(rows, [part.start, part.stop])
        y_true[rows[begin:end] - part.start, labels[begin:end]] = True
        metric.update(y_true, np.column_stack([each[aligned.rows[part]] for each in numbers]))
    table = None
    if per_class:
        precision, weight = metric.per_class()
        columns = {'precision': precision, 'weight': weight, 'n_labels': metric.n_labels}
        table = pandas.DataFrame({'class': classes, **columns})
    counts_as = 'they do not count' if label_weighted else 'each counts 1'
    return Score(
        'lwlrap' if label_weighted else 'LRAP',
        metric.compute(),
        {'label_weighted': label_weighted, 'unknown': unknown},
        aligned.inputs,
        {
            'queries': metric.n_samples,
            'classes': len(classes),
            'labels': len(labels),
            'without_truth': metric.n_without_label,
            **aligned.counts,
        },
        table,
        notes_of(metric.n_without_label, metric.n_samples, f'have no true label: {counts_as}'),
    )


def _labels(
    true: Records, classes: list[str], scores: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The row and the class of each label, row by row."""
    import pyarrow
    from pyarrow import compute

    lists = compute.split_pattern(true['labels'], ',')
    rows = np.repeat(np.arange(len(lists)), np.diff(lists.offsets.to_numpy()))
    words = lists.flatten()
    given = compute.not_equal(true['labels'], '').to_numpy(zero_copy_only=False)[rows]
    rows, words = rows[given], words.filter(pyarrow.array(given))
    labels = places_of(words, pyarrow.array(classes, words.type))
    if len(wrong := np.flatnonzero(labels < 0)):
        found = shown(words[wrong[0]].as_py())
        expected = f'classes of {printable(scores)}'
        if len(wrong) == len(labels) and (cause := likely_cause(words.to_pylist(), classes)):
            expected += f'; no label is a class: {cause}'
        raise true.error(np.unique(rows[wrong]), 'labels', found, expected)
    keys = rows * len(classes) + labels
    again = np.setdiff1d(np.arange(len(keys)), first_occurrences(keys))
    if len(again):
        found = f'{shown(words[again[0]].as_py())} twice'
        raise true.error(np.unique(rows[again]), 'labels', found, 'each label once')
    return rows, labels
