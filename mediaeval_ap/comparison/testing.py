"""Settings of a comparison, and its runs and pairs tested: p, intervals, ranks, letters."""

from __future__ import annotations

import math
import string
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, repeat
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import choices
from mediaeval_ap.choices import Correction, alpha_of, check_policy
from mediaeval_ap.comparison.comparable_runs import Runs, exact_mean
from mediaeval_ap.comparison.sampling import (
    MOST_ENUMERATED,
    Floats,
    Interval,
    Intervals,
    NumberedPairs,
    Units,
    bootstrap_intervals,
    percentiles,
    plus2_interval,
    resampled,
    sign_flips,
    t_interval,
    tukey,
    units_of,
)
from mediaeval_ap.errors import ParameterError, UndefinedScoreError, require, shown
from mediaeval_ap.render.document import OF_RESULTS, Terms

Word = Literal['passed', 'worse', 'not better']
SIGN_FLIPS, TUKEY = 'paired sign flips', 'randomised Tukey HSD'
CORRECTED_BY = {'holm': 'Holm', 'bh': 'Benjamini and Hochberg'}
POWER = 0.8  # as is usual
DIGITS = 12  # to which values are equal that are sums of rounded terms
MOST_QUERIES = 10**9  # beyond any list of queries
# The fields of a pair that a standing has, too: those of the pair with the baseline.
OF_BOTH = ('difference', 'p', 'wins', 'ties', 'losses', 'dz', 'reason')


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The checked settings of a comparison."""

    baseline: str | None
    correction: choices.Correction
    interval: choices.IntervalKind | Literal['percentile']
    level: float
    cluster: choices.Cluster | Literal['column'] | None
    by: str | None = None
    resamples: int
    permutations: int
    seed: int
    power: float | None = None
    fail_if_worse: float | None = None
    require_better: bool = False
    range: list[float] | None = None


def checked_settings(**given: Any) -> Settings:
    """Return settings, with the permutations that the correction has by default."""
    check_policy('correction', given['correction'], choices.CORRECTIONS)
    if given['permutations'] is None:
        given['permutations'] = choices.PERMUTATIONS[given['correction']]
    given['level'] = choices.check_level(given['level'])
    for name in 'resamples', 'permutations':
        given[name] = choices.check_limit(given[name], name)
    given['seed'] = choices.check_seed(given['seed'])
    if given.get('power') is not None:
        given['power'] = choices.check_above_zero(given['power'], 'power')
    worse = given.get('fail_if_worse')
    if worse is not None and worse != 0:
        given['fail_if_worse'] = choices.check_above_zero(worse, 'fail_if_worse')
    if given['baseline'] is None and (worse is not None or given.get('require_better')):
        name = 'require_better' if worse is None else 'fail_if_worse'
        raise ParameterError(f'{name}: it compares with a baseline: give one, too')
    given['interval'] = given['interval'] or 'plus2'
    check_policy('interval', given['interval'], choices.INTERVALS)
    if given.get('cluster') is not None:
        check_policy('cluster', given['cluster'], choices.CLUSTERS)
    require('scipy', 'compare', 'compare')  # before the work that ends with it
    return Settings(**given)


def for_resamples(settings: Settings, runs: Runs, **asked: object) -> Settings:
    """Refuse what only means over queries have; intervals are percentiles of resamples."""
    asked |= {'by': settings.by, 'power': settings.power}
    others = {'cluster': settings.cluster, 'correction': settings.correction}
    asked |= {name: each for name, each in others.items() if each in ('video', 'tukey')}
    for name, value in asked.items():
        if value is not None:
            told = f'{name}: found {shown(value)} for {runs.metrics[0]}, expected another or none'
            raise ParameterError(f'{told}: its queries are resampled, as {runs.no_mean}')
    return replace(settings, interval='percentile')


def check_run(what: str, run: str | None, runs: Iterable[str]) -> None:
    """Refuse the name of a run, such as the baseline, if there is no such run."""
    if run is not None and run not in (names := list(runs)):
        expected = ', '.join(map(shown, names))
        raise ParameterError(f'{what}: found {shown(run)}, expected one of {expected}')


def words_of_test(correction: str) -> str:
    """Return the name of the test, with its correction."""
    by = CORRECTED_BY.get(correction)
    return TUKEY if by is None else f'{SIGN_FLIPS}, corrected by {by}'


def terms_of(parameters: Mapping[str, Any]) -> Terms:
    """Return what a comparison with these settings is of; score tables alone have a range."""
    if (bounds := parameters.get('range')) is None:
        return OF_RESULTS
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
) -> tuple[list[int], list[Standing], list[Pair]]:
    """Test and rank the runs by each metric; return their order by the last metric first."""
    if runs.no_mean:
        return _tests_of_resamples(settings, runs)
    units = [units_of(values, clusters) for values in runs.values]
    means = list(runs.means().values())
    orders = [np.argsort(-np.array(each), kind='stable').tolist() for each in means]
    first, second = np.triu_indices(len(runs.names), 1)  # of each pair, the better one first
    numbers = [(np.array(order)[first], np.array(order)[second]) for order in orders]
    p, n_nonzero = _flipped(settings, units, numbers)
    p_adjusted = _corrected(settings, units, numbers, p)
    leaderboard, every_pair = [], []
    for at, (metric, values) in enumerate(zip(runs.metrics, runs.values, strict=True)):
        intervals = _intervals(settings, units[at], values, numbers[at], runs.width)
        pairs = []
        for pair, (a, b) in enumerate(zip(*numbers[at], strict=True)):
            differences = units[at].differences(values[a], values[b])
            dz, reason = effect_size(differences)
            pairs.append(
                Pair(
                    metric=metric,
                    exploratory=metric != runs.metrics[-1],
                    a=runs.names[a],
                    b=runs.names[b],
                    difference=exact_mean(np.concatenate([values[a], -values[b]])) * 2,
                    n_queries=len(differences),
                    interval=intervals.pairs[pair],
                    p=p[at][pair],
                    p_adjusted=p_adjusted[at][pair],
                    wins=int(np.count_nonzero(differences > 0)),
                    ties=int(np.count_nonzero(differences == 0)),
                    losses=int(np.count_nonzero(differences < 0)),
                    dz=dz,
                    n_nonzero=n_nonzero[at][pair],
                    exact=n_nonzero[at][pair] <= MOST_ENUMERATED,
                    reason=reason,
                )
            )
        ranks = ranks_of(units[at].steps(np.array(means[at])))
        of_runs = zip(means[at], ranks, intervals.runs, strict=True)
        leaderboard += _leaderboard(settings, runs, at, orders[at], list(of_runs), pairs)
        every_pair += pairs
    return orders[-1], leaderboard, every_pair


def _tests_of_resamples(
    settings: Settings, runs: Runs
) -> tuple[list[int], list[Standing], list[Pair]]:
    """Test lwlrap by resamples of the queries, of each of which the whole is computed again."""
    (metric,), values, level = runs.metrics, runs.whole, settings.level
    order, drawn = np.argsort(-np.array(values), kind='stable').tolist(), _drawn(settings, runs)
    shared: dict[str, Any] = {
        'metric': metric,
        'exploratory': False,
        'n_queries': len(runs.queries),
    }
    shared['reason'] = f'{metric} is no mean over queries: {runs.no_mean}'
    pairs = []
    for a, b in combinations(order, 2):
        differences = np.round(drawn[a] - drawn[b], DIGITS)
        tail = min(np.count_nonzero(differences <= 0), np.count_nonzero(differences >= 0))
        p = float(min(1, 2 * (tail + 1) / (len(differences) + 1)))
        shared |= {'a': runs.names[a], 'b': runs.names[b], 'difference': values[a] - values[b]}
        pairs.append(Pair(**shared, interval=percentiles(differences, level), p=p, p_adjusted=p))
    corrected = adjusted([pair.p for pair in pairs], settings.correction)
    pairs = [replace(pair, p_adjusted=p) for pair, p in zip(pairs, corrected, strict=True)]
    intervals = [percentiles(each, level) for each in drawn]
    of_runs = list(zip(values, ranks_of(np.round(values, DIGITS)), intervals, strict=True))
    return order, _leaderboard(settings, runs, 0, order, of_runs, pairs), pairs


def _drawn(settings: Settings, runs: Runs) -> Floats:
    """Return the metric of each run (rows) and resample: a mean over labels, in clusters."""
    rows, n_queries = runs.values[0], len(runs.queries)
    n_labels = rows[0, :, 1]
    units = units_of(rows[:, :, 0] * n_labels, np.arange(n_queries))

    def of_counts(counts: Floats) -> Floats:
        with np.errstate(invalid='ignore'):  # resamples without a label are refused below
            return units.means(units.sums.T @ counts.T, counts @ n_labels)

    drawn = resampled(of_counts, n_queries, settings.resamples, settings.seed)
    if n_without := int(np.count_nonzero(np.isnan(drawn[0]))):  # as all runs have one truth
        told = f'{n_without:,} of {settings.resamples:,} resamples of {n_queries} queries'
        raise UndefinedScoreError(f'{told} have no true label: compare runs on more queries')
    return drawn


def effect_size(differences: Floats) -> tuple[float | None, str]:
    """Return d_z, the mean of differences over their standard deviation, or why there is none."""
    if len(differences) == 1:
        return None, 'one query has no standard deviation'
    if differences.min() == differences.max():
        return None, f'all differences are {differences[0]:g}'
    return float(differences.mean() / differences.std(ddof=1)), ''


@dataclass(frozen=True)
class Power:
    """The queries that tell a difference at 80 %, if it varies by query (`sd`) as theirs."""

    metric: str
    a: str
    b: str
    difference: float
    sd: float | None
    n_queries: int | None
    reason: str


def powers(settings: Settings, runs: Runs, pairs: Sequence[Pair]) -> list[Power]:
    """Return the queries for the difference that is asked for, of each pair by the last metric."""
    if settings.power is None:
        return []
    rows, found = dict(zip(runs.names, runs.values[-1], strict=True)), []
    for pair in (pair for pair in pairs if not pair.exploratory):
        differences = rows[pair.a] - rows[pair.b]
        sd, n_queries, reason = None, None, pair.reason
        if pair.dz is not None:
            sd = float(differences.std(ddof=1))
            n_queries = queries_for_power(settings.power / sd, settings.level)
            if n_queries > MOST_QUERIES:
                n_queries, reason = None, f'more than {MOST_QUERIES:,} queries'
        fixed = pair.metric, pair.a, pair.b, settings.power
        found.append(Power(*fixed, sd, n_queries, reason))
    return found


def queries_for_power(dz: float, level: float) -> int:
    """Return the least number of queries for an effect size by the two-sided t test of one pair."""
    stats = require('scipy.stats', 'compare', 'compare')
    size, tail = abs(dz), alpha_of(level) / 2

    def suffices(n_queries: int) -> bool:
        df, shift = n_queries - 1, size * math.sqrt(n_queries)
        critical = stats.t.isf(tail, df)
        # Where a tail is next to 1, or to 0, SciPy may have nan for it.
        above = np.nan_to_num(stats.nct.sf(critical, df, shift), nan=1)
        below = np.nan_to_num(stats.nct.cdf(-critical, df, shift), nan=0)
        return bool(above + below >= POWER)

    return 2 + bisect_left(range(2, MOST_QUERIES + 1), True, key=suffices)


def _flipped(
    settings: Settings, units: Sequence[Units], numbers: Sequence[NumberedPairs]
) -> tuple[list[list[float]], list[list[int]]]:
    """Return p, and the number of differences, by metric and pair, from one set of flips."""
    n_runs = units[0].sums.shape[1]
    sums = np.concatenate([each.sums for each in units], axis=1)
    shifted = [(a + at * n_runs, b + at * n_runs) for at, (a, b) in enumerate(numbers)]
    a, b = np.concatenate(shifted, axis=1)
    every = replace(units[0], sums=sums)
    p, n_nonzero = sign_flips(every, (a, b), settings.permutations, settings.seed)
    shape = len(units), len(numbers[0][0])
    return p.reshape(shape).tolist(), n_nonzero.reshape(shape).tolist()


def _corrected(
    settings: Settings,
    units: Sequence[Units],
    numbers: Sequence[NumberedPairs],
    p: Sequence[Sequence[float]],
) -> list[list[float]]:
    """Return p corrected for all pairs of a metric, by metric and pair."""
    if settings.correction != 'tukey' or not p[0]:
        return [adjusted(each, settings.correction) for each in p]
    n_runs = units[0].sums.shape[1]
    a, b = np.triu_indices(n_runs, 1)
    table = np.empty((len(units), n_runs, n_runs))
    p_of = tukey(units, (a, b), settings.permutations, settings.seed)
    table[:, a, b] = table[:, b, a] = p_of
    return [each[pairs].tolist() for each, pairs in zip(table, numbers, strict=True)]


def adjusted(p: Sequence[float], correction: Correction) -> list[float]:
    """Return p corrected for all hypotheses of the family: Holm, or Benjamini and Hochberg."""
    order = np.argsort(p, kind='stable')
    rising, n = np.array(p)[order], len(p)
    if correction == 'holm':
        corrected = np.maximum.accumulate(rising * np.arange(n, 0, -1))
    else:
        shares = rising / (np.arange(1, n + 1) / n)
        corrected = np.minimum.accumulate(shares[::-1])[::-1]
    found = np.empty(n)
    found[order] = np.minimum(corrected, 1)
    return found.tolist()


def _intervals(
    settings: Settings, units: Units, values: Floats, pairs: NumberedPairs, width: float
) -> Intervals:
    """Return the intervals of one metric: those of means are BCa, unless all are Student's."""
    kind, level, sizes = settings.interval, settings.level, units.sizes
    both = list(zip(*pairs, strict=True))
    if kind == 't':
        sums = np.ldexp(units.sums.T, -units.exponent)
        found = Intervals([t_interval(each, sizes, level) for each in sums], [])
    else:
        drawn = pairs if kind == 'bca' else (pairs[0][:0], pairs[1][:0])
        found = bootstrap_intervals(units, drawn, level, settings.resamples, settings.seed)
    if kind != 'bca':
        interval_of = partial(plus2_interval, width=width) if kind == 'plus2' else t_interval
        of_pairs = (units.differences_of_sums(a, b) for a, b in both)
        found = found._replace(pairs=[interval_of(each, sizes, level) for each in of_pairs])
    differences = [units.differences(values[a], values[b]) for a, b in both]
    return Intervals(
        list(map(_with_reason, found.runs, values, repeat('values'))),
        list(map(_with_reason, found.pairs, differences, repeat('differences'))),
    )


