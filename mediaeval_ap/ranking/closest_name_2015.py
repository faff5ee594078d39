"""The one name closest to a query, by the protocol of 2015."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from mediaeval_ap.ranking.edit_distances import BLOCK_CELLS


def closest(
    queries: Sequence[str], names: Sequence[str], ratio: float
) -> tuple[list[str | None], NDArray[np.float64]]:
    """Return for each query the first of the closest names, and its ratio; none up to `ratio`."""
    names = sorted(names)
    lengths = np.array(list(map(len, names)))
    known = set(names) if ratio < 1 else set()
    chosen: list[str | None] = [query if query in known else None for query in queries]
    ratios = np.array([float(name is not None) for name in chosen])
    others = [row for row, name in enumerate(chosen) if name is None]
    size = max(1, BLOCK_CELLS // len(names))
    for begin in range(0, len(others), size):
        rows = others[begin : begin + size]
        asked = [queries[row] for row in rows]
        both = np.array(list(map(len, asked)))[:, None] + lengths
        # No name with a ratio above the least is farther, so comparisons may end there.
        farthest = int((1 - ratio) * both.max()) + 1
        distances = cdist(
            asked, names, scorer=Indel.distance, dtype=np.int64, score_cutoff=farthest
        )
        shares = (both - distances) / both
        best = shares.argmax(axis=1)
        for row, name, share in zip(rows, best.tolist(), shares.max(axis=1).tolist(), strict=True):
            if share > ratio:
                chosen[row], ratios[row] = names[name], share
    return chosen, ratios
