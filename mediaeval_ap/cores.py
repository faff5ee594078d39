"""The number of cores that this process may use, and threads on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Argument = TypeVar('Argument')
Returned = TypeVar('Returned')

_is_on_one_core: ContextVar[bool] = ContextVar('_is_on_one_core', default=False)


def machine_cores() -> int:
    """Return the number of cores that the system gives this process."""
    affinity = getattr(os, 'sched_getaffinity', None)  # a batch system may give fewer than all
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def own_cores() -> int:
    """Return the number of threads to compute with: 1 within `one_core`, else `machine_cores`."""
    return 1 if _is_on_one_core.get() else machine_cores()


@contextmanager
def one_core() -> Iterator[None]:
    """Compute with one thread, as other processes use the other cores."""
    token = _is_on_one_core.set(True)
    try:
        yield
    finally:
        _is_on_one_core.reset(token)


def on_all_cores(
    function: Callable[[Argument], Returned], arguments: Sequence[Argument]
) -> list[Returned]:
    """Call a function on each argument, in one thread for each core; return values in order."""
    # Threads help where the function spends its time in numpy, which releases the interpreter.
    n_threads = own_cores()
    if len(arguments) == 1 or n_threads == 1:
        return [function(argument) for argument in arguments]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, arguments))
