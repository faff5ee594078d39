"""The bulk reader on files that are right, and its view of lines."""

import io
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from line_files import as_rows, parse, parse_in_bulk

from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, REFERENCE
from mediaeval_ap.tables.layouts import QRELS, RUN
from mediaeval_ap.tables.text import fast, format


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
    monkeypatch.setattr(format, 'BLOCK_BYTES', 9)
    data = b'# \xff\r\n  # by me\n7 Q0 #1 1 0.5 #\r\n\t#\n8 Q0 d 1 0.5 me\n# end'
    rows = [('7', 'Q0', '#1', '1', 0.5, '#'), ('8', 'Q0', 'd', '1', 0.5, 'me')]
    assert as_rows(parse_in_bulk(io.BytesIO(data), RUN, 'file'), RUN) == rows
    data = b'#########\n' + b'\xef\xbb\xbf7 0 d 1\n'
    proved = parse_in_bulk(io.BytesIO(data), QRELS, 'file')
    assert as_rows(proved, QRELS) == parse(data, QRELS) == [('\ufeff7', '0', 'd', 1.0)]


def test_byte_order_marks_between_blocks_are_text(monkeypatch):
    monkeypatch.setattr(format, 'BLOCK_BYTES', 1)
    data = b'\xef\xbb\xbf\xef\xbb\xbfa\n\xef\xbb\xbfb\n\xef\xbb\xbf'
    proved = parse_in_bulk(io.BytesIO(data), QUERIES, 'file')
    assert as_rows(proved, QUERIES) == [('\ufeffa',), ('\ufeffb',), ('\ufeff',)]


@pytest.mark.parametrize(
    'line', [b'a b', b'a b c d e', b'a b c "d\n e"', b'a b c d\0', b'a b c\rd', b'a b c \xff']
)
@pytest.mark.parametrize('n_before', [0, 1, 50])
@pytest.mark.parametrize('n_behind', [0, 50])
def test_a_wrong_line_is_explained_in_every_block(line, n_before, n_behind, monkeypatch):
    monkeypatch.setattr(format, 'BLOCK_BYTES', 20)
    data = b'a b c d\n' * n_before + line + b'\n' + b'a b c d\n' * n_behind
    assert fast.proved_block(data, REFERENCE) is None
    with pytest.raises(FormatError) as caught:
        parse(data, REFERENCE, by_python=0)
    with pytest.raises(FormatError) as slow:
        parse(data, REFERENCE)
    assert str(caught.value) == str(slow.value)
    assert caught.value.further == slow.value.further


@given(st.lists(st.integers()))
def test_work_is_in_order_and_few_items_are_begun(items):
    begun = 0

    def counted():
        nonlocal begun
        for item in items:
            begun += 1
            yield item

    with ThreadPoolExecutor(2) as threads:
        results = fast.results_of(str, counted(), threads)
        for n_done, (item, result) in enumerate(zip(items, results, strict=True)):
            assert result == str(item)
            assert begun <= n_done + fast.N_THREADS + 1


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
    assert fast._normal(data) == normal
