"""Confidence intervals in closed form, for means over units and for differences of means."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mediaeval_ap.arrays import Floats
from mediaeval_ap.choices import alpha_of
from mediaeval_ap.errors import require

FEWEST = 5  # with fewer units, compare gives no interval
LARGE = 0.05  # times the largest difference: `FEWEST` larger ones tell how large differences are
POWER = 0.8  # the usual value
MOST_UNITS = 10**9  # beyond any list of queries
Range = tuple[float, float]


@dataclass(frozen=True)
class Interval:
    """A confidence interval, or the reason why its bounds are None."""

    low: float | None
    high: float | None
    reason: str = ''


@dataclass(frozen=True)
class DifferenceInterval(Interval):
    """The interval of a difference. If p excludes 0, an end may be 0 itself, and is not in it."""

    excludes_zero: bool | None = None

    def side_of(self, bound: float) -> int:
        """Return 1 or -1 if the whole interval is above or below a bound, 0 if it holds it."""
        if self.low is None or self.high is None:
            return 0
        is_open = bound == 0 and bool(self.excludes_zero)
        is_above = self.low > bound or (is_open and self.low == 0)
        return is_above - (self.high < bound or (is_open and self.high == 0))


class Spread(NamedTuple):
    """The variance of an estimate, and its degrees of freedom."""

    variance: float
    df: float

    def half(self, level: float) -> float:
        """Return half the length of Student's interval."""
        return _quantile(self.df, level) * math.sqrt(self.variance)

    def p(self, difference: float) -> float:
        """Return the two-sided p of Student's t."""
        special = require('scipy.special', 'compare', 'compare')
        return float(2 * special.stdtr(self.df, -abs(difference) / math.sqrt(self.variance)))


def sum_of_spreads(spreads: Sequence[Spread]) -> Spread:
    """Return the spread of a sum of independent estimates (Satterthwaite, 1946)."""
    variance = math.fsum(spread.variance for spread in spreads)
    parts = (spread.variance**2 / spread.df for spread in spreads if spread.variance)
    return Spread(variance, variance**2 / math.fsum(parts))


def mean_interval(
    sums: Floats,
    sizes: Floats,
    level: float,
    bounds: Range | None,
    seeds: Sequence[Spread] = (),
    n_effective: float | None = None,
) -> Interval:
    """Return the interval of a mean by Hesterberg's expanded ABC, cut at the bounds, if any."""
    n_units = len(sums)
    total = _sum(sizes)
    mean = _sum(sums) / total
    deviations = sums - mean * sizes
    norm = math.sqrt(_sum(deviations * deviations))
    df = (n_effective or n_units) - 1
    expansion = math.sqrt(n_units / (n_units - 1))
    if seeds:
        of_units = Spread((norm / total * expansion) ** 2, df)
        variance, df = sum_of_spreads([of_units, *seeds])
        norm = math.sqrt(variance) * total / expansion
    elif (sums / sizes).min() == (sums / sizes).max() or norm == 0:
        return Interval(None, None, 'all units have one mean')
    acceleration = _sum((deviations / norm) ** 2 * (deviations / norm)) / 6
    # A mean over clusters is a ratio of two sums; its slope is 0 for units of equal size.
    slope = _sum(deviations * sizes) / (total * norm)
    expanded = _quantile(df, level) * expansion
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


def size_of_more_units(sums: Floats, sizes: Floats, width: float | None = None) -> float:
    """Return the root mean square of differences that are not 0, or `width` if few are large."""
    amounts = np.abs(sums / sizes)
    largest = float(amounts.max())
    # Fewer than five large ones do not tell how large others may be.
    if width is not None and np.count_nonzero(amounts > LARGE * largest) < FEWEST:
        return max(width, largest)
    return math.sqrt(np.square(amounts).sum() / np.count_nonzero(amounts))


