"""A run that grows, and its scores each time that so many hypotheses have come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import warn_caller
from mediaeval_ap.evaluation.data_warnings import scores_above_one
from mediaeval_ap.live.incremental import Standing
from mediaeval_ap.live.ranking import LiveRanking
from mediaeval_ap.results import mean_average_precision
from mediaeval_ap.tables import HYPOTHESIS, Table
from mediaeval_ap.tables.origins import is_rows
from mediaeval_ap.tables.rows import from_rows

__all__ = ['Point', 'batches', 'points']


@dataclass(frozen=True, eq=False)
class Point:
    """What a run was worth when so many hypotheses had come.

    Parameters
    ----------
    n_hypotheses : int
        How many there were of the videos that count.
    map : ndarray of float64, shape (n_cutoffs,)
        Mean average precision at each cutoff.
    changed : list of str
        The queries whose average precision was another at the point before. Before the first, the
        run held nothing, or what the session held that is watched.
    queries : list of str
        The names asked for, in the order of the rows of `ap`.
    ap : ndarray of float64, shape (n_queries, n_cutoffs)
        Average precision.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision('samples/reference.txt', K=[10])
    >>> queries = ['nicolas_sarkozy', 'alain_juppe']
    >>> for point in average_precision.watch('samples/hypothesis.txt', queries, every=4000):
    ...     print(point.n_hypotheses, point.map.round(3).tolist(), point.changed)
    4000 [0.118] ['nicolas_sarkozy']
    8000 [0.195] ['nicolas_sarkozy']
    12000 [0.149] ['nicolas_sarkozy']
    """

    n_hypotheses: int
    map: NDArray[np.float64]
    changed: list[str]
    queries: list[str]
    ap: NDArray[np.float64]


def points(
    standing: Standing, asked: list[str], rankings: Iterable[LiveRanking]
) -> Iterator[Point]:
    """Score standing queries at each of some moments.

    Parameters
    ----------
    standing : Standing
        The queries, as they stand at first.
    asked : list of str
        The names asked for, perhaps more than once.
    rankings : iterable of LiveRanking
        What is there at each moment, each made from the one before.

    Yields
    ------
    Point
        One for each moment.

    Warns
    -----
    ScoreAboveOneWarning
        When an average precision comes to exceed 1.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> live = AveragePrecision([('x', 'v', '1', 'ann')], K=[1]).live()
    >>> [point.map.tolist() for point in live.watch([('x', 'v', '1', 'ann', 0.5)])]
    [[1.0]]
    """
    number = {query: row for row, query in enumerate(standing.queries)}
    rows = [number[query] for query in asked]
    ap = standing.ap()
    for ranking in rankings:
        standing.update(ranking)
        before, ap = ap, standing.ap()
        changed = standing.named(np.any(ap != before, axis=1))
        above = standing.named(np.any(ap > 1, axis=1) & ~np.any(before > 1, axis=1))
        warn_caller(scores_above_one(above, ranking.source.name, standing.definition))
        yield Point(len(ranking), mean_average_precision(ap[rows]), changed, asked, ap[rows])


def batches(rows: Any, size: int, read: Callable[[Any], Table]) -> Iterator[Table]:
    """So many hypotheses at a time.

    Parameters
    ----------
    rows : iterable of tuples, or any other run
        Tuples are taken as they come; anything else is read whole.
    size : int
        How many.
    read : callable
        Reads what is read whole.

    Yields
    ------
    Table
        As many, or fewer at the end.

    Raises
    ------
    ReadError, FormatError
        When the run cannot be read, or a hypothesis is wrong.

    Examples
    --------
    >>> rows = (('x', 'v', str(shot), 'ann', 0.5) for shot in range(5))
    >>> [len(table) for table in batches(rows, 2, read=list)]
    [2, 2, 1]
    """
    taken = iter(rows if is_rows(rows) else read(rows).rows())
    first = 1
    while batch := list(islice(taken, size)):
        yield from_rows(batch, HYPOTHESIS, first=first)
        first += len(batch)
