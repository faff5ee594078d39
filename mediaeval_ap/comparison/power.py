"""The number of queries that a difference needs to be told, if it is as large as it was found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import alpha_of
from mediaeval_ap.errors import require

POWER = 0.8  # as is usual
MOST_QUERIES = 10**9  # beyond any list of queries


def queries_for_power(dz: NDArray[np.float64], level: float) -> NDArray[np.int64]:
    """Return the least number of queries for each effect size, at most `MOST_QUERIES` + 1.

    By the power of the two-sided t test of one pair of runs, without a correction.
    """
    power = require('statsmodels.stats.power', 'insight', 'compare').TTestPower().power
    size, tail = np.abs(dz), alpha_of(level) / 2

    def suffices(n: NDArray[np.int64]) -> NDArray[np.bool_]:
        # Where a tail is next to 1, or to 0, SciPy may have nan for it.
        above = np.nan_to_num(power(size, n, tail, alternative='larger'), nan=1)
        below = np.nan_to_num(power(size, n, tail, alternative='smaller'), nan=0)
        return np.asarray(above + below >= POWER)

    least = np.full(len(size), 2, dtype=np.int64)
    most = np.full(len(size), MOST_QUERIES + 1, dtype=np.int64)
    while (least < most).any():
        middle = (least + most) // 2
        enough = suffices(middle)
        least, most = np.where(enough, least, middle + 1), np.where(enough, middle, most)
    return most
