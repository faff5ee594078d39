"""AP of each class over the samples: by the oracle, by scikit-learn, and one class at a time."""

import math
import tracemalloc

import numpy as np
import oracle
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from oracle import CLOSE

from mediaeval_ap.choices import TIES
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.metrics import class_average_precision


@st.composite
def matrices(draw, max_samples=6):
    n_classes = draw(st.integers(1, 4))
    label = st.sampled_from([0, 1])
    score = st.sampled_from([0.0, -0.0, 0.5, 0.5, 1.0, -3.0, 1e308])
    row = st.tuples(*[label] * n_classes), st.tuples(*[score] * n_classes)
    rows = draw(st.lists(st.tuples(*row), min_size=1, max_size=max_samples))
    return tuple(map(list, zip(*rows, strict=True)))


@pytest.mark.parametrize('ties', TIES)
@given(rows=matrices())
def test_against_the_oracle(ties, rows):
    expected = list(map(float, oracle.class_average_precision(*rows, ties)))
    ours = class_average_precision(*rows, ties=ties)
    assert ours.tolist() == pytest.approx(expected, nan_ok=True, **CLOSE)


@pytest.mark.parametrize('dtype', [np.float64, np.float32, np.float16, np.uint8, np.int64, '>f8'])
def test_against_scikit_learn(dtype):
    """On scores full of ties; unsigned integers cannot be negated, to sort them."""
    from sklearn.metrics import average_precision_score

    random = np.random.default_rng(3)  # any samples would do
    y_true = random.random((200, 30)) < random.random(30) / 2
    y_score = random.integers(0, 40, y_true.shape).astype(dtype)
    y_true[0] = True
    ours = class_average_precision(y_true, y_score)
    peer = average_precision_score(y_true, y_score.astype(float), average=None)
    assert ours.tolist() == pytest.approx(peer.tolist(), abs=1e-12)  # another order of sums
    for ties in TIES:
        by_doubles = class_average_precision(y_true, y_score.astype(float), ties=ties)
        assert class_average_precision(y_true, y_score, ties=ties).tolist() == by_doubles.tolist()


@given(matrices(), st.sampled_from(['csr', 'csc', 'coo']))
def test_a_sparse_truth_is_scored_as_a_dense_one(rows, kind):
    truth, scores = rows
    sparse = scipy.sparse.csr_array(np.array(truth)).asformat(kind)
    expected = class_average_precision(truth, scores).tolist()
    assert class_average_precision(sparse, scores).tolist() == pytest.approx(
        expected, nan_ok=True, rel=0, abs=0
    )


@pytest.mark.parametrize('dtype', [np.float64, np.int64])
def test_no_copy_of_the_matrix(dtype):
    """Scores may fill the memory, so only one class is copied at a time."""
    y_true = np.random.default_rng(5).integers(0, 2, (20_000, 50))
    y_score = np.random.default_rng(6).integers(0, 9999, y_true.shape).astype(dtype)
    class_average_precision([[1]], [[1]])  # imports

    def peak(n_classes):
        tracemalloc.start()
        class_average_precision(y_true[:, :n_classes], y_score[:, :n_classes])
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(50) < 2 * peak(1) < y_score.nbytes / 2


@pytest.mark.parametrize(
    ('y_true', 'y_score', 'message'),
    [
        ([[1, 0]], [[1, math.nan]], 'y_score: found nan in row 0, column 1'),
        ([[1, 0], [1, 2]], [[1, 0], [0, 0]], 'y_true: found 2 in row 1, column 1'),
        (scipy.sparse.csr_array([[0, 0.5]]), [[1, 0]], 'y_true: found 0.5 in row 0, column 1'),
        ([[1, 0]], [[1, 0, 0]], r'y_score: found shape \(1, 3\)'),
    ],
)
def test_what_is_no_matrix(y_true, y_score, message):
    with pytest.raises(ParameterError, match=f'^{message}'):
        class_average_precision(y_true, y_score)


def test_unknown_ties():
    with pytest.raises(ParameterError, match=r"^ties: found 'upper', expected"):
        class_average_precision([[1]], [[1]], ties='upper')


def test_no_sample_has_a_class():
    assert np.isnan(class_average_precision(np.zeros((0, 2)), np.zeros((0, 2)))).all()


def test_long_doubles_are_not_rounded():
    """As doubles these would be tied, and the first would have an expected precision of 3/4."""
    one = np.longdouble(1)
    above = np.nextafter(one, 2)
    if float(above) != above:  # some systems have no wider type
        assert class_average_precision([[1], [0]], np.array([[above], [one]])) == [1]
