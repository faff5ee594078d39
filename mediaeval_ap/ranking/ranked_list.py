"""The ranked list behind a figure: the first hypotheses for a query and what ranked them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import HYPOTHESIS


def ranked_list(
    ranking: Ranking,
    places: NDArray[np.int64],
    hits: NDArray[np.int64],
    distances: NDArray[np.float64],
) -> dict[str, list[str] | NDArray[Any]]:
    """Return columns about the hypotheses at some places, best first.

    `hits` are the positions, from 0, of relevant ones among the places, `distances` those of the
    query to each name of the run.
    """
    rows = ranking.row_at[places]
    ranks = np.arange(1, len(rows) + 1)
    relevant = np.zeros(len(rows), dtype=np.bool_)
    relevant[hits] = True
    return {
        'rank': ranks,
        **{field: ranking.table.texts(field, rows) for field in HYPOTHESIS.texts},
        'distance': ranking.distances_at(places, distances),
        'confidence': ranking.table.confidence[rows],
        'temporal_rank': ranking.temporal_rank[rows],
        'relevant': relevant,
        'precision': np.cumsum(relevant) / ranks,
    }
