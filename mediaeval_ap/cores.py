"""The number of cores that this process may use at once, and work that they share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar('Item')
Outcome = TypeVar('Outcome')

_is_one_of_several: ContextVar[bool] = ContextVar('_is_one_of_several', default=False)


def machine_cores() -> int:
    """Return the number of cores that the system gives this process."""
    own = getattr(os, 'sched_getaffinity', None)  # perhaps fewer, as in a batch system
    return len(own(0)) if own else os.cpu_count() or 1


def own_cores() -> int:
    """Return how many threads should compute: one where other processes have the other cores."""
    return 1 if _is_one_of_several.get() else machine_cores()


@contextmanager
def one_core() -> Iterator[None]:
    """Leave the other cores to other processes."""
    token = _is_one_of_several.set(True)
    try:
        yield
    finally:
        _is_one_of_several.reset(token)


def on_all_cores(work: Callable[[Item], Outcome], items: Sequence[Item]) -> list[Outcome]:
    """Call `work`, of numpy, on each item, in threads if that may help; keep the order."""
    n_threads = own_cores()
    if len(items) == 1 or n_threads == 1:
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, items))
