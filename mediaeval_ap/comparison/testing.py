"""The settings of a comparison, and its tests: p, intervals, ranks, compact letter display."""

from __future__ import annotations

import math
import string
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import choices
from mediaeval_ap.arrays import Floats
from mediaeval_ap.choices import Correction, alpha_of, check_policy
from mediaeval_ap.comparison.comparable_runs import Runs, exact_mean
from mediaeval_ap.comparison.intervals import (
    FEWEST,
    Interval,
    Range,
    fewest_below,
    mean_interval,
    plus2_interval,
)
from mediaeval_ap.comparison.sign_flips import flip_test
from mediaeval_ap.comparison.units import Units, units_of
from mediaeval_ap.errors import ParameterError, printable, require, shown, with_noun
from mediaeval_ap.progress import tracked
from mediaeval_ap.render.document import Terms
from mediaeval_ap.results.result import kind_of_metric

VerdictWord = Literal['passed', 'not shown to be worse', 'worse', 'not better']
FAILING: tuple[VerdictWord, ...] = ('worse', 'not better')
SIGN_FLIPS = 'paired sign flips'
CORRECTED_BY = {'holm': 'Holm', 'bh': 'Benjamini and Hochberg'}
POWER = 0.8  # the usual value
MOST_QUERIES = 10**9  # beyond any list of queries
# The fields that a standing takes from the pair of its run and the baseline.
PAIR_FIELDS = ('difference', 'p', 'wins', 'ties', 'losses', 'dz', 'reason')


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The checked settings of a comparison."""

    baseline: str | None
    correction: choices.Correction
    level: float
    cluster: choices.Cluster | Literal['column'] | None
    by: str | None = None
    power: float | None = None
    fail_if_worse: float | None = None
    require_better: bool = False
    range: list[float] | None = None


def check_settings(**settings: Any) -> Settings:
    """Check each setting, and that the libraries of the tests are installed."""
    check_policy('correction', settings['correction'], choices.CORRECTIONS)
    settings['level'] = choices.check_level(settings['level'])
    if settings.get('power') is not None:
        settings['power'] = choices.check_above_zero(settings['power'], 'power')
    worse = settings.get('fail_if_worse')
    if worse is not None:
        settings['fail_if_worse'] = choices.check_margin(worse, 'fail_if_worse')
    if settings['baseline'] is None and (worse is not None or settings.get('require_better')):
        name = 'require_better' if worse is None else 'fail_if_worse'
        raise ParameterError(f'{name} compares with a baseline: give one, too')
    if settings.get('cluster') is not None:
        check_policy('cluster', settings['cluster'], choices.CLUSTERS)
    require('scipy', 'compare', 'compare')  # fails here, before any work
    return Settings(**settings)


def check_run(option: str, run: str | None, runs: Iterable[str]) -> None:
    """Raise ParameterError if a run, such as the baseline, is given but is not one of `runs`."""
    if run is not None and run not in (names := list(runs)):
        expected = ', '.join(map(shown, names))
        raise ParameterError(f'{option}: found {shown(run)}, expected one of {expected}')


def words_of_test(correction: str) -> str:
    """Return the name of the test, with its correction."""
    return f'{SIGN_FLIPS}, corrected by {CORRECTED_BY[correction]}'


def terms_of(parameters: Mapping[str, Any], metric: str) -> Terms:
    """Return the terms for runs and queries; score tables, which have a range, have their own."""
    if (bounds := parameters.get('range')) is None:
        return Terms('run', 'runs', *kind_of_metric(metric).query)
    return Terms('system', 'systems', 'item', 'items', *bounds)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two runs compared by one metric; `a` comes before `b` on its leaderboard.

    p and `n_nonzero`, the number of differences other than 0, are over queries, or over clusters of
    them. Wins, ties, losses and dz are always over queries; `reason` says why any of them is None.
    `exact` is about p before its correction. `exploratory` is True for all metrics but the last.
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
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    dz: float | None = None
    n_nonzero: int | None = None
    exact: bool = False
    reason: str


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A run on the leaderboard of a metric.

    The difference to the baseline, and its p and counts, are None without a baseline, and for the
    baseline itself. `rank_interval` and `group`, its letters in the compact letter display, come
    from the tests of all pairs in any case. `floor` is the mean of a run without any hypothesis.
    Each mean is followed by its number of queries. `exploratory` is True for all metrics but the
    last.
    """

    metric: str
    exploratory: bool
    run: str
    map: float
    n_queries: int
    interval: Interval
    rank: int
    rank_interval: tuple[int, int]
    difference: float | None = None
    difference_interval: Interval | None = None
    p: float | None = None
    p_adjusted: float | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    dz: float | None = None
    reason: str
    group: str
    floor: float | None
    floor_reason: str
    map_without_floor: float | None
    n_queries_without_floor: int
    map_without_floor_reason: str


