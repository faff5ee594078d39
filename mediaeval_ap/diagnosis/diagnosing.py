"""Make the diagnoses of a run at some cutoffs from one listing of each query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import Levenshtein
import numpy as np

from mediaeval_ap.arrays import Floats, run_starts
from mediaeval_ap.definitions import Cutoff, Definition, depths
from mediaeval_ap.diagnosis.diagnosis import Diagnosis
from mediaeval_ap.diagnosis.examined_run import ExaminedQueries, ExaminedRun, Reader
from mediaeval_ap.diagnosis.findings import ConfusedName, NearMiss
from mediaeval_ap.diagnosis.loss import (
    CONFUSED,
    NAME_PARTS,
    SPELLING,
    ap_by_state,
    gains,
    loss_parts,
)
from mediaeval_ap.diagnosis.other_definitions import hits_of, reconcile_run
from mediaeval_ap.diagnosis.ties import tie_bounds
from mediaeval_ap.errors import printable
from mediaeval_ap.evaluation.prepared_run import PreparedRun, SelectedQueries
from mediaeval_ap.evaluation.scoring import Scores, evaluate_run
from mediaeval_ap.metrics.ap_of_hits import RankedHits
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.results.rounding import OWN_DECIMALS


def diagnose(
    run: PreparedRun,
    selected: SelectedQueries,
    K: Sequence[Cutoff],
    near: float,
    reader: Reader | None = None,
) -> list[Diagnosis]:
    """Diagnose a run on the queries at each cutoff; `reader` reads the listing of each, too."""
    number_of = {query: number for number, query in enumerate(dict.fromkeys(selected.names))}
    names = list(number_of)  # distinct
    rows = np.array([number_of[query] for query in selected.names])
    definition = run.criteria.definition
    cutoffs = depths(K)
    examined_run = ExaminedRun(run, names, near)
    examined = examined_run.examine(names, max(cutoffs), reader)
    n_relevant = examined.hits.n_relevant
    scored = hits_of(examined.facts, definition).ap(cutoffs, definition)
    values = ap_by_state(scored, examined.hits, cutoffs, definition)
    shot_gains = gains(examined.hits, cutoffs, definition)
    ap = scored[rows]
    evaluation = evaluate_run(run, selected, Scores(ap, n_relevant[rows]))
    alone = _gains_alone(examined, scored, cutoffs, definition)
    ties = [
        tie_bounds(
            hits,
            n_relevant,
            examined.hits.n_ranked,
            K=cutoffs,
            definition=definition,
            shot_id=examined_run.shot_id,
        )
        for hits in examined.ties
    ]
    facts = [examined.facts[row] for row in rows.tolist()]
    definitions = reconcile_run(facts, K, definition)
    diagnoses = []
    for column, k in enumerate(K):
        confused, near_misses = (
            _lost_names(kind, examined, shot_gains[:, column], names, run.ranking)
            for kind in (CONFUSED, SPELLING)
        )
        parts = loss_parts(values[:, :, column], n_relevant)
        levels = zip(('equal_confidence', 'arbitrary'), ties, strict=True)
        diagnoses.append(
            Diagnosis(
                replace(evaluation, K=[k], ap=ap[:, [column]]),
                near,
                parts={
                    part: losses[rows]
                    for part, losses in parts.items()
                    if run.criteria.has_names or part not in NAME_PARTS
                },
                ties={level: bounds[column].of(rows) for level, bounds in levels},
                confused=[lost for *_, lost in confused],
                near_misses=[
                    NearMiss(
                        n_hypotheses=int(run.ranking.name_counts[name]),
                        alone=alone[query, name][column],
                        **vars(lost),
                    )
                    for query, name, lost in near_misses
                ],
                definitions=definitions[column],
                _examined=examined_run,
            )
        )
    return diagnoses


def _gains_alone(
    examined: ExaminedQueries, ap: Floats, K: Sequence[int], definition: Definition
) -> dict[tuple[int, int], list[float]]:
    """Return the gain in AP at each cutoff if a name is corrected, by numbers of query and name."""
    query = np.array([query for query, _ in examined.corrected], dtype=np.int64)
    sizes = examined.hits.n_relevant[query], examined.hits.n_ranked[query]
    corrected_ap = RankedHits.of(list(examined.corrected.values()), *sizes).ap(K, definition)
    return dict(zip(examined.corrected, (corrected_ap - ap[query]).tolist(), strict=True))


def _lost_names(
    kind: int,
    examined: ExaminedQueries,
    shot_gains: Floats,  # the AP that the repair of each shot adds
    queries: Sequence[str],
    ranking: Ranking,
) -> list[tuple[int, int, ConfusedName]]:
    """Return the names under which shots of a kind were lost, costliest first, with numbers."""
    hypotheses = examined.hypotheses
    shots = examined.hits.shots
    n_of_shot = np.diff(
        run_starts([hypotheses.query, hypotheses.shot]), append=len(hypotheses.shot)
    )
    shot_row = np.lexsort((shots.shot, shots.query)).repeat(n_of_shot)  # of each hypothesis
    rows = ((examined.kinds == kind) & (shots.kind[shot_row] == kind)).nonzero()[0]
    keys = (hypotheses.query, hypotheses.name, hypotheses.shot)
    rows = rows[np.lexsort([column[rows] for column in reversed(keys)])]
    # A shot counts once, however often it is returned.
    rows = rows[run_starts([column[rows] for column in keys])]
    begins = run_starts([hypotheses.query[rows], hypotheses.name[rows]])
    n_shots = np.diff(begins, append=len(rows)).tolist()
    gain = np.add.reduceat(shot_gains[shot_row[rows]], begins).tolist()
    rows = rows[begins]
    columns = (hypotheses.query[rows], hypotheses.name[rows], hypotheses.distance[rows])
    lost = []
    for count, adds, query_number, name_number, distance in zip(
        n_shots, gain, *(column.tolist() for column in columns), strict=True
    ):
        query_text = queries[query_number]
        name_text = ranking.names.values[name_number]
        letters = letters_that_differ(query_text, name_text)
        confused = ConfusedName(name_text, query_text, count, distance, letters, adds)
        lost.append((query_number, name_number, confused))
    lost.sort(key=lambda row: _costliest_first(row[-1]))
    return lost


def _costliest_first(lost: ConfusedName) -> tuple[float, int, str, str]:
    return -round(lost.adds, OWN_DECIMALS), -lost.count, lost.query, lost.name


def letters_that_differ(query: str, name: str) -> tuple[str, ...]:
    """Return the edits that make a name of a query, with positions in the query, from 1.

    >>> letters_that_differ('jon', 'joan')
    ('+a at 3',)
    """
    edits = []
    for operation, in_query, in_name in Levenshtein.editops(query, name):
        old = query[in_query : in_query + 1]
        new = name[in_name : in_name + 1]
        edit = {'replace': f'{old}→{new}', 'insert': f'+{new}', 'delete': f'-{old}'}[operation]
        edits.append(printable(f'{edit} at {in_query + 1}'))
    return tuple(edits)
