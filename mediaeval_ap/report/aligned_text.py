"""Cells laid out as aligned columns of text.

tabulate with what it imports would take a tenth of the time of a small evaluation. So cells of
plain ASCII are laid out here, as it does in its style `simple`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

PADDING = 2  # of headers, as tabulate has it
GAP = '  '


def aligned(
    headers: Sequence[str], rows: Sequence[Sequence[str]], alignments: Sequence[str], style: Any
) -> str:
    """Return cells below their headers, in a style of tabulate; columns are `left` or `right`."""
    if style == 'simple' and any(rows) and is_plain(chain(headers, *rows)):
        return aligned_simply(headers, rows, alignments)
    from tabulate import tabulate

    return tabulate(
        rows, headers=headers, tablefmt=style, disable_numparse=True, colalign=alignments
    )


def is_plain(texts: Iterable[str]) -> bool:
    """Return whether each character of some texts takes one column, and none is obeyed."""
    return all(text.isascii() and text.isprintable() for text in texts)


def aligned_simply(
    headers: Sequence[str], rows: Sequence[Sequence[str]], alignments: Sequence[str]
) -> str:
    """Return plain cells in the style `simple`."""
    columns = [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]
    widths = [
        max(len(header) + PADDING, *map(len, column))
        for header, column in zip(headers, columns, strict=True)
    ]
    adjusts = [str.ljust if each == 'left' else str.rjust for each in alignments]

    def line(cells: Sequence[str]) -> str:
        parts = zip(adjusts, cells, widths, strict=True)
        return GAP.join(adjust(cell, width) for adjust, cell, width in parts).rstrip()

    rule = GAP.join('-' * width for width in widths)
    return '\n'.join([line(headers), rule, *map(line, zip(*columns, strict=True))])
