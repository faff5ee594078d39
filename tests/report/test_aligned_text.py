"""Aligned text, against tabulate, which lays out what is not plain."""

import string

from hypothesis import given
from hypothesis import strategies as st
from tabulate import tabulate

from mediaeval_ap.report.aligned_text import aligned, aligned_simply, is_plain

PLAIN = st.text(string.printable[: string.printable.index('\t')], max_size=12)


@st.composite
def tables(draw):
    n_columns = draw(st.integers(1, 4))
    row = st.lists(PLAIN, min_size=n_columns, max_size=n_columns)
    sides = st.lists(st.sampled_from(['left', 'right']), min_size=n_columns, max_size=n_columns)
    return draw(row), draw(st.lists(row, min_size=1, max_size=5)), draw(sides)


@given(tables())
def test_it_is_what_tabulate_gives(table):
    headers, rows, alignments = table
    expected = tabulate(
        rows, headers=headers, tablefmt='simple', disable_numparse=True, colalign=alignments
    )
    assert aligned_simply(headers, rows, alignments) == expected
    assert aligned(headers, rows, alignments, 'simple') == expected


@given(st.text())
def test_plain_text_takes_one_column_a_character(text):
    assert is_plain([text]) == all(' ' <= each <= '~' for each in text)
