"""Queries that stand while a run grows: what is looked at again, and what is not."""

import dataclasses
import random
import warnings
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.errors import ScoreAboveOneWarning
from mediaeval_ap.live.incremental import Standing
from mediaeval_ap.ranking.edit_distances import Names
from mediaeval_ap.ranking.tie_breaking import first_in_order, in_order

ROW = ('x', 'v', '1', 'ann', 0.5)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-0.5, 0.0, 2.0]), st.integers(0, 2))),
    st.integers(1, 9),
)
def test_first_in_order_is_the_beginning_of_the_order(rows, count):
    columns = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    keys = (columns[0].astype(np.int64), columns[1], columns[2].astype(np.int64))
    first = first_in_order(keys, count)
    expected = in_order(*keys)[:count]
    assert len(set(first.tolist())) == len(expected)
    for key in keys:
        assert key[first].tolist() == key[expected].tolist()


def test_columns_that_were_compacted_share_no_segment_with_those_before(monkeypatch):
    monkeypatch.setattr('mediaeval_ap.live.ranking.LEAST_GARBAGE', 0)
    live = AveragePrecision([('x', 'v', '2', 'zzz')], [9]).live(
        [('x', 'v', '9', 'ann', 0.9), ('x', 'v', '2', 'bob', 0.5)]
    )
    criteria = live._criteria
    standing = Standing(['zzz'], live._relevance, criteria.K, criteria.definition, live._current())
    for name, old, new in [('bob', 0.5, 0.6), ('bob', 0.6, 0.7), ('ann', 0.9, 0.1)]:
        shot = {'ann': '9', 'bob': '2'}[name]
        live.update(('x', 'v', shot, name, old), confidence=new)
        ap, _ = live.send('zzz')
        standing.update(live._current())
        assert standing.ap().tolist() == [ap]


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.RepeatedRowsWarning')
def test_a_reference_that_repeats_a_row_has_one_hit_for_it():
    average_precision = AveragePrecision([ROW[:4]] * 2, [10])
    (point,) = average_precision.watch([ROW])
    assert point.ap.tolist() == average_precision.evaluate([ROW]).ap.tolist() == [[1.0]]


def test_shots_that_are_dropped_count_in_no_denominator():
    own = dataclasses.replace(definitions.get('trec'), name='own', denominator=('R', 'N'))
    average_precision = AveragePrecision([ROW[:4], ('x', 'v', '2', 'ann')], [10], definition=own)
    (point,) = average_precision.watch([ROW] * 2)
    assert point.ap.tolist() == [[1.0]]


def test_what_is_no_longer_used_is_left_behind():
    """A name of 300 hypotheses changes 29 times, and its columns do not hold 29 times 300."""
    rows = [('x', 'v', str(shot), 'ann', 0.5) for shot in range(300)]
    live = AveragePrecision([ROW[:4]], [10]).live(rows)
    confidence = 0.5
    for step in range(1, 30):
        live.update(('x', 'v', '1', 'ann', confidence), confidence=0.5 + step / 100)
        confidence = 0.5 + step / 100
        live.send('ann')
        assert len(live._ranking._columns) <= 2 * 300 + 1024 + 300
    assert live.send('ann') == ([1.0], 1)


def test_distances_are_taken_once_for_a_query_and_a_name():
    chance = random.Random(8)  # fixed: one run, not a search
    names = [''.join(chance.choices('abc', k=4)) for _ in range(40)]
    rows = [('x', 'v', str(shot), chance.choice(names), 0.5) for shot in range(400)]
    average_precision = AveragePrecision([ROW[:4], ('x', 'v', '7', 'aabb')], [10])
    distances_of, asked = Names.distances, []

    def counted(self, queries):
        asked.append(len(queries) * len(self))
        return distances_of(self, queries)

    with mock.patch.object(Names, 'distances', counted):
        points = list(average_precision.watch(iter(rows), every=20))
    assert len(points) == 20
    assert sum(asked) == 2 * len({row[3] for row in rows})


def test_hits_that_no_cutoff_reaches_come_near_as_others_go():
    """The only hit is at rank 41 of 41, with a cutoff of 3, until the others are withdrawn."""
    crowd = [('x', 'v', str(shot), 'ann', 0.9) for shot in range(2, 42)]
    live = AveragePrecision([ROW[:4]], [3], definition='kaggle').live([*crowd, ROW])
    points = live.watch((('x', 'v', '1', 'zzz', 0.5) for _ in crowd), every=1)
    for gone, point in zip(crowd, points, strict=True):
        rank = sum(row in live for row in crowd) + 1
        assert point.ap.tolist() == [[1 / rank if rank <= 3 else 0.0]]
        live.discard(gone)


def test_a_watch_warns_where_it_is_read():
    average_precision = AveragePrecision([ROW[:4]], [10])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        list(average_precision.watch([ROW] * 2))
    assert [each.category for each in caught] == [ScoreAboveOneWarning]
    assert caught[0].filename == __file__


def test_a_run_is_watched_from_an_open_file(tmp_path):
    path = tmp_path / 'run.txt'
    path.write_text('x v 2 ann 0.9\nx v 1 ann 0.5\n')
    average_precision = AveragePrecision([ROW[:4]], [10])
    for mode in ('r', 'rb'):
        with open(path, mode) as file:
            points = list(average_precision.watch(file, every=1))
        assert [point.map.tolist() for point in points] == [[0.0], [0.5]]
