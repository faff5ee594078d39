"""Intervals and tests of runs, on sums over the units that are resampled, flipped or permuted.

SciPy has no interval of a mean over clusters, no resamples and flips that all pairs of runs share,
and no permutations of more than two runs, so these are here. It has the quantiles of t and of the
normal distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.cores import on_all_cores
from mediaeval_ap.errors import require
from mediaeval_ap.progress import Bar

SUM_BITS = 51  # a sum, and twice the difference of two, stay below 2**53, so doubles hold them
MOST_ENUMERATED = 20  # differences that are not zero: 2**20 patterns of signs
# So many at a time keep memory low: indices drawn, signs flipped, values permuted.
DRAWN_AT_ONCE, FLIPPED_AT_ONCE, PERMUTED_AT_ONCE = 1 << 22, 1 << 21, 1 << 20
BLOCKS_AT_ONCE = 64  # permuted between two updates of the progress bar

Floats: TypeAlias = NDArray[np.float64]
NumberedPairs: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]  # the columns of two runs


@dataclass(frozen=True)
class Interval:
    """A confidence interval; without bounds, the reason."""

    low: float | None
    high: float | None
    reason: str = ''


@dataclass(frozen=True)
class Units:
    """Sums of values over each unit (a query or a cluster), in whole steps of 2**-`exponent`."""

    # Values are rounded to steps once. All that follows are sums of integers, which doubles hold:
    # no order of runs and queries, and no library of matrix products, can change a bit.

    sums: Floats  # (n_units, n_runs), integers
    sizes: Floats  # (n_units,), numbers of queries
    exponent: int

    @property
    def tolerance(self) -> float:
        """The steps by which two equal sums of differences may differ, as values were rounded."""
        return 2 * float(self.sizes.sum())  # half a step a value, two values, two sums

    def steps(self, values: Floats) -> Floats:
        return np.rint(np.ldexp(values, self.exponent))

    def differences(self, a: Floats, b: Floats) -> Floats:
        """Return the differences of values of two runs; 0 where rounding alone makes one."""
        steps = self.steps(a) - self.steps(b)
        return np.where(np.abs(steps) <= 1, 0.0, a - b)

    def differences_of_sums(self, a: int, b: int) -> Floats:
        """Return the differences of two runs' sums by unit; 0 where rounding alone makes one."""
        steps = self.sums[:, a] - self.sums[:, b]
        return np.where(np.abs(steps) <= self.sizes, 0.0, np.ldexp(steps, -self.exponent))

    def means(self, sums: Floats, sizes: Floats) -> Floats:
        """Return means over queries from sums in steps."""
        means: Floats = np.ldexp(sums / sizes, -self.exponent)
        return means


def units_of(values: Floats, clusters: NDArray[np.intp]) -> Units:
    """Sum values, of shape (n_runs, n_queries), over the clusters with these numbers."""
    sizes = np.bincount(clusters).astype(np.float64)
    largest = float(np.abs(values).max()) * float(sizes.max()) * len(sizes)
    exponent = SUM_BITS - int(np.frexp(largest)[1])
    steps = np.rint(np.ldexp(values, exponent))
    sums = [np.bincount(clusters, run, len(sizes)) for run in steps]
    return Units(np.stack(sums, axis=1), sizes, exponent)


def t_interval(sums: Floats, sizes: Floats, level: float) -> Interval:
    """Return Student's interval of a mean over queries, from sums over units of these sizes."""
    if len(sums) == 1:
        return Interval(None, None, _one_unit(sizes))
    means = sums / sizes
    if means.min() == means.max():
        return Interval(None, None, 'all units have one mean')
    stats = require('scipy.stats', 'compare', 'compare')
    n_units, n_queries = len(sums), sizes.sum()
    # A ratio of two sums, whose variance is linearised (Cochran, 1977).
    mean = sums.sum() / n_queries
    residuals = sums - mean * sizes
    deviation = np.sqrt(np.square(residuals).sum() * n_units / (n_units - 1)) / n_queries
    half = stats.t.isf((1 - level) / 2, n_units - 1) * deviation
    return Interval(float(mean - half), float(mean + half))


def plus2_interval(sums: Floats, sizes: Floats, level: float, width: float = 1.0) -> Interval:
    """Return Student's interval of a mean difference after two units of +m and -m are appended."""
    # m is the largest difference that there could be (Bonett and Price, 2012, for differences of
    # any size); AP differs by at most 1, but for a few rules.
    m, size = max(width, float(np.abs(sums / sizes).max())), sizes.mean()
    return t_interval(np.append(sums, [m * size, -m * size]), np.append(sizes, [size, size]), level)


def _one_unit(sizes: Floats) -> str:
    return 'one query' if sizes[0] == 1 else 'one cluster of queries'


class Intervals(NamedTuple):
    """Intervals of the means of runs, and of their differences."""

    runs: list[Interval]
    pairs: list[Interval]


