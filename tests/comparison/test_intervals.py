"""Sums over units, and intervals over them, against exact fractions, 50 digits and SciPy."""

from fractions import Fraction

import numpy as np
import oracle_comparison as oracle
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats

from mediaeval_ap.comparison.intervals import mean_interval, plus2_interval
from mediaeval_ap.comparison.units import units_of

CLOSE = {'rel': 1e-12, 'abs': 1e-14}  # some sums, a root and a quotient of doubles
EIGHTHS = st.integers(-24, 24).map(lambda number: number / 8)  # beyond 1, too
CLUSTERS = st.lists(st.tuples(EIGHTHS, st.integers(1, 4)), min_size=5, max_size=9)
LEVELS = st.sampled_from([0.5, 0.95, 0.99, 0.999])


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


def test_differences_computed_elsewhere():
    differences = np.array([0.1, 0, 0.25, -0.05, 0, 0.5, 0, 0.2])
    found = plus2_interval(differences, np.ones(8), 0.95, 1, is_bound=True)
    assert (found.low, found.high) == pytest.approx((-0.2588687340, 0.4588687340), abs=1e-10)


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


@given(CLUSTERS, LEVELS, st.sampled_from([1, 6]))
def test_differences_are_those_of_the_oracle(clusters, level, largest):
    sums, sizes = zip(*clusters, strict=True)
    arrays = np.array(sums, float), np.array(sizes, float)
    appended = oracle.with_plus2(sums, sizes, largest)
    mean, variance = oracle.ratio(*appended)
    half = stats.t.ppf((1 + level) / 2, len(sums) + 1) * float(variance) ** 0.5
    expected = [float(mean) - half, float(mean) + half]
    bare = plus2_interval(*arrays, level, largest, is_bound=False)
    assert [bare.low, bare.high] == pytest.approx(expected, **CLOSE)
    m = float(max([largest, *(abs(total / size) for total, size in clusters)]))
    within = plus2_interval(*arrays, level, largest, is_bound=True)
    clipped = [max(expected[0], -m), min(expected[1], m)]
    assert [within.low, within.high] == pytest.approx(clipped, **CLOSE)


def test_equal_means_of_clusters_have_no_interval():
    """All deviations are 0, and the interval divides by them."""
    found = mean_interval(np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 4, 6, 8, 10]), 0.95, (0, 1))
    assert (found.low, found.high, found.reason) == (None, None, 'all units have one mean')
