"""The line format: two parsers, against a plain reading of it and against each other."""

import io
import math
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, REFERENCE, SUBSET, bulk, lines, strict_text
from mediaeval_ap.tables.bulk import parse_in_bulk
from mediaeval_ap.tables.faults import Wrong
from mediaeval_ap.tables.layouts import QRELS, RUN
from mediaeval_ap.tables.lenient_text import read_leniently
from mediaeval_ap.tables.line_format import Cause, holds_no_row, parse_line
from mediaeval_ap.tables.line_numbers import LineCounter

LAYOUTS = st.sampled_from([REFERENCE, HYPOTHESIS, SUBSET, QUERIES, QRELS, RUN])
DECIMAL = r'[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?'
INTEGER = r'[+-]?[0-9]+'


def right_number(text, layout):
    written = re.fullmatch(INTEGER if layout is QRELS else DECIMAL, text)
    return written and math.isfinite(float(text))


def is_comment(line, layout):
    """As trec_eval 10 has them: white space before the mark only in a run."""
    line = line.lstrip(b' \t') if layout is RUN else line
    return layout in (QRELS, RUN) and line.startswith(b'#')


def read_plainly(data, layout):
    """Rows, or the numbers of the wrong lines: the format as it is written down."""
    rows, wrong = [], []
    for number, line in enumerate(data.removeprefix(b'\xef\xbb\xbf').split(b'\n'), 1):
        ended = number <= data.count(b'\n')
        line = line.removesuffix(b'\r') if ended else line
        if is_comment(line, layout):
            continue
        try:
            text = line.decode()
        except UnicodeDecodeError:
            wrong.append(number)
            continue
        fields = [field for field in re.split('[ \t]', text) if field]
        if '\r' in text or '\0' in text:
            wrong.append(number)
        elif not fields:
            continue
        elif len(fields) != len(layout.fields):
            wrong.append(number)
        elif layout.number is None:
            rows.append(tuple(fields))
        elif right_number(fields[layout.number_at], layout):
            fields[layout.number_at] = float(fields[layout.number_at])
            rows.append(tuple(fields))
        else:
            wrong.append(number)
    return rows, wrong


def as_rows(parsed, layout):
    columns, numbers, _ = parsed
    texts = [[columns[f].values[code] for code in columns[f].codes] for f in layout.texts]
    if layout.number:
        texts.insert(layout.number_at, numbers.tolist())
    return list(zip(*texts, strict=True))


def parse(data, layout):
    return as_rows(strict_text.parse(io.BytesIO(data), layout, 'file'), layout)


separators = st.sampled_from([b' ', b'\t', b'  ', b' \t '])
words = st.sampled_from(
    [
        b'INA',
        b'000010',
        b'nan',
        b'NA',
        b'null',
        b'o"brien',
        b"'",
        b'#1',
        b'?unknown?',
        b'\\',
        b'a,b',
    ]
) | st.text(st.characters(codec='utf-8', exclude_characters=' \t\n\r\0'), min_size=1).map(
    str.encode
)
numbers = st.sampled_from(
    [
        b'0.5',
        b'1',
        b'-3.25e-7',
        b'+1.5',
        b'5.',
        b'.5',
        b'1E5',
        b'1e-400',
        b'0.1',
        b'123456789012345678',
    ]
) | st.floats(allow_nan=False, allow_infinity=False).map(lambda value: repr(value).encode())
oddities = st.sampled_from(
    [
        *(
            b'nan',
            b'inf',
            b'-Infinity',
            b'1_000',
            b'0x1p3',
            b'1e400',
            b'1e',
            b'--1',
            b'',
            b'e5',
            b'1,5',
        ),
        *(
            b'\0',
            b'\r',
            b'\xff',
            b'\xed\xa0\x80',
            b'\x0b',
            b'\x0c',
            b'\x1c',
            b'\xc2\xa0',
            b'\xc2\x85',
        ),
        *('1\u2028'.encode(), '\u0661'.encode(), b'\xef\xbb\xbf', b'"', b'""'),
    ]
)
integers = st.sampled_from([b'0', b'1', b'-2', b'+03', b'9' * 300]) | st.sampled_from(
    [b'9' * 400, b'.1e1', b'10e-1', b'1.0', b'1.', b'1-', b'+', b'0x1']
)
margins = st.sampled_from([b'', b'', b'', b' ', b'\t', b'#', b'# ', b' #', b'\t #', b'#\xff\0\r'])
ends = st.sampled_from([b'\n', b'\r\n', b'\n\n', b' \n', b'\t\r\n'])


