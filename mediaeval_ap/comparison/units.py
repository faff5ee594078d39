"""Units that are resampled and flipped: queries or clusters of them, with exact sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SUM_BITS = 51  # a sum, and twice the difference of two, stay below 2**53, so doubles hold them


@dataclass(frozen=True)
class Units:
    """Sums of values over each unit, as whole multiples (steps) of a small power of 2.

    A step is 2**-`exponent`; `sizes` are the numbers of queries of the units.

    Values are rounded to steps once. All that follows are sums of integers, which doubles hold, so
    neither the order of runs and queries nor the library of matrix products can change a bit, and
    two runs that are equal on the queries drawn are equal in the sum.
    """

    sums: NDArray[np.float64]  # (n_units, n_runs), integers
    sizes: NDArray[np.float64]  # (n_units,)
    exponent: int

    @property
    def tolerance(self) -> float:
        """The steps by which two equal sums of differences may differ, as values were rounded."""
        return 2 * float(self.sizes.sum())  # half a step a value, two values, two sums

    def steps(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values in whole steps."""
        return _steps(values, self.exponent)

    def differences(self, a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the differences of values of two runs; 0 where rounding alone makes one."""
        steps = self.steps(a) - self.steps(b)
        return np.where(np.abs(steps) <= 1, 0.0, a - b)

    def sums_of(self, run: int) -> NDArray[np.float64]:
        """Return the sums of a run by unit."""
        sums: NDArray[np.float64] = np.ldexp(self.sums[:, run], -self.exponent)
        return sums

    def differences_of_sums(self, a: int, b: int) -> NDArray[np.float64]:
        """Return the differences of two runs' sums by unit; 0 where rounding alone makes one."""
        steps = self.sums[:, a] - self.sums[:, b]
        return np.where(np.abs(steps) <= self.sizes, 0.0, np.ldexp(steps, -self.exponent))

    def means(self, sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return means over queries from sums."""
        means: NDArray[np.float64] = np.ldexp(sums / sizes, -self.exponent)
        return means


def one_unit(sizes: NDArray[np.float64]) -> str:
    """Return what the only unit is, as the reason why there is no interval."""
    return 'one query' if sizes[0] == 1 else 'one cluster of queries'


def units_of(values: NDArray[np.float64], clusters: NDArray[np.intp]) -> Units:
    """Sum values, of shape (n_runs, n_queries), over the clusters with these numbers."""
    sizes = np.bincount(clusters).astype(np.float64)
    largest = float(np.abs(values).max()) * float(sizes.max()) * len(sizes)
    exponent = SUM_BITS - int(np.frexp(largest)[1])
    sums = [np.bincount(clusters, run, len(sizes)) for run in _steps(values, exponent)]
    return Units(np.stack(sums, axis=1), sizes, exponent)


def _steps(values: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    return np.rint(np.ldexp(values, exponent))


def numbered(clusters: Sequence[object]) -> NDArray[np.intp]:
    """Return the number of each cluster, by first occurrence."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(each, len(numbers)) for each in clusters], dtype=np.intp)
