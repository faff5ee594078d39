"""The temporal rank: the position of a shot among those of its name, confidence and video."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import ranks_in_runs, run_starts
from mediaeval_ap.ranking.tie_breaking import in_order


def temporal_ranks(
    name: NDArray[np.integer],
    confidence: NDArray[Any],
    shot: NDArray[np.integer],
    video: NDArray[np.integer],
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the temporal rank of each hypothesis, from 1, and whether it repeats another one."""
    order = in_order(name, confidence, shot)
    columns = [column[order] for column in (name, confidence, video, shot)]
    begins = run_starts(columns[:3])
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = ranks_in_runs(begins, len(order))
    repeated = np.ones(len(order), dtype=np.bool_)
    repeated[order[run_starts(columns)]] = False
    return ranks, repeated
