"""What is resampled and flipped: queries or clusters of them, with sums that are exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SUM_BITS = 51  # a sum, and twice the difference of two, stay below 2**53, so doubles hold them


@dataclass(frozen=True)
class Units:
    """Sums of values over each unit, in steps of 2**-`exponent`, and the queries of each unit.

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

    def means(self, sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return means over queries from sums."""
        means: NDArray[np.float64] = np.ldexp(sums / sizes, -self.exponent)
        return means


def units_of(values: NDArray[np.float64], clusters: NDArray[np.intp]) -> Units:
    """Sum values, of shape (n_runs, n_queries), over the clusters with these numbers."""
    sizes = np.bincount(clusters).astype(np.float64)
    largest = float(np.abs(values).max()) * float(sizes.max()) * len(sizes)
    exponent = SUM_BITS - int(np.frexp(largest)[1])
    steps = np.rint(np.ldexp(values, exponent))
    sums = [np.bincount(clusters, run, len(sizes)) for run in steps]
    return Units(np.stack(sums, axis=1), sizes, exponent)


def numbered(clusters: Sequence[object]) -> NDArray[np.intp]:
    """Return the number of each cluster, by first occurrence."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(each, len(numbers)) for each in clusters], dtype=np.intp)
