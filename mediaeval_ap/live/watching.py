"""A run that grows, scored each time that so many hypotheses have come, and a page about it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import ap_column
from mediaeval_ap.errors import ParameterError, counted, printable, require
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.results.described import returned_or_written
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
    n_reference : int
        Number of rows of the reference that count.

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
    n_reference: int = 0


class JudgedRows(NamedTuple):
    """Rows of the reference that came among the rows of a run, to be judged at once.

    There are none where the run has ended, and more may be judged.
    """

    rows: list[Any]


def batches(
    rows: Any,
    size: int,
    read: Callable[[Any], Table],
    add: Callable[[Table], int],
    judge: Callable[[Any], object],
) -> Iterator[int]:
    """Add hypotheses, and yield each time that so many that count are there, and at the end.

    Tuples are taken as they come, any other run is read whole; `add` returns how many count. What
    is judged among them is a moment of its own.
    """
    taken = iter(rows if is_rows(rows) else read(rows).rows())
    n_rows, n_counted, n_yielded = 0, 0, -1
    while True:
        batch, judged, n_added = [], None, 0
        for row in islice(taken, size - n_counted % size):  # no more than are missing
            if isinstance(row, JudgedRows):
                judged = row
                break
            batch.append(row)
        if not batch and judged is None:
            break
        if batch:
            n_added = add(from_rows(batch, HYPOTHESIS, first=n_rows + 1))
            n_rows, n_counted = n_rows + len(batch), n_counted + n_added
        if judged is not None and judged.rows:
            judge(judged.rows)
        is_moment = judged is not None and (judged.rows or n_counted > n_yielded)
        if is_moment or (n_added and n_counted % size == 0):
            yield (n_yielded := n_counted)
    if n_rows and n_counted > n_yielded:
        yield n_counted


HYPOTHESES = 'hypotheses'
OF_REFERENCE = 'row of the reference', 'rows of the reference'


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
    >>> average_precision = AveragePrecision('samples/reference.txt', K=[10])
    >>> page = WatchPage(average_precision, 'hypothesis.txt')
    >>> queries = ['nicolas_sarkozy', 'alain_juppe']
    >>> for point in average_precision.watch('samples/hypothesis.txt', queries, every=4000):
    ...     page.add(point)
    >>> page
    WatchPage of hypothesis.txt, 3 points
    >>> headline = 'MAP@10 of hypothesis.txt is 0.149 over 2 queries, after 12,000 hypotheses.'
    >>> headline in page.to_html()
    True
    """

    def __init__(self, average_precision: Any, run: str = '<rows>') -> None:
        for module in 'altair', 'jinja2', 'vl_convert':
            require(module, 'report', 'the page')
        self._criteria: Criteria = average_precision._criteria
        self._run = run
        self._metrics = [f'M{ap_column(k)}' for k in self._criteria.K]
        self._number_of: dict[str, int] = {}  # of each query
        self._newest: Point | None = None  # whose queries, asked again, count again in the mean
        self._points: list[tuple[int, int, list[float], list[int]]] = []

    def __repr__(self) -> str:
        n_points = counted(len(self._points), 'point', 'points')
        return f'WatchPage of {printable(self._run)}, {n_points}'

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
        """
        number_of = {query: n for n, query in enumerate(dict.fromkeys(point.queries))}
        if not self._points:
            self._number_of = number_of
        if len(point.map) != len(self._metrics):
            expected = ', '.join(self._metrics)
            raise ParameterError(f'point: found {len(point.map)} means, expected {expected}')
        if [*number_of] != [*self._number_of]:
            raise ParameterError('point: found other queries than those of the points before it')
        if self._points and point.n_hypotheses < (before := self._points[-1][0]):
            found = counted(point.n_hypotheses, 'hypothesis', 'hypotheses')
            raise ParameterError(f'point: found {found}, expected {before:,} or more')
        changed = [number_of[query] for query in point.changed]
        self._newest = point
        sizes = point.n_hypotheses, point.n_reference
        self._points.append((*sizes, point.map.tolist(), changed))

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        notes: Iterable[str] = (),
        warnings: Iterable[Any] = (),
        skipped: Sequence[Any] = (),
        reload: int | None = None,
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
        reload : int, optional
            Seconds after which an open page loads itself again, for a run that still grows.

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
        """
        points, newest = list(self._points), self._newest  # another thread may add to them
        if newest is None:
            raise ParameterError('points: found none, expected one or more')
        from mediaeval_ap.render import figures
        from mediaeval_ap.render.page import javascript_bundle, on_page, page

        lengths, judged, maps, changed = zip(*points, strict=True)
        is_judged = len(set(judged)) > 1  # the reference grew, and perhaps not the run
        sizes, unit = (judged, OF_REFERENCE) if is_judged else (lengths, ('hypothesis', HYPOTHESES))
        chart = figures.watch(sizes, unit[1], self._metrics, list(zip(*maps, strict=True)))
        name, last = printable(self._run), maps[-1][-1]
        size = counted(lengths[-1], 'hypothesis', HYPOTHESES)
        if is_judged:
            size += f' and {counted(judged[-1], *OF_REFERENCE)}'
        n_queries = counted(len(newest.queries), 'query', 'queries')
        criteria = self._criteria
        inputs = [
            (role, printable(table.source.name), table.source.sha256)
            for role, table in (
                ('reference', criteria.reference.table),
                ('subset', criteria.subset),
            )
            if table is not None
        ]
        text = page(
            'watch.html.j2',
            title=f'{name} as it grew',
            data={
                'metrics': self._metrics,
                'queries': [*self._number_of],
                'unit': unit,
                'points': [
                    {'hypotheses': n, 'rows': rows, 'at': at, 'map': values, 'changed': numbers}
                    for at, (n, rows, values, numbers) in zip(sizes, points, strict=True)
                ],
                'figures': {'watch': on_page(chart) | {'legend': []}},
            },
            bundle=javascript_bundle(),
            scripts=('watch.js',),
            headline=f'{self._metrics[-1]} of {name} is {last:.3f} over {n_queries}, after {size}.',
            notes=list(map(printable, notes)),
            metrics=self._metrics,
            unit=unit[1],
            size=size,
            points=list(zip(sizes, maps, changed, strict=True)),
            counted_points=counted(len(points), 'point', 'points'),
            n_queries=n_queries,
            newest=newest,
            reload=reload,
            definition=criteria.definition.to_dict(),
            inputs=[*inputs, ('run', name, None)],
            warnings=[printable(str(each)) for each in warnings],
            skipped=[printable(str(each)) for each in skipped],
        )
        return returned_or_written(text, path)
