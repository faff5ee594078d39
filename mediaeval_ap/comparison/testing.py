"""Settings of a comparison, and its runs and pairs tested: p, intervals, ranks, letters."""

from __future__ import annotations

import math
import string
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

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
from mediaeval_ap.errors import ParameterError, counted, printable, require, shown
from mediaeval_ap.progress import tracked
from mediaeval_ap.render.document import RESULT_TERMS, Terms

Word = Literal['passed', 'not shown to be worse', 'worse', 'not better']
FAILING: tuple[Word, ...] = ('worse', 'not better')
SIGN_FLIPS = 'paired sign flips'
CORRECTED_BY = {'holm': 'Holm', 'bh': 'Benjamini and Hochberg'}
POWER = 0.8  # as is usual
MOST_QUERIES = 10**9  # beyond any list of queries
# The fields of a pair that a standing has, too: those of the pair with the baseline.
OF_BOTH = ('difference', 'p', 'wins', 'ties', 'losses', 'dz', 'reason')


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


def checked_settings(**given: Any) -> Settings:
    """Return settings that are valid one by one."""
    check_policy('correction', given['correction'], choices.CORRECTIONS)
    given['level'] = choices.check_level(given['level'])
    if given.get('power') is not None:
        given['power'] = choices.check_above_zero(given['power'], 'power')
    worse = given.get('fail_if_worse')
    if worse is not None and worse != 0:
        given['fail_if_worse'] = choices.check_above_zero(worse, 'fail_if_worse')
    if given['baseline'] is None and (worse is not None or given.get('require_better')):
        name = 'require_better' if worse is None else 'fail_if_worse'
        raise ParameterError(f'{name}: it compares with a baseline: give one, too')
    if given.get('cluster') is not None:
        check_policy('cluster', given['cluster'], choices.CLUSTERS)
    require('scipy', 'compare', 'compare')  # before the work that ends with it
    return Settings(**given)


def check_run(what: str, run: str | None, runs: Iterable[str]) -> None:
    """Refuse the name of a run, such as the baseline, if there is no such run."""
    if run is not None and run not in (names := list(runs)):
        expected = ', '.join(map(shown, names))
        raise ParameterError(f'{what}: found {shown(run)}, expected one of {expected}')


def words_of_test(correction: str) -> str:
    """Return the name of the test, with its correction."""
    return f'{SIGN_FLIPS}, corrected by {CORRECTED_BY[correction]}'


def terms_of(parameters: Mapping[str, Any]) -> Terms:
    """Return what a comparison with these settings is of; score tables alone have a range."""
    if (bounds := parameters.get('range')) is None:
        return RESULT_TERMS
    return Terms('system', 'systems', 'item', 'items', *bounds)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two runs by one metric, `a` before `b` on its leaderboard; `reason` says why values lack.

    p and `n_nonzero`, the number of differences that are not zero, are of queries, or of clusters.
    Wins, ties, losses and dz are of queries in any case. `exact` is of p before its correction.
    `exploratory` is True for all metrics but the last.
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


def tests_of(
    settings: Settings, runs: Runs, clusters: NDArray[np.intp]
) -> tuple[list[int], list[Standing], list[Pair], Units]:
    """Test and rank the runs by each metric.

    Return their order, their standings and pairs, and the units of the last metric.
    """
    units_by_metric = [units_of(values, clusters, runs.n_labels) for values in runs.values]
    means = list(runs.means().values())
    orders = [np.argsort(-np.array(each), kind='stable').tolist() for each in means]
    n_pairs = len(runs.names) * (len(runs.names) - 1) // 2
    numbered = tracked(range(len(orders) * n_pairs), 'tests', ' pairs')
    leaderboard = []
    every_pair = []
    for at, (metric, units) in enumerate(zip(runs.metrics, units_by_metric, strict=True)):
        pairs = []
        for a, b in combinations(orders[at], 2):  # the better one first
            next(numbered, None)
            differences = units.differences(a, b)
            test = flip_test(differences, units.tolerance(a, b))
            both = runs.values[at][[a, b]]
            pairs.append(
                Pair(
                    metric=metric,
                    exploratory=metric != runs.metrics[-1],
                    a=runs.names[a],
                    b=runs.names[b],
                    difference=_difference(runs, at, a, b),
                    n_queries=len(runs.queries),
                    interval=_of_difference(settings, units, differences, runs, both),
                    p=test.p,
                    p_adjusted=test.p,
                    n_nonzero=test.n_nonzero,
                    exact=test.exact,
                    **_by_query(runs, both, units.rounding(a, b)),
                )
            )
        p_adjusted = adjusted([pair.p for pair in pairs], settings.correction)
        pairs = [replace(pair, p_adjusted=p) for pair, p in zip(pairs, p_adjusted, strict=True)]
        intervals = [_of_mean(settings, units, runs, at, run) for run in range(len(runs.names))]
        ranks = units.ranks(means[at])
        of_runs = list(zip(means[at], ranks, intervals, strict=True))
        leaderboard += _leaderboard(settings, runs, at, orders[at], of_runs, pairs)
        every_pair += pairs
    return orders[-1], leaderboard, every_pair, units_by_metric[-1]


