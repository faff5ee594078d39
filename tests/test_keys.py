"""Integer keys."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.keys import find, first_occurrences, run_starts

keys = st.lists(st.integers(-3, 5), max_size=12)


@given(keys, keys)
def test_find(among, wanted):
    among = sorted(set(among))
    places = find(np.array(among, dtype=np.int64), np.array(wanted, dtype=np.int64))
    assert places.tolist() == [among.index(key) if key in among else -1 for key in wanted]


@given(keys)
def test_first_occurrences(values):
    expected = [i for i, value in enumerate(values) if value not in values[:i]]
    assert first_occurrences(np.array(values, dtype=np.int64)).tolist() == expected


@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0.0, -0.0, 0.5])), max_size=12))
def test_run_starts(rows):
    expected = [i for i, row in enumerate(rows) if i == 0 or row != rows[i - 1]]
    columns = list(np.array(rows).reshape(-1, 2).T)
    assert run_starts(columns).tolist() == expected
