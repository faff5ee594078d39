"""A run that is examined query by query: where its relevant shots stand, and under which names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences, run_starts
from mediaeval_ap.definitions import Cutoff, Repeats, depths
from mediaeval_ap.diagnosis.findings import Before, RankedHypothesis, RelevantShot
from mediaeval_ap.diagnosis.loss import (
    KINDS,
    HitRanks,
    NameKinds,
    Ranks,
    Returned,
    ReturnedShots,
    ShotCounts,
    ShotIndex,
    gains,
    hits_of,
    ranks_of,
    shots_of,
)
from mediaeval_ap.diagnosis.reconcile import Facts, Listing, Sizes, list_first
from mediaeval_ap.diagnosis.ties import TiedHits, put_together, tied_hits
from mediaeval_ap.errors import printable, shown
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.whole_run import CountedRun
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.progress import tracked
from mediaeval_ap.ranking.edit_distances import Distances
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.tables import HYPOTHESIS


class Correction(NamedTuple):
    """A name near a query, and where the hits stand if it is corrected, and nothing else."""

    query: int  # number of the query
    name: int  # number of the name in the ranking
    ranks: NDArray[np.int64]  # from 1, as the definition counts them


class Found(NamedTuple):
    """Findings about some queries."""

    returned: Returned
    kinds: NDArray[np.int64]  # of each hypothesis in `returned`
    shots: ReturnedShots
    ranks: Ranks
    counts: ShotCounts
    tied: list[TiedHits]  # of equal confidence, then of equal temporal rank, too
    facts: list[Facts]  # of each query
    corrections: list[Correction]


class _Examined(NamedTuple):
    """Findings about a query."""

    hits: HitRanks | None  # None where nothing was found
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
        is_start = np.zeros(len(listing.places), dtype=np.bool_)  # of ties of temporal rank, too
        is_start[listing.tie_starts] = True
        is_start[run_starts([ranking.temporal_rank_at[listing.places]])] = True
        equal_confidence, arbitrary = (
            tied_hits(listing.shots, starts, listing.relevant, definition.repeats)
            for starts in (listing.tie_starts, is_start.nonzero()[0])
        )
        # Names near the query under which its shots were returned, but not under itself.
        is_near = (returned.distance > 0) & (returned.distance <= self._kinds.near)
        if is_near.any():  # not so for most queries
            is_near &= ~np.isin(returned.shot, returned.shot[returned.distance == 0])
        corrections = [
            (name, self._ranks_if_corrected(query, listing, distances, name))
            for name in np.unique(returned.name[is_near]).tolist()
        ]
        hits = hits_of(listing, facts, definition)
        return _Examined(hits, (equal_confidence, arbitrary), facts, corrections)

    def _ranks_if_corrected(
        self, query: str, listing: Listing, distances: Distances, name: int
    ) -> NDArray[np.int64]:
        """Return the ranks of the hits if a name, and nothing else, is made that of the query."""
        ranking = self.ranking
        name_at = ranking.name_at[listing.places]
        together = np.append(np.unique(name_at[distances[name_at] == 0]), name)
        # Nothing else moves: what is not listed stays behind the largest cutoff.
        others = listing.places[~np.isin(name_at, together)]
        shots = ranking.shot_at[np.append(ranking.under_one_name(together), others)]
        if self.criteria.definition.repeats is Repeats.DROP:
            shots = shots[first_occurrences(shots)]
        return self.scorer.relevance.hits(query, shots) + 1

    def shot_id(self, number: int) -> str:
        """Return corpus, video and shot of a numbered shot, as people read them."""
        ids = self.ranking.shots.ids_of(np.array([number]))
        return printable('/'.join(text for (text,) in ids.values()))

    def _sizes(self, query: str) -> Sizes:
        reference, ranking = self.criteria.reference, self.ranking
        judged = reference.n_rows(query), reference.n_shots(query)
        return Sizes(*judged, len(ranking), ranking.n_shots)

    def _counts(self, queries: Sequence[str]) -> ShotCounts:
        reference, ranking = self.criteria.reference, self.ranking
        is_dropped = self.criteria.definition.repeats is Repeats.DROP
        return ShotCounts(
            np.array([reference.n_relevant(query) for query in queries]),
            np.array([reference.n_shots(query) for query in queries]),
            ranking.n_shots if is_dropped else len(ranking),
        )


_nothing = np.empty(0, dtype=np.int64)
NOTHING_TIED = (TiedHits(*[_nothing] * len(TiedHits._fields)),) * 2


def ranking_of(run: ExaminedRun, query: str, k: Cutoff) -> list[RankedHypothesis]:
    """Return the ranking of a query down to a cutoff."""
    ranking = run.ranking
    ((places, hits, distances),) = run.scorer.top([query], *depths([k]))
    columns = ranking.columns_at(places, distances)
    before = _before(hits, columns['distance'], columns['confidence'])  # type: ignore[arg-type]
    rows = zip(
        *(each if isinstance(each, list) else each.tolist() for each in columns.values()),
        strict=True,
    )
    return [
        RankedHypothesis(
            rank,
            corpus,
            video,
            shot,
            name,
            distance,
            confidence,
            time,
            rank in before,
            before.get(rank),
        )
        for rank, (corpus, video, shot, name, distance, confidence, time) in enumerate(rows, 1)
    ]


def _before(
    hits: NDArray[np.int64], distances: NDArray[np.float64], confidences: NDArray[np.float64]
) -> dict[int, Before]:
    """Return what stands before each hit, by the rank of the hit."""
    if not len(hits):
        return {}
    equal, tied = run_starts([distances]), run_starts([distances, confidences])
    equal = equal[equal.searchsorted(hits, side='right') - 1]
    tied = tied[tied.searchsorted(hits, side='right') - 1]
    is_hit = np.zeros(len(distances), dtype=np.bool_)
    is_hit[hits] = True
    others = np.append(0, (~is_hit).cumsum())  # before each position
    found = zip(hits.tolist(), others[equal], others[tied], others[hits], strict=True)
    return {
        hit + 1: Before(int(nearer), int(sure - nearer), int(every - sure))
        for hit, nearer, sure, every in found
    }


def relevant_shots(run: ExaminedRun, query: str, found: Found, depth: int) -> list[RelevantShot]:
    """Return the relevant shots of a query: those that were returned by rank, then the others.

    `found` is about this query alone.
    """
    column = run.criteria.reference.table['person_name']
    if query not in column.code_of:
        return []
    rows = run.criteria.reference.table.select(column.codes == column.code_of[query])
    ids = list(zip(*map(rows.texts, HYPOTHESIS.texts[:3]), strict=True))
    numbers = run.ranking.shots.find(rows)
    id_of = dict(zip(numbers.tolist(), ids, strict=True))
    adds = _adds(run, found, depth)
    names = _names(run, found)
    returned = zip(
        found.shots.shot.tolist(),
        found.shots.kind.tolist(),
        _ranks_in_run(run, query, found),
        adds,
        strict=False,
    )
    shots = []
    for number, kind, rank, added in returned:
        corpus, video, shot = id_of[number]
        named = names[number]
        shots.append(RelevantShot(corpus, video, shot, rank, named, KINDS[kind], added))
    is_absent = numbers < 0
    first_in_order = np.unique(Shots(rows).codes[is_absent], return_index=True)[1]
    absent = is_absent.nonzero()[0][first_in_order].tolist()
    for row, added in zip(absent, adds[len(shots) :], strict=True):
        corpus, video, shot = ids[row]
        shots.append(RelevantShot(corpus, video, shot, None, (), 'absent', added))
    return shots


def notes_of_query(run: ExaminedRun, query: str) -> list[str]:
    """Return that the reference has no such name, and the nearest that it has."""
    reference = run.criteria.reference
    if reference.n_relevant(query):
        return []
    note = (
        f'{shown(query)} has no relevant shot in the reference: '
        f'AP is {run.criteria.definition.without_relevant:g}, whatever the run has'
    )
    nearest = None if reference.has(query) else reference.nearest(query)
    return [f'{note}; the nearest name there is {shown(nearest)}' if nearest else note]


def _adds(run: ExaminedRun, found: Found, depth: int) -> list[float]:
    """Return what the repair of each shot adds, after all that is repaired before it."""
    counts, definition = found.counts, run.criteria.definition

    def all_in_front(n_shots: int) -> float:
        ranks, n_ranked = np.arange(1, n_shots + 1), counts.ranked + n_shots - n_returned
        ap = average_precision_of_hits(
            np.zeros_like(ranks), ranks, counts.relevant, n_ranked, [depth], definition
        )
        return float(ap[0, 0])

    added: list[float] = gains(found.shots, found.ranks, counts, [depth], definition)[:, 0].tolist()
    n_returned = len(added)
    values = [all_in_front(n_shots) for n_shots in range(n_returned, int(counts.shots[0]) + 1)]
    return added + [after - before for before, after in pairwise(values)]


def _ranks_in_run(run: ExaminedRun, query: str, found: Found) -> list[int]:
    """Return the rank of each shot in the ranking of the whole run, as the definition has it."""
    ranking, shots = run.ranking, found.shots
    (distances,) = ranking.names.measured([query])
    at = distances[ranking.name_at]
    is_candidate = at <= shots.distance.max(initial=-1)
    places = is_candidate.nonzero()[0]
    places = places[np.argsort(at[places], kind='stable')]
    if run.criteria.definition.repeats is Repeats.DROP:
        places = places[first_occurrences(ranking.shot_at[places])]
    rank_at = np.empty(len(ranking), dtype=np.int64)
    rank_at[places] = np.arange(1, len(places) + 1)
    ranks: list[int] = rank_at[shots.place].tolist()
    return ranks


def _names(run: ExaminedRun, found: Found) -> dict[int, tuple[str, ...]]:
    """Return the names under which each shot was returned, in the order of the ranking."""
    returned, values = found.returned, run.ranking.names.values
    names: dict[int, dict[str, None]] = {}
    for row in np.lexsort((returned.place, returned.distance)).tolist():
        names.setdefault(int(returned.shot[row]), {})[values[returned.name[row]]] = None
    return {shot: tuple(each) for shot, each in names.items()}
