"""The settings of a comparison, checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from mediaeval_ap import choices
from mediaeval_ap.choices import Cluster, Correction, Grouping, IntervalKind, check_policy
from mediaeval_ap.errors import ParameterError, require, shown


@dataclass(frozen=True)
class Settings:
    """The checked settings of a comparison."""

    baseline: str | None
    correction: Correction
    interval: IntervalKind
    level: float
    cluster: Cluster
    by: Grouping | None
    resamples: int
    permutations: int
    seed: int

    def __post_init__(self) -> None:
        check_policy('interval', self.interval, choices.INTERVALS)
        check_policy('cluster', self.cluster, choices.CLUSTERS)
        if self.by is not None:
            check_policy('by', self.by, choices.GROUPINGS)
        choices.check_level(self.level)
        choices.check_limit(self.resamples, 'resamples')
        choices.check_limit(self.permutations, 'permutations')
        choices.check_seed(self.seed)
        if self.interval == 't' and self.cluster != 'none':
            raise ParameterError(
                "interval: found 't' with clusters, expected 'bca': t takes queries as independent"
            )

    def check_baseline(self, runs: list[str]) -> None:
        """Refuse a baseline that is no run."""
        if self.baseline is not None and self.baseline not in runs:
            names = ', '.join(map(shown, runs))
            raise ParameterError(f'baseline: found {shown(self.baseline)}, expected one of {names}')

    def to_dict(self) -> dict[str, Any]:
        """Return the settings for the manifest."""
        return asdict(self)


def checked_settings(
    *,
    correction: Correction,
    permutations: int | None,
    by: Grouping | None = None,
    **others: Any,
) -> Settings:
    """Return settings with the permutations that the correction has by default.

    Missing libraries are missed here, before the work and not in the middle of it.
    """
    check_policy('correction', correction, choices.CORRECTIONS)
    if permutations is None:
        permutations = choices.PERMUTATIONS[correction]
    settings = Settings(correction=correction, permutations=permutations, by=by, **others)
    for library in ('scipy', 'statsmodels'):
        require(library, 'insight', 'compare')
    return settings
