"""Average precision of queries on one run, for sessions, batches and ranked lists alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import NEAR
from mediaeval_ap.definitions import Cutoff, Definition, Repeats, depths
from mediaeval_ap.errors import DataWarning, printable, shown
from mediaeval_ap.evaluation import data_warnings
from mediaeval_ap.evaluation.criteria import Criteria, in_subset, queries_or_default
from mediaeval_ap.evaluation.judged import Judged, JudgedShots
from mediaeval_ap.evaluation.relevance import Reference, Relevance
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.progress import tracked
from mediaeval_ap.ranking.base_ranking import BaseRanking
from mediaeval_ap.ranking.edit_distances import Distances
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.result import SKIPPED
from mediaeval_ap.tables import Provenance, Table

NO_HITS = np.empty(0, dtype=np.int64)


class Top(NamedTuple):
    """The first hypotheses for a query, best first."""

    places: NDArray[np.int64]  # their places in the ranking
    hits: NDArray[np.int64]  # the positions of relevant ones among them, from 0
    distances: Distances  # from the query to the names of the run

    def first(self, depth: int) -> Top:
        return Top(self.places[:depth], self.hits[self.hits < depth], self.distances)


class Scorer:
    """Scores queries on one run against one reference."""

    def __init__(
        self,
        ranking: BaseRanking,
        relevance: Relevance,
        K: Sequence[Cutoff],
        definition: Definition,
        judgements: Judged | None = None,
    ) -> None:
        self.ranking = ranking
        self.definition = definition
        self.relevance = relevance
        self._K = depths(K)
        self._distinct = definition.repeats is Repeats.DROP
        self.judged: JudgedShots | None = None
        self._is_condensed = judgements is not None and judgements.unjudged == 'skip'
        if judgements is not None:
            self.judged = JudgedShots(judgements, relevance.shots)
        self._condensed: BaseRanking | None = None  # if one list serves all queries

    def ranking_of(self, query: str) -> BaseRanking:
        """Return the run, or its condensed list for a query: a ranking without unjudged shots.

        Order and temporal ranks stay the same as in the whole run (T. Sakai, "Alternatives to
        Bpref", SIGIR 2007).
        """
        if self.judged is None or not self._is_condensed:
            return self.ranking
        if self._condensed is not None:
            return self._condensed
        ranking = self.ranking.condensed(self.judged.mask(query))
        if not self.judged.is_of_pairs:
            self._condensed = ranking
        return ranking

    def score(self, queries: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return average precision, shape (n_queries, n_cutoffs), and numbers of relevant shots."""
        # Ranking is the slow part, and a query without a relevant shot in the run has no hits.
        can_hit = [len(self.relevance.relevant_shots(query)) > 0 for query in queries]
        tops = self.top(list(compress(queries, can_hit)), max(self._K))
        needs_ranking = tracked(can_hit, 'scoring', ' queries')
        hits = [next(tops).hits if is_ranked else NO_HITS for is_ranked in needs_ranking]
        return self.score_hits(queries, hits)

    def score_and_judged(
        self, queries: Sequence[str]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
        """Score queries as `score` does, and count the judged share of the first k, by cutoff.

        The share is over the whole ranking, with the shots that condensed lists leave out.
        """
        assert self.judged is not None
        depth = max(self._K)
        tops = self.top(queries, depth)
        whole_tops = tops
        if self._is_condensed:
            whole_scorer = Scorer(self.ranking, self.relevance, self._K, self.definition)
            whole_tops = whole_scorer.top(queries, depth)
        hits = []
        shares = np.full((len(queries), len(self._K)), np.nan)
        for row, query in enumerate(tracked(queries, 'scoring', ' queries')):
            top = next(tops)
            places = (top if whole_tops is tops else next(whole_tops)).places
            hits.append(top.hits)
            shares[row] = self.share_judged(query, places)
        return *self.score_hits(queries, hits), shares

    def share_judged(self, query: str, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the judged share of the first k places, by cutoff; NaN if nothing is returned."""
        assert self.judged is not None
        if not len(places):
            return np.full(len(self._K), np.nan)
        is_judged = self.judged.mask(query)[self.ranking.shot_at[places]]
        n_places = np.minimum(self._K, len(places))
        shares: NDArray[np.float64] = is_judged.cumsum()[n_places - 1] / n_places
        return shares

    def score_hits(
        self, queries: Sequence[str], hits: Sequence[NDArray[np.int64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Score queries as `score` does, by the positions of hits in their rankings."""
        n_relevant = np.array([self.relevance.reference.n_relevant(query) for query in queries])
        n_returned: int | NDArray[np.int64] = self.n_ranked(self.ranking)
        if self._is_condensed:
            lengths = [self.n_ranked(self.ranking_of(query)) for query in queries]
            n_returned = np.array(lengths, dtype=np.int64)
        rankings = np.repeat(np.arange(len(hits)), list(map(len, hits)))
        ranks = np.concatenate(hits) + 1
        ap = average_precision_of_hits(
            rankings, ranks, n_relevant, n_returned, self._K, self.definition
        )
        return ap, n_relevant

    def n_ranked(self, ranking: BaseRanking) -> int:
        """Return the number of ranked hypotheses, or shots: N in the definitions."""
        return ranking.n_shots if self._distinct else len(ranking)

    def top(self, queries: Sequence[str], depth: int) -> Iterator[Top]:
        """Yield the first hypotheses for each query, down to a depth."""
        for query, distances in zip(
            queries, self.ranking.names.distances_from(queries), strict=True
        ):
            ranking = self.ranking_of(query)
            places = ranking.top(distances, depth, distinct=self._distinct)
            yield Top(places, self.relevance.hits(query, ranking.shot_at[places]), distances)


@dataclass(frozen=True, eq=False)
class PreparedRun:
    """The hypotheses of a run that are in the subset, ready to be ranked and scored."""

    criteria: Criteria
    ranking: Ranking
    n_read: int  # hypotheses, inside or outside the subset

    @cached_property
    def scorer(self) -> Scorer:
        relevance = Relevance(self.criteria.reference, self.ranking.shots)
        K = self.criteria.K
        definition = self.criteria.definition
        return Scorer(self.ranking, relevance, K, definition, self.criteria.judgements)

    def warnings_with(self, about_queries: Sequence[DataWarning]) -> list[DataWarning]:
        """Return the warnings that need no scores: about the run, and those about queries."""
        name = self.ranking.source.name
        n_hypotheses = len(self.ranking)
        warnings = data_warnings.empty_run(name, self.n_read, n_hypotheses)
        warnings += data_warnings.repeated_rows(
            name, n_hypotheses, self.ranking.n_repeated, are_kept=True
        )
        warnings += about_queries
        reference = self.criteria.reference
        ranking = self.ranking
        shots = self.ranking.shots
        if not n_hypotheses or not len(reference.table):
            return warnings
        if self.scorer.relevance.n_in_both:
            for field, ids in shots.ids.items():
                texts = f'{field}s', ids, reference.name, reference.table[field].values
                warnings += data_warnings.overlap(name, *texts, shares_an_id=True)
            if self.counts['names_in_reference'] or ranking.names.n_among(reference.elsewhere):
                return warnings
            about = name, 'names', ranking.names.values, reference.name, reference.names
            return warnings + data_warnings.overlap(*about, data_warnings.REMEDY_OF_NAMES)
        videos = f'{shots.n_videos_in(reference.table):,} of {shots.n_videos:,} videos'
        finding = f'0 of {ranking.n_shots:,} returned shots occur in {reference.name} ({videos})'
        cause = data_warnings.likely_cause_in_tables(ranking, reference.table)
        return warnings + data_warnings.no_overlap(name, finding, cause)

    @cached_property
    def counts(self) -> dict[str, int]:
        """The sizes of the reference, the run and the subset, by name."""
        reference = self.criteria.reference
        ranking = self.ranking
        shots = self.ranking.shots
        counts = {
            'reference_rows': len(reference.table),
            'hypotheses': len(ranking),
            'names': len(ranking.names),
            'names_in_reference': ranking.names.n_among(reference.names),
            'videos': shots.n_videos,
            'videos_in_reference': shots.n_videos_in(reference.table),
            'shots': ranking.n_shots,
            'shots_in_reference': self.scorer.relevance.n_in_both,
        }
        if self.criteria.subset is not None:
            counts['subset_videos'] = len(set(self.criteria.subset.rows()))
        judgements = self.criteria.judgements
        if judgements is not None:
            counts['judgements'] = len(judgements.table)
            if judgements.n_dropped is not None:
                counts['reference_rows_dropped'] = judgements.n_dropped
        return counts


def prepare_run(criteria: Criteria, run: Any) -> PreparedRun:
    """Read and index the hypotheses of a run that are in the subset."""
    ranking: Ranking
    if (store := criteria.open_run(run)) is not None:
        ranking = store.ranking
        n_read = store.manifest.counts.read
    else:
        table = criteria.read_run(run)
        n_read = len(table)
        hypotheses = in_subset(table, criteria.subset)
        is_ready = isinstance(run, Ranking) and len(hypotheses) == n_read
        ranking = run if is_ready else Ranking(hypotheses)
    return PreparedRun(criteria, ranking, n_read)


class SelectedQueries(NamedTuple):
    """The queries to score, the number of queries left out, warnings, and their source."""

    names: list[str]
    n_skipped: int
    warnings: list[DataWarning]
    source: Provenance | None = None  # None if they are the names of the reference


def select_queries(criteria: Criteria, queries: Table | None) -> SelectedQueries:
    """Return the queries in their order, by default the names of the reference."""
    reference = criteria.reference
    source = criteria.reference.table.source.name
    names, n_skipped, warnings, about_skipped = queries_or_default(
        queries, reference.queries, reference.names, source, criteria.queries_without_relevant
    )
    if queries is None:
        return SelectedQueries(names, n_skipped, warnings)
    distinct = queries['person_name'].values
    if not len(reference.table) or any(name in reference for name in distinct):
        warnings += reference.about_unknown(distinct)
    else:
        about = queries.source.name, 'queries', distinct, reference.name, reference.names
        warnings = data_warnings.overlap(*about, nearest_spelling(distinct, reference)) + warnings
    return SelectedQueries(names, n_skipped, warnings + about_skipped, queries.source)


def nearest_spelling(queries: Sequence[str], reference: Reference) -> str:
    """Describe a name that may be another spelling of one of the first queries, or return ''."""
    for query in queries[: data_warnings.QUERIES_IN_WARNING]:
        nearest = None if reference.has(query) else reference.nearest(query, NEAR)
        if nearest is not None:
            return f'the nearest to {shown(query)} is {shown(nearest)}'
    return ''


def evaluate_run(run: PreparedRun, queries: SelectedQueries) -> Evaluation:
    """Score a run on all selected queries."""
    evaluation = score_names(run, queries.names, queries.source)
    return finish_evaluation(evaluation, queries.n_skipped, run.warnings_with(queries.warnings))


def score_names(run: PreparedRun, names: list[str], source: Provenance | None) -> Evaluation:
    """Score a run on names, all queries or a block of them, without warnings.

    `source` is the source of the queries, None if they are the names of the reference.
    """
    if run.scorer.judged is None:
        return evaluation_of(run, names, source, *run.scorer.score(names))
    ap, n_relevant, judged = run.scorer.score_and_judged(names)
    return replace(evaluation_of(run, names, source, ap, n_relevant), judged=judged)


def evaluation_of(
    run: PreparedRun,
    names: list[str],
    source: Provenance | None,
    ap: NDArray[np.float64],
    n_relevant: NDArray[np.int64],
) -> Evaluation:
    """Add inputs and counts to the values of queries."""
    criteria = run.criteria
    counts = {
        'queries': len(names),
        'queries_without_relevant': int(np.count_nonzero(n_relevant == 0)),
        **({SKIPPED: 0} if criteria.queries_without_relevant == 'skip' else {}),
        'placeholders': criteria.reference.n_placeholders if source is None else 0,
        **run.counts,
    }
    reference, *further_inputs = criteria.sources(source).items()
    inputs = dict([reference, ('hypothesis', run.ranking.source), *further_inputs])
    return Evaluation(
        names,
        list(criteria.K),
        ap,
        n_relevant,
        criteria.definition,
        inputs,
        counts,
        parameters=criteria.parameters,
    )


def finish_evaluation(
    evaluation: Evaluation, n_skipped: int, warnings: Sequence[DataWarning] = ()
) -> Evaluation:
    """Add the number of queries left out, and warnings, as no block of queries knows all of them.

    The warnings about the values of all queries follow the given ones.
    """
    counts = evaluation.counts
    inputs = evaluation.inputs
    definition = evaluation.definition
    if SKIPPED in counts:
        counts = {**counts, SKIPPED: n_skipped}
    reference = printable(inputs['reference'].name)
    run = inputs['hypothesis'].name
    above_one = data_warnings.queries_above_one(evaluation.ap, evaluation.queries)
    about_values = [
        *data_warnings.scores_above_one(above_one, len(evaluation.queries), run, definition),
        *data_warnings.without_relevant(reference, evaluation.n_relevant, definition),
    ]
    return replace(evaluation, counts=counts, warnings=(*warnings, *about_values))
