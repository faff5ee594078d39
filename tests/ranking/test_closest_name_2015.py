"""The one name closest to a query, by the ratio of 2015."""

from fractions import Fraction

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.ranking.closest_name_2015 import closest


@given(
    st.lists(st.text('ab', min_size=1, max_size=5), min_size=1, max_size=6),
    st.sets(st.text('abc', min_size=1, max_size=5), min_size=1, max_size=9),
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(4, 5), Fraction(1)]),
    st.integers(1, 20),
)
def test_closest_names_whatever_a_block_holds(queries, names, least, cells):
    """Fewer cells than names, too: then a block is one query."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('mediaeval_ap.ranking.closest_name_2015.BLOCK_CELLS', cells)
        chosen, ratios = closest(queries, sorted(names), float(least))
    for query, name, ratio in zip(queries, chosen, ratios.tolist(), strict=True):
        share, best = min((-oracle.ratio(query, each), each) for each in names)
        assert (name, ratio) == ((best, float(-share)) if -share > least else (None, 0.0))


def test_closest_names_with_fewer_cells_in_a_block_than_names(monkeypatch):
    monkeypatch.setattr('mediaeval_ap.ranking.closest_name_2015.BLOCK_CELLS', 1)
    names, ratios = closest(['ann_lee', 'bob', 'rob'], ['anne_lee', 'rob', 'bobb'], 0.5)
    assert names == ['anne_lee', 'bobb', 'rob']
    assert ratios.tolist() == [14 / 15, 6 / 7, 1.0]
