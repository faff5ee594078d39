"""Sign flips in the form of `scipy.stats.ttest_rel`."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import compare, evaluate_trec
from mediaeval_ap.compat.pyterrier import sign_flips
from mediaeval_ap.errors import ParameterError

# Eighths add up exactly, so the slow version needs no tolerance.
pairs = st.lists(
    st.tuples(*[st.integers(0, 8).map(lambda number: number / 8)] * 2), min_size=1, max_size=8
)


@given(pairs)
def test_p_is_the_share_of_all_patterns_of_signs(values):
    a, b = map(list, zip(*values, strict=True))
    differences = [x - y for x, y in values]
    sums = [
        abs(sum(sign * each for sign, each in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    statistic, p = sign_flips(a, b)
    assert statistic == sum(differences) / len(differences)
    assert p == sum(each >= abs(sum(differences)) for each in sums) / len(sums)
    assert sign_flips(b, a) == (-statistic, p)


def test_it_is_the_test_of_a_comparison():
    """Of sixty queries: too many for all patterns."""
    generator = np.random.default_rng(3)  # any seed: both draw the same patterns by their own
    qrels = {f'{topic:02}': {'d0': 1, 'd1': 0} for topic in range(60)}  # sorted, as to compare
    ap = {}
    for name, shift in (('one', 0.0), ('other', 0.2)):
        run = {
            topic: {f'd{n}': float(score) + shift * (n == 0) for n, score in enumerate(scores)}
            for topic, scores in zip(qrels, generator.random((60, 5)), strict=True)
        }
        ap[name] = evaluate_trec(qrels, run, 10, name=name)
    (pair,) = compare(ap.values()).pairs
    values = [ap[name].ap[:, 0] for name in (pair.a, pair.b)]
    statistic, p = sign_flips(*values)
    assert p == pair.p
    assert statistic == pytest.approx(pair.difference, abs=1e-12)  # rounded to steps once


@pytest.mark.parametrize(
    ('a', 'b'), [([], []), ([1.0], [1.0, 2.0]), ([[1.0]], [[2.0]]), ([float('nan')], [1.0])]
)
def test_values_that_are_no_pairs(a, b):
    with pytest.raises(ParameterError, match=r'^a, b: found .* expected two finite values for eac'):
        sign_flips(a, b)
