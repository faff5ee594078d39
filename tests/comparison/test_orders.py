"""Kendall's tau-b between orders of runs."""

import oracle_comparison as oracle
import pytest
from compared_runs import evaluation, several
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.comparison.runs import agreements, read_runs
from mediaeval_ap.errors import ParameterError

MEANS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=7)


def runs_of(means):
    return read_runs(several(*[[[x / 4, y / 4]] for x, y in means]))


@given(MEANS)
def test_tau_is_that_of_all_pairs(means):
    (found,) = agreements(runs_of(means), None)
    expected = oracle.kendall_tau_b(*zip(*means, strict=True))
    assert (found.a, found.b) == ('MAP@1', 'MAP@10')
    # A quotient of a small integer and a square root.
    assert found.tau == (None if expected is None else pytest.approx(expected, abs=1e-14))
    assert (found.tau is None) == bool(found.reason)


def test_reasons():
    (found,) = agreements(runs_of([(1, 2)]), None)
    assert found.reason == 'one run has no order'
    (found,) = agreements(runs_of([(1, 2), (2, 2)]), None)
    assert found.reason == 'all runs are equal by MAP@10'


def test_definitions():
    trec = {'a': evaluation([1.0]), 'b': evaluation([0.5]), 'c': evaluation([0.25])}
    kaggle = {'a': 0.5, 'b': 1.0, 'c': 0.25}
    also = {
        'kaggle': {name: evaluation([v], definition='kaggle') for name, v in kaggle.items()},
        'again': trec,
    }
    found = [(each.a, each.b, each.tau) for each in agreements(read_runs(trec), also)]
    assert found == [
        ('MAP@1', 'kaggle MAP@1', pytest.approx(1 / 3)),
        ('MAP@1', 'again MAP@1', pytest.approx(1)),
        ('kaggle MAP@1', 'again MAP@1', pytest.approx(1 / 3)),
    ]


@pytest.mark.parametrize(
    ('also', 'message'),
    [
        ([evaluation([1])], 'also: found .*expected {name: results}'),
        ({'x': {'b': evaluation([1])}}, r"also: 'x': found other runs.*\('a' is only in one"),
        ({'x': {'a': evaluation([1, 0])}}, r"found other queries.*\('q001' is only in one"),
    ],
)
def test_other_runs_and_queries_are_refused(also, message):
    with pytest.raises(ParameterError, match=message):
        agreements(read_runs({'a': evaluation([1])}), also)
