"""First-hit MAP beside the oracle."""

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import CLOSE

from mediaeval_ap.errors import ParameterError
from mediaeval_ap.metrics import ReciprocalRank, mean_reciprocal_rank_at_k, reciprocal_rank_at_k

labels = st.sampled_from('abcdef')


@given(
    st.lists(st.tuples(labels, st.lists(labels, max_size=9)), min_size=1, max_size=6),
    st.integers(1, 12),
)
def test_reciprocal_rank_against_oracle(images, k):
    truth, predictions = zip(*images, strict=True)
    expected = [oracle.reciprocal_rank(*image, k) for image in images]
    metric = ReciprocalRank(k)
    assert metric.update(truth, predictions).tolist() == [float(value) for value in expected]
    assert metric.compute() == pytest.approx(float(sum(expected) / len(images)), **CLOSE)
    assert mean_reciprocal_rank_at_k(truth, predictions, k) == metric.compute()
    assert reciprocal_rank_at_k(truth[0], predictions[0], k) == float(expected[0])
    assert metric.n_images == len(images)
    assert metric.n_first_hits.total() == sum(value > 0 for value in expected)


def test_errors_of_first_hits_name_their_parameters():
    for labels, predictions, message in (
        (['a'], [[1]], 'y_pred: found integers, expected text as in y_true'),
        (['a', 'b'], [['a']], 'y_pred: found 1 lists, expected 2 as in y_true'),
        ([None], [['a']], 'y_true: found a missing label'),
        ([['a']], [['a']], 'y_true: found lists, expected text or integers'),
    ):
        with pytest.raises(ParameterError, match=f'^{message}'):
            mean_reciprocal_rank_at_k(labels, predictions)


def test_a_cutoff_that_is_no_positive_integer():
    with pytest.raises(ParameterError, match=r'^k: found 0'):
        ReciprocalRank(0)
