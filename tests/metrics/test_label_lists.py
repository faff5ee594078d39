"""Lists of labels in any container: their hits, what is refused, and text as hashes."""

from enum import StrEnum
from random import Random

import numpy as np
import oracle
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import CLOSE
from strategies import examples

from mediaeval_ap import arrays, definitions
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.metrics import (
    MeanAveragePrecision,
    average_precision_at_k,
    label_lists,
    mean_average_precision_at_k,
)


@pytest.mark.parametrize('definition', definitions.names())
def test_blocks_are_scored_as_the_whole(monkeypatch, definition):
    random = Random(1)  # any lists would do; some are empty, some longer than a block
    users = [
        [random.choices('abcdef', k=random.choice([0, 1, 3, 20])) for _ in 'tp'] for _ in range(50)
    ]
    y_true, y_pred = zip(*users, strict=True)
    expected = [average_precision_at_k(*user, 12, definition) for user in users]
    for n_labels in 1, 10, 100:
        monkeypatch.setattr(label_lists, 'LABELS_IN_BLOCK', n_labels)
        for lists in list, pyarrow.array:
            metric = MeanAveragePrecision(12, definition)
            assert metric.update(lists(y_true), lists(y_pred))[0].tolist() == expected
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


def test_labels_of_many_kinds_of_sequence():
    y_true, y_pred = [['a', 'b'], []], [['c', 'a'], ['b', 'b']]
    large_lists = pyarrow.large_list(pyarrow.string())
    encoded = pyarrow.array([*'cabb']).dictionary_encode()
    for truth, predictions in (
        (y_true, np.array(y_pred)),
        (y_true, np.array(y_pred, dtype=object)),
        (pandas.Series(y_true), pandas.Series(y_pred, index=[5, 3])),
        (pyarrow.array(y_true), pyarrow.chunked_array([y_pred[:1], y_pred[1:]])),
        (pyarrow.array([['x'], *y_true])[1:], pyarrow.array(y_pred, large_lists)),
        (map(set, y_true), (tuple(each) for each in y_pred)),
        (y_true, pyarrow.array(y_pred, pyarrow.list_(pyarrow.string(), 2))),
        (list(map(pandas.Series, y_true)), pandas.DataFrame(y_pred)),
        ([pyarrow.array(y_true[0]), []], list(map(pyarrow.array, y_pred))),
        (y_true, pyarrow.ListArray.from_arrays([0, 2, 4], encoded)),
        (polars.Series(y_true), polars.DataFrame(y_pred, orient='row')),
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
        (['ab'], [['a']], 'y_true: found text, expected lists of labels'),
        ([['a']], [['a'], ['b']], 'y_pred: found 2 lists, expected 1 as in y_true'),
        ([['1']], [[1]], 'y_pred: found integers, expected text as in y_true'),
        ([['a', None]], [['a']], 'y_true: found a missing label'),
        ([None, ['a']], [['a'], ['a']], 'y_true: found a missing list'),
        ([[1.5]], [[1]], 'y_true: found floats, expected text or integers'),
        ([[2.0**53]], [[1]], 'y_true: found floats, expected text or integers'),
        ([np.array([2.0**24], np.float32)], [[1]], 'y_true: found floats, expected text'),
        (b'ab', [['a']], "y_true: found b'ab', expected a sequence"),
        ({1}, [[1]], r'y_true: found \{1\}, expected a sequence'),
        ([[True]], [[1]], 'y_true: found bool, expected text or integers'),
        ([['a', 1]], [['a']], 'y_true: .*, expected values of one kind'),
        ([np.array([2**63], dtype=np.uint64)], [[1]], 'y_true: found a number beyond'),
    ],
)
def test_what_are_no_labels(y_true, y_pred, message):
    metric = MeanAveragePrecision()
    metric.update([['a']], [['a']])
    with pytest.raises(ParameterError, match=f'^{message}'):
        metric.update(y_true, y_pred)
    assert (metric.compute(), metric.n_users, metric.n_without_truth) == (1, 1, 0)


