"""Sums of values over units: queries, or clusters of queries that belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
ROUNDING = 2.0**-44  # of the largest value: what is equal as fractions differs by less


@dataclass(frozen=True)
class Units:
    """Sums of values over each unit, and the numbers of queries, or labels, in it."""

    sums: Floats  # (n_units, n_runs)
    sizes: Floats  # (n_units,)
    largest: Floats  # (n_runs,), absolute values

    def rounding(self, a: int, b: int) -> float:
        """Return how far equal values of two runs may be apart, as no other run decides."""
        return ROUNDING * float(max(self.largest[a], self.largest[b]))

    def tolerance(self, a: int, b: int) -> float:
        """Return how far two equal sums of differences may be apart."""
        return self.rounding(a, b) * float(self.sizes.sum())

    def differences(self, a: int, b: int) -> Floats:
        """Return the differences of two runs' sums by unit; 0 where rounding alone makes one."""
        differences = self.sums[:, a] - self.sums[:, b]
        return np.where(np.abs(differences) <= self.rounding(a, b) * self.sizes, 0.0, differences)

    def ranks(self, means: list[float]) -> list[int]:
        """Return ranks from 1, the best first; means that rounding tells apart share the better."""
        of_runs, runs = np.array(means), range(len(means))
        rounding = ROUNDING * np.maximum.outer(self.largest, self.largest)
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
    return Units(sums[sizes > 0], sizes[sizes > 0], np.abs(values).max(axis=1))
