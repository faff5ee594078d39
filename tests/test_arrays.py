"""Integer keys."""

import numpy as np
import pyarrow
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mediaeval_ap.arrays import (
    combine,
    find,
    first_above,
    first_equal,
    first_occurrences,
    ranges,
    run_starts,
)
from mediaeval_ap.tables import HYPOTHESIS, read
from mediaeval_ap.tables.lenient_text import read_leniently
from mediaeval_ap.validation.rules import repeats

keys = st.lists(st.integers(-3, 5), max_size=12)
# Small ones that are equal often, and such that a few columns of them need more than 64 bits.
numbers = st.integers(0, 3) | st.sampled_from(
    [2**16, 2**31, 2**32 - 1, 2**32, 2**62 - 1, 2**63 - 1]
)


@given(keys, keys)
def test_find(among, wanted):
    among = sorted(set(among))
    places = find(np.array(among, dtype=np.int64), np.array(wanted, dtype=np.int64))
    assert places.tolist() == [among.index(key) if key in among else -1 for key in wanted]


@given(keys)
def test_first_occurrences(values):
    expected = [i for i, value in enumerate(values) if value not in values[:i]]
    assert first_occurrences(np.array(values, dtype=np.int64)).tolist() == expected


@given(keys)
def test_first_equal(values):
    expected = [values.index(value) for value in values]
    assert first_equal(np.array(values, dtype=np.int64)).tolist() == expected


@given(st.lists(st.tuples(st.integers(-5, 20), st.integers(0, 4)), max_size=8))
def test_ranges(pairs):
    starts, sizes = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    expected = [start + i for start, size in pairs for i in range(size)]
    assert ranges(starts, sizes).tolist() == expected


@given(
    st.lists(st.lists(st.integers(0, 9), max_size=6).map(sorted), max_size=5), st.integers(-1, 9)
)
def test_first_above_a_limit_in_ranges(lists, limit):
    sizes = np.array(list(map(len, lists)), dtype=np.int64)
    ends = sizes.cumsum()
    values = np.array([value for each in lists for value in each], dtype=np.int32)
    expected = [sum(value <= limit for value in each) for each in lists]
    found = first_above(values, ends - sizes, ends, limit)
    assert (found - (ends - sizes)).tolist() == expected


@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0.0, -0.0, 0.5])), max_size=12))
def test_run_starts(rows):
    expected = [i for i, row in enumerate(rows) if i == 0 or row != rows[i - 1]]
    columns = list(np.array(rows).reshape(-1, 2).T)
    assert run_starts(columns).tolist() == expected


# In 64 bits, 2**32 · 2**32 is 0: the second row would be the first again.
@example([(0, 0, 0), (1, 0, 0), (0, 2**32 - 1, 2**32 - 1)])
@example([(0, 0, 0), (0, 2**32 - 1, 2**32 - 1), (1, 0, 0), (1, 1, 2**32 - 1)])
@example([(2**31, 0), (0, 2**63 - 1), (2**31, 2**63 - 1), (0, 0)])
@given(
    st.integers(1, 5).flatmap(lambda n: st.lists(st.tuples(*[numbers] * n), min_size=1, max_size=9))
)
def test_combined_keys_are_equal_where_the_rows_are(rows):
    columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    combined = combine(columns)
    assert first_equal(combined).tolist() == [rows.index(row) for row in rows]


def test_codes_of_32_bits_are_combined_in_64():
    columns = [np.array([0, 2**31 - 1, 2**31 - 1], dtype=np.int32)] * 2
    assert combine(columns).tolist() == [0, 2**62 - 1, 2**62 - 1]


@pytest.mark.parametrize('kind', [np.int32, np.int64])
def test_keys_of_as_many_rows_as_a_large_submission(kind):
    """Four columns of 2**17 values each, which are 68 bits."""
    n_rows = 1 << 17
    each = np.arange(n_rows, dtype=kind)
    columns = [np.append(each, last) for last in np.array([8192, 0, 0, 0], dtype=kind)]
    assert len(first_occurrences(combine(columns))) == n_rows + 1


def test_no_row_is_said_to_repeat_another_that_differs():
    """Video, shot, name and confidence of 2**17 rows: keys of 64 bits would be equal for two."""
    numbers = range(1 << 17)
    columns = [
        ['x' for _ in numbers],
        *([f'{a}{i:06}' for i in numbers] for a in 'vsn'),
        [*numbers],
    ]
    other = ['x', 'v008192', 's000000', 'n000000', 0]

    def rows(n_times):
        pairs = zip(columns, other, strict=True)
        content = [column + [last] * n_times for column, last in pairs]
        table = read(pyarrow.table(content, list(HYPOTHESIS.fields)), HYPOTHESIS)
        return read_leniently(table, HYPOTHESIS)

    assert [each.count for each in repeats.repeated_rows(rows(1))] == [0, 0]
    assert [each.count for each in repeats.repeated_rows(rows(2))] == [1, 0]
