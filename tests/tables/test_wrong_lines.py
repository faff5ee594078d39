"""The wrong lines of a file."""

import io
import pickle

import pytest

from mediaeval_ap.tables import SUBSET, wrong_lines
from mediaeval_ap.tables.lenient_text import read_leniently
from mediaeval_ap.tables.line_format import Cause


def test_wrong_lines_are_a_sequence():
    wrong = read_leniently(io.BytesIO(b'x\nx v\n\xff\n'), SUBSET).wrong
    assert [each.line for each in wrong] == [1, 3]
    assert wrong[-1] == list(wrong)[1] == wrong[1:][0]
    with pytest.raises(IndexError):
        wrong[2]


def test_lines_that_are_not_kept_are_not_held():
    """Of each cause the first are, and of a long line what is wrong with it."""
    content = b'x\n\xff\n' * 1000 + b'x v w ' + b'y' * 5000 + b'\n'
    wrong = read_leniently(io.BytesIO(content), SUBSET, max_problems=3).wrong
    assert [each.line for each in wrong] == [1, 2, 3, 4, 5, 6]
    assert sum(map(wrong.n_of, Cause)) == 2001
    assert (wrong.n_of(Cause.FIELDS), wrong.n_of(Cause.BYTES)) == (1001, 1000)
    whole = read_leniently(io.BytesIO(content), SUBSET).wrong
    assert len(pickle.dumps(whole[-1])) < wrong_lines.LONG_LINE / 4
    assert whole[-1].wrong.found.startswith("4 fields in 'x v w yyy")
    assert whole[-1].column == 5
