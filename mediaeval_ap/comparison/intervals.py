"""Confidence intervals in closed form, for means over units and for differences of means."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from mediaeval_ap.arrays import Floats
from mediaeval_ap.errors import require

FEWEST = 5  # with fewer units, compare gives no interval
MOST_UNITS = 10**6  # the limit of the search for the fewest units
Range = tuple[float, float]


@dataclass(frozen=True)
class Interval:
    """A confidence interval, or the reason why its bounds are None."""

    low: float | None
    high: float | None
    reason: str = ''


def mean_interval(sums: Floats, sizes: Floats, level: float, bounds: Range | None) -> Interval:
    """Return the interval of a mean by Hesterberg's expanded ABC, cut at the bounds, if any.

    The ABC of DiCiccio and Efron (1992) corrects for skewness as BCa does. Hesterberg (2015) uses
    quantiles of t, and a larger standard error for few units.
    """
    n_units = len(sums)
    total = math.fsum(sizes.tolist())
    mean = math.fsum(sums.tolist()) / total
    deviations = sums - mean * sizes
    norm = math.sqrt(_sum(deviations * deviations))
    if (sums / sizes).min() == (sums / sizes).max() or norm == 0:
        return Interval(None, None, 'all units have one mean')
    acceleration = _sum((deviations / norm) ** 2 * (deviations / norm)) / 6
    # A mean over clusters is a ratio of two sums; its slope is 0 for units of equal size.
    slope = _sum(deviations * sizes) / (total * norm)
    expanded = _quantile(n_units - 1, level) * math.sqrt(n_units / (n_units - 1))
    ends: list[float | None] = []
    for quantile, end in zip((-expanded, expanded), bounds or (None, None), strict=True):
        shift = acceleration + quantile
        # Beyond 1, and below -1, the end would turn back towards the mean.
        moved = (
            shift / (1 - acceleration * shift) ** 2 if abs(acceleration * shift) < 1 else math.nan
        )
        if 1 + slope * moved > 0:
            end = mean + norm / total * moved / (1 + slope * moved)
        ends.append(end if end is None or bounds is None else min(max(end, bounds[0]), bounds[1]))
    low, high = ends
    if low is None or high is None:
        return Interval(None, None, 'values are too skewed for an interval without a range')
    return Interval(low, high)


def plus2_interval(
    sums: Floats, sizes: Floats, level: float, largest: float, is_bound: bool
) -> Interval:
    """Return Student's interval of a mean difference, with two extra units of +m and -m.

    This is Bonett and Price's (2012) interval, extended to differences of any size. m is `largest`,
    the largest possible difference, or the largest observed one if that is larger. If m bounds all
    differences (`is_bound`), it also bounds the interval.
    """
    m = max(largest, float(np.abs(sums / sizes).max()))
    size = float(sizes.mean())
    sums = np.append(sums, [m * size, -m * size])
    sizes = np.append(sizes, [size, size])
    n_units = len(sums)
    total = math.fsum(sizes.tolist())
    mean = math.fsum(sums.tolist()) / total
    # A ratio of two sums, whose variance is linearised (Cochran, 1977).
    deviations = sums - mean * sizes
    standard_error = math.sqrt(_sum(deviations * deviations) * n_units / (n_units - 1)) / total
    half = _quantile(n_units - 1, level) * standard_error
    limit = m if is_bound else math.inf
    return Interval(max(mean - half, -limit), min(mean + half, limit))


def fewest_below(level: float, share: float) -> int:
    """Return the fewest units of equal size whose plus2 interval can be below -share of m.

    The interval is lowest if all differences are -m: then its upper end is m (2 t - n) / (n + 2).
    """

    def is_below(n: int) -> bool:
        return 2 * _quantile(n + 1, level) - n < -share * (n + 2)

    return FEWEST + bisect_left(range(FEWEST, MOST_UNITS), True, key=is_below)


def _sum(values: Floats) -> float:
    return math.fsum(values.tolist())


def _quantile(df: int, level: float) -> float:
    """Return the quantile of Student's t that leaves (1 - level) / 2 above it."""
    special = require('scipy.special', 'compare', 'compare')
    return -float(special.stdtrit(df, (1 - level) / 2))
