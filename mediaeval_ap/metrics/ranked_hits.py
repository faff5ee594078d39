"""Average precision at k from the ranks of the hits alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Definition

__all__ = ['average_precision_of_hits', 'precision_at_hits']


def precision_at_hits(ranks: NDArray[np.integer]) -> NDArray[np.float64]:
    """Precision at the rank of each hit.

    Parameters
    ----------
    ranks : ndarray of int, shape (n_hits,)
        Ranks of the hits, from 1, ascending.

    Returns
    -------
    ndarray of float64, shape (n_hits,)
        The share of hits among the first ranks, down to that hit.

    Examples
    --------
    >>> precision_at_hits(np.array([1, 4])).tolist()
    [1.0, 0.5]
    """
    return np.arange(1, len(ranks) + 1) / ranks


def average_precision_of_hits(
    ranks: NDArray[np.integer],
    n_relevant: int,
    n_returned: int,
    K: Sequence[int],
    definition: Definition,
) -> list[float]:
    """Average precision of one ranking at several cutoffs.

    Parameters
    ----------
    ranks : ndarray of int, shape (n_hits,)
        Ranks of the relevant hypotheses, from 1, ascending: at least those within the largest
        cutoff.
    n_relevant : int
        How many are relevant, returned or not.
    n_returned : int
        How many are returned.
    K : sequence of int
        The cutoffs, in any order.
    definition : Definition
        What average precision is.

    Returns
    -------
    list of float
        One value for each cutoff.

    Notes
    -----
    `mediaeval_ap.definitions` holds the formulas and their sources.

    Examples
    --------
    >>> from mediaeval_ap import definitions
    >>> ranks = np.array([1, 3])
    >>> for name in 'trec', 'kaggle', 'hits':
    ...     average_precision_of_hits(ranks, 3, 4, [2], definitions.get(name))
    [0.3333333333333333]
    [0.5]
    [1.0]
    """
    if not n_relevant:
        return [definition.without_relevant] * len(K)
    sums = [0.0, *precision_at_hits(ranks).cumsum().tolist()]
    values = []
    for k in K:
        hits_in_k = int(ranks.searchsorted(k, side='right'))
        at = {'R': n_relevant, 'k': k, 'N': n_returned, 'H': hits_in_k}
        depth = min(map(at.__getitem__, definition.depth))
        denominator = min(map(at.__getitem__, definition.denominator))
        hits = hits_in_k if depth == k else int(ranks.searchsorted(depth, side='right'))
        values.append(sums[hits] / denominator if denominator else 0.0)
    return values
