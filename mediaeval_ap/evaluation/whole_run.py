"""The score of a whole run: its hypotheses that count, the queries, values, counts, warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mediaeval_ap.errors import DataWarning
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.data_warnings import (
    empty_run,
    no_overlap,
    repeated_queries,
    repeated_rows,
    without_relevant,
)
from mediaeval_ap.evaluation.likely_causes import likely_cause, likely_cause_in_tables
from mediaeval_ap.evaluation.queries import default_queries
from mediaeval_ap.evaluation.relevance import Reference, Relevance
from mediaeval_ap.evaluation.scoring import Scorer
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.results import Evaluation
from mediaeval_ap.tables import SUBSET, Source, Table


class CountedRun(NamedTuple):
    """The hypotheses of a run that are in the subset, ready to be ranked, and warnings of them."""

    ranking: Ranking
    warnings: Sequence[DataWarning]


def read_counted(criteria: Criteria, run: Any) -> CountedRun:
    """Read and index the hypotheses of a run that are in the subset."""
    table = criteria.read_run(run)
    counted = criteria.in_subset(table)
    is_ready = isinstance(run, Ranking) and len(counted) == len(table)
    ranking = run if is_ready else Ranking(counted)
    found = empty_run(table.source.name, len(table), len(counted))
    return CountedRun(ranking, found + repeated_rows(counted, ranking.n_repeated, kept=True))


def names_asked(
    criteria: Criteria, queries: Table | None
) -> tuple[list[str], Sequence[DataWarning]]:
    """Return the queries in their order, by default those of the reference, and warnings."""
    reference = criteria.reference
    if queries is None:
        return default_queries(reference.queries, reference.table.source.name), []
    found: list[DataWarning] = []
    names = queries['person_name'].values
    if not any(name in reference for name in names):
        finding = f'0 of {len(names):,} queries occur in {reference.name}'
        cause = likely_cause(names, reference.table['person_name'].values)
        found = no_overlap(queries.source.name, finding, cause)
    return queries.texts('person_name'), found + repeated_queries(queries)


def scorer_of(criteria: Criteria, ranking: Ranking) -> tuple[Scorer, Sequence[DataWarning]]:
    """Return the scorer of a run, and the warning that no shot of it is in the reference."""
    reference = criteria.reference
    relevance = Relevance(reference, ranking.shots)
    scorer = Scorer(ranking, relevance, criteria.K, criteria.definition)
    if not len(ranking) or relevance.n_in_both:
        return scorer, []
    n_videos = len(ranking.shots.distinct_videos())
    finding = (
        f'0 of {ranking.n_shots:,} returned shots occur in {reference.name} '
        f'({_n_known_videos(ranking, reference):,} of {n_videos:,} videos)'
    )
    cause = likely_cause_in_tables(ranking.table, reference.table)
    return scorer, no_overlap(ranking.source.name, finding, cause)


def evaluate_run(
    criteria: Criteria, run: CountedRun, queries: Table | None, progress: bool
) -> Evaluation:
    """Score a run on the queries, by default those of the reference."""
    names, about_queries = names_asked(criteria, queries)
    scorer, about_shots = scorer_of(criteria, run.ranking)
    ap, n_relevant = scorer.score(names, progress)
    counts = {
        'queries': len(names),
        'queries_without_relevant': int(np.count_nonzero(n_relevant == 0)),
        'placeholders': criteria.reference.n_placeholders if queries is None else 0,
        **_counts(criteria, run.ranking, scorer.relevance.n_in_both),
    }
    return Evaluation(
        names,
        list(criteria.K),
        ap,
        n_relevant,
        criteria.definition,
        _inputs(criteria, run.ranking, queries),
        counts,
        warnings=(
            *run.warnings,
            *about_queries,
            *about_shots,
            *scorer.warnings(ap, names),
            *without_relevant(criteria.reference.name, n_relevant, criteria.definition),
        ),
    )


def _inputs(criteria: Criteria, ranking: Ranking, queries: Table | None) -> dict[str, Source]:
    inputs = {'reference': criteria.reference.table.source, 'hypothesis': ranking.source}
    if criteria.subset is not None:
        inputs['subset'] = criteria.subset.source
    if queries is not None:
        inputs['queries'] = queries.source
    return inputs


def _counts(criteria: Criteria, ranking: Ranking, n_shots_in_reference: int) -> dict[str, int]:
    reference, names = criteria.reference, ranking.names.values
    counts = {
        'reference_rows': len(reference.table),
        'hypotheses': len(ranking),
        'names': len(names),
        'names_in_reference': sum(name in reference for name in names),
        'videos': len(ranking.shots.distinct_videos()),
        'videos_in_reference': _n_known_videos(ranking, reference),
        'shots': ranking.n_shots,
        'shots_in_reference': n_shots_in_reference,
    }
    if criteria.subset is not None:
        pairs = zip(*map(criteria.subset.texts, SUBSET.texts), strict=True)
        counts['subset_videos'] = len(set(pairs))
    return counts


def _n_known_videos(ranking: Ranking, reference: Reference) -> int:
    return sum(video in reference.videos for video in ranking.shots.distinct_videos())
