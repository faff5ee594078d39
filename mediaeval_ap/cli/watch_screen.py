"""The table of a growing run that a terminal shows anew at each row."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from mediaeval_ap.cli.output import is_on_terminal
from mediaeval_ap.render.formats import short

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

LINES_AROUND_ROWS = 5  # of the table: borders, header, and the line of the cursor
SHOW_CURSOR = b'\x1b[?25h\n'
LEAST_WIDTH = len('100.000')  # of a MAP that exceeds 1, too


class Screen:
    """A table on the terminal, of the last rows that were shown."""

    def __init__(self, headers: Sequence[str], console: Console) -> None:
        from rich.live import Live

        self._headers = headers
        self._rows: deque[list[str]] = deque(maxlen=max(1, console.height - LINES_AROUND_ROWS))
        self._live = Live(console=console, redirect_stderr=is_on_terminal())

    @classmethod
    def on_terminal(cls, headers: Sequence[str]) -> Self | None:
        """Return the table if standard output is a terminal that can show it, else None."""
        if sys.stdout is None or not sys.stdout.isatty():
            return None
        from rich.console import Console

        console = Console()
        screen = cls(headers, console)
        unlimited = console.options.update_width(sys.maxsize)
        width = console.measure(screen._table(), options=unlimited).maximum
        fits = width <= console.width and console.height > LINES_AROUND_ROWS
        return screen if console.is_interactive and fits else None

    def show(self, row: Sequence[Any]) -> None:
        self._rows.append(list(map(short, row)))
        self._live.start()  # no sooner: until the first row is there, signals end at once
        self._live.update(self._table())

    def close(self) -> None:
        self._live.stop()

    @staticmethod
    def give_back_cursor() -> None:
        """Show the cursor again, whatever is being written."""
        os.write(sys.stdout.fileno(), SHOW_CURSOR)

    def _table(self) -> Table:
        from rich.box import SIMPLE
        from rich.table import Table

        table = Table(box=SIMPLE)
        for header in self._headers:
            table.add_column(header, justify='right', no_wrap=True, min_width=LEAST_WIDTH)
        for row in self._rows:
            table.add_row(*row)
        return table
