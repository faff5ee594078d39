"""Rows under headers, in every format that has rows.

Formats for eyes show three decimals, and escape what a terminal, Markdown or LaTeX would obey;
formats for programs hold every value exactly.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from types import SimpleNamespace
from typing import Any, TypeVar

from mediaeval_ap.errors import ParameterError, printable, shown
from mediaeval_ap.plain_text import plain_text

__all__ = [
    'FORMATS',
    'Grid',
    'code_span',
    'heading',
    'json_document',
    'queries_counted',
    'renderer',
]

Renderer = TypeVar('Renderer')


@dataclass(frozen=True)
class Grid:
    """Rows of values under headers.

    Parameters
    ----------
    headers : sequence of str
        One a column.
    rows : sequence of sequences
        Text, integers, truth values and floats; none where there is nothing.
    exact : collection of str
        Headers of the columns whose floats are shown in full.

    Examples
    --------
    >>> print(Grid(['query', 'AP@1'], [['nan', 0.5], ['o_b|c', 1.0]]).render('table'))
    query      AP@1
    -------  ------
    nan       0.500
    o_b|c     1.000
    <BLANKLINE>
    >>> print(Grid(['query', 'AP@1'], [['nan', 0.1 + 0.2]]).render('csv'))
    query,AP@1
    nan,0.30000000000000004
    <BLANKLINE>
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[Any]]
    exact: Collection[str] = ()

    def render(self, format: str) -> str:
        """The grid as text.

        Parameters
        ----------
        format : {'table', 'csv', 'json', 'jsonl', 'markdown', 'latex'}
            What it is for.

        Returns
        -------
        str
            Lines, each with its end.

        Raises
        ------
        ParameterError
            When there is no such format.
        """
        return renderer(_RENDERERS, format)(self)


def renderer(renderers: Mapping[str, Renderer], format: str) -> Renderer:
    """What renders a format.

    Parameters
    ----------
    renderers : mapping of str to callable
        One a format.
    format : str
        A format.

    Returns
    -------
    callable
        Its renderer.

    Raises
    ------
    ParameterError
        When there is no such format.

    Examples
    --------
    >>> renderer({'text': str}, 'xml')
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.ParameterError: format: found 'xml', expected one of text
    """
    name = plain_text(format)
    if name is None or name not in renderers:
        known = ', '.join(renderers)
        raise ParameterError(f'format: found {shown(format)}, expected one of {known}')
    return renderers[name]


def _table(grid: Grid) -> str:
    return _tabulated(grid, 'simple', printable)


def _markdown(grid: Grid) -> str:
    return _tabulated(grid, 'github', code_span)


def _latex(grid: Grid) -> str:
    text = _tabulated(grid, 'latex_booktabs', printable)
    # After a line break LaTeX would take a bracket or a star for an argument of it.
    return re.sub(r'^ (?=[\[*])', ' {}', text, flags=re.MULTILINE)


def _tabulated(grid: Grid, style: str, quote: Callable[[str], str]) -> str:
    from tabulate import tabulate

    formats = ['' if header in grid.exact else '.3f' for header in grid.headers]
    cells = [list(map(_cell, row, formats, repeat(quote))) for row in grid.rows]
    first = grid.rows[0] if grid.rows else []
    text: str = tabulate(
        cells,
        headers=grid.headers,
        tablefmt=style,
        disable_numparse=True,
        colalign=['left' if isinstance(value, str) else 'right' for value in first],
    )
    return f'{text}\n'


def _cell(value: Any, decimals: str, quote: Callable[[str], str]) -> str:
    if value is None:
        return ''
    if isinstance(value, bool):
        return 'yes' if value else ''
    if isinstance(value, float):
        return format(value, decimals)
    return quote(value) if isinstance(value, str) else str(value)


def code_span(text: str) -> str:
    r"""Text in Markdown that nothing in it can format, nor end a cell.

    Parameters
    ----------
    text : str
        A name, a path.

    Returns
    -------
    str
        The same between backticks.

    Examples
    --------
    >>> print(code_span('a|b'))
    `a\|b`
    """
    text = printable(text).replace('|', r'\|')
    runs = re.findall('`+', text)
    if not runs:
        return f'`{text}`'
    fence = '`' * (max(map(len, runs)) + 1)
    return f'{fence} {text} {fence}'


def queries_counted(count: int) -> str:
    """How many queries there are, as the header above their means.

    Parameters
    ----------
    count : int
        How many.

    Returns
    -------
    str
        The number and the noun.

    Examples
    --------
    >>> queries_counted(1), queries_counted(3)
    ('1 query', '3 queries')
    """
    return f'{count} {"query" if count == 1 else "queries"}'


def heading(name: str, note: str, format: str) -> str:
    r"""What stands above a grid: the name of a run, and what was made of it.

    Parameters
    ----------
    name : str
        Name of the run.
    note : str
        What was made of it, in a word or two, or nothing.
    format : {'table', 'markdown', 'latex'}
        What it is for.

    Returns
    -------
    str
        A line with its end.

    Examples
    --------
    >>> heading('run.txt', 'trec', 'markdown')
    '**`run.txt` (trec)**\n'
    """
    note = f' ({note})' if note else ''
    if format == 'markdown':
        return f'**{code_span(name)}{note}**\n'
    return f'{"% " if format == "latex" else ""}{printable(name)}{note}\n'


def _csv(grid: Grid) -> str:
    lines: list[str] = []  # with the writer's own line ends, for which it quotes
    writer = csv.writer(SimpleNamespace(write=lines.append))
    writer.writerows([grid.headers, *grid.rows])
    return ''.join(f'{line.removesuffix(writer.dialect.lineterminator)}\n' for line in lines)


def _json(grid: Grid) -> str:
    return json_document(_objects(grid))


def _json_lines(grid: Grid) -> str:
    return ''.join(f'{json.dumps(row, ensure_ascii=False)}\n' for row in _objects(grid))


def _objects(grid: Grid) -> list[dict[str, Any]]:
    return [dict(zip(grid.headers, row, strict=True)) for row in grid.rows]


def json_document(value: Any) -> str:
    r"""A value as a JSON document that people can read too.

    Parameters
    ----------
    value : object
        Objects, lists, text and numbers.

    Returns
    -------
    str
        Indented lines, each with its end.

    Examples
    --------
    >>> json_document(['zoë'])
    '[\n  "zoë"\n]\n'
    """
    return f'{json.dumps(value, ensure_ascii=False, indent=2)}\n'


_RENDERERS: dict[str, Callable[[Grid], str]] = {
    'table': _table,
    'csv': _csv,
    'json': _json,
    'jsonl': _json_lines,
    'markdown': _markdown,
    'latex': _latex,
}
FORMATS = tuple(_RENDERERS)
