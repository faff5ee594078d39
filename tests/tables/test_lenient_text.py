"""The lenient reader of lines; more of it is in the tests of validation."""

import io

from mediaeval_ap.tables.layouts import QRELS
from mediaeval_ap.tables.lenient_text import read_leniently
from mediaeval_ap.tables.line_format import Cause


def test_lenient_reading_passes_over_comments():
    data = b'# a\n7 0 d 1\n#\xff\n 8  0 d x\n\n# b c 1\n9 0 d 2'
    found = read_leniently(io.BytesIO(data), QRELS)
    assert found.table.lines.numbers.tolist() == [2, 4, 7]
    assert found.table.texts('qid') == ['7', '8', '9']
    assert [(each.line, each.cause) for each in found.wrong] == [(4, Cause.NUMBER)]
    assert found.column(1, 'iteration') == 5
