"""Every line of a file, right or wrong; more of it is in the tests of validation."""

import io

import pytest
import submissions
from hypothesis import given
from line_files import causes_and_lines

from mediaeval_ap import errors
from mediaeval_ap.tables import HYPOTHESIS, read
from mediaeval_ap.tables.layouts import QRELS
from mediaeval_ap.tables.reading import read_leniently
from mediaeval_ap.tables.text.format import Cause


@given(submissions.runs)
def test_rows_are_those_of_the_strict_parser(content):
    """Where all lines are right, the lenient table is the strict one; else as many are wrong."""
    lenient_table = read_leniently(io.BytesIO(content), HYPOTHESIS)
    if not lenient_table.wrong.counts.total() and len(lenient_table.table):
        strict = read(io.BytesIO(content), HYPOTHESIS)
        assert list(lenient_table.table.rows()) == list(strict.rows())
        return
    with pytest.raises(errors.FormatError) as raised:
        read(io.BytesIO(content), HYPOTHESIS)
    assert raised.value.further == max(lenient_table.wrong.counts.total() - 1, 0)


def test_lenient_reading_passes_over_comments():
    data = b'# a\n7 0 d 1\n#\xff\n 8  0 d x\n\n# b c 1\n9 0 d 2'
    found = read_leniently(io.BytesIO(data), QRELS)
    assert found.table.lines.numbers.tolist() == [2, 4, 7]
    assert found.table.texts('qid') == ['7', '8', '9']
    assert [(each.line, cause) for cause, each in causes_and_lines(found)] == [(4, Cause.NUMBER)]
    assert found.column(1, 'iteration') == 5


def test_a_table_that_was_read_before_has_lines_and_no_columns():
    run = read(io.BytesIO(b'x v 1 ann 0.5\n\nx\tv  2 bob 0.5\n'), HYPOTHESIS)
    found = read_leniently(run, HYPOTHESIS)
    assert found.table.place(1) == 'line 3'
    assert found.column(1, 'person_name') is None
