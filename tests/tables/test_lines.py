"""Blocks and lengths of lines, for all readers."""

import io

import pytest
from line_files import as_rows, causes_and_lines, parse_in_bulk

from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables import REFERENCE, SUBSET
from mediaeval_ap.tables.reading import read_leniently
from mediaeval_ap.tables.text import format, reader
from mediaeval_ap.tables.text.format import Cause


@pytest.mark.parametrize('parser', [reader.parse, parse_in_bulk])
def test_lines_across_blocks(parser, monkeypatch):
    monkeypatch.setattr(format, 'BLOCK_BYTES', 7)
    monkeypatch.setattr(reader, 'PROVED_BYTES', 7)
    rows = [('corpus', f'video{i % 3}', str(i), 'name' * (i % 5 + 1)) for i in range(50)]
    data = '\r\n'.join(' '.join(row) for row in rows).encode()
    assert as_rows(parser(io.BytesIO(data), REFERENCE, 'file'), REFERENCE) == rows


@pytest.mark.parametrize('parser', [reader.parse, parse_in_bulk])
def test_endless_line(parser, monkeypatch):
    monkeypatch.setattr(format, 'BLOCK_BYTES', 16)
    monkeypatch.setattr(reader, 'PROVED_BYTES', 16)
    monkeypatch.setattr(format, 'MAX_LINE_BYTES', 1 << 20)
    with pytest.raises(FormatError, match='line 2: found more than 1 MiB without a line end'):
        parser(io.BytesIO(b'a b\n' + b'x' * (2 << 20)), SUBSET, 'file')


@pytest.mark.parametrize('parser', [reader.parse, parse_in_bulk])
def test_nothing_is_read_behind_an_endless_line(parser, monkeypatch):
    class Stream(io.BytesIO):
        def read(self, size=-1):
            if self.tell() > 1000:
                raise OSError
            return super().read(size)

    monkeypatch.setattr(format, 'BLOCK_BYTES', 16)
    monkeypatch.setattr(reader, 'PROVED_BYTES', 16)
    monkeypatch.setattr(format, 'MAX_LINE_BYTES', 500)
    with pytest.raises(FormatError, match='without a line end'):
        parser(Stream(b'a b\n' + b'x' * 5000), SUBSET, 'file')


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
    monkeypatch.setattr(format, 'BLOCK_BYTES', 16)
    monkeypatch.setattr(reader, 'PROVED_BYTES', 16)
    monkeypatch.setattr(format, 'MAX_LINE_BYTES', 100)
    data = before + b'a ' + b'x' * (98 + too_many) + after
    readers = {
        'strict': lambda stream: reader.parse(stream, SUBSET, 'file'),
        'bulk': lambda stream: parse_in_bulk(stream, SUBSET, 'file'),
        'numbered': lambda stream: list(format.numbered(stream, 'file')),
    }
    expected = too_many <= 0
    assert {name: accepted(each, data) for name, each in readers.items()} == dict.fromkeys(
        readers, expected
    )
    wrong = causes_and_lines(read_leniently(io.BytesIO(data), SUBSET))
    assert [cause for cause, _ in wrong] == [Cause.LENGTH] * (not expected)
