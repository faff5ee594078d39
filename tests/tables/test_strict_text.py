"""Errors of the strict parser, and its two ways to split lines."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from line_files import LAYOUTS, parse

from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, SUBSET
from mediaeval_ap.tables.text import format, reader


def test_error_names_line_in_later_block(monkeypatch):
    monkeypatch.setattr(format, 'BLOCK_BYTES', 7)
    monkeypatch.setattr(reader, 'PROVED_BYTES', 7)
    data = b'a b c d\n' * 20 + b'a b c\n' + b'a b c d\n' * 20 + b'a\n'
    with pytest.raises(
        FormatError, match=r'line 21: found 3 fields .* \(1 more wrong line'
    ) as caught:
        parse(data, REFERENCE)
    assert caught.value.further == 1


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


def test_long_field_is_shortened():
    with pytest.raises(FormatError) as caught:
        parse(b'x' * 10_000, REFERENCE)
    assert len(str(caught.value)) < 200


WORDS = st.sampled_from([b'a', b'1', b'1', b'', b'\v', b'a\fb', b'#', 'é'.encode(), b'\xc2\x85'])


@st.composite
def layouts_and_lines(draw):
    """Lines of which most have as many fields as the layout, if these are not empty."""
    layout = draw(LAYOUTS)
    lines = []
    for size in draw(st.lists(st.sampled_from([0, 0, 0, 0, -1, 1]), max_size=4)):
        count = len(layout.fields) + size
        words = draw(st.lists(WORDS, min_size=count, max_size=count))
        lines.append(draw(st.sampled_from([b' ', b' ', b'\t'])).join(words))
    return layout, lines


@given(layouts_and_lines())
@example((SUBSET, [b'a', b'b c d']))
@example((SUBSET, [b'a ', b'b c\vd']))
@example((SUBSET, [b'a b', b'']))
@example((SUBSET, []))
def test_lines_split_at_once_are_as_split_one_by_one(layout_and_lines):
    layout, given = layout_and_lines
    given = b'\n'.join(given)
    at_once = reader.prove(given, layout)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, 'evenly_split', lambda *_: None)
        one_by_one = reader.prove(given, layout)
    if at_once is None or one_by_one is None:
        assert at_once is one_by_one
        return
    assert list(map(list, at_once.texts)) == list(map(list, one_by_one.texts))
    assert (at_once.rows, at_once.numbers) == (one_by_one.rows, one_by_one.numbers)


@pytest.mark.parametrize(
    ('text', 'columns'),
    [
        (b'a b\nc\td', [[b'a', b'c'], [b'b', b'd']]),
        (b'a b\nc  d', None),
        (b'a b\n c d', None),
        (b'a b \nc d', None),
        (b'a b\n\n', None),
        (b'a\nb c d', None),
        (b'a \nb c\x0bd', None),
    ],
)
def test_only_even_lines_are_split_at_once(text, columns):
    assert reader.evenly_split(text, 2, 2) == columns
