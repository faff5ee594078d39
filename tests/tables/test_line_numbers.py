"""Line numbers of rows, for all readers."""

import io

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from line_files import causes_and_lines

from mediaeval_ap.tables import (
    HYPOTHESIS,
    SUBSET,
    read,
)
from mediaeval_ap.tables.reading import read_leniently
from mediaeval_ap.tables.table import LineCounter


def test_leniently_read_rows_know_their_lines():
    data = b'\na b c d 1\n\na\na b c d x\n a  b c d 2\n'
    lenient = read_leniently(io.BytesIO(data), HYPOTHESIS)
    assert lenient.table.lines.numbers.tolist() == [2, 5, 6]
    assert [each.line for _, each in causes_and_lines(lenient)] == [4, 5]
    assert read_leniently(io.BytesIO(b'a b c d 1\n\n'), HYPOTHESIS).table.lines.numbers is None


def test_selected_rows_keep_their_lines():
    table = read(io.BytesIO(b'a b\nc d\n\ne f\n'), SUBSET)
    selected = table.select(np.array([False, True, True]))
    assert [selected.place(row) for row in range(2)] == ['line 2', 'line 4']
    assert selected.select(np.array([False, True])).place(0) == 'line 4'
    assert table.select(np.ones(3, np.bool_)).lines is table.lines
    rows = read([('a', 'b'), ('c', 'd')], SUBSET).select(np.array([False, True]))
    error = rows.error([0], 'video_id', "'d'", 'another')
    assert str(error) == "<rows>, row 2, video_id: found 'd', expected another"


@st.composite
def counted_lines(draw):
    """Numbers of lines, and the positions among them that hold rows: none for all."""
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