def _with_reason(interval: Interval, values: Floats, what: str) -> Interval:
    """Give the reason of a missing interval where all values, or differences, are equal."""
    if interval.low is None and len(values) > 1 and values.min() == values.max():
        return Interval(None, None, f'all {what} are {values[0]:g}')
    return interval


def ranks_of(means: Floats) -> list[int]:
    """Return ranks from 1, the best first; equal means share the better rank."""
    return [1 + int(np.count_nonzero(means > each)) for each in means]


def _leaderboard(
    settings: Settings,
    runs: Runs,
    at: int,
    best_first: Sequence[int],
    of_runs: Sequence[tuple[float, int, Interval]],
    pairs: Sequence[Pair],
) -> list[Standing]:
    """Return the standing of each run by the metric of that number, best first."""
    n_runs, baseline = len(best_first), settings.baseline
    apart = np.zeros((n_runs, n_runs), dtype=bool)  # from which worse one, best first
    is_small = np.array([pair.p_adjusted for pair in pairs]) <= alpha_of(settings.level)
    apart[np.triu_indices(n_runs, 1)] = is_small
    ranges, letters = rank_intervals(apart), group_letters(apart | apart.T)
    floor = runs.floor.get(runs.metrics[at])
    against = _against_baseline(pairs, settings)
    standings = []
    for run, rank_interval, group in zip(best_first, ranges, letters, strict=True):
        name, (mean, rank, interval) = runs.names[run], of_runs[run]
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
    p_adjusted = [pair.p_adjusted for pair in chosen]
    if settings.correction != 'tukey':  # which is for all pairs in any case
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
    """The verdict on a run, by its difference to the baseline in the last metric."""

    metric: str
    run: str
    difference: float
    interval: Interval
    verdict: Word