def _difference(runs: Runs, at: int, a: int, b: int) -> float:
    if runs.no_mean:
        return runs.whole_values[a] - runs.whole_values[b]
    values = runs.values[at]
    return exact_mean(np.concatenate([values[a], -values[b]])) * 2


def _by_query(runs: Runs, values: Floats, rounding: float) -> dict[str, Any]:
    """Return what a pair has of queries, or why it has none."""
    if runs.no_mean:
        return {'reason': f'{runs.metrics[0]} is no mean over queries: {runs.no_mean}'}
    differences = values[0] - values[1]
    differences[np.abs(differences) <= rounding] = 0
    dz, reason = effect_size(differences, rounding)
    signs = {'wins': differences > 0, 'ties': differences == 0, 'losses': differences < 0}
    counts = {name: int(np.count_nonzero(each)) for name, each in signs.items()}
    return {**counts, 'dz': dz, 'reason': reason}


def _bounds(runs: Runs, values: Floats) -> Range | None:
    """Return the range that the values are declared to have; AP of a few rules is above 1."""
    low, high = runs.range if runs.range and runs.is_range_declared else (0.0, 1.0)
    return (low, high) if low <= values.min() and values.max() <= high else None


def _why_no_interval(settings: Settings, units: Units) -> str:
    n_units = len(units.sizes)
    few = f'{_counted_units(settings, n_units)}: an interval needs {FEWEST}'
    return few if n_units < FEWEST else ''


def names_of_units(parameters: Mapping[str, Any]) -> tuple[str, str]:
    """Return what one unit of a comparison with these settings is called, and several."""
    terms = terms_of(parameters)
    is_single = parameters['cluster'] == 'none'
    return (terms.query, terms.queries) if is_single else ('cluster', 'clusters')


def _counted_units(settings: Settings, n_units: int) -> str:
    return counted(n_units, *names_of_units(vars(settings)))


def _of_mean(settings: Settings, units: Units, runs: Runs, at: int, run: int) -> Interval:
    """Return the interval of the mean of a run."""
    values = runs.values[at][run]
    why_none = _why_no_interval(settings, units)
    if np.ptp(values) <= units.rounding(run, run):
        why_none = f'all values are {values[0]:g}'
    if why_none:
        return Interval(None, None, why_none)
    bounds = _bounds(runs, values)
    return mean_interval(units.sums[:, run], units.sizes, settings.level, bounds)


def _of_difference(
    settings: Settings, units: Units, differences: Floats, runs: Runs, values: Floats
) -> Interval:
    """Return the interval of the difference of two runs, which depends on no other run."""
    if why_none := _why_no_interval(settings, units):
        return Interval(None, None, why_none)
    bounds = _bounds(runs, values)
    low, high = bounds or (0.0, 1.0)
    if bounds is None and runs.range is not None:
        low = values.min()
        high = values.max()
    largest = float(high - low)
    return plus2_interval(differences, units.sizes, settings.level, largest, bounds is not None)


def effect_size(differences: Floats, rounding: float) -> tuple[float | None, str]:
    """Return d_z, the mean of differences over their standard deviation, or why there is none."""
    if len(differences) == 1:
        return None, 'one query has no standard deviation'
    if np.ptp(differences) <= rounding:
        return None, f'all differences are {differences[0]:g}'
    return float(differences.mean() / differences.std(ddof=1)), ''


@dataclass(frozen=True)
class Power:
    """The queries, or clusters, that tell a difference at 80 %, if it varies (`sd`) as theirs."""

    metric: str
    a: str
    b: str
    difference: float
    sd: float | None
    n_queries: int | None
    reason: str


