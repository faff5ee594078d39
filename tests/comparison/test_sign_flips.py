"""p by sign flips, against enumeration in fractions and against SciPy."""

from fractions import Fraction

import numpy as np
import oracle_comparison as oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mediaeval_ap.comparison.sampling import enumerated, sign_flips, units_of

FRACTIONS = st.fractions(0, 1, max_denominator=12)
PAIR = (np.array([0]), np.array([1]))


def flipped(a, b, permutations=1000, seed=0):
    units = units_of(np.array([a, b], dtype=float), np.arange(len(a)))
    p, n_nonzero = sign_flips(units.sums, units.sizes, PAIR, units.tolerance, permutations, seed)
    return p[0], n_nonzero[0]


@given(st.lists(st.tuples(FRACTIONS, FRACTIONS), min_size=1, max_size=9))
def test_few_differences_are_enumerated(pairs):
    a, b = zip(*pairs, strict=True)
    differences = oracle.differences(a, b)
    p, n_nonzero = flipped(a, b)
    assert Fraction(p) == oracle.sign_flip_p(differences)
    assert n_nonzero == sum(each != 0 for each in differences)


@pytest.mark.parametrize('tenths', [(1, 2, -3, 7), (-1, -2, 3, 7)])
def test_sums_that_rounding_alone_tells_apart_are_equal(tenths):
    """0.1 + 0.2 - 0.3 + 0.7 and -0.1 - 0.2 + 0.3 + 0.7 differ in the last step."""
    a, b = ([max(0, sign * each) / 10 for each in tenths] for sign in (1, -1))
    assert flipped(a, b)[0] == oracle.sign_flip_p([Fraction(each, 10) for each in tenths])


@pytest.mark.parametrize('sign', [1, -1])
def test_no_pattern_is_less_extreme_than_a_sum_of_zero(sign):
    """36 differences are drawn, and rounding makes some steps of their sum."""
    a, b = [0.1, 0.2, 0] * 12, [0, 0, 0.3] * 12
    assert flipped(*(a, b)[::sign])[0] == 1


@pytest.mark.parametrize('n', [5, 12])
def test_exact_p_is_that_of_scipy(n):
    a, b = np.random.default_rng(3).random((2, n))  # fixed: some values, whichever
    expected = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type='samples',
        vectorized=True,
        n_resamples=np.inf,
    )
    assert flipped(a, b)[0] == expected.pvalue


def test_drawn_p_is_that_of_scipy():
    generator = np.random.default_rng(4)  # fixed: a p in the middle, whichever
    a = generator.random(60)
    b = np.clip(a + generator.normal(0.03, 0.15, 60), 0, 1)
    n = 20_000
    expected = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type='samples',
        vectorized=True,
        n_resamples=n,
        rng=np.random.default_rng(5),
    ).pvalue
    p, n_nonzero = flipped(a, b, n)
    assert 0.01 < p < 0.99
    # A share of n draws has variance 1 / 4 n at most; SciPy's p is twice the share of one tail, so
    # four times that. Five deviations of the difference are exceeded once in a million times.
    assert abs(p - expected) < 5 * np.sqrt((1 + 4) / (4 * n))
    assert n_nonzero > 20


def test_drawn_p_tends_to_the_exact_one():
    """21 differences are drawn; 2**21 patterns are counted by the function that is exact."""
    differences = np.random.default_rng(6).integers(-9, 20, 21).astype(float)
    differences[differences == 0] = 1
    p, _ = flipped(np.maximum(differences, 0) / 32, np.maximum(-differences, 0) / 32, 50_000)
    exact = enumerated(differences, 0)
    assert abs(p - exact) < 5 * np.sqrt(exact * (1 - exact) / 50_000) + 1 / 50_001


def test_least_p_is_that_of_one_in_all_draws():
    assert flipped(np.ones(60), np.zeros(60), 999)[0] == 1 / 1000


def test_other_pairs_and_the_order_of_a_pair_change_nothing():
    values = np.random.default_rng(7).random((3, 40))
    units = units_of(values, np.arange(40))
    a, b = np.array([0, 1, 0, 2]), np.array([1, 0, 2, 1])
    p, _ = sign_flips(units.sums, units.sizes, (a, b), units.tolerance, 5000, 0)
    assert p[0] == p[1]
    for place in range(4):
        columns = a[place : place + 1], b[place : place + 1]
        alone, _ = sign_flips(units.sums, units.sizes, columns, units.tolerance, 5000, 0)
        assert alone[0] == p[place]


def test_the_seed_decides():
    a, b = np.random.default_rng(8).random((2, 40))
    assert flipped(a, b, seed=1) == flipped(a, b, seed=1) != flipped(a, b, seed=2)
