"""MAP at k of lists of labels; precision, relevance and average precision at k of one list."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions
from mediaeval_ap.choices import MAP_CUTOFF
from mediaeval_ap.definitions import Definition, Repeats, check_cutoff
from mediaeval_ap.errors import UndefinedScoreError
from mediaeval_ap.metrics.accumulator import Accumulator, ExactSums
from mediaeval_ap.metrics.label_lists import LabelLists, map_blocks, match
from mediaeval_ap.tables.table import Labels, Lists


def precision_at_k(y_true: Labels, y_pred: Labels, k: int = MAP_CUTOFF) -> float:
    """Return the share of relevant labels among the first k predictions.

    Parameters
    ----------
    y_true, y_pred, k
        As for `mean_average_precision_at_k`, of one user.

    Returns
    -------
    float
        The number of distinct ones, divided by k even if fewer labels are predicted.

    Examples
    --------
    >>> precision_at_k(['a', 'b', 'c'], ['a', 'x', 'c', 'a'], k=4)
    0.5
    """
    return int(np.count_nonzero(_hit_ranks(y_true, y_pred) <= check_cutoff(k))) / k


def relevance_at_k(y_true: Labels, y_pred: Labels, k: int = MAP_CUTOFF) -> int:
    """Return 1 if the k-th prediction is relevant, else 0.

    Parameters
    ----------
    y_true, y_pred, k
        As for `mean_average_precision_at_k`, of one user.

    Returns
    -------
    int
        Also 0 if fewer than k labels are predicted, or the k-th repeats an earlier one.

    Examples
    --------
    >>> [relevance_at_k(['a', 'b'], ['a', 'x', 'a', 'b'], k) for k in range(1, 6)]
    [1, 0, 0, 1, 0]
    """
    return int(np.count_nonzero(_hit_ranks(y_true, y_pred) == check_cutoff(k)))


def average_precision_at_k(
    y_true: Labels, y_pred: Labels, k: int = MAP_CUTOFF, definition: str | Definition = 'kaggle'
) -> float:
    """Return the average precision at k of one ranking of labels.

    Parameters
    ----------
    y_true, y_pred, k, definition
        As for `mean_average_precision_at_k`, of one user.

    Returns
    -------
    float
        Average precision; `Definition.without_relevant` if no label is relevant.

    Examples
    --------
    >>> average_precision_at_k(['a', 'b'], ['x', 'a'], k=2, definition='hits')
    0.5
    """
    values, _ = MeanAveragePrecision(k, definition).update([y_true], [y_pred])
    return float(values[0])


def mean_average_precision_at_k(
    y_true: Lists, y_pred: Lists, k: int = MAP_CUTOFF, definition: str | Definition = 'kaggle'
) -> float:
    """Return the mean average precision at k over all users with a relevant label.

    Parameters
    ----------
    y_true : sequence of collections of str or int
        Relevant labels of each user.
    y_pred : sequence of sequences of str or int, or ndarray, shape (n_users, n_predicted)
        Predicted labels of each user, best first.
    k, definition : int, str or Definition
        The cutoff, and a definition; `mediaeval_ap.definitions` has the formulas and sources.

    Returns
    -------
    float
        The mean. Users without a relevant label are left out (`MeanAveragePrecision` counts them).

    Raises
    ------
    ParameterError, UndefinedScoreError
        When k is not a positive integer, the definition is unknown, or some labels are text and
        others integers; when no user has a relevant label.

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
        As for `mean_average_precision_at_k`.

    Attributes
    ----------
    n_users, n_without_truth : int
        Number of users in the mean so far, and of users left out, without a relevant label.

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

    def __init__(self, k: int = MAP_CUTOFF, definition: str | Definition = 'kaggle') -> None:
        self.k = check_cutoff(k)
        self.definition = definitions.get(definition)
        self.reset()

    def reset(self) -> None:
        self.n_users = 0
        self.n_without_truth = 0
        self._sum = ExactSums()

    def update(self, y_true: Lists, y_pred: Lists) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Add users.

        Parameters
        ----------
        y_true, y_pred
            As for `mean_average_precision_at_k`.

        Returns
        -------
        ap : ndarray of float64, shape (n_users,)
            Average precision of each user, including users left out of the mean.
        n_relevant : ndarray of int64, shape (n_users,)
            Number of relevant labels. Repeated labels count again only if the definition counts
            repeated predictions again.
        """

        def score(
            truth: LabelLists, predictions: LabelLists
        ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
            hits = match(truth, predictions, self.definition.repeats)
            return hits.ap([self.k], self.definition)[:, 0], hits.n_relevant

        blocks = map_blocks(score, y_true, y_pred)
        values, n_relevant = map(np.concatenate, zip(*blocks, strict=True))
        averaged = values[n_relevant > 0]
        self._sum.add(averaged)
        self.n_users += len(averaged)
        self.n_without_truth += len(values) - len(averaged)
        return values, n_relevant

    def compute(self) -> float:
        if not self.n_users:
            raise UndefinedScoreError(
                f'MAP@{self.k}: none of {self.n_without_truth} users has a relevant label'
            )
        return float(self._sum.fraction() / self.n_users)


def _hit_ranks(y_true: Labels, y_pred: Labels) -> NDArray[np.integer]:
    """Return the ranks of the hits of one list; repeated predictions are not hits."""

    def score(truth: LabelLists, predictions: LabelLists) -> NDArray[np.integer]:
        return match(truth, predictions, Repeats.IRRELEVANT).ranks

    (ranks,) = map_blocks(score, [y_true], [y_pred])
    return ranks
