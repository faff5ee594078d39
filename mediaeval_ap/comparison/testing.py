"""The tests and intervals of each metric, of runs and of their pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import Correction
from mediaeval_ap.comparison.bootstrap import Intervals, Pairs, bootstrap_intervals
from mediaeval_ap.comparison.entries import Interval, Pair
from mediaeval_ap.comparison.power import MOST_QUERIES, queries_for_power
from mediaeval_ap.comparison.runs import Runs
from mediaeval_ap.comparison.settings import Settings
from mediaeval_ap.comparison.sign_flips import MOST_ENUMERATED, sign_flips
from mediaeval_ap.comparison.student_t import plus2_interval, t_interval
from mediaeval_ap.comparison.tukey import tukey
from mediaeval_ap.comparison.units import Units, units_of
from mediaeval_ap.errors import require
from mediaeval_ap.results.means_and_notes import mean

METHODS = {'holm': 'holm', 'bh': 'fdr_bh'}  # as statsmodels calls them


def exact_mean(values: NDArray[np.float64]) -> float:
    """Return the mean, rounded once."""
    average = mean(values)
    assert average is not None
    return average


def adjusted(p: Sequence[float], correction: Correction) -> list[float]:
    """Return p corrected for all hypotheses of the family, by statsmodels."""
    if not p:
        return []
    multitest = require('statsmodels.stats.multitest', 'insight', 'compare')
    corrected: list[float] = multitest.multipletests(p, method=METHODS[correction])[1].tolist()
    return corrected


@dataclass(frozen=True)
class MetricTests:
    """Tests and intervals of one metric: of runs by name, and of their pairs."""

    metric: str
    is_exploratory: bool
    level: float
    names: list[str]
    values: NDArray[np.float64]  # (n_runs, n_queries)
    units: Units
    means: list[float]
    best_first: list[int]  # the numbers of the runs
    pair_numbers: list[tuple[int, int]]  # of the runs of each pair, the better one first
    intervals: Intervals
    p: list[float]
    p_adjusted: list[float]
    n_nonzero: list[int]

    @property
    def order(self) -> list[str]:
        """The runs, best first."""
        return [self.names[place] for place in self.best_first]

    def values_in(self, order: Sequence[str]) -> NDArray[np.float64]:
        """Return the values of runs in an order."""
        return self.values[[self.names.index(name) for name in order]]

    @cached_property
    def pairs(self) -> list[Pair]:
        """The pairs of runs, the better one first."""
        pairs = [self._pair(place, *each) for place, each in enumerate(self.pair_numbers)]
        with_dz = [pair for pair in pairs if pair.dz]
        found = queries_for_power(np.array([pair.dz for pair in with_dz]), self.level).tolist()
        needed = dict(zip(((pair.a, pair.b) for pair in with_dz), found, strict=True))
        return [with_power(pair, needed.get((pair.a, pair.b))) for pair in pairs]

    def _pair(self, place: int, a: int, b: int) -> Pair:
        differences = self.units.differences(self.values[a], self.values[b])
        dz, reason = effect_size(differences)
        return Pair(
            self.metric,
            self.is_exploratory,
            self.names[a],
            self.names[b],
            difference(self.values[a], self.values[b]),
            len(differences),
            self.intervals.pairs[place],
            self.p[place],
            self.p_adjusted[place],
            int(np.count_nonzero(differences > 0)),
            int(np.count_nonzero(differences == 0)),
            int(np.count_nonzero(differences < 0)),
            dz,
            self.n_nonzero[place],
            self.n_nonzero[place] <= MOST_ENUMERATED,
            reason,
            None,
            '',
        )


def difference(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return the difference of two means, rounded once."""
    return exact_mean(np.concatenate([a, -b])) * 2


def effect_size(differences: NDArray[np.float64]) -> tuple[float | None, str]:
    """Return d_z, the mean of differences over their standard deviation, or why there is none."""
    if len(differences) == 1:
        return None, 'one query has no standard deviation'
    if differences.min() == differences.max():
        return None, f'all differences are {differences[0]:g}'
    return float(differences.mean() / differences.std(ddof=1)), ''


def with_power(pair: Pair, n_queries: int | None) -> Pair:
    """Return a pair with the number of queries for its difference, or why there is none."""
    if n_queries is None:
        return replace(pair, n_for_power_reason=pair.reason or 'the mean difference is 0')
    if n_queries > MOST_QUERIES:
        return replace(pair, n_for_power_reason=f'more than {MOST_QUERIES:,} queries')
    return replace(pair, n_for_power=n_queries)


