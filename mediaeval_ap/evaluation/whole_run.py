"""The score of a whole run: its hypotheses that count, the queries, values, counts, warnings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mediaeval_ap.errors import DataWarning
from mediaeval_ap.evaluation import data_warnings
from mediaeval_ap.evaluation.criteria import Criteria, in_subset
from mediaeval_ap.evaluation.likely_causes import likely_cause, likely_cause_in_tables
from mediaeval_ap.evaluation.queries import queries_or_default
from mediaeval_ap.evaluation.relevance import Relevance
from mediaeval_ap.evaluation.scoring import Scorer
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.tables import Table


class CountedRun(NamedTuple):
    """The hypotheses of a run that are in the subset, ready to be ranked and scored."""

    ranking: Ranking
    scorer: Scorer
    warnings: list[DataWarning]
    about_shots: list[DataWarning]


def read_counted(criteria: Criteria, run: Any) -> CountedRun:
    """Read and index the hypotheses of a run that are in the subset."""
    if (store := criteria.open_run(run)) is not None:
        ranking, n_read = store.counted()
    else:
        ranking, n_read = _indexed(criteria, run)
    name, n_hypotheses = ranking.source.name, ranking.n_hypotheses
    found = data_warnings.empty_run(name, n_read, n_hypotheses)
    found += data_warnings.repeated_rows(name, n_hypotheses, ranking.n_repeated, kept=True)
    scorer, about_shots = scorer_of(criteria, ranking)
    return CountedRun(ranking, scorer, found, about_shots)


def _indexed(criteria: Criteria, run: Any) -> tuple[Ranking, int]:
    """Return the ranking of the hypotheses in the subset, and the number of all hypotheses."""
    table = criteria.read_run(run)
    counted = in_subset(table, criteria.subset)
    is_ready = isinstance(run, Ranking) and len(counted) == len(table)
    return run if is_ready else Ranking(counted), len(table)


def names_asked(criteria: Criteria, queries: Table | None) -> tuple[list[str], list[DataWarning]]:
    """Return the queries in their order, by default those of the reference, and warnings."""
    reference = criteria.reference
    names, found = queries_or_default(queries, reference.queries, reference.table.source.name)
    if queries is not None and not any(name in reference for name in names):
        distinct = queries['person_name'].values
        finding = f'0 of {len(distinct):,} queries occur in {reference.name}'
        cause = likely_cause(distinct, reference.table['person_name'].values)
        found = data_warnings.no_overlap(queries.source.name, finding, cause) + found
    return names, found


def scorer_of(criteria: Criteria, ranking: Ranking) -> tuple[Scorer, list[DataWarning]]:
    """Return the scorer of a run, and the warning that no shot of it is in the reference."""
    reference = criteria.reference
    relevance = Relevance(reference, ranking.shots)
    scorer = Scorer(ranking, relevance, criteria.K, criteria.definition)
    if not len(ranking) or relevance.n_in_both:
        return scorer, []
    shots = ranking.shots
    of_videos = f'{shots.n_videos_in(reference.table):,} of {shots.n_videos:,} videos'
    finding = f'0 of {ranking.n_shots:,} returned shots occur in {reference.name} ({of_videos})'
    cause = likely_cause_in_tables(ranking, reference.table)
    return scorer, data_warnings.no_overlap(ranking.source.name, finding, cause)


def evaluate_run(criteria: Criteria, run: CountedRun, queries: Table | None) -> Evaluation:
    """Score a run on the queries, by default those of the reference."""
    names, about_queries = names_asked(criteria, queries)
    ap, n_relevant = run.scorer.score(names)
    evaluation = Evaluation(
        names, list(criteria.K), ap, n_relevant, criteria.definition, {}, {}, warnings=about_queries
    )
    return with_inputs(evaluation, criteria, run, queries)


def with_inputs(
    evaluation: Evaluation, criteria: Criteria, run: CountedRun, queries: Table | None
) -> Evaluation:
    """Add inputs, counts and warnings about the data to values that warn of the queries alone."""
    reference, names, n_relevant = criteria.reference, evaluation.queries, evaluation.n_relevant
    counts = {
        'queries': len(names),
        'queries_without_relevant': int(np.count_nonzero(n_relevant == 0)),
        'placeholders': reference.n_placeholders if queries is None else 0,
        **_counts(criteria, run),
    }
    given: dict[str, Table | Ranking | None] = {
        'reference': reference.table,
        'hypothesis': run.ranking,
        'subset': criteria.subset,
        'queries': queries,
    }
    sources = {role: each.source for role, each in given.items() if each is not None}
    found = [*run.warnings, *evaluation.warnings, *run.about_shots]
    found += run.scorer.warnings(evaluation.ap, names)
    found += data_warnings.without_relevant(reference.name, n_relevant, criteria.definition)
    return replace(evaluation, inputs=sources, counts=counts, warnings=tuple(found))


def _counts(criteria: Criteria, run: CountedRun) -> dict[str, int]:
    reference, ranking = criteria.reference, run.ranking
    shots = ranking.shots
    counts = {
        'reference_rows': len(reference.table),
        'hypotheses': ranking.n_hypotheses,
        'names': len(ranking.names),
        'names_in_reference': ranking.names.n_among(reference.names),
        'videos': shots.n_videos,
        'videos_in_reference': shots.n_videos_in(reference.table),
        'shots': ranking.n_shots,
        'shots_in_reference': run.scorer.relevance.n_in_both,
    }
    if criteria.subset is not None:
        counts['subset_videos'] = len(set(criteria.subset.rows()))
    return counts
