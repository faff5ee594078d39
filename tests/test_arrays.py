"""Integer keys."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mediaeval_ap.arrays import (
    MAX_PACKED_BYTES,
    WORD,
    SpareArrays,
    combine,
    descending_ordinals,
    find,
    first_above,
    first_equal,
    first_occurrences,
    number_keys,
    ranges,
    run_starts,
    sort_keys,
    words_at,
)

keys = st.lists(st.integers(-3, 5), max_size=12)


@pytest.fixture(scope='module', params=[0, 1000])
def few(request):
    """Sort keys as many ones are sorted, and as few ones are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('mediaeval_ap.arrays.MIN_PACKED_KEYS', request.param)
        yield


# Small ones that are equal often, and such that a few columns of them need more than 64 bits.
numbers = st.integers(0, 3) | st.sampled_from(
    [2**16, 2**31, 2**32 - 1, 2**32, 2**62 - 1, 2**63 - 1]
)


@given(keys, keys)
def test_find(among, wanted):
    among = sorted(set(among))
    places = find(np.array(among, dtype=np.int64), np.array(wanted, dtype=np.int64))
    assert places.tolist() == [among.index(key) if key in among else -1 for key in wanted]


# Of wide keys, the first bits may be equal where the last are not, and the other way round.
wide = st.builds(lambda first, last: first << 60 | last, st.integers(0, 15), st.integers(0, 15))
keys_of_any_width = st.lists(numbers | wide, max_size=12)


@pytest.mark.usefixtures('few')
@given(keys_of_any_width)
def test_ascending_order_of_keys_of_any_width(values):
    expected = sorted(range(len(values)), key=values.__getitem__)
    positions, ordered = sort_keys(np.array(values, dtype=np.uint64))
    assert positions.tolist() == expected
    assert ordered.tolist() == sorted(values)


@pytest.mark.parametrize('dense', [0, 4, 10**6])
@pytest.mark.usefixtures('few')
@given(st.data())
def test_numbers_of_keys(dense, data):
    """Marking all numbers up to the largest key would take too much memory for wide ones."""
    few_values = st.lists(st.integers(0, 20), max_size=12)
    values = data.draw(few_values if dense > 4 else few_values | keys_of_any_width)
    expected = sorted(set(values))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('mediaeval_ap.arrays.DENSE', dense)
        distinct, codes = number_keys(np.array(values, dtype=np.uint64))
    assert distinct.tolist() == expected
    assert [expected[code] for code in codes.tolist()] == values


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0])))
@example([5e-324, -5e-324, 0.0, -0.0, -1.7976931348623157e308, 1.7976931348623157e308])
def test_descending_ordinals(values):
    expected = sorted(set(values), reverse=True)
    found = descending_ordinals(np.array(values, dtype=np.float64))
    assert found.tolist() == [expected.index(value) for value in values]


@pytest.mark.usefixtures('few')
@given(keys)
def test_first_of_equal_keys(values):
    array = np.array(values, dtype=np.int64)
    expected = [values.index(value) for value in values]
    assert first_equal(array).tolist() == expected
    assert first_occurrences(array).tolist() == sorted(set(expected))


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


def test_a_spare_array_is_with_one_borrower_alone():
    spare = SpareArrays(np.int16)
    first, second = spare.take(5), spare.take(5)
    assert not np.shares_memory(first, second)
    first.fill(7)
    spare.give_back(first)
    assert spare.take(6).tolist() == [0] * 6  # the first is too short
    spare.give_back(second)
    assert spare.take(5) is second
    assert not np.shares_memory(spare.take(5), second)


@given(
    st.lists(st.binary(max_size=MAX_PACKED_BYTES), min_size=1, max_size=5), st.binary(max_size=WORD)
)
def test_texts_as_words(texts, front):
    """Whatever stands before and behind a text is no part of it."""
    buffer = np.frombuffer(front + b'#'.join(texts) + b'#' * MAX_PACKED_BYTES, np.uint8)
    sizes = np.array(list(map(len, texts)))
    begins = len(front) + (sizes + 1).cumsum() - (sizes + 1)
    words = words_at(buffer, begins, sizes)
    width = words.shape[1] * WORD
    assert words.tobytes() == b''.join(text.ljust(width, b'\0') for text in texts)
    assert width - max(map(len, texts)) in range(WORD) or not any(texts)
