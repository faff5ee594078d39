"""The wrong lines of a file."""

import io
import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from line_files import causes_and_lines

from mediaeval_ap.tables import HYPOTHESIS, SUBSET
from mediaeval_ap.tables.layouts import QRELS
from mediaeval_ap.tables.reading import read_leniently
from mediaeval_ap.tables.text import reader
from mediaeval_ap.tables.text.format import Cause, cause_of, count_fields, find_fields, split


def test_wrong_lines_are_kept_by_cause():
    wrong = read_leniently(io.BytesIO(b'x\nx v\n\xff\nx w y\n'), SUBSET).wrong
    assert [each.line for each in wrong.of(Cause.FIELDS)] == [1, 4]
    assert [each.line for each in wrong.of(Cause.BYTES)] == [3]


def test_lines_that_are_not_kept_are_not_held():
    """Of each cause the first are, and of a long line what is wrong with it."""
    content = b'x\n\xff\n' * 1000 + b'x v w ' + b'y' * 5000 + b'\n'
    found = read_leniently(io.BytesIO(content), SUBSET, max_problems=3)
    assert [each.line for _, each in causes_and_lines(found)] == [1, 2, 3, 4, 5, 6]
    assert +found.wrong.counts == {Cause.FIELDS: 1001, Cause.BYTES: 1000}
    _, last = causes_and_lines(read_leniently(io.BytesIO(content), SUBSET))[-1]
    assert len(pickle.dumps(last)) < 1000
    assert last.wrong.found.startswith("4 fields in 'x v w yyy")
    assert last.column == 5


@given(
    st.lists(st.sampled_from([b'a', b'\xc3\xa9e', b' ', b'\t', b'  ']), max_size=9).map(b''.join)
)
def test_fields_of_a_line_are_counted_as_they_are_found(line):
    assert count_fields(line) == len(find_fields(line))


dirty = [b'\v', b'\f', b'\r', b'\0', b'\xff', b'\xc3', b'\xc3\xa9', b'\xed\xa0\x80', b'\xf0\x9f']
words = st.sampled_from([b'x', b'v', b'1', b'-', b' ', b' ', b'\t', b'nan', b'#', *dirty])
some_lines = st.lists(st.lists(words, max_size=12).map(b''.join), min_size=1)


@given(some_lines, st.sampled_from([HYPOTHESIS, SUBSET, QRELS]), st.sampled_from([0, math.inf]))
def test_lines_of_a_block_are_wrong_for_the_cause_of_each(lines, layout, by_python):
    """Also in a block with a long line, which is looked at in another way."""
    block = b'\n'.join((*lines, b''))
    each = {at: (cause_of(line, layout), line) for at, line in enumerate(split(block))}
    expected = {at: wrong for at, wrong in each.items() if wrong[0]}
    for long_bytes in (reader.LONG_BYTES, 3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reader, 'LONG_BYTES', long_bytes)
            (piece,) = reader.pieces([block], layout, by_python)
        assert piece.wrong == expected
