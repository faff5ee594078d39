"""Texts that stay bytes until they are asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.tables import table
from mediaeval_ap.tables.table import StoredTexts, encoded, texts_at

texts = st.lists(st.text(st.characters(exclude_categories=['Cs'])), unique=True)


def stored(texts, key=str):
    return StoredTexts(*encoded(sorted(texts, key=key)), key)


@given(texts, st.integers(), st.integers())
def test_texts_as_of_a_list(texts, begin, end):
    here = stored(texts)
    assert list(here) == sorted(texts)
    assert [here[at] for at in range(len(here))] == sorted(texts)
    assert here[begin:end] == sorted(texts)[begin:end]
    if texts:
        assert here[-1] == max(texts)
    with pytest.raises(IndexError):
        here[len(texts)]


@given(texts, st.data(), st.integers(1, 9))
def test_texts_at_positions(texts, data, block):
    in_order = sorted(texts)
    of_text = st.integers(0, len(texts) - 1) if texts else st.nothing()
    at = np.array(data.draw(st.lists(of_text)), dtype=np.int32)
    expected = [in_order[position] for position in at]
    here = stored(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, 'TEXTS_IN_BLOCK', block)
        assert here.together(at) == expected
    assert texts_at(here, at) == texts_at(in_order, at) == expected


@pytest.mark.parametrize('n', [1, 1000])
def test_few_and_many_positions(n):
    in_order = [f'{number:03}' for number in range(n)]
    backwards = np.arange(n)[::-1]
    assert texts_at(stored(in_order), backwards) == in_order[::-1]


def test_steps_are_refused():
    with pytest.raises(ValueError, match='found a step of 2, expected texts one after another'):
        stored('abc')[::2]


@given(texts, texts, st.sampled_from([str, lambda text: (len(text), text)]))
def test_positions(texts, others, key):
    here = stored(texts, key)
    positions = here.positions([*others, *texts])
    in_order = sorted(texts, key=key)
    expected = [in_order.index(text) if text in texts else -1 for text in [*others, *texts]]
    assert positions == expected


@pytest.mark.parametrize('n_wanted', [1, 3, 200])
def test_positions_by_bisection_and_by_decoding(monkeypatch, n_wanted):
    """A few texts among many are searched for one by one, many are looked up in blocks."""
    monkeypatch.setattr(table, 'TEXTS_IN_BLOCK', 7)
    here = stored([f'{number:03}' for number in range(100)])
    wanted = [f'{number:03}' for number in range(-1, n_wanted)]
    expected = [number if 0 <= number < 100 else -1 for number in range(-1, n_wanted)]
    assert here.positions(wanted) == expected
