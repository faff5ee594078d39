"""Tests of pairs of runs by one metric: p and interval of a difference, made together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats
from mediaeval_ap.choices import Correction
from mediaeval_ap.comparison.comparable_runs import Runs
from mediaeval_ap.comparison.comparison_settings import Settings, units_phrase
from mediaeval_ap.comparison.intervals import (
    FEWEST,
    DifferenceInterval,
    Range,
    difference_interval,
    size_of_more_units,
    spreads_of_difference,
)
from mediaeval_ap.comparison.sign_flips import FlipTest, flip_test
from mediaeval_ap.comparison.units import Units, units_of
from mediaeval_ap.errors import require


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two runs compared by one metric; `a` comes before `b` on its leaderboard."""

    metric: str
    exploratory: bool  # True for all metrics but the first
    group: str = ''  # '' on all queries; else p is corrected over all groups
    a: str
    b: str
    difference: float
    n_queries: int
    interval: DifferenceInterval
    p: float  # over queries, or over clusters of them
    p_adjusted: float
    # Always over queries:
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    dz: float | None = None
    n_nonzero: int | None = None  # the number of differences other than 0 behind p
    exact: bool = False  # about p before its correction
    reason: str  # why wins, ties, losses or dz are None


@dataclass(frozen=True)
class PairTests:
    """Tests pairs of runs by one metric; nothing about a pair depends on a third run."""

    settings: Settings
    runs: Runs
    metric_number: int
    units: Units

    @classmethod
    def of(
        cls, settings: Settings, runs: Runs, metric_number: int, clusters: NDArray[np.intp]
    ) -> PairTests:
        """Sum the values of a metric over units."""
        seeds = [runs.values_by_seed.get(name) for name in runs.names]
        units = units_of(
            runs.values[metric_number],
            clusters,
            runs.weights if runs.n_labels is None else runs.n_labels,
            [None if values is None else values[metric_number] for values in seeds],
            are_groups_equal=runs.macro is not None,
        )
        return cls(settings, runs, metric_number, units)

    @property
    def metric(self) -> str:
        return self.runs.metrics[self.metric_number]

    @property
    def values(self) -> Floats:
        """The values of the metric, of shape (n_runs, n_queries)."""
        values: Floats = self.runs.values[self.metric_number]
        return values

    @property
    def why_no_interval(self) -> str:
        n_units = len(self.units.sizes)
        if n_units >= FEWEST:
            return ''
        units = units_phrase(self.settings, n_units, self.runs.metrics[0])
        return f'{units}: an interval needs {FEWEST}'

    def test(self, pairs_of_runs: Iterable[tuple[int, int]], progress: Iterator[int]) -> list[Pair]:
        """Test pairs of runs, and correct their p as one family."""
        pairs = []
        for a, b in pairs_of_runs:
            next(progress, None)
            test, interval = self._p_and_interval(a, b)
            pair = Pair(
                metric=self.metric,
                exploratory=self.metric_number > 0,
                a=self.runs.names[a],
                b=self.runs.names[b],
                difference=self._difference(a, b),
                n_queries=len(self.runs.queries),
                interval=interval,
                p_adjusted=test.p,
                **test._asdict(),
                **self._counts_by_query(a, b),
            )
            pairs.append(pair)
        return with_corrected_p(pairs, self.settings.correction)

    def _p_and_interval(self, a: int, b: int) -> tuple[FlipTest, DifferenceInterval]:
        units = self.units
        differences = units.differences(a, b)
        sizes = units.sizes
        test = flip_test(differences, units.tolerance(a, b))
        no_interval = DifferenceInterval(None, None, self.why_no_interval)
        if len(sizes) == 1:  # its p is 1, whatever seeds say
            return test, no_interval
        values = self.values[[a, b]]
        limit = largest_difference(self.runs, values)
        width = limit or 1.0
        if limit is None and self.runs.range is not None:
            width = float(np.ptp(values))
        seeds = [*units.seeds[a], *units.seeds[b]]
        spreads = spreads_of_difference(
            differences,
            sizes,
            m=size_of_more_units(differences, sizes, width),
            seeds=seeds,
            n_effective=units.n_effective,
        )
        difference = math.fsum(differences.tolist()) / math.fsum(sizes.tolist())
        if seeds:
            test = test._replace(p=spreads[0].p(difference), exact=False)
        if no_interval.reason:
            return test, no_interval
        level = self.settings.level
        return test, difference_interval(difference, spreads, level=level, p=test.p, limit=limit)

    def _difference(self, a: int, b: int) -> float:
        if self.runs.no_mean:
            return self.runs.whole_values[a] - self.runs.whole_values[b]
        high_a, low_a = self._exact_sums[a]
        high_b, low_b = self._exact_sums[b]
        return math.fsum([high_a, low_a, -high_b, -low_b]) / len(self.runs.queries)

    @cached_property
    def _exact_sums(self) -> list[tuple[float, float]]:
        """The sum of the values of each run as a double, and the rest that a double cannot hold."""
        sums = []
        for values in (self.values * self.runs.weights).tolist():
            total = math.fsum(values)
            sums.append((total, math.fsum([*values, -total])))
        return sums

    def _counts_by_query(self, a: int, b: int) -> dict[str, Any]:
        """Return wins, ties, losses and dz of a pair over queries, or the reason for none."""
        runs = self.runs
        if runs.no_mean:
            return {'reason': f'{runs.metrics[0]} is not a mean over queries: {runs.no_mean}'}
        differences = self.values[a] - self.values[b]
        rounding = self.units.rounding(a, b)
        differences[np.abs(differences) <= rounding] = 0
        gains = runs.sign * differences
        counts: dict[str, Any] = {
            'wins': int(np.count_nonzero(gains > 0)),
            'ties': int(np.count_nonzero(gains == 0)),
            'losses': int(np.count_nonzero(gains < 0)),
        }
        if len(differences) == 1:
            query = 'query' if runs.range is None else 'item'
            return {**counts, 'reason': f'one {query} has no standard deviation'}
        if np.ptp(differences) <= rounding:
            return {**counts, 'reason': f'all differences are {differences[0]:g}'}
        weighted = differences * runs.weights
        return {**counts, 'dz': float(weighted.mean() / weighted.std(ddof=1)), 'reason': ''}


