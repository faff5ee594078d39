"""The settings of a comparison, checked. No numpy here: the command checks them first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from mediaeval_ap import choices
from mediaeval_ap.choices import Cluster, Correction, Grouping, IntervalKind, check_policy
from mediaeval_ap.errors import ParameterError, require, shown


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The checked settings of a comparison."""

    baseline: str | None
    correction: Correction
    interval: IntervalKind
    level: float
    cluster: Cluster | None
    by: Grouping | None = None
    resamples: int
    permutations: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return the settings for the manifest."""
        return asdict(self)


def checked_settings(**given: Any) -> Settings:
    """Return settings, with the permutations that the correction has by default.

    Missing libraries are refused here, before the work and not in the middle of it.
    """
    settings = Settings(**given)
    permutations: int | None = settings.permutations
    check_policy('correction', settings.correction, choices.CORRECTIONS)
    if permutations is None:
        permutations = choices.PERMUTATIONS[settings.correction]
    settings = replace(
        settings,
        level=choices.check_level(settings.level),
        resamples=choices.check_limit(settings.resamples, 'resamples'),
        permutations=choices.check_limit(permutations, 'permutations'),
        seed=choices.check_seed(settings.seed),
    )
    check_policy('interval', settings.interval, choices.INTERVALS)
    if settings.cluster is not None:
        check_policy('cluster', settings.cluster, choices.CLUSTERS)
    if settings.by is not None:
        check_policy('by', settings.by, choices.GROUPINGS)
    require_libraries()
    return settings


def require_libraries() -> None:
    """Refuse to begin the work without the libraries that it ends with."""
    for library in ('scipy', 'statsmodels'):
        require(library, 'insight', 'compare')


def check_baseline(baseline: str | None, runs: Iterable[str]) -> None:
    """Refuse a baseline that is no run."""
    if baseline is not None and baseline not in (names := list(runs)):
        expected = ', '.join(map(shown, names))
        raise ParameterError(f'baseline: found {shown(baseline)}, expected one of {expected}')
