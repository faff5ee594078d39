"""GAP beside the oracle, and tie blocks whose parts are sorted apart."""

import math
from fractions import Fraction

import numpy as np
import oracle
import pandas
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle import CLOSE

from mediaeval_ap.choices import TIES
from mediaeval_ap.errors import ParameterError, UndefinedScoreError
from mediaeval_ap.metrics import GlobalAveragePrecision, global_average_precision, tie_blocks


def gap(predicted, confidence, truth, **settings):
    return global_average_precision(
        y_true=truth, y_pred=predicted, confidence=confidence, **settings
    )


# Their bits differ in the last place, or in the sign and all others.
NEIGHBOURS = [math.nextafter(0.5, 0), 5e-324, -5e-324, -math.nextafter(1, 0), math.nextafter(4, 0)]

queries = st.lists(
    st.tuples(
        st.none() | st.sampled_from('ab'),
        st.sampled_from([0.5, 0.5, 0.25, -1.0, 0.0, -0.0, 1e308, -1e308, *NEIGHBOURS]),
        st.none() | st.sampled_from('abc'),
    ),
    min_size=1,
    max_size=6,
).filter(lambda rows: any(truth is not None for _, _, truth in rows))


@given(queries, st.sampled_from(TIES))
def test_global_average_precision_against_oracle(rows, ties):
    predicted, confidence, truth = zip(*rows, strict=True)
    expected = float(oracle.global_average_precision(predicted, confidence, truth, ties))
    value, frame = gap(predicted, confidence, truth, ties=ties, return_frame=True)
    assert value == pytest.approx(expected, **CLOSE)
    assert value == gap(predicted, confidence, truth, ties=ties)
    assert frame['term'].sum() == pytest.approx(expected, **CLOSE)
    assert (frame['term'] == frame['correct'] * frame['precision'] / count(truth)).all()
    assert sorted(frame.index) == [i for i, label in enumerate(predicted) if label is not None]
    assert frame['confidence'].is_monotonic_decreasing
    assert frame['predicted'].tolist() == [predicted[i] for i in frame.index]


def count(truth):
    return sum(label is not None for label in truth)


@given(queries)
def test_expected_precision_is_the_mean_over_orders(rows):
    """Of the wrong predictions, too: by shuffling through every order of the input."""
    predicted, confidence, truth = zip(*rows, strict=True)
    frame = gap(predicted, confidence, truth, return_frame=True)[1]
    means = mean_precisions(predicted, confidence, truth)
    for row, precision in frame['precision'].items():
        assert precision == pytest.approx(float(means[row]), **CLOSE)


def mean_precisions(predicted, confidence, truth):
    given = [i for i, label in enumerate(predicted) if label is not None]
    blocks = {}
    for i in sorted(given, key=lambda i: -confidence[i]):
        blocks.setdefault(confidence[i], []).append(i)
    orders = [
        [i for block in order for i in block]
        for order in oracle.product(*map(oracle.permutations, blocks.values()))
    ]
    sums = dict.fromkeys(given, Fraction(0))
    for order in orders:
        for rank, i in enumerate(order, 1):
            sums[i] += Fraction(sum(predicted[j] == truth[j] for j in order[:rank]), rank)
    return {i: total / len(orders) for i, total in sums.items()}


