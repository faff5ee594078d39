"""A run of a pool: of each ranking, what the pool and its bounds need, small enough to keep."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats
from mediaeval_ap.definitions import depths
from mediaeval_ap.evaluation.listing import NONE, Listing
from mediaeval_ap.evaluation.prepared_run import PreparedRun
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.tables.layouts import SHOT_FIELDS

ShotIds: TypeAlias = tuple[str, ...]  # corpus, video and shot


def shot_texts(shots: Shots, numbers: NDArray[np.integer]) -> list[ShotIds]:
    """Return corpus, video and shot of each shot, by its number."""
    ids = shots.ids_of(numbers)
    return list(zip(*(ids[field] for field in SHOT_FIELDS), strict=True))


class PooledHits(NamedTuple):
    """The hits and unjudged shots of one ranking, down to the last cutoff; ranks are from 1."""

    ranks: NDArray[np.int64]
    shots: NDArray[np.integer]
    unjudged_ranks: NDArray[np.int64]  # empty without judgements, as the next two
    unjudged_shots: NDArray[np.integer]
    judged_shares: Floats
    found: list[ShotIds]  # relevant shots that enter the pool
    pooled: dict[ShotIds, bool]  # with judgements, all shots that enter it: True if judged


class RankedRun:
    """The hits and unjudged shots of a run, which reads a listing of each query."""

    def __init__(self, run: PreparedRun, depth: int, near: float) -> None:
        self.run = run
        self.hits_by_query: dict[str, PooledHits] = {}
        self.n_ranked = 0  # N of the definitions, the same for all queries
        self._depth = depth
        self._near = near
        self._cutoffs = depths(run.criteria.K)

    def read(self, listing: Listing) -> None:
        """Keep the hits of a listing, and the shots that enter the pool."""
        run_shots = self.run.ranking.shots
        judged = self.run.lister.judged
        shots = listing.shots
        positions = listing.near_positions(self._depth, self._near)
        hits = listing.hits[listing.hits < max(self._cutoffs)]
        found = shot_texts(run_shots, shots[np.intersect1d(positions, listing.hits)])
        unjudged = NONE
        shares = np.empty(0)
        pooled = {}
        if judged is not None:
            mask = judged.mask(listing.query)
            unjudged = np.flatnonzero(~mask[shots[: max(self._cutoffs)]])
            shares = self.run.lister.share_judged(listing, self._cutoffs)
            numbers = np.unique(shots[positions])
            pooled = dict(zip(shot_texts(run_shots, numbers), mask[numbers].tolist(), strict=True))
        self.n_ranked = listing.n_ranked
        self.hits_by_query[listing.query] = PooledHits(
            ranks=hits + 1,
            shots=shots[hits],
            unjudged_ranks=unjudged + 1,
            unjudged_shots=shots[unjudged],
            judged_shares=shares,
            found=found,
            pooled=pooled,
        )
