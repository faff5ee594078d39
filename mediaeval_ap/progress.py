"""Progress on standard error, of work that takes longer than half a second."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import wraps
from threading import RLock, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

DELAY_SECONDS = 0.5  # whoever waits for less needs no bar
SECONDS_BETWEEN_DRAWINGS = 0.2

_shown_since: ContextVar[float] = ContextVar('_shown_since', default=math.inf)
_under_way: list[Bar] = []  # the outermost first
_lock = RLock()
_thread: Thread | None = None
Item = TypeVar('Item')
P = ParamSpec('P')
Result = TypeVar('Result')


def shown(is_shown: bool = True) -> AbstractContextManager[None]:
    """Show the progress of all that is done within, if it is not shown already."""
    since = _shown_since.get()
    return _setting(min(since, monotonic()) if is_shown else since)


def hidden() -> AbstractContextManager[None]:
    """Show no progress of what is done within."""
    return _setting(math.inf)


@contextmanager
def _setting(since: float) -> Iterator[None]:
    token = _shown_since.set(since)
    try:
        yield
    finally:
        _shown_since.reset(token)
        if since < math.inf == _shown_since.get():
            for bar in [*_under_way]:  # of generators that an error left suspended
                bar.close()


def shows_progress(function: Callable[P, Result]) -> Callable[P, Result]:
    """Decorate a public function so that its parameter `progress` holds for all that it calls."""

    @wraps(function)
    def decorated(*arguments: P.args, **settings: P.kwargs) -> Result:
        with shown(bool(settings.get('progress'))):
            return function(*arguments, **settings)

    return decorated


def step(description: str) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """Decorate a function that is a step without parts."""

    def decorate(function: Callable[P, Result]) -> Callable[P, Result]:
        @wraps(function)
        def decorated(*arguments: P.args, **settings: P.kwargs) -> Result:
            with Bar(description):
                return function(*arguments, **settings)

        return decorated

    return decorate


class Bar:
    """A bar, or the name and time of a step without parts, if progress is shown.

    A thread draws it, so that it appears, and its time goes on, while a library computes. tqdm is
    imported only then: short work does not wait for it.
    """

    def __init__(self, description: str, total: int | None = None, unit: str = '') -> None:
        self._settings: dict[str, Any] = {'desc': description, 'total': total, 'unit': unit}
        if not unit:
            self._settings['bar_format'] = '{desc} [{elapsed}]'
        self._appears = math.inf
        self._done = 0
        self._bar: tqdm[Any] | None = None

    def __enter__(self) -> Bar:
        global _thread
        since = _shown_since.get()
        if since < math.inf:
            with _lock:
                self._appears = DELAY_SECONDS + (monotonic() if _under_way else since)
                _under_way.append(self)
                if _thread is None:
                    _thread = Thread(target=_go_on_drawing, daemon=True)
                    _thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Clear the bar."""
        with _lock:
            if self in _under_way:
                _under_way.remove(self)
            if self._bar is not None:
                self._bar.close()

    def add(self, amount: int = 1) -> None:
        """Count what was done since the last call."""
        self._done += amount

    def draw(self) -> None:
        """Show how much is done, if it is time."""
        if self._bar is None and monotonic() >= self._appears:
            from tqdm import TqdmWarning
            from tqdm.auto import tqdm

            is_bytes = self._settings['unit'] == 'B'
            with warnings.catch_warnings():
                warnings.simplefilter('ignore', TqdmWarning)  # a notebook without widgets: text
                self._bar = tqdm(
                    **self._settings, initial=self._done, unit_scale=is_bytes, leave=False
                )
        elif self._bar is not None and not self._bar.update(self._done - self._bar.n):
            self._bar.refresh()


def draw_all() -> None:
    """Show how much is done of all that is under way."""
    with _lock:
        for bar in _under_way:
            bar.draw()


def _go_on_drawing() -> None:
    """Draw what is under way until nothing is."""
    global _thread
    while True:
        sleep(SECONDS_BETWEEN_DRAWINGS)
        with _lock:
            if not _under_way:
                _thread = None
                return
        draw_all()


@contextmanager
def above_bars() -> Iterator[None]:
    """Clear the bars while something else is written to the terminal."""
    with _lock:
        bars = [bar._bar for bar in _under_way if bar._bar is not None]
        for bar in bars:
            bar.clear()
        yield
        for bar in bars:
            bar.refresh()


def tracked(items: Iterable[Item], description: str, unit: str) -> Iterator[Item]:
    """Give items, with a bar that moves as they are taken."""
    with Bar(description, len(items) if isinstance(items, Sized) else None, unit) as bar:
        for item in items:
            yield item
            bar.add()
