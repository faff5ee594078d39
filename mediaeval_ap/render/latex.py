"""Escapes of LaTeX, and the lines of booktabs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

LATEX = {
    **{each: f'\\{each}' for each in '&%$#_{}'},
    '\\': r'\textbackslash{}',
    '^': r'\textasciicircum{}',
    '~': r'\textasciitilde{}',
    '<': r'\textless{}',
    '>': r'\textgreater{}',
    '|': r'\textbar{}',
    '`': r'\textasciigrave{}',
    "'": r'\textquotesingle{}',
    '"': r'\char34{}',
    '-': '-{}',  # before another one: else LaTeX makes one dash of both
    '†': r'\dag{}',
    '≤': r'\ensuremath{\leq}',
}
_escape_latex = re.compile(
    '-(?=-)|' + '|'.join(re.escape(each) for each in LATEX if each != '-')
).sub


def escaped(text: str) -> str:
    """Return text of which LaTeX prints each character as it is."""
    return _escape_latex(lambda match: LATEX[match[0]], text)


def booktabs() -> Any:
    """Return what tabulate takes for the lines of booktabs around cells that are escaped."""
    from tabulate import DataRow, Line, TableFormat

    row = DataRow('', '&', r'\\')
    end = Line('\\bottomrule\n\\end{tabular}', '', '', '')
    return TableFormat(_begin_tabular, Line(r'\midrule', '', '', ''), None, end, row, row, 1, None)


def _begin_tabular(_: Sequence[int], alignments: Sequence[str]) -> str:
    """Return the first lines of a table, as tabulate asks for them."""
    return f'\\begin{{tabular}}{{{"".join(each[0] for each in alignments)}}}\n\\toprule'
