"""The beginning of an order is that of the whole order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.ranking.order import first_in_order, in_order


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-0.5, 0.0, 2.0]), st.integers(0, 2))),
    st.integers(1, 9),
)
def test_first_in_order_is_the_beginning_of_the_order(rows, count):
    columns = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    keys = (columns[0].astype(np.int64), columns[1], columns[2].astype(np.int64))
    first = first_in_order(keys, count)
    expected = in_order(*keys)[:count]
    assert len(set(first.tolist())) == len(expected)
    for key in keys:
        assert key[first].tolist() == key[expected].tolist()
