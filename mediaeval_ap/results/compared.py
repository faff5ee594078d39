"""Values by query, as runs are compared by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Compared:
    """Values that have a mean over queries, by the name of the mean.

    `floor` has the mean that a run without any hypothesis gets, where it is known; `left_out` the
    measures without a value for some query.
    """

    queries: Sequence[str]
    values: Mapping[str, NDArray[np.float64]]
    n_relevant: NDArray[np.int64] | None
    floor: Mapping[str, float]
    left_out: Sequence[str] = ()