@st.composite
def files(draw, layout):
    """Mostly right lines, with something odd here and there."""
    data = draw(st.sampled_from([b'', b'', b'\xef\xbb\xbf', b'\n', b' ', b' \xef\xbb\xbf']))
    for _ in range(draw(st.integers(0, 5))):
        fields = [draw(words) for _ in layout.texts]
        if layout.number:
            fields.insert(layout.number_at, draw(integers if layout is QRELS else numbers))
        if draw(st.integers(0, 5)) == 0:
            fields[draw(st.integers(0, len(fields) - 1))] = draw(oddities)
        data += draw(margins) + draw(separators).join(fields) + draw(ends)
    return data.rstrip(b'\n') if draw(st.booleans()) else data


@st.composite
def layouts_and_files(draw):
    layout = draw(LAYOUTS)
    return layout, draw(files(layout) | st.binary(max_size=60))


@given(layouts_and_files())
@example((QUERIES, b''))
@example((HYPOTHESIS, b'a b c d 1\ra b c d 2\n'))
@example((HYPOTHESIS, b'a b c d 1\x0b\n'))
@example((HYPOTHESIS, b'a b c d 1 \x0b\n'))
@example((QRELS, b'#'))
@example((QRELS, b'# a\n# b\na b c 1\n'))
@example((RUN, b'\t # a\xff\0\r\r\na b c d 1 #\n#'))
@settings(max_examples=1500)
def test_strict_parser_reads_the_format(layout_and_file):
    layout, data = layout_and_file
    rows, wrong = read_plainly(data, layout)
    if wrong or not rows:
        with pytest.raises(FormatError) as caught:
            parse(data, layout)
        assert caught.value.place == (f'line {wrong[0]}' if wrong else '')
        assert caught.value.further == max(0, len(wrong) - 1)
    else:
        assert parse(data, layout) == rows


@given(layouts_and_files())
@example((QUERIES, b' \xef\xbb\xbf\n'))
@example((QUERIES, b'\xef\xbb\xbf\xef\xbb\xbfa\n'))
@example((HYPOTHESIS, b'a b c d 1 \x0b\n'))
@example((HYPOTHESIS, b'a b c d\n1\n'))
@example((QRELS, b'# a\n\xef\xbb\xbfa b c 1\n'))
@example((QRELS, b'a b c 0x1\n'))
@example((RUN, b'a b c d 1 #\n #a b c d 1 e\n'))
@settings(max_examples=1500)
def test_bulk_reader_proves_or_doubts(layout_and_file):
    """What the bulk reader accepts is what the strict one reads: no row more, none different."""
    layout, data = layout_and_file
    proved = parse_in_bulk(io.BytesIO(data), layout, 'file')
    if proved is not None:
        assert as_rows(proved, layout) == parse(data, layout)


def test_bulk_reader_proves_clean_files():
    data = b'\xef\xbb\xbfx\tv  000010 nan 0.5\r\n\n y w 2 o"brien -1e3 \nz z z \xc3\xa9\xc2\xa0 1'
    proved = parse_in_bulk(io.BytesIO(data), HYPOTHESIS, 'file')
    assert as_rows(proved, HYPOTHESIS) == [
        ('x', 'v', '000010', 'nan', 0.5),
        ('y', 'w', '2', 'o"brien', -1000.0),
        ('z', 'z', 'z', 'é\xa0', 1.0),
    ]


