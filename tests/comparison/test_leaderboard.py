"""Tests of pairs and the leaderboard: corrections, effects, power, ranks, letters."""

import numpy as np
import oracle_comparison as oracle
import pytest
from compared_runs import evaluation, several
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import compare
from mediaeval_ap.comparison.comparison_page import lead_of
from mediaeval_ap.comparison.pair_tests import adjust_p
from mediaeval_ap.comparison.ranks_and_letters import group_letters

# A product or quotient of doubles.
CLOSE = {'rel': 1e-14}
P = st.lists(st.fractions(0, 1, max_denominator=1000).map(float), min_size=1, max_size=12)


@given(P)
def test_corrections_are_those_of_their_definitions(p):
    assert adjust_p(p, 'holm') == pytest.approx(oracle.holm(p), **CLOSE)
    assert adjust_p(p, 'bh') == pytest.approx(oracle.benjamini_hochberg(p), **CLOSE)


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=6))
def test_pairs_are_those_of_the_oracle(rows):
    """Each number that is exact: fewer than 20 differences are enumerated; of two metrics."""
    values = np.array(rows).T / 4
    of_some = values * (np.arange(len(rows)) % 2)  # each metric has its own differences
    comparison = compare(several(*np.stack([values, of_some], axis=2)))
    assert len(comparison.pairs) == 6
    for pair in comparison.pairs:
        runs = values if pair.metric == 'MAP@1' else of_some
        a, b = (runs['abc'.index(name)].tolist() for name in (pair.a, pair.b))
        differences = oracle.differences(a, b)
        assert pair.difference == float(sum(differences) / len(differences)) >= 0
        assert pair.p == float(oracle.sign_flip_p(differences))
        assert pair.exact
        assert (pair.wins, pair.ties, pair.losses) == oracle.wins_ties_losses(a, b)
        assert pair.n_nonzero == pair.wins + pair.losses
        assert (pair.dz is None) == bool(pair.reason)
    for pairs in comparison.pairs[:3], comparison.pairs[3:]:
        expected = oracle.holm([pair.p for pair in pairs])
        assert [pair.p_adjusted for pair in pairs] == pytest.approx(expected, **CLOSE)


def test_values_that_rounding_alone_tells_apart_are_ties():
    """7 / 24 in two ways, as one and the same AP is summed over other ranks."""
    sevens = (1 / 8 + 1 / 6, 7 / 24)
    assert sevens[0] != sevens[1]
    comparison = compare(several(*([each] * 3 for each in sevens)))
    (pair,) = comparison.pairs
    assert (pair.wins, pair.ties, pair.losses, pair.n_nonzero) == (0, 3, 0, 0)
    assert (pair.dz, pair.p, pair.reason) == (None, 1, 'all differences are 0')
    assert [standing.rank for standing in comparison.leaderboard] == [1, 1]


def test_rounding_of_a_run_does_not_depend_on_other_runs():
    """Values of run a have single precision; those of b and c do not, and 1e-9 is a difference."""
    single = [0.1, 0.2, 0.3, 0.4, 0.7]
    a = np.array(single, dtype=np.float32).astype(float)
    b = np.full(5, 0.5)
    c = b + 1e-9
    for rows in (a, b, c), (b, c):
        comparison = compare(dict(zip('abc'[-len(rows) :], map(evaluation, rows), strict=True)))
        (pair,) = (pair for pair in comparison.pairs if {pair.a, pair.b} == {'b', 'c'})
        assert (pair.wins, pair.ties, pair.losses, pair.n_nonzero) == (5, 0, 0, 5)
        ranks = {standing.run: standing.rank for standing in comparison.leaderboard}
        assert ranks['c'] < ranks['b']


