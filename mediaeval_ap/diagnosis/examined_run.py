"""A run that is examined query by query: where its relevant shots stand, and under which names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.definitions import Repeats
from mediaeval_ap.diagnosis.corrections import Correction, corrected_ranks, near_names
from mediaeval_ap.diagnosis.listings import Listing, list_first
from mediaeval_ap.diagnosis.loss import Counts, Hits, Ranks, hits_of, ranks_of
from mediaeval_ap.diagnosis.name_kinds import NameKinds
from mediaeval_ap.diagnosis.reconcile import Facts, Sizes
from mediaeval_ap.diagnosis.returned_shots import Returned, ReturnedShots, ShotIndex, shots_of
from mediaeval_ap.diagnosis.ties import TiedHits, put_together, tied_hits
from mediaeval_ap.errors import printable
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.whole_run import CountedRun
from mediaeval_ap.progress import tracked
from mediaeval_ap.ranking.edit_distances import Distances
from mediaeval_ap.ranking.frozen_ranking import Ranking


class Found(NamedTuple):
    """Findings about some queries."""

    returned: Returned
    kinds: NDArray[np.int64]  # of each hypothesis in `returned`
    shots: ReturnedShots
    ranks: Ranks
    counts: Counts
    tied: list[TiedHits]  # of equal confidence, then of equal temporal rank, too
    facts: list[Facts]  # of each query
    corrections: list[Correction]


class _Examined(NamedTuple):
    """Findings about a query."""

    hits: Hits | None  # None where nothing was found
    tied: tuple[TiedHits, TiedHits]
    facts: Facts
    corrections: list[tuple[int, NDArray[np.int64]]]  # the name, and the ranks of the hits


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
        returned = self._index.returned(self.scorer.relevance, queries)
        ends = np.bincount(returned.query, minlength=len(queries)).cumsum().tolist()
        spans = list(map(slice, [0, *ends[:-1]], ends))
        # A query none of whose relevant shots is in the run is not ranked.
        ranked = [query for query, at in zip(queries, spans, strict=True) if at.start < at.stop]
        distances_of = iter(self.ranking.names.measured(ranked))
        examined = []
        for query, at in zip(tracked(queries, 'explaining', ' queries'), spans, strict=True):
            if at.start == at.stop:
                nothing = Facts.of(None, self._sizes(query), depth)
                examined.append(_Examined(None, NOTHING_TIED, nothing, []))
                continue
            distances = next(distances_of)
            returned.distance[at] = distances[returned.name[at]]
            examined.append(self._examine(query, returned.of_query(at), distances, depth))
        kinds = self._kinds.of(returned, queries)
        shots, counts = shots_of(returned, kinds), self._counts(queries)
        return Found(
            returned,
            kinds,
            shots,
            ranks_of(shots, [each.hits for each in examined], counts.ranked),
            counts,
            [put_together(each) for each in zip(*(each.tied for each in examined), strict=True)],
            [each.facts for each in examined],
            [
                Correction(number, name, ranks)
                for number, each in enumerate(examined)
                for name, ranks in each.corrections
            ],
        )

    def _examine(
        self, query: str, returned: Returned, distances: Distances, depth: int
    ) -> _Examined:
        """Rank the run for a query some of whose relevant shots are in it, and find its hits."""
        ranking, definition = self.ranking, self.criteria.definition
        listing = list_first(ranking, distances, depth, returned.shot)
        facts = Facts.of(listing, self._sizes(query), depth)
        names = near_names(returned, self._kinds.near)
        corrections = corrected_ranks(self.scorer, ranking, query, listing, distances, names)
        return _Examined(
            hits_of(listing, facts, definition),
            _tied(listing, ranking, definition.repeats),
            facts,
            list(zip(names.tolist(), corrections, strict=True)),
        )

    def shot_id(self, number: int) -> str:
        """Return corpus, video and shot of a numbered shot, as people read them."""
        ids = self.ranking.shots.ids_of(np.array([number]))
        return printable('/'.join(text for (text,) in ids.values()))

    def _sizes(self, query: str) -> Sizes:
        reference, ranking = self.criteria.reference, self.ranking
        judged = reference.n_rows(query), reference.n_shots(query)
        return Sizes(*judged, len(ranking), ranking.n_shots)

    def _counts(self, queries: Sequence[str]) -> Counts:
        reference, ranking = self.criteria.reference, self.ranking
        is_dropped = self.criteria.definition.repeats is Repeats.DROP
        return Counts(
            np.array([reference.n_relevant(query) for query in queries]),
            np.array([reference.n_shots(query) for query in queries]),
            ranking.n_shots if is_dropped else len(ranking),
        )


_nothing = np.empty(0, dtype=np.int64)
NOTHING_TIED = (TiedHits(*[_nothing] * len(TiedHits._fields)),) * 2


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
