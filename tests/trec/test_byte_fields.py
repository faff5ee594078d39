"""Blocks of lines are read by arithmetic as the strict parser reads them, or not at all."""

import io

import pytest
import strategies
from hypothesis import assume, example, given
from hypothesis import strategies as st
from trec_rows import QRELS as JUDGED
from trec_rows import RUN as RETURNED
from trec_rows import qrels_text, run_text

from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables.byte_words import WIDEST
from mediaeval_ap.tables.layouts import QRELS, RUN
from mediaeval_ap.tables.text.format import whole_lines
from mediaeval_ap.tables.text.reader import parse
from mediaeval_ap.trec import files
from mediaeval_ap.trec.byte_fields import find_fields, texts_at
from mediaeval_ap.trec.decimals import numbers_at

words = st.text('ab#é\xa0.' + '𐍈', min_size=1, max_size=10) | st.sampled_from(
    ['x' * WIDEST, 'x' * (WIDEST + 1), 'x' * 8, 'x' * 9]
)
gaps = st.text(' \t', min_size=1, max_size=2)
numbers = st.sampled_from(['0.5', '-1', '3e-7', '19.997054'])
ends = st.sampled_from(['\n', '\r\n', ' \n', '\n\n', '\n \t\r\n'])


@st.composite
def right_lines(draw):
    rows = draw(st.lists(st.tuples(words, words, words, words, numbers, words), min_size=1))
    rows = [(f'_{row[0]}', *row[1:]) for row in rows]  # no comment
    spaced = [''.join(f'{word}{draw(gaps)}' for word in row).rstrip(' \t') for row in rows]
    text = ''.join(f'{draw(st.sampled_from(["", " "]))}{line}{draw(ends)}' for line in spaced)
    return (text if draw(st.booleans()) else text.rstrip(' \t\r\n')).encode()


def read_at_once(block, layout):
    """Return the columns of a block, as the strict parser names them; None on any doubt."""
    fields = find_fields(block, layout)
    values = None if fields is None or not len(fields.begins) else numbers_at(fields, layout)
    if values is None:
        return None
    columns = {
        field: [text.decode() for text in texts_at(fields, place).tolist()]
        for place, field in enumerate(layout.fields)
        if field != layout.number
    }
    places = range(fields.n_lines) if fields.rows is None else fields.rows.tolist()
    return columns, list(map(repr, values.tolist())), [place + 1 for place in places]


def read_strictly(block, layout):
    try:
        table = parse(io.BytesIO(block), layout, 'file')
    except FormatError:
        return None
    columns = {field: table.texts(field) for field in layout.texts}
    numbers = list(map(repr, table.confidence.tolist()))
    return columns, numbers, table.lines.array(len(table)).tolist()


@given(right_lines())
def test_right_lines_are_never_in_doubt(block):
    found = read_at_once(block, RUN)
    assert found is not None
    assert found == read_strictly(block, RUN)


DAMAGES = [b'', b'\n', b' ', b'\t', b'\r', b'\0', b'\x0b', b'\x1f', b'#', b'\xff', b'-', b'7 Q0 d']


@strategies.examples(3)
@pytest.mark.parametrize(
    ('layout', 'text'), [(RUN, run_text(RETURNED)), (QRELS, qrels_text(JUDGED))]
)
@given(
    st.lists(st.tuples(st.integers(0, 70), st.sampled_from(DAMAGES), st.integers(0, 3)), max_size=4)
)
@example([(0, b'#', 0)])
def test_what_is_accepted_is_as_the_strict_parser_reads_it(layout, text, damages):
    block = text.encode()
    for begin, put, n_lost in damages:
        block = block[:begin] + put + block[begin + n_lost :]
    found = read_at_once(block, layout)
    if found is not None:
        assert found == read_strictly(block, layout)


@given(right_lines(), st.integers(1, 200))
def test_files_in_blocks(block, n_bytes):
    """Some blocks go one way and some the other, as comments are left to the strict parser."""
    half = block.find(b'\n') + 1
    assume(half)
    text = block[:half] + b'# a comment\n' + block[half:]
    rows = files._Rows(RUN)
    assert all(rows.add(each) for each in whole_lines(io.BytesIO(text).read, n_bytes))
    entries = rows.entries(None)
    columns, numbers, numbered = read_strictly(text, RUN)
    assert [entries.topic.text(row) for row in range(len(entries))] == columns['qid']
    assert entries.texts(slice(None)) == columns['docno']
    assert list(map(repr, entries.number.tolist())) == numbers
    assert entries.lines.array(len(entries)).tolist() == numbered
