"""Precision, relevance, AP and MAP at k beside the oracle."""

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import CLOSE

from mediaeval_ap import definitions
from mediaeval_ap.errors import ParameterError, UndefinedScoreError
from mediaeval_ap.metrics import (
    MeanAveragePrecision,
    average_precision_at_k,
    mean_average_precision_at_k,
    precision_at_k,
    relevance_at_k,
)

labels = st.sampled_from('abcdef')
lists = st.lists(labels, max_size=9)
cutoffs = st.integers(1, 12)


@given(lists, lists, cutoffs, st.sampled_from(definitions.names()))
def test_at_k_against_oracle(y_true, y_pred, k, definition):
    expected = oracle.average_precision_of_labels(y_true, y_pred, k, definition)
    value = average_precision_at_k(y_true, y_pred, k, definition)
    assert value == pytest.approx(float(expected), **CLOSE)
    first = [label for i, label in enumerate(y_pred) if label not in y_pred[:i]]
    hits = [int(x in y_true and x in first and first.remove(x) is None) for x in y_pred]
    assert precision_at_k(y_true, y_pred, k) == sum(hits[:k]) / k
    assert relevance_at_k(y_true, y_pred, k) == sum(hits[k - 1 : k])


@given(
    st.lists(st.tuples(lists, lists), min_size=1, max_size=8),
    cutoffs,
    st.sampled_from(definitions.names()),
)
def test_mean_average_precision_against_oracle(users, k, definition):
    y_true, y_pred = zip(*users, strict=True)
    values = [oracle.average_precision_of_labels(*user, k, definition) for user in users if user[0]]
    metric = MeanAveragePrecision(k, definition)
    _, n_relevant = metric.update(y_true, y_pred)
    once = not definition.startswith('mediaeval')
    assert n_relevant.tolist() == [len(set(t) if once else t) for t in y_true]
    assert (metric.n_users, metric.n_without_truth) == (len(values), len(users) - len(values))
    if values:
        expected = float(sum(values) / len(values))
        assert metric.compute() == pytest.approx(expected, **CLOSE)
        assert mean_average_precision_at_k(y_true, y_pred, k, definition) == metric.compute()
    else:
        with pytest.raises(UndefinedScoreError, match='users has a relevant label'):
            metric.compute()


@pytest.mark.parametrize('k', [0, -1, 1.5, True, '5', 2**63])
def test_cutoffs(k):
    for function in precision_at_k, relevance_at_k, average_precision_at_k:
        with pytest.raises(ParameterError, match=r'^k: found'):
            function(['a'], ['a'], k)
    with pytest.raises(ParameterError, match=r'^k: found'):
        MeanAveragePrecision(k)
