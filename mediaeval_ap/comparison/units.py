"""Sums of values over units: queries, or clusters of queries that belong together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats

# Of the largest value: what is equal as fractions differs by less.
ROUNDING = 2.0**-44
OF_SINGLES = 2.0**-22


@dataclass(frozen=True)
class Units:
    """Sums of values over each unit, and the numbers of queries, or labels, in it."""

    sums: Floats  # (n_units, n_runs)
    sizes: Floats  # (n_units,)
    roundings: Floats  # (n_runs,): how far equal values may be apart

    def rounding(self, a: int, b: int) -> float:
        """Return how far equal values of two runs may be apart, whatever other runs there are."""
        return float(max(self.roundings[a], self.roundings[b]))

    def tolerance(self, a: int, b: int) -> float:
        """Return how far two equal sums of differences may be apart, as errors are of any sign."""
        return self.rounding(a, b) * math.sqrt(self.sizes.sum())

    def differences(self, a: int, b: int) -> Floats:
        """Return the differences of two runs' sums by unit; 0 where rounding alone makes one."""
        differences = self.sums[:, a] - self.sums[:, b]
        return np.where(np.abs(differences) <= self.rounding(a, b) * self.sizes, 0.0, differences)

    def ranks(self, means: list[float]) -> list[int]:
        """Return ranks from 1, the best first; means that rounding tells apart share the better."""
        of_runs = np.array(means)
        runs = range(len(means))
        rounding = np.maximum.outer(self.roundings, self.roundings)
        return [1 + int(np.count_nonzero(of_runs - means[run] > rounding[run])) for run in runs]


def units_of(
    values: Floats, clusters: NDArray[np.intp], weights: NDArray[np.int64] | None = None
) -> Units:
    """Sum values, of shape (n_runs, n_queries), over the clusters with these numbers.

    Weights are the numbers of labels that each value is the mean of; clusters without a label are
    left out.
    """
    sizes = np.bincount(clusters, weights).astype(np.float64)
    totals = values if weights is None else values * weights
    by_run = [np.bincount(clusters, row, len(sizes)) for row in totals]
    sums: Floats = np.stack(by_run, axis=1).astype(np.float64)
    return Units(sums[sizes > 0], sizes[sizes > 0], _roundings(values))


def _roundings(values: Floats) -> Floats:
    """Return how far values of each run that are equal as fractions may be apart."""
    with np.errstate(over='ignore', under='ignore'):
        is_single = (values.astype(np.float32) == values).all(axis=1)
    is_single &= (values % 2**-10 != 0).any(axis=1)  # others are exact, such as 0.5
    largest: Floats = np.abs(values).max(axis=1)
    return np.where(is_single, OF_SINGLES, ROUNDING) * largest
