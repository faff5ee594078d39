"""Progress on standard error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

__all__ = ['tracked']

Item = TypeVar('Item')


def tracked(
    items: Iterable[Item], total: int, progress: bool, unit: str = 'query'
) -> Iterable[Item]:
    """Items, with a bar that moves as they are taken.

    Parameters
    ----------
    items : iterable
        Anything.
    total : int
        How many there are.
    progress : bool
        Whether to show the bar.
    unit : str
        What they are.

    Returns
    -------
    iterable
        The same items.

    Examples
    --------
    >>> list(tracked('ab', 2, progress=False))
    ['a', 'b']
    """
    if not progress:
        return items
    from tqdm import tqdm

    return tqdm(items, total=total, unit=unit)
