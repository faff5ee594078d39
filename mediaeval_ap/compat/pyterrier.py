"""Tests for PyTerrier's experiments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mediaeval_ap.choices import PERMUTATIONS
from mediaeval_ap.comparison import sampling
from mediaeval_ap.errors import ParameterError, shown

__all__ = ['sign_flips']


def sign_flips(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Test two runs on the same queries by sign flips, as `mediaeval_ap.compare` does.

    It stands for ``scipy.stats.ttest_rel``: ``pt.Experiment(..., baseline=0, test=sign_flips)``.

    Parameters
    ----------
    a, b : sequence of float, shape (n_queries,)
        The values of two runs, query by query.

    Returns
    -------
    tuple of float
        The mean of a less that of b, and the two-sided p: exact up to 20 differences that are not
        zero, else of 100,000 random patterns, always the same ones.

    Examples
    --------
    >>> sign_flips([0.5, 0.75, 0.25], [0.25, 0.5, 0.0])
    (0.25, 0.25)
    """
    one, other = (np.asarray(each, dtype=np.float64) for each in (a, b))
    fit = one.shape == other.shape and one.ndim == 1 and len(one)
    if not fit or not np.isfinite(one - other).all():
        found = f'{shown(a)} and {shown(b)}'
        raise ParameterError(f'a, b: found {found}, expected two finite values for each query')
    units = sampling.units_of(np.stack([one, other]), np.arange(len(one)))
    p, _ = sampling.sign_flips(units, (np.array([0]), np.array([1])), PERMUTATIONS['holm'], 0)
    return float(units.differences_of_sums(0, 1).mean()), float(p[0])
