"""Every line of a file, right or wrong."""

import io

import pytest
import submissions
from hypothesis import given

from mediaeval_ap import errors
from mediaeval_ap.tables import HYPOTHESIS, read
from mediaeval_ap.tables.lenient_text import read_leniently


@given(submissions.runs)
def test_rows_are_those_of_the_strict_parser(content):
    """Where all lines are right, the lenient table is the strict one; else as many are wrong."""
    lenient_table = read_leniently(io.BytesIO(content), HYPOTHESIS)
    if not lenient_table.wrong and len(lenient_table.table):
        strict = read(io.BytesIO(content), HYPOTHESIS)
        assert list(lenient_table.table.rows()) == list(strict.rows())
        return
    with pytest.raises(errors.FormatError) as raised:
        read(io.BytesIO(content), HYPOTHESIS)
    assert raised.value.further == max(len(lenient_table.wrong) - 1, 0)
