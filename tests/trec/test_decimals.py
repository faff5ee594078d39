"""Decimals are read in bulk as Python reads them one by one, to the last bit."""

import struct

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.tables.layouts import QRELS, RUN
from mediaeval_ap.tables.text import format
from mediaeval_ap.trec import decimals
from mediaeval_ap.trec.byte_fields import find_fields

digits = st.text('0123456789', max_size=21)


def double_of(bits):
    return struct.unpack('d', struct.pack('Q', bits))[0]


written = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(0, 2**64 - 1).map(double_of).map(repr),  # perhaps nan
    st.floats(-100, 100).flatmap(lambda x: st.integers(0, 18).map(lambda n: f'{x:.{n}f}')),
    st.floats(-100, 100).flatmap(lambda x: st.integers(0, 18).map(lambda n: f'{x:.{n}e}')),
    st.tuples(st.sampled_from(['', '-', '+']), digits, st.sampled_from(['', '.']), digits).map(
        ''.join
    ),
    # Halfway between two doubles.
    st.tuples(st.integers(2**53, 2**54 - 1), st.integers(0, 3)).map(
        lambda pair: f'{pair[0] * 2 + 1}.{"0" * pair[1]}'
    ),
    st.text('0123456789.-+eE', min_size=1, max_size=6),
    st.sampled_from(['-0', '-0.0', '9007199254740993', '4503599627370496.5', '1_0', '1e400']),
).filter(bool)


@strategies.examples(3)
@pytest.mark.parametrize(('layout', 'line'), [(RUN, '7 Q0 d 1 {} me\n'), (QRELS, '7 0 d {}\n')])
@given(st.lists(written, min_size=1, max_size=20))
def test_as_python_reads_them(layout, line, fields):
    one_by_one = [field.encode() for field in fields]
    found = find_fields(''.join(map(line.format, fields)).encode(), layout)
    numbers = decimals.numbers_at(found, layout)
    if all(format.is_number(field, layout) for field in one_by_one):
        assert list(map(repr, numbers.tolist())) == [repr(float(field)) for field in one_by_one]
    else:
        assert numbers is None


@pytest.mark.parametrize(
    ('fields', 'n_by_python'),
    [
        (['19.997054', '-3.25', '0', '-0', '.5', '5.', '17', '0.000001'], 0),
        (['0.1', '64.71528491372905', '3.141592653589793', '1234567890.123456789'], 0),
        (['9007199254740993', '4503599627370496.5', '0.5'], 2),  # halfway between two doubles
        (['1e-7', '+1', '12345678901234567890', '2.5'], 3),
    ],
)
def test_few_decimals_are_left_to_python(fields, n_by_python, monkeypatch):
    left = []

    def by_python(written, layout):
        left.extend(written)
        return list(map(float, written))

    monkeypatch.setattr(decimals, 'numbers_of', by_python)
    block = ''.join(f'7 Q0 d {rank} {field} me\n' for rank, field in enumerate(fields))
    numbers = decimals.numbers_at(find_fields(block.encode(), RUN), RUN)
    assert list(map(repr, numbers.tolist())) == [repr(float(field)) for field in fields]
    assert len(left) == n_by_python