def test_bulk_reader_proves_files_with_comments(monkeypatch):
    """In whatever block they stand; what follows one of comments alone is no first line."""
    monkeypatch.setattr(lines, 'BLOCK_BYTES', 9)
    data = b'# \xff\r\n  # by me\n7 Q0 #1 1 0.5 #\r\n\t#\n8 Q0 d 1 0.5 me\n# end'
    rows = [('7', 'Q0', '#1', '1', 0.5, '#'), ('8', 'Q0', 'd', '1', 0.5, 'me')]
    assert as_rows(parse_in_bulk(io.BytesIO(data), RUN, 'file'), RUN) == rows
    data = b'#########\n' + b'\xef\xbb\xbf7 0 d 1\n'
    proved = parse_in_bulk(io.BytesIO(data), QRELS, 'file')
    assert proved is None
    assert parse(data, QRELS) == [('\ufeff7', '0', 'd', 1.0)]


def test_lines_that_hold_no_row():
    for layout in (QRELS, RUN):
        assert parse_line(b'# a comment\r\n', layout, 'file', 1) is None
        assert holds_no_row(b' \t', layout)
    assert parse_line(b'#1\n', QUERIES, 'file', 1) == ('#1',)
    assert parse_line(b' #7 0 d 1\n', QRELS, 'file', 1) == ('#7', '0', 'd', '1')
    assert parse_line(b' #7 Q0 d 1 1 me\n', RUN, 'file', 1) is None


def test_lenient_reading_passes_over_comments():
    data = b'# a\n7 0 d 1\n#\xff\n 8  0 d x\n\n# b c 1\n9 0 d 2'
    found = read_leniently(io.BytesIO(data), QRELS)
    assert found.table.lines.numbers.tolist() == [2, 4, 7]
    assert found.table.texts('qid') == ['7', '8', '9']
    assert [(each.line, each.cause) for each in found.wrong] == [(4, Cause.NUMBER)]
    assert found.column(1, 'iteration') == 5


@pytest.mark.parametrize(
    ('data', 'normal'),
    [
        (b' a  b\t c \r\n\n  \n\td e\t\n', b'a b c\n\n\nd e\n'),
        (b'a b\n' * 9 + b' c', b'a b\n' * 9 + b'c'),
        (b'\xef\xbb\xbfa b\n', b'a b\n'),
        (b'\xef\xbb\xbf \xef\xbb\xbfa\n', None),
        (b'a\rb\n', None),
        (b'a b\r', None),
        (b'a\0b\n', None),
    ],
)
def test_normal_lines_are_what_the_bulk_reader_sees(data, normal, monkeypatch):
    monkeypatch.setattr(lines, 'BLOCK_BYTES', 11)
    blocks = bulk._normal_lines(io.BytesIO(data), 'file', SUBSET, LineCounter())
    if normal is None:
        with pytest.raises(bulk._Doubt):
            list(blocks)
    else:
        assert b''.join(blocks) == normal


@pytest.mark.parametrize('parser', [strict_text.parse, parse_in_bulk])
def test_lines_across_blocks(parser, monkeypatch):
    monkeypatch.setattr(lines, 'BLOCK_BYTES', 7)
    monkeypatch.setattr(strict_text, 'PROVED_BYTES', 7)
    rows = [('corpus', f'video{i % 3}', str(i), 'name' * (i % 5 + 1)) for i in range(50)]
    data = '\r\n'.join(' '.join(row) for row in rows).encode()
    assert as_rows(parser(io.BytesIO(data), REFERENCE, 'file'), REFERENCE) == rows


def test_error_names_line_in_later_block(monkeypatch):
    monkeypatch.setattr(lines, 'BLOCK_BYTES', 7)
    monkeypatch.setattr(strict_text, 'PROVED_BYTES', 7)
    data = b'a b c d\n' * 20 + b'a b c\n' + b'a b c d\n' * 20 + b'a\n'
    with pytest.raises(
        FormatError, match=r'line 21: found 3 fields .* \(1 more wrong line'
    ) as caught:
        parse(data, REFERENCE)
    assert caught.value.further == 1


@pytest.mark.parametrize('parser', [strict_text.parse, parse_in_bulk])
def test_endless_line(parser, monkeypatch):
    monkeypatch.setattr(lines, 'BLOCK_BYTES', 16)
    monkeypatch.setattr(strict_text, 'PROVED_BYTES', 16)
    monkeypatch.setattr(lines, 'MAX_LINE_BYTES', 1 << 20)
    with pytest.raises(FormatError, match='line 2: found more than 1 MiB without a line end'):
        parser(io.BytesIO(b'a b\n' + b'x' * (2 << 20)), SUBSET, 'file')


