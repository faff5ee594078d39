"""Tests for PyTerrier's experiments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mediaeval_ap.choices import PERMUTATIONS, check_limit, check_seed
from mediaeval_ap.comparison import sampling
from mediaeval_ap.errors import ParameterError

__all__ = ['SignFlips', 'sign_flips']


class SignFlips(NamedTuple):
    """The mean difference of two runs and its two-sided p.

    Parameters
    ----------
    statistic : float
        The mean of the values of the first run less that of the second.
    pvalue : float
        Two-sided p.

    Examples
    --------
    >>> sign_flips([0.5, 0.75], [0.25, 0.5]).statistic
    0.25
    """

    statistic: float
    pvalue: float


def sign_flips(
    a: Sequence[float],
    b: Sequence[float],
    *,
    permutations: int = PERMUTATIONS['holm'],
    seed: int = 0,
) -> SignFlips:
    """Test two runs on the same queries by sign flips, as `mediaeval_ap.compare` does.

    It can be called as ``scipy.stats.ttest_rel``, which PyTerrier expects:
    ``pt.Experiment(..., baseline=0, test=sign_flips)``.

    Parameters
    ----------
    a, b : array-like of float, shape (n_queries,)
        The values of two runs, query by query.
    permutations : int
        Number of random patterns of signs where more than 20 differences are not zero; else p is
        exact.
    seed : int
        Seed of the patterns.

    Returns
    -------
    SignFlips
        The mean difference and p.

    Raises
    ------
    ParameterError
        When the values are not as many, not finite, or none, or a number is out of its range.

    Notes
    -----
    p of random patterns is (b + 1) / (n + 1), of Phipson and Smyth, 2010.

    Examples
    --------
    >>> sign_flips([0.5, 0.75, 0.25], [0.25, 0.5, 0.0])
    SignFlips(statistic=0.25, pvalue=0.25)
    """
    values = [np.asarray(each, dtype=np.float64) for each in (a, b)]
    shapes = [each.shape for each in values]
    if shapes[0] != shapes[1] or len(shapes[0]) != 1 or not len(values[0]):
        found = f'arrays of shapes {shapes[0]} and {shapes[1]}'
        raise ParameterError(f'a, b: found {found}, expected two values for each query')
    both = np.stack(values)
    if not np.isfinite(both).all():
        at = int(np.flatnonzero(~np.isfinite(both).all(axis=0))[0])
        found = f'{both[0, at]} and {both[1, at]} for query {at + 1}'
        raise ParameterError(f'a, b: found {found}, expected finite numbers')
    permutations = check_limit(permutations, 'permutations')
    units = sampling.units_of(both, np.arange(both.shape[1]))
    pair = np.array([0]), np.array([1])
    p, _ = sampling.sign_flips(units, pair, permutations, check_seed(seed))
    return SignFlips(float(units.differences_of_sums(0, 1).mean()), float(p[0]))
