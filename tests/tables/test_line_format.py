"""The strict parser and the bulk reader, against a plain reading of the line format."""

import io
import math

import pytest
import strategies
from hypothesis import example, given
from line_files import as_rows, causes_and_lines, layouts_and_files, parse, read_plainly

from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, SUBSET
from mediaeval_ap.tables.layouts import QRELS, RUN
from mediaeval_ap.tables.text import fast, format, reader
from mediaeval_ap.tables.text.format import Cause, holds_no_row, parse_line


@given(layouts_and_files())
@example((QUERIES, b''))
@example((QUERIES, b' \xef\xbb\xbf\n'))
@example((QUERIES, b'\xef\xbb\xbf\xef\xbb\xbfa\n'))
@example((SUBSET, b'a b\n\n \n'))
@example((SUBSET, b'\n\na b\n'))
@example((SUBSET, b'a b\n\n  \na b\nc d\n'))
@example((HYPOTHESIS, b'a b c d 1\ra b c d 2\n'))
@example((HYPOTHESIS, b'a b c d 1\x0b\n'))
@example((HYPOTHESIS, b'a b c d 1 \x0b\n'))
@example((HYPOTHESIS, b'a b c d\n1\n'))
@example((QRELS, b'#'))
@example((QRELS, b'# a\n# b\na b c 1\n'))
@example((QRELS, b'# a\n\xef\xbb\xbfa b c 1\n'))
@example((QRELS, b'a b c 0x1\n'))
@example((RUN, b'a b c d 1 #\n #a b c d 1 e\n'))
@example((RUN, b'\t # a\xff\0\r\r\na b c d 1 #\n#'))
@example((RUN, b'# a\na b c d 1 e\n\n\t # \xff\na b c d 1 e'))
@strategies.examples(10)
def test_readers_read_the_format(layout_and_file):
    """In blocks of any size, with line numbers; the bulk reader proves all that is right."""
    layout, data = layout_and_file
    rows, numbers, wrong = read_plainly(data, layout)
    for block_bytes in (1, 7, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(format, 'BLOCK_BYTES', block_bytes)
            patch.setattr(reader, 'PROVED_BYTES', block_bytes)
            for by_python in (math.inf, 0, 9):
                if not wrong and rows:
                    table = reader.parse(io.BytesIO(data), layout, 'file', by_python)
                    check(table, layout, rows, numbers)
                    continue
                with pytest.raises(FormatError) as caught:
                    parse(data, layout, by_python)
                assert caught.value.place == (f'line {wrong[0]}' if wrong else '')
                assert caught.value.further == max(0, len(wrong) - 1)
    is_proved = fast.proved_block(data.removeprefix(b'\xef\xbb\xbf'), layout) is not None
    assert is_proved == (not wrong) or b'+' in data  # which older versions of pyarrow do not take


def check(table, layout, rows, numbers):
    assert as_rows(table, layout) == rows
    assert table.lines.array(len(rows)).tolist() == numbers
    assert [table.lines[row] for row in range(len(rows))] == numbers
    is_stored = numbers != list(range(1, len(rows) + 1))
    assert (table.lines.numbers is not None) == is_stored


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


@pytest.mark.parametrize('by_python', [math.inf, 0])
def test_a_header_of_texts_is_named(by_python):
    """It is a right row but for where it stands; the row behind it keeps its line."""
    data = b'\nPerson_Name\nann\n'
    with pytest.raises(FormatError, match="line 2: found the header 'Person_Name'"):
        parse(data, QUERIES, by_python)
    found = reader.parse_leniently(io.BytesIO(data), QUERIES, 1, by_python)
    assert [(cause, each.line) for cause, each in causes_and_lines(found)] == [(Cause.HEADER, 2)]
    assert [*found.table.rows(), found.table.place(0)] == [('ann',), 'line 3']