def powers(settings: Settings, runs: Runs, pairs: Sequence[Pair], units: Units) -> list[Power]:
    """Return the units for the difference that is asked for, of each pair by the last metric."""
    if settings.power is None:
        return []
    numbers = {name: number for number, name in enumerate(runs.names)}
    found = []
    for pair in (pair for pair in pairs if not pair.exploratory):
        a = numbers[pair.a]
        b = numbers[pair.b]
        differences = units.differences(a, b)
        n_units = len(differences)
        size = units.sizes.mean()
        away = (differences - differences.sum() / units.sizes.sum() * units.sizes) / size
        squares = float(np.square(away).sum())
        sd = None
        n_queries = None
        reason = ''
        if n_units == 1:
            reason = f'{_counted_units(settings, 1)} has no standard deviation'
        elif (deviation := math.sqrt(squares / (n_units - 1))) <= units.rounding(a, b):
            reason = f'all differences are {pair.difference:g}'
        else:
            sd = deviation
            n_queries = queries_for_power(settings.power / sd, settings.level)
            if n_queries > MOST_QUERIES:
                n_queries = None
                reason = f'more than {MOST_QUERIES:,}'
        fixed = pair.metric, pair.a, pair.b, settings.power
        found.append(Power(*fixed, sd, n_queries, reason))
    return found


def queries_for_power(dz: float, level: float) -> int:
    """Return the least number of queries for an effect size by the two-sided t test of one pair."""
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


def adjusted(p: Sequence[float], correction: Correction) -> list[float]:
    """Return p corrected for all hypotheses of the family: Holm, or Benjamini and Hochberg."""
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
    at: int,
    best_first: Sequence[int],
    of_runs: Sequence[tuple[float, int, Interval]],
    pairs: Sequence[Pair],
) -> list[Standing]:
    """Return the standing of each run by the metric of that number, best first."""
    n_runs = len(best_first)
    baseline = settings.baseline
    apart = np.zeros((n_runs, n_runs), dtype=bool)  # from which worse one, best first
    is_small = np.array([pair.p_adjusted for pair in pairs]) <= alpha_of(settings.level)
    apart[np.triu_indices(n_runs, 1)] = is_small
    ranges = rank_intervals(apart)
    letters = group_letters(apart | apart.T)
    floor = runs.floor.get(runs.metrics[at])
    against = _against_baseline(pairs, settings)
    standings = []
    for run, rank_interval, group in zip(best_first, ranges, letters, strict=True):
        name = runs.names[run]
        (mean, rank, interval) = of_runs[run]
        why_none = 'the baseline itself' if name == baseline else 'no baseline'
        without_floor, n_queries, why_not = _without_floor(runs.values[at][run], runs.n_relevant)
        standings.append(
            Standing(
                metric=runs.metrics[at],
                exploratory=at != len(runs.metrics) - 1,
                run=name,
                map=mean,
                n_queries=len(runs.queries),
                interval=interval,
                rank=rank,
                rank_interval=rank_interval,
                **against.get(name, {'reason': why_none}),
                group=group,
                floor=floor,
                floor_reason='the mean of an empty run is not known' if floor is None else '',
                map_without_floor=without_floor,
                n_queries_without_floor=n_queries,
                map_without_floor_reason=runs.no_mean or why_not,
            )
        )
    return standings


def _without_floor(
    values: Floats, n_relevant: NDArray[np.int64] | None
) -> tuple[float | None, int, str]:
    """Return the mean over the queries that have a relevant shot, their number, or why not."""
    if n_relevant is None:
        return None, 0, 'numbers of relevant items are not known'
    if not n_relevant.any():
        return None, 0, 'no query has a relevant shot'
    with_relevant = values[n_relevant > 0]
    return exact_mean(with_relevant), len(with_relevant), ''


def _against_baseline(pairs: Sequence[Pair], settings: Settings) -> dict[str, dict[str, Any]]:
    """Return what compares each run with the baseline, by the fields of a `Standing`."""
    baseline = settings.baseline
    chosen = [pair for pair in pairs if baseline in (pair.a, pair.b)]
    p_adjusted = adjusted([pair.p for pair in chosen], settings.correction)
    found = {}
    for pair, p in zip(chosen, p_adjusted, strict=True):
        one = pair if pair.b == baseline else _turned(pair)
        shared = {name: getattr(one, name) for name in OF_BOTH}
        found[one.a] = {**shared, 'difference_interval': one.interval, 'p_adjusted': p}
    return found


