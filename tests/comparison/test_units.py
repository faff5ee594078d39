"""Sums that are exact whatever their order."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.comparison.sampling import units_of

VALUES = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=40)


@given(VALUES, st.data())
def test_sums_over_clusters_are_those_of_rounded_values(values, data):
    drawn = [data.draw(st.integers(0, 3)) for _ in values]
    clusters = np.unique(drawn, return_inverse=True)[1]
    units = units_of(np.array([values]), clusters)
    step = Fraction(2) ** -units.exponent
    for cluster, total in enumerate(units.sums[:, 0].tolist()):
        members = [Fraction(v) for v, c in zip(values, clusters, strict=True) if c == cluster]
        assert units.sizes[cluster] == len(members)
        assert abs(Fraction(total) * step - sum(members)) <= step / 2 * len(members)


@given(VALUES)
def test_twice_the_difference_of_the_largest_sums_is_exact(values):
    units = units_of(np.array([values]), np.arange(len(values)))
    largest = np.abs(units.sums).max() * len(values)
    assert 4 * largest <= 2**53


def test_a_value_is_rounded_to_less_than_a_millionth_of_a_millionth():
    """599 values of a campaign: intervals are right to 12 decimals."""
    units = units_of(np.full((1, 599), 1 / 3), np.arange(599))
    assert 2.0**-units.exponent < 1e-12


def test_means_are_those_of_queries_not_of_clusters():
    units = units_of(np.array([[1, 1, 0.25]]), np.array([0, 0, 1]))
    drawn = np.array([1.0, 1.0])
    assert units.means(drawn @ units.sums, drawn @ units.sizes).tolist() == [0.75]


def test_nothing_but_zeros():
    assert units_of(np.zeros((2, 3)), np.arange(3)).sums.tolist() == [[0, 0]] * 3
