"""Label ranking average precision (LRAP), its label-weighted form (lwlrap), and AP of classes."""

from __future__ import annotations

import math
import sys
from numbers import Integral
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.choices import TIES, Ties, check_policy
from mediaeval_ap.errors import ParameterError, UndefinedScoreError
from mediaeval_ap.metrics.accumulator import Accumulator, ExactSums
from mediaeval_ap.metrics.label_lists import tensor_error
from mediaeval_ap.metrics.tie_blocks import ap_of_list
from mediaeval_ap.tables.columnar import is_list, to_arrow
from mediaeval_ap.tables.reading import is_arrow, remedy_of
from mediaeval_ap.tables.table import Matrix
from mediaeval_ap.tables.text.line_rules import EXACT_NUMBER, LARGEST_INTEGER

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
    ParameterError
        When shapes differ, a label is not 0 or 1, a score is not finite, or a weight is negative or
        not finite.
    UndefinedScoreError
        When there is no sample, or no weight above 0.

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
        The mean of ``|Lᵢⱼ| / rankᵢⱼ``, as in `label_ranking_average_precision`, over all true
        labels; `UndefinedScoreError` without true labels.
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


def class_average_precision(
    y_true: Matrix, y_score: ArrayLike, *, ties: Ties = 'threshold'
) -> NDArray[np.float64]:
    """Return the average precision of each class, with all samples ranked by its scores.

    Parameters
    ----------
    y_true, y_score
        As for `label_ranking_average_precision`, which lists the errors, too.
    ties : {'threshold', 'expected', 'stable', 'best', 'worst'}
        The rule for equal scores of a class, as for `global_average_precision`.

    Returns
    -------
    ndarray of float64, shape (n_classes,)
        For each class (1/R) Σ P(i)·rel(i) over the samples by descending score, where R is the
        number of samples with this class; NaN if there is none. `numpy.nanmean` is the macro mean.

    Notes
    -----
    With ties by threshold this is Σ (Rₙ - Rₙ₋₁) Pₙ over the distinct scores, from the user guide of
    scikit-learn, "Precision, recall and F-measures". Beside the input, one class is in memory.

    Examples
    --------
    The second class is true for a sample at rank 2 of 2; the third is never true:

    >>> y_score = [[0.9, 0.6, 0.3], [0.2, 0.8, 0.1]]
    >>> class_average_precision([[1, 1, 0], [0, 0, 0]], y_score)
    array([1. , 0.5, nan])
    """
    check_policy('ties', ties, TIES)
    truth, scores = _matrices(y_true, y_score)
    if is_sparse(truth):
        truth = truth.tocsc()

    def ap_of_class(index: int) -> float:  # copies one class, as the matrices may fill the memory
        labels = truth[:, [index]]
        labels = labels.toarray() if is_sparse(labels) else labels
        class_scores = scores[:, [index]]
        _refuse_cells('y_true', labels, first_column=index)
        _refuse_cells('y_score', class_scores, first_column=index)
        if class_scores.dtype.kind in 'iu':
            class_scores = doubles(class_scores, 'y_score')
        is_true = labels[:, 0] != 0
        n_true = int(np.count_nonzero(is_true))
        return ap_of_list(class_scores[:, 0], is_true, ties, n_true) if n_true else np.nan

    return np.array([ap_of_class(index) for index in range(scores.shape[1])])


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
        truth, scores = _matrices(y_true, y_score)
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
            _refuse_cells('y_score', block_scores, begin)
            _refuse_cells('y_true', block_truth, begin)
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
        truth = _with_classes(dense_numbers(y_true, 'y_true', 2, 'biuf'))
        piece = self._piece(truth)
        _refuse_cells('y_true', truth)
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


def _with_classes(truth: Any) -> Any:
    """Return a matrix unchanged; raise ParameterError if it has no columns."""
    if not truth.shape[1]:
        raise ParameterError('y_true: found no classes, expected at least one')
    return truth


def _matrices(y_true: Any, y_score: Any) -> tuple[Any, NDArray[Any]]:
    """Return both arguments as matrices of one shape; a sparse truth stays sparse."""
    if is_sparse(y_true):
        if y_true.ndim != 2 or y_true.dtype.kind not in 'biuf':
            kind = f'{y_true.ndim} dimensions of {y_true.dtype}'
            raise ParameterError(f'y_true: found {kind}, expected 2 of numbers')
        truth = _with_classes(y_true.tocsr())
    else:
        truth = _with_classes(dense_numbers(y_true, 'y_true', 2, 'biuf'))
    scores = dense_numbers(y_score, 'y_score', 2, 'iuf')
    names = [list(frame.columns) for frame in (y_true, y_score) if hasattr(frame, 'columns')]
    if len(names) == 2 and names[0] != names[1]:
        raise ParameterError('y_score: found other columns, expected those of y_true, in order')
    if truth.shape != scores.shape:
        expected = f'{truth.shape} as y_true'
        raise ParameterError(f'y_score: found shape {scores.shape}, expected {expected}')
    return truth, scores


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