def _turned(pair: Pair) -> Pair:
    """Return a pair with its runs exchanged; 0 - x, as -x of 0 would be -0.0."""
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
    verdict: Word
    n_as_zero: int = 0

    @property
    def words(self) -> str:
        """The verdict, with the number of items that count as 0."""
        items = counted(self.n_as_zero, 'item', 'items')
        return f'{self.verdict} ({items} without a value)' if self.n_as_zero else self.verdict


def verdicts_of(
    settings: Settings, runs: Runs, leaderboard: Sequence[Standing], units: Units
) -> tuple[list[Verdict], int]:
    """Return the verdict of each run: worse where the whole interval is below the limit.

    Beside them stands the number of units that a verdict needs; 0 if these units are enough.
    """
    worst = settings.fail_if_worse
    found = []
    n_most_needed = 0
    if worst is None and not settings.require_better:
        return [], 0
    for one in leaderboard:
        if one.exploratory or one.difference is None or one.difference_interval is None:
            continue
        n_needed = _units_for_a_verdict(settings, runs, one.run, units)
        low = one.difference_interval.low
        high = one.difference_interval.high
        if low is None or high is None:
            n_units, needed = (_counted_units(settings, n) for n in (len(units.sizes), n_needed))
            raise ParameterError(
                f'baseline: found {n_units}, expected {needed} or more for a verdict; '
                f'{printable(one.run)} is not shown to be worse or better'
            )
        word: Word = 'not shown to be worse' if n_needed else 'passed'
        if settings.require_better and low <= 0:
            word = 'not better'
        if worst is not None and high < -worst:
            word = 'worse'
        fixed = one.metric, one.run, one.difference, one.difference_interval, word
        found.append(Verdict(*fixed, runs.n_as_zero.get(one.run, 0)))
        n_most_needed = max(n_most_needed, n_needed)
    return found, n_most_needed


def _units_for_a_verdict(settings: Settings, runs: Runs, run: str, units: Units) -> int:
    """Return the least number of units where data could fail or pass; 0 if these could."""
    both = [name in (run, settings.baseline) for name in runs.names]
    bounds = _bounds(runs, runs.values[-1][both])
    low, high = bounds or (0.0, 1.0)
    width = high - low
    limit = settings.fail_if_worse or 0.0
    if bounds is None or settings.require_better:
        limit = 0.0  # any difference may be scaled up; all of an interval may be above 0
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


def rank_intervals(apart: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the ranks that each run can have (Mogstad et al., 2024).

    `apart` says which run (a row, best first) is told apart from which worse one (a column).
    """
    n_better = apart.sum(axis=0)
    n_worse = apart.sum(axis=1)
    return list(zip((1 + n_better).tolist(), (len(apart) - n_worse).tolist(), strict=True))


def group_letters(apart: NDArray[np.bool_]) -> list[str]:
    """Return the letters of runs: two share one if, and only if, they are not told apart.

    Insertion and absorption (Piepho, 2004): a group of all runs is split by one pair after another.
    """
    # A group all of whose pairs are in other groups, too, is dropped at once, not at the end: so
    # there are never more groups than pairs and runs, where there could be 3 ** (n / 3).
    n_runs = len(apart)
    groups = [list(range(n_runs))]
    n_groups_of = np.ones((n_runs, n_runs), dtype=np.intp)  # of a pair; of a run with itself
    for one, other in zip(*np.triu(apart, 1).nonzero(), strict=True):
        split = [group for group in groups if one in group and other in group]
        groups = [group for group in groups if not (one in group and other in group)]
        for group in split:
            n_groups_of[np.ix_(group, group)] -= 1
        parts = [[run for run in group if run != each] for group in split for each in (other, one)]
        for part in parts:
            n_groups_of[np.ix_(part, part)] += 1
        for part in sorted(parts, key=len):  # the smallest are the first to go
            pairs = np.ix_(part, part)
            if n_groups_of[pairs].min() > 1:
                n_groups_of[pairs] -= 1
            else:
                groups.append(part)
    found = [''] * n_runs
    for number, group in enumerate(sorted(groups)):
        letter = string.ascii_letters[number : number + 1] or f'({number + 1})'
        for run in group:
            found[run] += letter
    return found
