"""Keys come out as if all were sorted at once, however few of them are in memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.store import external_sort
from mediaeval_ap.store.external_sort import DistinctKeys, ExternalSort, Numbering, Packing


@pytest.fixture(scope='module', params=[(5, 4), (3, 1), (100, 100)])
def sizes(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(external_sort, 'RUN_KEYS', request.param[0])
        patch.setattr(external_sort, 'MERGED_KEYS', request.param[1])
        yield request.param


words = st.sampled_from([0, 1, 2, 2**32, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1)
pieces = st.integers(1, 2).flatmap(
    lambda n_words: st.lists(
        st.lists(st.lists(words, min_size=n_words, max_size=n_words), max_size=20), min_size=1
    ).map(lambda rows: [np.array(each, np.uint64).reshape(-1, n_words) for each in rows])
)


@given(pieces)
def test_blocks_are_all_keys_in_order(sizes, tmp_path_factory, pieces):
    folder = tmp_path_factory.mktemp('sort')
    sort = ExternalSort(folder / 'a', pieces[0].shape[1])
    for piece in pieces:
        sort.add(piece.copy())
    expected = sorted(tuple(key) for piece in pieces for key in piece.tolist())
    for _ in range(2):
        blocks = list(sort.blocks())
        n_runs = len(list(folder.iterdir()))  # at least one key of each is in memory
        assert all(len(block) <= max(*sizes, n_runs) for block in blocks)
        assert [tuple(key) for block in blocks for key in block.tolist()] == expected
    sort.close()
    assert not list(folder.iterdir())


@pytest.mark.parametrize('n_words', [1, 2])
def test_keys_of_which_words_tie(tmp_path, monkeypatch, n_words):
    """First words tie within a run and across runs, and second words stand in another order."""
    monkeypatch.setattr(external_sort, 'RUN_KEYS', 3)
    monkeypatch.setattr(external_sort, 'MERGED_KEYS', 3)
    rows = [(1, 9), (0, 7), (1, 2), (0, 8), (1, 5), (0, 1), (2, 0), (1, 1)]
    keys = np.array(rows, np.uint64)[:, :n_words]
    sort = ExternalSort(tmp_path / 'a', n_words)
    sort.add(keys)
    expected = sorted(tuple(row[:n_words]) for row in rows)
    assert [tuple(key) for block in sort.blocks() for key in block.tolist()] == expected
    assert [tuple(key) for key in external_sort.sorted_keys(keys.copy()).tolist()] == expected


@given(st.lists(st.lists(words, max_size=20)))
def test_distinct_keys_are_numbered(sizes, tmp_path_factory, pieces):
    found = DistinctKeys(tmp_path_factory.mktemp('distinct'), 'a')
    for piece in pieces:
        found.add(np.array(piece, np.uint64))
    expected = sorted({key for piece in pieces for key in piece})
    numbering = Numbering(found.values())
    assert numbering.distinct.tolist() == expected
    for piece in pieces:
        numbers = numbering(np.array(piece, np.uint64))
        assert numbers.tolist() == [expected.index(key) for key in piece]


@given(st.lists(st.integers(0, 31), min_size=1, max_size=4), st.data())
def test_packed_columns_sort_as_rows(bits, data):
    rows = data.draw(
        st.lists(st.tuples(*(st.integers(0, (1 << each) - 1) for each in bits)), min_size=1)
    )
    packing = Packing(tuple(bits))
    keys = packing.pack([np.array(column, np.int64) for column in zip(*rows, strict=True)])
    assert keys.shape[1] == (1 if sum(bits) <= 64 else 2)
    assert list(zip(*(column.tolist() for column in packing.unpack(keys)), strict=True)) == rows
    ordered = packing.unpack(external_sort.sorted_keys(keys))
    assert list(zip(*(column.tolist() for column in ordered), strict=True)) == sorted(rows)
