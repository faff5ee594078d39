"""Intervals of many means at once, for simulations: the same as those of `compare`."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from mediaeval_ap.comparison.sampling import (
    Interval,
    Units,
    bootstrap_intervals,
    plus2_interval,
    t_interval,
)

LEVEL = 0.95
TAILS = (1 - LEVEL) / 2, (1 + LEVEL) / 2
MOST_APART = 1e-9  # from the package's: sums are rounded in another order

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]
Bounds = tuple[Floats, Floats]  # NaN where there is no interval
Kind = Callable[[Floats, Floats, int, int], Bounds]  # of sums, sizes, resamples, seed


@dataclass(frozen=True)
class Sample:
    """Sums by unit of runs, then of differences of pairs, and the sizes of the units."""

    units: Units
    pairs: tuple[Numbers, Numbers]
    sums: Floats  # (n_units, n_runs + n_pairs)

    @classmethod
    def of(cls, units: Units, pairs: tuple[Numbers, Numbers]) -> 'Sample':
        runs = [units.sums_of(run) for run in range(units.sums.shape[1])]
        differences = [units.differences_of_sums(a, b) for a, b in zip(*pairs, strict=True)]
        return cls(units, pairs, np.stack([*runs, *differences], axis=1))

    def drawn(self, chosen: Numbers) -> 'Sample':
        units = Units(self.units.sums[chosen], self.units.sizes[chosen], self.units.exponent)
        return Sample(units, self.pairs, self.sums[chosen])


def times_drawn(n: int, resamples: int, seed: int) -> Floats:
    """Return how often each of n units is in each resample, drawn as SciPy draws them."""
    drawn = np.random.default_rng(seed).integers(0, n, (resamples, n))
    return np.stack([np.bincount(each, minlength=n) for each in drawn]).astype(np.float64)


def bca(sums: Floats, sizes: Floats, resamples: int, seed: int) -> Bounds:
    counts = times_drawn(len(sizes), resamples, seed)
    means = np.sort((sums.T @ counts.T) / (counts @ sizes), axis=1)
    total, n_queries = sums.sum(axis=0), sizes.sum()
    mean = (total / n_queries)[:, None]
    below = ((means < mean).sum(axis=1) + (means <= mean).sum(axis=1)) / (2 * resamples)
    without_one = (total - sums) / (n_queries - sizes)[:, None]
    influence = without_one.mean(axis=0) - without_one
    with np.errstate(all='ignore'):  # a degenerate one becomes NaN
        bias = special.ndtri(below)
        skew = (influence**3).sum(axis=0) / (6 * (influence**2).sum(axis=0) ** 1.5)
        shifts = [bias + special.ndtri(tail) for tail in TAILS]
        shares = [special.ndtr(bias + shift / (1 - skew * shift)) for shift in shifts]
    low, high = (quantile(means, share) for share in shares)
    return low, high


def quantile(means: Floats, shares: Floats) -> Floats:
    """Return a quantile of each sorted row, its own, between the two nearest values."""
    places = np.nan_to_num(shares) * (means.shape[1] - 1)
    before = places.astype(np.intp)
    rows, after = np.arange(len(means)), np.minimum(before + 1, means.shape[1] - 1)
    low = means[rows, before]
    between = low + (means[rows, after] - low) * (places - before)
    return np.where(np.isnan(shares), np.nan, between)


def student(sums: Floats, sizes: Floats, resamples: int = 0, seed: int = 0) -> Bounds:
    n_units, n_queries = len(sizes), sizes.sum()
    mean = sums.sum(axis=0) / n_queries
    residuals = sums - mean * sizes[:, None]
    deviation = np.sqrt(np.square(residuals).sum(axis=0) * n_units / (n_units - 1)) / n_queries
    of_units = sums / sizes[:, None]
    deviation[of_units.min(axis=0) == of_units.max(axis=0)] = np.nan
    half = stats.t.isf(TAILS[0], n_units - 1) * deviation
    return mean - half, mean + half


def plus2(sums: Floats, sizes: Floats, resamples: int = 0, seed: int = 0) -> Bounds:
    size = sizes.mean()
    most = np.maximum(1, np.abs(sums / sizes[:, None]).max(axis=0)) * size
    return student(np.vstack([sums, most, -most]), np.append(sizes, [size, size]))


KINDS: dict[str, Kind] = {'BCa': bca, 't': student, 'plus2': plus2}


def of_package(kind: str, sample: Sample, resamples: int, seed: int) -> list[Interval]:
    """Return the intervals of the package, those of runs first."""
    if kind == 'BCa':
        found = bootstrap_intervals(sample.units, sample.pairs, LEVEL, resamples, seed)
        return found.runs + found.pairs
    interval_of = plus2_interval if kind == 'plus2' else t_interval
    return [interval_of(column, sample.units.sizes, LEVEL) for column in sample.sums.T]


def check(kind: str, sample: Sample, resamples: int, seed: int) -> None:
    """Stop where an interval is not that of the package."""
    low, high = KINDS[kind](sample.sums, sample.units.sizes, resamples, seed)
    theirs = of_package(kind, sample, resamples, seed)
    bounds = np.array([[each.low, each.high] for each in theirs], dtype=np.float64).T
    np.testing.assert_allclose([low, high], bounds, rtol=0, atol=MOST_APART, err_msg=kind)