def _refuse_cells(
    name: Literal['y_true', 'y_score'],
    cells: NDArray[Any],
    first_row: int = 0,
    first_column: int = 0,
) -> None:
    """Refuse labels other than 0 and 1, or scores that are not finite."""
    is_wrong = (cells != 0) & (cells != 1) if name == 'y_true' else ~np.isfinite(cells)
    if is_wrong.any():
        row, column = np.argwhere(is_wrong)[0]
        place = f'row {first_row + row}, column {first_column + column}'
        expected = '0 or 1' if name == 'y_true' else 'a finite number'
        raise ParameterError(f'{name}: found {cells[row, column]} in {place}, expected {expected}')


def _precisions(
    scores: NDArray[Any], rows: NDArray[np.int64], classes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return |L| / rank of each true label, given its row and class; rows ascend.

    Examples
    --------
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


def is_sparse(values: object) -> bool:
    """Return True for a sparse matrix of scipy, without importing scipy."""
    scipy_sparse = sys.modules.get('scipy.sparse')
    return scipy_sparse is not None and bool(scipy_sparse.issparse(values))


def dense_numbers(values: Any, name: str, n_dimensions: int, kinds: str) -> NDArray[Any]:
    """Convert numbers to an array whose numpy kind is in `kinds`; integers stay integers."""
    expected = f'expected {n_dimensions} of numbers'
    if is_sparse(values):
        raise ParameterError(f'{name}: found a sparse matrix, expected a dense array')
    if isinstance(values, np.ma.MaskedArray):
        raise ParameterError(f'{name}: found a masked array, {expected}')
    try:
        array = np.asarray(_matrix_of_lists(values, name) if _is_list_array(values) else values)
    except ParameterError:
        raise
    except (TypeError, RuntimeError) as error:
        raise tensor_error(error, name) from None
    except ValueError:
        raise ParameterError(f'{name}: found rows of different lengths, {expected}') from None
    if array.dtype == object and 'b' in kinds and {*map(type, array.flat)} <= {bool, np.bool_}:
        array = array.astype(np.bool_)  # as pandas has them where a missing one is allowed
    if array.ndim != n_dimensions or array.dtype.kind not in kinds:
        actual = f'{array.ndim} dimensions of {array.dtype}'
        raise ParameterError(f'{name}: found {actual}, {expected}{remedy_of(values)}')
    # numpy converts integers beside floats, and int64 beside uint64, to doubles, and may round
    # them. (It converts smaller types to smaller floats only if these are exact.)
    if array.dtype.kind == 'f' and array.itemsize >= 8 and not isinstance(values, np.ndarray):
        is_large = np.abs(array) >= LARGEST_INTEGER
        if is_large.any():
            unconverted = _before_conversion(values)[is_large]
            suffix = ' beside numbers of other types'
            _refuse_rounded(unconverted, array[is_large], name, suffix)
    return array


def _is_list_array(values: object) -> bool:
    """Return True for a pyarrow array of lists, without importing pyarrow."""
    pyarrow = sys.modules.get('pyarrow')
    arrays = () if pyarrow is None else (pyarrow.Array, pyarrow.ChunkedArray)
    return isinstance(values, arrays) and is_list(values)


def _matrix_of_lists(lists: Any, name: str) -> NDArray[Any]:
    """Convert a pyarrow array of lists of numbers to an array of two dimensions."""
    from pyarrow import ChunkedArray, compute

    if isinstance(lists, ChunkedArray):
        lists = lists.combine_chunks()
    numbers = lists.flatten()
    if lists.null_count or numbers.null_count:
        kind = 'list' if lists.null_count else 'number'
        raise ParameterError(f'{name}: found a missing {kind}, expected numbers')
    lengths = compute.list_value_length(lists).to_numpy()
    length = int(lengths[0]) if len(lengths) else max(0, getattr(lists.type, 'list_size', 0))
    if (lengths != length).any():
        raise ValueError('rows of different lengths')  # as numpy does for Python lists
    array: NDArray[Any] = numbers.to_numpy(zero_copy_only=False)
    return array.reshape(len(lists), length)


def doubles(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Convert numbers to doubles; refuse an integer that a double cannot hold."""
    numbers = array.astype(np.float64)
    is_large = np.abs(numbers) >= LARGEST_INTEGER
    if is_large.any():
        _refuse_rounded(array[is_large], numbers[is_large], name, '')
    return numbers


def _refuse_rounded(
    unconverted: NDArray[Any], converted: NDArray[Any], name: str, suffix: str
) -> None:
    """Raise ParameterError for an integer that was rounded; the suffix tells the cause."""
    for number, double in zip(unconverted.tolist(), converted.tolist(), strict=True):
        if isinstance(number, Integral) and math.isfinite(double) and int(number) != int(double):
            raise ParameterError(f'{name}: found {int(number)}{suffix}, expected {EXACT_NUMBER}')


def _before_conversion(values: Any) -> NDArray[np.object_]:
    """Return numbers as objects, before numpy converts them to one type."""
    if hasattr(values, 'iloc'):  # a frame or series of pandas
        values = values.astype(object).to_numpy()
    elif is_arrow(values):
        columns = (column.to_pylist() for column in to_arrow(values).columns)
        values = list(zip(*columns, strict=True))
    return np.asarray(values, dtype=object)
