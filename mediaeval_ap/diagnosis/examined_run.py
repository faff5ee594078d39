"""A run that is examined query by query: where its relevant shots stand, and under which names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences, ranges, run_starts
from mediaeval_ap.definitions import Cutoff, Repeats, depths
from mediaeval_ap.diagnosis.findings import Before, RankedHypothesis, RelevantShot
from mediaeval_ap.diagnosis.loss import (
    CONFUSED,
    COPRESENT,
    KINDS,
    NO_RANKS,
    NOISE,
    OWN,
    PART_OF_NAME,
    SPELLING,
    Ranks,
    Returned,
    ReturnedShots,
    ShotCounts,
    gains,
    ranks_of,
    shots_of,
    tie_ranks,
)
from mediaeval_ap.diagnosis.other_definitions import Facts, Listing, list_first
from mediaeval_ap.diagnosis.ties import TiedHits, put_together, tied_hits
from mediaeval_ap.errors import printable, shown
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.relevance import without_placeholders
from mediaeval_ap.evaluation.scoring import PreparedRun
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.progress import tracked
from mediaeval_ap.ranking.edit_distances import Distances
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.results.result import notes_of_judged
from mediaeval_ap.tables import HYPOTHESIS


class Found(NamedTuple):
    """Findings about some queries."""

    returned: Returned
    kinds: NDArray[np.int64]  # of each hypothesis in `returned`
    shots: ReturnedShots
    ranks: Ranks
    counts: ShotCounts
    tied: list[TiedHits]  # of equal confidence, then of equal temporal rank, too
    facts: list[Facts]  # of each query
    # By the numbers of a query and of a name near it: the ranks of the hits, from 1, if this name,
    # and nothing else, is made that of the query.
    corrected: dict[tuple[int, int], NDArray[np.int64]]


class ExaminedRun:
    """A run, its criteria, and the distinct queries whose names are persons."""

    def __init__(
        self, criteria: Criteria, run: PreparedRun, queries: Sequence[str], near: float
    ) -> None:
        self.criteria = criteria
        self.scorer = run.scorer
        self.counts = run.counts
        self.ranking: Ranking = run.ranking
        self._near = near
        ranking = run.ranking
        reference = criteria.reference
        self._places = np.argsort(ranking.shot_at, kind='stable')
        self._held = np.bincount(ranking.shot_at, minlength=len(ranking.shots))
        self._starts = np.cumsum(self._held) - self._held
        # A query is a person, too, whether the reference has it or not.
        persons = {*reference.queries, *without_placeholders(queries)}
        names = ranking.names.values
        self._is_person = np.array([name in persons for name in names], dtype=np.bool_)
        code = {name: code for code, name in enumerate(names)}
        column = reference.table['person_name']
        name = np.array([code.get(each, -1) for each in column.values])[column.codes]
        shot = ranking.shots.find(reference.table)
        is_known = (name >= 0) & (shot >= 0)
        self._right = np.unique(name[is_known] * len(ranking.shots) + shot[is_known])

    def ranking_of(self, query: str) -> Ranking:
        """Return what is ranked for a query, which is not live."""
        ranking = self.scorer.ranking_of(query)
        assert isinstance(ranking, Ranking)
        return ranking

    def find(self, queries: Sequence[str], depth: int) -> Found:
        """Find the relevant shots of distinct queries, with their exact ranks down to a depth."""
        reference = self.criteria.reference
        definition = self.criteria.definition
        returned = self._returned(queries)
        ends = np.bincount(returned.query, minlength=len(queries)).cumsum().tolist()
        spans = list(map(slice, [0, *ends[:-1]], ends))
        # A query none of whose relevant shots is in the run is not ranked.
        ranked = [query for query, at in zip(queries, spans, strict=True) if at.start < at.stop]
        distances_of = iter(self.ranking.names.distances_from(ranked))
        n_ranked = []
        nothing_tied = put_together([])
        ties = []
        tied = []
        facts = []
        corrected = {}
        for number, query in enumerate(tracked(queries, 'explaining', ' queries')):
            at = spans[number]
            ranking = self.ranking_of(query)
            of_reference = reference.n_rows(query), reference.n_shots(query)
            sizes = (*of_reference, len(ranking), ranking.n_shots)
            n_ranked.append(sizes[3] if definition.repeats is Repeats.DROP else sizes[2])
            if at.start == at.stop:
                ties.append(NO_RANKS)
                tied.append([nothing_tied] * 2)
                facts.append(Facts(NO_RANKS, NO_RANKS, NO_RANKS, 0, *sizes))
                continue
            distances = next(distances_of)
            returned.distance[at] = distances[returned.name[at]]
            of_query = Returned._make(column[at] for column in returned)
            listing = list_first(ranking, distances, depth, of_query.shot)
            facts.append(Facts.of(listing, depth, *sizes))
            ties.append(tie_ranks(listing, facts[-1], definition))
            is_start = np.zeros(len(listing.places), dtype=np.bool_)
            is_start[listing.tie_starts] = True
            is_start[run_starts([ranking.temporal_rank_at[listing.places]])] = True
            tied.append(
                [
                    tied_hits(listing.shots, starts, listing.relevant, definition.repeats)
                    for starts in (listing.tie_starts, is_start.nonzero()[0])
                ]
            )
            for name in self._near_names(of_query):
                if_corrected = self._ranks_if_corrected(query, ranking, listing, distances, name)
                corrected[number, name] = if_corrected
        kinds = self._kinds(returned, queries)
        shots = shots_of(returned, kinds)
        counts = ShotCounts(
            np.array([reference.n_relevant(query) for query in queries]),
            np.array([reference.n_shots(query) for query in queries]),
            np.array(n_ranked, dtype=np.int64),
        )
        together = [put_together(each) for each in zip(*tied, strict=True)]
        ranks = ranks_of(shots, facts, ties, definition, counts.ranked)
        return Found(returned, kinds, shots, ranks, counts, together, facts, corrected)

    def _returned(self, queries: Sequence[str]) -> Returned:
        """Return the hypotheses about the relevant shots of queries, without distances."""
        shots = [np.unique(self.scorer.relevance.relevant_shots(query)) for query in queries]
        query = np.repeat(np.arange(len(shots)), list(map(len, shots)))
        shot = np.concatenate([*shots, np.empty(0, dtype=np.int64)])
        sizes = self._held[shot]
        place = self._places[ranges(self._starts[shot], sizes)]
        unknown = np.full(len(place), np.nan)
        name = self.ranking.name_at[place]
        return Returned(query.repeat(sizes), shot.repeat(sizes), place, name, unknown)

    def _kinds(self, returned: Returned, queries: Sequence[str]) -> NDArray[np.int64]:
        """Return the number in KINDS of each hypothesis about a relevant shot."""
        pairs = returned.name.astype(np.int64) * len(self.ranking.shots) + returned.shot
        person = np.where(np.isin(pairs, self._right), COPRESENT, CONFUSED)
        kinds = np.where(self._is_person[returned.name], person, NOISE)
        kinds[returned.distance <= self._near] = SPELLING
        kinds[returned.distance == 0] = OWN
        words_of = cache(words)  # as long as this call: names are many
        for row in (kinds == NOISE).nonzero()[0].tolist():
            name = self.ranking.names.values[int(returned.name[row])]
            if not words_of(name).isdisjoint(words_of(queries[int(returned.query[row])])):
                kinds[row] = PART_OF_NAME
        return kinds

    def _near_names(self, of_query: Returned) -> list[int]:
        """Return names near a query under which its shots were returned, but not under itself."""
        is_near = (of_query.distance > 0) & (of_query.distance <= self._near)
        if not is_near.any():  # so for most queries
            return []
        is_near &= ~np.isin(of_query.shot, of_query.shot[of_query.distance == 0])
        names: list[int] = np.unique(of_query.name[is_near]).tolist()
        return names

    def _ranks_if_corrected(
        self, query: str, ranking: Ranking, listing: Listing, distances: Distances, name: int
    ) -> NDArray[np.int64]:
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


def words(name: str) -> frozenset[str]:
    """Return the words of a name: letters and digits in a row, without regard to case."""
    spaced = ''.join(character if character.isalnum() else ' ' for character in name)
    return frozenset(word.casefold() for word in spaced.split())


def ranking_of(run: ExaminedRun, query: str, k: Cutoff) -> list[RankedHypothesis]:
    """Return the ranking of a query down to a cutoff."""
    ((places, hits, distances),) = run.scorer.top([query], *depths([k]))
    columns = run.ranking.columns_at(places, distances)
    judged = None
    if run.scorer.judged is not None:
        judged = run.scorer.judged.mask(query)[run.ranking.shot_at[places]]
    keys = columns['distance'], columns['confidence']
    before = _before(hits, *keys, judged)  # type: ignore[arg-type]
    lists = (each if isinstance(each, list) else each.tolist() for each in columns.values())
    rows: Iterator[Any] = zip(*lists, strict=True)
    are_judged = [None] * len(places) if judged is None else judged.tolist()
    return [
        RankedHypothesis(*(rank, *row, rank in before, before.get(rank), is_judged))
        for rank, (row, is_judged) in enumerate(zip(rows, are_judged, strict=True), 1)
    ]


def _before(
    hits: NDArray[np.int64],
    distances: NDArray[np.float64],
    confidences: NDArray[np.float64],
    judged: NDArray[np.bool_] | None,
) -> dict[int, Before]:
    """Return what stands before each hit, by the rank of the hit."""
    if not len(hits):
        return {}
    equal = run_starts([distances])
    tied = run_starts([distances, confidences])
    equal = equal[equal.searchsorted(hits, side='right') - 1]
    tied = tied[tied.searchsorted(hits, side='right') - 1]
    is_hit = np.zeros(len(distances), dtype=np.bool_)
    is_hit[hits] = True
    others = np.append(0, (~is_hit).cumsum())  # before each position
    n_unjudged = [None] * len(hits) if judged is None else np.append(0, (~judged).cumsum())[hits]
    found = zip(hits.tolist(), others[equal], others[tied], others[hits], n_unjudged, strict=True)
    return {
        hit + 1: Before(
            *(int(nearer), int(sure - nearer), int(every - sure)),
            None if unjudged is None else int(unjudged),
        )
        for hit, nearer, sure, every, unjudged in found
    }


def relevant_shots(run: ExaminedRun, query: str, found: Found, depth: int) -> list[RelevantShot]:
    """Return the relevant shots of the one query of `found`: by rank, then those not returned."""
    column = run.criteria.reference.table['person_name']
    if query not in column.code_of:
        return []
    rows = run.criteria.reference.table.select(column.codes == column.code_of[query])
    ids: list[Any] = list(zip(*map(rows.texts, HYPOTHESIS.texts[:3]), strict=True))
    numbers = run.ranking.shots.find(rows)
    id_of = dict(zip(numbers.tolist(), ids, strict=True))
    returned = found.returned
    values = run.ranking.names.values
    names: dict[int, dict[str, None]] = {}  # of each shot, in the order of the ranking
    for row in np.lexsort((returned.place, returned.distance)).tolist():
        names.setdefault(int(returned.shot[row]), {})[values[returned.name[row]]] = None
    adds = _adds(run, found, depth)
    ranks = _ranks_in_run(run, query, found.shots)
    ranked = zip(found.shots.shot.tolist(), found.shots.kind.tolist(), ranks, strict=True)
    shots = [
        RelevantShot(*(*id_of[number], rank, tuple(names[number]), KINDS[kind], added))
        for (number, kind, rank), added in zip(ranked, adds, strict=False)
    ]
    is_absent = numbers < 0
    first_in_order = np.unique(Shots.of(rows).codes[is_absent], return_index=True)[1]
    absent = is_absent.nonzero()[0][first_in_order].tolist()
    return shots + [
        RelevantShot(*(*ids[row], None, (), 'absent', added))
        for row, added in zip(absent, adds[len(shots) :], strict=True)
    ]


def notes_of_query(run: ExaminedRun, query: str) -> list[str]:
    """Return that the reference has no such name, the nearest that it has, and about judgements."""
    reference = run.criteria.reference
    counts = run.counts
    notes = notes_of_judged(run.criteria.parameters, counts)
    if reference.n_relevant(query):
        return notes
    note = (
        f'{shown(query)} has no relevant shot in the reference: '
        f'AP is {run.criteria.definition.without_relevant:g}, whatever the run has'
    )
    nearest = None if reference.has(query) else reference.nearest(query)
    return [f'{note}; the nearest name there is {shown(nearest)}' if nearest else note, *notes]


def _adds(run: ExaminedRun, found: Found, depth: int) -> list[float]:
    """Return what the repair of each shot adds, after all that is repaired before it."""
    counts = found.counts
    definition = run.criteria.definition

    def all_in_front(n_shots: int) -> float:
        ranks = np.arange(1, n_shots + 1)
        n_ranked = counts.ranked + n_shots - n_returned
        ap = average_precision_of_hits(
            np.zeros_like(ranks), ranks, counts.relevant, n_ranked, [depth], definition
        )
        return float(ap[0, 0])

    added: list[float] = gains(found.shots, found.ranks, counts, [depth], definition)[:, 0].tolist()
    n_returned = len(added)
    values = [all_in_front(n_shots) for n_shots in range(n_returned, int(counts.shots[0]) + 1)]
    return added + [after - before for before, after in pairwise(values)]


def _ranks_in_run(run: ExaminedRun, query: str, shots: ReturnedShots) -> list[int]:
    """Return the rank of each shot in the ranking of the whole run, as the definition has it."""
    ranking = run.ranking_of(query)
    (distances,) = ranking.names.distances_from([query])
    at = distances[ranking.name_at]
    is_candidate = at <= shots.distance.max(initial=-1)
    is_ranked = np.zeros(len(at), dtype=np.bool_)
    is_ranked[ranking.places] = True
    places = (is_candidate & is_ranked).nonzero()[0]
    places = places[np.argsort(at[places], kind='stable')]
    if run.criteria.definition.repeats is Repeats.DROP:
        places = places[first_occurrences(ranking.shot_at[places])]
    rank_at = np.empty(len(at), dtype=np.int64)
    rank_at[places] = np.arange(1, len(places) + 1)
    ranks: list[int] = rank_at[shots.place].tolist()
    return ranks
