"""Lists of text, which are hashed, beside the same lists as pyarrow reads them."""

from enum import StrEnum

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from mediaeval_ap import definitions
from mediaeval_ap.arrays import WIDEST
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.metrics import MeanAveragePrecision, label_lists


class Equal(str):
    """Text that takes itself for any other."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Letter(StrEnum):
    A = 'a'


def to_series(text):
    return pandas.Series(list(text), dtype=object)


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
CONTAINERS = [list, tuple, set, frozenset, str, lambda text: np.array(list(text)), to_series]
WEAK = [np.uint64(0), np.uint64(1), label_lists.ODD]


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


@examples(10)
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
    if data.draw(st.integers(0, 9)):
        y_pred = (y_pred + [[]] * len(y_true))[: len(y_true)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_lists, 'ODD', odd)
        patch.setattr(label_lists, 'USERS_AT_ONCE', n_users)
        patch.setattr(label_lists, 'TEXTS_AT_ONCE', 2)
        found = outcome(y_true, y_pred, k, definition)
    assert found == by_pyarrow(y_true, y_pred, k, definition)


containers = st.tuples(st.sampled_from(CONTAINERS), st.sampled_from(['ab', 'a', '']))
users = st.lists(st.tuples(containers, containers), min_size=1, max_size=3)


@examples(5)
@given(users, st.sampled_from([list, tuple, pandas.Series]))
def test_in_any_container(users, outer):
    y_true, y_pred = (
        outer([kind(text) for kind, text in lists]) for lists in zip(*users, strict=True)
    )
    args = y_true, y_pred, 2, 'trec'
    assert outcome(*args) == by_pyarrow(*args)


@pytest.mark.parametrize('odd', WEAK[:2])
def test_different_labels_with_the_same_hash(monkeypatch, odd):
    """They are looked at again, and are no hit."""
    monkeypatch.setattr(label_lists, 'ODD', odd)
    for y_true, y_pred, n_relevant, value in (
        ('a', 'bc', 1, 0),
        ('ab', 'cb', 2, 1 / 4),
        ('x', 'abax', 1, 1 / 3),
        ('0', 'abab0', 1, 1 / 3),
    ):
        found = MeanAveragePrecision(4, 'trec').update([[*y_true]], [[*y_pred]])
        assert found == ([value], [n_relevant])


@pytest.mark.parametrize('make', [list, tuple, pandas.Series, iter])
def test_lists_of_short_text_are_hashed(monkeypatch, make):
    """Pyarrow is not asked: it takes several times as long."""
    monkeypatch.delattr(label_lists, 'label_lists')
    y_true = [{'a', 'é' * 32}, [], ('', 'b')]
    y_pred = [('x' * 64, 'a'), [''], ['b', np.str_('')]]
    values, _ = MeanAveragePrecision().update(make(y_true), make(y_pred))
    assert values.tolist() == [1 / 4, 0, 1]


def test_long_labels_are_found_before_more_text_is_joined(monkeypatch):
    joined, texts = label_lists.joined, []
    monkeypatch.setattr(label_lists, 'joined', lambda *given: texts.append(given) or joined(*given))
    monkeypatch.setattr(label_lists, 'USERS_AT_ONCE', 1)
    lists = [['x' * (WIDEST + 1)]] * 3
    assert MeanAveragePrecision().update(lists, lists)[0].tolist() == [1, 1, 1]
    assert len(texts) == 1