def test_a_line_alone_ends_as_in_a_file():
    for line in (b'a b', b'a b\n', b'a b\r\n'):
        assert parse_line(line, SUBSET, 'file', 1) == ('a', 'b')
    for line in (b'a b\r', b'a b\r\r\n'):
        with pytest.raises(FormatError, match='a carriage return at byte 4'):
            parse_line(line, SUBSET, 'file', 1)
        with pytest.raises(FormatError, match='a carriage return at byte 4'):
            parse(line, SUBSET)


def accepted(parser, data):
    try:
        parser(io.BytesIO(data))
    except FormatError:
        return False
    return True


@pytest.mark.parametrize('before', [b'', b'a b\n', b'\xef\xbb\xbf'])
@pytest.mark.parametrize('after', [b'', b'\n', b'\na b\n'])
@pytest.mark.parametrize('too_many', [-1, 0, 1, 2, 5, 16])
def test_every_reader_takes_lines_of_the_same_length(before, after, too_many, monkeypatch):
    """At the limit, whatever blocks the line lies in, and however it ends."""
    monkeypatch.setattr(lines, 'BLOCK_BYTES', 16)
    monkeypatch.setattr(strict_text, 'PROVED_BYTES', 16)
    monkeypatch.setattr(lines, 'MAX_LINE_BYTES', 100)
    data = before + b'a ' + b'x' * (98 + too_many) + after
    readers = {
        'strict': lambda stream: strict_text.parse(stream, SUBSET, 'file'),
        'bulk': lambda stream: parse_in_bulk(stream, SUBSET, 'file'),
        'numbered': lambda stream: list(lines.numbered(stream, 'file')),
    }
    expected = too_many <= 0
    assert {name: accepted(each, data) for name, each in readers.items()} == dict.fromkeys(
        readers, expected
    )
    wrong = read_leniently(io.BytesIO(data), SUBSET).wrong
    assert [each.cause for each in wrong] == [Cause.LENGTH] * (not expected)


@pytest.mark.parametrize(
    ('line', 'message'),
    [
        (b'a b c d', "found 4 fields in 'a b c d', expected 5 fields: corpus_id video_id shot_id"),
        (b'a b c d e 1', "found 6 fields in 'a b c d e 1', expected 5 fields"),
        (b'a', "found 1 field in 'a', expected 5 fields"),
        (b'a b c d nan', "confidence: found 'nan', expected a finite decimal number"),
        (b'a b c d 1e400', "confidence: found '1e400', expected a finite decimal number"),
        (b'a b\0 c d 1', 'found a NUL byte at byte 4, expected text'),
        (b'a b\xff\0\r c d 1', r'found invalid UTF-8 at byte 4 \(0xff\), expected UTF-8'),
        (b'a b\r\0\xff c d 1', r'found a carriage return at byte 4, expected text'),
        (b'a b\rc d 1', 'found a carriage return at byte 4, expected text'),
        (b'a b \xff d 1', r'found invalid UTF-8 at byte 5 \(0xff\), expected UTF-8'),
    ],
)
def test_messages(line, message):
    with pytest.raises(FormatError, match=f'^file, line 3, {message}|^file, line 3: {message}'):
        parse(b'a b c d 1\n\n' + line + b'\na b c d 2\n', HYPOTHESIS)


def test_where_a_fault_stands_is_not_compared():
    """A line and a tuple are told the same; the place is for who points at it."""
    one, other = (Wrong('confidence', "'high'", 'a number', at) for at in (3, 5))
    assert one == other
    assert hash(one) == hash(other)
    assert repr(one) == "Wrong(field='confidence', found=\"'high'\", expected='a number')"


def test_long_field_is_shortened():
    with pytest.raises(FormatError) as caught:
        parse(b'x' * 10_000, REFERENCE)
    assert len(str(caught.value)) < 200
