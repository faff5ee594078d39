"""Pruning of a run to what a score at some depth or less can need."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import combine, first_occurrences, ranks_in_runs, run_starts


def kept(names: NDArray[np.integer], shots: NDArray[np.integer], depth: int) -> NDArray[np.bool_]:
    """Return which hypotheses are kept, given name by name, and best first for each name.

    A ranking is made of the first hypotheses of each name: of as many as it is deep, or, where
    repeated shots are dropped, of the first one of each of as many shots.
    """
    is_kept = ranks_in_runs(run_starts([names]), len(names)) <= depth
    first = first_occurrences(combine([names, shots]))
    is_kept[first[ranks_in_runs(run_starts([names[first]]), len(first)) <= depth]] = True
    return is_kept
