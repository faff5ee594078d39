"""Line numbers of rows, for all readers."""

import io

import numpy as np
import pytest
import strategies
from hypothesis import example, given
from hypothesis import strategies as st
from line_files import causes_and_lines, layouts_and_files, read_plainly

from mediaeval_ap.tables import (
    HYPOTHESIS,
    SUBSET,
    lines,
    read,
    strict_text,
)
from mediaeval_ap.tables.bulk import parse_in_bulk
from mediaeval_ap.tables.layouts import RUN
from mediaeval_ap.tables.lenient_text import read_leniently


@given(layouts_and_files(), st.sampled_from([7, 1 << 20]))
@example((SUBSET, b'a b\n\n \n'), 7)
@example((SUBSET, b'\n\na b\n'), 7)
@example((SUBSET, b'a b\n\n  \na b\nc d\n'), 7)
@example((RUN, b'# a\na b c d 1 e\n\n\t # \xff\na b c d 1 e'), 7)
@strategies.examples(10)
def test_rows_know_their_lines(layout_and_file, block_bytes):
    layout, data = layout_and_file
    rows, expected, wrong = read_plainly(data, layout)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, 'BLOCK_BYTES', block_bytes)
        patch.setattr(strict_text, 'PROVED_BYTES', block_bytes)
        bulk_read = parse_in_bulk(io.BytesIO(data), layout, 'file')
        strict = None if wrong or not rows else read(io.BytesIO(data), layout)
    for table in (bulk_read, strict):
        if table is not None:
            numbers = table.lines.array(len(rows)).tolist()
            assert numbers == expected
            assert [table.lines[row] for row in range(len(rows))] == expected
            is_stored = expected != list(range(1, len(rows) + 1))
            assert (table.lines.numbers is not None) == is_stored


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
