"""Sums over units, and intervals over them, against exact fractions, 50 digits and SciPy."""

from fractions import Fraction

import numpy as np
import oracle_comparison as oracle
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats

from mediaeval_ap.choices import alpha_of
from mediaeval_ap.comparison.intervals import (
    DifferenceInterval,
    Spread,
    Variation,
    difference_interval,
    mean_interval,
    size_of_more_units,
    spreads_of_difference,
    units_to_decide,
)
from mediaeval_ap.comparison.sign_flips import flip_test
from mediaeval_ap.comparison.units import units_of

CLOSE = {'rel': 1e-12, 'abs': 1e-14}  # some sums, a root and a quotient of doubles
EIGHTHS = st.integers(-24, 24).map(lambda number: number / 8)  # beyond 1, too
CLUSTERS = st.lists(st.tuples(EIGHTHS, st.integers(1, 4)), min_size=5, max_size=9)
LEVELS = st.sampled_from([0.5, 0.95, 0.99, 0.999])
SIX = [0.5, -0.2, 1.2, 0.3, 0, 0.6]
TEN = [0.5, -0.1, 0.2, 0.1, 0.3, -0.05, 0.15, 0.25, 0.1, 0.05]


@given(st.lists(st.tuples(EIGHTHS, st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_sums_over_clusters_with_labels(rows):
    """Of eighths, so that sums are exact; a cluster without a label is left out."""
    values, drawn, labels = zip(*rows, strict=True)
    clusters = np.unique(drawn, return_inverse=True)[1]
    units = units_of(np.array([values]), clusters, np.array(labels))
    members = [[row for row in rows if row[1] == each] for each in sorted(set(drawn))]
    sums = [(sum(v * n for v, _, n in of), sum(n for *_, n in of)) for of in members]
    expected = [each for each in sums if each[1]]
    assert list(zip(units.sums[:, 0], units.sizes, strict=True)) == expected


@pytest.mark.parametrize(
    ('sums', 'sizes', 'bounds'),
    [
        ([0, 0.25, 0.5, 0.5, 1, 1], [1] * 6, (0.1263674233, 0.9671031492)),
        ([1, 0.5, 3, 0, 2.5, 1], [1, 2, 4, 1, 3, 1], (0.0828593180, 0.8708435627)),
    ],
)
def test_means_computed_elsewhere(sums, sizes, bounds):
    """Ten digits, by other authors."""
    found = mean_interval(np.array(sums, float), np.array(sizes, float), 0.95, (0, 1))
    assert (found.low, found.high) == pytest.approx(bounds, abs=1e-10)
    assert oracle.expanded_abc(sums, sizes, 0.95) == pytest.approx(bounds, abs=1e-10)


def interval_of(sums, sizes, level, width=1, seeds=(), p=None):
    """The interval of a difference, by default with the p of sign flips."""
    sums, sizes = np.array(sums, float), np.array(sizes, float)
    spreads = spreads_of_difference(sums, sizes, size_of_more_units(sums, sizes, width), seeds)
    difference = sums.sum() / sizes.sum()
    p = flip_test(sums, 1e-12).p if p is None else p
    return difference_interval(difference, spreads, level, p, None)


@pytest.mark.parametrize(
    ('sums', 'sizes', 'level', 'ends', 'p'),
    [
        ([0.1, 0, 0.25, -0.05, 0, 0.5, 0, 0.2], None, 0.95, (-0.0298009946, 0.2798009946), 0.125),
        ([0.02, 0.03, 0.01, 0.04, 0.02, 0.03], None, 0.95, (0.0079226093, 0.0420773907), 0.03125),
        ([0.05] * 12, None, 0.95, (0.0345687953, 0.0654312047), 0.00048828125),
        ([1, *[0] * 9], None, 0.95, (-0.2271700557, 0.4271700557), 1),
        (TEN, None, 0.95, (0.0249545579, 0.2750454421), 0.02734375),
        (TEN, None, 0.99, (-0.0296414187, 0.3296414187), 0.02734375),
        (SIX, [1, 2, 3, 1, 1, 2], 0.95, (-0.0174691481, 0.4974691481), 0.125),
    ],
)
def test_differences_computed_elsewhere(sums, sizes, level, ends, p):
    """Ten digits, by other authors."""
    sizes = sizes or [1] * len(sums)
    found = interval_of(sums, sizes, level)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-10)
    assert oracle.difference_interval(sums, sizes, level, 1, p) == pytest.approx(ends, abs=1e-10)
    assert flip_test(np.array(sums, float), 1e-12).p == p
    assert found.excludes_zero == (p <= alpha_of(level))


def test_seeds_computed_elsewhere():
    """Ten digits, by other authors: three seeds of one system, two of the other."""
    a = np.array([[50, 60, 70, 20, 90], [55, 62, 71, 25, 80], [45, 66, 69, 30, 85]]) / 100
    b = np.array([[40, 50, 70, 10, 80], [50, 45, 65, 20, 75]]) / 100
    units = units_of(np.array([a.mean(0), b.mean(0)]), np.arange(5), values_by_seed=[a, b])
    sums = units.differences(0, 1)
    seeds = [*units.seeds[0], *units.seeds[1]]
    m = size_of_more_units(sums, units.sizes, 1)
    (spread,) = spreads_of_difference(sums, units.sizes, m, seeds)
    difference = sums.mean()
    p = spread.p(difference)
    found = difference_interval(difference, [spread], 0.95, p, 1)
    assert (found.low, found.high) == pytest.approx((0.0004016512, 0.1602650154), abs=1e-10)
    assert (p, spread.df) == pytest.approx((0.0492682976, 4.3076634321), abs=1e-10)


@pytest.mark.parametrize(('low', 'high', 'side'), [(-0.2, 0.0, -1), (0.0, 0.2, 1)])
def test_an_end_at_the_bound_is_in_the_interval_unless_p_excludes_it(low, high, side):
    assert DifferenceInterval(low, high, excludes_zero=True).side_of(0) == side
    assert DifferenceInterval(low, high, excludes_zero=False).side_of(0) == 0
    for bound in low, high:
        assert DifferenceInterval(low + 1, high + 1, excludes_zero=True).side_of(1 + bound) == 0


@pytest.mark.parametrize(
    ('differences', 'n'), [([0.05] * 4 + [0] * 96, 125), ([-0.012] * 12, 23), ([-0.205] * 5, 6)]
)
def test_numbers_of_units_computed_elsewhere(differences, n):
    """By other authors, for a limit of .01."""
    differences = np.array(differences)
    nonzero = differences[differences != 0]
    share = len(nonzero) / len(differences)
    variation = Variation(differences.std(ddof=1), m=abs(nonzero).max(), share=share)
    assert units_to_decide(differences.mean(), -0.01, variation, 0.95) == n


@given(
    st.floats(-0.5, 0.5),
    st.sampled_from([0.0, -0.01, -0.1]),
    st.floats(0.001, 0.5),
    st.floats(0.01, 0.5),
    st.sampled_from([0.9, 0.95]),
    st.sampled_from([(), (Spread(1e-5, 2),), (Spread(1e-4, 1), Spread(0, 4))]),
)
def test_numbers_of_units_are_the_least(difference, bound, sd, m, level, seeds):
    """By the definition; below the returned number only rules of p and of few differences hold."""
    assume(abs(difference - bound) > 0.01)
    n = units_to_decide(difference, bound, Variation(sd, m, 1, seeds), level)
    if n is None:
        assert not oracle.decides(10**7, difference, bound, sd, m, level, seeds)
        return
    assert oracle.decides(n, difference, bound, sd, m, level, seeds)
    least = next(n for n in range(5, 99) if Fraction(2, 2**n) <= Fraction(str(alpha_of(level))))
    assert n == least or not oracle.decides(n - 1, difference, bound, sd, m, level, seeds)


@given(CLUSTERS, LEVELS)
@example([(0, 1)] * 4 + [(1, 1)], 0.999_999)  # so skewed, at this level, that there is no end
def test_means_are_those_of_the_oracle(clusters, level):
    sums, sizes = zip(*clusters, strict=True)
    assume(len({Fraction(total) / size for total, size in clusters}) > 1)
    expected = oracle.expanded_abc(sums, sizes, level)
    bare = mean_interval(np.array(sums, float), np.array(sizes, float), level, None)
    within = mean_interval(np.array(sums, float), np.array(sizes, float), level, (-3, 3))
    if None in expected:
        assert (bare.low, bare.high) == (None, None)
        assert bare.reason
    else:
        assert [bare.low, bare.high] == pytest.approx(expected, **CLOSE)
    ends = [
        other if end is None else min(max(end, -3), 3)
        for end, other in zip(expected, (-3, 3), strict=True)
    ]
    assert [within.low, within.high] == pytest.approx(ends, **CLOSE)


@given(
    CLUSTERS,
    LEVELS,
    st.sampled_from([1, 6]),
    st.sampled_from([(), [(0.01, 1)], [(0.5, 2), (0, 1)]]),
    st.sampled_from([0.0001, 0.03, 0.2, 1]),
)
def test_differences_are_those_of_the_oracle(clusters, level, width, seeds, p):
    """Whatever p says: the interval holds 0 if, and only if, p is above 1 - level."""
    sums, sizes = zip(*clusters, strict=True)
    assume(sum(sums))  # a mean of 0 has a p of 1
    expected = oracle.difference_interval(sums, sizes, level, width, p, seeds)
    found = interval_of(sums, sizes, level, width, list(map(Spread._make, seeds)), p)
    assert [found.low, found.high] == pytest.approx(expected, **CLOSE)
    assert found.excludes_zero == (not found.low <= 0 <= found.high or p <= alpha_of(level))
    assert found.low <= sum(sums) / sum(sizes) <= found.high


@given(CLUSTERS, LEVELS, st.floats(0, 1))
def test_intervals_of_means_have_the_variance_between_seeds(clusters, level, variance):
    """Seeds that repeat each other add nothing; of equal values, seeds alone are Student's t."""
    sums, sizes = (np.array(each, float) for each in zip(*clusters, strict=True))
    assume(np.ptp(sums / sizes) > 0)
    alone = mean_interval(sums, sizes, level, (-3, 3))
    repeated = mean_interval(sums, sizes, level, (-3, 3), [Spread(0, 2)])
    assert [repeated.low, repeated.high] == pytest.approx([alone.low, alone.high], **CLOSE)
    equal = mean_interval(sizes / 4, sizes, level, None, [Spread(variance + 0.01, 2)])
    half = stats.t.ppf((1 + level) / 2, 2) * (variance + 0.01) ** 0.5
    assert [equal.low, equal.high] == pytest.approx([0.25 - half, 0.25 + half], **CLOSE)


def test_equal_means_of_clusters_have_no_interval():
    """All deviations are 0, and the interval divides by them."""
    found = mean_interval(np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 4, 6, 8, 10]), 0.95, (0, 1))
    assert (found.low, found.high, found.reason) == (None, None, 'all units have one mean')
