"""Columns grow, and what was read of them does not change."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.live.columns import Columns


@given(st.lists(st.lists(st.integers(0, 99), max_size=90), max_size=5))
def test_what_was_read_of_columns_stays(batches):
    columns, everything, views = Columns(number=np.int32), [], []
    for batch in batches:
        columns.extend(number=np.array(batch, dtype=np.int32))
        everything.extend(batch)
        views.append((columns['number'], list(everything)))
    for view, expected in views:
        assert view.tolist() == expected
    assert len(columns) == len(everything)
    odd = np.arange(1, len(everything), 2)
    assert columns.select(odd)['number'].tolist() == everything[1::2]