def test_stable_ties_among_many():
    """An unstable sort shows itself only when there is much to sort."""
    n = 1000
    truth = [i % 2 for i in range(n)]
    value = gap([1] * n, [0.5] * n, truth, ties='stable')
    expected = sum(Fraction(i + 1, 2 * i + 2) for i in range(n // 2)) / (n // 2) / 2
    assert value == pytest.approx(float(expected), rel=1e-12)  # a sum of 500 terms


def test_missing_labels_of_every_kind():
    for missing in None, math.nan, pandas.NA, np.nan, pandas.NaT:
        values = np.array(['a', missing, 'b'], dtype=object)
        truth = np.array(['a', 'a', missing], dtype=object)
        assert gap(values, [0.5, missing, 0.9], truth) == 1 / 4
    nothing = pandas.Series([None], dtype='category')
    assert gap(['a', 'b'], [0.5, 0.4], ['a', None]) == 1
    metric = GlobalAveragePrecision()
    metric.update(y_pred=['a'], confidence=[0.5], y_true=nothing)
    metric.update(y_pred=nothing, confidence=[0.5], y_true=['a'])
    assert metric.compute() == 0
    numbers = pandas.Series([7, None, 8])  # which pandas keeps as floats
    assert gap(numbers, [0.5, None, 0.9], [7, 7, 9]) == 1 / 6
    nan = ['nan', 'nan', 'a']
    assert gap(nan, [0.9, 0.8, 0.7], ['nan', 'a', 'nan']) == 1 / 3


def test_labels_in_a_frame_stay_what_they_are():
    """Integers are no floats because some are missing."""
    rows = [7, None, 9], [0.5, None, 0.4], [None, 8, 9]
    frame = gap(*rows, return_frame=True)[1]
    assert list(map(str, frame['predicted'])) == ['7', '9']
    assert list(map(str, frame['truth'])) == ['None', '9']


@pytest.mark.parametrize(
    ('predicted', 'confidence', 'truth', 'message'),
    [
        (['a'], [math.nan], ['a'], 'confidence: found nan at position 0'),
        ([None, 'a'], [None, math.inf], ['a', 'a'], 'confidence: found inf at position 1'),
        (['a'], ['0.5'], ['a'], 'confidence: found text, expected numbers'),
        (['a'], [True], ['a'], 'confidence: found bool, expected numbers'),
        (['a'], [2**53 + 1], ['a'], 'confidence: found integers beyond'),
        (['a'], [0.5, 0.6], ['a'], 'found 1 y_true, 1 y_pred and 2 confidence'),
        (['a'], [0.5], [1], 'y_true: found integers, expected text as in y_pred'),
        (['a'], {0.5}, ['a'], 'confidence: found {0.5}, expected a sequence'),
    ],
)
def test_what_are_no_predictions(predicted, confidence, truth, message):
    metric = GlobalAveragePrecision()
    metric.update(y_true=['a'], y_pred=['a'], confidence=[0.5])
    with pytest.raises(ParameterError, match=f'^{message}'):
        metric.update(y_true=truth, y_pred=predicted, confidence=confidence)
    assert (metric.compute(), metric.n_queries, metric.n_predictions, metric.n_true) == (1, 1, 1, 1)


def test_nothing_true_is_undefined():
    with pytest.raises(UndefinedScoreError, match='GAP: none of 1 queries has a true label'):
        gap(['a'], [0.5], [None])
    with pytest.raises(UndefinedScoreError):
        gap([None], [None], [None])
    assert gap([None], [None], ['a']) == 0


def test_arguments_need_their_names():
    """In the order of the siblings, truth first, they would be another number in silence."""
    for call in global_average_precision, GlobalAveragePrecision().update:
        with pytest.raises(TypeError, match='positional argument'):
            call([1, 2, 3], [1, 2, 4], [9, 8, 3])


@pytest.mark.filterwarnings('ignore:overflow')  # in differences that scikit-learn takes
@given(queries)
def test_ties_by_threshold_are_those_of_scikit_learn(rows):
    """Which divides by the correct predictions, here by the queries with a true label."""
    from sklearn.metrics import average_precision_score

    predicted, confidence, truth = zip(*rows, strict=True)
    returned = [i for i, label in enumerate(predicted) if label is not None]
    correct = [predicted[i] == truth[i] for i in returned]
    assume(any(correct))
    peer = average_precision_score(correct, [confidence[i] for i in returned])
    value = gap(predicted, confidence, truth, ties='threshold')
    assert value * count(truth) == pytest.approx(peer * sum(correct), rel=1e-12)


@pytest.mark.parametrize('ties', ['expected', 'threshold', 'best', 'worst'])
def test_each_core_sorts_a_part(ties, monkeypatch):
    random = np.random.default_rng(4)  # any predictions would do
    rows = {
        'y_pred': random.integers(0, 3, 500),
        'confidence': random.integers(0, 40, 500) / 8,
        'y_true': random.integers(0, 3, 500),
    }
    expected = global_average_precision(**rows, ties=ties)
    monkeypatch.setattr(tie_blocks, 'WORTH_SHARING', 1)
    for n_cores in 1, 2, 3, 64:
        monkeypatch.setattr(tie_blocks, 'own_cores', lambda n_cores=n_cores: n_cores)
        assert global_average_precision(**rows, ties=ties) == expected
