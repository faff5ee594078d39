"""Pieces of the ranking that whole evaluations seldom reach."""

import random
from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mediaeval_ap.ranking.distances import Names, closest
from mediaeval_ap.ranking.frozen import Ranking
from mediaeval_ap.ranking.order import first_in_order, in_order
from mediaeval_ap.ranking.shots import shot_order
from mediaeval_ap.tables import HYPOTHESIS, read


@given(
    st.lists(st.lists(st.integers(0, 2**40), min_size=5, max_size=5), min_size=1),
    st.integers(1, 5),
)
def test_order_of_keys_too_wide_for_one_integer(rows, n_keys):
    keys = np.array(rows, dtype=np.int64)[:, :n_keys]
    ordered = keys[in_order(*keys.T)].tolist()
    assert ordered == sorted(keys.tolist())


@given(st.lists(st.text(min_size=1), min_size=1), st.lists(st.text(min_size=1), min_size=1))
def test_distances_are_exact_quotients(queries, values):
    for query, distances in zip(queries, Names(values).distances(queries), strict=True):
        expected = [float(oracle.normalized_distance(query, value)) for value in values]
        assert distances.tolist() == expected


def first_names(query, names, depth):
    """The names of the first hypotheses, each name said once and the later ones more surely."""
    rows = [('x', 'v', '1', name, float(i)) for i, name in enumerate(names)]
    built = Ranking(read(rows, HYPOTHESIS))
    (distances,) = built.names.distances([query])
    return [rows[row][3] for row in built.row_at[built.top(distances, depth)]]


def test_equal_quotients_are_one_tie_block():
    """2/6, 3/9 and 2/6 are one distance, in which the confidence decides."""
    names = ['abcdxy', 'abcdefxyz', 'abxyef']
    assert {oracle.normalized_distance('abcdef', name) for name in names} == {Fraction(1, 3)}
    assert first_names('abcdef', names, 3) == names[::-1]


def test_quotients_that_single_precision_would_merge():
    """4799/4800 is nearer than 4800/4801, however sure the farther one is."""
    assert np.float32(4799 / 4800) == np.float32(4800 / 4801)
    names = ['a' + 'b' * 4799, 'a' + 'b' * 4800]
    assert first_names('a' * 4800, names, 2) == names


def test_wide_tie_block():
    """More names at one distance than are wanted: their first places decide who is looked at."""
    chance = random.Random(11)  # fixed: one wide block, held unevenly
    names = [f'{a}{b}{c}' for a in 'xyz' for b in 'uvw' for c in 'rst']
    rows = [
        ('x', f'v{chance.randrange(4)}', str(chance.randrange(50)), name, chance.random())
        for name in names
        for _ in range(chance.choice([1, 3, 30]))
    ]
    built = Ranking(read(rows, HYPOTHESIS))
    (distances,) = built.names.distances(['aaa'])
    assert set(distances) == {1.0}
    whole = [rows.index(row) for row in oracle.ranked(rows, 'aaa')]
    for depth in (1, 2, 5, 20, 26, 27, 28, 100, len(rows)):
        assert built.row_at[built.top(distances, depth)].tolist() == whole[:depth]


@pytest.mark.parametrize('block_cells', [1, 7, 10_000])
def test_blocks_of_queries(block_cells, monkeypatch):
    monkeypatch.setattr('mediaeval_ap.ranking.distances.BLOCK_CELLS', block_cells)
    monkeypatch.setattr('mediaeval_ap.ranking.distances.THREADED_CELLS', 3)
    values, queries = ['ann', 'bob', 'anna'], ['ann', 'bob', 'cleo', 'anna', 'x']
    assert [row.tolist() for row in Names(values).distances(queries)] == [
        [float(oracle.normalized_distance(query, value)) for value in values] for query in queries
    ]


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


def check_first(columns, count):
    """Rows that are equal in all columns may stand in any order."""
    first = first_in_order(columns, count)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert len(set(first.tolist())) == len(first)
    assert [rows[i] for i in first] == sorted(rows)[:count]


def partition(values, kth):
    """What `numpy.partition` promises, and no more: the rest stands as it seldom does there."""
    ordered = np.sort(values)
    kth = range(len(ordered))[kth]
    return np.concatenate([ordered[:kth][::-1], ordered[kth : kth + 1], ordered[:kth:-1]])


@pytest.mark.parametrize('promised', [False, True])
@pytest.mark.parametrize(
    ('seed', 'n_rows', 'n_values', 'count'),
    [(374, 400, 400, 133), (1, 50, 50, 25), (2, 1500, 9, 700), (3, 200, 20, 1)],
)
def test_first_of_many_rows(seed, n_rows, n_values, count, promised, monkeypatch):
    """Of a few rows numpy sorts all; of many, what it likes."""
    if promised:
        monkeypatch.setattr(np, 'partition', partition)
    random = np.random.default_rng(seed)  # any rows would do
    columns = random.integers(0, n_values, n_rows), random.integers(0, 3, n_rows) / 2
    check_first(columns, count)
    check_first(columns[:1], count)
    check_first(columns[::-1], count)
    check_first((random.permutation(n_rows),), count)


def test_first_of_rows_that_only_the_last_key_decides():
    columns = np.array([[0, 1, 1, 2], [0, 2, 2, 0], [0, 8, 7, 0]])
    assert first_in_order(tuple(columns), 2).tolist() == [0, 2]


@given(
    st.integers(0, 2**32 - 1),
    st.integers(50, 1500),
    st.sampled_from([2, 9, 400, 10**6]),
    st.floats(0, 1.1),
)
@settings(max_examples=50)
def test_first_of_many_rows_of_any_kind(seed, n_rows, n_values, share):
    random = np.random.default_rng(seed)
    columns = (
        random.integers(0, n_values, n_rows),
        -random.integers(0, 4, n_rows) / 4,
        random.integers(0, n_values, n_rows),
    )
    check_first(columns, max(1, int(n_rows * share)))


@given(
    st.lists(st.text('ab', min_size=1, max_size=5), min_size=1, max_size=6),
    st.sets(st.text('abc', min_size=1, max_size=5), min_size=1, max_size=9),
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(4, 5), Fraction(1)]),
    st.integers(1, 20),
)
def test_closest_names_whatever_a_block_holds(queries, names, least, cells):
    """Fewer cells than names, too: then a block is one query."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('mediaeval_ap.ranking.distances.BLOCK_CELLS', cells)
        chosen, ratios = closest(queries, sorted(names), float(least))
    for query, name, ratio in zip(queries, chosen, ratios.tolist(), strict=True):
        share, best = min((-oracle.ratio(query, each), each) for each in names)
        assert (name, ratio) == ((best, float(-share)) if -share > least else (None, 0.0))


def test_closest_names_with_fewer_cells_in_a_block_than_names(monkeypatch):
    monkeypatch.setattr('mediaeval_ap.ranking.distances.BLOCK_CELLS', 1)
    names, ratios = closest(['ann_lee', 'bob', 'rob'], ['anne_lee', 'rob', 'bobb'], 0.5)
    assert names == ['anne_lee', 'bobb', 'rob']
    assert ratios.tolist() == [14 / 15, 6 / 7, 1.0]


def test_numbers_of_any_length():
    assert sorted(['1' * 5000, '9', '0' * 6000 + '5'], key=shot_order)[-1] == '1' * 5000
