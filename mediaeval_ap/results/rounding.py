"""Means that are rounded once, and which numbers are equal: they differ by rounding alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats

Key = TypeVar('Key')

# Figures of this package, such as AP, its parts and their means, are sums of terms of at most 1.
# The order of the terms changes the last of 16 digits; other differences are larger than this.
OWN_DECIMALS = 12
OWN_ROUNDING = 1e-12
# Values that any tool computed, as a share of the largest one: the tool may have summed in another
# order, too, or in single precision.
DOUBLE_ROUNDING = 2.0**-44
SINGLE_ROUNDING = 2.0**-22
# Values that were written as text, perhaps with fewer digits, and are compared with a limit.
READ_ROUNDING = 1e-9


def exact_mean(values: NDArray[Any] | Sequence[float]) -> float:
    """Return the mean of one or more values; their order does not matter."""
    return math.fsum(np.asarray(values).tolist()) / len(values)


def mean(values: NDArray[Any]) -> float | None:
    """Return the mean, or None if there are no values."""
    return exact_mean(values) if len(values) else None


def mean_average_precision(ap: Floats) -> Floats:
    """Return the mean over queries (rows) of each column."""
    return np.array([mean(column) for column in ap.T], dtype=np.float64)


def roundings_of(values: Floats) -> Floats:
    """Return, for each run (row), the largest distance between values equal as fractions."""
    with np.errstate(over='ignore', under='ignore'):
        is_single = (values.astype(np.float32) == values).all(axis=1)
    is_single &= (values % 2**-10 != 0).any(axis=1)  # others are exact, such as 0.5
    largest: Floats = np.abs(values).max(axis=1)
    return np.where(is_single, SINGLE_ROUNDING, DOUBLE_ROUNDING) * largest


def competition_ranks(
    values: Mapping[Key, float], rounding: Floats | float = OWN_ROUNDING
) -> dict[Key, int]:
    """Return the rank of each value, from 1 for the largest; equal values share the better rank."""
    numbers = np.array([*values.values()])
    # Of two roundings, the larger one counts.
    is_larger = np.subtract.outer(numbers, numbers) > np.maximum.outer(rounding, rounding)
    return dict(zip(values, (1 + is_larger.sum(axis=0)).tolist(), strict=True))
