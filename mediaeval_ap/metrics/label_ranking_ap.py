"""Label ranking average precision (LRAP), and its label-weighted form (lwlrap)."""

from __future__ import annotations

from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.errors import ParameterError, UndefinedScoreError
from mediaeval_ap.metrics.accumulator import Accumulator, ExactSums
from mediaeval_ap.metrics.matrices import (
    dense_numbers,
    doubles,
    is_sparse,
    read_matrices,
    refuse_cells,
    with_classes,
)
from mediaeval_ap.tables.table import Matrix

SCORES_IN_BLOCK = 1 << 16  # half and twice as many take as long; a quarter takes a fifth longer


def label_ranking_average_precision(
    y_true: Matrix, y_score: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Return the mean over samples of precision at the ranks of true labels (LRAP).

    Parameters
    ----------
    y_true : array or sparse matrix of 0 and 1, shape (n_samples, n_classes)
        1 for each true label of each sample.
    y_score : array of float, shape (n_samples, n_classes)
        The score of each label.
    sample_weight : array of float, shape (n_samples,), optional
        Weight of each sample in the mean; by default 1.

    Returns
    -------
    float
        The mean over samples i of ``(1/‖yᵢ‖₀) Σ |Lᵢⱼ| / rankᵢⱼ``, with the sum over the true labels
        j of the sample. ``rankᵢⱼ`` is the number of labels that score at least as high as j, and
        ``|Lᵢⱼ|`` the number of true labels among these. A sample without a true label counts 1.

    Raises
    ------
    ParameterError, UndefinedScoreError
        When shapes differ, a label is not 0 or 1, a score is not finite, or a weight is negative or
        not finite; when there is no sample, or no weight above 0.

    Notes
    -----
    The formula is from the user guide of scikit-learn, "Label ranking average precision". It takes
    O(n_samples · n_classes · log n_classes) time, and O(n_samples) memory beside the input.

    Examples
    --------
    Each sample has one true label, at rank 2:

    >>> label_ranking_average_precision([[1, 0, 0], [0, 1, 0]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.5
    """
    metric = LabelRankingAveragePrecision()
    metric.update(y_true, y_score, sample_weight)
    return metric.compute()


@overload
def label_weighted_label_ranking_average_precision(
    y_true: Matrix, y_score: ArrayLike, *, return_per_class: Literal[False] = False
) -> float: ...


@overload
def label_weighted_label_ranking_average_precision(
    y_true: Matrix, y_score: ArrayLike, *, return_per_class: Literal[True]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]: ...


def label_weighted_label_ranking_average_precision(
    y_true: Matrix, y_score: ArrayLike, *, return_per_class: bool = False
) -> float | tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean over true labels of precision at their ranks (lwlrap).

    Parameters
    ----------
    y_true, y_score
        As for `label_ranking_average_precision`, which lists the errors, too.
    return_per_class : bool
        Return the precision and the weight of each class, too.

    Returns
    -------
    lwlrap : float
        The mean of ``|Lᵢⱼ| / rankᵢⱼ`` over all true labels; `UndefinedScoreError` without any.
    precision, weight : ndarray of float64, shape (n_classes,)
        With `return_per_class`: for each class, the same mean over its true labels, NaN if it is
        never true; and its share of all true labels.

    Notes
    -----
    The metric of Freesound Audio Tagging 2019 (DCASE 2019, task 2). It equals label ranking average
    precision with the number of true labels as sample weight.

    Examples
    --------
    >>> data = [[1, 0, 0], [1, 0, 0]], [[0.75, 0.5, 1], [1, 0.2, 0.1]]
    >>> label_weighted_label_ranking_average_precision(*data, return_per_class=True)
    (0.75, array([0.75,  nan,  nan]), array([1., 0., 0.]))
    """
    metric = LabelRankingAveragePrecision(label_weighted=True)
    metric.update(y_true, y_score)
    lwlrap = metric.compute()
    return (lwlrap, *metric.per_class()) if return_per_class else lwlrap


class LabelRankingAveragePrecision(Accumulator):
    """Label ranking average precision of samples that come in pieces.

    Parameters
    ----------
    label_weighted : bool
        Take the mean over true labels (lwlrap) instead of over samples.

    Attributes
    ----------
    n_samples, n_without_label : int
        Number of samples so far, and of samples without a true label.

    Examples
    --------
    >>> metric = LabelRankingAveragePrecision()
    >>> metric.update([[1, 0, 0]], [[0.75, 0.5, 1]])
    array([0.5])
    >>> metric.update([[1, 0, 0]], [[1, 0.2, 0.1]])
    array([1.])
    >>> metric.update_missing([[0, 1, 0]])
    >>> metric.compute(), metric.n_labels.tolist()
    (0.5, [2, 1, 0])
    """

    settings = ('label_weighted',)

    def __init__(self, *, label_weighted: bool = False) -> None:
        self.label_weighted = label_weighted
        self.reset()

    def reset(self) -> None:
        self.n_samples = 0
        self.n_without_label = 0
        self._n_labels = np.zeros(0, dtype=np.int64)
        self._by_sample = ExactSums()
        self._by_weight = ExactSums()
        self._by_class = ExactSums(0)

    @property
    def n_labels(self) -> NDArray[np.int64]:
        """The number of samples for which each class is true; empty before the first sample."""
        return self._n_labels.copy()

    def update(
        self, y_true: Matrix, y_score: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Add samples.

        Parameters
        ----------
        y_true, y_score
            As for `label_ranking_average_precision`, with the same number of classes each time.
        sample_weight : array of float, shape (n_samples,), optional
            Weight of each sample; by default 1. Not allowed with `label_weighted`.

        Returns
        -------
        ndarray of float64, shape (n_samples,)
            Label ranking average precision of each sample; 1 if it has no true label.
        """
        truth, scores = read_matrices(y_true, y_score)
        if self.label_weighted and sample_weight is not None:
            raise ParameterError('give sample_weight or label_weighted, not both')
        weights = _weights(sample_weight, len(scores))
        # A later block may be invalid, so blocks are added to a piece, which is merged last.
        piece = self._piece(truth)
        n_classes = truth.shape[1]
        values = np.ones(len(scores))
        step = max(1, SCORES_IN_BLOCK // n_classes)
        for begin in range(0, len(scores), step):
            block = slice(begin, begin + step)
            block_truth = truth[block]
            block_scores = scores[block]
            if is_sparse(block_truth):
                block_truth = block_truth.toarray()
            refuse_cells('y_score', block_scores, begin)
            refuse_cells('y_true', block_truth, begin)
            rows, classes = (block_truth != 0).nonzero()  # faster on booleans than on integers
            precisions = _precisions(block_scores, rows, classes)
            n_labels = np.bincount(rows, minlength=len(block_scores))
            sums = np.bincount(rows, weights=precisions, minlength=len(block_scores))
            np.divide(sums, n_labels, out=values[block], where=n_labels > 0)
            piece.n_without_label += int(np.count_nonzero(n_labels == 0))
            piece._n_labels += np.bincount(classes, minlength=n_classes)
            piece._by_class.add(precisions, classes)
        piece.n_samples = len(values)
        piece._by_sample.add(values * weights)
        piece._by_weight.add(weights)
        self.merge(piece)
        return values

    def update_missing(self, y_true: Matrix) -> None:
        """Add samples without scores: each counts 0, and each of its true labels has precision 0.

        Parameters
        ----------
        y_true : array of 0 and 1, shape (n_samples, n_classes)
            The true labels, with the same number of classes each time.
        """
        truth = with_classes(dense_numbers(y_true, 'y_true', 2, 'biuf'))
        piece = self._piece(truth)
        refuse_cells('y_true', truth)
        piece.n_samples = len(truth)
        piece.n_without_label = int(np.count_nonzero(~truth.any(axis=1)))
        piece._n_labels += np.count_nonzero(truth, axis=0)
        piece._by_weight.add(np.ones(len(truth)))
        self.merge(piece)

    def merge(self, other: Self) -> None:
        self._expect_like(other)
        if other.n_samples:  # without samples, the number of classes is unknown
            self._make_room(len(other._n_labels))
            super().merge(other)

    def _expect_like(self, other: Self) -> None:
        super()._expect_like(other)
        actual = len(other._n_labels)
        expected = len(self._n_labels)
        if self.n_samples and other.n_samples and actual != expected:
            raise ParameterError(f'merge: found {actual} classes, expected {expected}')

    def compute(self) -> float:
        if self.label_weighted:
            n_labels = int(self._n_labels.sum())
            if not n_labels:
                raise UndefinedScoreError(
                    f'lwlrap: none of {self.n_samples} samples has a true label'
                )
            return float(sum(map(self._by_class.fraction, range(len(self._n_labels)))) / n_labels)
        weight = self._by_weight.fraction()
        if not weight:
            raise UndefinedScoreError(f'LRAP: none of {self.n_samples} samples has a weight')
        return float(self._by_sample.fraction() / weight)

    def per_class(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the precision and the weight of each class; lwlrap is their weighted mean.

        Returns
        -------
        precision, weight : ndarray of float64, shape (n_classes,)
            As for `label_weighted_label_ranking_average_precision`; weights are 0 without labels.
        """
        n_labels = max(1, int(self._n_labels.sum()))
        precision = [
            float(self._by_class.fraction(label) / n) if n else np.nan
            for label, n in enumerate(self._n_labels.tolist())
        ]
        return np.array(precision), self._n_labels / n_labels

    def _piece(self, truth: Any) -> Self:
        """Return an empty accumulator for `truth`; raise if its number of classes is new."""
        if self.n_samples and len(self._n_labels) != truth.shape[1]:
            actual = truth.shape[1]
            expected = len(self._n_labels)
            raise ParameterError(f'y_true: found {actual} classes, expected {expected} as before')
        piece = type(self)(label_weighted=self.label_weighted)
        piece._make_room(truth.shape[1])
        return piece

    def _make_room(self, n_classes: int) -> None:
        """Prepare empty sums, if there are no samples yet."""
        if not self.n_samples:
            self._n_labels = np.zeros(n_classes, dtype=np.int64)
            self._by_class = ExactSums(n_classes)


def _weights(sample_weight: ArrayLike | None, n_samples: int) -> NDArray[np.float64]:
    if sample_weight is None:
        return np.ones(n_samples)
    name = 'sample_weight'
    weights = doubles(dense_numbers(sample_weight, name, 1, 'iuf'), name)
    if len(weights) != n_samples:
        raise ParameterError(f'sample_weight: found {len(weights)} numbers, expected {n_samples}')
    if len(wrong := weights[~(np.isfinite(weights) & (weights >= 0))]):
        raise ParameterError(f'sample_weight: found {wrong[0]}, expected finite numbers, 0 or more')
    return weights


def _precisions(
    scores: NDArray[Any], rows: NDArray[np.int64], classes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return |L| / rank of each true label, given its row and class; rows ascend.

    Classes 1 and 2 are true. Class 2 has rank 1; class 1 ties with class 0, so both have rank 3:

    >>> scores = np.array([[0.5, 0.5, 0.9, 0.1]])
    >>> _precisions(scores, np.array([0, 0]), np.array([1, 2])).round(3).tolist()  # 2/3 and 1/1
    [0.667, 1.0]
    """
    label_scores = scores[rows, classes]
    # The rank of a label is the number of scores in its row that are at least as high. One
    # bisection finds the ranks of all labels together, step by step.
    ascending = np.sort(scores, axis=1)
    n_classes = scores.shape[1]
    low = np.zeros(len(rows), dtype=np.int64)
    high = np.full(len(rows), n_classes)
    for _ in range(n_classes.bit_length()):
        middle = (low + high) // 2
        # A search may have ended after the last score; `minimum` keeps its index valid, and the
        # comparison does not move it.
        is_below = ascending[rows, np.minimum(middle, n_classes - 1)] < label_scores
        low = np.where(is_below, middle + 1, low)
        high = np.where(is_below, high, middle)
    # |L| is the number of true labels of the row that score at least as high. Sorted by score, they
    # start at the first label with an equal score, and end with the row.
    order = np.lexsort((label_scores, rows))
    starts = run_starts([rows, label_scores[order]])
    first = np.repeat(starts, np.diff(starts, append=len(rows)))
    n_true = np.empty_like(rows)
    n_true[order] = np.bincount(rows).cumsum()[rows] - first
    precisions: NDArray[np.float64] = n_true / (n_classes - low)
    return precisions
