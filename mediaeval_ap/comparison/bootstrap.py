"""BCa confidence intervals: bootstrap over queries or clusters of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.comparison.entries import Interval
from mediaeval_ap.comparison.units import Units, one_unit
from mediaeval_ap.errors import require
from mediaeval_ap.progress import Bar

BATCH = 1 << 22  # a choice: indices drawn at a time, so that memory stays low

Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]  # the numbers of two runs


class Intervals(NamedTuple):
    """Intervals of the means of runs, and of their differences."""

    runs: list[Interval]
    pairs: list[Interval]


def bootstrap_intervals(
    units: Units, pairs: Pairs, level: float, resamples: int, seed: int
) -> Intervals:
    """Return BCa intervals of runs and pairs, all from one set of resamples.

    SciPy draws positions of units. Its own BCa leaves out each unit by the statistic, in time that
    grows with their square; sums without one unit are differences.
    """
    a, b = pairs
    n_units, n_runs = units.sums.shape
    if n_units == 1:
        none = Interval(None, None, one_unit(units.sizes))
        return Intervals([none] * n_runs, [none] * len(a))
    stats = require('scipy.stats', 'insight', 'compare')

    def statistic(drawn: NDArray[np.intp], axis: int) -> NDArray[np.float64]:
        counts = _times_drawn(drawn.reshape(-1, drawn.shape[-1]), n_units)
        sums = units.sums.T @ counts.T
        sizes = counts @ units.sizes
        # Of sums, not of means: these are exact, and equal ones have to be seen as equal.
        means = units.means(np.concatenate([sums, sums[a] - sums[b]]), sizes)
        bar.add(len(counts))
        return means.reshape(-1, *drawn.shape[:-1])

    with (
        warnings.catch_warnings(),
        np.errstate(all='ignore'),
        Bar('bootstrap', resamples, 'resample') as bar,
    ):
        warnings.simplefilter('ignore', RuntimeWarning)  # of a degenerate one, which has a reason
        found = stats.bootstrap(
            (np.arange(n_units),),
            statistic,
            method='percentile',
            vectorized=True,
            n_resamples=resamples,
            batch=max(1, BATCH // n_units),
            confidence_level=level,
            rng=np.random.default_rng(seed),
        )
    columns = [(run,) for run in range(n_runs)] + list(zip(a.tolist(), b.tolist(), strict=True))
    drawn = found.bootstrap_distribution
    intervals = [_bca(units, each, row, level) for each, row in zip(columns, drawn, strict=True)]
    return Intervals(intervals[:n_runs], intervals[n_runs:])


def _bca(units: Units, runs: Sequence[int], drawn: NDArray[np.float64], level: float) -> Interval:
    """Return the interval of a mean, or of the difference of two: Efron 1987, as SciPy does."""
    if drawn.min() == drawn.max():
        return Interval(None, None, 'all resamples have one mean')
    special = require('scipy.special', 'insight', 'compare')
    sums = units.sums[:, runs[0]] - (units.sums[:, runs[1]] if len(runs) == 2 else 0)
    total, size = sums.sum(), units.sizes.sum()
    mean = units.means(total, size)
    left_out = units.means(total - sums, size - units.sizes)  # each unit in turn
    away = left_out.mean() - left_out
    n_below = np.count_nonzero(drawn < mean) + np.count_nonzero(drawn <= mean)
    bias = special.ndtri(n_below / (2 * len(drawn)))
    with np.errstate(invalid='ignore'):  # of an infinite bias, which has a reason
        acceleration = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
        moved = bias + special.ndtri([(1 - level) / 2, (1 + level) / 2])
        tails = special.ndtr(bias + moved / (1 - acceleration * moved))
    if np.isnan(tails).any():
        return Interval(None, None, 'BCa is not defined: all resamples are on one side of the mean')
    low, high = np.quantile(drawn, tails).tolist()
    return Interval(low, high)


def _times_drawn(drawn: NDArray[np.intp], n_units: int) -> NDArray[np.float64]:
    """Return how often each unit is drawn in each resample."""
    n_resamples = len(drawn)
    keys = drawn + np.arange(0, n_resamples * n_units, n_units)[:, None]
    counts = np.bincount(keys.ravel(), minlength=n_resamples * n_units)
    return counts.reshape(n_resamples, n_units).astype(np.float64)
