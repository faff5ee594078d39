"""One answer of a session, or the error in its place, as one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mediaeval_ap.definitions import Cutoff, ap_column
from mediaeval_ap.errors import printable
from mediaeval_ap.report.grids import Grid, renderer

__all__ = ['ANSWER_FORMATS', 'render_answer', 'render_refusal']


def render_answer(
    query: str, ap: Sequence[float], n_relevant: int, K: Sequence[Cutoff], format: str = 'tsv'
) -> str:
    r"""One answer of a session as one line.

    Parameters
    ----------
    query : str
        The name asked for.
    ap : sequence of float
        Average precision at each cutoff.
    n_relevant : int
        How many shots are relevant.
    K : sequence of int or 'all'
        The cutoffs.
    format : {'tsv', 'jsonl'}
        The query, `n_relevant` and `ap` between tabs, or as an object.

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
    >>> render_answer('alain_juppe', [0.0, 0.25], 2, [1, 10], 'jsonl')
    '{"query": "alain_juppe", "n_relevant": 2, "AP@1": 0.0, "AP@10": 0.25}\n'
    """
    grid = Grid(['query', 'n_relevant', *map(ap_column, K)], [[query, n_relevant, *ap]])
    return renderer(_RENDERERS, format)(grid)


def render_refusal(query: str, error: str, format: str = 'tsv') -> str:
    r"""Render the error that stands where an answer would stand, as one line.

    Parameters
    ----------
    query : str
        The line that is no query.
    error : str
        The error, on one line.
    format : {'tsv', 'jsonl'}
        As of `render_answer`.

    Returns
    -------
    str
        A line with its end. Between tabs, the second field begins with ``error:``.

    Raises
    ------
    ParameterError
        When there is no such format.

    Examples
    --------
    >>> render_refusal('', 'found an empty line, expected a name')
    '\terror: found an empty line, expected a name\n'
    >>> render_refusal('a b', 'found 2 fields', 'jsonl')
    '{"query": "a b", "error": "found 2 fields"}\n'
    """
    if format == 'tsv':
        query, error = printable(query), f'error: {error}'
    return renderer(_RENDERERS, format)(Grid(['query', 'error'], [[query, error]]))


def _tsv(grid: Grid) -> str:
    return '\t'.join(map(str, grid.rows[0])) + '\n'


def _json_line(grid: Grid) -> str:
    return grid.render('jsonl')


_RENDERERS: dict[str, Callable[[Grid], str]] = {'tsv': _tsv, 'jsonl': _json_line}
ANSWER_FORMATS = tuple(_RENDERERS)
