"""A run in memory beside its criteria, and the queries to ask of it, with warnings about both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, singledispatch
from typing import Any, NamedTuple

from mediaeval_ap.choices import NEAR
from mediaeval_ap.errors import DataWarning, shown
from mediaeval_ap.evaluation import data_warnings
from mediaeval_ap.evaluation.criteria import Criteria, in_subset, queries_or_default
from mediaeval_ap.evaluation.listing import Lister
from mediaeval_ap.evaluation.relevance import Reference, Relevance
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import Provenance, Table


@dataclass(frozen=True, eq=False)
class PreparedRun:
    """The hypotheses of a run that are in the subset, ready to be ranked and scored."""

    criteria: Criteria
    ranking: Ranking
    n_read: int  # hypotheses, inside or outside the subset
    cause: str = field(default='', kw_only=True)  # why none is in the subset, if it is likely

    @cached_property
    def lister(self) -> Lister:
        relevance = Relevance(self.criteria.reference, self.ranking.shots)
        return Lister(self.criteria, self.ranking, relevance)

    def warnings_with(self, about_queries: Sequence[DataWarning]) -> list[DataWarning]:
        """Return the warnings that need no scores: about the run, and those about queries."""
        name = self.ranking.source.name
        n_hypotheses = len(self.ranking)
        warnings = data_warnings.empty_run(name, self.n_read, n_hypotheses, self.cause)
        warnings += data_warnings.repeated_rows(
            name, n_hypotheses, self.ranking.n_repeated, are_kept=True
        )
        warnings += about_queries
        reference = self.criteria.reference
        ranking = self.ranking
        shots = self.ranking.shots
        if not n_hypotheses or not len(reference.table):
            return warnings
        if self.lister.relevance.n_in_both:
            for field, ids in shots.ids.items():
                texts = f'{field}s', ids, reference.name, reference.table[field].values
                warnings += data_warnings.overlap(name, *texts, shares_an_id=True)
            if self.counts['names_in_reference'] or ranking.names.n_among(reference.elsewhere):
                return warnings
            about = name, 'names', ranking.names.values, reference.name, reference.names
            return warnings + data_warnings.overlap(*about, data_warnings.REMEDY_OF_NAMES)
        videos = f'{shots.n_videos_in(reference.table):,} of {shots.n_videos:,} videos'
        finding = f'0 of {ranking.n_shots:,} returned shots occur in {reference.name} ({videos})'
        cause = data_warnings.likely_cause_in_tables(ranking.texts, reference.table)
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
            'shots_in_reference': self.lister.relevance.n_in_both,
        }
        if self.criteria.subset is not None:
            counts['subset_videos'] = len(set(self.criteria.subset.rows()))
        judgements = self.criteria.judgements
        if judgements is not None:
            counts['judgements'] = len(judgements.table)
            if judgements.n_dropped is not None:
                counts['reference_rows_dropped'] = judgements.n_dropped
        return counts


@singledispatch
def prepare_run(criteria: Criteria, run: Any) -> PreparedRun:
    """Read and index the hypotheses of a run that are in the subset."""
    ranking: Ranking
    cause = ''
    if (store := criteria.open_run(run)) is not None:
        ranking = store.ranking
        n_read = store.manifest.counts.read
    else:
        table = criteria.read_run(run)
        n_read = len(table)
        hypotheses = in_subset(table, criteria.subset)
        if not len(hypotheses):
            texts = {field: column.values for field, column in table.columns.items()}
            cause = data_warnings.likely_cause_in_tables(texts, criteria.reference.table)
        is_ready = isinstance(run, Ranking) and len(hypotheses) == n_read
        ranking = run if is_ready else Ranking(hypotheses)
    return PreparedRun(criteria, ranking, n_read, cause=cause)


class SelectedQueries(NamedTuple):
    """The queries to score, the number of queries left out, warnings, and their source."""

    names: list[str]
    n_skipped: int
    warnings: list[DataWarning]
    source: Provenance | None = None  # None if they are the names of the reference


def select_queries(criteria: Criteria, queries: Table | None) -> SelectedQueries:
    """Return the queries in their order, by default the names of the reference."""
    reference = criteria.reference
    names, n_skipped, warnings, about_skipped = queries_or_default(
        queries, reference, criteria.queries_without_relevant
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
