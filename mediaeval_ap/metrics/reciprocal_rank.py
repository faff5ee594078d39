"""The reciprocal of the rank of the first correct prediction, and its mean."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Repeats, check_cutoff
from mediaeval_ap.errors import UndefinedScoreError
from mediaeval_ap.metrics.accumulator import Accumulator
from mediaeval_ap.metrics.label_hits import map_blocks, match
from mediaeval_ap.metrics.label_input import LabelLists, label_array, label_lists

__all__ = ['ReciprocalRank', 'mean_reciprocal_rank_at_k', 'reciprocal_rank_at_k']

K = 5


def reciprocal_rank_at_k(label: str | int, predictions: Any, k: int = K) -> float:
    """One divided by the rank of the first correct prediction among the first k.

    Parameters
    ----------
    label : str or int
        The true label.
    predictions : sequence of str or int
        The predicted labels, best first.
    k : int
        How many count.

    Returns
    -------
    float
        0 where none of them is correct.

    Raises
    ------
    ParameterError
        When k is no positive integer, or these are not labels of one kind.

    Examples
    --------
    >>> reciprocal_rank_at_k('w_1287fbc', ['new_whale', 'w_1287fbc'])
    0.5
    """
    return mean_reciprocal_rank_at_k([label], [predictions], k)


def mean_reciprocal_rank_at_k(labels: Any, predictions: Any, k: int = K) -> float:
    """The mean of the reciprocal ranks of first correct predictions.

    Parameters
    ----------
    labels : sequence of str or int
        The true label of each image.
    predictions : sequence of sequences of str or int, or ndarray, shape (n_images, n_predicted)
        The predicted labels of each, best first.
    k : int
        How many of them count.

    Returns
    -------
    float
        The mean over all images.

    Raises
    ------
    ParameterError
        When k is no positive integer, or these are not labels of one kind, as many as lists.
    UndefinedScoreError
        When there is no image.

    Examples
    --------
    >>> mean_reciprocal_rank_at_k(['x', 'z'], [['x', 'y'], ['x', 'y', 'z']])
    0.6666666666666666
    """
    metric = ReciprocalRank(k)
    metric.update(labels, predictions)
    return metric.compute()


class ReciprocalRank(Accumulator):
    """The mean of reciprocal ranks of first correct predictions, for images that come in pieces.

    Parameters
    ----------
    k : int
        How many predictions of an image count.

    Attributes
    ----------
    n_images : int
        How many images there were so far.
    n_first_hits : collections.Counter
        How many of them had their first correct prediction at each rank.

    Raises
    ------
    ParameterError
        When k is no positive integer.

    Notes
    -----
    All it keeps are counts, so the order of the pieces does not matter, nor where they are split.

    Examples
    --------
    >>> one, other = ReciprocalRank(), ReciprocalRank()
    >>> one.update(['x'], [['x', 'y']])
    array([1.])
    >>> other.update(['z'], [['x', 'y', 'z']]).round(3)
    array([0.333])
    >>> one.merge(other)
    >>> one.compute(), one.n_first_hits
    (0.6666666666666666, Counter({1: 1, 3: 1}))
    """

    settings = ('k',)

    def __init__(self, k: int = K) -> None:
        self.k = check_cutoff(k)
        self.reset()

    def reset(self) -> None:
        """Forget all images."""
        self.n_images = 0
        self.n_first_hits: Counter[int] = Counter()

    def update(self, labels: Any, predictions: Any) -> NDArray[np.float64]:
        """Take in images.

        Parameters
        ----------
        labels : sequence of str or int
            The true label of each.
        predictions : sequence of sequences of str or int, or ndarray, shape (n_images, n_predicted)
            The predicted labels of each, best first.

        Returns
        -------
        ndarray of float64, shape (n_images,)
            The reciprocal rank of each.

        Raises
        ------
        ParameterError
            When these are not labels of one kind, as many as lists; then nothing changes.
        """
        ranks = _first_ranks(labels, predictions)
        hits = (ranks > 0) & (ranks <= self.k)
        self.n_images += len(ranks)
        self.n_first_hits.update(ranks[hits].tolist())
        return np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=hits)

    def merge(self, other: ReciprocalRank) -> None:
        """Take in all images of another.

        Parameters
        ----------
        other : ReciprocalRank
            Of the same k.

        Raises
        ------
        ParameterError
            When it is of another; then nothing changes.
        """
        self._expect_same(other)
        self.n_images += other.n_images
        self.n_first_hits += other.n_first_hits

    def compute(self) -> float:
        """The mean so far.

        Returns
        -------
        float
            Over all images.

        Raises
        ------
        UndefinedScoreError
            When there is no image.
        """
        if not self.n_images:
            raise UndefinedScoreError(f'first-hit MAP@{self.k}: there is no image')
        return math.fsum(n / rank for rank, n in self.n_first_hits.items()) / self.n_images


def _first_ranks(labels: Any, predictions: Any) -> NDArray[np.int64]:
    """The rank of each first correct prediction, from 1; 0 where there is none."""

    def score(truth: LabelLists, predictions: LabelLists) -> NDArray[np.int64]:
        found = match(truth, predictions, Repeats.IRRELEVANT)
        ranks = np.zeros(len(truth), dtype=np.int64)
        ranks[found.rankings] = found.ranks
        return ranks

    import pyarrow

    truth = label_array(labels, 'labels')
    offsets = np.arange(len(truth) + 1, dtype=np.int64)
    lists = pyarrow.LargeListArray.from_arrays(offsets, truth)
    both = label_lists(lists, predictions, ('labels', 'predictions'))
    return np.concatenate(map_blocks(score, *both))
