"""First-hit MAP: known values, and the oracle."""

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import CLOSE

from mediaeval_ap.errors import ParameterError
from mediaeval_ap.metrics import (
    ReciprocalRank,
    mean_reciprocal_rank_at_k,
    reciprocal_rank_at_k,
)

labels = st.sampled_from('abcdef')
lists = st.lists(labels, max_size=9)
cutoffs = st.integers(1, 12)


@pytest.mark.parametrize(
    ('predictions', 'value'),
    [
        ('', 0),
        ('y', 0),
        ('x', 1),
        ('xyz', 1),
        ('yx', 1 / 2),
        ('yxx', 1 / 2),
        ('yz', 0),
        ('yzx', 1 / 3),
        ('yzabc', 0),
        ('xzabc', 1),
        ('yzabx', 1 / 5),
        ('yzabcx', 0),
    ],
)
def test_reciprocal_rank(predictions, value):
    assert reciprocal_rank_at_k('x', list(predictions)) == value


@pytest.mark.parametrize(
    ('truth', 'predictions', 'value'),
    [
        ('x', ['xy'], 1),
        ('xz', ['xy', 'xy'], 1 / 2),
        ('xz', ['xy', 'xyz'], 2 / 3),
        ('xzk', ['xy', 'xyz', 'abcde'], 4 / 9),
    ],
)
def test_mean_reciprocal_rank(truth, predictions, value):
    assert mean_reciprocal_rank_at_k(list(truth), list(map(list, predictions))) == value


@given(st.lists(st.tuples(labels, lists), min_size=1, max_size=6), cutoffs)
def test_reciprocal_rank_against_oracle(images, k):
    truth, predictions = zip(*images, strict=True)
    expected = [oracle.reciprocal_rank(*image, k) for image in images]
    metric = ReciprocalRank(k)
    assert metric.update(truth, predictions).tolist() == [float(value) for value in expected]
    assert metric.compute() == pytest.approx(float(sum(expected) / len(images)), **CLOSE)
    assert metric.n_images == len(images)
    assert metric.n_first_hits.total() == sum(value > 0 for value in expected)


def test_errors_of_first_hits_name_their_parameters():
    for labels, predictions, message in (
        (['a'], [[1]], 'y_pred: found integers, expected text as in y_true'),
        (['a', 'b'], [['a']], 'y_pred: found 1 lists, expected 2 as in y_true'),
        ([None], [['a']], 'y_true: found a missing label'),
        ([['a']], [['a']], 'y_true: found labels of type list'),
    ):
        with pytest.raises(ParameterError, match=f'^{message}'):
            mean_reciprocal_rank_at_k(labels, predictions)