def range_of_values(runs: Runs, values: Floats) -> Range | None:
    """Return the declared range, by default 0 to 1; None if values exceed it, as some AP do."""
    low, high = 0.0, 1.0
    if runs.range and runs.is_range_declared:
        low, high = runs.range
    return (low, high) if low <= values.min() and values.max() <= high else None


def largest_difference(runs: Runs, values: Floats) -> float | None:
    """Return the width of the declared range; None if values exceed it."""
    bounds = range_of_values(runs, values)
    return None if bounds is None else bounds[1] - bounds[0]


def with_corrected_p(pairs: Sequence[Pair], correction: Correction) -> list[Pair]:
    """Return pairs with their p corrected as one family."""
    p_adjusted = adjust_p([pair.p for pair in pairs], correction)
    return [replace(pair, p_adjusted=p) for pair, p in zip(pairs, p_adjusted, strict=True)]


def adjust_p(p: Sequence[float], correction: Correction) -> list[float]:
    """Correct p for all hypotheses of a family, by Holm, or by Benjamini and Hochberg."""
    if correction == 'bh':
        stats = require('scipy.stats', 'compare', 'compare')
        return stats.false_discovery_control(p).tolist() if len(p) else []
    order = np.argsort(p, kind='stable')
    corrected = np.empty(len(p))
    rising = np.maximum.accumulate(np.array(p)[order] * np.arange(len(p), 0, -1))
    corrected[order] = np.minimum(rising, 1)
    return corrected.tolist()