class TestedRuns(NamedTuple):
    """Runs tested by each metric; their order, and the units, are by the last metric."""

    best_first: list[int]
    leaderboard: list[Standing]
    pairs: list[Pair]
    units: Units


def tests_of(settings: Settings, runs: Runs, clusters: NDArray[np.intp]) -> TestedRuns:
    """Test and rank the runs by each metric."""
    units_by_metric = [units_of(values, clusters, runs.n_labels) for values in runs.values]
    means_by_metric = list(runs.means().values())
    orders = [np.argsort(-np.array(means), kind='stable').tolist() for means in means_by_metric]
    n_pairs = len(runs.names) * (len(runs.names) - 1) // 2
    progress = tracked(range(len(orders) * n_pairs), 'tests', ' pairs')
    leaderboard = []
    all_pairs = []
    for metric_number, units in enumerate(units_by_metric):
        means = means_by_metric[metric_number]
        best_first = orders[metric_number]
        pairs = _test_pairs(settings, runs, metric_number, units, best_first, progress)
        intervals = [
            _interval_of_mean(settings, units, runs, metric_number, run)
            for run in range(len(runs.names))
        ]
        ranked = list(map(_RankedMean, means, units.ranks(means), intervals))
        leaderboard += _leaderboard(settings, runs, metric_number, best_first, ranked, pairs)
        all_pairs += pairs
    return TestedRuns(orders[-1], leaderboard, all_pairs, units_by_metric[-1])


class _RankedMean(NamedTuple):
    """The mean of a run by one metric, its rank and its interval."""

    mean: float
    rank: int
    interval: Interval


def _test_pairs(
    settings: Settings,
    runs: Runs,
    metric_number: int,
    units: Units,
    best_first: Sequence[int],
    progress: Iterator[int],
) -> list[Pair]:
    """Test all pairs of runs by one metric, and correct their p as one family."""
    metric = runs.metrics[metric_number]
    pairs = []
    for a, b in combinations(best_first, 2):  # the better one first
        next(progress, None)
        differences = units.differences(a, b)
        test = flip_test(differences, units.tolerance(a, b))
        values = runs.values[metric_number][[a, b]]
        pairs.append(
            Pair(
                metric=metric,
                exploratory=metric != runs.metrics[-1],
                a=runs.names[a],
                b=runs.names[b],
                difference=_difference(runs, metric_number, a, b),
                n_queries=len(runs.queries),
                interval=_interval_of_difference(settings, units, differences, runs, values),
                p=test.p,
                p_adjusted=test.p,
                n_nonzero=test.n_nonzero,
                exact=test.exact,
                **_counts_by_query(runs, values, units.rounding(a, b)),
            )
        )
    p_adjusted = adjust_p([pair.p for pair in pairs], settings.correction)
    return [replace(pair, p_adjusted=p) for pair, p in zip(pairs, p_adjusted, strict=True)]


def _difference(runs: Runs, metric_number: int, a: int, b: int) -> float:
    if runs.no_mean:
        return runs.whole_values[a] - runs.whole_values[b]
    values = runs.values[metric_number]
    return exact_mean(np.concatenate([values[a], -values[b]])) * 2


def _counts_by_query(runs: Runs, values: Floats, rounding: float) -> dict[str, Any]:
    """Return wins, ties, losses and dz of a pair over queries, or the reason for none."""
    if runs.no_mean:
        return {'reason': f'{runs.metrics[0]} is not a mean over queries: {runs.no_mean}'}
    differences = values[0] - values[1]
    differences[np.abs(differences) <= rounding] = 0
    dz, reason = effect_size(differences, rounding)
    signs = {'wins': differences > 0, 'ties': differences == 0, 'losses': differences < 0}
    counts = {name: int(np.count_nonzero(has_sign)) for name, has_sign in signs.items()}
    return {**counts, 'dz': dz, 'reason': reason}


def _range_of_values(runs: Runs, values: Floats) -> Range | None:
    """Return the declared range, by default 0 to 1; None if values exceed it, as some AP do."""
    low, high = runs.range if runs.range and runs.is_range_declared else (0.0, 1.0)
    return (low, high) if low <= values.min() and values.max() <= high else None


def _why_no_interval(settings: Settings, units: Units, runs: Runs) -> str:
    n_units = len(units.sizes)
    reason = f'{_units_phrase(settings, n_units, runs)}: an interval needs {FEWEST}'
    return reason if n_units < FEWEST else ''


