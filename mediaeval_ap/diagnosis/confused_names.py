"""The names that a run has in the place of a query: other persons, and other spellings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import Levenshtein
import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.diagnosis.name_kinds import CONFUSED, SPELLING
from mediaeval_ap.diagnosis.returned_shots import Returned
from mediaeval_ap.diagnosis.rows import ConfusedName, NearMiss
from mediaeval_ap.errors import printable
from mediaeval_ap.ranking.frozen_ranking import Ranking


def letters_that_differ(query: str, name: str) -> tuple[str, ...]:
    """Return the edits that make a name of a query, each at a position in the query, from 1."""
    edits = []
    for kind, in_query, in_name in Levenshtein.editops(query, name):
        old, new = query[in_query : in_query + 1], name[in_name : in_name + 1]
        what = {'replace': f'{old}→{new}', 'insert': f'+{new}', 'delete': f'-{old}'}[kind]
        edits.append(printable(f'{what} at {in_query + 1}'))
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
    values = ranking.names.values
    return [
        ConfusedName(
            values[name],
            queries[query],
            count,
            distance,
            letters_that_differ(queries[query], values[name]),
            adds,
        )
        for adds, count, query, name, distance in _counted(
            returned, kinds, CONFUSED, added, queries, ranking
        )
    ]


def near_misses(
    returned: Returned,
    kinds: NDArray[np.int64],
    added: NDArray[np.float64],
    queries: Sequence[str],
    ranking: Ranking,
    alone: Mapping[tuple[int, int], float],
) -> list[NearMiss]:
    """Return the names near queries under which relevant shots were returned, costliest first.

    `alone` is what the correction of a name adds by itself, by the numbers of query and name.
    """
    values = ranking.names.values
    return [
        NearMiss(
            values[name],
            queries[query],
            count,
            ranking.n_held(name),
            distance,
            letters_that_differ(queries[query], values[name]),
            adds,
            alone[query, name],
        )
        for adds, count, query, name, distance in _counted(
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
) -> list[tuple[float, int, int, int, float]]:
    """Return what repair adds, number of shots of a kind, query, name and distance."""
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
    rows = rows[pairs]
    columns = returned.query[rows], returned.name[rows], returned.distance[rows]
    found = zip(adds, counts, *(column.tolist() for column in columns), strict=True)
    names = ranking.names.values
    # What differs by rounding alone is the same.
    return sorted(
        found, key=lambda each: (-round(each[0], 12), -each[1], queries[each[2]], names[each[3]])
    )
