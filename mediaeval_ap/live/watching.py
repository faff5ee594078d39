"""A run that grows, scored each time that so many hypotheses have come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import warn_caller
from mediaeval_ap.evaluation.data_warnings import scores_above_one
from mediaeval_ap.live.incremental import IncrementalScorer
from mediaeval_ap.live.ranking import LiveRanking
from mediaeval_ap.results.means_and_notes import mean_average_precision
from mediaeval_ap.tables import HYPOTHESIS, Table
from mediaeval_ap.tables.reading import is_rows
from mediaeval_ap.tables.rows import from_rows


@dataclass(frozen=True, eq=False)
class Point:
    """The scores of a run at the moment when so many of its hypotheses had come.

    Parameters
    ----------
    n_hypotheses : int
        Number of hypotheses of the videos that count.
    map : ndarray of float64, shape (n_cutoffs,)
        Mean average precision at each cutoff.
    changed : list of str
        The queries whose average precision changed since the point before, or since the start.
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
    scorer: IncrementalScorer, asked: list[str], rankings: Iterable[LiveRanking]
) -> Iterator[Point]:
    """Yield a point for each ranking, each of which was made from the one before."""
    row_of = {query: row for row, query in enumerate(scorer.queries)}
    rows = [row_of[query] for query in asked]
    ap = scorer.ap()
    for ranking in rankings:
        scorer.update(ranking)
        before, ap = ap, scorer.ap()
        changed = scorer.named(np.any(ap != before, axis=1))
        above = scorer.named(np.any(ap > 1, axis=1) & ~np.any(before > 1, axis=1))
        warn_caller(scores_above_one(above, ranking.source.name, scorer.definition))
        yield Point(len(ranking), mean_average_precision(ap[rows]), changed, asked, ap[rows])


def batches(rows: Any, size: int, read: Callable[[Any], Table]) -> Iterator[Table]:
    """Yield so many hypotheses at a time: tuples as they come, any other run read whole."""
    taken = iter(rows if is_rows(rows) else read(rows).rows())
    first = 1
    while batch := list(islice(taken, size)):
        yield from_rows(batch, HYPOTHESIS, first=first)
        first += len(batch)