def names_of_units(parameters: Mapping[str, Any], metric: str) -> tuple[str, str]:
    """Return the word for one unit, and for several: a query, or a cluster."""
    terms = terms_of(parameters, metric)
    is_single = parameters['cluster'] == 'none'
    return (terms.query, terms.queries) if is_single else ('cluster', 'clusters')


def _units_phrase(settings: Settings, n_units: int, runs: Runs) -> str:
    return with_noun(n_units, *names_of_units(vars(settings), runs.metrics[-1]))


def _interval_of_mean(
    settings: Settings, units: Units, runs: Runs, metric_number: int, run: int
) -> Interval:
    values = runs.values[metric_number][run]
    why_none = _why_no_interval(settings, units, runs)
    if np.ptp(values) <= units.rounding(run, run):
        why_none = f'all values are {values[0]:g}'
    if why_none:
        return Interval(None, None, why_none)
    bounds = _range_of_values(runs, values)
    return mean_interval(units.sums[:, run], units.sizes, settings.level, bounds)


def _interval_of_difference(
    settings: Settings, units: Units, differences: Floats, runs: Runs, values: Floats
) -> Interval:
    """Return the interval of the difference of two runs; no other run matters."""
    if why_none := _why_no_interval(settings, units, runs):
        return Interval(None, None, why_none)
    bounds = _range_of_values(runs, values)
    low, high = bounds or (0.0, 1.0)
    if bounds is None and runs.range is not None:
        low = values.min()
        high = values.max()
    largest = float(high - low)
    return plus2_interval(differences, units.sizes, settings.level, largest, bounds is not None)


def effect_size(differences: Floats, rounding: float) -> tuple[float | None, str]:
    """Return d_z, the mean of differences over their standard deviation, or None and the reason."""
    if len(differences) == 1:
        return None, 'one query has no standard deviation'
    if np.ptp(differences) <= rounding:
        return None, f'all differences are {differences[0]:g}'
    return float(differences.mean() / differences.std(ddof=1)), ''


@dataclass(frozen=True)
class Power:
    """The number of queries, or clusters, that show a difference with a power of 80 %.

    Differences are assumed to have the standard deviation `sd`, as between these two runs.
    """

    metric: str
    a: str
    b: str
    difference: float
    sd: float | None
    n_queries: int | None
    reason: str


def powers(settings: Settings, runs: Runs, pairs: Sequence[Pair], units: Units) -> list[Power]:
    """Return how many units would show the difference `settings.power`, for each pair.

    Pairs are tested by the last metric.
    """
    if settings.power is None:
        return []
    numbers = {name: number for number, name in enumerate(runs.names)}
    table = []
    for pair in (pair for pair in pairs if not pair.exploratory):
        a = numbers[pair.a]
        b = numbers[pair.b]
        differences = units.differences(a, b)
        n_units = len(differences)
        size = units.sizes.mean()
        deviations = (differences - differences.sum() / units.sizes.sum() * units.sizes) / size
        sum_of_squares = float(np.square(deviations).sum())
        sd = None
        n_queries = None
        reason = ''
        if n_units == 1:
            reason = f'{_units_phrase(settings, 1, runs)} has no standard deviation'
        elif (observed_sd := math.sqrt(sum_of_squares / (n_units - 1))) <= units.rounding(a, b):
            reason = f'all differences are {pair.difference:g}'
        else:
            sd = observed_sd
            n_queries = queries_for_power(settings.power / sd, settings.level)
            if n_queries > MOST_QUERIES:
                n_queries = None
                reason = f'more than {MOST_QUERIES:,}'
        difference = settings.power
        table.append(Power(pair.metric, pair.a, pair.b, difference, sd, n_queries, reason))
    return table


def queries_for_power(dz: float, level: float) -> int:
    """Return the fewest queries with which a two-sided paired t test finds an effect size."""
    stats = require('scipy.stats', 'compare', 'compare')
    size = abs(dz)
    tail = alpha_of(level) / 2

    def suffices(n_queries: int) -> bool:
        df = n_queries - 1
        shift = size * math.sqrt(n_queries)
        critical = stats.t.isf(tail, df)
        # Where a tail is next to 1, or to 0, SciPy may have nan for it.
        above = np.nan_to_num(stats.nct.sf(critical, df, shift), nan=1)
        below = np.nan_to_num(stats.nct.cdf(-critical, df, shift), nan=0)
        return bool(above + below >= POWER)

    return 2 + bisect_left(range(2, MOST_QUERIES + 1), True, key=suffices)


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


