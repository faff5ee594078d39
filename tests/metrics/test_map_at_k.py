"""First-hit MAP; precision, relevance, AP and MAP at k: known values, and the oracle."""

from random import Random

import numpy as np
import oracle
import pandas
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import definitions
from mediaeval_ap.errors import ParameterError, UndefinedScoreError
from mediaeval_ap.metrics import (
    MeanAveragePrecision,
    ReciprocalRank,
    average_precision_at_k,
    label_hits,
    mean_average_precision_at_k,
    mean_reciprocal_rank_at_k,
    precision_at_k,
    reciprocal_rank_at_k,
    relevance_at_k,
)

# A quotient or two in double precision, and sums of a few: some units in the last place.
CLOSE = {'rel': 1e-14, 'abs': 1e-15}

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


TRUTH = list('abcde')
P1, P2, P3, P4, P5, P6 = map(list, 'bcade abcde fbcde afegb afcgb dcbae'.split())


@pytest.mark.parametrize(
    ('function', 'k', 'ranking', 'value'),
    [
        (precision_at_k, 1, P1, 1),
        (precision_at_k, 1, P2, 1),
        (precision_at_k, 1, P3, 0),
        (precision_at_k, 2, P4, 1 / 2),
        (precision_at_k, 3, P5, 2 / 3),
        (precision_at_k, 3, P6, 1),
        (relevance_at_k, 1, P1, 1),
        (relevance_at_k, 1, P2, 1),
        (relevance_at_k, 1, P3, 0),
        (relevance_at_k, 2, P4, 0),
        (relevance_at_k, 3, P5, 1),
        (relevance_at_k, 3, P6, 1),
        (average_precision_at_k, 1, P1, 1),
        (average_precision_at_k, 1, P2, 1),
        (average_precision_at_k, 1, P3, 0),
        (average_precision_at_k, 2, P4, 1 / 2),
        (average_precision_at_k, 3, P5, 5 / 9),
        (average_precision_at_k, 3, P6, 1),
        # At 4, divided by min(4, 5): all four hits of p1, p2 and p6; f at the first rank of p3;
        # a and e of p4 at ranks 1 and 3; a and c of p5 there too.
        (average_precision_at_k, 4, P1, 1),
        (average_precision_at_k, 4, P2, 1),
        (average_precision_at_k, 4, P3, (1 / 2 + 2 / 3 + 3 / 4) / 4),
        (average_precision_at_k, 4, P4, (1 + 2 / 3) / 4),
        (average_precision_at_k, 4, P5, (1 + 2 / 3) / 4),
        (average_precision_at_k, 4, P6, 1),
    ],
)
def test_at_k(function, k, ranking, value):
    assert function(TRUTH, ranking, k) == pytest.approx(value, **CLOSE)


def test_mean_of_all_six_at_4():
    # (1 + 1 + 23/48 + 5/12 + 5/12 + 1) / 6
    value = mean_average_precision_at_k([TRUTH] * 6, [P1, P2, P3, P4, P5, P6], 4)
    assert value == pytest.approx(207 / 288, **CLOSE)


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
        with pytest.raises(UndefinedScoreError, match='nothing is relevant for any of'):
            metric.compute()


@pytest.mark.parametrize('definition', definitions.names())
def test_blocks_are_scored_as_the_whole(monkeypatch, definition):
    random = Random(1)  # any lists would do; some are empty, some longer than a block
    users = [
        [random.choices('abcdef', k=random.choice([0, 1, 3, 20])) for _ in 'tp'] for _ in range(50)
    ]
    y_true, y_pred = zip(*users, strict=True)
    expected = [average_precision_at_k(*user, 12, definition) for user in users]
    for n_labels in 1, 10, 100:
        monkeypatch.setattr(label_hits, 'LABELS_IN_BLOCK', n_labels)
        metric = MeanAveragePrecision(12, definition)
        assert metric.update(y_true, y_pred)[0].tolist() == expected
        counted = [value for value, user in zip(expected, users, strict=True) if user[0]]
        assert metric.compute() == pytest.approx(sum(counted) / len(counted), **CLOSE)
        assert (metric.n_users, metric.n_without_truth) == (len(counted), 50 - len(counted))


numbers = st.integers(-3, 3) | st.sampled_from([-64, 63, 64, 2**62])


@given(
    st.lists(st.tuples(st.lists(numbers, max_size=6), st.lists(numbers, max_size=6)), max_size=5),
    st.sampled_from(definitions.names()),
)
def test_integers_against_oracle(users, definition):
    """Every list has its own labels, whatever numbers those are."""
    y_true, y_pred = zip(*users, strict=True) if users else ([], [])
    values, _ = MeanAveragePrecision(4, definition).update(y_true, y_pred)
    expected = [oracle.average_precision_of_labels(*user, 4, definition) for user in users]
    assert values.tolist() == pytest.approx([float(value) for value in expected], **CLOSE)


def test_labels_that_are_far_apart():
    """Codes so many that list and code together need more than 64 bits."""
    far = [-(2**63), 2**63 - 1, 0, 5]
    y_pred = [[far[0], far[1]], [far[2], far[0]], [far[3]]]
    values, _ = MeanAveragePrecision(2).update([[far[1]], [far[0]], [6]], y_pred)
    assert values.tolist() == [0.5, 0.5, 0]
    assert average_precision_at_k([far[1]], [far[0], far[0], far[1]], 2, 'trec') == 1 / 2


