"""Confidence intervals in closed form, of means and of differences of means over units."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from mediaeval_ap.arrays import Floats
from mediaeval_ap.errors import require

FEWEST = 5  # units, below which compare gives no interval
MOST_UNITS = 10**6  # that are looked for
Range = tuple[float, float]


@dataclass(frozen=True)
class Interval:
    """A confidence interval; without bounds, the reason."""

    low: float | None
    high: float | None
    reason: str = ''


def mean_interval(sums: Floats, sizes: Floats, level: float, bounds: Range | None) -> Interval:
    """Return the interval of a mean by Hesterberg's expanded ABC, within bounds if there are any.

    The ABC of DiCiccio and Efron (1992), which corrects for skewness as BCa does, with quantiles of
    t and the standard error made larger for few units (Hesterberg, 2015).
    """
    n_units = len(sums)
    total = math.fsum(sizes.tolist())
    mean = math.fsum(sums.tolist()) / total
    away = sums - mean * sizes
    length = math.sqrt(_sum(away * away))
    if (sums / sizes).min() == (sums / sizes).max() or length == 0:
        return Interval(None, None, 'all units have one mean')
    acceleration = _sum((away / length) ** 2 * (away / length)) / 6
    slope = _sum(away * sizes) / (total * length)  # of a mean over clusters, a ratio of two sums
    widened = _quantile(n_units - 1, level) * math.sqrt(n_units / (n_units - 1))
    found: list[float | None] = []
    for quantile, end in zip((-widened, widened), bounds or (None, None), strict=True):
        shift = acceleration + quantile
        # Beyond 1, and below -1, the end would turn back towards the mean.
        moved = (
            shift / (1 - acceleration * shift) ** 2 if abs(acceleration * shift) < 1 else math.nan
        )
        if 1 + slope * moved > 0:
            end = mean + length / total * moved / (1 + slope * moved)
        found.append(end if end is None or bounds is None else min(max(end, bounds[0]), bounds[1]))
    low, high = found
    if low is None or high is None:
        return Interval(None, None, 'values are too skewed for an interval without a range')
    return Interval(low, high)


def plus2_interval(
    sums: Floats, sizes: Floats, level: float, largest: float, is_bound: bool
) -> Interval:
    """Return Student's interval of a mean difference after two units of +m and -m are appended.

    m is the `largest` difference that there can be, or that is seen (Bonett and Price, 2012, for
    differences of any size). If it bounds all differences, it bounds the interval, too.
    """
    m = max(largest, float(np.abs(sums / sizes).max()))
    size = float(sizes.mean())
    sums = np.append(sums, [m * size, -m * size])
    sizes = np.append(sizes, [size, size])
    n_units = len(sums)
    total = math.fsum(sizes.tolist())
    mean = math.fsum(sums.tolist()) / total
    # A ratio of two sums, whose variance is linearised (Cochran, 1977).
    away = sums - mean * sizes
    deviation = math.sqrt(_sum(away * away) * n_units / (n_units - 1)) / total
    half = _quantile(n_units - 1, level) * deviation
    limit = m if is_bound else math.inf
    return Interval(max(mean - half, -limit), min(mean + half, limit))


def fewest_below(level: float, share: float) -> int:
    """Return the fewest units of equal size whose plus2 interval can be below -share of m.

    It is lowest where all differences are -m: then its upper end is m (2 t - n) / (n + 2).
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
