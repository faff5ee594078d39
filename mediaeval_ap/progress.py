"""Progress bars of tqdm on standard error, and the state of work that a signal interrupts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, Self, TypeVar

DELAY_SECONDS = 0.5  # before a bar is drawn: whoever waits for less needs no bar

_is_shown: ContextVar[bool] = ContextVar('_is_shown', default=False)
_after_each: ContextVar[Callable[[], object]] = ContextVar('_after_each', default=int)
describe_state: Callable[[], str] = str  # of the work of a command, when a signal ends it
P = ParamSpec('P')
R = TypeVar('R')
T = TypeVar('T')


@contextmanager
def _having(variable: ContextVar[T], value: T) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def progress_shown(is_shown: bool = True) -> AbstractContextManager[None]:
    """Show progress bars within a block; an outer block that shows them wins."""
    return _having(_is_shown, is_shown or _is_shown.get())


def progress_hidden() -> AbstractContextManager[None]:
    """Hide progress bars within a block."""
    return _having(_is_shown, False)


def after_each(action: Callable[[], object]) -> AbstractContextManager[None]:
    """Call a function, too, after each item of `tracked` within a block."""
    return _having(_after_each, action)


def shows_progress(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a public function so that its parameter `progress` also holds in its callees."""

    @wraps(function)
    def decorated(*arguments: P.args, **settings: P.kwargs) -> R:
        with progress_shown(bool(settings.get('progress'))):
            return function(*arguments, **settings)

    return decorated


class Bar:
    """A bar, if progress is shown; tqdm is imported only then."""

    def __init__(self, description: str, total: int | None = None, unit: str = '') -> None:
        self._bar: Any = None
        if _is_shown.get():
            from tqdm.auto import tqdm

            self._bar = tqdm(
                desc=description,
                total=total,
                unit=unit,
                unit_scale=unit == 'B',
                leave=False,
                delay=DELAY_SECONDS,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def draw(self) -> None:
        """Draw the bar before its first step, which may take long."""
        if self._bar is not None:
            self._bar.refresh()

    def add(self, amount: int = 1) -> None:
        """Move the bar forward by an amount."""
        if self._bar is not None:
            self._bar.update(amount)


def above_bars() -> AbstractContextManager[None]:
    """Clear the bars while other text is written to the terminal."""
    if not _is_shown.get():
        return nullcontext()
    from tqdm import tqdm

    return tqdm.external_write_mode()


def tracked(items: Iterable[T], description: str, unit: str) -> Iterator[T]:
    """Yield items, and move a bar after each."""
    with Bar(description, len(items) if isinstance(items, Sized) else None, unit) as bar:
        for item in items:
            yield item
            bar.add()
            _after_each.get()()