def verdicts_of(settings: Settings, leaderboard: Sequence[Standing]) -> list[Verdict]:
    """Return the verdict of each run: worse where the whole interval is below the limit."""
    worst, found = settings.fail_if_worse, []
    if worst is None and not settings.require_better:
        return []
    for one in leaderboard:
        if one.exploratory or one.difference is None or one.difference_interval is None:
            continue
        low, high = one.difference_interval.low, one.difference_interval.high
        if settings.interval == 'percentile' and low is None:  # all resamples have this difference
            low = high = one.difference
        if low is None or high is None:
            raise ParameterError(
                f'baseline: found no interval of the difference of {shown(one.run)} '
                f'({one.difference_interval.reason}), expected one, by which it passes or not; '
                "take --interval plus2, in Python interval='plus2'"
            )
        is_worse = worst is not None and high < -worst
        is_better = low > 0 or not settings.require_better
        word: Word = 'worse' if is_worse else 'passed' if is_better else 'not better'
        found.append(Verdict(one.metric, one.run, one.difference, one.difference_interval, word))
    return found


def rank_intervals(apart: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the ranks that each run can have (Mogstad et al., 2024).

    `apart` says which run (a row, best first) is told apart from which worse one (a column).
    """
    n_better, n_worse = apart.sum(axis=0), apart.sum(axis=1)
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
