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
    returned: Returned,
    kinds: NDArray[np.int64],
    added: NDArray[np.float64],
    queries: Sequence[str],
    ranking: Ranking,
) -> list[ConfusedName]:
    """Return the other persons under whose names relevant shots were returned, costliest first.

    `added` is what the repair of the shot of each hypothesis adds.
    """
    return [
        ConfusedName(name, query, count, distance, letters_that_differ(query, name), adds)
        for adds, count, query, name, distance, _ in _counted(
            returned, kinds, CONFUSED, added, queries, ranking
        )
    ]


def near_misses(
    returned: Returned,
    kinds: NDArray[np.int64],
    added: NDArray[np.float64],
    queries: Sequence[str],
    ranking: Ranking,
) -> list[NearMiss]:
    """Return the names near queries under which relevant shots were returned, costliest first."""
    return [
        NearMiss(name, query, count, n_held, distance, letters_that_differ(query, name), adds)
        for adds, count, query, name, distance, n_held in _counted(
            returned, kinds, SPELLING, added, queries, ranking
        )
    ]


def _counted(
    returned: Returned,
    kinds: NDArray[np.int64],
    kind: int,
    added: NDArray[np.float64],
    queries: Sequence[str],
    ranking: Ranking,
) -> list[tuple[float, int, str, str, float, int]]:
    """Return what repair adds, number of shots of a kind, query, name, distance, hypotheses."""
    begins = run_starts([returned.query, returned.shot])
    if not len(begins):
        return []
    sizes = np.diff(begins, append=len(kinds))
    of_shot = np.minimum.reduceat(kinds, begins).repeat(sizes)
    rows = ((kinds == kind) & (of_shot == kind)).nonzero()[0]
    rows = rows[np.lexsort((returned.shot[rows], returned.name[rows], returned.query[rows]))]
    pair = [returned.query[rows], returned.name[rows]]
    rows = rows[run_starts([*pair, returned.shot[rows]])]  # a shot once, however often returned
    pairs = run_starts([returned.query[rows], returned.name[rows]])
    if not len(pairs):
        return []
    counts = np.diff(pairs, append=len(rows)).tolist()
    adds = np.add.reduceat(added[rows], pairs).tolist()
    found = []
    for row, count, add in zip(rows[pairs].tolist(), counts, adds, strict=True):
        code = int(returned.name[row])
        name, query = ranking.names.values[code], queries[int(returned.query[row])]
        distance, n_held = float(returned.distance[row]), ranking.n_held(code)
        found.append((add, count, query, name, distance, n_held))
    # What differs by rounding alone is the same.
    return sorted(found, key=lambda each: (-round(each[0], 12), -each[1], *each[2:4]))
