"""Pieces of the ranking that whole evaluations seldom reach."""

import random

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import ranking
from mediaeval_ap.names import Names
from mediaeval_ap.ranking import Ranking
from mediaeval_ap.shots import shot_order
from mediaeval_ap.tables import HYPOTHESIS, read


@given(
    st.lists(st.lists(st.integers(0, 2**40), min_size=5, max_size=5), min_size=1),
    st.integers(1, 5),
)
def test_order_of_keys_too_wide_for_one_integer(rows, n_keys):
    keys = np.array(rows, dtype=np.int64)[:, :n_keys]
    ordered = keys[ranking._order(*keys.T)].tolist()
    assert ordered == sorted(keys.tolist())


@given(st.lists(st.text(min_size=1), min_size=1), st.lists(st.text(min_size=1), min_size=1))
def test_distances_are_exact_quotients(queries, values):
    for query, distances in zip(queries, Names(values).distances(queries), strict=True):
        expected = [float(oracle.normalized_distance(query, value)) for value in values]
        assert distances.tolist() == expected


def test_equal_quotients_of_long_names_are_one_tie_block():
    """1/3 and 2/6, and a quotient that single precision could not tell from it."""
    names = ['ab' + 'x', 'abcd' + 'xy', 'abc' * 3000 + 'x' * 4499]
    (distances,) = Names(names).distances(['abc'])
    assert distances[0] == 1 / 3
    (far,) = Names(['a' * 3000, 'a' * 3001]).distances(['b' + 'a' * 2999])
    assert far[0] != far[1]


@pytest.mark.parametrize('block_cells', [1, 7, 10_000])
def test_blocks_of_queries(block_cells, monkeypatch):
    monkeypatch.setattr('mediaeval_ap.names.BLOCK_CELLS', block_cells)
    monkeypatch.setattr('mediaeval_ap.names.THREADED_CELLS', 3)
    names = Names(['ann', 'bob', 'anna'])
    rows = [row.tolist() for row in names.distances(['ann', 'bob', 'cleo', 'anna', 'x'])]
    assert [row.index(min(row)) for row in rows[:2]] == [0, 1]
    assert len(rows) == 5


def test_every_depth_is_a_prefix():
    """However few or many are wanted, the same order is cut somewhere else."""
    chance = random.Random(3)  # fixed: one run with names that hold many hypotheses and few
    rows = [
        ('x', f'v{chance.randrange(9)}', str(chance.randrange(99)), name, chance.randrange(3) / 2)
        for name in ('aaaa', 'aaab', 'aabb', 'abbb', 'bbbb', 'b', 'ba', 'bab', 'cc', 'ac')
        for _ in range(chance.choice([1, 2, 40]))
    ]
    built = Ranking(read(rows, HYPOTHESIS))
    (distances,) = built.names.distances(['aaba'])
    whole = built.top(distances, len(rows)).tolist()
    shots = built.shot_at[whole].tolist()
    firsts = [whole[i] for i, shot in enumerate(shots) if shot not in shots[:i]]
    for depth in range(1, len(rows) + 3):
        assert built.top(distances, depth).tolist() == whole[:depth]
        assert built.top(distances, depth, distinct=True).tolist() == firsts[:depth]


@given(st.lists(st.from_regex('[0-9]{1,6}|[0-9a-z]{1,3}', fullmatch=True)))
def test_order_of_shots(shots):
    assert sorted(shots, key=shot_order) == sorted(shots, key=oracle.shot_order)


def test_numbers_of_any_length():
    assert sorted(['1' * 5000, '9', '0' * 6000 + '5'], key=shot_order)[-1] == '1' * 5000