def test_labels_of_many_kinds_of_sequence():
    y_true, y_pred = [['a', 'b'], []], [['c', 'a'], ['b', 'b']]
    large_lists = pyarrow.large_list(pyarrow.string())
    encoded = pyarrow.array([*'cabb']).dictionary_encode()
    for truth, predictions in (
        (y_true, np.array(y_pred)),
        (y_true, np.array(y_pred, dtype=object)),
        (pandas.Series(y_true), pandas.Series(y_pred, index=[5, 3])),
        (pyarrow.array(y_true), pyarrow.chunked_array([y_pred[:1], y_pred[1:]])),
        (
            pyarrow.array([['x'], *y_true])[1:],
            pyarrow.array(y_pred, large_lists),
        ),
        (map(set, y_true), (tuple(each) for each in y_pred)),
        (y_true, pyarrow.array(y_pred, pyarrow.list_(pyarrow.string(), 2))),
        (list(map(pandas.Series, y_true)), pandas.DataFrame(y_pred)),
        ([pyarrow.array(y_true[0]), []], list(map(pyarrow.array, y_pred))),
        (
            y_true,
            pyarrow.ListArray.from_arrays([0, 2, 4], encoded),
        ),
    ):
        assert MeanAveragePrecision().update(truth, predictions)[0].tolist() == [0.25, 0]
    for kind in np.int8, np.uint8, np.int32, np.uint64, np.float16, np.float32, np.float64:
        truth = [np.array([1, 2], dtype=kind), np.array([], dtype=kind)]
        assert (
            mean_average_precision_at_k(truth, np.array([[3, 1], [2, 2]], dtype=np.int16)) == 0.25
        )


@pytest.mark.parametrize(
    ('y_true', 'y_pred', 'message'),
    [
        (['ab'], [['a']], 'y_true: found string, expected lists of labels'),
        ('ab', [['a']], "y_true: found 'ab', expected a sequence"),
        ([['a']], [['a'], ['b']], 'y_pred: found 2 lists, expected 1 as in y_true'),
        ([['1']], [[1]], 'y_pred: found integers, expected text as in y_true'),
        ([[1]], [['1']], 'y_pred: found text, expected integers as in y_true'),
        ([['a', None]], [['a']], 'y_true: found a missing label'),
        ([None, ['a']], [['a'], ['a']], 'y_true: found a missing list'),
        ([[1.5]], [[1]], 'y_true: found floats, expected text or integers'),
        ([[2.0**53]], [[1]], 'y_true: found floats, expected text or integers'),
        ([np.array([2.0**24], np.float32)], [[1]], 'y_true: found floats, expected text'),
        ([['a']], [{'a'}], 'y_pred: found a set, expected labels in an order'),
        ([['a']], (frozenset(x) for x in 'a'), 'y_pred: found a set, expected labels in an order'),
        (b'ab', [['a']], "y_true: found b'ab', expected a sequence"),
        ({}, [['a']], 'y_true: found {}, expected a sequence'),
        ({1}, [[1]], r'y_true: found \{1\}, expected a sequence'),
        ([[True]], [[1]], 'y_true: found labels of type bool'),
        ([[b'a']], [['a']], 'y_true: found labels of type binary'),
        ([['a', 1]], [['a']], 'y_true: .*, expected values of one kind'),
        ([['\ud800']], [['a']], 'y_true: .*, expected values of one kind'),
        ([[2**64]], [[1]], 'y_true: .*, expected values of one kind'),
        ([np.array([2**63], dtype=np.uint64)], [[1]], 'y_true: found a number beyond'),
        (5, [['a']], 'y_true: found 5, expected a sequence'),
    ],
)
def test_what_are_no_labels(y_true, y_pred, message):
    metric = MeanAveragePrecision()
    metric.update([['a']], [['a']])
    with pytest.raises(ParameterError, match=f'^{message}'):
        metric.update(y_true, y_pred)
    assert (metric.compute(), metric.n_users, metric.n_without_truth) == (1, 1, 0)


def test_predictions_have_an_order():
    assert average_precision_at_k({'a', 'b'}, ['a', 'b']) == 1
    assert average_precision_at_k(pandas.Series(['a', 'b']), pyarrow.array(['a', 'b'])) == 1
    with pytest.raises(ParameterError, match=r"labels: found {'a'}, expected a sequence"):
        mean_reciprocal_rank_at_k({'a'}, [['a']])
    for kind in set, frozenset:
        with pytest.raises(
            ParameterError, match='y_pred: found a set, expected labels in an order'
        ):
            average_precision_at_k(['a'], kind('a'))
        with pytest.raises(ParameterError, match='predictions: found a set, expected labels'):
            reciprocal_rank_at_k('a', kind('a'))


def test_errors_of_first_hits_name_their_parameters():
    for labels, predictions, message in (
        (['a'], [[1]], 'predictions: found integers, expected text as in labels'),
        (['a', 'b'], [['a']], 'predictions: found 1 lists, expected 2 as in labels'),
        ([None], [['a']], 'labels: found a missing label'),
        ([['a']], [['a']], 'labels: found labels of type list'),
    ):
        with pytest.raises(ParameterError, match=f'^{message}'):
            mean_reciprocal_rank_at_k(labels, predictions)


@pytest.mark.parametrize('k', [0, -1, 1.5, True, '5', 2**63])
def test_cutoffs(k):
    for function in precision_at_k, relevance_at_k, average_precision_at_k:
        with pytest.raises(ParameterError, match=r'^k: found'):
            function(['a'], ['a'], k)
    for metric in ReciprocalRank, MeanAveragePrecision:
        with pytest.raises(ParameterError, match=r'^k: found'):
            metric(k)
