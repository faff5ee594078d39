"""Scores are kept up with no more work and memory than the changes need."""

import dataclasses
import random
import tracemalloc
from unittest import mock

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from live_sessions import ROW, quiet

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.live import incremental
from mediaeval_ap.live.incremental import IncrementalScorer
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
def test_memory_of_watching_many_hits_of_one_name():
    """Every pair of a hit and a hypothesis at its distance would be hundreds of megabytes."""
    n = 4000
    rows = [('x', 'v', str(shot), f'ann{shot % 2}', 0.5) for shot in reversed(range(n))]
    average_precision = AveragePrecision(
        [('x', 'v', str(shot), 'ann') for shot in range(0, n, 2)], [10]
    )
    expected = average_precision.evaluate(rows).ap.tolist()
    tracemalloc.start()
    *_, point = average_precision.watch(rows, every=n)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert point.ap.tolist() == expected
    assert peak < 100e6


@quiet
def test_memory_of_one_changed_name_among_many():
    """Of less than half of the queries: distances to all names would be 640 KB."""
    rows = [('x', 'v', str(shot), f'n{shot}', 0.5) for shot in range(20_000)]
    queries = [f'n{shot}' for shot in range(10)]
    live = AveragePrecision([row[:4] for row in rows[:4]], [10]).live(rows)
    scorer = scorer_of(live, queries, 10, 'mediaeval-2016')
    tracemalloc.start()
    assert scorer._distances_of(np.array([7]), np.arange(4)).shape == (1, 4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000


def scorer_of(live, queries, depth, definition):
    criteria = live._relevance, [depth], definitions.get(definition), live._current()
    return IncrementalScorer(queries, *criteria)


@quiet
def test_hits_are_looked_for_again_no_earlier_than_they_have_to_be():
    """Six of twelve hits are kept at a cutoff of 4; when three are left, a search is due."""
    rows = [('x', 'v', str(shot), 'ann', 1 - shot / 20) for shot in range(12)]
    average_precision = AveragePrecision([row[:4] for row in rows], [4], definition='kaggle')
    live = average_precision.live(rows)
    scorer = scorer_of(live, ['ann'], 4, 'kaggle')
    kept, searches = [len(scorer._hits.query)], []
    hits_among = IncrementalScorer._hits_among
    for n_gone, row in enumerate(rows[:-1], start=1):
        live.discard(row)
        with mock.patch.object(IncrementalScorer, '_hits_among', autospec=True) as counted:
            counted.side_effect = hits_among
            scorer.update(live._current())
        kept.append(len(scorer._hits.query))
        searches.append(counted.call_count - 1)  # the other one is of what came
        assert scorer.ap().tolist() == average_precision.evaluate(rows[n_gone:]).ap.tolist()
    assert kept == [6, 5, 4, 6, 5, 4, 6, 5, 4, 3, 2, 1]
    assert searches == [0, 0, 1] * 3 + [0, 0]


REPEATED = [('x', 'v', '1', 'ann', confidence / 10) for confidence in range(8)]


@quiet
@pytest.mark.parametrize(
    ('relevant', 'definition', 'ap', 'n_kept'),
    [
        # Eight hypotheses of one shot are nearer than the hit, and fill no radius: its rank is 2.
        ('2', 'trec', 0.5, 1),
        # Each of the eight would give this answer.
        ('1', 'trec', 1.0, 1),
        # They count again, so the radius has no room for the hit at rank 9.
        ('2', 'mediaeval-2016', 0.0, 0),
    ],
)
def test_shots_that_are_returned_again(relevant, definition, ap, n_kept):
    rows = [*REPEATED, ('x', 'v', '2', 'anna', 0.5)]
    live = AveragePrecision([('x', 'v', relevant, 'ann')], [2], definition=definition).live(rows)
    scorer = scorer_of(live, ['ann'], 2, definition)
    assert (scorer.ap().tolist(), len(scorer._hits.query)) == ([[ap]], n_kept)
    assert (scorer._radius[0] == 1 / incremental.SLOTS) == (definition != 'trec')


@quiet
@pytest.mark.parametrize(('n_queries', 'cells'), [(9, 4), (300, 600)])
def test_every_query_is_in_some_block(monkeypatch, n_queries, cells):
    """More queries than names; the hit of the last one is beyond its radius at first."""
    monkeypatch.setattr(incremental, 'BLOCK_CELLS', cells)
    queries = [f'ann_{number:03}' for number in range(n_queries)]
    far = [('x', 'w', query, 'ann', 0.5) for query in queries[:-1]]
    far.append(('x', 'w', queries[-1], 'ann', 0.9))
    near = [('x', 'v', f'{n}', queries[-1], 0.5) for n in range(4)]
    reference = [('x', 'w', query, query) for query in queries]
    average_precision = AveragePrecision(reference, [2], definition='kaggle')
    live = average_precision.live([*far, *near])
    scorer = scorer_of(live, queries, 2, 'kaggle')
    assert scorer._radius.max() < incremental.BEYOND_ALL
    assert scorer.ap().tolist() == average_precision.evaluate([*far, *near], queries).ap.tolist()
    for row in near:
        live.discard(row)
    scorer.update(live._current())
    assert scorer.ap().tolist() == average_precision.evaluate(far, queries).ap.tolist()


# Many hypotheses at few distances of each other, for cutoffs that few of them reach.
CROWDED = st.tuples(
    st.just('x'),
    st.sampled_from('vw'),
    st.sampled_from('1234567'),
    st.text('ab', min_size=1, max_size=5),
    st.sampled_from([0.25, 0.5, 0.75]),
)


@quiet
@strategies.examples(2)
@given(
    reference=st.lists(CROWDED.map(lambda row: row[:4]), min_size=8, max_size=30, unique=True),
    begin=st.lists(CROWDED, min_size=15, max_size=40),
    steps=st.lists(
        st.tuples(st.lists(CROWDED, max_size=12), st.lists(st.integers(0, 60), max_size=15)),
        min_size=1,
        max_size=6,
    ),
    depth=st.integers(1, 4),
    definition=st.sampled_from(definitions.names()),
    slots=st.sampled_from([1, 4, incremental.SLOTS]),
)
def test_radii_and_fences_follow_what_comes_and_goes(
    reference, begin, steps, depth, definition, slots
):
    """Where most hits are out of reach, scores are those of the whole run at each moment."""
    average_precision = AveragePrecision(reference, [depth], definition=definition)
    live, rows = average_precision.live(begin), list(begin)
    queries = [*average_precision.queries, 'bab', 'zz']
    # Coarse slots hold several distances, as those between long names do.
    with mock.patch.multiple(incremental, SLOTS=slots, BEYOND_ALL=1 + 1 / slots):
        scorer = scorer_of(live, queries, depth, definition)
        for came, went in steps:
            live.extend(iter(came))
            rows.extend(came)
            for place in went:
                if len(rows) > 1:
                    live.discard(rows.pop(place % len(rows)))
            scorer.update(live._current())
            expected = average_precision.evaluate(rows, queries)
            assert scorer.ap().tolist() == expected.ap.tolist()
