"""The distance of each query to each name."""

from collections.abc import Sequence

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.ranking import edit_distances
from mediaeval_ap.ranking.edit_distances import (
    MOST_LETTERS,
    BitParallel,
    DistinctNames,
    NamesByLength,
    letter_matrix,
)


@pytest.mark.parametrize('block_cells', [1, 7, 10_000])
def test_blocks_of_queries(block_cells, monkeypatch):
    monkeypatch.setattr('mediaeval_ap.ranking.edit_distances.BLOCK_CELLS', block_cells)
    monkeypatch.setattr('mediaeval_ap.ranking.edit_distances.QUERIES_AT_ONCE', 1)
    monkeypatch.setattr('mediaeval_ap.ranking.edit_distances.THREADED_CELLS', 3)
    values, queries = ['ann', 'bob', 'anna'], ['ann', 'bob', 'cleo', 'anna', 'x']
    assert [row[:].tolist() for row in DistinctNames(values).distances_from(queries)] == [
        [float(oracle.normalized_distance(query, value)) for value in values] for query in queries
    ]


LETTERS = st.sampled_from('abé高𝒶')
AT_LIMITS = st.sampled_from([8, 9, 16, 17, 33, 63, 64, 65, 127, 128, 129, 255, 256, 300])
# to more letters than integers have bits, and than a byte counts; more distinct ones than are kept
TEXTS = (
    st.text(LETTERS, min_size=1, max_size=20)
    | st.builds(str.__mul__, LETTERS, AT_LIMITS)
    | st.just(''.join(map(chr, range(ord('a'), ord('a') + MOST_LETTERS + 1))))
)


@pytest.fixture(autouse=True, scope='module')
def few_names_side_by_side():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edit_distances, 'SIDE_BY_SIDE', 1)
        patch.setattr(edit_distances, 'MANY_SIDE_BY_SIDE', 1)
        yield


def side_by_side(values):
    return NamesByLength.from_unsorted(list(values))[0]


@given(st.sets(TEXTS, min_size=1), st.lists(TEXTS, min_size=1, max_size=4))
def test_distances_side_by_side_are_exact_quotients(values, queries):
    names = side_by_side(values)
    alone = (each[:] for each in DistinctNames(names.values).distances_from(queries))
    for query, found, expected in zip(queries, names.distances_from(queries), alone, strict=True):
        assert found[:].tolist() == expected.tolist()
        some = np.arange(0, len(names), 2)
        assert found[some].tolist() == expected[some].tolist()
        exact = [float(oracle.normalized_distance(query, names.values[name])) for name in some]
        assert found[some].tolist() == exact


@pytest.mark.parametrize('kind', [side_by_side, lambda values: DistinctNames(list(values))])
@given(st.sets(TEXTS, min_size=1), TEXTS, st.integers(1, 40))
def test_nearest_names_are_whole_tie_blocks(kind, values, query, count):
    names = kind(values)
    (found,) = names.distances_from([query])
    nearest = found.nearest(count)
    assert len(nearest) >= min(count, len(names))
    assert len(set(nearest.tolist())) == len(nearest)
    radius = found[nearest].max()
    assert sorted(nearest.tolist()) == np.flatnonzero(found[:] <= radius).tolist()


def test_blocks_of_queries_side_by_side(monkeypatch):
    monkeypatch.setattr(edit_distances, 'EDIT_CELLS', 7)
    names = side_by_side(['ann', 'bob', 'anna'])
    queries = ['ann', 'bob', 'cleo', 'anna', 'x' * 300]
    assert [row[:].tolist() for row in names.distances_from(queries)] == [
        [float(oracle.normalized_distance(query, value)) for value in names.values]
        for query in queries
    ]


def test_few_names_of_a_length_are_left_to_wider_integers(monkeypatch):
    monkeypatch.setattr(edit_distances, 'SIDE_BY_SIDE', 3)
    values = ['a', 'b' * 9, 'c' * 16, 'd' * 17, 'e' * 65]  # 1, 2, 1 and 1 of their widths
    (found,) = side_by_side(values).distances_from(['b' * 9])
    assert found[:].tolist() == [1.0, 0.0, 1.0, 1.0, 1.0]


