"""The diagnosis of a single query: its ranking, and what became of each relevant shot."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences, run_starts
from mediaeval_ap.definitions import Cutoff, Repeats, depths
from mediaeval_ap.diagnosis.examined_run import ExaminedRun, Found
from mediaeval_ap.diagnosis.loss import gains
from mediaeval_ap.diagnosis.name_kinds import KINDS
from mediaeval_ap.diagnosis.rows import Before, RankedHypothesis, RelevantShot
from mediaeval_ap.errors import shown
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.tables import HYPOTHESIS


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
