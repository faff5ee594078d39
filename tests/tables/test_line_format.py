"""Single lines."""

import pytest
from line_files import parse

from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables import QUERIES, SUBSET
from mediaeval_ap.tables.layouts import QRELS, RUN
from mediaeval_ap.tables.line_format import holds_no_row, parse_line


def test_lines_that_hold_no_row():
    for layout in (QRELS, RUN):
        assert parse_line(b'# a comment\r\n', layout, 'file', 1) is None
        assert holds_no_row(b' \t', layout)
    assert parse_line(b'#1\n', QUERIES, 'file', 1) == ('#1',)
    assert parse_line(b' #7 0 d 1\n', QRELS, 'file', 1) == ('#7', '0', 'd', '1')
    assert parse_line(b' #7 Q0 d 1 1 me\n', RUN, 'file', 1) is None


def test_a_line_alone_ends_as_in_a_file():
    for line in (b'a b', b'a b\n', b'a b\r\n'):
        assert parse_line(line, SUBSET, 'file', 1) == ('a', 'b')
    for line in (b'a b\r', b'a b\r\r\n'):
        with pytest.raises(FormatError, match='a carriage return at byte 4'):
            parse_line(line, SUBSET, 'file', 1)
        with pytest.raises(FormatError, match='a carriage return at byte 4'):
            parse(line, SUBSET)
