"""Rankings down to a depth and on to the end of the ties there, with the relevant shots in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences, run_starts
from mediaeval_ap.ranking.edit_distances import Distances
from mediaeval_ap.ranking.frozen_ranking import Ranking


class Listing(NamedTuple):
    """The first hypotheses for a query, best first, repeated shots too, in whole blocks of ties."""

    places: NDArray[np.int64]  # of the ranking
    shots: NDArray[np.integer]
    kept: NDArray[np.int64]  # positions of the first hypothesis of each shot, from 0
    relevant: NDArray[np.int64]  # positions of the hypotheses of relevant shots
    tie_starts: NDArray[np.int64]  # positions at which blocks of equal distance, confidence begin


def list_first(
    ranking: Ranking, distances: Distances, depth: int, relevant_shots: NDArray[np.int64]
) -> Listing:
    """List hypotheses of as many shots as the depth: at least as many as any definition ranks."""
    places, kept = _down_to(ranking, distances, depth)
    if 0 < len(places) < len(ranking):
        rest = ranking.rest_of_ties(int(places[-1]), distances)
        if len(rest):
            places = np.concatenate([places, rest])
            kept = first_occurrences(ranking.shot_at[places])
    shots = ranking.shot_at[places]
    is_relevant = np.zeros(ranking.n_shots, dtype=np.bool_)
    is_relevant[relevant_shots] = True
    ties = run_starts([distances[ranking.name_at[places]], ranking.confidence_at[places]])
    return Listing(places, shots, kept, is_relevant[shots].nonzero()[0], ties)


def _down_to(
    ranking: Ranking, distances: Distances, depth: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of enough hypotheses, and the positions of the first of each shot."""
    wanted = depth
    while True:
        places = ranking.top(distances, wanted)
        kept = first_occurrences(ranking.shot_at[places])
        if len(kept) >= depth or len(places) == len(ranking):
            return places, kept
        wanted *= 2
