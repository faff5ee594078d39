"""Progress bars on standard error, for work that takes longer than half a second."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import wraps
from time import monotonic
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

DELAY_SECONDS = 0.5  # whoever waits for less needs no bar

_is_shown: ContextVar[bool] = ContextVar('_is_shown', default=False)
Item = TypeVar('Item')
P = ParamSpec('P')
Result = TypeVar('Result')


def shown(is_shown: bool = True) -> AbstractContextManager[None]:
    """Show the progress of all that is done within, if it is not shown already."""
    return _setting(is_shown or _is_shown.get())


def hidden() -> AbstractContextManager[None]:
    """Show no progress of what is done within."""
    return _setting(False)


@contextmanager
def _setting(is_shown: bool) -> Iterator[None]:
    token = _is_shown.set(is_shown)
    try:
        yield
    finally:
        _is_shown.reset(token)


def shows_progress(function: Callable[P, Result]) -> Callable[P, Result]:
    """Decorate a public function so that its parameter `progress` holds for all that it calls."""

    @wraps(function)
    def decorated(*arguments: P.args, **settings: P.kwargs) -> Result:
        with shown(bool(settings.get('progress'))):
            return function(*arguments, **settings)

    return decorated


class Bar:
    """A bar that appears at the first progress after the delay, if progress is shown.

    tqdm is imported only then, so that short work does not wait for it.
    """

    def __init__(self, description: str, total: int | None, unit: str) -> None:
        self._settings: dict[str, Any] = {
            'desc': description,
            'total': total,
            'unit': unit,
            'leave': False,
        }
        self._appears = monotonic() + DELAY_SECONDS if _is_shown.get() else math.inf
        self._done = 0
        self._bar: tqdm[Any] | None = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def add(self, amount: int = 1) -> None:
        """Count what was done since the last call."""
        self._done += amount
        if self._bar is not None:
            self._bar.update(amount)
        elif monotonic() >= self._appears:
            from tqdm import TqdmWarning
            from tqdm.auto import tqdm

            is_bytes = self._settings['unit'] == 'B'
            with warnings.catch_warnings():
                warnings.simplefilter('ignore', TqdmWarning)  # a notebook without widgets: text
                self._bar = tqdm(**self._settings, initial=self._done, unit_scale=is_bytes)


def tracked(items: Iterable[Item], description: str, unit: str) -> Iterator[Item]:
    """Give items, with a bar that moves as they are taken."""
    with Bar(description, len(items) if isinstance(items, Sized) else None, unit) as bar:
        for item in items:
            yield item
            bar.add()
