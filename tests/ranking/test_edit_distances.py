"""The distance of each query to each name."""

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.ranking.edit_distances import Names


@given(st.lists(st.text(min_size=1), min_size=1), st.lists(st.text(min_size=1), min_size=1))
def test_distances_are_exact_quotients(queries, values):
    for query, distances in zip(queries, Names(values).distances(queries), strict=True):
        expected = [float(oracle.normalized_distance(query, value)) for value in values]
        assert distances.tolist() == expected


@pytest.mark.parametrize('block_cells', [1, 7, 10_000])
def test_blocks_of_queries(block_cells, monkeypatch):
    monkeypatch.setattr('mediaeval_ap.ranking.edit_distances.BLOCK_CELLS', block_cells)
    monkeypatch.setattr('mediaeval_ap.ranking.edit_distances.QUERIES_AT_ONCE', 1)
    monkeypatch.setattr('mediaeval_ap.ranking.edit_distances.THREADED_CELLS', 3)
    values, queries = ['ann', 'bob', 'anna'], ['ann', 'bob', 'cleo', 'anna', 'x']
    assert [row.tolist() for row in Names(values).distances(queries)] == [
        [float(oracle.normalized_distance(query, value)) for value in values] for query in queries
    ]
