"""LRAP and lwlrap: dense and sparse, block by block, beside the oracle and scikit-learn."""

import math

import numpy as np
import oracle
import pandas
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from oracle import CLOSE

from mediaeval_ap.errors import ParameterError, UndefinedScoreError
from mediaeval_ap.metrics import (
    LabelRankingAveragePrecision,
    label_ranking_average_precision,
    label_weighted_label_ranking_average_precision,
)


@st.composite
def samples(draw, min_labels=0):
    n_classes = draw(st.integers(1, 5))
    row = st.lists(st.integers(0, 1), min_size=n_classes, max_size=n_classes)
    score = st.sampled_from([0.0, -0.0, 0.5, 0.5, 1.0, -3.0, 1e308])
    scores = st.lists(score, min_size=n_classes, max_size=n_classes)
    rows = draw(st.lists(st.tuples(row, scores), min_size=1, max_size=6))
    y_true, y_score = map(list, zip(*rows, strict=True))
    weights = draw(
        st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=len(rows), max_size=len(rows))
    )
    return y_true, y_score, weights


@pytest.fixture(scope='module')
def scikit_learn():
    """Its function, imported here because that takes a second, which a collection need not."""
    from sklearn.metrics import label_ranking_average_precision_score

    return label_ranking_average_precision_score


@given(rows=samples())
def test_label_ranking_against_oracle_and_scikit_learn(scikit_learn, rows):
    y_true, y_score, weights = rows
    value = label_ranking_average_precision(y_true, y_score, weights)
    expected = oracle.label_ranking_average_precision(y_true, y_score, weights)
    assert value == pytest.approx(float(expected), **CLOSE)
    if len(y_true[0]) > 1:  # scikit-learn takes one class for another problem
        peer = scikit_learn(np.array(y_true), np.array(y_score), sample_weight=weights)
        assert value == pytest.approx(peer, **CLOSE)


@given(rows=samples().filter(lambda rows: any(map(any, rows[0]))))
def test_label_weighted_against_oracle_and_scikit_learn(scikit_learn, rows):
    y_true, y_score, _ = rows
    value, precision, weight = label_weighted_label_ranking_average_precision(
        y_true, y_score, return_per_class=True
    )
    expected, means, shares = oracle.label_weighted_label_ranking_average_precision(y_true, y_score)
    assert value == pytest.approx(float(expected), **CLOSE)
    assert value == label_weighted_label_ranking_average_precision(y_true, y_score)
    for mean, share, *ours in zip(means, shares, precision, weight, strict=True):
        nothing = float('nan')
        assert ours == pytest.approx(
            [nothing if mean is None else float(mean), float(share)], nan_ok=True, **CLOSE
        )
    if len(y_true[0]) > 1:
        counts = np.sum(y_true, axis=1)
        peer = scikit_learn(np.array(y_true), np.array(y_score), sample_weight=counts)
        assert value == pytest.approx(peer, **CLOSE)


@given(samples(), st.booleans(), st.data())
def test_samples_without_scores(rows, label_weighted, data):
    y_true, y_score, _ = rows
    y_score = [row if data.draw(st.booleans()) else None for row in y_score]
    metric = LabelRankingAveragePrecision(label_weighted=label_weighted)
    for true, scores in zip(y_true, y_score, strict=True):
        if scores is None:
            metric.update_missing([true])
        else:
            metric.update([true], [scores])
    assert (metric.n_samples, metric.n_labels.tolist()) == (
        len(y_true),
        np.sum(y_true, axis=0).tolist(),
    )
    assert metric.n_without_label == sum(not any(row) for row in y_true)
    if not label_weighted:
        expected = oracle.label_ranking_average_precision(y_true, y_score, [1] * len(y_true))
        assert metric.compute() == pytest.approx(float(expected), **CLOSE)
    elif any(map(any, y_true)):
        expected, means, _ = oracle.label_weighted_label_ranking_average_precision(y_true, y_score)
        assert metric.compute() == pytest.approx(float(expected), **CLOSE)
        precision, _ = metric.per_class()
        assert precision.tolist() == pytest.approx(
            [math.nan if mean is None else float(mean) for mean in means], nan_ok=True, **CLOSE
        )


