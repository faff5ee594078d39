"""The names that a run has in the place of a query: other persons, and other spellings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.diagnosis.name_kinds import CONFUSED, SPELLING
from mediaeval_ap.diagnosis.returned_shots import Returned
from mediaeval_ap.diagnosis.rows import ConfusedName, NearMiss
from mediaeval_ap.errors import printable
from mediaeval_ap.ranking.frozen_ranking import Ranking


def letters_that_differ(query: str, name: str) -> tuple[str, ...]:
    """Return the edits that make a name of a query, each at a position in the query, from 1."""
    edits = []
    for edit in Levenshtein.editops(query, name):
        at = edit.src_pos + 1
        old, new = query[edit.src_pos : at], name[edit.dest_pos : edit.dest_pos + 1]
        what = {'replace': f'{old}→{new}', 'insert': f'+{new}', 'delete': f'-{old}'}[edit.tag]
        edits.append(printable(f'{what} at {at}'))
    return tuple(edits)


def confused_names(
    returned: Returned, kinds: NDArray[np.int64], queries: Sequence[str], ranking: Ranking
) -> list[ConfusedName]:
    """Return the other persons under whose names relevant shots were returned, most often first."""
    rows, counts = _counted(returned, kinds, CONFUSED)
    found = []
    for row, count in zip(rows.tolist(), counts.tolist(), strict=True):
        query, name = queries[returned.query[row]], ranking.names.values[returned.name[row]]
        letters = letters_that_differ(query, name)
        found.append(ConfusedName(name, query, count, float(returned.distance[row]), letters))
    return sorted(found, key=lambda each: (-each.count, each.query, each.name))


def near_misses(
    returned: Returned,
    kinds: NDArray[np.int64],
    near: Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]],
    queries: Sequence[str],
    ranking: Ranking,
) -> list[NearMiss]:
    """Return the names near each query, from their numbers and distances, most often hit first."""
    rows, counts = _counted(returned, kinds, SPELLING)
    keys = zip(returned.query[rows].tolist(), returned.name[rows].tolist(), strict=True)
    count_of = dict(zip(keys, counts.tolist(), strict=True))
    found = []
    for number, (query, (names, distances)) in enumerate(zip(queries, near, strict=True)):
        for code, distance in zip(names.tolist(), distances.tolist(), strict=True):
            name, count = ranking.names.values[code], count_of.get((number, code), 0)
            n_held, letters = ranking.n_held(code), letters_that_differ(query, name)
            found.append(NearMiss(name, query, count, n_held, distance, letters))
    return sorted(found, key=lambda each: (-each.count, -each.n_hypotheses, each.query, each.name))


def _counted(
    returned: Returned, kinds: NDArray[np.int64], kind: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a row for each query and name of a kind, and how many shots of that kind it is of."""
    begins = run_starts([returned.query, returned.shot])
    if not len(begins):
        return begins, begins
    sizes = np.diff(begins, append=len(kinds))
    of_shot = np.minimum.reduceat(kinds, begins).repeat(sizes)
    rows = ((kinds == kind) & (of_shot == kind)).nonzero()[0]
    rows = rows[np.lexsort((returned.shot[rows], returned.name[rows], returned.query[rows]))]
    pair = [returned.query[rows], returned.name[rows]]
    rows = rows[run_starts([*pair, returned.shot[rows]])]  # a shot once, however often returned
    pairs = run_starts([returned.query[rows], returned.name[rows]])
    return rows[pairs], np.diff(pairs, append=len(rows))