class ReadTexts(Sequence):
    """Texts that remember which of them were read."""

    def __init__(self, texts):
        self.texts = texts
        self.read = set()

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, key):
        numbers = range(len(self))[key]
        self.read |= {numbers} if isinstance(key, int) else set(numbers)
        return self.texts[key]


@given(st.sets(TEXTS, min_size=1), st.lists(TEXTS, min_size=1, max_size=4), st.integers(1, 5))
def test_names_from_columns_read_no_text_that_is_not_compared(values, queries, side_by_side_from):
    """Only names without letters in a matrix are read; all are by a query of too many letters."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edit_distances, 'SIDE_BY_SIDE', side_by_side_from)
        in_memory = side_by_side(values)
        texts = ReadTexts(in_memory.values)
        names = NamesByLength(texts, in_memory.lengths, in_memory.letters)
        for one, other in zip(
            in_memory.distances_from(queries), names.distances_from(queries), strict=True
        ):
            assert one[:].tolist() == other[:].tolist()
        n_letters = sum(map(len, names.letters))
        is_read = len(values) < side_by_side_from or max(map(len, map(set, queries))) > MOST_LETTERS
        assert texts.read == set(range(0 if is_read else n_letters, len(values)))


# few letters, so that many are equal, from one byte to four; NUL is what follows names inside
ANY_LETTERS = st.sampled_from(['a', 'b', '_', 'é', '高', '𝒶', '\0'])


def compared(names, bits):
    lengths = np.array(list(map(len, names)))
    return BitParallel(letter_matrix(names, lengths, bits), lengths)


def edits_of(names, bits, query, dtype=np.uint8):
    edits = np.empty(len(names), dtype)
    compared(names, bits).distances(query, edits)
    return edits.tolist()


@pytest.mark.parametrize('bits', [8, 16, 32, 64, 128])
@given(st.data())
def test_equal_to_the_recurrence(bits, data):
    texts = st.lists(st.text(ANY_LETTERS, min_size=1, max_size=bits), min_size=1)
    names = data.draw(texts.map(lambda names: sorted(names, key=len)))
    query = data.draw(st.text(ANY_LETTERS, min_size=1, max_size=80))
    assert edits_of(names, bits, query) == [oracle.edit_distance(query, name) for name in names]


AROUND_WORDS = st.sampled_from([1, 60, 63, 64, 65, 66, 100, 127, 128])


def texts_of(lengths):
    return lengths.flatmap(lambda n: st.text(st.sampled_from('ab'), min_size=n, max_size=n))


@given(
    st.lists(texts_of(AROUND_WORDS), min_size=1, max_size=4),
    texts_of(AROUND_WORDS | st.sampled_from([129, 200])),
    st.integers(1, 5),
)
def test_names_of_two_words(names, query, names_in_block):
    names.sort(key=len)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edit_distances, 'NAMES_IN_BLOCK', names_in_block)
        edits = edits_of(names, 128, query)
    assert edits == [oracle.edit_distance(query, name) for name in names]


@pytest.mark.parametrize('bits', [8, 16, 32, 64, 128])
def test_names_that_use_all_bits(bits):
    names = ['a' * (bits - 1), 'a' * bits, 'b' * bits, 'a' * (bits - 1) + 'b']
    assert edits_of(names, bits, 'a' * bits) == [1, 0, bits, 1]


@pytest.mark.parametrize('n_names', [1, 2, 3, 7])
def test_blocks_of_names_and_letters_that_are_not_kept(n_names, monkeypatch):
    monkeypatch.setattr(edit_distances, 'NAMES_IN_BLOCK', n_names)
    monkeypatch.setattr(edit_distances, 'CACHED_BYTES', 1)
    names = ['c', 'abc', 'cba', 'xyz', 'aabb', 'bcabc']
    side_by_side = compared(names, 8)
    edits = np.empty(len(names), np.uint8)
    for query in ('abcab', 'cb', 'z', 'abcab'):
        side_by_side.distances(query, edits)
        assert edits.tolist() == [oracle.edit_distance(query, name) for name in names]