def spreads_of_difference(
    sums: Floats,
    sizes: Floats,
    m: float,
    seeds: Sequence[Spread] = (),
    n_effective: float | None = None,
) -> list[Spread]:
    """Return the spreads of a mean difference over units; its interval has the longest one."""
    size = float(sizes.mean())
    own = _variance_of_ratio(sums, sizes)
    # Two more units, of differences +m and -m, so that a few equal ones do not look certain.
    more_sums = np.append(sums, [m * size, -m * size])
    extended = _variance_of_ratio(more_sums, np.append(sizes, [size, size]))
    return _joined(n_effective or len(sums), own, extended, seeds)


def _variance_of_ratio(sums: Floats, sizes: Floats) -> float:
    """Return the linearised variance of a ratio of two sums (Cochran, 1977)."""
    # Plain sums: exact ones would take most of the time of a pair of runs beside its p.
    n_units = len(sums)
    total = float(sizes.sum())
    deviations = sums - sums.sum() / total * sizes
    return float(np.square(deviations).sum()) * n_units / (n_units - 1) / total**2


def _joined(n_units: float, own: float, extended: float, seeds: Sequence[Spread]) -> list[Spread]:
    if not seeds:
        return [Spread(own, n_units - 1), Spread(extended, n_units + 1)]
    return [sum_of_spreads([Spread(max(own, extended), n_units - 1), *seeds])]


def difference_interval(
    difference: float, spreads: Sequence[Spread], level: float, p: float, limit: float | None
) -> DifferenceInterval:
    """Return Student's interval of a difference, within a limit, if known; p decides about 0."""
    half = max(spread.half(level) for spread in spreads)
    low = difference - half
    high = difference + half
    excludes_zero = p <= alpha_of(level)
    if not excludes_zero:
        low = min(low, 0.0)
        high = max(high, 0.0)
    elif difference > 0:
        low = max(low, 0.0)
    else:
        high = min(high, 0.0)
    limit = math.inf if limit is None else limit
    return DifferenceInterval(max(low, -limit), min(high, limit), excludes_zero=excludes_zero)


def fewest_units(level: float) -> int:
    """Return the fewest units whose sign flips can have a p of at most 1 - level."""
    return max(FEWEST, math.ceil(1 - math.log2(alpha_of(level))))


class Variation(NamedTuple):
    """The variation of the differences of two runs between units, and between seeds."""

    sd: float  # the standard deviation
    m: float  # the usual size of differences other than 0
    share: float  # of differences other than 0
    seeds: Sequence[Spread] = ()


def units_to_decide(
    difference: float, bound: float, variation: Variation, level: float
) -> int | None:
    """Return how many units decide with a power of 80 %; None if seeds alone vary too much."""
    sd, m, share, seeds = variation
    special = require('scipy.special', 'compare', 'compare')
    z = float(special.ndtri(POWER))

    def decides(n_units: int) -> bool:
        # As `spreads_of_difference` for units of size 1. Two more units of +m and -m draw the mean
        # towards 0, and so all units are farther from it.
        own = sd**2 / n_units
        squares = n_units * sd**2 + 2 * m**2 + 2 * difference**2 * n_units / (n_units + 2)
        extended = squares / ((n_units + 1) * (n_units + 2))
        half = max(spread.half(level) for spread in _joined(n_units, own, extended, seeds))
        variance = own + math.fsum(spread.variance for spread in seeds)
        return half + z * math.sqrt(variance) <= abs(difference - bound)

    if seeds and not decides(MOST_UNITS):
        return None
    fewest = max(fewest_units(level), math.ceil(FEWEST / share))
    return fewest + bisect_left(range(fewest, MOST_UNITS), True, key=decides)


def _sum(values: Floats) -> float:
    return math.fsum(values.tolist())


@lru_cache
def _quantile(df: float, level: float) -> float:
    """Return the quantile of Student's t that leaves (1 - level) / 2 above it."""
    special = require('scipy.special', 'compare', 'compare')
    return -float(special.stdtrit(df, (1 - level) / 2))
