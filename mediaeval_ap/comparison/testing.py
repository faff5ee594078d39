"""The settings of a comparison, and its tests: p, intervals, ranks, compact letter display."""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import choices
from mediaeval_ap.arrays import Floats
from mediaeval_ap.choices import Correction, alpha_of, check_policy
from mediaeval_ap.comparison.comparable_runs import Runs
from mediaeval_ap.comparison.intervals import (
    FEWEST,
    DifferenceInterval,
    Interval,
    Range,
    difference_interval,
    mean_interval,
    size_of_more_units,
    spreads_of_difference,
)
from mediaeval_ap.comparison.sign_flips import FlipTest, flip_test
from mediaeval_ap.comparison.units import Units, units_of
from mediaeval_ap.errors import ParameterError, require, shown, with_noun
from mediaeval_ap.progress import tracked
from mediaeval_ap.render.document import Terms
from mediaeval_ap.results.exact_means import exact_mean
from mediaeval_ap.results.metric_kinds import kind_of_metric
from mediaeval_ap.results.rounding import competition_ranks

SIGN_FLIPS = 'paired sign flips'
CORRECTED_BY = {'holm': 'Holm', 'bh': 'Benjamini and Hochberg'}
LIMITS = ('fail_if_worse', 'require_not_worse')
# The fields that a standing takes from the pair of its run and the baseline.
PAIR_FIELDS = ('difference', 'p', 'p_adjusted', 'wins', 'ties', 'losses', 'dz', 'reason')


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The checked settings of a comparison."""

    baseline: str | None
    correction: choices.Correction
    level: float
    cluster: choices.Cluster | Literal['column'] | None
    by: str | None = None
    macro: str | None = None
    power: float | None = None
    fail_if_worse: float | None = None
    require_not_worse: float | None = None
    require_better: bool = False
    range: list[float] | None = None

    @property
    def is_gate(self) -> bool:
        """True if runs get a verdict."""
        return limit_of(vars(self)) is not None or self.require_better


def limit_of(parameters: Mapping[str, Any]) -> float | None:
    """Return how much worse than the baseline a run may be; None without such a gate."""
    return next((parameters[name] for name in LIMITS if parameters[name] is not None), None)


def check_settings(**settings: Any) -> Settings:
    """Check each setting, and that the libraries of the tests are installed."""
    check_policy('correction', settings['correction'], choices.CORRECTIONS)
    settings['level'] = choices.check_level(settings['level'])
    if settings.get('power') is not None:
        settings['power'] = choices.check_above_zero(settings['power'], 'power')
    limits = [name for name in LIMITS if settings.get(name) is not None]
    for name in limits:
        settings[name] = choices.check_margin(settings[name], name)
    if len(limits) > 1:
        raise ParameterError('found both, expected one of them', *limits)
    gates = [*limits, *(['require_better'] if settings.get('require_better') else [])]
    if settings['baseline'] is None and gates:
        raise ParameterError(f'{gates[0]} compares with a baseline: give one, too')
    if settings.get('cluster') is not None:
        check_policy('cluster', settings['cluster'], choices.CLUSTERS)
    require('scipy', 'compare', 'compare')  # fails here, before any work
    return Settings(**settings)


def check_run(option: str, run: str | None, runs: Iterable[str]) -> None:
    """Raise ParameterError if a run, such as the baseline, is given but is not one of `runs`."""
    if run is not None and run not in (names := list(runs)):
        expected = ', '.join(map(shown, names))
        raise ParameterError(f'found {shown(run)}, expected one of {expected}', option)


def words_of_test(parameters: Mapping[str, Any], counts: Mapping[str, int], metric: str) -> str:
    """Return the name of the test, and of the correction."""
    _, units = names_of_units(parameters, metric)
    test = f"Student's t of {units} and seeds" if 'seeds' in counts else f'{SIGN_FLIPS} of {units}'
    return f'{test}, corrected by {CORRECTED_BY[parameters["correction"]]}'


def terms_of(parameters: Mapping[str, Any], metric: str) -> Terms:
    """Return the terms for runs and queries; score tables, which have a range, have their own."""
    if (bounds := parameters.get('range')) is None:
        return Terms('run', 'runs', *kind_of_metric(metric).query)
    is_loss = parameters.get('lower_is_better', False)
    return Terms('system', 'systems', 'item', 'items', bounds[0], bounds[1], is_loss)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two runs compared by one metric; `a` comes before `b` on its leaderboard.

    p and `n_nonzero`, the number of differences other than 0, are over queries, or over clusters of
    them. Wins, ties, losses and dz are always over queries; `reason` says why any of them is None.
    `exact` is about p before its correction. `exploratory` is True for all metrics but the first.
    `group` is '' if the pair is compared on all queries; else p is corrected over all groups.
    """

    metric: str
    exploratory: bool
    group: str = ''
    a: str
    b: str
    difference: float
    n_queries: int
    interval: DifferenceInterval
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
    Each mean is followed by its number of queries, and is over all seeds.
    """

    metric: str
    exploratory: bool
    run: str
    map: float
    n_queries: int
    n_seeds: int
    interval: Interval
    rank: int
    rank_interval: tuple[int, int]
    difference: float | None = None
    difference_interval: DifferenceInterval | None = None
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
    """Runs tested by each metric; all but leaderboard and pairs are by the first metric."""

    best_first: list[int]
    leaderboard: list[Standing]
    pairs: list[Pair]
    against_baseline: list[Pair]
    group_pairs: list[Pair]
    units: Units


def tests_of(
    settings: Settings,
    runs: Runs,
    clusters: NDArray[np.intp],
    members: Mapping[str, NDArray[np.intp]],
) -> TestedRuns:
    """Test and rank the runs by each metric, and by the first one over the members of groups."""
    numbers = range(len(runs.metrics))
    units_by_metric = [_units_of_metric(runs, number, clusters) for number in numbers]
    scores_by_metric = [[runs.sign * mean for mean in row] for row in runs.means().values()]
    orders = [np.argsort(-np.array(scores), kind='stable').tolist() for scores in scores_by_metric]
    n_pairs = len(runs.names) * (len(runs.names) - 1) // 2
    progress = tracked(range(len(orders) * n_pairs), 'tests', ' pairs')
    leaderboard = []
    all_pairs = []
    for number, (units, best_first) in enumerate(zip(units_by_metric, orders, strict=True)):
        in_order = combinations(best_first, 2)  # the better one first
        pairs = _test_pairs(settings, runs, number, units, in_order, progress)
        with_baseline = _pairs_with_baseline(settings, runs, best_first)
        against = _test_pairs(settings, runs, number, units, with_baseline, progress)
        scores = scores_by_metric[number]
        leaderboard += _leaderboard(
            settings, runs, number, units, scores, best_first, pairs, against
        )
        all_pairs += pairs
        if number == 0:
            first = against, _test_groups(settings, runs, clusters, members, best_first), units
    return TestedRuns(orders[0], leaderboard, all_pairs, *first)


def _units_of_metric(runs: Runs, metric_number: int, clusters: NDArray[np.intp]) -> Units:
    seeds = [runs.values_by_seed.get(name) for name in runs.names]
    values_by_seed = [None if values is None else values[metric_number] for values in seeds]
    values = runs.values[metric_number]
    is_macro = runs.macro is not None
    weights = runs.weights if runs.n_labels is None else runs.n_labels
    return units_of(values, clusters, weights, values_by_seed, are_groups_equal=is_macro)


def _pairs_with_baseline(
    settings: Settings, runs: Runs, best_first: Sequence[int]
) -> list[tuple[int, int]]:
    """Return each other run with the baseline; nothing without one."""
    if settings.baseline is None:
        return []
    baseline = runs.names.index(settings.baseline)
    return [(run, baseline) for run in best_first if run != baseline]


def _test_pairs(
    settings: Settings,
    runs: Runs,
    metric_number: int,
    units: Units,
    pairs_of_runs: Iterable[tuple[int, int]],
    progress: Iterator[int],
) -> list[Pair]:
    """Test pairs of runs by one metric, and correct their p as one family."""
    metric = runs.metrics[metric_number]
    pairs = []
    for a, b in pairs_of_runs:
        next(progress, None)
        values = runs.values[metric_number][[a, b]]
        test, interval = _test_pair(settings, runs, units, a, b, values)
        pairs.append(
            Pair(
                metric=metric,
                exploratory=metric_number > 0,
                a=runs.names[a],
                b=runs.names[b],
                difference=_difference(runs, metric_number, a, b),
                n_queries=len(runs.queries),
                interval=interval,
                p_adjusted=test.p,
                **test._asdict(),
                **_counts_by_query(runs, values, units.rounding(a, b)),
            )
        )
    p_adjusted = adjust_p([pair.p for pair in pairs], settings.correction)
    return [replace(pair, p_adjusted=p) for pair, p in zip(pairs, p_adjusted, strict=True)]


def _test_groups(
    settings: Settings,
    runs: Runs,
    clusters: NDArray[np.intp],
    members: Mapping[str, NDArray[np.intp]],
    best_first: Sequence[int],
) -> list[Pair]:
    """Test pairs by the first metric in each group, and correct p over the groups of a pair."""
    in_order = [*combinations(best_first, 2)]
    in_order = _pairs_with_baseline(settings, runs, best_first) or in_order
    pairs_by_group = []
    for group, rows in members.items():
        runs_on_group = runs.on_queries(rows)
        units = _units_of_metric(runs_on_group, 0, clusters[rows])
        pairs = _test_pairs(settings, runs_on_group, 0, units, in_order, iter(()))
        pairs_by_group.append([replace(pair, group=group) for pair in pairs])
    group_pairs: list[Pair] = []
    for of_pair in zip(*pairs_by_group, strict=True):
        p_adjusted = adjust_p([pair.p for pair in of_pair], settings.correction)
        group_pairs += map(lambda pair, p: replace(pair, p_adjusted=p), of_pair, p_adjusted)
    return group_pairs


def _test_pair(
    settings: Settings, runs: Runs, units: Units, a: int, b: int, values: Floats
) -> tuple[FlipTest, DifferenceInterval]:
    """Test two runs, with these values; no other run matters."""
    differences = units.differences(a, b)
    sizes = units.sizes
    test = flip_test(differences, units.tolerance(a, b))
    no_interval = DifferenceInterval(None, None, _why_no_interval(settings, units, runs))
    if len(sizes) == 1:  # its p is 1, whatever seeds say
        return test, no_interval
    limit = largest_difference(runs, values)
    is_unknown = limit is None and runs.range is not None
    width = float(np.ptp(values)) if is_unknown else limit or 1.0
    m = size_of_more_units(differences, sizes, width)
    seeds = [*units.seeds[a], *units.seeds[b]]
    spreads = spreads_of_difference(differences, sizes, m, seeds, units.n_effective)
    difference = math.fsum(differences.tolist()) / math.fsum(sizes.tolist())
    if seeds:
        test = test._replace(p=spreads[0].p(difference), exact=False)
    if no_interval.reason:
        return test, no_interval
    return test, difference_interval(difference, spreads, settings.level, test.p, limit)


def _difference(runs: Runs, metric_number: int, a: int, b: int) -> float:
    if runs.no_mean:
        return runs.whole_values[a] - runs.whole_values[b]
    values = runs.values[metric_number] * runs.weights
    return exact_mean(np.concatenate([values[a], -values[b]])) * 2


def _counts_by_query(runs: Runs, values: Floats, rounding: float) -> dict[str, Any]:
    """Return wins, ties, losses and dz of a pair over queries, or the reason for none."""
    if runs.no_mean:
        return {'reason': f'{runs.metrics[0]} is not a mean over queries: {runs.no_mean}'}
    differences = values[0] - values[1]
    differences[np.abs(differences) <= rounding] = 0
    gains = runs.sign * differences
    signs = {'wins': gains > 0, 'ties': gains == 0, 'losses': gains < 0}
    counts = {name: int(np.count_nonzero(has_sign)) for name, has_sign in signs.items()}
    query = 'query' if runs.range is None else 'item'
    reason = f'one {query} has no standard deviation' if len(differences) == 1 else ''
    if not reason and np.ptp(differences) <= rounding:
        reason = f'all differences are {differences[0]:g}'
    weighted = differences * runs.weights
    dz = None if reason else float(weighted.mean() / weighted.std(ddof=1))
    return {**counts, 'dz': dz, 'reason': reason}


def _range_of_values(runs: Runs, values: Floats) -> Range | None:
    """Return the declared range, by default 0 to 1; None if values exceed it, as some AP do."""
    low, high = runs.range if runs.range and runs.is_range_declared else (0.0, 1.0)
    return (low, high) if low <= values.min() and values.max() <= high else None


def largest_difference(runs: Runs, values: Floats) -> float | None:
    """Return the width of the declared range; None if values exceed it."""
    bounds = _range_of_values(runs, values)
    return None if bounds is None else bounds[1] - bounds[0]


def _why_no_interval(settings: Settings, units: Units, runs: Runs) -> str:
    n_units = len(units.sizes)
    reason = f'{units_phrase(settings, n_units, runs)}: an interval needs {FEWEST}'
    return reason if n_units < FEWEST else ''


def names_of_units(parameters: Mapping[str, Any], metric: str) -> tuple[str, str]:
    """Return the word for one unit, and for several: a query, or a cluster."""
    terms = terms_of(parameters, metric)
    is_single = parameters['cluster'] == 'none'
    return (terms.query, terms.queries) if is_single else ('cluster', 'clusters')


def units_phrase(settings: Settings, n_units: int, runs: Runs) -> str:
    """Return a number of units with their noun."""
    return with_noun(n_units, *names_of_units(vars(settings), runs.metrics[0]))


def _interval_of_mean(
    settings: Settings, units: Units, runs: Runs, values: Floats, run: int
) -> Interval:
    seeds = [spread for spread in units.seeds[run] if spread.variance]
    why_none = _why_no_interval(settings, units, runs)
    if np.ptp(values) <= units.rounding(run, run) and not seeds:
        why_none = f'all values are {values[0]:g}'
    if why_none:
        return Interval(None, None, why_none)
    bounds = _range_of_values(runs, values)
    sums, n_effective = units.sums[:, run], units.n_effective
    return mean_interval(sums, units.sizes, settings.level, bounds, seeds, n_effective)


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
    units: Units,
    scores: list[float],
    best_first: Sequence[int],
    pairs: Sequence[Pair],
    against_baseline: Sequence[Pair],
) -> list[Standing]:
    """Return the standing of each run by one metric, best first."""
    n_runs = len(best_first)
    metric = runs.metrics[metric_number]
    is_better = np.zeros((n_runs, n_runs), dtype=bool)  # significantly; runs are best first
    is_small = np.array([pair.p_adjusted for pair in pairs]) <= alpha_of(settings.level)
    is_better[np.triu_indices(n_runs, 1)] = is_small
    rank_ranges = rank_intervals(is_better)
    letters = group_letters(is_better | is_better.T)
    floor = runs.floor.get(metric)
    fields_by_run: dict[str, dict[str, Any]] = {
        pair.a: {name: getattr(pair, name) for name in PAIR_FIELDS}
        | {'difference_interval': pair.interval}
        for pair in against_baseline
    }
    ranks = competition_ranks(dict(enumerate(scores)), units.roundings)
    standings = []
    for run, rank_interval, group in zip(best_first, rank_ranges, letters, strict=True):
        name = runs.names[run]
        why_none = 'the baseline itself' if name == settings.baseline else 'no baseline'
        values = runs.values[metric_number][run]
        mean, n_queries, why_no_mean = _mean_without_floor(values, runs.n_relevant)
        standings.append(
            Standing(
                metric=metric,
                exploratory=metric_number > 0,
                run=name,
                map=runs.sign * scores[run],
                n_queries=len(runs.queries),
                n_seeds=runs.n_seeds(name),
                interval=_interval_of_mean(settings, units, runs, values, run),
                rank=ranks[run],
                rank_interval=rank_interval,
                **fields_by_run.get(name, {'reason': why_none}),
                group=group,
                floor=floor,
                floor_reason='the mean of an empty run is not known' if floor is None else '',
                map_without_floor=mean,
                n_queries_without_floor=n_queries,
                map_without_floor_reason=runs.no_mean or why_no_mean,
            )
        )
    return standings


def _mean_without_floor(
    values: Floats, n_relevant: NDArray[np.int64] | None
) -> tuple[float | None, int, str]:
    """Return the mean over queries with a relevant shot, and their number, or why there is none."""
    if n_relevant is None:
        return None, 0, 'numbers of relevant items are not known'
    with_relevant = values[n_relevant > 0]
    if not len(with_relevant):
        return None, 0, 'no query has a relevant shot'
    return exact_mean(with_relevant), len(with_relevant), ''


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
