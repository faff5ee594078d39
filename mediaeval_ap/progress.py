"""Progress bar on standard error."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeVar

Item = TypeVar('Item')


def tracked(items: Collection[Item], progress: bool, unit: str = 'query') -> Iterable[Item]:
    """Return items, with a bar that moves as they are taken if `progress` is true."""
    if not progress:
        return items
    from tqdm import tqdm

    return tqdm(items, unit=unit)
