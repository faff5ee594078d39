"""Macro AP, the metric of music and sound tagging: AP of each class over the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.challenges.classes_of_samples import CLASSES, columns_left_out, matched_labels
from mediaeval_ap.challenges.task import Columns, Files
from mediaeval_ap.choices import TIES, Missing, Ties, Unknown, check_policy
from mediaeval_ap.errors import Note, UndefinedScoreError
from mediaeval_ap.metrics.tie_blocks import ap_of_list
from mediaeval_ap.progress import shows_progress, tracked
from mediaeval_ap.results.result import mean
from mediaeval_ap.results.score import Score
from mediaeval_ap.tables.table import Frame

if TYPE_CHECKING:
    import pyarrow


@shows_progress
def evaluate_macro_ap(
    truth: Frame | NDArray[Any],
    scores: Frame | NDArray[Any],
    *,
    ties: Ties = 'threshold',
    columns: Columns | None = None,
    truth_columns: Columns | None = None,
    missing: Missing = 'error',
    unknown: Unknown = 'error',
    per_query: bool = False,
    progress: bool = False,
    name: str | None = None,
) -> Score:
    """Score classes by the average precision of their samples (macro AP, PR-AUC-macro).

    Parameters
    ----------
    truth, scores, columns, truth_columns
        As for `evaluate_lrap`: the true classes of each sample, and a number for each class.
    ties : {'threshold', 'expected', 'best', 'worst', 'stable'}
        The rule for samples of equal score, as for `metrics.global_average_precision`.
    missing : {'error', 'zero', 'skip'}
        A sample without a row in the scores is an error; is in no ranking, but counts in R; or is
        left out.
    unknown, progress, name
        As for `evaluate_map`.
    per_query : bool
        Keep a table of classes: ``id``, ``AP`` and ``n_relevant`` (R).

    Returns
    -------
    Score
        The mean AP of the classes with a positive sample. The classes are its queries; those
        without a positive have no AP (NaN), and are counted in ``without_truth``.

    Raises
    ------
    ReadError, FormatError, ParameterError, UndefinedScoreError
        As for `evaluate_lrap`; undefined when no class has a positive.

    Notes
    -----
    AP = (1/R) Σ P(i)·rel(i) over the samples by descending score of the class. R counts the
    positives, rel(i) is 1 for a positive, and P(i) is the precision at rank i; by default, at the
    last rank of its tie, as in ``average_precision_score`` of scikit-learn. The mean is
    PR-AUC-macro of "Emotion and Theme Recognition in Music" (MediaEval 2019 to 2021).

    Examples
    --------
    >>> score = evaluate_macro_ap('samples/sounds_truth.csv', 'samples/sounds_scores.csv')
    >>> score.metric, round(score.value, 3), score.counts['without_truth']
    ('macro AP', 0.845, 1)
    """
    import pyarrow

    check_policy('ties', ties, TIES)
    files = Files(CLASSES, truth, scores, columns, truth_columns, missing, unknown, name)
    left_out = columns_left_out(files)
    classes = [column for column in files.predictions.classes if column not in left_out]
    labels, _ = matched_labels(files, classes)
    ap, n_relevant = _ap_of_classes(files, labels, classes, ties)
    n_without = len(classes) - int(np.count_nonzero(n_relevant))

    def macro_ap() -> float:
        if (value := mean(ap[n_relevant > 0])) is None:
            raise UndefinedScoreError(f'macro AP: no class has a positive in {files.truth_name}')
        return value

    values = {'AP': ap, 'n_relevant': n_relevant}
    note = Note('have no positive, and are left out', n_without, len(classes), 'classes')
    return files.score(
        {'macro AP': macro_ap},
        {'ties': ties},
        values,
        {'samples': len(files.ids), 'labels': int(n_relevant.sum()), 'without_truth': n_without},
        {'id': classes, **values} if per_query else None,
        notes=[note] if n_without else [],
        queries=pyarrow.array(classes),
    )


def _ap_of_classes(
    files: Files, labels: pyarrow.LargeListArray, classes: list[str], ties: Ties
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the AP and the number of positives of each class."""
    from pyarrow import compute

    class_of_label = labels.flatten().to_numpy()
    rows = files.rows[compute.list_parent_indices(labels).to_numpy()]
    n_relevant = np.bincount(class_of_label, minlength=len(classes))
    rows_by_class = np.split(rows[class_of_label.argsort(kind='stable')], n_relevant.cumsum())
    ranked = np.sort(files.rows[files.rows >= 0])  # in the order of the file, for stable ties
    ap = np.full(len(classes), np.nan)
    for number in tracked(np.flatnonzero(n_relevant), 'scoring', ' classes'):
        positives = rows_by_class[number]
        is_positive = np.zeros(len(files.predictions), dtype=np.bool_)
        is_positive[positives[positives >= 0]] = True  # a sample without scores is in no ranking
        confidence = files.predictions.columns[classes[number]].to_numpy()[ranked]
        ap[number] = ap_of_list(confidence, is_positive[ranked], ties, int(n_relevant[number]))
    return ap, n_relevant
