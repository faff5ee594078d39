"""Student's t and plus2, of queries and of clusters, against exact fractions and SciPy."""

from fractions import Fraction

import numpy as np
import oracle_comparison as oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mediaeval_ap.comparison.sampling import plus2_interval, t_interval

CLOSE = {'rel': 1e-12, 'abs': 1e-14}  # some sums, a root and a quotient of doubles
EIGHTHS = st.integers(-24, 24).map(lambda number: number / 8)  # beyond 1, too
DIFFERENCES = st.lists(EIGHTHS, min_size=1, max_size=9)
CLUSTERS = st.lists(st.tuples(EIGHTHS, st.integers(1, 4)), min_size=1, max_size=9)


def bounds(interval):
    return [interval.low, interval.high]


def by_scipy(values, level):
    return list(stats.ttest_1samp(values, 0).confidence_interval(level))


def of_units(interval_of, sums, sizes, level=0.95):
    return interval_of(np.array(sums, dtype=float), np.array(sizes, dtype=float), level)


@pytest.mark.parametrize(
    ('interval_of', 'appended'), [(t_interval, lambda *units: units), (plus2_interval, None)]
)
@given(CLUSTERS, st.sampled_from([0.5, 0.95, 0.99]))
def test_clusters_are_those_of_the_oracle(interval_of, appended, clusters, level):
    sums, sizes = zip(*clusters, strict=True)
    found = of_units(interval_of, sums, sizes, level)
    sums, sizes = (appended or oracle.with_plus2)(sums, sizes)
    if len({Fraction(total) / size for total, size in zip(sums, sizes, strict=True)}) == 1:
        assert (found.low, found.high) == (None, None)
        assert found.reason
        return
    mean, variance = oracle.ratio(sums, sizes)
    half = stats.t.ppf((1 + level) / 2, len(sums) - 1) * float(variance) ** 0.5
    assert bounds(found) == pytest.approx([float(mean) - half, float(mean) + half], **CLOSE)


@given(DIFFERENCES)
def test_plus2_of_queries_is_student_with_two_more(differences):
    m = max(1, *map(abs, differences))
    expected = by_scipy([*differences, m, -m], 0.95)
    found = of_units(plus2_interval, differences, [1] * len(differences))
    assert bounds(found) == pytest.approx(expected, **CLOSE)


@given(DIFFERENCES, st.integers(1, 5))
def test_clusters_of_one_size_are_as_their_means(means, size):
    alone = of_units(plus2_interval, means, [1] * len(means))
    sums = [mean * size for mean in means]
    found = of_units(plus2_interval, sums, [size] * len(means))
    assert bounds(found) == pytest.approx(bounds(alone), **CLOSE)


@given(CLUSTERS)
def test_plus2_holds_the_difference_that_was_found(clusters):
    sums, sizes = zip(*clusters, strict=True)
    found = of_units(plus2_interval, sums, sizes)
    assert found.low < sum(sums) / sum(sizes) < found.high


def test_plus2_exists_where_all_differences_are_0():
    """Four zeros, 1 and -1: t of 5 degrees of freedom, by a deviation of sqrt(2 / 5)."""
    half = 2.5705818 * (2 / 5 / 6) ** 0.5
    assert bounds(of_units(plus2_interval, [0] * 4, [1] * 4)) == pytest.approx([-half, half])
    low, high = bounds(of_units(plus2_interval, [0.5], [1]))
    assert low < 0 < 0.5 < high


def test_what_has_no_interval_says_why():
    reasons = {
        'one query': ([0.5], [1]),
        'one cluster of queries': ([0.5], [2]),
        'all units have one mean': ([0.5, 1], [1, 2]),
    }
    for reason, units in reasons.items():
        found = of_units(t_interval, *units)
        assert (found.low, found.high, found.reason) == (None, None, reason)
