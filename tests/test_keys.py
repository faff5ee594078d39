"""Integer keys."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.keys import find, first_occurrences

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
