"""Line numbers of rows, for all readers."""

import io

import numpy as np
from line_files import causes_and_lines

from mediaeval_ap.tables import (
    HYPOTHESIS,
    SUBSET,
    read,
)
from mediaeval_ap.tables.lenient_text import read_leniently


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
