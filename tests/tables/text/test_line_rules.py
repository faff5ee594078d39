"""The line format, as all readers take it."""

import io
import math

import pytest
import strategies
from hypothesis import example, given
from line_files import as_rows, causes_and_lines, layouts_and_files, parse, read_plainly

from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, REFERENCE, SUBSET
from mediaeval_ap.tables.faults import Cause
from mediaeval_ap.tables.layouts import (
    QRELS,
    RUN,
)
from mediaeval_ap.tables.text import arrow_reader, line_rules, reader
from mediaeval_ap.tables.text.line_rules import whole_lines
from mediaeval_ap.tables.text.reader import parse_line


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')  # about cut last lines
@given(layouts_and_files())
@example((QUERIES, b''))
@example((QUERIES, b' \xef\xbb\xbf\n'))
@example((QUERIES, b'\xef\xbb\xbf\xef\xbb\xbfa\n\xef\xbb\xbfb\n\xef\xbb\xbf'))
@example((SUBSET, b'a b\n\n \n'))
@example((SUBSET, b'\n\na b\n'))
@example((SUBSET, b'a\nb c d\n'))
@example((SUBSET, b'a \nb c\vd\n'))
@example((SUBSET, b'a b\n\n  \na b\nc d\n'))
@example((HYPOTHESIS, b'a b c d 1\ra b c d 2\n'))
@example((HYPOTHESIS, b'a b c d 1\x0b\n'))
@example((HYPOTHESIS, b'a b c d 1 \x0b\n'))
@example((HYPOTHESIS, b'a b c d\n1\n'))
@example((REFERENCE, b'x v 1 C#\n#x v 1 ann\n# by the team\n'))
@example((HYPOTHESIS, b'a b c d 1\n \t#\tb c d 1\n'))
@example((QUERIES, b'#\n #\t\n# a\n'))
@example((QRELS, b' # a b 1\n'))
@example((QRELS, b'#'))
@example((QRELS, b'#a b c\nx\n'))
@example((QRELS, b'# a\n# b\na b c 1\n'))
@example((QRELS, b'# a\n\xef\xbb\xbfa b c 1\n'))
@example((QRELS, b'#######\n\xef\xbb\xbfa b c +1\na b c 1.0\n'))
@example(
    (HYPOTHESIS, b'\xef\xbb\xbfx\tv  1 nan .5\r\n\n y w 2 o"b -1e3 \nz z z \xc3\xa9\xc2\xa0 1')
)
@example((QRELS, b'a b c 0x1\n'))
@example((RUN, b'a b c d 1 #\n #a b c d 1 e\n'))
@example((RUN, b'\t # a\xff\0\r\r\na b c d 1 #\n#'))
@example((RUN, b'# a\na b c d 1 e\n\n\t # \xff\na b c d 1 e'))
@strategies.examples(4)
def test_readers_read_the_format(layout_and_file):
    """In blocks of any size, with line numbers; the bulk reader proves all that is right."""
    layout, data = layout_and_file
    rows, numbers, wrong = read_plainly(data, layout)
    for block_bytes in (1, 7, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(line_rules, 'BLOCK_BYTES', block_bytes)
            patch.setattr(reader, 'PROVED_BYTES', block_bytes)
            for by_python in (math.inf, 0, 9):
                if not wrong and rows:
                    table = reader.parse(
                        whole_lines(io.BytesIO(data).read), layout, 'file', by_python
                    )
                    check(table, layout, rows, numbers)
                    continue
                with pytest.raises(FormatError) as caught:
                    parse(data, layout, by_python)
                assert caught.value.place == (f'line {wrong[0]}' if wrong else '')
                assert caught.value.further == max(0, len(wrong) - 1)
    is_proved = arrow_reader.prove_block(data.removeprefix(b'\xef\xbb\xbf'), layout) is not None
    assert is_proved == (not wrong) or b'+' in data  # which older versions of pyarrow do not take


def check(table, layout, rows, numbers):
    assert as_rows(table, layout) == rows
    assert table.lines.array(len(rows)).tolist() == numbers
    assert [table.lines[row] for row in range(len(rows))] == numbers
    is_stored = numbers != list(range(1, len(rows) + 1))
    assert (table.lines.numbers is not None) == is_stored


def test_a_line_alone_is_as_in_a_file():
    for line in (b'a b', b'a b\n', b'a b\r\n'):
        assert parse_line(line, SUBSET, 'file', 1) == ('a', 'b')
    for line in (b'a b\r', b'a b\r\r\n'):
        with pytest.raises(FormatError, match='file, line 1: found a carriage return at byte 4'):
            parse_line(line, SUBSET, 'file', 1)
    assert parse_line(b'# a comment\r\n', QRELS, 'file', 1) is None
    assert parse_line(b' \t', SUBSET, 'file', 1) is None
    assert parse_line(b' #7 0 d 1\n', QRELS, 'file', 1) == ('#7', '0', 'd', '1')
    assert parse_line(b' #7 Q0 d 1 1 me\n', RUN, 'file', 1) is None


@pytest.mark.parametrize('by_python', [math.inf, 0])
def test_a_header_of_texts_is_named(by_python):
    """A header without numbers could be a row; rows after it keep their line numbers."""
    data = b'\nPerson_Name\nann\n'
    with pytest.raises(FormatError, match="line 2: found the header 'Person_Name'"):
        parse(data, QUERIES, by_python)
    found = reader.parse_leniently(io.BytesIO(data), QUERIES, 1, by_python)
    assert [each[:2] for each in causes_and_lines(found)] == [(Cause.HEADER, 2)]
    assert [*found.table.rows(), found.table.place(0)] == [('ann',), 'line 3']
