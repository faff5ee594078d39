"""Rows of a growing run that end at an error or a signal, so that those before are scored."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from mediaeval_ap.errors import Error

if TYPE_CHECKING:
    from mediaeval_ap.average_precision import AveragePrecision

Row = tuple[Any, ...]


def arriving_of(average_precision: AveragePrecision, run: str, **settings: Any) -> Iterator[Row]:
    """Yield the rows of a run as they come; those of a store in the order of its places."""
    from mediaeval_ap.tables import HYPOTHESIS
    from mediaeval_ap.tables.reading import arriving

    criteria = average_precision._criteria
    if not settings['follow'] and (store := criteria.open_run(run)) is not None:
        yield from store.ranking.table.rows()
    else:
        yield from arriving(run, HYPOTHESIS, **settings)


# After these the last point is shown; after SIGHUP nobody would see it. Windows has no SIGQUIT.
LAST_POINT = [
    getattr(signal, name) for name in ('SIGINT', 'SIGTERM', 'SIGQUIT') if hasattr(signal, name)
]


class Ending:
    """Rows that end at an error or, from the first row on, at the first signal that is handled."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self.error: Error | None = None
        self.signal = 0
        self.has_ended = False
        self.before_leaving: Callable[[], object] = lambda: None
        self._rows = rows
        self._waiting = False
        self._before: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _take_signals(self) -> None:
        for number in LAST_POINT:
            handler = signal.getsignal(number)
            if callable(handler):  # neither ignored nor left to the system
                self._before[number] = handler
                signal.signal(number, self._end)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self.signal:  # the second ends at once
            self.before_leaving()
            self._before[number](number, frame)
        self.signal = number
        if self._waiting:
            raise KeyboardInterrupt

    def __iter__(self) -> Iterator[Row]:
        is_first = True
        while True:
            try:
                try:  # whenever the handler raises, it is in here
                    self._waiting = True
                    if self.signal:
                        return
                    row = next(self._rows)
                finally:
                    self._waiting = False
            except StopIteration:
                self.has_ended = True
                return
            except KeyboardInterrupt:
                if self.signal:
                    return
                raise
            except Error as error:
                self.error = error
                return
            if is_first:  # before it, there is nothing to score
                self._take_signals()
                is_first = False
            yield row
