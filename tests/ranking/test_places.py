"""What stands at each place, from sorted keys and from sorted rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.ranking.places import Hypotheses, by_name, places
from mediaeval_ap.ranking.shots import ShotColumns, Shots

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
        keys.append((confidence, sorted(group).index((shot, i)), shot, name))
    return [(shot, name) for _, _, shot, name in sorted(keys)]


# 5 bits hold the smallest keys alone, and of some of them all but the temporal rank.
@pytest.mark.parametrize('key_bits', [0, 5, 63])
@given(
    st.lists(st.tuples(codes, codes, st.integers(0, N_SHOTS - 1))),
    st.lists(st.integers(0, 1), min_size=N_SHOTS, max_size=N_SHOTS),
)
def test_places_whether_keys_fit_or_not(key_bits, rows, steps):
    """The largest name, confidence and shot together need 65 bits."""
    videos = np.cumsum(steps)
    name, confidence, shot = np.array(rows, dtype=np.int32).reshape(-1, 3).T
    keys = videos * N_SHOTS + np.arange(N_SHOTS)
    ids = ['x'], [''] * N_SHOTS, [''] * N_SHOTS
    shots = Shots.from_columns(ShotColumns(*ids, np.unique(videos), keys, shot))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('mediaeval_ap.ranking.places.KEY_BITS', key_bits)
        patch.setattr('mediaeval_ap.ranking.places.BLOCK', 2)
        found = places(Hypotheses(name, confidence, shots))
    at = list(zip(found.shot_at.tolist(), found.name_at.tolist(), strict=True))
    assert at == expected_places(rows, videos.tolist())
    assert found.n_repeated == len(rows) - len(set(rows))
    assert (found.shot_at.dtype, found.name_at.dtype) == (np.int32, np.int32)


@given(st.lists(codes))
def test_places_of_each_name(names):
    expected = sorted(range(len(names)), key=lambda place: (names[place], place))
    assert by_name(np.array(names, dtype=np.int32)).tolist() == expected
