"""`compare`: which runs differ, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from mediaeval_ap.comparison.comparison import Comparison
from mediaeval_ap.results.result import Result

__all__ = ['compare']


def compare(
    results: Iterable[Result] | Mapping[str, Result | Sequence[Result]],
    *,
    baseline: str | None = None,
    correction: Literal['holm', 'bh', 'tukey'] = 'holm',
    interval: Literal['bca', 't'] = 'bca',
    level: float = 0.95,
    cluster: Literal['none', 'video'] = 'none',
    by: Literal['corpus', 'relevant'] | None = None,
    reference: Any = None,
    subset: Any = None,
    also: Mapping[str, Iterable[Result]] | None = None,
    resamples: int = 10_000,
    permutations: int = 100_000,
    seed: int = 0,
    progress: bool = False,
) -> Comparison:
    """Compare runs."""
    raise NotImplementedError
