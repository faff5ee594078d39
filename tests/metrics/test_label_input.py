"""Labels in any container, and what is refused as no labels."""

from collections import deque

import numpy as np
import pandas
import pyarrow
import pytest

from mediaeval_ap.errors import ParameterError
from mediaeval_ap.metrics import (
    MeanAveragePrecision,
    average_precision_at_k,
    mean_average_precision_at_k,
    mean_reciprocal_rank_at_k,
    reciprocal_rank_at_k,
)


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
    with pytest.raises(ParameterError, match=r"y_true: found {'a'}, expected a sequence"):
        mean_reciprocal_rank_at_k({'a'}, [['a']])
    for kind in set, frozenset:
        with pytest.raises(
            ParameterError, match='y_pred: found a set, expected labels in an order'
        ):
            average_precision_at_k(['a'], kind('a'))
        with pytest.raises(ParameterError, match='y_pred: found a set, expected labels'):
            reciprocal_rank_at_k('a', kind('a'))


class Plain:
    """A container with nothing but an iterator."""

    def __init__(self, values):
        self.values = values

    def __iter__(self):
        return iter(self.values)


def to_objects(lists):
    array = np.empty(len(lists), dtype=object)
    array[:] = lists
    return array


@pytest.mark.parametrize(
    'outer',
    [
        list,
        iter,
        deque,
        to_objects,
        pandas.Series,
        Plain,
        lambda lists: dict(enumerate(lists)).values(),
    ],
)
def test_a_set_of_predictions_is_refused_in_any_container(outer):
    """Its order is that of hashes, so its score would differ between processes."""
    metric = MeanAveragePrecision()
    assert metric.update([['a'], ['b']], outer([('a',), ('a', 'b')]))[0].tolist() == [1, 0.5]
    for unordered in set('ab'), frozenset('ab'), dict.fromkeys('ab').keys():
        with pytest.raises(ParameterError, match='y_pred: found a set, expected labels'):
            metric.update([['a'], ['b']], outer([('a',), unordered]))
    assert metric.n_users == 2
