"""The one name that is closest to a query, by the ratio of the protocol of 2015."""

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
    """The name closest to each query, if it is close enough.

    Parameters
    ----------
    queries, names : sequence of str
        Names; those to choose from are distinct.
    ratio : float
        Close enough is above this.

    Returns
    -------
    names : list of str or None
        The first in the order of code points of those that are closest; none where none is close
        enough.
    ratios : ndarray of float64, shape (n_queries,)
        How close it is; 0 where there is none.

    Examples
    --------
    >>> names, ratios = closest(['ann_lee', 'bob'], ['ann_leee', 'anne_lee', 'rob'], 0.9)
    >>> names, ratios.round(3).tolist()
    (['ann_leee', None], [0.933, 0.0])
    """
    names = sorted(names)
    lengths = np.array(list(map(len, names)))
    known = set(names)
    chosen: list[str | None] = [
        query if query in known and ratio < 1 else None for query in queries
    ]
    ratios = np.array([float(name is not None) for name in chosen])
    others = [row for row, name in enumerate(chosen) if name is None]
    size = max(1, BLOCK_CELLS // len(names))
    for begin in range(0, len(others), size):
        rows = others[begin : begin + size]
        asked = [queries[row] for row in rows]
        both = np.array(list(map(len, asked)))[:, None] + lengths
        enough = int((1 - ratio) * both.max()) + 1  # a name that is farther is not close enough
        distances = cdist(asked, names, scorer=Indel.distance, dtype=np.int64, score_cutoff=enough)
        shares = (both - distances) / both
        best = shares.argmax(axis=1)
        for row, name, share in zip(rows, best.tolist(), shares.max(axis=1).tolist(), strict=True):
            if share > ratio:
                chosen[row], ratios[row] = names[name], share
    return chosen, ratios
