"""BCa confidence intervals: bootstrap over queries or clusters of them."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.comparison.entries import Interval
from mediaeval_ap.comparison.units import Units, one_unit
from mediaeval_ap.errors import require

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

    SciPy draws positions of units.
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
        return means.reshape(-1, *drawn.shape[:-1])

    with warnings.catch_warnings(), np.errstate(all='ignore'):
        warnings.simplefilter('ignore', RuntimeWarning)  # of a degenerate one, which has a reason
        found = stats.bootstrap(
            (np.arange(n_units),),
            statistic,
            vectorized=True,
            n_resamples=resamples,
            batch=max(1, BATCH // n_units),
            confidence_level=level,
            rng=np.random.default_rng(seed),
        )
    drawn = found.bootstrap_distribution
    are_different = drawn.min(axis=1) < drawn.max(axis=1)
    bounds = zip(*found.confidence_interval, are_different, strict=True)
    intervals = [_interval(low, high, bool(varies)) for low, high, varies in bounds]
    return Intervals(intervals[:n_runs], intervals[n_runs:])


def _interval(low: float, high: float, varies: bool) -> Interval:
    if not varies:
        return Interval(None, None, 'all resamples have one mean')
    if np.isnan(low) or np.isnan(high):
        return Interval(None, None, 'BCa is not defined: all resamples are on one side of the mean')
    return Interval(float(low), float(high))


def _times_drawn(drawn: NDArray[np.intp], n_units: int) -> NDArray[np.float64]:
    """Return how often each unit is drawn in each resample."""
    n_resamples = len(drawn)
    keys = drawn + np.arange(0, n_resamples * n_units, n_units)[:, None]
    counts = np.bincount(keys.ravel(), minlength=n_resamples * n_units)
    return counts.reshape(n_resamples, n_units).astype(np.float64)
