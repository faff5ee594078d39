"""The order of hypotheses at one distance."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.ranking.tie_breaking import first_in_order, in_order, keys_by_place


@pytest.fixture(scope='module', params=[0, 1000])
def few(request):
    """Order rows as many ones are ordered, and as few ones are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('mediaeval_ap.ranking.tie_breaking.MIN_PACKED_KEYS', request.param)
        yield


doubles = st.sampled_from([0.0, -0.0, 5e-324, -1.5, 1e300]) | st.floats(-1, 1)
integers = st.integers(0, 3) | st.integers(0, 2**40) | st.sampled_from([2**40, 2**63 - 1])


@pytest.mark.usefixtures('few')
@given(st.lists(st.tuples(integers, doubles, integers, doubles)))
def test_order_of_integers_and_doubles(rows):
    """Rows that are equal in all keys stay as they stand."""
    columns = list(zip(*rows, strict=True)) or [()] * 4
    kinds = [np.int64, np.float64] * 2
    keys = [np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    expected = sorted(range(len(rows)), key=rows.__getitem__)
    assert in_order(*keys).tolist() == expected


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 9) | st.integers(50, 1500),
    st.sampled_from([2, 9, 400, 10**6]),
    st.floats(0, 1.1),
)
@settings(max_examples=50)
def test_first_of_few_rows_and_of_many(seed, n_rows, n_values, share):
    """Rows that are equal in all columns may stand in any order."""
    random = np.random.default_rng(seed)
    columns = (
        random.integers(0, n_values, n_rows),
        -random.integers(0, 4, n_rows) / 4,
        random.integers(0, n_values, n_rows),
    )
    count = max(1, int(n_rows * share))
    first = first_in_order(columns, count)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert len(set(first.tolist())) == len(first)
    assert [rows[i] for i in first] == sorted(rows)[:count]


codes = st.integers(0, 3) | st.sampled_from([2**16, 2**31 - 2, 2**31 - 1])
N_SHOTS = 8


def expected_places(rows, videos):
    """The rows (name, confidence, shot) in order of ties, each with its rank by time."""
    keys = []
    for i, (name, confidence, shot) in enumerate(rows):
        group = [
            (other[2], j)
            for j, other in enumerate(rows)
            if other[:2] == (name, confidence) and videos[other[2]] == videos[shot]
        ]
        keys.append((confidence, sorted(group).index((shot, i)) + 1, shot, name))
    return [key[1:] for key in sorted(keys)]


# 5 bits hold the smallest keys alone, and of some of them all but the temporal rank.
@pytest.mark.parametrize('key_bits', [0, 5, 63])
@given(
    st.lists(st.tuples(codes, codes, st.integers(0, N_SHOTS - 1))),
    st.lists(st.integers(0, 1), min_size=N_SHOTS, max_size=N_SHOTS),
)
# 63 bits without the temporal rank of the second row
@example([(2**30 - 1, 2**30 - 1, 6), (2**30 - 1, 2**30 - 1, 7), (0, 0, 0)], [0] * N_SHOTS)
def test_places_whether_keys_fit_or_not(key_bits, rows, steps):
    """The largest name, confidence and shot together need 65 bits."""
    videos = np.cumsum(steps)
    name, confidence, shot = np.array(rows, dtype=np.int32).reshape(-1, 3).T
    keys = videos * N_SHOTS + np.arange(N_SHOTS)
    ids = {'corpus_id': ['x'], 'video_id': [''] * N_SHOTS, 'shot_id': [''] * N_SHOTS}
    shots = Shots(ids, np.unique(videos), keys, shot)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('mediaeval_ap.ranking.tie_breaking.KEY_BITS', key_bits)
        patch.setattr('mediaeval_ap.ranking.tie_breaking.BLOCK', 2)
        *columns, n_repeated = keys_by_place(name, confidence, shots)
    at = list(zip(*(column.tolist() for column in columns), strict=True))
    assert at == expected_places(rows, videos.tolist())
    assert n_repeated == len(rows) - len(set(rows))
    assert {column.dtype for column in columns} == {np.dtype(np.int32)}
