"""Work that is shared among all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import cpu_count
from typing import TypeVar

Item = TypeVar('Item')
Result = TypeVar('Result')


def on_all_cores(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Call `work`, of numpy, on each item, in threads if there are several; keep the order."""
    if len(items) == 1:
        return [work(items[0])]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(cpu_count()) as pool:
        return list(pool.map(work, items))
