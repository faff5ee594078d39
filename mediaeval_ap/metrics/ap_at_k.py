"""Precision, relevance and average precision at k of ranked labels, and MAP at k."""

from __future__ import annotations

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
from mediaeval_ap.metrics.label_input import LabelLists

# As in H&M Personalized Fashion Recommendations, whose metric MAP@12 is.
K = 12
DEFINITION = 'kaggle'


def precision_at_k(y_true: Any, y_pred: Any, k: int = K) -> float:
    """Return the share of relevant labels among the first k predictions.

    Parameters
    ----------
    y_true, y_pred, k
        As for `average_precision_at_k`.

    Returns
    -------
    float
        Number of distinct relevant labels among the first k, divided by k even if fewer are there.

    Raises
    ------
    ParameterError
        As for `average_precision_at_k`.

    Examples
    --------
    >>> precision_at_k(['a', 'b', 'c'], ['a', 'x', 'c', 'a'], k=4)
    0.5
    """
    return int(np.count_nonzero(_hit_ranks(y_true, y_pred) <= check_cutoff(k))) / k


def relevance_at_k(y_true: Any, y_pred: Any, k: int = K) -> int:
    """Return 1 if the k-th prediction is relevant, else 0.

    Parameters
    ----------
    y_true, y_pred, k
        As for `average_precision_at_k`.

    Returns
    -------
    int
        1 or 0; 0 if fewer than k labels are predicted, or the label was predicted before.

    Raises
    ------
    ParameterError
        As for `average_precision_at_k`.

    Examples
    --------
    >>> [relevance_at_k(['a', 'b'], ['a', 'x', 'a', 'b'], k) for k in range(1, 6)]
    [1, 0, 0, 1, 0]
    """
    return int(np.count_nonzero(_hit_ranks(y_true, y_pred) == check_cutoff(k)))


def average_precision_at_k(
    y_true: Any, y_pred: Any, k: int = K, definition: str | Definition = DEFINITION
) -> float:
    """Return average precision at k of one ranking of labels.

    Parameters
    ----------
    y_true : collection of str or int
        Relevant labels.
    y_pred : sequence of str or int
        Predicted labels, best first.
    k : int
        The cutoff.
    definition : str or Definition
        Definition of average precision; `mediaeval_ap.definitions` has the formulas and sources.

    Returns
    -------
    float
        Average precision. If no label is relevant, the value that the definition gives for this.

    Raises
    ------
    ParameterError
        When k is no positive integer, the definition is unknown, or labels are not of one kind.

    Examples
    --------
    >>> average_precision_at_k(['a', 'b'], ['x', 'a'], k=2, definition='hits')
    0.5
    """
    values, _ = MeanAveragePrecision(k, definition).update([y_true], [y_pred])
    return float(values[0])


def mean_average_precision_at_k(
    y_true: Any, y_pred: Any, k: int = K, definition: str | Definition = DEFINITION
) -> float:
    """Return the mean of average precision at k over all users with a relevant label.

    Parameters
    ----------
    y_true : sequence of collections of str or int
        Relevant labels of each user.
    y_pred : sequence of sequences of str or int, or ndarray, shape (n_users, n_predicted)
        Predicted labels of each user, best first.
    k, definition
        As for `average_precision_at_k`.

    Returns
    -------
    float
        The mean. Users without a relevant label are left out; `MeanAveragePrecision` counts them.

    Raises
    ------
    ParameterError
        As for `average_precision_at_k`, and when there are not as many lists of both.
    UndefinedScoreError
        When no user has a relevant label.

    Examples
    --------
    >>> mean_average_precision_at_k([['a'], ['a', 'b'], []], [['a'], ['x', 'a'], ['a']])
    0.625
    """
    metric = MeanAveragePrecision(k, definition)
    metric.update(y_true, y_pred)
    return metric.compute()


class MeanAveragePrecision(Accumulator):
    """Mean average precision at k of users who come in pieces.

    Parameters
    ----------
    k, definition
        As for `average_precision_at_k`.

    Attributes
    ----------
    n_users, n_without_truth : int
        Number of users in the mean so far, and left out, as they have no relevant label.

    Examples
    --------
    >>> metric = MeanAveragePrecision()
    >>> metric.update([['a'], []], [['a'], ['a']])
    (array([1., 0.]), array([1, 0]))
    >>> metric.update([['a', 'b']], [['x', 'b']])
    (array([0.25]), array([2]))
    >>> metric.compute(), metric.n_users, metric.n_without_truth
    (0.625, 2, 1)
    """

    settings = ('k', 'definition')

    def __init__(self, k: int = K, definition: str | Definition = DEFINITION) -> None:
        self.k = check_cutoff(k)
        self.definition = definitions.get(definition)
        self.reset()

    def reset(self) -> None:
        self.n_users = 0
        self.n_without_truth = 0
        self._sum = ExactSums()

    def update(self, y_true: Any, y_pred: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Add users.

        Parameters
        ----------
        y_true, y_pred
            As for `mean_average_precision_at_k`.

        Returns
        -------
        ap : ndarray of float64, shape (n_users,)
            Average precision of each user, also of those who are left out of the mean.
        n_relevant : ndarray of int64, shape (n_users,)
            Number of relevant labels. A repeated one counts as a repeated prediction does.

        Raises
        ------
        ParameterError
            As for `mean_average_precision_at_k`; then nothing changes.
        """
        blocks = map_blocks(self._score, y_true, y_pred)
        values, n_relevant = map(np.concatenate, zip(*blocks, strict=True))
        counted = values[n_relevant > 0]
        self._sum.add(counted)
        n_users = len(counted)
        self.n_users += n_users
        self.n_without_truth += len(values) - n_users
        return values, n_relevant

    def _score(
        self, truth: LabelLists, predictions: LabelLists
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        found = match(truth, predictions, self.definition.repeats)
        values = average_precision_of_hits(*found, [self.k], self.definition)[:, 0]
        return values, found.n_relevant

    def merge(self, other: MeanAveragePrecision) -> None:
        self._expect_same(other)
        self._sum.merge(other._sum)
        self.n_users += other.n_users
        self.n_without_truth += other.n_without_truth

    def compute(self) -> float:
        if not self.n_users:
            raise UndefinedScoreError(
                f'MAP@{self.k}: nothing is relevant for any of {self.n_without_truth} users'
            )
        return float(self._sum.fraction() / self.n_users)


def _hit_ranks(y_true: Any, y_pred: Any) -> NDArray[np.int64]:
    def score(truth: LabelLists, predictions: LabelLists) -> NDArray[np.int64]:
        return match(truth, predictions, Repeats.IRRELEVANT).ranks

    (ranks,) = map_blocks(score, [y_true], [y_pred])
    return ranks
