"""The diagnosis of a run, at several cutoffs from one ranking of each query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import Levenshtein
import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.choices import check_near
from mediaeval_ap.definitions import Cutoff, Definition, depths
from mediaeval_ap.diagnosis.diagnosis import Diagnosis
from mediaeval_ap.diagnosis.examined_run import ExaminedRun, Found
from mediaeval_ap.diagnosis.findings import ConfusedName, NearMiss
from mediaeval_ap.diagnosis.loss import (
    CONFUSED,
    NO_RANKS,
    SPELLING,
    average_precisions,
    gains,
    parts_of,
)
from mediaeval_ap.diagnosis.reconcile import reconcile_run
from mediaeval_ap.diagnosis.ties import tie_bounds
from mediaeval_ap.errors import damage_told, printable, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.scoring import (
    CountedRun,
    evaluation_of,
    names_asked,
    read_counted,
    with_skipped,
    with_warnings,
)
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import Table


def explain_run(
    criteria: Criteria, hypothesis: Any, queries: Any, K: Sequence[Cutoff], near: float
) -> list[Diagnosis]:
    """Read a run and the queries, and diagnose the run at each cutoff."""
    near = check_near(near)
    asked = criteria.read_queries(queries)
    diagnoses = diagnose(criteria, read_counted(criteria, hypothesis), asked, K, near)
    warn_caller(diagnoses[0].warnings)  # all have the same
    return diagnoses


@damage_told()
def diagnose(
    criteria: Criteria, run: CountedRun, queries: Table | None, K: Sequence[Cutoff], near: float
) -> list[Diagnosis]:
    """Diagnose a run on the queries, by default those of the reference, at each cutoff."""
    asked, n_skipped, about_queries = names_asked(criteria, queries)
    number = {query: number for number, query in enumerate(dict.fromkeys(asked))}
    names = list(number)
    rows = np.array([number[query] for query in asked])
    definition, at = criteria.definition, depths(K)
    examined = ExaminedRun(criteria, run, names, near)
    found = examined.find(names, max(at))
    n_relevant, n_ranked = found.counts.relevant, found.counts.ranked
    values = average_precisions(found.shots, found.ranks, found.counts, at, definition)
    ap = values[0][rows]
    source = None if queries is None else queries.source
    evaluation = evaluation_of(run, asked, source, ap, n_relevant[rows])
    evaluation = with_skipped(evaluation, n_skipped)
    evaluation = with_warnings(evaluation, criteria, run.warnings_with(about_queries))
    added = _added(found, at, definition)
    alone = _alone(found, values[0], at, definition)
    equal_confidence, arbitrary = (
        tie_bounds(tied, n_relevant, n_ranked, at, definition, examined.shot_id)
        for tied in found.tied
    )
    facts = [found.facts[row] for row in rows.tolist()]
    diagnoses = []
    for column, k in enumerate(K):
        confused = _lost_to(CONFUSED, found, added[:, column], names, run.ranking)
        missed = _lost_to(SPELLING, found, added[:, column], names, run.ranking)
        parts = parts_of(values[:, :, column], n_relevant)
        diagnoses.append(
            Diagnosis(
                replace(evaluation, K=[k], ap=ap[:, [column]]),
                near,
                {part: each[rows] for part, each in parts.items()},
                {
                    'equal_confidence': equal_confidence[column].of(rows),
                    'arbitrary': arbitrary[column].of(rows),
                },
                [lost for _, lost in confused],
                [
                    NearMiss(
                        *(lost.name, lost.query, lost.count, run.ranking.n_held(pair[1])),
                        *(lost.distance, lost.letters, lost.adds, alone[pair][column]),
                    )
                    for pair, lost in missed
                ],
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
    query = np.array([query for query, _ in found.corrected], dtype=np.int64)
    ranks = list(found.corrected.values())
    values = average_precision_of_hits(
        np.repeat(np.arange(len(ranks)), list(map(len, ranks))),
        np.concatenate([NO_RANKS, *ranks]),
        *(found.counts.relevant[query], found.counts.ranked, K, definition),
    )
    return dict(zip(found.corrected, (values - ap[query]).tolist(), strict=True))


def _lost_to(
    kind: int, found: Found, added: NDArray[np.float64], queries: Sequence[str], ranking: Ranking
) -> list[tuple[tuple[int, int], ConfusedName]]:
    """Return the names that relevant shots of a kind were lost to, the costliest first.

    Before each stand the numbers of query and name. `added` is what the repair of the shot of each
    hypothesis adds.
    """
    returned, kinds = found.returned, found.kinds
    begins = run_starts([returned.query, returned.shot])
    if not len(begins):
        return []
    sizes = np.diff(begins, append=len(kinds))
    of_shot = np.minimum.reduceat(kinds, begins).repeat(sizes)
    rows = ((kinds == kind) & (of_shot == kind)).nonzero()[0]
    rows = rows[np.lexsort((returned.shot[rows], returned.name[rows], returned.query[rows]))]
    # A shot counts once, however often it is returned.
    rows = rows[run_starts([returned.query[rows], returned.name[rows], returned.shot[rows]])]
    begins = run_starts([returned.query[rows], returned.name[rows]])
    if not len(begins):
        return []
    counts = np.diff(begins, append=len(rows)).tolist()
    adds = np.add.reduceat(added[rows], begins).tolist()
    rows = rows[begins]
    columns = (returned.query[rows], returned.name[rows], returned.distance[rows])
    lost = []
    for count, add, at, name_at, distance in zip(
        counts, adds, *(column.tolist() for column in columns), strict=True
    ):
        query, name = queries[at], ranking.names.values[name_at]
        letters = letters_that_differ(query, name)
        confused = ConfusedName(name, query, count, distance, letters, add)
        lost.append(((at, name_at), confused))

    def order(item: tuple[Any, ConfusedName]) -> tuple[float, int, str, str]:
        each = item[1]  # what differs by rounding alone is the same
        return -round(each.adds, 12), -each.count, each.query, each.name

    return sorted(lost, key=order)


def letters_that_differ(query: str, name: str) -> tuple[str, ...]:
    """Return the edits that make a name of a query, each at a position in the query, from 1."""
    edits = []
    for kind, in_query, in_name in Levenshtein.editops(query, name):
        old, new = query[in_query : in_query + 1], name[in_name : in_name + 1]
        what = {'replace': f'{old}→{new}', 'insert': f'+{new}', 'delete': f'-{old}'}[kind]
        edits.append(printable(f'{what} at {in_query + 1}'))
    return tuple(edits)
