"""Confidence intervals: bootstrap over queries or clusters, or Student's t."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import IntervalKind, alpha_of
from mediaeval_ap.comparison.entries import Interval
from mediaeval_ap.comparison.units import Units
from mediaeval_ap.errors import require

BATCH = 1 << 22  # a choice: indices drawn at a time, so that memory stays low

Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]  # the numbers of two runs


class Intervals(NamedTuple):
    """Intervals of the means of runs, of their differences, and of the ranks of runs."""

    runs: list[Interval]
    pairs: list[Interval]
    ranks: list[tuple[int, int]]


def bootstrap_intervals(
    units: Units, pairs: Pairs, kind: IntervalKind, level: float, resamples: int, seed: int
) -> Intervals:
    """Return BCa intervals, and intervals of ranks, all from one set of resamples.

    SciPy draws positions of units. With `kind` t, only the intervals of ranks are used.
    """
    a, b = pairs
    n_units, n_runs = units.sums.shape
    if n_units == 1:
        return _of_one_unit(units, len(a))
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
            method='bca' if kind == 'bca' else 'percentile',
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
    ranks = _rank_intervals(drawn[:n_runs], level)
    return Intervals(intervals[:n_runs], intervals[n_runs:], ranks)


def t_intervals(values: NDArray[np.float64], level: float) -> list[Interval]:
    """Return the interval of Student's t for the mean of each row."""
    if values.shape[1] == 1:
        return [Interval(None, None, 'one query')] * len(values)
    stats = require('scipy.stats', 'insight', 'compare')
    with warnings.catch_warnings(), np.errstate(all='ignore'):
        warnings.simplefilter('ignore', RuntimeWarning)  # of equal values, which have a reason
        low, high = stats.ttest_1samp(values, 0, axis=1).confidence_interval(level)
    varies = values.min(axis=1) < values.max(axis=1)
    return [_interval(*each) for each in zip(low, high, varies.tolist(), strict=True)]


def with_reasons(
    intervals: Sequence[Interval], values: NDArray[np.float64], what: str
) -> list[Interval]:
    """Give intervals of values, or differences, that are all equal the reason for it."""
    if values.shape[1] == 1:
        return list(intervals)  # with the reason that there is one query
    are_equal = values.min(axis=1) == values.max(axis=1)
    return [
        Interval(None, None, f'all {what} are {row[0]:g}') if is_equal else each
        for each, is_equal, row in zip(intervals, are_equal.tolist(), values, strict=True)
    ]


def _interval(low: float, high: float, varies: bool) -> Interval:
    if not varies:
        return Interval(None, None, 'all resamples have one mean')
    if np.isnan(low) or np.isnan(high):
        return Interval(None, None, 'BCa is not defined: all resamples are on one side of the mean')
    return Interval(float(low), float(high))


def _of_one_unit(units: Units, n_pairs: int) -> Intervals:
    """Return what a single query, or cluster, says: nothing about other ones."""
    n_runs = units.sums.shape[1]
    none = Interval(None, None, 'one query' if units.sizes[0] == 1 else 'one cluster of queries')
    return Intervals([none] * n_runs, [none] * n_pairs, [(1, n_runs)] * n_runs)


def _times_drawn(drawn: NDArray[np.intp], n_units: int) -> NDArray[np.float64]:
    """Return how often each unit is drawn in each resample."""
    n_resamples = len(drawn)
    keys = drawn + np.arange(0, n_resamples * n_units, n_units)[:, None]
    counts = np.bincount(keys.ravel(), minlength=n_resamples * n_units)
    return counts.reshape(n_resamples, n_units).astype(np.float64)


def _rank_intervals(means: NDArray[np.float64], level: float) -> list[tuple[int, int]]:
    """Return the ranks between which a run stands in so many of the resamples; all, of too few."""
    n_runs, n_resamples = means.shape
    if n_resamples < 2 / alpha_of(level):  # less than one resample is beyond each bound
        return [(1, n_runs)] * n_runs
    stats = require('scipy.stats', 'insight', 'compare')
    ranks = stats.rankdata(-means, method='min', axis=0)
    tails = [(1 - level) / 2, 1 - (1 - level) / 2]
    # A rank that occurs, not one between two.
    low, high = np.quantile(ranks, tails, axis=1, method='inverted_cdf').astype(int).tolist()
    return list(zip(low, high, strict=True))
