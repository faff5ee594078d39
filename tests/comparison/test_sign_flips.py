"""p of sign flips, against exact fractions, finer grids and values computed elsewhere."""

from fractions import Fraction

import numpy as np
import oracle_comparison as oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mediaeval_ap.comparison.sign_flips import MOST_ON_GRID, flip_test
from mediaeval_ap.comparison.units import units_of

FRACTIONS = st.fractions(0, 1, max_denominator=12)


def flipped(differences):
    """The test of differences, from values of two runs that both are 0 or more."""
    differences = np.array(differences, dtype=float)
    values = np.stack([np.maximum(differences, 0), np.maximum(-differences, 0)])
    units = units_of(values, np.arange(len(differences)))
    return flip_test(units.differences(0, 1), units.tolerance(0, 1))


def signed(amounts, is_negative):
    return [-each if is_negative(place) else each for place, each in enumerate(amounts, 1)]


@pytest.mark.parametrize(
    ('differences', 'p'),
    [
        ([1 / 2, 1 / 3, -1 / 4, 1 / 5, 1], 0.1875),
        ([1] * 8 + [-1] * 2, 0.109375),
        (signed([i / 24 for i in range(1, 25)], lambda i: i % 3 == 0), 0.2405325174),
        (signed([i / 30 for i in range(1, 31)], lambda i: i % 4 == 0), 0.01204762235),
        ([1] * 115 + [-1] * 85, 0.04003719161),
        ([1] + [0.01] * 30 + [-0.01] * 10, 0.001110716887),
    ],
)
def test_values_computed_elsewhere(differences, p):
    """Ten digits, by enumeration and by the shift algorithm of other authors."""
    found = flipped(differences)
    assert found.p == pytest.approx(p, rel=1e-9)
    assert found.exact


@pytest.mark.parametrize(('n', 'exact'), [(20, True), (21, False), (MOST_ON_GRID, False)])
def test_numbers_of_differences_at_the_limits_of_methods(n, exact):
    """Square roots have no common step; the normal distribution is close to p."""
    amounts = np.sqrt(np.arange(2, n + 2) + 0.1)
    differences = amounts * np.where(np.arange(n) % 3, 1, -1)
    found = flipped(differences)
    assert found.exact is exact
    expected = 2 * stats.norm.sf(abs(differences.sum()) / np.sqrt(np.square(amounts).sum()))
    assert found.p == pytest.approx(expected, rel=0.15)


@given(
    st.lists(st.tuples(FRACTIONS, FRACTIONS), min_size=1, max_size=20),
    st.sampled_from([np.float64, np.float32]),
)
def test_few_differences_are_enumerated(pairs, dtype):
    """Of single precision, too, as torch and some Parquet have it: 0.1 is 0.10000000149."""
    a, b = zip(*pairs, strict=True)
    differences = oracle.differences(a, b)
    units = units_of(np.array([a, b], dtype=dtype).astype(float), np.arange(len(pairs)))
    found = flip_test(units.differences(0, 1), units.tolerance(0, 1))
    assert Fraction(found.p) == oracle.sign_flip_p(differences)
    assert (found.n_nonzero, found.exact) == (sum(each != 0 for each in differences), True)


@given(
    st.sampled_from([2, 3, 7, 60, 300, 10_000]),
    st.lists(st.integers(-50, 50), min_size=21, max_size=40),
)
def test_multiples_of_a_step_are_counted(denominator, multiples):
    found = flipped([each / denominator for each in multiples])
    exact = oracle.sign_flip_p(multiples)
    assert found.exact
    # A sum of some hundred doubles, which count up to 2**40 subsets.
    assert found.p == pytest.approx(float(exact), rel=1e-12)


def test_sums_that_rounding_alone_tells_apart_are_equal():
    """Of tenths, 1 + 2 + 7 and 3 + 7 give the same difference but for rounding."""
    for tenths in (1, 2, -3, 7), (-1, -2, 3, 7):
        exact = oracle.sign_flip_p([Fraction(each, 10) for each in tenths])
        assert flipped([each / 10 for each in tenths]).p == exact
    assert flipped([0.1, 0.2, -0.3] * 12).p == 1  # no pattern is less extreme than a sum of 0
    assert flipped([0, 0]) == (1, 0, True)