@pytest.mark.parametrize(
    'outer', [list, iter, pandas.Series, lambda lists: dict(enumerate(lists)).values()]
)
def test_a_set_of_predictions_is_refused_in_any_container(outer):
    """Its order is that of hashes, so its score would differ between processes."""
    metric = MeanAveragePrecision()
    assert metric.update([['a'], ['b']], outer([('a',), ('a', 'b')]))[0].tolist() == [1, 0.5]
    for unordered in set('ab'), frozenset('ab'), dict.fromkeys('ab').keys():
        with pytest.raises(ParameterError, match='y_pred: found a set, expected labels'):
            metric.update([['a'], ['b']], outer([('a',), unordered]))
    assert metric.n_users == 2


class Equal(str):
    """Text that takes itself for any other."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Letter(StrEnum):
    A = 'a'


# Around whole words of 8 bytes and the longest label that is hashed.
LENGTHS = [7, 8, 9, 15, 16, 17, 63, 64, 65, 999]
TEXT = ['', 'a', 'b', 'é', '0000000001', '0000000002', '\U0001f600', Letter.A, Equal('c')]
TEXT += [np.str_('a'), *('x' * length for length in LENGTHS), 'x' * 15 + 'y']
OTHERS = ['a\0', '\0', '\ud800', None, float('nan'), 1, 2**64, True, b'a', ['a'], pandas.NA]
labels = st.sampled_from(TEXT)
labels |= st.text('\0ab', max_size=2) | st.sampled_from(OTHERS)
some_lists = st.sampled_from([labels, st.sampled_from(TEXT), st.sampled_from('abcd')]).flatmap(
    lambda labels: st.lists(st.lists(labels, max_size=7), max_size=6)
)
WEAK = [np.uint64(0), np.uint64(1), arrays.HASH_FACTOR]


def outcome(y_true, y_pred, k, definition):
    """Return all that a metric then knows, bit for bit, or its error."""
    metric = MeanAveragePrecision(k, definition)
    try:
        values, n_relevant = metric.update(y_true, y_pred)
    except ParameterError as error:
        return str(error)
    counts = metric.n_users, metric.n_without_truth, metric._sum.fraction()
    return values.tobytes(), n_relevant.tolist(), counts


def by_pyarrow(*args):
    """Return the outcome if nothing is hashed."""

    def refuse(_):
        raise label_lists.Unproved

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_lists, 'lists_of_python', refuse)
        return outcome(*args)


@examples(4)
@given(
    st.data(),
    st.integers(1, 9),
    st.sampled_from(definitions.names()),
    st.sampled_from(WEAK),
    st.integers(1, 9),
)
def test_as_pyarrow_reads_them(data, k, definition, odd, n_users):
    """Nothing differs, also where different labels have the same hash."""
    y_true, y_pred = data.draw(some_lists), data.draw(some_lists)
    outer = data.draw(st.sampled_from([list, tuple, pandas.Series]))
    if data.draw(st.integers(0, 9)):
        y_pred = (y_pred + [[]] * len(y_true))[: len(y_true)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, 'HASH_FACTOR', odd)
        patch.setattr(label_lists, 'USERS_AT_ONCE', n_users)
        patch.setattr(label_lists, 'TEXTS_AT_ONCE', 2)
        found = outcome(outer(y_true), outer(y_pred), k, definition)
    assert found == by_pyarrow(y_true, y_pred, k, definition)


@pytest.mark.parametrize('make', [list, tuple, pandas.Series, iter])
def test_lists_of_short_text_are_hashed(monkeypatch, make):
    """Pyarrow is not asked: it takes several times as long."""
    monkeypatch.delattr(label_lists, 'label_lists')
    y_true = [{'a', 'é' * 32}, [], ('', 'b')]
    y_pred = [('x' * 64, 'a'), [''], ['b', np.str_('')]]
    values, _ = MeanAveragePrecision().update(make(y_true), make(y_pred))
    assert values.tolist() == [1 / 4, 0, 1]
