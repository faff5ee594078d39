"""Progress bar on standard error."""

from collections.abc import Collection, Iterable
from typing import Any


def tracked(items: Collection[Any], progress: bool, unit: str = 'query') -> Iterable[Any]:
    """Return items, with a bar that moves as they are taken if `progress` is true."""
    if not progress:
        return items
    from tqdm import tqdm

    return tqdm(items, unit=unit)
