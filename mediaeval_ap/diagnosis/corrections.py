"""The ranks of a query's hits once a name near it is corrected: given the name of the query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences
from mediaeval_ap.definitions import Repeats
from mediaeval_ap.diagnosis.listings import Listing
from mediaeval_ap.diagnosis.returned_shots import Returned
from mediaeval_ap.evaluation.scoring import Scorer
from mediaeval_ap.ranking.edit_distances import Distances
from mediaeval_ap.ranking.frozen_ranking import Ranking


class Correction(NamedTuple):
    """A name near a query, and where the hits stand if it is corrected, and nothing else."""

    query: int  # number of the query
    name: int  # number of the name in the ranking
    ranks: NDArray[np.int64]  # from 1, as the definition counts them


def near_names(returned: Returned, near: float) -> NDArray[np.int32]:
    """Return the names near a query under which its shots were returned, but not under itself."""
    is_near = (returned.distance > 0) & (returned.distance <= near)
    if not is_near.any():  # as of most queries
        return returned.name[:0]
    is_near &= ~np.isin(returned.shot, returned.shot[returned.distance == 0])
    return np.unique(returned.name[is_near])


def corrected_ranks(
    scorer: Scorer,
    ranking: Ranking,
    query: str,
    listing: Listing,
    distances: Distances,
    names: NDArray[np.int32],
) -> Iterator[NDArray[np.int64]]:
    """Yield the ranks of the hits for each of some names, if it alone is corrected."""
    if not len(names):
        return
    name_at = ranking.name_at[listing.places]
    own = np.unique(name_at[distances[name_at] == 0])
    for name in names:
        together = np.append(own, name)
        # Nothing else moves: what is not listed stays behind the largest cutoff.
        others = listing.places[~np.isin(name_at, together)]
        shots = ranking.shot_at[np.append(ranking.under_one_name(together), others)]
        if scorer.definition.repeats is Repeats.DROP:
            shots = shots[first_occurrences(shots)]
        yield scorer.relevance.hits(query, shots) + 1
