"""Values keep their numbers, and know their order, as others come."""

from hypothesis import given
from hypothesis import strategies as st
from live_sessions import check_interned

from mediaeval_ap.live.numbering import Interned


@given(st.lists(st.lists(st.text('ab1', max_size=3), max_size=6), max_size=6))
def test_places_of_distinct_values(batches):
    distinct = Interned(key=str)
    for batch in batches:
        codes = [distinct.code(value) for value in batch]
        assert [distinct.values[code] for code in codes] == batch
        check_interned(distinct)