def tests_of(settings: Settings, runs: Runs, clusters: NDArray[np.intp]) -> list[MetricTests]:
    """Return what was found out about each metric."""
    units = [units_of(values, clusters) for values in runs.values]
    means = [[exact_mean(row) for row in values] for values in runs.values]
    orders = [_best_first(each, runs.names) for each in means]
    numbers = [list(combinations(each, 2)) for each in orders]
    p, n_nonzero = _flipped(settings, units, numbers)
    p_adjusted = _corrected(settings, units, numbers, p)
    found = []
    for at, metric in enumerate(runs.metrics):
        intervals = _intervals(settings, units[at], runs.values[at], numbers[at])
        statistics = (intervals, p[at], p_adjusted[at], n_nonzero[at])
        found.append(
            MetricTests(
                metric,
                metric != runs.metrics[-1],
                settings.level,
                runs.names,
                runs.values[at],
                units[at],
                means[at],
                orders[at],
                numbers[at],
                *statistics,
            )
        )
    return found


def _best_first(means: Sequence[float], names: Sequence[str]) -> list[int]:
    """Return the numbers of runs in the order of the leaderboard."""
    return sorted(range(len(means)), key=lambda run: (-means[run], names[run]))


def _flipped(
    settings: Settings, units: Sequence[Units], numbers: Sequence[Sequence[tuple[int, int]]]
) -> tuple[list[list[float]], list[list[int]]]:
    """Return p, and the number of differences, by metric and pair; flips are those of all."""
    n_runs = units[0].sums.shape[1]
    sums = np.concatenate([each.sums for each in units], axis=1)
    pairs = [(a + at * n_runs, b + at * n_runs) for at, each in enumerate(numbers) for a, b in each]
    columns = _columns(pairs)
    p, n_nonzero = sign_flips(
        sums, units[0].sizes, columns, units[0].tolerance, settings.permutations, settings.seed
    )
    shape = (len(units), -1) if pairs else (len(units), 0)
    return p.reshape(shape).tolist(), n_nonzero.reshape(shape).tolist()


def _corrected(
    settings: Settings,
    units: Sequence[Units],
    numbers: Sequence[Sequence[tuple[int, int]]],
    p: Sequence[Sequence[float]],
) -> list[list[float]]:
    """Return p corrected for all pairs of a metric, by metric and pair."""
    if settings.correction != 'tukey' or not p[0]:
        return [adjusted(each, settings.correction) for each in p]
    sums = np.stack([each.sums for each in units], axis=2)
    ordered = list(combinations(range(sums.shape[1]), 2))
    tolerance = units[0].tolerance
    found = tukey(sums, _columns(ordered), tolerance, settings.permutations, settings.seed)
    by_pair = [dict(zip(ordered, row, strict=True)) for row in found.tolist()]
    return [
        [of_metric[min(a, b), max(a, b)] for a, b in each]
        for of_metric, each in zip(by_pair, numbers, strict=True)
    ]


def _intervals(
    settings: Settings,
    units: Units,
    values: NDArray[np.float64],
    numbers: Sequence[tuple[int, int]],
) -> Intervals:
    """Return the intervals of one metric: those of means are BCa, unless all are Student's."""
    kind, level = settings.interval, settings.level
    if kind == 't':
        found = Intervals(
            [t_interval(units.sums_of(run), units.sizes, level) for run in range(len(values))], []
        )
    else:
        pairs = _columns(numbers if kind == 'bca' else [])
        found = bootstrap_intervals(units, pairs, level, settings.resamples, settings.seed)
    if kind != 'bca':
        interval_of = plus2_interval if kind == 'plus2' else t_interval
        of_pairs = [
            interval_of(units.differences_of_sums(a, b), units.sizes, level) for a, b in numbers
        ]
        found = found._replace(pairs=of_pairs)
    differences = (units.differences(values[a], values[b]) for a, b in numbers)
    return Intervals(
        [_with_reason(each, row, 'values') for each, row in zip(found.runs, values, strict=True)],
        [
            _with_reason(each, row, 'differences')
            for each, row in zip(found.pairs, differences, strict=True)
        ],
    )


def _with_reason(interval: Interval, values: NDArray[np.float64], what: str) -> Interval:
    """Say it where there is no interval because values, or differences, are all equal."""
    if interval.low is None and len(values) > 1 and values.min() == values.max():
        return Interval(None, None, f'all {what} are {values[0]:g}')
    return interval


def _columns(pairs: Sequence[tuple[int, int]]) -> Pairs:
    a, b = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return a, b
