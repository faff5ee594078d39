"""The entries of the tables of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Part: TypeAlias = Literal['leaderboard', 'pairs', 'orders', 'by']


@dataclass(frozen=True)
class Interval:
    """A confidence interval; without bounds, the reason."""

    low: float | None
    high: float | None
    reason: str = ''


@dataclass(frozen=True)
class Standing:
    """A run on the leaderboard of a metric.

    What compares it with the baseline is None without one, and for the baseline itself.
    `rank_interval` and `group` are of all pairs of runs in any case. `floor` is the mean of a run
    without any hypothesis. After a mean stands the number of queries that it is over.
    `exploratory` is True for all metrics but the last.
    """

    metric: str
    exploratory: bool
    run: str
    map: float
    n_queries: int
    interval: Interval
    rank: int
    rank_interval: tuple[int, int]
    difference: float | None
    difference_interval: Interval | None
    p: float | None
    p_adjusted: float | None
    wins: int | None
    ties: int | None
    losses: int | None
    dz: float | None
    reason: str
    group: str
    floor: float | None
    floor_reason: str
    map_without_floor: float | None
    n_queries_without_floor: int
    map_without_floor_reason: str


@dataclass(frozen=True)
class Pair:
    """Two runs by one metric, `a` before `b` on its leaderboard; `reason` is that of a missing dz.

    p and `n_nonzero`, the number of differences that are not zero, are of queries, or of clusters.
    Wins, ties, losses and dz are of queries in any case. `exact` is of p before its correction.
    `n_for_power` is the number of queries that tell a difference of this dz at 80 %: of one pair,
    not corrected. `exploratory` is True for all metrics but the last.
    """

    metric: str
    exploratory: bool
    a: str
    b: str
    difference: float
    n_queries: int
    interval: Interval
    p: float
    p_adjusted: float
    wins: int
    ties: int
    losses: int
    dz: float | None
    n_nonzero: int
    exact: bool
    reason: str
    n_for_power: int | None
    n_for_power_reason: str


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau-b between the orders that two metrics give; without it, the reason."""

    a: str
    b: str
    tau: float | None
    reason: str = ''


@dataclass(frozen=True)
class GroupMean:
    """The mean of a run over the queries of a group."""

    group: str
    n_queries: int
    metric: str
    run: str
    map: float
