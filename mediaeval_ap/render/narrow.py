"""Tables for terminals that are narrower than they are."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rich.table import Table

LEAST_TEXT = 8  # text that is folded more often is hard to read
_break_between_words = re.compile('(?<=[^_ ])[_ ](?=[^_ ])').sub
_words_of = re.compile(r'.+?(?:(?<=\w)[-_/]+|\s+|$)').findall  # of names, too: team-a_run/1


BOLD = '\x1b[1m{}\x1b[0m'


def shown_width(text: str) -> int:
    """Return how many columns of a terminal a text takes, bold or not."""
    from rich.cells import cell_len

    return cell_len(text.replace(BOLD[:4], '').replace(BOLD[-4:], ''))


class NarrowColumn(NamedTuple):
    """A header and the cells below it; text may be folded between its words."""

    header: str
    cells: Sequence[str]
    is_text: bool

    def least_width(self) -> int:
        """Return how many columns of the terminal this needs."""
        words = [word for each in self.cells for word in _words_of(each)]
        parts = [*(words if self.is_text else self.cells), *self.header.splitlines()]
        return max((shown_width(each.rstrip()) for each in parts), default=0)

    def width(self) -> int:
        """Return how many columns of the terminal this takes if no cell is folded."""
        return max(self.least_width(), *map(shown_width, self.cells), 0)


def narrow(columns: Sequence[NarrowColumn], width: int) -> str:
    """Return a table that is not wider than a terminal, as far as this can be.

    Headers and text are folded; if this is not enough, a row takes two lines, or one per field.
    """
    from rich.console import Console

    console = Console(
        file=io.StringIO(), width=width, color_system='standard', legacy_windows=False
    )
    for made in _folded, _on_two_lines, _field_by_field:
        table = made(columns, width)
        if sum((column.min_width or 0) + 1 for column in table.columns) - 1 <= width:
            break
    with console.capture() as capture:
        console.print(table)
    lines = capture.get().rstrip().splitlines()
    return ''.join(f'{line.rstrip()}\n' for line in lines)


def _folded(columns: Sequence[NarrowColumn], width: int) -> Table:
    spaced = [each._replace(header=_break_between_words('\n', each.header)) for each in columns]
    for at, each in enumerate(columns):  # only as many headers are folded as have to be
        tried = [*spaced[:at], each, *spaced[at + 1 :]]
        if sum(column.width() + 1 for column in tried) - 1 <= width:
            spaced = tried
    described = [(each.header, each.least_width(), each.is_text) for each in spaced]
    return _table(described, zip(*(each.cells for each in columns), strict=True), width)


def _on_two_lines(columns: Sequence[NarrowColumn], width: int) -> Table:
    """Put the second half of the fields of each row under the first."""
    half = -(-len(columns) // 2)
    filler = NarrowColumn('', [''] * len(columns[0].cells), is_text=False)
    pairs = list(zip_longest(columns[:half], columns[half:], fillvalue=filler))
    described = [
        (f'{one.header}\n{other.header}', max(one.least_width(), other.least_width()), True)
        for one, other in pairs
    ]
    lines = [*zip(*pairs, strict=True), ()]  # with a blank line behind each row
    rows = range(len(filler.cells))
    cells = ([each.cells[row] for each in line] for row in rows for line in lines)
    return _table(described, cells, width)


def _field_by_field(columns: Sequence[NarrowColumn], width: int) -> Table:
    widest = max(len(each.header) for each in columns)
    rows = (
        [each.header, each.cells[row]] if each else []
        for row in range(len(columns[0].cells))
        for each in (*columns, None)
    )
    described = [('', widest, False), ('', LEAST_TEXT, True)]
    return _table(described, rows, width, show_header=False)


def _table(
    columns: Sequence[tuple[str, int, bool]],
    rows: Iterable[Sequence[str]],
    width: int,
    show_header: bool = True,
) -> Table:
    """Return a table of columns with their least width; the first text gets the room first."""
    from rich.box import Box
    from rich.table import Table
    from rich.text import Text

    under_headers = Box('    \n    \n -  \n    \n    \n    \n    \n    \n')
    table = Table(
        box=under_headers, padding=0, show_edge=False, header_style='', show_header=show_header
    )
    lines = list(map(list, rows))
    room = max(width + 1 - sum(least + 1 for _, least, _ in columns), 0)
    for at, (header, least, is_text) in enumerate(columns):
        wide = least
        if is_text:
            widest = max((shown_width(row[at]) for row in lines if row), default=0)
            wide = min(max(least, widest), least + room)
            room -= wide - least
            for row in filter(None, lines):
                row[at] = _between_words(row[at], wide)
        table.add_column(
            Text(header),
            justify='left' if is_text else 'right',
            overflow='fold',
            no_wrap=not is_text,
            min_width=wide,
        )
    for cells in lines:
        table.add_row(*(Text.from_ansi(each) if '\x1b' in each else Text(each) for each in cells))
    return table


def _between_words(text: str, width: int) -> str:
    """Fold text where a word ends."""
    lines = ['']
    for word in _words_of(text):
        if lines[-1] and shown_width(f'{lines[-1]}{word}'.rstrip()) > width:
            lines.append('')
        lines[-1] += word
    return '\n'.join(map(str.rstrip, lines))
