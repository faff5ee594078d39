"""The temporal rank of hypotheses: the third key of their order, after distance and confidence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.ranking.tie_breaking import in_order


def temporal_ranks(
    name: NDArray[np.integer],
    confidence: NDArray[Any],
    shot: NDArray[np.integer],
    video: NDArray[np.integer],
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The position of each shot among those that share its name, confidence and video.

    Parameters
    ----------
    name, confidence, shot : ndarray, shape (n,)
        As in `PlaceKeys`.
    video : ndarray of int, shape (n,)
        The place of the video in the order of video and corpus.

    Returns
    -------
    ranks : ndarray of int32, shape (n,)
        From 1.
    repeated : ndarray of bool, shape (n,)
        Which rows say again what a row before them in this order says.

    Examples
    --------
    >>> names, shots, videos = np.array([[0, 0, 0], [7, 3, 3], [1, 1, 1]])
    >>> ranks, repeated = temporal_ranks(names, np.full(3, -0.5), shots, videos)
    >>> ranks.tolist(), repeated.tolist()
    ([3, 1, 2], [False, False, True])
    """
    order = in_order(name, confidence, shot)
    columns = [column[order] for column in (name, confidence, video, shot)]
    begins = run_starts(columns[:3])
    sizes = np.diff(begins, append=len(order))
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(1, len(order) + 1) - begins.repeat(sizes)
    repeated = np.ones(len(order), dtype=np.bool_)
    repeated[order[run_starts(columns)]] = False
    return ranks, repeated
