"""Tests of pairs: corrections, effect sizes, wins."""

from itertools import pairwise

import numpy as np
import oracle_comparison as oracle
import pytest
from compared_runs import several
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import compare
from mediaeval_ap.comparison.testing import adjusted, effect_size

# A product or quotient of doubles.
CLOSE = {'rel': 1e-14}
P = st.lists(st.fractions(0, 1, max_denominator=1000).map(float), min_size=1, max_size=12)

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.NarrowIntervalWarning')


@given(P)
def test_corrections_are_those_of_their_definitions(p):
    assert adjusted(p, 'holm') == pytest.approx(oracle.holm(p), **CLOSE)
    assert adjusted(p, 'bh') == pytest.approx(oracle.benjamini_hochberg(p), **CLOSE)


@given(P, st.sampled_from(['holm', 'bh']))
def test_corrected_p_are_no_smaller_and_in_the_same_order(p, correction):
    found = adjusted(p, correction)
    order = sorted(range(len(p)), key=p.__getitem__)
    assert all(after >= before for before, after in zip(p, found, strict=True))
    assert all(found[i] <= found[j] for i, j in pairwise(order))


def test_effect_size():
    assert effect_size(np.array([1.0, 2.0, 3.0])) == (2, '')
    assert effect_size(np.array([0.25, 0.25])) == (None, 'all differences are 0.25')
    assert effect_size(np.array([0.25])) == (None, 'one query has no standard deviation')


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=6))
def test_pairs_are_those_of_the_oracle(rows):
    """Each number that is exact: fewer than 20 differences are enumerated."""
    columns = zip(*[[value / 4 for value in row] for row in rows], strict=True)
    runs = dict(zip('abc', columns, strict=True))
    comparison = compare(several(*runs.values()), resamples=20, permutations=10)
    assert len(comparison.pairs) == 3
    for pair in comparison.pairs:
        a, b = runs[pair.a], runs[pair.b]
        differences = oracle.differences(a, b)
        assert pair.difference == float(oracle.mean(differences)) >= 0
        assert pair.p == float(oracle.sign_flip_p(differences))
        assert pair.exact
        assert (pair.wins, pair.ties, pair.losses) == oracle.wins_ties_losses(a, b)
        assert pair.n_nonzero == pair.wins + pair.losses
        assert (pair.dz is None) == bool(pair.reason)
    expected = oracle.holm([pair.p for pair in comparison.pairs])
    assert [pair.p_adjusted for pair in comparison.pairs] == pytest.approx(expected, **CLOSE)


def test_values_that_rounding_alone_tells_apart_are_ties():
    """7 / 24 in two ways, as one and the same AP is summed over other ranks."""
    sevens = (1 / 8 + 1 / 6, 7 / 24)
    assert sevens[0] != sevens[1]
    comparison = compare(several(*([each] * 3 for each in sevens)), resamples=20, permutations=10)
    (pair,) = comparison.pairs
    assert (pair.wins, pair.ties, pair.losses, pair.n_nonzero) == (0, 3, 0, 0)
    assert (pair.dz, pair.p, pair.reason) == (None, 1, 'all differences are 0')
    assert [standing.rank for standing in comparison.leaderboard] == [1, 1]
