"""A run that is examined query by query: where its relevant shots stand, and under which names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.definitions import Repeats
from mediaeval_ap.diagnosis.listings import Hits, Listing, hits_of, list_first
from mediaeval_ap.diagnosis.loss import Counts, Ranks, ranks_of
from mediaeval_ap.diagnosis.name_kinds import NameKinds
from mediaeval_ap.diagnosis.returned_shots import Returned, ReturnedShots, ShotIndex, shots_of
from mediaeval_ap.diagnosis.ties import TiedHits, put_together, tied_hits
from mediaeval_ap.errors import printable
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.whole_run import CountedRun
from mediaeval_ap.progress import tracked
from mediaeval_ap.ranking.frozen_ranking import Ranking


class Found(NamedTuple):
    """Findings about some queries."""

    returned: Returned
    kinds: NDArray[np.int64]  # of each hypothesis in `returned`
    shots: ReturnedShots
    ranks: Ranks
    counts: Counts
    tied: list[TiedHits]  # of equal confidence, then of equal temporal rank, too


class ExaminedRun:
    """A run, its criteria, and the distinct queries whose names are persons."""

    def __init__(
        self, criteria: Criteria, run: CountedRun, queries: Sequence[str], near: float
    ) -> None:
        run.ranking.check_whole()
        self.criteria = criteria
        self.scorer = run.scorer
        self.ranking: Ranking = run.ranking
        self._index = ShotIndex(run.ranking)
        self._kinds = NameKinds(run.ranking, run.scorer.relevance, queries, near)

    def find(self, queries: Sequence[str], depth: int) -> Found:
        """Find the relevant shots of distinct queries, exactly where they stand down to a depth."""
        ranking, repeats = self.ranking, self.criteria.definition.repeats
        returned = self._index.returned(self.scorer.relevance, queries)
        ends = np.bincount(returned.query, minlength=len(queries)).cumsum().tolist()
        # A query none of whose relevant shots is in the run is not ranked.
        ranked = [
            query
            for query, begin, end in zip(queries, [0, *ends], ends, strict=False)
            if begin < end
        ]
        distances_of = iter(tracked(ranking.names.measured(ranked), 'explaining', ' queries'))
        hits: list[Hits | None] = []
        tied = []
        for begin, end in zip([0, *ends], ends, strict=False):
            if begin == end:
                hits.append(None)
                tied.append((NOTHING_TIED, NOTHING_TIED))
                continue
            distances = next(distances_of)
            returned.distance[begin:end] = distances[returned.name[begin:end]]
            relevant = returned.shot[begin:end]
            listing = list_first(ranking, distances, depth, repeats, relevant)
            hits.append(hits_of(listing, repeats))
            tied.append(_tied(listing, ranking, repeats))
        kinds = self._kinds.of(returned, queries)
        shots = shots_of(returned, kinds)
        both = [put_together(each) for each in zip(*tied, strict=True)]
        counts = self._counts(queries)
        return Found(returned, kinds, shots, ranks_of(shots, hits), counts, both)

    def shot_id(self, number: int) -> str:
        """Return corpus, video and shot of a numbered shot, as people read them."""
        ids = self.ranking.shots.ids_of(np.array([number]))
        return printable('/'.join(text for (text,) in ids.values()))

    def _counts(self, queries: Sequence[str]) -> Counts:
        reference, ranking = self.criteria.reference, self.ranking
        is_dropped = self.criteria.definition.repeats is Repeats.DROP
        return Counts(
            np.array([reference.n_relevant(query) for query in queries]),
            np.array([reference.n_shots(query) for query in queries]),
            ranking.n_shots if is_dropped else len(ranking),
        )


_nothing = np.empty(0, dtype=np.int64)
NOTHING_TIED = TiedHits(*[_nothing] * len(TiedHits._fields))


def _tied(listing: Listing, ranking: Ranking, repeats: Repeats) -> tuple[TiedHits, TiedHits]:
    """Return what can be a hit in ties of confidence, and in those of temporal rank, too."""
    times = ranking.temporal_rank_at[listing.places]
    is_start = np.zeros(len(listing.places), dtype=np.bool_)
    is_start[listing.tie_starts] = True
    is_start[run_starts([times])] = True
    shots, relevant = listing.shots, listing.relevant
    return (
        tied_hits(shots, listing.tie_starts, relevant, repeats),
        tied_hits(shots, is_start.nonzero()[0], relevant, repeats),
    )
