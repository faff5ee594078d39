"""Aligned text of cells of plain ASCII, as tabulate lays them out in its style `simple`.

tabulate and what it imports would take a tenth of the time of a small evaluation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

PADDING = 2  # of headers, as tabulate has it
GAP = '  '


def is_plain(texts: Iterable[str]) -> bool:
    """Return whether each character of some texts takes one column, and none is obeyed."""
    return all(text.isascii() and text.isprintable() for text in texts)


def aligned(
    headers: Sequence[str], rows: Sequence[Sequence[str]], alignments: Sequence[str]
) -> str:
    """Return plain cells below their headers, each column aligned to the left or right."""
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
