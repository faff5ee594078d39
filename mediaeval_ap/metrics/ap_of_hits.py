"""Average precision of many rankings at once, from the ranks of their hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Definition, Precision

Counts: TypeAlias = NDArray[np.integer] | int


def precision_at_hits(
    ranks: NDArray[np.integer],
    rankings: NDArray[np.integer] | None = None,
    precision: Precision = 'at',
) -> NDArray[np.float64]:
    """Return the precision at the rank of each hit.

    Parameters
    ----------
    ranks : ndarray of int, shape (n_hits,)
        Ranks of the hits, from 1, ascending in each ranking.
    rankings : ndarray of int, shape (n_hits,), optional
        The index of the ranking of each hit, from 0, ascending. By default, all hits belong to one
        ranking.
    precision : {'at', 'trapezoid'}
        As for `Definition`.

    Returns
    -------
    ndarray of float64, shape (n_hits,)
        The share of hits among the ranks from 1 to the rank of the hit; with ``'trapezoid'``, the
        mean of this and the share just before.

    Examples
    --------
    Ranking 0 has hits at ranks 1 and 4, ranking 2 at rank 4:

    >>> precision_at_hits(np.array([1, 4, 4]), np.array([0, 0, 2])).tolist()
    [1.0, 0.5, 0.25]
    >>> precision_at_hits(np.array([1, 4]), precision='trapezoid').round(3).tolist()
    [1.0, 0.417]
    """
    numbers = np.arange(1, len(ranks) + 1)
    if rankings is not None and len(ranks):
        n_hits = np.bincount(rankings)
        numbers -= (n_hits.cumsum() - n_hits)[rankings]
    precisions: NDArray[np.float64] = numbers / ranks
    return precisions if precision == 'at' else trapezoids(precisions, numbers - 1, ranks - 1)


def trapezoids(
    precisions: NDArray[np.float64],
    hits_before: NDArray[np.number],
    ranks_before: NDArray[np.integer],
) -> NDArray[np.float64]:
    """Return the means of precisions and of those just before, which are 1 before rank 1."""
    ones = np.ones(len(precisions))
    before = np.divide(hits_before, ranks_before, out=ones, where=ranks_before > 0)
    means: NDArray[np.float64] = (before + precisions) / 2
    return means


def average_precision_of_hits(
    rankings: NDArray[np.integer],
    ranks: NDArray[np.integer],
    n_relevant: NDArray[np.integer],
    n_returned: NDArray[np.integer] | int,
    K: Sequence[int],
    definition: Definition,
) -> NDArray[np.float64]:
    """Return the average precision of each ranking at each cutoff.

    Parameters
    ----------
    rankings, ranks : ndarray of int, shape (n_hits,)
        As for `precision_at_hits`. Hits beyond the largest cutoff may be left out.
    n_relevant : ndarray of int, shape (n_rankings,)
        Number of relevant items of each ranking, returned or not.
    n_returned : ndarray of int, shape (n_rankings,), or int
        Number of returned items of each ranking, or of every ranking.
    K : sequence of int
        Cutoffs, in any order.
    definition : Definition

    Returns
    -------
    ndarray of float64, shape (n_rankings, n_cutoffs)
        Average precision. Precisions are added in the order of the ranks, so that the value of a
        ranking does not depend on the other rankings.

    Examples
    --------
    >>> from mediaeval_ap import definitions
    >>> hits = np.array([0, 0]), np.array([1, 3])
    >>> average_precision_of_hits(*hits, np.array([3]), 4, [2, 3], definitions.get('kaggle'))
    array([[0.5       , 0.55555556]])
    """
    values = precision_at_hits(ranks, rankings, definition.precision)
    terms = PrecisionTerms(rankings, ranks, values)
    return average_precision_of_terms(terms, n_relevant, n_returned, K=K, definition=definition)


class PrecisionTerms(NamedTuple):
    """The terms of AP, precision × relevance or its expectation, by ranking and rank."""

    rankings: NDArray[np.integer]
    ranks: NDArray[np.integer]  # from 1
    values: NDArray[np.float64]


class RankedHits(NamedTuple):
    """The hits of some rankings and their sizes, as `average_precision_of_hits` takes them."""

    rankings: NDArray[np.integer]  # of each hit, ascending
    ranks: NDArray[np.integer]  # from 1, ascending in each ranking
    n_relevant: NDArray[np.int64]
    n_returned: NDArray[np.int64] | int

    @classmethod
    def of(
        cls,
        ranks: Sequence[NDArray[np.integer]],
        n_relevant: Sequence[int] | NDArray[np.integer],
        n_returned: Sequence[int] | NDArray[np.integer],
    ) -> RankedHits:
        """Join the ranks of the hits of each ranking."""
        rankings = np.repeat(np.arange(len(ranks)), list(map(len, ranks)))
        all_ranks = np.concatenate([np.empty(0, dtype=np.int64), *ranks])
        sizes = (np.array(numbers, dtype=np.int64) for numbers in (n_relevant, n_returned))
        return cls(rankings, all_ranks, *sizes)

    def ap(self, K: Sequence[int], definition: Definition) -> NDArray[np.float64]:
        """Return the average precision of each ranking (rows) at each cutoff (columns)."""
        return average_precision_of_hits(*self, K, definition)


def average_precision_of_terms(
    terms: PrecisionTerms,
    n_relevant: NDArray[np.integer],
    n_returned: NDArray[np.integer] | int,
    *,
    K: Sequence[int],
    definition: Definition,
    hits: PrecisionTerms | None = None,
) -> NDArray[np.float64]:
    """Return AP from the terms of its sum; a denominator H counts `hits`, by default the terms.

    One relevant item, equally likely at rank 1 and at rank 2, has an expected AP@2 of 3/4:

    >>> from mediaeval_ap.definitions import get
    >>> terms = PrecisionTerms(np.array([0, 0]), np.array([1, 2]), np.array([1 / 2, 1 / 4]))
    >>> average_precision_of_terms(terms, np.array([1]), 2, K=[1, 2], definition=get('trec'))
    array([[0.5 , 0.75]])
    """
    rankings, ranks, addends = terms
    hits = hits or terms
    n_rankings = len(n_relevant)
    values = np.zeros((n_rankings, len(K)))
    for column, k in enumerate(K):
        hits_in_k = np.bincount(hits.rankings[hits.ranks <= k], minlength=n_rankings)
        quantities: dict[str, Counts] = {'R': n_relevant, 'k': k, 'N': n_returned, 'H': hits_in_k}
        depth = least(definition.depth, quantities)
        is_within = ranks <= (depth[rankings] if isinstance(depth, np.ndarray) else depth)
        sums = np.bincount(rankings[is_within], weights=addends[is_within], minlength=n_rankings)
        denominator = least(definition.denominator, quantities)
        np.divide(sums, denominator, out=values[:, column], where=np.greater(denominator, 0))
    values[n_relevant == 0] = definition.without_relevant
    return values


def least(names: Sequence[str], quantities: Mapping[str, Counts]) -> Counts:
    """Return the minimum of the named quantities, of R, k, N and H."""
    return reduce(np.minimum, map(quantities.__getitem__, names))