@pytest.mark.parametrize('draw', ['normal', 'standard_cauchy'])
def test_amounts_without_a_step_are_rounded_to_a_grid(draw):
    """Within 1 % of the exact share, and above it, as ties within rounding are counted."""
    for seed in range(6):  # fixed: any would do
        values = getattr(np.random.default_rng(seed), draw)(size=21) + 0.3
        differences = (1e9 * values).astype(np.int64).tolist()
        found, exact = flipped(differences), float(oracle.enumerated_p(differences))
        assert exact <= found.p * (1 + 1e-12) <= 1.01 * exact  # a sum of doubles


@pytest.mark.parametrize(
    ('draw', 'most'),
    [
        (lambda random, n: np.where(np.arange(n) < 5, 1, 0.02) * random.uniform(0.8, 1, n), 1.01),
        (lambda random, n: random.pareto(1, n) + 1, 1.01),
        (lambda random, n: 1 + random.uniform(-0.1, 0.1, n), 1.02),
        (lambda random, n: np.sqrt([2, 3, 5])[random.integers(3, size=n)], 1.01),
    ],
    ids=['few large', 'heavy tails', 'nearly equal', 'three values'],
)
def test_a_grid_is_close_for_unusual_amounts(draw, most):
    """Also of three values without a common step, whose exchange leaves the sum as it is."""
    for seed in range(5):  # fixed: any would do
        random, n = np.random.default_rng(seed), 21
        is_won = random.random(n) < 0.5 + 0.1 * seed  # so p is from about 1 to 0.0001
        integers = (1e9 * draw(random, n)).astype(np.int64)
        differences = np.where(is_won, integers, -integers).tolist()
        found, exact = flipped(differences), float(oracle.enumerated_p(differences))
        assert exact <= found.p * (1 + 1e-6) <= most * exact  # single precision


@pytest.mark.parametrize('n', [1001, 2000, 100_001])
@pytest.mark.parametrize('z', [0.5, 2, 3.5])
def test_many_equal_amounts_are_the_binomial_test(n, z):
    """Of more than 1,000 amounts the smaller ones are taken as normal: within 2 %."""
    n_worse = int((n - z * np.sqrt(n)) / 2)
    found = flipped([1] * (n - n_worse) + [-1] * n_worse)
    assert found.p == pytest.approx(2 * stats.binom.cdf(n_worse, n, 0.5), rel=0.02)


def test_the_largest_of_many_amounts_are_not_taken_as_normal():
    """One amount as large as all others: its sign alone decides, so p is about one half.

    By conditioning: the sum is extreme if the others do not outweigh it, half of the time twice.
    """
    small = np.random.default_rng(5).uniform(0.5, 1.5, 4 * MOST_ON_GRID)  # fixed: any would do
    differences = np.append(small * np.where(np.arange(len(small)) % 2, 1, -1), small.sum())
    sd = np.sqrt(np.square(small).sum())
    total = differences.sum()
    # Of the sums ±large + normal, those at least as far from 0 as the observed one.
    shares = [stats.norm.sf(total - large, 0, sd) for large in (differences[-1], -differences[-1])]
    assert flipped(differences).p == pytest.approx(2 * np.mean(shares), rel=0.02)


def test_p_is_never_less_than_the_share_of_two_patterns():
    """All differences of one sign: of 2**n patterns two are as extreme; 2**-1022 is the least."""
    for n in 5, 40, 300, 1000, 5000:
        amounts = np.random.default_rng(n).uniform(0.1, 1, n)  # fixed: any would do
        assert flipped(amounts).p == 2.0 ** max(1 - n, -1022)


def test_the_sign_and_the_order_of_differences_change_no_bit():
    for n in 15, 40, 500:
        differences = np.random.default_rng(n).normal(0.2, 1, n)  # fixed: any would do
        assert flipped(differences) == flipped(-differences) == flipped(differences[::-1])