@pytest.mark.parametrize(
    ('y_true', 'y_score', 'weights', 'message'),
    [
        ([[1, 0]], [[1, math.nan]], None, 'y_score: found nan in row 0, column 1'),
        ([[2, 0]], [[1, 0]], None, 'y_true: found 2 in row 0, column 0, expected 0 or 1'),
        ([[1, 0]], [[1, 0, 0]], None, r'y_score: found shape \(1, 3\), expected \(1, 2\)'),
        ([1, 0], [1, 0], None, 'y_true: found 1 dimensions of int64, expected 2 of numbers'),
        ([[1], [1, 0]], [[1, 0]], None, 'y_true: found rows of different lengths'),
        ([[1, 0]], [['1', '0']], None, 'y_score: found 2 dimensions of <U1'),
        ([[1, 0]], [[1, 0]], [1, 1], 'sample_weight: found 2 numbers, expected 1'),
        ([[1, 0]], [[1, 0]], [-1], 'sample_weight: found -1.0, expected finite'),
        ([[1, 0]], [[1, 0]], [math.nan], 'sample_weight: found nan, expected finite'),
        ([[1, 0]], np.ma.masked_array([[1, 0]], [[0, 1]]), None, 'y_score: found a masked array'),
        (
            pandas.DataFrame({'a': [1], 'b': [0]}),
            pandas.DataFrame({'b': [1], 'a': [0]}),
            None,
            'y_score: found other columns, expected those of y_true',
        ),
        (np.zeros((2, 0)), np.zeros((2, 0)), None, 'y_true: found no classes, expected at least'),
        ([[1, 0, 0]], [[1, 0, 0]], None, 'y_true: found 3 classes, expected 2 as before'),
        ([[1, 0]], scipy.sparse.csr_array([[0.5, 1]]), None, 'y_score: found a sparse matrix, exp'),
        (scipy.sparse.coo_array([[0, 1j]]), [[0.5, 1]], None, 'y_true: found 2 dimensions of comp'),
    ],
)
def test_what_are_no_samples(y_true, y_score, weights, message):
    metric = LabelRankingAveragePrecision()
    metric.update([[1, 0]], [[1, 0]])
    with pytest.raises(ParameterError, match=f'^{message}'):
        metric.update(y_true, y_score, weights)
    if message.startswith('y_true') and 'dimensions' not in message:
        with pytest.raises(ParameterError, match=f'^{message}'):
            metric.update_missing(y_true)
    assert (metric.compute(), metric.n_samples, metric.n_labels.tolist()) == (1, 1, [1, 0])


def test_undefined_label_rankings():
    with pytest.raises(UndefinedScoreError, match='lwlrap: none of 1 samples has a true label'):
        label_weighted_label_ranking_average_precision([[0, 0]], [[1, 2]])
    with pytest.raises(UndefinedScoreError, match='LRAP: none of 1 samples has a weight'):
        label_ranking_average_precision([[1, 0]], [[1, 2]], [0])
    with pytest.raises(ParameterError, match='give sample_weight or label_weighted, not both'):
        LabelRankingAveragePrecision(label_weighted=True).update([[1]], [[1]], [1])


def test_blocks_of_samples(monkeypatch):
    """A block of sparse labels is made dense alone, so memory does not grow with all labels."""
    random = np.random.default_rng(2)  # any samples would do
    y_true, y_score = random.integers(0, 2, (40, 7)), random.integers(0, 5, (40, 7))
    expected = LabelRankingAveragePrecision().update(y_true, y_score)
    for n_scores in 1, 50:
        monkeypatch.setattr('mediaeval_ap.metrics.label_ranking_ap.SCORES_IN_BLOCK', n_scores)
        for truth in y_true, scipy.sparse.csr_array(y_true):
            metric = LabelRankingAveragePrecision()
            parts = slice(0, 20), slice(20, 40)
            values = [metric.update(truth[rows], y_score[rows]) for rows in parts]
            assert np.concatenate(values).tolist() == expected.tolist()
            assert metric.compute() == label_ranking_average_precision(y_true, y_score)


def test_values_that_are_wrong_beyond_the_first_block(monkeypatch):
    """A refused piece adds nothing: its first blocks would count twice when it is corrected."""
    monkeypatch.setattr('mediaeval_ap.metrics.label_ranking_ap.SCORES_IN_BLOCK', 4)
    y_true, y_score = np.ones((5, 2)), np.ones((5, 2))
    y_score[3, 1] = math.nan
    metric = LabelRankingAveragePrecision()
    with pytest.raises(ParameterError, match='y_score: found nan in row 3, column 1'):
        metric.update(y_true, y_score)
    assert (metric.n_samples, metric.n_labels.tolist()) == (0, [])


FORMATS = ['csr', 'csc', 'coo', 'lil', 'dok', 'bsr', 'dia']


@given(samples(), st.sampled_from(FORMATS), st.booleans())
def test_sparse_labels_are_scored_as_dense_ones(rows, kind, as_matrix):
    truth, scores, _ = rows
    sparse = scipy.sparse.csr_matrix(truth) if as_matrix else scipy.sparse.csr_array(truth)
    expected = label_ranking_average_precision(truth, scores)
    assert label_ranking_average_precision(sparse.asformat(kind), scores) == expected


def test_a_stored_zero_is_no_label():
    """scikit-learn 1.9 counts a zero that the matrix stores as a label."""
    stored = scipy.sparse.csr_array(([1, 0], ([0, 0], [0, 1])), shape=(1, 3))
    scores = [[0.5, 0.75, 0.25]]
    assert label_ranking_average_precision(stored, scores) == 0.5


def test_weights_that_doubles_would_round():
    """Rounded weights would give another mean without an error."""
    y_true, y_score = [[1, 0], [0, 1]], [[0.5, 0.4], [0.5, 0.4]]
    for weights in ([2**53, 2**53 + 1], np.array([2**53, 2**53 + 1]), [0.5, 2**53 + 1]):
        with pytest.raises(ParameterError, match='sample_weight: found 9007199254740993'):
            label_ranking_average_precision(y_true, y_score, weights)
    assert label_ranking_average_precision(y_true, y_score, [2**53, 2**54]) == 2 / 3
