"""The bulk reader on files that are right, and its view of lines."""

import io

import pytest
from line_files import as_rows, parse

from mediaeval_ap.tables import (
    HYPOTHESIS,
    SUBSET,
    bulk,
)
from mediaeval_ap.tables.bulk import parse_in_bulk
from mediaeval_ap.tables.layouts import QRELS, RUN


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
    monkeypatch.setattr(bulk, 'BLOCK_BYTES', 9)
    data = b'# \xff\r\n  # by me\n7 Q0 #1 1 0.5 #\r\n\t#\n8 Q0 d 1 0.5 me\n# end'
    rows = [('7', 'Q0', '#1', '1', 0.5, '#'), ('8', 'Q0', 'd', '1', 0.5, 'me')]
    assert as_rows(parse_in_bulk(io.BytesIO(data), RUN, 'file'), RUN) == rows
    data = b'#########\n' + b'\xef\xbb\xbf7 0 d 1\n'
    proved = parse_in_bulk(io.BytesIO(data), QRELS, 'file')
    assert as_rows(proved, QRELS) == parse(data, QRELS) == [('\ufeff7', '0', 'd', 1.0)]


@pytest.mark.parametrize(
    ('data', 'normal'),
    [
        (b' a  b\t c \r\n\n  \n\td e\t\n', b'a b c\n\n\nd e\n'),
        (b'a b\n' * 9 + b' c', b'a b\n' * 9 + b'c'),
        (b'a\tb\r\nc\td\r\n', b'a b\nc d\n'),
        (b' a\nb', b'a\nb'),
        (b'a\nb ', b'a\nb'),
        (b'a\nb \n', b'a\nb\n'),
        (b'a \x0b\x1c b\n\x0bc\n', b'a \x0b\x1c b\n\x0bc\n'),
        (b' \t', b''),
        (b'a\rb\n', None),
        (b'a b\r', None),
        (b'a\0b\n', None),
        (b'a\xff\n', None),
    ],
)
def test_normal_lines_are_what_pyarrow_sees(data, normal):
    if normal is None:
        with pytest.raises(bulk._Doubt):
            bulk._normal(data)
    else:
        assert bulk._normal(data) == normal
