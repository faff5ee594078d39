"""Rankings down to a depth and on to the end of the ties there, with the relevant shots in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences, run_starts
from mediaeval_ap.definitions import Repeats
from mediaeval_ap.ranking.distances import Distances
from mediaeval_ap.ranking.frozen_ranking import Ranking


class Listing(NamedTuple):
    """The first hypotheses for a query, best first, repeated shots too, in whole blocks of ties."""

    places: NDArray[np.int64]  # of the ranking
    shots: NDArray[np.integer]
    distances: NDArray[np.float64]
    relevant: NDArray[np.int64]  # positions of the hypotheses of relevant shots, from 0
    distance_starts: NDArray[np.int64]  # positions at which blocks of equal distance begin
    tie_starts: NDArray[np.int64]  # … of equal distance and confidence


def list_first(
    ranking: Ranking,
    distances: Distances,
    depth: int,
    repeats: Repeats,
    relevant_shots: NDArray[np.int64],
) -> Listing:
    """List hypotheses down to a depth, which counts shots where repeated ones are dropped."""
    places = _down_to(ranking, distances, depth, repeats)
    if 0 < len(places) < len(ranking):
        places = np.concatenate([places, ranking.rest_of_ties(int(places[-1]), distances)])
    shots = ranking.shot_at[places]
    is_relevant = np.zeros(ranking.n_shots, dtype=np.bool_)
    is_relevant[relevant_shots] = True
    at = distances[ranking.name_at[places]]
    ties = run_starts([at, ranking.confidence_at[places]])
    return Listing(places, shots, at, is_relevant[shots].nonzero()[0], run_starts([at]), ties)


def _down_to(
    ranking: Ranking, distances: Distances, depth: int, repeats: Repeats
) -> NDArray[np.int64]:
    wanted = depth
    while True:
        places = ranking.top(distances, wanted)
        is_enough = repeats is not Repeats.DROP or len(places) == len(ranking)
        if is_enough or len(np.unique(ranking.shot_at[places])) >= depth:
            return places
        wanted *= 2


class Hits(NamedTuple):
    """Positions of hits in the ranking of a query as the definition has it, from 0."""

    scored: NDArray[np.int64]  # all that the definition counts
    first: NDArray[np.int64]  # the first of each relevant shot
    tie_starts: NDArray[np.int64]  # where the ties of each of these begin
    distance_starts: NDArray[np.int64]  # where their block of equal distance begins
    last_start: int  # where the last block of equal distance begins
    last_distance: float


def hits_of(listing: Listing, repeats: Repeats) -> Hits:
    """Find the hits of a listing, in which something is."""
    first = listing.relevant[first_occurrences(listing.shots[listing.relevant])]
    scored = listing.relevant if repeats is Repeats.COUNT else first
    ties, equal = listing.tie_starts, listing.distance_starts
    tie_starts = ties[ties.searchsorted(first, side='right') - 1]
    distance_starts = equal[equal.searchsorted(first, side='right') - 1]
    last = equal[-1:]
    if repeats is Repeats.DROP:  # positions among the shots that are not dropped
        kept = first_occurrences(listing.shots)
        scored, first, tie_starts, distance_starts, last = (
            kept.searchsorted(each) for each in (scored, first, tie_starts, distance_starts, last)
        )
    last_distance = float(listing.distances[-1])
    return Hits(scored, first, tie_starts, distance_starts, int(last[0]), last_distance)
