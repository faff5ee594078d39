"""The order of shots."""

import oracle
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.ranking.shots import shot_order


@given(st.lists(st.from_regex('[0-9]{1,6}|[0-9a-z]{1,3}', fullmatch=True)))
def test_order_of_shots(shots):
    assert sorted(shots, key=shot_order) == sorted(shots, key=oracle.shot_order)


def test_numbers_of_any_length():
    assert sorted(['1' * 5000, '9', '0' * 6000 + '5'], key=shot_order)[-1] == '1' * 5000
