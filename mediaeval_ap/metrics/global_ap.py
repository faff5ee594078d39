"""Global average precision (GAP, micro-AP): all predictions of all queries in one list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.choices import TIES, Ties, check_policy
from mediaeval_ap.errors import ParameterError, UndefinedScoreError
from mediaeval_ap.metrics.accumulator import Accumulator
from mediaeval_ap.metrics.arguments import label_array, optional_numbers, same_kind
from mediaeval_ap.metrics.tie_blocks import ap_of_list, mean_precisions
from mediaeval_ap.tables.table import OptionalLabels, OptionalNumbers

if TYPE_CHECKING:
    import pandas


@overload
def global_average_precision(
    *,
    y_true: OptionalLabels,
    y_pred: OptionalLabels,
    confidence: OptionalNumbers,
    ties: Ties = ...,
    return_frame: Literal[False] = ...,
) -> float: ...


@overload
def global_average_precision(
    *,
    y_true: OptionalLabels,
    y_pred: OptionalLabels,
    confidence: OptionalNumbers,
    ties: Ties = ...,
    return_frame: Literal[True],
) -> tuple[float, pandas.DataFrame]: ...


def global_average_precision(
    *,
    y_true: OptionalLabels,
    y_pred: OptionalLabels,
    confidence: OptionalNumbers,
    ties: Ties = 'expected',
    return_frame: bool = False,
) -> float | tuple[float, pandas.DataFrame]:
    """Return the average precision of the predictions of all queries, ranked in one list.

    Parameters
    ----------
    y_true : sequence of str or int, shape (n_queries,)
        True label of each query. If it is missing (``None``, ``NaN``, ``NA``), any prediction is
        wrong.
    y_pred : sequence of str or int, shape (n_queries,)
        Predicted label of each query; missing if the query has no prediction.
    confidence : sequence of float, shape (n_queries,)
        Confidence of each prediction; ignored for queries without a prediction.
    ties : {'expected', 'threshold', 'stable', 'best', 'worst'}
        The rule for equal confidences: the mean over all orders, the precision at their last rank
        (as in scikit-learn), the order of the input, correct predictions first, or correct
        predictions last.
    return_frame : bool
        Return the ranked list, too.

    Returns
    -------
    gap : float
        (1/M) Σ P(i)·rel(i) over the predictions by descending confidence, where M is the number of
        queries with a true label.
    frame : pandas.DataFrame
        With `return_frame`: the predictions in rank order, indexed by their position in the input.
        The terms add up to the value; each precision is by the rule for equal confidences.

    Raises
    ------
    ParameterError, UndefinedScoreError
        When lengths or kinds of labels differ, a confidence is not finite, or `ties` is unknown;
        when no query has a true label.

    Notes
    -----
    The arguments are keyword-only: other metrics take the truth first, the published `GAP_vector`
    takes it last, and swapped arguments would give a wrong number without an error. From Perronnin,
    Liu and Renders, "A family of contextual measures of similarity between distributions with
    application to image retrieval", CVPR 2009. Takes O(n log n) time and O(n) memory.

    Examples
    --------
    >>> queries = {'y_true': [3, 2], 'y_pred': [1, 2], 'confidence': [0.9, 0.9]}
    >>> gap, frame = global_average_precision(**queries, return_frame=True)
    >>> gap, list(frame)
    (0.375, ['predicted', 'confidence', 'truth', 'correct', 'precision', 'term'])
    >>> global_average_precision(**queries, ties='best')
    0.5
    """
    metric = GlobalAveragePrecision(ties)
    predicted, truth, is_given, numbers, correct = metric._add(y_true, y_pred, confidence)
    gap = metric.compute()
    if not return_frame:
        return gap
    import pyarrow

    rows = np.flatnonzero(is_given)
    columns = [predicted.take(rows), numbers, truth.take(rows), correct]
    table = pyarrow.table(columns, ['predicted', 'confidence', 'truth', 'correct'])
    frame = table.to_pandas(integer_object_nulls=True).set_index(rows)
    return gap, in_rank_order(frame, metric.ties, metric.n_true)


class GlobalAveragePrecision(Accumulator):
    """Global average precision of queries that come in pieces.

    Parameters
    ----------
    ties : {'expected', 'threshold', 'stable', 'best', 'worst'}
        As for `global_average_precision`.

    Attributes
    ----------
    n_queries, n_predictions, n_true : int
        Number of queries so far, of queries with a prediction, and of queries with a true label.

    Notes
    -----
    The accumulator keeps nine bytes per prediction, as each rank depends on all predictions. With
    ``ties='stable'``, the order of the updates matters, and accumulators cannot be merged.

    Examples
    --------
    >>> metric = GlobalAveragePrecision()
    >>> metric.update(y_true=['b'], y_pred=['a'], confidence=[0.9])
    >>> metric.update(y_true=['c'], y_pred=['c'], confidence=[0.8])
    >>> metric.compute()
    0.25
    """

    settings = ('ties',)

    def __init__(self, ties: Ties = 'expected') -> None:
        self.ties = check_policy('ties', ties, TIES)
        self.reset()

    def reset(self) -> None:
        self.n_queries = 0
        self.n_predictions = 0
        self.n_true = 0
        self._confidence: list[NDArray[np.float64]] = []
        self._correct: list[NDArray[np.bool_]] = []

    def update(
        self, *, y_true: OptionalLabels, y_pred: OptionalLabels, confidence: OptionalNumbers
    ) -> None:
        """Add queries.

        Parameters
        ----------
        y_true, y_pred, confidence
            As for `global_average_precision`.
        """
        self._add(y_true, y_pred, confidence)

    def _add(
        self, y_true: OptionalLabels, y_pred: OptionalLabels, confidence: OptionalNumbers
    ) -> tuple[Any, Any, NDArray[np.bool_], NDArray[np.float64], NDArray[np.bool_]]:
        """Add queries; return all labels, which have a prediction, and the predictions."""
        from pyarrow import compute

        predicted, truth = same_kind(
            label_array(y_pred, 'y_pred'), label_array(y_true, 'y_true'), 'y_pred', 'y_true'
        )
        numbers = optional_numbers(confidence, 'confidence')
        if not len(predicted) == len(numbers) == len(truth):
            actual = f'{len(truth)} y_true, {len(predicted)} y_pred and {len(numbers)} confidence'
            raise ParameterError(f'found {actual}, expected equal lengths')
        is_given = predicted.is_valid().to_numpy(zero_copy_only=False)
        numbers = numbers[is_given]
        if len(wrong := np.flatnonzero(~np.isfinite(numbers))):
            actual = f'{numbers[wrong[0]]} at position {np.flatnonzero(is_given)[wrong[0]]}'
            expected = 'a finite number with each prediction'
            raise ParameterError(f'confidence: found {actual}, expected {expected}')
        equal = compute.equal(predicted, truth).fill_null(False)
        correct = equal.to_numpy(zero_copy_only=False)[is_given]
        self.n_queries += len(truth)
        self.n_predictions += len(numbers)
        self.n_true += len(truth) - truth.null_count
        self._confidence.append(numbers)
        self._correct.append(correct)
        return predicted, truth, is_given, numbers, correct

    def _expect_like(self, other: Self) -> None:
        super()._expect_like(other)
        if self.ties == 'stable':
            reason = 'needs the input order across parts; use another order of ties'
            raise ParameterError(f"merge: ties='stable' {reason}")

    def compute(self) -> float:
        if not self.n_true:
            raise UndefinedScoreError(f'GAP: none of {self.n_queries} queries has a true label')
        if len(self._confidence) > 1:
            self._confidence = [np.concatenate(self._confidence)]
            self._correct = [np.concatenate(self._correct)]
        return ap_of_list(self._confidence[0], self._correct[0], self.ties, self.n_true)


def in_rank_order(predictions: pandas.DataFrame, ties: Ties, n_true: int) -> pandas.DataFrame:
    """Sort predictions from input order into rank order; add columns of precision and term."""
    confidence, correct = (predictions[name].to_numpy() for name in ('confidence', 'correct'))
    tie_breaker = {'best': ~correct, 'worst': correct}.get(ties, np.arange(len(correct)))
    order = np.lexsort((tie_breaker, -confidence))
    correct = correct[order]
    if ties == 'expected':
        precision = mean_precisions(confidence[order], correct)
    else:
        precision = correct.cumsum() / np.arange(1, len(correct) + 1)
    if ties == 'threshold':
        starts = run_starts([confidence[order]])
        size = np.diff(starts, append=len(order))
        precision = precision[starts + size - 1].repeat(size)
    return predictions.iloc[order].assign(precision=precision, term=correct * precision / n_true)
