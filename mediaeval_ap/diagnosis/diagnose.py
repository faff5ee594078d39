"""The diagnosis of a run, at several cutoffs from one ranking of each query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.definitions import Cutoff, Definition, depths
from mediaeval_ap.diagnosis.confused_names import confused_names, near_misses
from mediaeval_ap.diagnosis.diagnosis import Diagnosis
from mediaeval_ap.diagnosis.examined_run import ExaminedRun, Found
from mediaeval_ap.diagnosis.loss import NO_RANKS, average_precisions, gains, parts_of
from mediaeval_ap.diagnosis.reconcile import reconcile_run
from mediaeval_ap.diagnosis.ties import TieBounds, tie_bounds
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.whole_run import (
    CountedRun,
    evaluation_of,
    names_asked,
    with_skipped,
    with_warnings,
)
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.store.damage import damage_told
from mediaeval_ap.tables import Table


@damage_told()
def diagnose(
    criteria: Criteria, run: CountedRun, queries: Table | None, K: Sequence[Cutoff], near: float
) -> list[Diagnosis]:
    """Diagnose a run on the queries, by default those of the reference, at each cutoff."""
    asked, n_skipped, about_queries = names_asked(criteria, queries)
    number = {query: number for number, query in enumerate(dict.fromkeys(asked))}
    names = list(number)
    rows = np.array([number[query] for query in asked])
    examined = ExaminedRun(criteria, run, names, near)
    found = examined.find(names, max(depths(K)))
    definition, n_relevant = criteria.definition, found.counts.relevant
    values = average_precisions(found.shots, found.ranks, found.counts, depths(K), definition)
    ap, relevant = values[0][rows], n_relevant[rows]
    source = None if queries is None else queries.source
    evaluation = with_skipped(evaluation_of(run, asked, source, ap, relevant), n_skipped)
    evaluation = with_warnings(evaluation, criteria, run.warnings_with(about_queries))
    added = _added(found, depths(K), definition)
    alone = _alone(found, values[0], depths(K), definition)
    of_ties = _tie_bounds(found, depths(K), definition, rows, examined.shot_id)
    diagnoses = []
    for column, k in enumerate(K):
        parts = parts_of(values[:, :, column], n_relevant)
        of_names = found.returned, found.kinds, added[:, column], names, run.ranking
        facts = [found.facts[row] for row in rows.tolist()]
        diagnoses.append(
            Diagnosis(
                replace(evaluation, K=[k], ap=ap[:, [column]]),
                near,
                {part: each[rows] for part, each in parts.items()},
                of_ties[column],
                confused_names(*of_names),
                near_misses(*of_names, {pair: each[column] for pair, each in alone.items()}),
                reconcile_run(facts, k, definition),
                examined,
            )
        )
    return diagnoses


def _added(found: Found, K: Sequence[int], definition: Definition) -> NDArray[np.float64]:
    """Return what the repair of the shot of each hypothesis adds: (n_returned, n_cutoffs)."""
    shots, returned = found.shots, found.returned
    added = gains(shots, found.ranks, found.counts, K, definition)
    by_shot = np.lexsort((shots.shot, shots.query))  # as the hypotheses are
    begins = run_starts([returned.query, returned.shot])
    sizes = np.diff(begins, append=len(returned.shot))
    each: NDArray[np.float64] = added[by_shot].repeat(sizes, axis=0)
    return each


def _alone(
    found: Found, ap: NDArray[np.float64], K: Sequence[int], definition: Definition
) -> dict[tuple[int, int], list[float]]:
    """Return what each correction of a name alone adds at each cutoff, by query and name."""
    query = np.array([each.query for each in found.corrections], dtype=np.int64)
    ranks = [each.ranks for each in found.corrections]
    values = average_precision_of_hits(
        np.repeat(np.arange(len(ranks)), list(map(len, ranks))),
        np.concatenate([NO_RANKS, *ranks]),
        found.counts.relevant[query],
        found.counts.ranked,
        K,
        definition,
    )
    pairs = ((each.query, each.name) for each in found.corrections)
    return dict(zip(pairs, (values - ap[query]).tolist(), strict=True))


def _tie_bounds(
    found: Found,
    K: Sequence[int],
    definition: Definition,
    rows: NDArray[np.int64],
    shot_id: Callable[[int], str],
) -> list[dict[str, TieBounds]]:
    """Return the bounds of ties at each cutoff, by level, of queries that may repeat."""
    levels = [
        tie_bounds(tied, found.counts.relevant, found.counts.ranked, K, definition, shot_id)
        for tied in found.tied
    ]
    return [
        dict(
            zip(('equal_confidence', 'arbitrary'), [each.of(rows) for each in bounds], strict=True)
        )
        for bounds in zip(*levels, strict=True)
    ]