def test_differences_that_are_equal_but_for_rounding_have_no_deviation():
    """A deviation of 1e-17 would give a huge dz."""
    others = [0.3, 0.1, 0.7, 0.2, 0.6, 0.05]
    found = compare(several([each + 0.1 for each in others], others, [0.1 + 0.2, 0.3] * 3), power=1)
    assert len({a - b for a, b in zip(*found.values['MAP@1'][[0, 2]], strict=True)}) > 1
    by_runs = {(pair.a, pair.b): pair for pair in [*found.pairs, *found.power]}
    # With m = .1 five differences are enough, but fewer than six never have a p of .05.
    assert by_runs['a', 'b'].n_queries == 6
    assert [pair.dz for pair in found.pairs if (pair.a, pair.b) == ('a', 'b')] == [None]
    (constant,) = (each.interval for each in found.leaderboard if each.run == 'c')
    assert constant.reason == 'all values are 0.3'


@pytest.mark.parametrize('baseline', ['a', 'b', 'c'])
def test_runs_are_compared_with_the_baseline(baseline):
    values = np.random.default_rng(1).random((3, 40))  # fixed: some values, whichever
    means = np.array([[0.2], [0.1], [0]])
    comparison = compare(several(*(values / 2 + means)), baseline=baseline)
    found = {each.run: each for each in comparison.leaderboard}
    assert found[baseline].difference is None
    assert found[baseline].reason == 'the baseline itself'
    others = sorted({*'abc'} - {baseline})
    for name in others:
        (pair,) = [each for each in comparison.pairs if {each.a, each.b} == {name, baseline}]
        sign, standing = (1 if pair.a == name else -1), found[name]
        bounds = sorted(sign * bound for bound in (pair.interval.low, pair.interval.high))
        assert [standing.difference_interval.low, standing.difference_interval.high] == bounds
        signed = sign * pair.difference, pair.p, sign * pair.dz, pair.ties
        assert (standing.difference, standing.p, standing.dz, standing.ties) == signed
        assert (standing.wins, standing.losses) == (pair.wins, pair.losses)[::sign]
    # These two comparisons are the family, not all three pairs.
    expected = oracle.holm([found[name].p for name in others])
    assert [found[name].p_adjusted for name in others] == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize(('n', 'level'), [(5, 1 - 2 / 2**5), (8, 1 - 2 / 2**8)])
def test_a_p_of_exactly_alpha_tells_runs_apart_everywhere(n, level):
    """Where one run is better by the same on n queries, p is 2 / 2**n."""
    results = several([0.5] * n, [0.25] * n)
    comparison = compare(results, level=level)
    (pair,) = comparison.pairs
    assert pair.p_adjusted == 1 - level
    assert [each.group for each in comparison.leaderboard] == ['a', 'b']
    assert pair.interval.excludes_zero
    headline = lead_of(comparison.to_dict())['headline']
    assert headline.startswith('a is better than b by 0.250 [0.')
    assert headline.endswith(f'], p = {pair.p_adjusted:.4f}, Holm')
    with_baseline = compare(results, baseline='b', level=level)
    assert '**†' in with_baseline.to_markdown()  # behind the mean; the caption explains it


def test_the_floor_and_means_without_it():
    results = several([1, 0.5, 1, 0], n_relevant=[0, 1, 0, 2], definition='mediaeval-2016')
    comparison = compare(results)
    (standing,) = comparison.leaderboard
    assert (standing.map, standing.floor, standing.map_without_floor) == (0.625, 0.5, 0.25)
    assert (standing.n_queries, standing.n_queries_without_floor) == (4, 2)
    assert (standing.floor_reason, standing.map_without_floor_reason) == ('', '')
    assert comparison.notes[:1] == [
        '2 of 4 queries have nothing relevant: each counts 1, and an empty run has MAP 0.500'
    ]
    only = several([1, 1], n_relevant=[0, 0], definition='mediaeval-2016')
    (standing,) = compare(only).leaderboard
    assert (standing.floor, standing.map_without_floor) == (1, None)
    assert standing.map_without_floor_reason == 'no query has a relevant shot'


def test_many_groups():
    """Of twenty triples told apart within, 3**20 groups can be made; a few of them say all."""
    triples = np.arange(60) // 3
    letters = group_letters((triples[:, None] == triples) & ~np.eye(60, dtype=bool))
    assert len({*''.join(letters)}) < 60

    found = group_letters(~np.eye(54, dtype=bool))
    assert (found[0], found[51], found[52], found[53]) == ('a', 'Z', '(53)', '(54)')
