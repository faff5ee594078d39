"""Means that are rounded once, so the order of values does not matter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats


def exact_mean(values: NDArray[Any] | Sequence[float]) -> float:
    """Return the mean of one or more values."""
    return math.fsum(np.asarray(values).tolist()) / len(values)


def mean(values: NDArray[Any]) -> float | None:
    """Return the mean, or None if there are no values."""
    return exact_mean(values) if len(values) else None


def mean_average_precision(ap: Floats) -> Floats:
    """Return the mean over queries (rows) of each column."""
    return np.array([mean(column) for column in ap.T], dtype=np.float64)
