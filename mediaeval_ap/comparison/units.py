"""Sums of values over units: queries, or clusters of queries that belong together."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats
from mediaeval_ap.comparison.intervals import Spread
from mediaeval_ap.results.rounding import roundings_of


@dataclass(frozen=True)
class Units:
    """The weighted sum of values over each unit, and its weight: of queries, or labels."""

    sums: Floats  # (n_units, n_runs)
    sizes: Floats  # (n_units,)
    roundings: Floats  # (n_runs,): the largest distance between equal values
    n_effective: float  # n_units; fewer if groups count the same and so some units count more
    seeds: Sequence[Sequence[Spread]]  # (n_runs,): the spread between seeds; empty for one seed

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


def units_of(
    values: Floats,  # (n_runs, n_queries)
    clusters: NDArray[np.intp],  # the number of each query's cluster, from 0
    weights: NDArray[np.int64] | Floats | None = None,  # without weight, clusters are dropped
    values_by_seed: Sequence[Floats | None] = (),  # (n_seeds, n_queries); None for one seed
    *,
    are_groups_equal: bool = False,  # by their weights
) -> Units:
    """Sum values, times their weights, over clusters."""
    if weights is None:
        weights = np.ones(len(clusters))
    sizes = np.bincount(clusters, weights).astype(np.float64)
    by_run = [np.bincount(clusters, row, len(sizes)) for row in values * weights]
    sums: Floats = np.stack(by_run, axis=1).astype(np.float64)
    spreads = [
        () if rows is None else [_spread_of_seeds(rows * weights, float(sizes.sum()))]
        for rows in values_by_seed or [None] * len(values)
    ]
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    n_effective = float(len(sizes))
    if are_groups_equal:  # as many as give a variance as precise (Satterthwaite, 1946)
        n_effective = float((sizes**2).sum() ** 2 / (sizes**4).sum())
    return Units(sums, sizes, roundings_of(values), n_effective, seeds=spreads)


def _spread_of_seeds(values: Floats, total: float) -> Spread:
    """Return the variance of a mean over seeds, of sums of values by seed over `total`."""
    means = [math.fsum(row) / total for row in values.tolist()]
    n_seeds = len(means)
    return Spread(statistics.variance(means) / n_seeds, n_seeds - 1)
