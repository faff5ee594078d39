"""Examine a run query by query: the ranks of its relevant shots and their names in the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import compress, pairwise
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats, first_occurrences, ranges, run_starts
from mediaeval_ap.definitions import Definition, Repeats
from mediaeval_ap.diagnosis.findings import Before, RankedHypothesis, RelevantShot
from mediaeval_ap.diagnosis.loss import (
    CONFUSED,
    COPRESENT,
    NOISE,
    OWN,
    PART_OF_NAME,
    SHOT_KINDS,
    SPELLING,
    RelevantHypotheses,
    RepairableHits,
    ReturnedShots,
    gains,
    repairable_hits,
    shots_of,
    tie_ranks,
)
from mediaeval_ap.diagnosis.ties import TiedHits, join_rankings, tied_hits
from mediaeval_ap.errors import printable, shown
from mediaeval_ap.evaluation.listing import NONE, Listing, RankingFacts, WholeListing
from mediaeval_ap.evaluation.prepared_run import PreparedRun
from mediaeval_ap.evaluation.relevance import without_placeholders
from mediaeval_ap.metrics.ap_of_hits import RankedHits
from mediaeval_ap.progress import tracked
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.results.notes import notes_of_judged
from mediaeval_ap.tables.layouts import SHOT_FIELDS

Reader: TypeAlias = Callable[[WholeListing], object]


class ExaminedQueries(NamedTuple):
    """The relevant shots of some queries in a run, and the facts about each ranking."""

    hypotheses: RelevantHypotheses
    kinds: NDArray[np.int64]  # one for each hypothesis
    hits: RepairableHits
    ties: list[TiedHits]  # of equal confidence, then of equal temporal rank, too
    facts: list[RankingFacts]  # of each query
    # By query and name near it, as numbers: the ranks of the hits, from 1, if this name, and
    # nothing else, is corrected to the query.
    corrected: dict[tuple[int, int], NDArray[np.int64]]


def _tied_hits_of_levels(
    listing: WholeListing, definition: Definition
) -> tuple[TiedHits, TiedHits]:
    """Return the tied hits of equal confidence, and of equal temporal rank, too."""
    is_start = np.zeros(len(listing.places), dtype=np.bool_)
    is_start[listing.tie_starts] = True
    is_start[run_starts([listing.ranking.temporal_rank_at[listing.places]])] = True
    starts = is_start.nonzero()[0]
    shots, relevant, repeats = listing.shots, listing.relevant, definition.repeats
    equal_confidence = tied_hits(shots, listing.tie_starts, relevant, repeats)
    if len(starts) == len(listing.tie_starts):
        return equal_confidence, equal_confidence
    return equal_confidence, tied_hits(shots, starts, relevant, repeats)


class ExaminedRun:
    """A run with its criteria, to be examined for queries; a queried name counts as a person."""

    def __init__(self, run: PreparedRun, queries: Sequence[str], near: float) -> None:
        self.criteria = run.criteria
        self.lister = run.lister
        self.counts = run.counts
        self.ranking: Ranking = run.ranking
        self._near = near
        ranking = run.ranking
        reference = run.criteria.reference
        self._places_by_shot = np.argsort(ranking.shot_at[:], kind='stable')
        self._n_of_shot = np.bincount(ranking.shot_at[:], minlength=len(ranking.shots))
        self._starts = np.cumsum(self._n_of_shot) - self._n_of_shot
        # A query is a person, too, even if the reference lacks it.
        persons = {*reference.queries, *without_placeholders(queries)}
        names = ranking.names.values
        self._is_person = np.array([name in persons for name in names], dtype=np.bool_)
        code_of = {name: code for code, name in enumerate(names)}
        column = reference.table['person_name']
        name_codes = np.array([code_of.get(name, -1) for name in column.values])[column.codes]
        shots = ranking.shots.find(reference.table)
        is_in_run = (name_codes >= 0) & (shots >= 0)
        self._right_pairs = np.unique(name_codes[is_in_run] * len(ranking.shots) + shots[is_in_run])

    def examine(
        self, queries: Sequence[str], depth: int, reader: Reader | None = None
    ) -> ExaminedQueries:
        """Find relevant shots, with exact ranks down to a depth; `reader` reads each listing."""
        definition = self.criteria.definition
        hypotheses = self._relevant_hypotheses(queries)
        ends = np.bincount(hypotheses.query, minlength=len(queries)).cumsum().tolist()
        spans = list(map(slice, [0, *ends[:-1]], ends))
        # Without a reader, a query is not ranked if the run has none of its relevant shots.
        is_ranked = [reader is not None or span.start < span.stop for span in spans]
        judged = None if self.criteria.has_names else self.lister.judged
        if judged is not None:  # without unjudged documents, later ones stand above the cutoff
            depth = max(1, len(self.ranking))
        listings = self.lister.whole_listings(list(compress(queries, is_ranked)), depth)
        nothing_tied = join_rankings([])
        all_facts = []
        tie_starts = []  # the `tie_ranks` of each query
        ties = []
        unjudged = []  # the number of unjudged documents before each hit of a topic
        corrected: dict[tuple[int, int], NDArray[np.int64]] = {}
        for number, query in enumerate(tracked(queries, 'explaining', ' queries')):
            if is_ranked[number]:
                listing = next(listings)
                if reader is not None:
                    reader(listing)
            span = spans[number]
            if span.start == span.stop:
                ranking = self.lister.ranking_of(query)
                all_facts.append(self.lister.facts_without_hits(query, ranking))
                tie_starts.append(NONE)
                unjudged.append(NONE)
                ties.append((nothing_tied, nothing_tied))
                continue
            hypotheses.distance[span] = listing.distances[hypotheses.name[span]]
            of_query = RelevantHypotheses._make(column[span] for column in hypotheses)
            for name in self._near_names(of_query):
                corrected[number, name] = self._ranks_if_corrected(listing, name)
            all_facts.append(listing.facts)
            tie_starts.append(tie_ranks(listing, definition))
            ties.append(_tied_hits_of_levels(listing, definition))
            if judged is not None:
                is_unjudged = ~judged.mask(query)[listing.shots]
                unjudged.append(np.append(0, is_unjudged.cumsum())[tie_starts[-1] - 1])
        # Under another topic of TREC, a document answers no query.
        is_answer = hypotheses.distance < np.inf
        hypotheses = RelevantHypotheses._make(column[is_answer] for column in hypotheses)
        kinds = self._kinds(hypotheses, queries)
        shots = shots_of(hypotheses, kinds)
        if judged is None:
            unjudged = []
        return ExaminedQueries(
            hypotheses,
            kinds,
            repairable_hits(shots, all_facts, tie_starts, unjudged, definition=definition),
            ties=list(map(join_rankings, zip(*ties, strict=True))),
            facts=all_facts,
            corrected=corrected,
        )

    def _relevant_hypotheses(self, queries: Sequence[str]) -> RelevantHypotheses:
        """Return the hypotheses about the relevant shots of queries, without distances."""
        shots = [np.unique(self.lister.relevance.relevant_shots(query)) for query in queries]
        query = np.repeat(np.arange(len(shots)), list(map(len, shots)))
        shot = np.concatenate([*shots, np.empty(0, dtype=np.int64)])
        sizes = self._n_of_shot[shot]
        place = self._places_by_shot[ranges(self._starts[shot], sizes)]
        distance = np.full(len(place), np.nan)
        name = self.ranking.name_at[place]
        return RelevantHypotheses(query.repeat(sizes), shot.repeat(sizes), place, name, distance)

    def _kinds(self, hypotheses: RelevantHypotheses, queries: Sequence[str]) -> NDArray[np.int64]:
        """Return the kind of each hypothesis about a relevant shot, as an index in SHOT_KINDS."""
        pairs = hypotheses.name.astype(np.int64) * len(self.ranking.shots) + hypotheses.shot
        person = np.where(np.isin(pairs, self._right_pairs), COPRESENT, CONFUSED)
        kinds = np.where(self._is_person[hypotheses.name], person, NOISE)
        kinds[hypotheses.distance <= self._near] = SPELLING
        kinds[hypotheses.distance == 0] = OWN
        words_of = cache(words)  # cached only for this call, as names are many
        for row in (kinds == NOISE).nonzero()[0].tolist():
            name = self.ranking.names.values[int(hypotheses.name[row])]
            query = queries[int(hypotheses.query[row])]
            if not words_of(name).isdisjoint(words_of(query)):
                kinds[row] = PART_OF_NAME
        return kinds

    def _near_names(self, hypotheses: RelevantHypotheses) -> list[int]:
        """Return the names near the query with relevant shots that the query itself lacks."""
        is_near = (hypotheses.distance > 0) & (hypotheses.distance <= self._near)
        if not is_near.any():  # true for most queries
            return []
        own_shots = hypotheses.shot[hypotheses.distance == 0]
        is_near &= ~np.isin(hypotheses.shot, own_shots)
        names: list[int] = np.unique(hypotheses.name[is_near]).tolist()
        return names

    def _ranks_if_corrected(self, listing: WholeListing, name: int) -> NDArray[np.int64]:
        """Return the ranks of the hits, from 1, if hypotheses under a name were under the query."""
        ranking = listing.ranking
        name_at = ranking.name_at[listing.places]
        merged_names = np.append(np.unique(name_at[listing.distances[name_at] == 0]), name)
        # Nothing else moves: hypotheses that are not listed stay behind the largest cutoff.
        other_places = listing.places[~np.isin(name_at, merged_names)]
        shots = ranking.shot_at[np.append(ranking.under_one_name(merged_names), other_places)]
        if self.criteria.definition.repeats is Repeats.DROP:
            shots = shots[first_occurrences(shots)]
        return self.lister.relevance.hits(listing.query, shots) + 1

    def shot_id(self, number: int) -> str:
        """Return corpus, video and shot of a numbered shot, as people read them."""
        ids = self.ranking.shots.ids_of(np.array([number]))
        return printable('/'.join(text for (text,) in ids.values() if text))


def words(name: str) -> frozenset[str]:
    """Return the words of a name: letters and digits in a row, without regard to case."""
    spaced = ''.join(character if character.isalnum() else ' ' for character in name)
    return frozenset(word.casefold() for word in spaced.split())


def ranked_hypotheses(run: ExaminedRun, listing: Listing) -> list[RankedHypothesis]:
    columns = run.ranking.columns_at(listing.places, listing.distances)
    judged = None
    are_judged: list[Any] = [None] * len(listing.places)
    if run.lister.judged is not None:
        judged = run.lister.judged.mask(listing.query)[listing.shots]
        are_judged = judged.tolist()
    keys = columns['distance'], columns['confidence']
    before = _misses_before_hits(listing.hits, *keys, judged)  # type: ignore[arg-type]
    lists = (column if isinstance(column, list) else column.tolist() for column in columns.values())
    rows: Iterator[Any] = zip(*lists, strict=True)
    hypotheses = []
    for rank, (row, is_judged) in enumerate(zip(rows, are_judged, strict=True), 1):
        values = (rank, *row, rank in before, before.get(rank), is_judged)
        hypotheses.append(RankedHypothesis(*values))
    return hypotheses


def _misses_before_hits(
    hits: NDArray[np.int64],
    distances: Floats,
    confidences: Floats,
    judged: NDArray[np.bool_] | None,
) -> dict[int, Before]:
    """Return the misses before each hit, by the rank of the hit; `hits` are positions from 0."""
    if not len(hits):
        return {}
    distance_starts = run_starts([distances])
    tie_starts = run_starts([distances, confidences])
    distance_begins = distance_starts[distance_starts.searchsorted(hits, side='right') - 1]
    tie_begins = tie_starts[tie_starts.searchsorted(hits, side='right') - 1]
    is_hit = np.zeros(len(distances), dtype=np.bool_)
    is_hit[hits] = True
    n_misses = np.append(0, (~is_hit).cumsum())  # before each position
    nearer = n_misses[distance_begins]
    untied = n_misses[tie_begins]
    counts = [nearer.tolist(), (untied - nearer).tolist(), (n_misses[hits] - untied).tolist()]
    if judged is not None:
        counts.append(np.append(0, (~judged).cumsum())[hits].tolist())
    return dict(zip((hits + 1).tolist(), map(Before, *counts), strict=True))


def relevant_shots(
    run: ExaminedRun, listing: Listing, examined: ExaminedQueries, depth: int
) -> list[RelevantShot]:
    """Return the relevant shots of a query that was examined alone: by rank, then absent ones."""
    column = run.criteria.reference.table['person_name']
    if listing.query not in column.code_of:
        return []
    rows = run.criteria.reference.table.select(column.codes == column.code_of[listing.query])
    ids: list[Any] = list(zip(*map(rows.texts, SHOT_FIELDS), strict=True))
    numbers = run.ranking.shots.find(rows)
    ids_by_shot = dict(zip(numbers.tolist(), ids, strict=True))
    hypotheses = examined.hypotheses
    values = run.ranking.names.values
    names: dict[int, dict[str, None]] = {}  # of each shot, in the order of the ranking
    for row in np.lexsort((hypotheses.place, hypotheses.distance)).tolist():
        names.setdefault(int(hypotheses.shot[row]), {})[values[hypotheses.name[row]]] = None
    shot_gains = _gains_in_order(run, examined, depth)
    returned_shots = examined.hits.shots
    ranks = _ranks_in_run(run, listing, returned_shots)
    returned = zip(returned_shots.shot.tolist(), returned_shots.kind.tolist(), ranks, strict=True)
    shots = []
    for (number, kind, rank), gain in zip(returned, shot_gains, strict=False):
        corpus, video, shot = ids_by_shot[number]
        kind_name = SHOT_KINDS[kind]
        shots.append(RelevantShot(corpus, video, shot, rank, tuple(names[number]), kind_name, gain))
    is_absent = ~np.isin(numbers, returned_shots.shot)
    first_in_order = np.unique(Shots.of(rows).codes[is_absent], return_index=True)[1]
    absent = is_absent.nonzero()[0][first_in_order].tolist()
    for row, gain in zip(absent, shot_gains[len(shots) :], strict=True):
        corpus, video, shot = ids[row]
        shots.append(RelevantShot(corpus, video, shot, None, (), 'absent', gain))
    return shots


def notes_of_query(run: ExaminedRun, query: str) -> list[str]:
    """Return notes on judgements and, if no shot is relevant, on this and the nearest name."""
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


def _gains_in_order(run: ExaminedRun, examined: ExaminedQueries, depth: int) -> list[float]:
    """Return the AP that the repair of each shot adds: returned shots by rank, then absent ones."""
    hits = examined.hits
    definition = run.criteria.definition

    def all_in_front(n_shots: int) -> float:
        ranks = np.arange(1, n_shots + 1)
        n_ranked = hits.n_ranked + n_shots - n_returned
        in_front = RankedHits(np.zeros_like(ranks), ranks, hits.n_relevant, n_ranked)
        return float(in_front.ap([depth], definition)[0, 0])

    gains_of_returned: list[float] = gains(hits, [depth], definition)[:, 0].tolist()
    n_returned = len(gains_of_returned)
    n_shots = range(n_returned, int(hits.n_distinct[0]) + 1)
    values = list(map(all_in_front, n_shots))
    return gains_of_returned + [after - before for before, after in pairwise(values)]


def _ranks_in_run(run: ExaminedRun, listing: Listing, shots: ReturnedShots) -> list[int]:
    """Return the rank of each shot in the ranking of the whole run, counted as defined."""
    ranking = cast(Ranking, listing.ranking)
    distances = listing.distances[ranking.name_at[:]]
    is_candidate = distances <= shots.distance.max(initial=-1)
    is_ranked = np.zeros(len(distances), dtype=np.bool_)
    is_ranked[ranking.places[:]] = True
    places = (is_candidate & is_ranked).nonzero()[0]
    places = places[np.argsort(distances[places], kind='stable')]
    if run.criteria.definition.repeats is Repeats.DROP:
        places = places[first_occurrences(ranking.shot_at[places])]
    rank_at = np.empty(len(distances), dtype=np.int64)
    rank_at[places] = np.arange(1, len(places) + 1)
    ranks: list[int] = rank_at[shots.place].tolist()
    return ranks
