"""Work that is shared among all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from mediaeval_ap.cores import own_cores

Item = TypeVar('Item')
Result = TypeVar('Result')


def on_all_cores(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Call `work`, of numpy, on each item, in threads if that may help; keep the order."""
    n_threads = own_cores()
    if len(items) == 1 or n_threads == 1:
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, items))
