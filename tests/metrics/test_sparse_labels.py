"""Label ranking average precision takes sparse labels as scikit-learn does."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from sklearn.metrics import label_ranking_average_precision_score

from mediaeval_ap.errors import ParameterError
from mediaeval_ap.metrics import (
    LabelRankingAveragePrecision,
    label_ranking_average_precision,
    label_weighted_label_ranking_average_precision,
)

FORMATS = ['csr', 'csc', 'coo', 'lil', 'dok', 'bsr', 'dia']
ROUNDING = 1e-12  # scikit-learn adds in doubles, in another order


@st.composite
def labels_and_scores(draw):
    shape = draw(st.tuples(st.integers(1, 8), st.integers(2, 6)))
    truth = draw(npst.arrays(np.int64, shape, elements=st.integers(0, 1)))
    scores = draw(npst.arrays(np.float64, shape, elements=st.sampled_from([0, 0.25, 0.5, 1])))
    return truth, scores


@given(labels_and_scores(), st.sampled_from(FORMATS), st.booleans())
def test_sparse_labels_are_scored_as_dense_ones_and_by_scikit_learn(data, kind, as_matrix):
    truth, scores = data
    sparse = (scipy.sparse.csr_matrix if as_matrix else scipy.sparse.csr_array)(truth).asformat(
        kind
    )
    score = label_ranking_average_precision(sparse, scores)
    assert score == label_ranking_average_precision(truth, scores)
    expected = label_ranking_average_precision_score(scipy.sparse.csr_matrix(truth), scores)
    assert score == pytest.approx(expected, abs=ROUNDING)
    if truth.any():
        weighted = label_weighted_label_ranking_average_precision
        assert weighted(sparse, scores) == weighted(truth, scores)


def test_pieces_and_blocks_of_sparse_labels(monkeypatch):
    """A block is made dense alone, so memory does not grow with all labels."""
    generator = np.random.default_rng(7)  # any
    truth = generator.random((50, 20)) < 0.1
    scores = generator.random((50, 20))
    expected = LabelRankingAveragePrecision().update(truth, scores)
    monkeypatch.setattr('mediaeval_ap.metrics.label_ranking_ap.SCORES_IN_BLOCK', 60)
    metric = LabelRankingAveragePrecision()
    sparse = scipy.sparse.csr_array(truth)
    values = [metric.update(sparse[rows], scores[rows]) for rows in (slice(0, 20), slice(20, 50))]
    assert np.concatenate(values).tolist() == expected.tolist()
    assert metric.compute() == label_ranking_average_precision(truth, scores)


def test_a_stored_zero_is_no_label():
    stored = scipy.sparse.csr_array(([1, 0], ([0, 0], [0, 1])), shape=(1, 3))
    scores = [[0.5, 0.75, 0.25]]
    assert label_ranking_average_precision(stored, scores) == 0.5


@pytest.mark.parametrize(
    ('truth', 'scores', 'message'),
    [
        ([[0, 2]], [[0.5, 1]], 'y_true: found 2 in row 0, column 1, expected 0 or 1'),
        ([[0, 1]], scipy.sparse.csr_array([[0.5, 1]]), 'y_score: found a sparse matrix, expected'),
        ([[0, 1]], [[0.5, 1, 0]], r'y_score: found shape \(1, 3\), expected \(1, 2\)'),
        ([[0, 1j]], [[0.5, 1]], 'y_true: found 2 dimensions of complex128, expected 2 of numbers'),
    ],
)
def test_sparse_input_that_is_wrong(truth, scores, message):
    with pytest.raises(ParameterError, match=message):
        label_ranking_average_precision(scipy.sparse.csr_array(truth), scores)


def test_one_dimension_is_wrong():
    with pytest.raises(ParameterError, match='y_true: found 1 dimensions'):
        label_ranking_average_precision(scipy.sparse.coo_array([0, 1]), [[0.5, 1]])