def _leaderboard(
    settings: Settings,
    runs: Runs,
    metric_number: int,
    best_first: Sequence[int],
    ranked: Sequence[_RankedMean],
    pairs: Sequence[Pair],
) -> list[Standing]:
    """Return the standing of each run by one metric, best first."""
    n_runs = len(best_first)
    metric = runs.metrics[metric_number]
    baseline = settings.baseline
    is_better = np.zeros((n_runs, n_runs), dtype=bool)  # significantly; runs are best first
    is_small = np.array([pair.p_adjusted for pair in pairs]) <= alpha_of(settings.level)
    is_better[np.triu_indices(n_runs, 1)] = is_small
    rank_ranges = rank_intervals(is_better)
    letters = group_letters(is_better | is_better.T)
    floor = runs.floor.get(metric)
    fields_by_run = _fields_against_baseline(pairs, settings)
    standings = []
    for run, rank_interval, group in zip(best_first, rank_ranges, letters, strict=True):
        name = runs.names[run]
        why_none = 'the baseline itself' if name == baseline else 'no baseline'
        without_floor = _mean_without_floor(runs.values[metric_number][run], runs.n_relevant)
        standings.append(
            Standing(
                metric=metric,
                exploratory=metric_number != len(runs.metrics) - 1,
                run=name,
                map=ranked[run].mean,
                n_queries=len(runs.queries),
                interval=ranked[run].interval,
                rank=ranked[run].rank,
                rank_interval=rank_interval,
                **fields_by_run.get(name, {'reason': why_none}),
                group=group,
                floor=floor,
                floor_reason='the mean of an empty run is not known' if floor is None else '',
                map_without_floor=without_floor.mean,
                n_queries_without_floor=without_floor.n_queries,
                map_without_floor_reason=runs.no_mean or without_floor.reason,
            )
        )
    return standings


class _MeanWithoutFloor(NamedTuple):
    """The mean over queries with a relevant shot, and their number, or the reason for none."""

    mean: float | None
    n_queries: int
    reason: str


def _mean_without_floor(values: Floats, n_relevant: NDArray[np.int64] | None) -> _MeanWithoutFloor:
    if n_relevant is None:
        return _MeanWithoutFloor(None, 0, 'numbers of relevant items are not known')
    if not n_relevant.any():
        return _MeanWithoutFloor(None, 0, 'no query has a relevant shot')
    with_relevant = values[n_relevant > 0]
    return _MeanWithoutFloor(exact_mean(with_relevant), len(with_relevant), '')


def _fields_against_baseline(
    pairs: Sequence[Pair], settings: Settings
) -> dict[str, dict[str, Any]]:
    """Return, by run, the fields of a `Standing` that compare the run with the baseline.

    Their p is corrected over the pairs with the baseline.
    """
    baseline = settings.baseline
    family = [pair for pair in pairs if baseline in (pair.a, pair.b)]
    p_adjusted = adjust_p([pair.p for pair in family], settings.correction)
    fields_by_run = {}
    for pair, p in zip(family, p_adjusted, strict=True):
        if pair.b != baseline:
            pair = _exchange_runs(pair)
        fields = {name: getattr(pair, name) for name in PAIR_FIELDS}
        fields_by_run[pair.a] = {**fields, 'difference_interval': pair.interval, 'p_adjusted': p}
    return fields_by_run


def _exchange_runs(pair: Pair) -> Pair:
    """Exchange the runs of a pair; signs change by 0 - x, since -x of 0 would be -0.0."""
    interval = pair.interval
    if interval.low is not None and interval.high is not None:
        interval = Interval(0 - interval.high, 0 - interval.low)
    return replace(
        pair,
        a=pair.b,
        b=pair.a,
        difference=0 - pair.difference,
        interval=interval,
        wins=pair.losses,
        losses=pair.wins,
        dz=None if pair.dz is None else 0 - pair.dz,
    )


@dataclass(frozen=True)
class Verdict:
    """The verdict on a run, by its difference to the baseline in the last metric.

    `n_as_zero` is the number of its items without a value, which count as 0.
    """

    metric: str
    run: str
    difference: float
    interval: Interval
    verdict: VerdictWord
    n_as_zero: int = 0

    @property
    def words(self) -> str:
        """The verdict, with the number of items that count as 0, if any."""
        items = with_noun(self.n_as_zero, 'item', 'items')
        return f'{self.verdict} ({items} without a value)' if self.n_as_zero else self.verdict


