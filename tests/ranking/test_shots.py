"""The order of shots."""

import numpy as np
import oracle
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.ranking.shots import Shots, in_shot_order, shot_order
from mediaeval_ap.tables import REFERENCE, read
from mediaeval_ap.tables.table import column_of

NUMBERS = st.from_regex('[0-9]{1,3}|[1-9][0-9]{16,19}', fullmatch=True)
TEXTS = st.text(min_size=1)


@given(st.lists(NUMBERS) | st.lists(TEXTS) | st.lists(NUMBERS | TEXTS))
def test_order_of_shots(shots):
    expected = sorted(shots, key=oracle.shot_order)
    assert sorted(shots, key=shot_order) == expected
    ordered = in_shot_order(column_of(shots, np.arange(len(shots), dtype=np.int32)))
    assert ordered.values == [*dict.fromkeys(expected)]
    assert [ordered.text(row) for row in range(len(shots))] == shots


def test_numbers_of_any_length():
    """`int` refuses text of more than 4,300 digits."""
    assert sorted(['1' * 5000, '9', '0' * 6000 + '5'], key=shot_order)[-1] == '1' * 5000


def test_numbers_of_shots_here_and_elsewhere():
    rows = [('x', 'w', '1', 'ann'), ('x', 'v', '10', 'ann'), ('x', 'v', '9', 'bob')]
    shots = Shots.of(read([*rows, rows[1]], REFERENCE))
    assert shots.codes.tolist() == [2, 1, 0, 1]
    assert shots.videos_of(np.arange(3)).tolist() == [0, 0, 1]
    assert shots.n_videos == 2
    assert shots.ids_of(np.array([2, 0])) == {
        'corpus_id': ['x', 'x'],
        'video_id': ['w', 'v'],
        'shot_id': ['1', '9'],
    }
    others = [('x', 'v', '9', 'zoe'), ('y', 'v', '9', 'zoe'), ('x', 'w', '9', 'zoe'), rows[0]]
    assert shots.find(read(others, REFERENCE)).tolist() == [0, -1, -1, 2]
    assert shots.n_videos_in(read(others, REFERENCE)) == 2
    assert shots.n_videos_in(read(others[1:3], REFERENCE)) == 1
    assert shots.n_videos_in(read([('v', 'x', '9', 'zoe')], REFERENCE)) == 0
