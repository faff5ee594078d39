"""Errors of the strict parser."""

import pytest
from line_files import parse

from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, lines, strict_text


def test_error_names_line_in_later_block(monkeypatch):
    monkeypatch.setattr(lines, 'BLOCK_BYTES', 7)
    monkeypatch.setattr(strict_text, 'PROVED_BYTES', 7)
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
