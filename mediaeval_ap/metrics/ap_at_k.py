"""Precision, relevance and average precision of ranked labels, down to rank k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions
from mediaeval_ap.definitions import Definition, Repeats, check_cutoff
from mediaeval_ap.errors import UndefinedScoreError
from mediaeval_ap.metrics.accumulator import Accumulator
from mediaeval_ap.metrics.ap_of_hits import average_precision_of_hits
from mediaeval_ap.metrics.exact_sums import ExactSums
from mediaeval_ap.metrics.label_hits import map_blocks, match
from mediaeval_ap.metrics.label_input import LabelLists, label_lists

__all__ = [
    'MeanAveragePrecision',
    'average_precision_at_k',
    'mean_average_precision_at_k',
    'precision_at_k',
    'relevance_at_k',
]

K = 12
DEFINITION = 'kaggle'


def precision_at_k(y_true: Any, y_pred: Any, k: int = K) -> float:
    """The share of the first k predictions that are relevant.

    Parameters
    ----------
    y_true : collection of str or int
        The relevant labels.
    y_pred : sequence of str or int
        The predicted labels, best first.
    k : int
        The cutoff.

    Returns
    -------
    float
        Hits in the top k, divided by k, however few are predicted. A label that is predicted
        again is no hit again.

    Raises
    ------
    ParameterError
        When k is no positive integer, or these are not labels of one kind.

    Examples
    --------
    >>> precision_at_k(['a', 'b', 'c'], ['a', 'x', 'c', 'a'], k=4)
    0.5
    """
    return int(np.count_nonzero(_hit_ranks(y_true, y_pred) <= check_cutoff(k))) / k


def relevance_at_k(y_true: Any, y_pred: Any, k: int = K) -> int:
    """Whether the k-th prediction is relevant.

    Parameters
    ----------
    y_true : collection of str or int
        The relevant labels.
    y_pred : sequence of str or int
        The predicted labels, best first.
    k : int
        The rank.

    Returns
    -------
    int
        1 or 0; 0 where fewer than k are predicted, and for a label that was predicted before.

    Raises
    ------
    ParameterError
        When k is no positive integer, or these are not labels of one kind.

    Examples
    --------
    >>> [relevance_at_k(['a', 'b'], ['a', 'x', 'a', 'b'], k) for k in range(1, 6)]
    [1, 0, 0, 1, 0]
    """
    return int(np.count_nonzero(_hit_ranks(y_true, y_pred) == check_cutoff(k)))


def average_precision_at_k(
    y_true: Any, y_pred: Any, k: int = K, definition: str | Definition = DEFINITION
) -> float:
    """Average precision of one ranking of labels, down to rank k.

    Parameters
    ----------
    y_true : collection of str or int
        The relevant labels.
    y_pred : sequence of str or int
        The predicted labels, best first.
    k : int
        The cutoff.
    definition : str or Definition
        What average precision is.

    Returns
    -------
    float
        The value; that of the definition where nothing is relevant.

    Raises
    ------
    ParameterError
        When k is no positive integer, the definition unknown, or these are not labels of one kind.

    Notes
    -----
    `mediaeval_ap.definitions` holds the formulas and their sources.

    Examples
    --------
    >>> average_precision_at_k(['a', 'b'], ['x', 'a'])
    0.25
    >>> average_precision_at_k(['a', 'b'], ['x', 'a'], k=2, definition='hits')
    0.5
    """
    (score,) = _scores(_one(y_true, y_pred), check_cutoff(k), definitions.get(definition))
    return float(score.values[0])


def mean_average_precision_at_k(
    y_true: Any, y_pred: Any, k: int = K, definition: str | Definition = DEFINITION
) -> float:
    """The mean of average precision at k over users, of those for whom something is relevant.

    Parameters
    ----------
    y_true : sequence of collections of str or int
        The relevant labels of each user.
    y_pred : sequence of sequences of str or int, or ndarray, shape (n_users, n_predicted)
        The predicted labels of each, best first.
    k : int
        The cutoff.
    definition : str or Definition
        What average precision is.

    Returns
    -------
    float
        The mean. Users for whom nothing is relevant are left out; `MeanAveragePrecision` counts
        them.

    Raises
    ------
    ParameterError
        When k is no positive integer, the definition unknown, or these are not lists of labels of
        one kind, as many of both.
    UndefinedScoreError
        When nothing is relevant for anybody.

    Examples
    --------
    >>> mean_average_precision_at_k([['a'], ['a', 'b'], []], [['a'], ['b', 'x', 'a'], ['a']])
    0.9166666666666666
    """
    metric = MeanAveragePrecision(k, definition)
    metric.update(y_true, y_pred)
    return metric.compute()


class MeanAveragePrecision(Accumulator):
    """The mean of average precision at k over users who come in pieces.

    Parameters
    ----------
    k : int
        The cutoff.
    definition : str or Definition
        What average precision is.

    Attributes
    ----------
    n_users : int
        How many users are in the mean so far.
    n_without_truth : int
        How many were left out, as nothing is relevant for them.

    Raises
    ------
    ParameterError
        When k is no positive integer, or the definition unknown.

    Notes
    -----
    The sum is exact, so the order of the pieces does not matter, nor where they are split.

    Examples
    --------
    >>> one, other = MeanAveragePrecision(), MeanAveragePrecision()
    >>> one.update([['a'], []], [['a'], ['a']])
    (array([1., 0.]), array([1, 0]))
    >>> other.update([['a', 'b']], [['x', 'b']])
    (array([0.25]), array([2]))
    >>> one.merge(other)
    >>> one.compute(), one.n_users, one.n_without_truth
    (0.625, 2, 1)
    """

    settings = ('k', 'definition')

    def __init__(self, k: int = K, definition: str | Definition = DEFINITION) -> None:
        self.k = check_cutoff(k)
        self.definition = definitions.get(definition)
        self.reset()

    def reset(self) -> None:
        """Forget all users."""
        self.n_users = 0
        self.n_without_truth = 0
        self._sum = ExactSums()

    def update(self, y_true: Any, y_pred: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Take in users.

        Parameters
        ----------
        y_true : sequence of collections of str or int
            The relevant labels of each.
        y_pred : sequence of sequences of str or int, or ndarray, shape (n_users, n_predicted)
            The predicted labels of each, best first.

        Returns
        -------
        ap : ndarray of float64, shape (n_users,)
            Average precision of each; the definition's value where nothing is relevant.
        n_relevant : ndarray of int64, shape (n_users,)
            How many labels are relevant. One that is repeated counts once, unless the definition
            counts a repeated prediction again.

        Raises
        ------
        ParameterError
            When these are not lists of labels of one kind, as many of both; then nothing changes.
        """
        scores = _scores(label_lists(y_true, y_pred), self.k, self.definition)
        for score in scores:
            self._sum.merge(score.sum)
            self.n_users += score.n_users
            self.n_without_truth += len(score.values) - score.n_users
        return (
            np.concatenate([score.values for score in scores]),
            np.concatenate([score.n_relevant for score in scores]),
        )

    def merge(self, other: MeanAveragePrecision) -> None:
        """Take in all users of another.

        Parameters
        ----------
        other : MeanAveragePrecision
            Of the same k and definition.

        Raises
        ------
        ParameterError
            When it is of others; then nothing changes.
        """
        self._expect_same(other)
        self._sum.merge(other._sum)
        self.n_users += other.n_users
        self.n_without_truth += other.n_without_truth

    def compute(self) -> float:
        """The mean so far.

        Returns
        -------
        float
            The exact sum divided by `n_users`, rounded once.

        Raises
        ------
        UndefinedScoreError
            When there is no user for whom something is relevant.
        """
        if not self.n_users:
            raise UndefinedScoreError(
                f'MAP@{self.k}: nothing is relevant for any of {self.n_without_truth} users'
            )
        return float(self._sum.fraction() / self.n_users)


@dataclass(frozen=True)
class _Scores:
    """Average precision of some users, and the sum over those for whom something is relevant."""

    values: NDArray[np.float64]
    n_relevant: NDArray[np.int64]
    sum: ExactSums
    n_users: int


def _scores(lists: tuple[LabelLists, LabelLists], k: int, definition: Definition) -> list[_Scores]:
    def score(truth: LabelLists, predictions: LabelLists) -> _Scores:
        found = match(truth, predictions, definition.repeats)
        values = average_precision_of_hits(
            found.rankings, found.ranks, found.n_relevant, found.n_returned, [k], definition
        )[:, 0]
        total = ExactSums()
        counted = values[found.n_relevant > 0]
        total.add(counted)
        return _Scores(values, found.n_relevant, total, len(counted))

    return map_blocks(score, *lists)


def _hit_ranks(y_true: Any, y_pred: Any) -> NDArray[np.int64]:
    return match(*_one(y_true, y_pred), Repeats.IRRELEVANT).ranks


def _one(y_true: Any, y_pred: Any) -> tuple[LabelLists, LabelLists]:
    """One list of true labels, which may be a set, and one of predictions."""
    return label_lists([y_true], [y_pred])
