"""Sums of values over units: queries, or clusters of queries that belong together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats

# Values that are equal as fractions differ by less than these shares of the largest value.
DOUBLE_ROUNDING = 2.0**-44
SINGLE_ROUNDING = 2.0**-22


@dataclass(frozen=True)
class Units:
    """The sum of values over each unit, and the number of queries, or labels, in it."""

    sums: Floats  # (n_units, n_runs)
    sizes: Floats  # (n_units,)
    roundings: Floats  # (n_runs,): the largest distance between equal values

    def rounding(self, a: int, b: int) -> float:
        """Return the largest distance between equal values of two runs; no other run matters."""
        return float(max(self.roundings[a], self.roundings[b]))

    def tolerance(self, a: int, b: int) -> float:
        """Return the largest distance between equal sums of differences; errors partly cancel."""
        return self.rounding(a, b) * math.sqrt(self.sizes.sum())

    def differences(self, a: int, b: int) -> Floats:
        """Return the differences of two runs' sums by unit; 0 for those within rounding."""
        differences = self.sums[:, a] - self.sums[:, b]
        return np.where(np.abs(differences) <= self.rounding(a, b) * self.sizes, 0.0, differences)

    def ranks(self, means: list[float]) -> list[int]:
        """Return the rank of each mean, from 1; means within rounding share the better rank."""
        values = np.array(means)
        runs = range(len(means))
        rounding = np.maximum.outer(self.roundings, self.roundings)
        return [1 + int(np.count_nonzero(values - means[run] > rounding[run])) for run in runs]


def units_of(
    values: Floats, clusters: NDArray[np.intp], weights: NDArray[np.int64] | None = None
) -> Units:
    """Sum values over clusters.

    Parameters
    ----------
    values
        Of shape (n_runs, n_queries).
    clusters
        The number of each query's cluster, from 0.
    weights
        The number of labels behind each query's value, a mean over labels; clusters without labels
        are dropped.
    """
    sizes = np.bincount(clusters, weights).astype(np.float64)
    totals = values if weights is None else values * weights
    by_run = [np.bincount(clusters, row, len(sizes)) for row in totals]
    sums: Floats = np.stack(by_run, axis=1).astype(np.float64)
    return Units(sums[sizes > 0], sizes[sizes > 0], _roundings(values))


def _roundings(values: Floats) -> Floats:
    """Return, for each run, the largest distance between values that are equal as fractions."""
    with np.errstate(over='ignore', under='ignore'):
        is_single = (values.astype(np.float32) == values).all(axis=1)
    is_single &= (values % 2**-10 != 0).any(axis=1)  # others are exact, such as 0.5
    largest: Floats = np.abs(values).max(axis=1)
    return np.where(is_single, SINGLE_ROUNDING, DOUBLE_ROUNDING) * largest
