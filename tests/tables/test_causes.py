"""Why lines are wrong, for many at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.tables import HYPOTHESIS, SUBSET, causes
from mediaeval_ap.tables.causes import CAUSES, RIGHT, causes_of
from mediaeval_ap.tables.line_format import cause_of, count_fields, find_fields

dirty = st.sampled_from(
    [
        b' ',
        b'\t',
        b'\v',
        b'\f',
        b'\r',
        b'\0',
        b'\xff',
        b'\xc3',
        b'\xc3\xa9',
        b'\xed\xa0\x80',
        b'\xf0\x9f',
    ]
)
some_lines = st.lists(
    st.lists(
        st.sampled_from([b'x', b'v', b'1', b'-', b' ', b' ', b'nan']) | dirty, max_size=12
    ).map(b''.join)
)


@given(some_lines, st.sampled_from([HYPOTHESIS, SUBSET]))
def test_causes_of_many_lines_are_those_of_each(lines, layout):
    """The slow way is the specification; so it is for a line that is long, and goes that way."""
    each = [cause_of(line, layout) for line in lines]
    many = [None if cause == RIGHT else CAUSES[cause] for cause in causes_of(lines, layout)]
    assert many == each
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(causes, 'LONG', 3)
        assert causes_of(lines, layout).tolist() == [
            RIGHT if cause is None else CAUSES.index(cause) for cause in each
        ]


@given(
    st.lists(st.sampled_from([b'a', b'\xc3\xa9e', b' ', b'\t', b'  ']), max_size=9).map(b''.join)
)
def test_fields_of_a_line_are_counted_as_they_are_found(line):
    assert count_fields(line) == len(find_fields(line))
