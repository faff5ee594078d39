"""Ranks of true labels among the scores of their sample: the kernel of label ranking AP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.metrics.number_input import is_sparse

SCORES_IN_BLOCK = 1 << 16  # a choice: half and twice as many take as long, a quarter a fifth longer


@dataclass(frozen=True)
class LabelScores:
    """Precisions of the true labels of some samples, and their mean by sample."""

    classes: NDArray[np.int64]  # of each true label
    precisions: NDArray[np.float64]  # of each true label: |L| / rank
    values: NDArray[np.float64]  # of each sample; 1 if it has no true label
    n_without_label: int  # samples


def score_labels(truth: Any, scores: NDArray[Any]) -> Iterator[LabelScores]:
    """Score samples, a block of rows at a time; both arrays have shape (n_samples, n_classes).

    The truth may be a sparse matrix of scipy whose rows can be sliced.
    """
    step = max(1, SCORES_IN_BLOCK // max(1, truth.shape[1]))
    for begin in range(0, len(scores), step):
        some, true = scores[begin : begin + step], truth[begin : begin + step]
        if is_sparse(true):
            true = true.toarray()
        _refuse(some, ~np.isfinite(some), begin, 'y_score', 'a finite number')
        refuse_labels(true, begin)
        yield _score(true != 0, some)


def refuse_labels(truth: NDArray[Any], begin: int = 0) -> None:
    """Refuse labels that are not 0 or 1, in rows from `begin` on."""
    _refuse(truth, (truth != 0) & (truth != 1), begin, 'y_true', '0 or 1')


def _refuse(
    values: NDArray[Any], wrong: NDArray[np.bool_], begin: int, name: str, expected: str
) -> None:
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        found = f'{values[row, column]} in row {begin + row}, column {column}'
        raise ParameterError(f'{name}: found {found}, expected {expected}')


def _score(truth: NDArray[np.bool_], scores: NDArray[Any]) -> LabelScores:
    rows, classes = truth.nonzero()
    at = scores[rows, classes]
    precisions = _true_at_least(rows, at) / _at_least(scores, rows, at)
    n_labels = np.bincount(rows, minlength=len(truth))
    sums = np.bincount(rows, weights=precisions, minlength=len(truth))
    values = np.divide(sums, n_labels, out=np.ones(len(truth)), where=n_labels > 0)
    return LabelScores(classes, precisions, values, int(np.count_nonzero(n_labels == 0)))


def _at_least(scores: NDArray[Any], rows: NDArray[np.int64], at: NDArray[Any]) -> NDArray[np.int64]:
    """Count the scores of a row that are at least as high, by bisection of all rows in step."""
    ascending = np.sort(scores, axis=1)
    n_classes = scores.shape[1]
    low = np.zeros(len(rows), dtype=np.int64)
    high = np.full(len(rows), n_classes)
    for _ in range(n_classes.bit_length()):
        middle = (low + high) // 2
        # A search that has ended may stand behind the last score, and is not moved by any.
        below = ascending[rows, np.minimum(middle, n_classes - 1)] < at
        low, high = np.where(below, middle + 1, low), np.where(below, high, middle)
    return np.subtract(n_classes, low)


def _true_at_least(rows: NDArray[np.int64], at: NDArray[Any]) -> NDArray[np.int64]:
    """Count the scores of true labels of a row that are at least as high."""
    order = np.lexsort((at, rows))
    row, score = rows[order], at[order]
    starts = run_starts([row, score])
    first = np.repeat(starts, np.diff(starts, append=len(row)))
    counts: NDArray[np.int64] = np.empty_like(row)
    counts[order] = np.bincount(rows).cumsum()[row] - first
    return counts
