"""Tables: rows of one that are in another."""

from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.tables import (
    SUBSET,
    read,
)

texts = st.sampled_from(['a', 'b', 'c'])
pairs = st.lists(st.tuples(texts, texts), min_size=1, max_size=8)


@given(pairs, pairs)
def test_rows_within_another_table(rows, others):
    table, other = read(rows, SUBSET), read(others, SUBSET)
    assert table.within(other).tolist() == [row in others for row in rows]
    videos = {video for _, video in others}
    assert table.within(other, ['video_id']).tolist() == [row[1] in videos for row in rows]
