"""The leaderboard: ranks, the baseline, groups."""

import numpy as np
import oracle_comparison as oracle
import pytest
from compared_runs import evaluation, several
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import compare
from mediaeval_ap.campaign.headline import lead_of

FAST = {'resamples': 100, 'permutations': 200}


def standings(comparison):
    return {each.run: each for each in comparison.leaderboard}


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_equal_runs_share_the_better_rank(means):
    results = several(*[[mean / 4, 0] for mean in means])
    found = compare(results, correction='tukey', **FAST).leaderboard
    by_run = {each.run: each for each in found}
    assert [by_run[run].rank for run in sorted(by_run)] == oracle.ranks(means)
    assert [each.map for each in found] == sorted((mean / 8 for mean in means), reverse=True)


def test_each_metric_has_its_own_order():
    found = compare(several([[1, 0], [1, 0]], [[0, 1], [0, 1]]), **FAST)
    assert [(each.metric, each.run) for each in found.leaderboard] == [
        ('MAP@1', 'a'),
        ('MAP@1', 'b'),
        ('MAP@10', 'b'),
        ('MAP@10', 'a'),
    ]
    assert found.runs == ['b', 'a']
    assert found.values['MAP@1'].tolist() == [[0, 0], [1, 1]]


def test_without_a_baseline_nothing_is_compared_with_it():
    for each in compare(several([1, 0], [0, 0]), **FAST).leaderboard:
        assert (each.difference, each.p, each.wins, each.reason) == (
            None,
            None,
            None,
            'no baseline',
        )


@pytest.mark.parametrize('baseline', ['best', 'middle', 'worst'])
def test_runs_are_compared_with_the_baseline(baseline):
    values = np.random.default_rng(1).random((3, 40))  # fixed: some values, whichever
    names = ['best', 'middle', 'worst']
    means = {'best': 0.2, 'middle': 0.1, 'worst': 0.0}
    results = {
        name: evaluation(row / 2 + means[name]) for name, row in zip(names, values, strict=True)
    }
    comparison = compare(results, baseline=baseline, **FAST)
    found = standings(comparison)
    assert found[baseline].difference is None
    assert found[baseline].reason == 'the baseline itself'
    others = [name for name in names if name != baseline]
    for name in others:
        (pair,) = [each for each in comparison.pairs if {each.a, each.b} == {name, baseline}]
        sign = 1 if pair.a == name else -1
        standing = found[name]
        assert standing.difference == sign * pair.difference
        bounds = sorted(sign * bound for bound in (pair.interval.low, pair.interval.high))
        assert [standing.difference_interval.low, standing.difference_interval.high] == bounds
        assert (standing.p, standing.dz) == (pair.p, sign * pair.dz)
        assert (standing.wins, standing.losses) == (pair.wins, pair.losses)[::sign]
    # These two comparisons are the family, not all three pairs.
    expected = oracle.holm([found[name].p for name in others])
    assert [found[name].p_adjusted for name in others] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize('correction', ['holm', 'bh', 'tukey'])
def test_groups_are_those_of_each_correction(correction):
    """Two runs that are about equal, and one that is far below."""
    values = np.random.default_rng(2).random((3, 60)) / 4  # fixed: equal but for chance
    values[:2] += 0.5
    results = several(*values)
    comparison = compare(results, correction=correction, **FAST)
    assert [each.group for each in comparison.leaderboard] == ['a', 'a', 'b']
    assert [each.rank_interval for each in comparison.leaderboard] == [(1, 2), (1, 2), (3, 3)]


@pytest.mark.parametrize('level', [0.9, 0.8, 0.95])
def test_a_p_of_exactly_alpha_tells_runs_apart_everywhere(level):
    """With n permutations, a clear difference has p = 1 / (n + 1)."""
    permutations = {0.9: 9, 0.8: 4, 0.95: 19}[level]
    values = np.random.default_rng(4).random((2, 60)) / 4  # fixed: far apart in any case
    values[0] += 0.5
    settings = {'correction': 'tukey', 'level': level, 'permutations': permutations}
    comparison = compare(several(*values), resamples=100, **settings)
    (pair,) = comparison.pairs
    assert pair.p_adjusted == {0.9: 0.1, 0.8: 0.2, 0.95: 0.05}[level]
    assert [each.group for each in comparison.leaderboard] == ['a', 'b']
    headline = lead_of(comparison.to_dict())['headline']
    assert headline == f'a is better than b (p = {pair.p_adjusted:.4f}, Tukey)'
    with_baseline = compare(several(*values), resamples=100, baseline='b', **settings)
    assert '†' in with_baseline.to_markdown().partition('run')[2]


def test_tukey_compares_all_pairs_with_a_baseline_too():
    results = several(*np.random.default_rng(3).random((3, 30)))
    comparison = compare(results, correction='tukey', baseline='a', **FAST)
    p = {frozenset((each.a, each.b)): each.p_adjusted for each in comparison.pairs}
    for name, standing in standings(comparison).items():
        assert standing.p_adjusted == p.get(frozenset((name, 'a')))


def test_the_floor_and_means_without_it():
    results = several([1, 0.5, 1, 0], n_relevant=[0, 1, 0, 2], definition='mediaeval-2016')
    (standing,) = compare(results, **FAST).leaderboard
    assert (standing.map, standing.floor, standing.map_without_floor) == (0.625, 0.5, 0.25)
    assert (standing.n_queries, standing.n_queries_without_floor) == (4, 2)
    assert (standing.floor_reason, standing.map_without_floor_reason) == ('', '')
    comparison = compare(results, **FAST)
    assert comparison.notes[:1] == [
        '2 of 4 queries have no relevant shot: each counts 1, and an empty run has MAP 0.500'
    ]


def test_no_query_has_a_relevant_shot():
    (standing,) = compare(
        several([1, 1], n_relevant=[0, 0], definition='mediaeval-2016')
    ).leaderboard
    assert (standing.floor, standing.map_without_floor) == (1, None)
    assert standing.map_without_floor_reason == 'no query has a relevant shot'
