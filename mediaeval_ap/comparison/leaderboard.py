"""All tests of a comparison, and the leaderboard of each metric: means, ranks and letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import alpha_of
from mediaeval_ap.comparison.comparable_runs import Runs
from mediaeval_ap.comparison.comparison_settings import Settings
from mediaeval_ap.comparison.intervals import DifferenceInterval, Interval, mean_interval
from mediaeval_ap.comparison.pair_tests import Pair, PairTests, range_of_values, with_corrected_p
from mediaeval_ap.comparison.ranks_and_letters import group_letters, rank_intervals
from mediaeval_ap.comparison.units import Units
from mediaeval_ap.progress import tracked
from mediaeval_ap.results.rounding import competition_ranks, exact_mean

# The fields that a standing takes from the pair of its run and the baseline.
PAIR_FIELDS = ('difference', 'p', 'p_adjusted', 'wins', 'ties', 'losses', 'dz', 'reason')


@dataclass(frozen=True, kw_only=True)
class Standing:
    metric: str
    exploratory: bool
    run: str
    map: float  # over all seeds
    n_queries: int
    n_seeds: int
    interval: Interval
    rank: int
    rank_interval: tuple[int, int]  # by the tests of all pairs, also with a baseline
    # By the tests against the baseline; None without one, and for the baseline itself:
    difference: float | None = None
    difference_interval: DifferenceInterval | None = None
    p: float | None = None
    p_adjusted: float | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    dz: float | None = None
    reason: str
    group: str  # its letters in the compact letter display, by the tests of all pairs
    floor: float | None  # the mean of a run without any hypothesis
    floor_reason: str
    map_without_floor: float | None
    n_queries_without_floor: int
    map_without_floor_reason: str


def leaderboard_of(
    tests: PairTests,
    means: Sequence[float],
    best_first: Sequence[int],
    pairs: Sequence[Pair],
    against_baseline: Sequence[Pair],
) -> list[Standing]:
    """Return the standing of each run by one metric, best first."""
    runs = tests.runs
    n_runs = len(best_first)
    is_better = np.zeros((n_runs, n_runs), dtype=bool)  # significantly; runs are best first
    is_small = np.array([pair.p_adjusted for pair in pairs]) <= alpha_of(tests.settings.level)
    is_better[np.triu_indices(n_runs, 1)] = is_small
    rank_ranges = rank_intervals(is_better)
    letters = group_letters(is_better | is_better.T)
    scores = {run: runs.sign * mean for run, mean in enumerate(means)}
    ranks = competition_ranks(scores, tests.units.roundings)
    pair_of = {pair.a: pair for pair in against_baseline}
    floor = runs.floor.get(tests.metric)
    floor_reason = ''
    if floor is None:
        floor_reason = 'the mean of an empty run is not known'
    standings = []
    for run, rank_interval, group in zip(best_first, rank_ranges, letters, strict=True):
        name = runs.names[run]
        fields: dict[str, Any] = {'reason': 'no baseline'}
        if name == tests.settings.baseline:
            fields = {'reason': 'the baseline itself'}
        elif pair := pair_of.get(name):
            fields = {field: getattr(pair, field) for field in PAIR_FIELDS}
            fields['difference_interval'] = pair.interval
        mean, n_queries, why_no_mean = _mean_without_floor(tests, run)
        standings.append(
            Standing(
                metric=tests.metric,
                exploratory=tests.metric_number > 0,
                run=name,
                map=means[run],
                n_queries=len(runs.queries),
                n_seeds=runs.n_seeds(name),
                interval=_interval_of_mean(tests, run),
                rank=ranks[run],
                rank_interval=rank_interval,
                **fields,
                group=group,
                floor=floor,
                floor_reason=floor_reason,
                map_without_floor=mean,
                n_queries_without_floor=n_queries,
                map_without_floor_reason=why_no_mean,
            )
        )
    return standings


def _interval_of_mean(tests: PairTests, run: int) -> Interval:
    units = tests.units
    values = tests.values[run]
    seeds = [spread for spread in units.seeds[run] if spread.variance]
    if np.ptp(values) <= units.rounding(run, run) and not seeds:
        return Interval(None, None, f'all values are {values[0]:g}')
    if tests.why_no_interval:
        return Interval(None, None, tests.why_no_interval)
    return mean_interval(
        units.sums[:, run],
        units.sizes,
        tests.settings.level,
        bounds=range_of_values(tests.runs, values),
        seeds=seeds,
        n_effective=units.n_effective,
    )


def _mean_without_floor(tests: PairTests, run: int) -> tuple[float | None, int, str]:
    """Return the mean over queries with a relevant shot, and their number, or why there is none."""
    n_relevant = tests.runs.n_relevant
    if n_relevant is None:
        return None, 0, tests.runs.no_mean or 'numbers of relevant items are not known'
    with_relevant = tests.values[run][n_relevant > 0]
    if not len(with_relevant):
        return None, 0, 'no query has a relevant shot'
    return exact_mean(with_relevant), len(with_relevant), ''


class TestedRuns(NamedTuple):
    leaderboard: list[Standing]  # of each metric
    pairs: list[Pair]  # of each metric
    # By the first metric:
    best_first: list[int]  # the numbers of the runs
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
    means_by_metric = [*runs.means().values()]
    orders = [
        np.argsort([-runs.sign * mean for mean in means], kind='stable').tolist()
        for means in means_by_metric
    ]
    all_tests = [PairTests.of(settings, runs, number, clusters) for number in range(len(orders))]
    n_pairs = len(runs.names) * (len(runs.names) - 1) // 2
    progress = tracked(range(len(orders) * n_pairs), 'tests', ' pairs')
    leaderboard = []
    all_pairs = []
    all_against_baseline = []
    for tests, means, best_first in zip(all_tests, means_by_metric, orders, strict=True):
        pairs = tests.test(combinations(best_first, 2), progress)  # the better one first
        against = tests.test(_pairs_with_baseline(tests, best_first), progress)
        leaderboard += leaderboard_of(tests, means, best_first, pairs, against_baseline=against)
        all_pairs += pairs
        all_against_baseline.append(against)
    return TestedRuns(
        leaderboard,
        all_pairs,
        best_first=orders[0],
        against_baseline=all_against_baseline[0],
        group_pairs=_test_groups(all_tests[0], clusters, members, orders[0]),
        units=all_tests[0].units,
    )


def _pairs_with_baseline(tests: PairTests, best_first: Sequence[int]) -> list[tuple[int, int]]:
    """Return each other run with the baseline; nothing without one."""
    if tests.settings.baseline is None:
        return []
    baseline = tests.runs.names.index(tests.settings.baseline)
    return [(run, baseline) for run in best_first if run != baseline]


def _test_groups(
    tests: PairTests,
    clusters: NDArray[np.intp],
    members: Mapping[str, NDArray[np.intp]],
    best_first: Sequence[int],
) -> list[Pair]:
    """Test pairs by the first metric in each group, and correct p over the groups of a pair."""
    settings = tests.settings
    pairs_of_runs = _pairs_with_baseline(tests, best_first) or [*combinations(best_first, 2)]
    pairs_by_group = []
    for group, rows in members.items():
        tests_on_group = PairTests.of(settings, tests.runs.on_queries(rows), 0, clusters[rows])
        pairs = tests_on_group.test(pairs_of_runs, progress=iter(()))
        pairs_by_group.append([replace(pair, group=group) for pair in pairs])
    group_pairs: list[Pair] = []
    for of_pair in zip(*pairs_by_group, strict=True):
        group_pairs += with_corrected_p(of_pair, settings.correction)
    return group_pairs