def verdicts_of(
    settings: Settings, runs: Runs, leaderboard: Sequence[Standing], units: Units
) -> tuple[list[Verdict], int]:
    """Return the verdict on each run, and the number of units that a verdict needs.

    A run is worse if its whole interval is below minus the limit. The number is 0 if there are
    enough units.
    """
    limit = settings.fail_if_worse
    verdicts = []
    n_most_needed = 0
    if limit is None and not settings.require_better:
        return [], 0
    for standing in leaderboard:
        difference = standing.difference
        interval = standing.difference_interval
        if standing.exploratory or difference is None or interval is None:
            continue
        n_needed = _units_for_a_verdict(settings, runs, standing.run, units)
        low = interval.low
        high = interval.high
        if low is None or high is None:
            n_units, needed = (
                _units_phrase(settings, n, runs) for n in (len(units.sizes), n_needed)
            )
            raise ParameterError(
                f'baseline: found {n_units}, expected {needed} or more for a verdict; '
                f'{printable(standing.run)} is not shown to be worse or better'
            )
        outcome: VerdictWord = 'not shown to be worse' if n_needed else 'passed'
        if settings.require_better and low <= 0:
            outcome = 'not better'
        if limit is not None and high < -limit:
            outcome = 'worse'
        n_as_zero = runs.n_as_zero.get(standing.run, 0)
        verdicts.append(
            Verdict(standing.metric, standing.run, difference, interval, outcome, n_as_zero)
        )
        n_most_needed = max(n_most_needed, n_needed)
    return verdicts, n_most_needed


def _units_for_a_verdict(settings: Settings, runs: Runs, run: str, units: Units) -> int:
    """Return the fewest units that could lead to a verdict; 0 if the given ones could."""
    is_compared = [name in (run, settings.baseline) for name in runs.names]
    bounds = _range_of_values(runs, runs.values[-1][is_compared])
    low, high = bounds or (0.0, 1.0)
    width = high - low
    limit = settings.fail_if_worse or 0.0
    if bounds is None or settings.require_better:
        limit = 0.0  # unbounded differences may exceed any limit; `require_better` has limit 0
    if limit >= width:
        expected = f'less than {width:g}, the largest difference that there can be'
        raise ParameterError(f'fail_if_worse: found {limit:g}, expected {expected}')
    n_units = len(units.sizes)
    sizes = units.sizes
    if n_units >= FEWEST:
        worst = plus2_interval(-width * sizes, sizes, settings.level, width, is_bound=True)
        if worst.high is not None and worst.high < -limit:
            return 0
    return max(fewest_below(settings.level, limit / width), n_units + 1)


def rank_intervals(is_better: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first and the last rank that each run can have (Mogstad et al., 2024).

    Runs are best first; `is_better[i, j]` is True if run i is significantly better than run j.
    """
    n_better = is_better.sum(axis=0)
    n_worse = is_better.sum(axis=1)
    return list(zip((1 + n_better).tolist(), (len(is_better) - n_worse).tolist(), strict=True))


def group_letters(is_different: NDArray[np.bool_]) -> list[str]:
    """Return the compact letter display: runs share a letter if they do not differ significantly.

    They share none if they do. Insertion and absorption (Piepho, 2004): the group of all runs is
    split by one differing pair after another. Of three runs, let only 0 and 2 differ: {0, 1, 2}
    becomes {0, 1} and {1, 2}, so the letters are 'a', 'ab' and 'b'.
    """
    # A group whose pairs are all in other groups, too, is dropped at once, not at the end. So there
    # are never more groups than pairs and runs; otherwise there could be 3 ** (n / 3).
    n_runs = len(is_different)
    groups = [list(range(n_runs))]
    n_groups_of = np.ones((n_runs, n_runs), dtype=np.intp)  # of a pair; of a run with itself
    for first, second in zip(*np.triu(is_different, 1).nonzero(), strict=True):
        split = [group for group in groups if first in group and second in group]
        groups = [group for group in groups if not (first in group and second in group)]
        for group in split:
            n_groups_of[np.ix_(group, group)] -= 1
        parts = [
            [run for run in group if run != removed]
            for group in split
            for removed in (second, first)
        ]
        for part in parts:
            n_groups_of[np.ix_(part, part)] += 1
        for part in sorted(parts, key=len):  # the smallest are dropped first
            pairs = np.ix_(part, part)
            if n_groups_of[pairs].min() > 1:
                n_groups_of[pairs] -= 1
            else:
                groups.append(part)
    letters = [''] * n_runs
    for number, group in enumerate(sorted(groups)):
        letter = string.ascii_letters[number : number + 1] or f'({number + 1})'
        for run in group:
            letters[run] += letter
    return letters