def bootstrap_intervals(
    units: Units, pairs: NumberedPairs, level: float, resamples: int, seed: int
) -> Intervals:
    """Return BCa intervals of runs and pairs, all from the resamples that SciPy draws."""
    # Its BCa would leave out each unit by the statistic, in time that grows with the square of
    # their number; here sums without one unit are differences.
    a, b = pairs
    n_units, n_runs = units.sums.shape
    if n_units == 1:
        none = Interval(None, None, _one_unit(units.sizes))
        return Intervals([none] * n_runs, [none] * len(a))

    def means_of(counts: Floats) -> Floats:
        sums = units.sums.T @ counts.T
        # Differences of sums, not of means: sums are exact, so equal runs stay equal.
        return units.means(np.concatenate([sums, sums[a] - sums[b]]), counts @ units.sizes)

    drawn = resampled(means_of, n_units, resamples, seed)
    sums = np.concatenate([units.sums, units.sums[:, a] - units.sums[:, b]], axis=1)
    intervals = [_bca(units, *each, level) for each in zip(sums.T, drawn, strict=True)]
    return Intervals(intervals[:n_runs], intervals[n_runs:])


def resampled(
    statistics: Callable[[Floats], Floats], n_units: int, resamples: int, seed: int
) -> Floats:
    """Return statistics (rows) of resamples, from how often each has each unit."""
    generator, found = np.random.default_rng(seed), []
    n_at_once = max(1, DRAWN_AT_ONCE // n_units)
    with Bar('bootstrap', resamples, 'resample') as bar:
        for begin in range(0, resamples, n_at_once):
            n_rows = min(n_at_once, resamples - begin)
            drawn = generator.integers(0, n_units, (n_rows, n_units))
            found.append(statistics(_times_drawn(drawn)))
            bar.add(n_rows)
    return np.concatenate(found, axis=1)


def _bca(units: Units, sums: Floats, drawn: Floats, level: float) -> Interval:
    """Return the interval of a mean, or of the difference of two: Efron 1987, as SciPy does."""
    if drawn.min() == drawn.max():
        return Interval(None, None, 'all resamples have one mean')
    special = require('scipy.special', 'compare', 'compare')
    total, size = sums.sum(), units.sizes.sum()
    mean = units.means(total, size)
    left_out = units.means(total - sums, size - units.sizes)  # each unit in turn
    away = left_out.mean() - left_out
    n_below = np.count_nonzero(drawn < mean) + np.count_nonzero(drawn <= mean)
    bias = special.ndtri(n_below / (2 * len(drawn)))
    with np.errstate(invalid='ignore'):  # an infinite bias gets a reason below
        acceleration = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
        moved = bias + special.ndtri([(1 - level) / 2, (1 + level) / 2])
        tails = special.ndtr(bias + moved / (1 - acceleration * moved))
    if np.isnan(tails).any():
        return Interval(None, None, 'BCa is not defined: all resamples are on one side of the mean')
    low, high = np.quantile(drawn, tails).tolist()
    return Interval(low, high)


def percentiles(drawn: Floats, level: float) -> Interval:
    """Return the interval of percentiles of resamples (Efron and Tibshirani, 1993)."""
    if drawn.min() == drawn.max():
        return Interval(None, None, 'all resamples have one value')
    return Interval(*np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist())


def _times_drawn(drawn: NDArray[np.int64]) -> Floats:
    """Return how often each unit (a column) is drawn in each resample (a row)."""
    n_resamples, n_units = drawn.shape
    keys = drawn + np.arange(0, n_resamples * n_units, n_units)[:, None]
    counts = np.bincount(keys.ravel(), minlength=n_resamples * n_units)
    return counts.reshape(n_resamples, n_units).astype(np.float64)


def sign_flips(
    units: Units, pairs: NumberedPairs, permutations: int, seed: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the two-sided p of each pair (Phipson and Smyth, 2010), and its differences not 0."""
    sums, (a, b) = units.sums, pairs
    n_nonzero = np.zeros(len(a), dtype=np.int64)
    p = np.ones(len(a))
    for pair, (one, other) in enumerate(zip(a, b, strict=True)):
        differences = sums[:, one] - sums[:, other]
        differences = differences[np.abs(differences) > units.sizes]  # less is rounding
        n_nonzero[pair] = len(differences)
        if len(differences) <= MOST_ENUMERATED:
            p[pair] = enumerated(differences, units.tolerance)
    drawn = np.flatnonzero(n_nonzero > MOST_ENUMERATED)
    if len(drawn):
        n_extreme = _n_extreme(units, (a[drawn], b[drawn]), permutations, seed)
        p[drawn] = (n_extreme + 1) / (permutations + 1)
    return p, n_nonzero


def enumerated(differences: Floats, tolerance: float) -> float:
    """Return the share of all patterns of signs whose sum is as far from zero as the given one."""
    least = abs(float(differences.sum())) - tolerance
    if least <= 0:
        return 1.0
    # Each pattern is one of the first half of the differences and one of the second.
    half = len(differences) // 2
    first, second = _all_sums(differences[:half]), np.sort(_all_sums(differences[half:]))
    n_above = len(second) - np.searchsorted(second, least - first, side='left')
    n_below = np.searchsorted(second, -least - first, side='right')
    return float(n_above.sum() + n_below.sum()) / 2.0 ** len(differences)


def _all_sums(differences: Floats) -> Floats:
    sums = np.zeros(1)
    for each in differences.tolist():
        sums = np.concatenate([sums + each, sums - each])
    return sums


def _n_extreme(
    units: Units, pairs: NumberedPairs, permutations: int, seed: int
) -> NDArray[np.int64]:
    """Return how many random patterns give a difference as large, for each pair of runs."""
    sums, (a, b) = units.sums, pairs
    generator = np.random.default_rng(seed)
    n_units = len(sums)
    rows = max(1, FLIPPED_AT_ONCE // max(n_units, len(a)))
    totals = sums.sum(axis=0)
    difference = (totals[a] - totals[b])[:, None]
    # Equal as fractions, sums may differ in their last steps; SciPy's tests allow for it, too.
    least = np.abs(difference) - units.tolerance
    n_extreme = np.zeros(len(a), dtype=np.int64)
    with Bar('sign flips', permutations, 'flip') as bar:
        for begin in range(0, permutations, rows):
            n_rows = min(rows, permutations - begin)
            # Whole words, so that rows are the same however many are drawn at a time.
            words = generator.integers(0, 1 << 64, (n_rows, -(-n_units // 64)), dtype=np.uint64)
            octets = words.astype('<u8', copy=False).view(np.uint8)
            stays = np.unpackbits(octets, axis=1, count=n_units).astype(np.float64)
            # Sums of the units whose sign stays: a flipped sum is twice these, less the total.
            stayed = sums.T @ stays.T
            flipped = stayed[a]
            flipped -= stayed[b]
            flipped *= 2
            flipped -= difference
            np.abs(flipped, out=flipped)
            n_extreme += np.count_nonzero(flipped >= least, axis=1)
            bar.add(n_rows)
    return n_extreme


def tukey(units: Sequence[Units], pairs: NumberedPairs, permutations: int, seed: int) -> Floats:
    """Return p of each metric (rows) and pair of runs by randomised Tukey HSD."""
    # Of the largest difference of any two runs, so it needs no correction (Carterette, 2012).
    a, b = pairs
    sums = np.stack([each.sums for each in units], axis=2)
    totals = sums.sum(axis=0)
    least = np.abs(totals[a] - totals[b]).T - units[0].tolerance
    ranges = np.sort(_ranges(sums, permutations, seed), axis=0).T
    found = zip(ranges, least, strict=True)
    n_extreme = permutations - np.array([ranks.searchsorted(each) for ranks, each in found])
    p: Floats = (n_extreme + 1) / (permutations + 1)
    return p


def _ranges(sums: Floats, permutations: int, seed: int) -> Floats:
    """Return the largest difference of two runs' totals, by permutation and metric."""
    # Where all runs are equal, no permutation changes anything.
    differ = (sums != sums[:, :1]).any(axis=(1, 2))
    values = np.ascontiguousarray(sums[differ])
    if not len(values):
        return np.zeros((permutations, sums.shape[2]))
    n_units, n_runs, n_metrics = values.shape
    # All metrics of a run move together, as one item.
    items = values.view(np.dtype((np.void, values.itemsize * n_metrics)))[:, :, 0]

    def permute(block: tuple[int, np.random.SeedSequence]) -> Floats:
        size, seed = block
        permuted = np.tile(items, (size, 1))
        np.random.default_rng(seed).permuted(permuted, axis=1, out=permuted)
        numbers = permuted.view(np.float64).reshape(size, n_units, n_runs * n_metrics)
        totals = numbers.sum(axis=1).reshape(size, n_runs, n_metrics)
        ranges: Floats = totals.max(axis=1) - totals.min(axis=1)
        return ranges

    n_each = max(1, PERMUTED_AT_ONCE // values.size)
    sizes = [min(n_each, permutations - begin) for begin in range(0, permutations, n_each)]
    # A generator for each block, so that threads change nothing.
    blocks = list(zip(sizes, np.random.SeedSequence(seed).spawn(len(sizes)), strict=True))
    ranges: list[Floats] = []
    with Bar('permutations', permutations, 'permutation') as bar:
        for begin in range(0, len(blocks), BLOCKS_AT_ONCE):
            some = blocks[begin : begin + BLOCKS_AT_ONCE]
            ranges += on_all_cores(permute, some)
            bar.add(sum(size for size, _ in some))
    return np.concatenate(ranges)
