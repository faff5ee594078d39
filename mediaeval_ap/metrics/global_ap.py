"""Global average precision, also micro-AP: all predictions of all queries in one list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import TIES, Ties, check_policy
from mediaeval_ap.errors import ParameterError, UndefinedScoreError
from mediaeval_ap.metrics.accumulator import Accumulator
from mediaeval_ap.metrics.label_input import arrow_array, label_array, same_kind
from mediaeval_ap.metrics.precision_with_ties import mean_precisions, precisions_at_correct

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ['GlobalAveragePrecision', 'global_average_precision']


@overload
def global_average_precision(
    predicted: Any,
    confidence: Any,
    truth: Any,
    *,
    ties: Ties = 'expected',
    return_frame: Literal[False] = False,
) -> float: ...


@overload
def global_average_precision(
    predicted: Any,
    confidence: Any,
    truth: Any,
    *,
    ties: Ties = 'expected',
    return_frame: Literal[True],
) -> tuple[float, pandas.DataFrame]: ...


def global_average_precision(
    predicted: Any,
    confidence: Any,
    truth: Any,
    *,
    ties: Ties = 'expected',
    return_frame: bool = False,
) -> float | tuple[float, pandas.DataFrame]:
    """Average precision of one list that holds the predictions of all queries.

    Parameters
    ----------
    predicted : sequence of str or int, shape (n_queries,)
        The predicted label of each query; missing (``None``, ``NaN``, ``NA``) where there is none,
        which adds nothing.
    confidence : sequence of float, shape (n_queries,)
        How sure each prediction is; of no account where there is none.
    truth : sequence of str or int, shape (n_queries,)
        The true label of each query; missing where there is none, and then a prediction is wrong.
    ties : {'expected', 'stable', 'best', 'worst'}
        What stands first among predictions of equal confidence: the mean over all their orders, the
        order of the input, the correct ones first, or the correct ones last.
    return_frame : bool
        Return the list, too.

    Returns
    -------
    gap : float
        (1/M) Σ P(i)·rel(i) over the predictions by descending confidence, where M queries have a
        true label.
    frame : pandas.DataFrame
        With `return_frame`: the predictions in their order, with their position in the input as
        index, and the columns ``predicted``, ``confidence``, ``truth``, ``correct``, ``precision``
        and ``term``; the terms add up to the value. With ``ties='expected'``, precision is the
        mean over all orders, too: of the precision where this prediction comes to stand.

    Raises
    ------
    ParameterError
        When these are not of one length, or not labels of one kind; when a prediction has no finite
        confidence, or there is no such way with ties.
    UndefinedScoreError
        When no query has a true label.

    Notes
    -----
    The measure is that of Perronnin, Liu and Renders, "A family of contextual measures of
    similarity between distributions with application to image retrieval", CVPR 2009. Takes
    O(n log n) time and O(n) memory.

    Examples
    --------
    >>> global_average_precision(['a', 'b', None], [0.9, 0.9, None], ['a', 'c', 'd'])
    0.25
    >>> for ties in 'expected', 'stable', 'best', 'worst':
    ...     print(ties, global_average_precision([1, 2], [0.9, 0.9], [3, 2], ties=ties))
    expected 0.375
    stable 0.25
    best 0.5
    worst 0.25
    """
    metric = GlobalAveragePrecision(ties)
    judged = _judge(predicted, confidence, truth)
    metric._add(judged)
    gap = metric.compute()
    return (gap, _frame(judged, metric.ties)) if return_frame else gap


class GlobalAveragePrecision(Accumulator):
    """Global average precision of queries that come in pieces.

    Parameters
    ----------
    ties : {'expected', 'stable', 'best', 'worst'}
        What stands first among predictions of equal confidence: the mean over all their orders, the
        order of the updates, the correct ones first, or the correct ones last.

    Attributes
    ----------
    n_queries : int
        How many queries there were so far.
    n_predictions : int
        How many of them have a prediction.
    n_true : int
        How many of them have a true label.

    Raises
    ------
    ParameterError
        When there is no such way with ties.

    Notes
    -----
    Keeps nine bytes a prediction, as the place of each depends on all others. The value does not
    depend on the order of the pieces, nor on where they are split; but for ``ties='stable'``, which
    is about nothing else than order: such metrics cannot be merged.

    Examples
    --------
    >>> one, other = GlobalAveragePrecision(), GlobalAveragePrecision()
    >>> one.update(['a'], [0.9], ['b'])
    >>> other.update(['c'], [0.8], ['c'])
    >>> one.merge(other)
    >>> one.compute()
    0.25
    """

    settings = ('ties',)

    def __init__(self, ties: Ties = 'expected') -> None:
        self.ties = check_policy('ties', ties, TIES)
        self.reset()

    def reset(self) -> None:
        """Forget all queries."""
        self.n_queries = 0
        self.n_predictions = 0
        self.n_true = 0
        self._confidence: list[NDArray[np.float64]] = []
        self._correct: list[NDArray[np.bool_]] = []

    def update(self, predicted: Any, confidence: Any, truth: Any) -> None:
        """Take in queries.

        Parameters
        ----------
        predicted : sequence of str or int, shape (n_queries,)
            The predicted label of each, missing where there is none.
        confidence : sequence of float, shape (n_queries,)
            How sure each prediction is.
        truth : sequence of str or int, shape (n_queries,)
            The true label of each, missing where there is none.

        Raises
        ------
        ParameterError
            When these are not of one length, or not labels of one kind, or a prediction has no
            finite confidence; then nothing changes.
        """
        self._add(_judge(predicted, confidence, truth))

    def _add(self, judged: _Judged) -> None:
        self.n_queries += len(judged.truth)
        self.n_predictions += len(judged.rows)
        self.n_true += judged.n_true
        self._confidence.append(judged.confidence)
        self._correct.append(judged.correct)

    def merge(self, other: GlobalAveragePrecision) -> None:
        """Take in all queries of another.

        Parameters
        ----------
        other : GlobalAveragePrecision
            Of the same way with ties.

        Raises
        ------
        ParameterError
            When it has another way with ties, or that is the order of the input.
        """
        self._expect_same(other)
        if self.ties == 'stable':
            raise ParameterError(
                "merge: found ties='stable', the order of the input, which pieces do not know; "
                'expected expected, best or worst'
            )
        self.n_queries += other.n_queries
        self.n_predictions += other.n_predictions
        self.n_true += other.n_true
        self._confidence += other._confidence
        self._correct += other._correct

    def compute(self) -> float:
        """The value so far.

        Returns
        -------
        float
            Of all queries.

        Raises
        ------
        UndefinedScoreError
            When no query has a true label.

        Notes
        -----
        Takes O(n log n) time for n predictions.
        """
        if not self.n_true:
            raise UndefinedScoreError(f'GAP: none of {self.n_queries} queries has a true label')
        confidence, correct = np.concatenate(self._confidence), np.concatenate(self._correct)
        return float(precisions_at_correct(confidence, correct, self.ties).sum()) / self.n_true


@dataclass(frozen=True)
class _Judged:
    """Labels, and of those queries that have a prediction how sure and whether correct."""

    predicted: pyarrow.Array
    truth: pyarrow.Array
    rows: NDArray[np.int64]
    confidence: NDArray[np.float64]
    correct: NDArray[np.bool_]

    @property
    def n_true(self) -> int:
        return len(self.truth) - int(self.truth.null_count)


def _judge(predicted: Any, confidence: Any, truth: Any) -> _Judged:
    import pyarrow.compute

    labels, true = same_kind(
        label_array(predicted, 'predicted'), label_array(truth, 'truth'), 'predicted', 'truth'
    )
    numbers = _numbers(confidence)
    if not len(labels) == len(numbers) == len(true):
        raise ParameterError(
            f'found {len(labels)} predicted, {len(numbers)} confidence and {len(true)} truth, '
            'expected as many of each'
        )
    rows = np.flatnonzero(labels.is_valid().to_numpy(zero_copy_only=False))
    equal = pyarrow.compute.equal(labels, true).fill_null(False).to_numpy(zero_copy_only=False)
    numbers = numbers[rows]
    if len(wrong := np.flatnonzero(~np.isfinite(numbers))):
        raise ParameterError(
            f'confidence: found {numbers[wrong[0]]} at position {rows[wrong[0]]}, '
            'expected a finite number with each prediction'
        )
    return _Judged(labels, true, rows, numbers, equal[rows])


def _numbers(confidence: Any) -> NDArray[np.float64]:
    """Confidences as doubles; missing ones are not a number."""
    import pyarrow

    array = arrow_array(confidence, 'confidence')
    is_number = pyarrow.types.is_floating(array.type) or pyarrow.types.is_integer(array.type)
    if not (is_number or pyarrow.types.is_null(array.type)):
        raise ParameterError(f'confidence: found {array.type}, expected numbers')
    try:
        numbers: NDArray[np.float64] = array.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
    except pyarrow.ArrowInvalid:
        raise ParameterError(
            'confidence: found integers beyond 2**53, expected numbers that a double can hold'
        ) from None
    return numbers


def _frame(judged: _Judged, ties: Ties) -> pandas.DataFrame:
    """The predictions in their order, each with its precision and what it adds."""
    import pandas

    second = {'best': ~judged.correct, 'worst': judged.correct}.get(ties, judged.rows)
    order = np.lexsort((second, -judged.confidence))
    rows, descending, correct = judged.rows[order], judged.confidence[order], judged.correct[order]
    if ties == 'expected':
        precision = mean_precisions(descending, correct)
    else:
        precision = correct.cumsum() / np.arange(1, len(correct) + 1)
    labels, true = (
        labels.take(rows).to_pandas(integer_object_nulls=True)
        for labels in (judged.predicted, judged.truth)
    )
    return pandas.DataFrame(
        {
            'predicted': labels,
            'confidence': descending,
            'truth': true,
            'correct': correct,
            'precision': precision,
            'term': correct * precision / judged.n_true,
        }
    ).set_index(pandas.Index(rows))
