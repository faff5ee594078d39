"""Scores are kept up with no more work and memory than the changes need."""

import dataclasses
import random
import tracemalloc
from unittest import mock

import pytest
from live_sessions import ROW, quiet

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.ranking.edit_distances import Names


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


@quiet
@pytest.mark.parametrize('every', [500, 4000])
def test_memory_of_watching_many_hits_of_one_name(every):
    """Every pair of a hit and a hypothesis at its distance would be hundreds of megabytes."""
    n = 4000
    rows = [('x', 'v', str(shot), f'ann{shot % 2}', 0.5) for shot in reversed(range(n))]
    average_precision = AveragePrecision(
        [('x', 'v', str(shot), 'ann') for shot in range(0, n, 2)], [10]
    )
    expected = average_precision.evaluate(rows).ap.tolist()
    tracemalloc.start()
    *_, point = average_precision.watch(rows, every=every)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert point.ap.tolist() == expected
    assert peak < 100e6
