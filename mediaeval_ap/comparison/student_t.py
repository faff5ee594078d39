"""Confidence intervals by Student's t: plain, and plus2 for differences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.comparison.entries import Interval
from mediaeval_ap.comparison.units import one_unit
from mediaeval_ap.errors import require


def t_interval(sums: NDArray[np.float64], sizes: NDArray[np.float64], level: float) -> Interval:
    """Return the interval of a mean over queries, from their sums over units of these sizes.

    The mean is a ratio of two sums, so its variance is the linearised one (Cochran, 1977). For
    units of one query it is Student's interval.
    """
    if len(sums) == 1:
        return Interval(None, None, one_unit(sizes))
    means = sums / sizes
    if means.min() == means.max():
        return Interval(None, None, 'all units have one mean')
    stats = require('scipy.stats', 'insight', 'compare')
    n_units, n_queries = len(sums), sizes.sum()
    mean = sums.sum() / n_queries
    residuals = sums - mean * sizes
    deviation = np.sqrt(np.square(residuals).sum() * n_units / (n_units - 1)) / n_queries
    half = stats.t.isf((1 - level) / 2, n_units - 1) * deviation
    return Interval(float(mean - half), float(mean + half))


def plus2_interval(sums: NDArray[np.float64], sizes: NDArray[np.float64], level: float) -> Interval:
    """Return the interval of a mean difference after two units that cancel are appended.

    They differ by +m and -m, the largest difference that there could be, and are of mean size
    (Bonett and Price, 2012, for differences of any size).
    """
    m = max(1.0, float(np.abs(sums / sizes).max()))  # AP differs by at most 1, but for a few rules
    size = sizes.mean()
    with_two = np.append(sums, [m * size, -m * size]), np.append(sizes, [size, size])
    return t_interval(*with_two, level)
