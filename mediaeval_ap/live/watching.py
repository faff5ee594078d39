"""A run that grows, scored each time that so many hypotheses have come, and a page about it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.atomic_files import write_whole
from mediaeval_ap.definitions import ap_column
from mediaeval_ap.errors import ParameterError, counted, printable, require, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.data_warnings import scores_above_one
from mediaeval_ap.live.incremental import IncrementalScorer
from mediaeval_ap.live.live_ranking import LiveRanking
from mediaeval_ap.results.result import mean_average_precision
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


class Evaluator(Protocol):
    """An evaluator that scores the run: an `AveragePrecision`."""

    _criteria: Criteria


class WatchPage:
    """A page that shows how the scores of a run changed as it grew.

    Parameters
    ----------
    average_precision : AveragePrecision
        What scores the run: its cutoffs, definition and inputs are on the page.
    run : str
        The name of the run.

    Raises
    ------
    MissingExtraError
        When the extra ``report`` is not installed.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision, WatchPage
    >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
    >>> page = WatchPage(average_precision, 'hypothesis.txt')
    >>> queries = ['nicolas_sarkozy', 'alain_juppe']
    >>> for point in average_precision.watch('samples/hypothesis.txt', queries, every=4000):
    ...     page.add(point)
    >>> page.to_html()[:15]
    '<!doctype html>'
    """

    def __init__(self, average_precision: Evaluator, run: str = '<rows>') -> None:
        for module in 'altair', 'jinja2', 'vl_convert':
            require(module, 'report', 'the page')
        self._criteria = average_precision._criteria
        self._run = run
        self._metrics = [f'M{ap_column(k)}' for k in self._criteria.K]
        self._queries: list[str] = []
        self._n_asked = 0  # queries that are asked again count again in the mean
        self._number_of: dict[str, int] = {}
        self._points: list[tuple[int, list[float], list[int]]] = []

    def __repr__(self) -> str:
        return f'WatchPage of {printable(self._run)}, {self._counted()}'

    def add(self, point: Point) -> None:
        """Add a point behind the others.

        Parameters
        ----------
        point : Point
            As `AveragePrecision.watch` yields it.

        Raises
        ------
        ParameterError
            When it has other cutoffs or queries than those before it, or fewer hypotheses.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision, WatchPage
        >>> average_precision = AveragePrecision([('x', 'v', '1', 'ann')], K=[1])
        >>> page = WatchPage(average_precision)
        >>> for point in average_precision.watch([('x', 'v', '1', 'ann', 0.5)]):
        ...     page.add(point)
        >>> page
        WatchPage of <rows>, 1 point
        """
        if not self._points:
            self._n_asked = len(point.queries)
            self._queries = list(dict.fromkeys(point.queries))
            self._number_of = {query: number for number, query in enumerate(self._queries)}
        self._check(point)
        changed = [self._number_of[query] for query in point.changed]
        self._points.append((point.n_hypotheses, point.map.tolist(), changed))

    def _check(self, point: Point) -> None:
        if len(point.map) != len(self._metrics):
            expected = ', '.join(self._metrics)
            raise ParameterError(f'point: found {len(point.map)} means, expected {expected}')
        if list(dict.fromkeys(point.queries)) != self._queries:
            raise ParameterError('point: found other queries than those of the points before it')
        if self._points and point.n_hypotheses < (before := self._points[-1][0]):
            found = counted(point.n_hypotheses, 'hypothesis', 'hypotheses')
            raise ParameterError(f'point: found {found}, expected {before:,} or more')

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        notes: Iterable[str] = (),
        warnings: Iterable[Any] = (),
        skipped: Sequence[Any] = (),
    ) -> str | None:
        """Return the page of all points so far, or write it.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write: whole or not at all.
        notes : iterable of str
            Sentences that stand under the headline.
        warnings, skipped : iterable of str or Exception
            What was warned of, and the errors of lines that were skipped.

        Returns
        -------
        str or None
            The page, which needs no other file and no network; None if it is written to a file.

        Raises
        ------
        ParameterError
            When there is no point.
        WriteError
            When the file cannot be written.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision, WatchPage
        >>> average_precision = AveragePrecision([('x', 'v', '1', 'ann')], K=[1])
        >>> page = WatchPage(average_precision)
        >>> for point in average_precision.watch([('x', 'v', '1', 'ann', 0.5)]):
        ...     page.add(point)
        >>> 'MAP@1 of &lt;rows&gt; is 1.000 over 1 query, after 1 hypothesis.' in page.to_html()
        True
        """
        points = list(self._points)  # another thread may add to them
        if not points:
            raise ParameterError('points: found none, expected one or more')
        text = self._page(points, list(notes), list(warnings), list(skipped))
        if path is None:
            return text
        write_whole(path, text)
        return None

    def _counted(self) -> str:
        return counted(len(self._points), 'point', 'points')

    def _page(
        self, points: list[Any], notes: list[str], warnings: list[Any], skipped: list[Any]
    ) -> str:
        from mediaeval_ap.render import figures
        from mediaeval_ap.render.page import javascript_bundle, on_page, page

        sizes, maps, _ = zip(*points, strict=True)
        chart = figures.watch(sizes, self._metrics, list(zip(*maps, strict=True)))
        name, last = printable(self._run), maps[-1][-1]
        size = counted(sizes[-1], 'hypothesis', 'hypotheses')
        n_queries = counted(self._n_asked, 'query', 'queries')
        return page(
            'watch.html.j2',
            title=f'{name} as it grew',
            data={
                'metrics': self._metrics,
                'queries': self._queries,
                'points': [
                    {'hypotheses': n, 'map': values, 'changed': numbers}
                    for n, values, numbers in points
                ],
                'figures': {'watch': {'spec': on_page(chart).spec, 'legend': []}},
            },
            bundle=javascript_bundle(),
            scripts=('watch.js',),
            headline=f'{self._metrics[-1]} of {name} is {last:.3f} over {n_queries}, after {size}.',
            notes=list(map(printable, notes)),
            metrics=self._metrics,
            points=points,
            counted_points=self._counted(),
            n_queries=n_queries,
            definition=self._criteria.definition.to_dict(),
            inputs=self._inputs(),
            warnings=[printable(str(each)) for each in warnings],
            skipped=[printable(str(each)) for each in skipped],
        )

    def _inputs(self) -> list[tuple[str, str, str | None]]:
        criteria = self._criteria
        tables = {'reference': criteria.reference.table, 'subset': criteria.subset}
        read = [
            (role, printable(table.source.name), table.source.sha256)
            for role, table in tables.items()
            if table is not None
        ]
        return [*read, ('run', printable(self._run), None)]
