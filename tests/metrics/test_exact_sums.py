"""Sums are exact, in any order and split."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.errors import ParameterError
from mediaeval_ap.metrics import accumulator
from mediaeval_ap.metrics.accumulator import ExactSums

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(st.integers(0, 2), finite), max_size=20), st.integers(0, 20))
def test_sums_are_exact(terms, cut):
    one, other = ExactSums(3), ExactSums(3)
    for sums, part in ((one, terms[:cut]), (other, terms[cut:])):
        groups = np.array([group for group, _ in part], dtype=np.int64)
        sums.add(np.array([value for _, value in part]), groups)
    one.merge(other)
    for group in range(3):
        assert one.fraction(group) == sum(Fraction(x) for g, x in terms if g == group)


@pytest.mark.parametrize('terms', [[-1.0], [1.0, -3.0], [-1e-300, -1 / 3], [-(2.0**53) + 1]])
def test_sums_of_negative_terms(terms):
    sums = ExactSums()
    sums.add(np.array(terms))
    assert sums.fraction() == sum(map(Fraction, terms))
    assert sums.n_terms == len(terms)


def test_sums_are_not_shared():
    one, other = ExactSums(), ExactSums()
    other.add(np.array([0.5]))
    one.merge(other)
    one.add(np.array([0.5]))
    assert (one.fraction(), other.fraction()) == (1, Fraction(1, 2))


def test_as_many_terms_as_can_be_counted(monkeypatch):
    largest_halves = (
        1 << accumulator.LOW_BITS,
        1 << (accumulator.MANTISSA_BITS - accumulator.LOW_BITS),
    )
    assert all(accumulator.MAX_TERMS * half < 2**63 for half in largest_halves)
    monkeypatch.setattr(accumulator, 'MAX_TERMS', 10)
    one, other = ExactSums(), ExactSums()
    one.add(np.ones(6))
    other.add(np.ones(4))
    one.merge(other)
    assert one.fraction() == 10
    for more in lambda: one.add(np.ones(1)), lambda: one.merge(other):
        with pytest.raises(ParameterError, match=r'found 1\d terms of a sum, expected at most'):
            more()
    assert one.fraction() == 10
