"""Sums of values over units: queries, or clusters of queries that belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

SUM_BITS = 51  # a sum, and twice the difference of two, stay below 2**53, so doubles hold them

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Units:
    """Sums of values over each unit (a query or a cluster), in whole steps of 2**-`exponent`."""

    # Values are rounded to steps once. All that follows are sums of integers, so no order of runs
    # and queries can change a bit.

    sums: Floats  # (n_units, n_runs), integers
    sizes: Floats  # (n_units,), numbers of queries, or of labels
    exponent: int

    def steps(self, values: Floats) -> Floats:
        return np.rint(np.ldexp(values, self.exponent))

    def sums_of(self, run: int) -> Floats:
        """Return the sums of a run by unit."""
        return np.ldexp(self.sums[:, run], -self.exponent)

    def differences(self, a: Floats, b: Floats) -> Floats:
        """Return the differences of values of two runs; 0 where rounding alone makes one."""
        steps = self.steps(a) - self.steps(b)
        return np.where(np.abs(steps) <= 1, 0.0, a - b)

    def differences_of_sums(self, a: int, b: int) -> Floats:
        """Return the differences of two runs' sums by unit; 0 where rounding alone makes one."""
        steps = self.sums[:, a] - self.sums[:, b]
        return np.where(np.abs(steps) <= self.sizes, 0.0, np.ldexp(steps, -self.exponent))

    @property
    def tolerance(self) -> float:
        """The amount by which two equal sums of differences may differ, as values were rounded."""
        return float(np.ldexp(2 * self.sizes.sum(), -self.exponent))


def units_of(
    values: Floats, clusters: NDArray[np.intp], weights: NDArray[np.int64] | None = None
) -> Units:
    """Sum values, of shape (n_runs, n_queries), over the clusters with these numbers.

    Weights are the numbers of labels that each value is the mean of; clusters without a label are
    left out.
    """
    sizes = np.bincount(clusters, weights).astype(np.float64)
    totals = values if weights is None else values * weights
    largest = float(np.abs(values).max()) * float(sizes.max()) * len(sizes)
    exponent = SUM_BITS - int(np.frexp(largest)[1])
    steps = np.rint(np.ldexp(totals, exponent))
    sums = [np.bincount(clusters, run, len(sizes)) for run in steps]
    by_unit: Floats = np.stack(sums, axis=1).astype(np.float64)
    return Units(by_unit[sizes > 0], sizes[sizes > 0], exponent)
