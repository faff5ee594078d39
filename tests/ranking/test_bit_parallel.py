"""Distances to many names side by side equal the recurrence, for any letters and lengths."""

import tracemalloc

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.ranking import bit_parallel
from mediaeval_ap.ranking.bit_parallel import BitParallel, letter_matrix

# few letters, so that many are equal, from one byte to four; NUL is what follows names inside
LETTERS = st.sampled_from(['a', 'b', '_', 'é', '高', '𝒶', '\0'])


def compared(names, bits):
    lengths = np.array(list(map(len, names)))
    return BitParallel(letter_matrix(names, lengths, bits), lengths)


def edits_of(names, bits, query, dtype=np.uint8):
    edits = np.empty(len(names), dtype)
    compared(names, bits).distances(query, edits)
    return edits.tolist()


@pytest.mark.parametrize('bits', [8, 16, 32, 64])
@given(st.data())
def test_equal_to_the_recurrence(bits, data):
    names = data.draw(st.lists(st.text(LETTERS, min_size=1, max_size=bits), min_size=1))
    query = data.draw(st.text(LETTERS, min_size=1, max_size=80))
    assert edits_of(names, bits, query) == [oracle.edit_distance(query, name) for name in names]


@pytest.mark.parametrize('bits', [8, 16, 32, 64])
def test_names_that_use_all_bits(bits):
    names = ['a' * bits, 'b' * bits, 'a' * (bits - 1) + 'b', 'a' * (bits - 1)]
    assert edits_of(names, bits, 'a' * bits) == [0, bits, 1, 1]


def test_queries_beyond_any_name():
    assert edits_of(['ab', 'b'], 8, 'a' * 300, np.uint16) == [299, 300]


@pytest.mark.parametrize('n_names', [1, 2, 3, 7])
def test_blocks_of_names_and_letters_that_are_not_kept(n_names, monkeypatch):
    monkeypatch.setattr(bit_parallel, 'NAMES_IN_BLOCK', n_names)
    monkeypatch.setattr(bit_parallel, 'KEPT_BYTES', 1)
    names = ['abc', 'cba', 'aabb', 'c', 'bcabc', 'xyz']
    side_by_side = compared(names, 8)
    edits = np.empty(len(names), np.uint8)
    for query in ('abcab', 'cb', 'z', 'abcab'):
        side_by_side.distances(query, edits)
        assert edits.tolist() == [oracle.edit_distance(query, name) for name in names]


def test_letters_of_all_queries_are_not_kept(monkeypatch):
    monkeypatch.setattr(bit_parallel, 'KEPT_BYTES', 4_000)
    names = compared(['ab'] * 1_000, 8)
    edits = np.empty(1_000, np.uint8)
    tracemalloc.start()
    for letter in range(100):
        names.distances(chr(letter), edits)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 50_000


@pytest.mark.parametrize(
    ('names', 'dtype'),
    [(['a', 'ÿ'], np.uint8), (['a', 'Ā'], np.uint16), (['高\0'], np.uint16), (['𝒶'], np.uint32)],
)
def test_letters_take_the_smallest_integers_that_hold_them(names, dtype):
    letters = letter_matrix(names, np.array(list(map(len, names))), 8)
    assert letters.dtype == dtype
    assert letters.tolist() == [[ord(letter) for letter in name.ljust(8, '\0')] for name in names]
