"""Work on all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import cpu_count
from typing import TypeVar

__all__ = ['on_all_cores']

Item = TypeVar('Item')
Result = TypeVar('Result')


def on_all_cores(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Do some work for each of some items: at once, where there are several.

    Parameters
    ----------
    work : callable
        Takes an item, and spends its time where Python lets other threads go on.
    items : sequence
        The items.

    Returns
    -------
    list
        What it returned, in the order of the items.

    Examples
    --------
    >>> on_all_cores(len, ['a', 'bc'])
    [1, 2]
    """
    if len(items) == 1:
        return [work(items[0])]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(cpu_count()) as pool:
        return list(pool.map(work, items))
