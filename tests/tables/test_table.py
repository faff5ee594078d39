"""Tables: their rows, the lines of these, and texts that stay bytes."""

import io

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mediaeval_ap.tables import SUBSET, read, table
from mediaeval_ap.tables.table import LineCounter, StoredTexts, encoded, texts_at

letters = st.sampled_from(['a', 'b', 'c'])
pairs = st.lists(st.tuples(letters, letters), min_size=1, max_size=8)


@given(pairs, pairs)
def test_rows_within_another_table(rows, others):
    table, other = read(rows, SUBSET), read(others, SUBSET)
    assert table.within(other).tolist() == [row in others for row in rows]
    videos = {video for _, video in others}
    assert table.within(other, ['video_id']).tolist() == [row[1] in videos for row in rows]


def test_selected_rows_keep_their_lines():
    table = read(io.BytesIO(b'a b\nc d\n\ne f\n'), SUBSET)
    selected = table.select(np.array([False, True, True]))
    assert [selected.place(row) for row in range(2)] == ['line 2', 'line 4']
    assert selected.select(np.array([False, True])).place(0) == 'line 4'
    assert table.select(np.ones(3, np.bool_)).lines is table.lines
    rows = read([('a', 'b'), ('c', 'd')], SUBSET).select(np.array([False, True]))
    error = rows.error([0], 'video_id', "'d'", 'another')
    assert str(error) == "<subset>, row 2, video_id: found 'd', expected another"


@st.composite
def counted_lines(draw):
    """A number of lines, and the positions of those that hold rows; None for all lines."""
    n_lines = draw(st.integers(0, 4))
    some = st.sets(st.sampled_from(range(n_lines))) if n_lines else st.just(set())
    return n_lines, draw(st.none() | some.map(sorted))


@given(st.lists(counted_lines()))
@example([(3, [0, 1]), (2, [])])
@example([(3, [0, 1]), (2, None)])
@example([(1, []), (2, None)])
def test_counted_lines_are_stored_only_where_some_are_skipped(parts):
    counter = LineCounter()
    next_line, expected = 1, []
    for n_lines, rows in parts:
        counter.count(n_lines, rows)
        expected += [next_line + row for row in (range(n_lines) if rows is None else rows)]
        next_line += n_lines
        assert (counter.next_line, counter.n_rows) == (next_line, len(expected))
    found = counter.line_numbers()
    assert found.array(len(expected)).tolist() == expected
    assert (found.numbers is None) == (expected == list(range(1, len(expected) + 1)))


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
        assert here.decode_at(at) == expected
    assert texts_at(here, at) == texts_at(in_order, at) == expected


@given(texts, texts, st.sampled_from([str, lambda text: (len(text), text)]))
def test_positions(texts, others, key):
    here = stored(texts, key)
    positions = here.positions([*others, *texts])
    in_order = sorted(texts, key=key)
    expected = [in_order.index(text) if text in texts else -1 for text in [*others, *texts]]
    assert positions == expected


@pytest.mark.parametrize('n_wanted', [1, 3, 200])
def test_positions_by_bisection_and_by_decoding(monkeypatch, n_wanted):
    """A few texts are searched one by one; for many, all stored texts are decoded in blocks."""
    monkeypatch.setattr(table, 'TEXTS_IN_BLOCK', 7)
    here = stored([f'{number:03}' for number in range(100)])
    wanted = [f'{number:03}' for number in range(-1, n_wanted)]
    expected = [number if 0 <= number < 100 else -1 for number in range(-1, n_wanted)]
    assert here.positions(wanted) == expected
