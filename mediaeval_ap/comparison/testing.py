"""All tests of a comparison: by each metric, against the baseline, and in groups of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.comparison.comparable_runs import Runs
from mediaeval_ap.comparison.comparison_settings import Settings
from mediaeval_ap.comparison.leaderboard import Standing, leaderboard_of
from mediaeval_ap.comparison.pair_tests import Pair, PairTests, with_corrected_p
from mediaeval_ap.comparison.units import Units
from mediaeval_ap.progress import tracked


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
        against = tests.test(_pairs_with_baseline(settings, runs, best_first), progress)
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


def _pairs_with_baseline(
    settings: Settings, runs: Runs, best_first: Sequence[int]
) -> list[tuple[int, int]]:
    """Return each other run with the baseline; nothing without one."""
    if settings.baseline is None:
        return []
    baseline = runs.names.index(settings.baseline)
    return [(run, baseline) for run in best_first if run != baseline]


def _test_groups(
    tests: PairTests,
    clusters: NDArray[np.intp],
    members: Mapping[str, NDArray[np.intp]],
    best_first: Sequence[int],
) -> list[Pair]:
    """Test pairs by the first metric in each group, and correct p over the groups of a pair."""
    settings = tests.settings
    pairs_of_runs = _pairs_with_baseline(settings, tests.runs, best_first)
    pairs_of_runs = pairs_of_runs or [*combinations(best_first, 2)]
    pairs_by_group = []
    for group, rows in members.items():
        tests_on_group = PairTests.of(settings, tests.runs.on_queries(rows), 0, clusters[rows])
        pairs = tests_on_group.test(pairs_of_runs, progress=iter(()))
        pairs_by_group.append([replace(pair, group=group) for pair in pairs])
    group_pairs: list[Pair] = []
    for of_pair in zip(*pairs_by_group, strict=True):
        group_pairs += with_corrected_p(of_pair, settings.correction)
    return group_pairs
