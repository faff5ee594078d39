"""A run that grows: one line a point, as the points come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mediaeval_ap.definitions import Cutoff, ap_column
from mediaeval_ap.report.grids import Grid, renderer

if TYPE_CHECKING:
    from mediaeval_ap.live import Point

__all__ = ['POINT_FORMATS', 'point_cells', 'point_headers', 'render_point', 'render_point_headers']

LEAST_WIDTH = len('0.000')


def point_headers(K: Sequence[Cutoff], *, skipping: bool = False) -> list[str]:
    """The columns of a table of points.

    Parameters
    ----------
    K : sequence of int or 'all'
        The cutoffs.
    skipping : bool
        Whether lines that are wrong are skipped, and counted.

    Returns
    -------
    list of str
        Their headers.

    Examples
    --------
    >>> point_headers([1, 10])
    ['hypotheses', 'MAP@1', 'MAP@10', 'changed']
    """
    return [
        'hypotheses',
        *(f'M{ap_column(k)}' for k in K),
        'changed',
        *(['skipped'] if skipping else []),
    ]


def point_cells(point: Point, n_skipped: int | None = None) -> list[str]:
    """One point as a row of a table.

    Parameters
    ----------
    point : Point
        The point.
    n_skipped : int or None
        How many lines were skipped, where any are.

    Returns
    -------
    list of str
        What the row holds; of the queries that changed, how many.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision([('x', 'v', '1', 'ann')], K=[1])
    >>> (point,) = average_precision.watch([('x', 'v', '1', 'ann', 0.5)])
    >>> point_cells(point)
    ['1', '1.000', '1']
    """
    return [
        str(point.n_hypotheses),
        *(f'{value:.3f}' for value in point.map.tolist()),
        str(len(point.changed)),
        *([] if n_skipped is None else [str(n_skipped)]),
    ]


def render_point_headers(headers: Sequence[str]) -> str:
    r"""The two lines above the points of a table.

    Parameters
    ----------
    headers : sequence of str
        As of `point_headers`.

    Returns
    -------
    str
        Lines, each with its end.

    Examples
    --------
    >>> render_point_headers(['hypotheses', 'MAP@1'])
    'hypotheses  MAP@1\n----------  -----\n'
    """
    rules = ['-' * max(len(header), LEAST_WIDTH) for header in headers]
    return _line(headers, headers) + _line(headers, rules)


def render_point(
    point: Point, K: Sequence[Cutoff], format: str = 'table', *, n_skipped: int | None = None
) -> str:
    r"""One point as one line.

    Parameters
    ----------
    point : Point
        The point.
    K : sequence of int or 'all'
        The cutoffs.
    format : {'table', 'jsonl'}
        What it is for.
    n_skipped : int or None
        How many lines were skipped, where any are.

    Returns
    -------
    str
        A line with its end.

    Raises
    ------
    ParameterError
        When there is no such format.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision([('x', 'v', '1', 'ann')], K=[1])
    >>> (point,) = average_precision.watch([('x', 'v', '1', 'ann', 0.5)])
    >>> render_point(point, [1], 'jsonl')
    '{"hypotheses": 1, "MAP@1": 1.0, "changed": ["ann"]}\n'
    """
    headers = point_headers(K, skipping=n_skipped is not None)
    return renderer(_RENDERERS, format)(point, headers, n_skipped)


def _table_line(point: Point, headers: Sequence[str], n_skipped: int | None) -> str:
    return _line(headers, point_cells(point, n_skipped))


def _json_line(point: Point, headers: Sequence[str], n_skipped: int | None) -> str:
    counted = [] if n_skipped is None else [n_skipped]
    values = [point.n_hypotheses, *point.map.tolist(), point.changed, *counted]
    return Grid(headers, [values]).render('jsonl')


def _line(headers: Sequence[str], cells: Sequence[str]) -> str:
    padded = (
        cell.rjust(max(len(header), LEAST_WIDTH))
        for header, cell in zip(headers, cells, strict=True)
    )
    return f'{"  ".join(padded)}\n'


_RENDERERS = {'table': _table_line, 'jsonl': _json_line}
POINT_FORMATS = tuple(_RENDERERS)
