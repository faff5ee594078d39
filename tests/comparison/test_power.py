"""Queries that a difference needs, against the solver of statsmodels."""

import numpy as np
import pytest
from compared_runs import several
from statsmodels.stats.power import TTestPower

from mediaeval_ap import compare
from mediaeval_ap.comparison.testing import MOST_QUERIES, queries_for_power


@pytest.mark.parametrize('level', [0.9, 0.95, 0.99])
def test_queries_are_those_of_the_solver(level):
    sizes = np.array([0.01, 0.05, 0.2, 0.348, 0.5, 1, 1.5, -0.2])
    solved = [TTestPower().solve_power(abs(each), None, 1 - level, 0.8) for each in sizes]
    assert queries_for_power(sizes, level).tolist() == np.ceil(solved).tolist()


@pytest.mark.parametrize(
    ('dz', 'expected'),
    [
        # With two queries t is Cauchy but for its centre, and 11.5 is where its power is 80 %.
        (11.7, 2),
        (11.3, 3),
        (1e4, 2),  # where SciPy has no number for either tail
        (1e-9, MOST_QUERIES + 1),
    ],
)
def test_the_largest_and_the_smallest_effects(dz, expected):
    assert queries_for_power(np.array([dz]), 0.95).tolist() == [expected]


def test_each_pair_says_how_many_or_why_not():
    comparison = compare(
        several([1, 0, 0.5, 0], [0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 0.5, 1]),
        resamples=10,
        permutations=10,
    )
    by_runs = {pair.a + pair.b: pair for pair in comparison.pairs}
    same = by_runs['bc']
    assert (same.n_for_power, same.n_for_power_reason) == (None, 'all differences are 0')
    found = by_runs['ab']
    expected = TTestPower().solve_power(found.dz, None, 0.05, 0.8)
    assert (found.n_for_power, found.n_for_power_reason) == (int(np.ceil(expected)), '')


def test_a_mean_difference_of_0_is_never_told():
    (pair,) = compare(several([1, 0], [0, 1]), resamples=10, permutations=10).pairs
    assert (pair.dz, pair.n_for_power) == (0, None)
    assert pair.n_for_power_reason == 'the mean difference is 0'
