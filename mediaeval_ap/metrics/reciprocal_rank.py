"""First-hit MAP at k: the mean reciprocal rank of the first correct label."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import FIRST_HIT_CUTOFF
from mediaeval_ap.definitions import Repeats, check_cutoff
from mediaeval_ap.errors import UndefinedScoreError
from mediaeval_ap.metrics.accumulator import Accumulator
from mediaeval_ap.metrics.arguments import label_array
from mediaeval_ap.metrics.label_lists import LabelLists, map_blocks, match
from mediaeval_ap.tables.table import Labels, Lists


def reciprocal_rank_at_k(y_true: str | int, y_pred: Labels, k: int = FIRST_HIT_CUTOFF) -> float:
    """Return 1 divided by the rank of the first correct prediction of one image.

    Parameters
    ----------
    y_true, y_pred, k
        As for `mean_reciprocal_rank_at_k`, of one image.

    Returns
    -------
    float
        The reciprocal rank; 0 if none of the first k is correct.

    Examples
    --------
    >>> reciprocal_rank_at_k('w_1287fbc', ['new_whale', 'w_1287fbc'])
    0.5
    """
    return mean_reciprocal_rank_at_k([y_true], [y_pred], k)


def mean_reciprocal_rank_at_k(y_true: Labels, y_pred: Lists, k: int = FIRST_HIT_CUTOFF) -> float:
    """Return the mean over images of the reciprocal rank of the first correct prediction.

    Parameters
    ----------
    y_true : sequence of str or int
        The true label of each image.
    y_pred, k
        As for `mean_average_precision_at_k`, of images.

    Returns
    -------
    float
        The mean, counting 0 where none of the first k is correct.

    Raises
    ------
    ParameterError, UndefinedScoreError
        As for `mean_average_precision_at_k`, or when there is no image.

    Examples
    --------
    >>> mean_reciprocal_rank_at_k(['x', 'z'], [['x', 'y'], ['x', 'y', 'z']])
    0.6666666666666666
    """
    metric = ReciprocalRank(k)
    metric.update(y_true, y_pred)
    return metric.compute()


class ReciprocalRank(Accumulator):
    """The mean reciprocal rank of images that come in pieces.

    Parameters
    ----------
    k
        As for `mean_reciprocal_rank_at_k`.

    Attributes
    ----------
    n_images : int
        Number of images so far.
    n_first_hits : collections.Counter
        Number of images by the rank of their first correct prediction.

    Examples
    --------
    >>> metric = ReciprocalRank()
    >>> metric.update(['x', 'z'], [['x', 'y'], ['x', 'z']])
    array([1. , 0.5])
    >>> metric.compute(), metric.n_first_hits
    (0.75, Counter({1: 1, 2: 1}))
    """

    settings = ('k',)

    def __init__(self, k: int = FIRST_HIT_CUTOFF) -> None:
        self.k = check_cutoff(k)
        self.reset()

    def reset(self) -> None:
        self.n_images = 0
        self.n_first_hits: Counter[int] = Counter()

    def update(self, y_true: Labels, y_pred: Lists) -> NDArray[np.float64]:
        """Add images.

        Parameters
        ----------
        y_true, y_pred
            As for `mean_reciprocal_rank_at_k`.

        Returns
        -------
        ndarray of float64, shape (n_images,)
            The reciprocal rank of each image.
        """
        import pyarrow

        def score(truth: LabelLists, predictions: LabelLists) -> NDArray[np.int64]:
            hits = match(truth, predictions, Repeats.IRRELEVANT)
            ranks = np.zeros(len(truth), dtype=np.int64)  # 0 if no prediction is correct
            ranks[hits.rankings] = hits.ranks
            return ranks

        truth = label_array(y_true, 'y_true')
        lists = pyarrow.LargeListArray.from_arrays(np.arange(len(truth) + 1, dtype=np.int64), truth)
        ranks: NDArray[np.int64] = np.concatenate(map_blocks(score, lists, y_pred))
        is_hit = (ranks > 0) & (ranks <= self.k)
        self.n_images += len(ranks)
        self.n_first_hits.update(ranks[is_hit].tolist())
        return np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=is_hit)

    def compute(self) -> float:
        if not self.n_images:
            raise UndefinedScoreError(f'first-hit MAP@{self.k}: there is no image')
        return math.fsum(n / rank for rank, n in self.n_first_hits.items()) / self.n_images
