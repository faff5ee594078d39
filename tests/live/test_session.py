"""A live session answers as a session about a run of the same hypotheses, at every moment."""

import dataclasses
import itertools
import json
import os
import random
import sys
import threading
import tracemalloc
import warnings
from collections import deque
from unittest import mock

import numpy as np
import oracle
import pyarrow.parquet
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sortedcontainers import SortedList

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.errors import (
    EmptyRunWarning,
    FormatError,
    HalfStepError,
    MissingHypothesisError,
    ParameterError,
    QueryError,
    ReadError,
    RepeatedQueriesWarning,
    RepeatedRowsWarning,
    ScoreAboveOneWarning,
    WriteError,
)
from mediaeval_ap.live.incremental import Standing
from mediaeval_ap.live.known_shots import KnownShots
from mediaeval_ap.live.numbering import Columns, Distinct
from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, read

quiet = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

ROW = ('x', 'v', '1', 'ann', 0.5)
WRONG_ROWS = [
    (),
    ('x', 'v', '1', 'ann'),
    (*ROW, 'more'),
    'xvabc',
    dict.fromkeys(ROW),
    7,
    None,
    ('', *ROW[1:]),
    ('x\n', *ROW[1:]),
    (1, *ROW[1:]),
    ([], *ROW[1:]),
    ('x', 'v', None, 'ann', 0.5),
    ('x', 'v', '1', b'ann', 0.5),
    (*ROW[:4], 'high'),
    (*ROW[:4], '0.5'),
    (*ROW[:4], None),
    (*ROW[:4], True),
    (*ROW[:4], float('nan')),
    (*ROW[:4], float('inf')),
    (*ROW[:4], 10**400),
    (*ROW[:4], 2**53 + 1),
]


def texts_of(live, rows):
    """Hypotheses of a live ranking, written out as they were added."""
    hypotheses = live._hypotheses
    order = hypotheses.shots.order()
    for confidence, _, shot, name in zip(*(column.tolist() for column in rows), strict=True):
        video, corpus = hypotheses.shots.videos.values[order.video[shot]]
        shot_id = hypotheses.shots.ids.values[order.shot[shot]]
        yield corpus, video, shot_id, hypotheses.names.values[name], -confidence


def order_of(live, query):
    """All hypotheses in their order for a query, with their temporal ranks."""
    ranking = live._current()
    (distances,) = ranking.names.distances([query])
    rows = ranking._rows.at(ranking.top(distances, len(ranking) + 1))
    return list(zip(texts_of(live, rows), rows.temporal_rank.tolist(), strict=True))


def order_of_frozen(ranking, query):
    (distances,) = ranking.names.distances([query])
    rows = ranking.row_at[ranking.top(distances, len(ranking) + 1)]
    fields = [ranking.table.texts(field, rows) for field in HYPOTHESIS.texts]
    hypotheses = zip(*fields, ranking.table.confidence[rows].tolist(), strict=True)
    return list(zip(hypotheses, ranking.temporal_rank[rows].tolist(), strict=True))


class Changes(RuleBasedStateMachine):
    """Random changes, after each of which everything is compared with what is built anew."""

    @initialize(
        reference=strategies.reference_rows,
        K=strategies.cutoffs,
        definition=st.sampled_from(definitions.names()),
        subset=strategies.subsets,
        begin=st.lists(st.tuples(*strategies.fields), max_size=8),
    )
    def begin(self, reference, K, definition, subset, begin):
        K = strategies.allowed(K, definition)
        try:
            self.average_precision = AveragePrecision(
                reference, K, definition=definition, subset=subset
            )
        except ParameterError:  # the subset leaves nothing
            subset = None
            self.average_precision = AveragePrecision(reference, K, definition=definition)
        self.reference, self.K, self.definition, self.subset = reference, K, definition, subset
        self.rows = list(begin)
        self.live = self.average_precision.live(begin)
        self.queries = [*self.average_precision.queries, 'ab', 'zz']
        self.standing = Standing(
            self.queries,
            self.live._relevance,
            K,
            self.average_precision.definition,
            self.live._current(),
        )
        self.snapshots = []
        # Small enough that columns are compacted, and hits are looked at in several blocks.
        self.patches = [
            mock.patch('mediaeval_ap.live.ranking.LEAST_GARBAGE', 0),
            mock.patch('mediaeval_ap.live.incremental.BLOCK_CELLS', 3),
        ]
        for patch in self.patches:
            patch.start()

    @rule(row=st.tuples(*strategies.fields))
    def add(self, row):
        self.live.add(*row)
        self.rows.append(row)

    @rule(rows=st.lists(st.tuples(*strategies.fields), max_size=5))
    def extend(self, rows):
        self.live.extend(iter(rows))
        self.rows.extend(rows)

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def repeat(self, data):
        self.add(data.draw(st.sampled_from(self.rows)))

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def beside(self, data):
        """A shot more of a name and video that are there, as sure: temporal ranks shift."""
        row = data.draw(st.sampled_from(self.rows))
        self.add((*row[:2], data.draw(strategies.shots), *row[3:]))

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def withdraw(self, data):
        row = data.draw(st.sampled_from(self.rows))
        self.live.discard(list(row))
        self.rows.remove(row)

    @precondition(lambda self: self.rows)
    @rule(data=st.data(), confidence=strategies.confidences)
    def change(self, data, confidence):
        row = data.draw(st.sampled_from(self.rows))
        self.live.update(row, confidence=confidence)
        self.rows.remove(row)
        self.rows.append((*row[:4], confidence))

    @rule(row=st.tuples(*strategies.fields))
    def withdraw_what_is_not_there(self, row):
        if row not in self.rows:
            for work in (self.live.discard, lambda row: self.live.update(row, confidence=0.25)):
                with pytest.raises(KeyError):
                    work(row)

    @rule(wrong=st.sampled_from(WRONG_ROWS), rows=st.lists(st.tuples(*strategies.fields)))
    def wrong(self, wrong, rows):
        with pytest.raises(FormatError):
            self.live.extend([*rows, wrong])
        with pytest.raises(FormatError):
            self.live.discard(wrong)
        with pytest.raises(FormatError):
            self.live.update(wrong, confidence=0.5)

    @rule()
    def snapshot(self):
        snapshot = self.live.snapshot()
        self.snapshots.append((snapshot, order_of_frozen(snapshot, 'ab')))

    @invariant()
    def is_what_is_built_anew(self):
        live = self.live
        live._check()
        assert len(live) == len(self.rows)
        counted = [row for row in self.rows if self.subset is None or row[:2] in self.subset]
        self.standing.update(live._current())
        standing = self.standing.ap()
        if not counted:
            for query, ap in zip(self.queries, standing.tolist(), strict=True):
                expected, n = oracle.evaluate(
                    self.reference, [], query, self.K, self.definition, self.subset
                )
                assert live.send(query) == ([float(value) for value in expected], n)
                assert ap == [float(value) for value in expected]
            assert order_of(live, 'ab') == []
            return
        expected = self.average_precision.evaluate(self.rows, self.queries)
        session = self.average_precision(self.rows)
        for query, ap in zip(self.queries, standing.tolist(), strict=True):
            assert live.send(query) == session.send(query)
            assert ap == session.send(query)[0]
        ranking = self.average_precision._ranking(self.rows)
        assert order_of(live, 'ab') == order_of_frozen(ranking, 'ab')
        evaluation = live.evaluate(self.queries)
        assert evaluation.ap.tolist() == expected.ap.tolist()
        assert evaluation.n_relevant.tolist() == expected.n_relevant.tolist()
        assert evaluation.counts == expected.counts

    def teardown(self):
        for patch in self.patches:
            patch.stop()
        for snapshot, order in self.snapshots:
            assert order_of_frozen(snapshot, 'ab') == order


TestChanges = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')(
    Changes.TestCase
)
# Each step builds everything anew: shorter sequences than the default keep it short.
TestChanges.settings = settings(stateful_step_count=25)


def campaign(chance, n):
    """Hypotheses with ties of every kind, and a reference that some of them meet."""

    def word():
        return ''.join(chance.choices('abcd', k=chance.randrange(1, 6)))

    hypotheses = [
        ('x', f'v{chance.randrange(9)}', str(chance.randrange(60)), word(), chance.randrange(9) / 8)
        for _ in range(n)
    ]
    reference = [(*row[:3], word()) for row in chance.sample(hypotheses, n // 4)]
    return reference, hypotheses


@quiet
@pytest.mark.parametrize('definition', definitions.names())
def test_more_hypotheses_than_any_cutoff(definition):
    chance = random.Random(3)  # fixed: one example of its size, not a search
    reference, hypotheses = campaign(chance, 3000)
    average_precision = AveragePrecision(reference, [1, 3, 10, 100], definition=definition)
    live = average_precision.live(hypotheses[:2000])
    live.send('a')
    live.extend(hypotheses[2000:])
    session = average_precision(hypotheses)
    for query in [*average_precision.queries[::5], 'zzzz']:  # as far from every name
        assert live.send(query) == session.send(query)
    assert order_of(live, 'zzzz') == order_of_frozen(live.snapshot(), 'zzzz')


@quiet
@pytest.mark.parametrize('definition', definitions.names())
@pytest.mark.parametrize('every', [1, 7, 10_000])
def test_watch_gives_what_runs_of_each_length_give(definition, every):
    reference, hypotheses = campaign(random.Random(4), 60)  # fixed, as above
    average_precision = AveragePrecision(reference, [1, 5, 20], definition=definition)
    queries = [*average_precision.queries, average_precision.queries[0], 'a', 'zz']
    points = list(average_precision.watch(iter(hypotheses), queries, every=every))
    lengths = [*range(every, 60, every), 60]
    assert [point.n_hypotheses for point in points] == lengths
    nothing = [
        list(map(float, oracle.evaluate(reference, [], query, [1, 5, 20], definition)[0]))
        for query in queries
    ]
    before = nothing
    for point in points:
        evaluation = average_precision.evaluate(hypotheses[: point.n_hypotheses], queries)
        assert point.ap.tolist() == evaluation.ap.tolist()
        assert point.map.tolist() == evaluation.map.tolist()
        assert point.queries == queries
        moved = [a != b for a, b in zip(before, evaluation.ap.tolist(), strict=True)]
        changed = [query for query, move in zip(queries, moved, strict=True) if move]
        assert point.changed == list(dict.fromkeys(changed))
        before = evaluation.ap.tolist()


def test_watch_goes_on_from_what_is_there():
    average_precision = AveragePrecision([ROW[:4]], [10])
    live = average_precision.live([ROW])
    (point,) = live.watch([('x', 'v', '2', 'ann', 0.9)])
    assert (point.n_hypotheses, point.map.tolist(), point.changed) == (2, [0.5], ['ann'])
    assert len(live) == 2
    assert list(live.watch([])) == []


def test_watch_sees_what_others_change():
    live = AveragePrecision([ROW[:4]], [10]).live()
    points = live.watch(iter([('x', 'v', '2', 'ann', 0.9), ROW]), every=1)
    assert next(points).map.tolist() == [0.0]
    live.discard(('x', 'v', '2', 'ann', 0.9))
    live.send('ann')
    point = next(points)
    assert (point.n_hypotheses, point.map.tolist(), point.changed) == (1, [1.0], ['ann'])


@quiet
@pytest.mark.parametrize('definition', definitions.names())
def test_watch_after_withdrawals_that_bring_hits_nearer(definition):
    chance = random.Random(5)  # fixed, as above
    reference, hypotheses = campaign(chance, 120)
    average_precision = AveragePrecision(reference, [1, 5, 20], definition=definition)
    live = average_precision.live(hypotheses)
    points = live.watch(iter(hypotheses[:6]), every=1)
    rows = list(hypotheses)
    for row in hypotheses[:6]:
        for gone in chance.sample(rows, 15):
            live.discard(gone)
            rows.remove(gone)
        point = next(points)
        rows.append(row)
        assert point.ap.tolist() == average_precision.evaluate(rows).ap.tolist()


def test_watch_warns_of_a_score_above_one_once():
    average_precision = AveragePrecision([ROW[:4]], [10])
    rows = [(*ROW[:4], confidence) for confidence in (0.5, 0.6, 0.7)]
    with pytest.warns(ScoreAboveOneWarning, match='<live>: average precision above 1') as caught:
        points = list(average_precision.watch(rows, every=1))
    assert [point.map.tolist() for point in points] == [[1.0], [2.0], [3.0]]
    assert len(caught) == 1


def test_watch_names_the_wrong_row_and_its_number():
    average_precision = AveragePrecision([ROW[:4]])
    points = average_precision.watch(iter([ROW, ROW, ROW, (*ROW[:4], 'high')]), every=3)
    with pytest.warns(ScoreAboveOneWarning):
        assert next(points).n_hypotheses == 3
    with pytest.raises(FormatError, match="<rows>, row 4, confidence: found 'high'"):
        next(points)


@pytest.mark.parametrize('every', [0, -1, 1.5, '3', None])
def test_watch_refuses_what_is_no_count(every):
    with pytest.raises(ParameterError, match='every: found'):
        AveragePrecision([ROW[:4]]).watch([ROW], every=every)


@pytest.mark.parametrize('wrong', WRONG_ROWS, ids=str)
def test_wrong_rows_change_nothing(wrong):
    live = AveragePrecision([ROW[:4]], [10]).live([ROW])
    calls = [lambda: live.extend([ROW, wrong]), lambda: live.discard(wrong)]
    calls.append(lambda: live.update(wrong, confidence=0.1))
    if isinstance(wrong, tuple) and len(wrong) == 5:
        calls.append(lambda: live.add(*wrong))
    for call in calls:
        with pytest.raises(FormatError):
            call()
    assert wrong not in live
    assert len(live) == 1
    live._check()
    assert live.send('ann') == ([1.0], 1)


def test_messages_say_what_was_found():
    live = AveragePrecision([ROW[:4]], [10]).live()
    with pytest.raises(FormatError) as caught:
        live.add('x', 'v', 7, 'ann', 0.5)
    assert str(caught.value) == (
        '<live>, shot_id: found 7 (int), expected trimmed text on one line, not empty'
    )
    with pytest.raises(MissingHypothesisError) as missing:
        live.discard(ROW)
    assert str(missing.value) == "<live>: no hypothesis ('x', 'v', '1', 'ann', 0.5)"
    with pytest.raises(FormatError, match='<live>, confidence: found nan'):
        live.update(ROW, confidence=float('nan'))
    with pytest.raises(QueryError):
        live.send(None)


def test_rows_are_any_sequence():
    live = AveragePrecision([ROW[:4]], [10]).live([ROW])
    live.update(deque(ROW), confidence=0.4)
    live.discard(deque((*ROW[:4], 0.4)))
    assert len(live) == 0


def test_update_that_is_wrong_changes_nothing():
    live = AveragePrecision([ROW[:4]], [10]).live([ROW])
    with pytest.raises(FormatError):
        live.update(ROW, confidence='high')
    assert ROW in live
    assert len(live) == 1


def test_numbers_of_every_kind_are_confidences():
    live = AveragePrecision([ROW[:4]], [10]).live()
    for one in (1, 1.0, np.float32(1), np.int8(1)):
        live.add(*ROW[:4], one)
        assert (*ROW[:4], one) in live
    live.discard((*ROW[:4], 1))
    assert len(live) == 3
    assert live.snapshot().table.confidence.tolist() == [1.0] * 3


def test_text_of_subclasses_is_kept_as_text():
    live = AveragePrecision([ROW[:4]], [10]).live()
    live.add(*map(np.str_, ROW[:4]), 0.5)
    assert ROW in live
    live.add(*map(np.str_, ('y', 'w', '7', 'bob')), 0.5)
    shots = live._hypotheses.shots
    texts = [*live._hypotheses.names.values, *shots.ids.values, *sum(shots.videos.values, ())]
    assert {type(text) for text in texts} == {str}


def test_extend_takes_what_every_reader_takes(tmp_path):
    path = tmp_path / 'run.txt'
    path.write_text('x v 1 ann 0.5\n')
    average_precision = AveragePrecision([ROW[:4]], [10])
    live = average_precision.live(path)
    live.extend(read([('x', 'v', '2', 'bob', 0.5)], HYPOTHESIS))
    live.extend(average_precision.live([('x', 'v', '3', 'cleo', 0.5)]).snapshot())
    with open(path) as file:
        live.extend(file)
    for nothing in ([], (), iter([])):
        live.extend(nothing)
    assert len(live) == 4
    path.write_text('')
    with pytest.raises(FormatError, match='no rows'):
        live.extend(path)
    with pytest.raises(ParameterError):
        live.extend(7)


def test_rows_outside_of_the_subset_are_kept_and_do_not_count():
    outside = ('x', 'w', '1', 'ann', 0.9)
    average_precision = AveragePrecision([ROW[:4]], [10], subset=[('x', 'v')])
    live = average_precision.live([outside])
    with pytest.warns(EmptyRunWarning, match='<live>: none of its 1 hypotheses') as caught:
        assert live.evaluate().map.tolist() == [0.0]
    assert caught[0].filename == __file__
    live.add(*ROW)
    assert live.send('ann') == ([1.0], 1)
    assert (len(live), len(live.snapshot())) == (2, 1)
    live.discard(outside)
    with pytest.raises(KeyError):
        live.discard(outside)
    live._check()


def test_warnings_are_those_of_the_batch_and_point_at_the_caller():
    live = AveragePrecision([ROW[:4]], [10]).live([ROW, ROW])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        live.evaluate(['ann', 'ann'])
    assert {each.category for each in caught} == {
        RepeatedRowsWarning,
        RepeatedQueriesWarning,
        ScoreAboveOneWarning,
    }
    assert {each.filename for each in caught} == {__file__}
    with pytest.warns(ScoreAboveOneWarning) as caught:
        live.send('ann')
    assert caught[0].filename == __file__
    with pytest.warns(RepeatedQueriesWarning) as caught:
        live.watch([], ['ann', 'ann'])
    assert caught[0].filename == __file__


def test_snapshot_is_scored_like_a_run():
    average_precision = AveragePrecision([ROW[:4]], [10])
    live = average_precision.live([ROW])
    snapshot = live.snapshot()
    assert live.snapshot() is snapshot
    live.discard(ROW)
    assert average_precision(snapshot).send('ann') == ([1.0], 1)
    assert average_precision.evaluate(snapshot).map.tolist() == [1.0]
    assert len(average_precision.rank(snapshot, 'ann')) == 1
    assert len(live.snapshot()) == 0
    other = AveragePrecision([('x', 'w', '1', 'ann')], [10], subset=[('x', 'w')])
    with pytest.warns(EmptyRunWarning):
        assert other.evaluate(snapshot).map.tolist() == [0.0]
    both = average_precision.live([ROW, ('x', 'w', '1', 'ann', 0.4)]).snapshot()
    evaluation = other.evaluate(both)
    assert (evaluation.map.tolist(), evaluation.counts['hypotheses']) == ([1.0], 1)


def test_readers_see_a_whole_step_or_none_of_it():
    """Crowds of 99 come before the only hit: its rank is 1, 100, 199, and never between."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # threads take turns in the midst of things
    live = AveragePrecision([ROW[:4]], [10**6], definition='kaggle').live([ROW])
    done, seen, wrong = threading.Event(), set(), []

    def read_on():
        while not done.is_set():
            (ap,), _ = live.send('ann')
            evaluation = live.evaluate(['ann'])
            snapshot = live.snapshot()
            rank, n = round(1 / ap), evaluation.counts['hypotheses']
            seen.add(rank)
            if {rank % 99, n % 99, len(snapshot) % 99} != {1} or evaluation.map[0] != 1 / n:
                wrong.append((rank, n, len(snapshot), evaluation.map))

    readers = [threading.Thread(target=read_on) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for step in range(60):
            live.extend([('x', f'w{step}', str(shot), 'ann', 0.9) for shot in range(99)])
            live.update(ROW, confidence=0.4)  # and it is never away, nor there twice
            live.update((*ROW[:4], 0.4), confidence=0.5)
    finally:
        done.set()
        for reader in readers:
            reader.join()
        sys.setswitchinterval(interval)
    assert wrong == []
    assert len(seen) > 1


LOCKED = {
    'add': lambda live: live.add(*ROW),
    'extend': lambda live: live.extend([ROW]),
    'discard': lambda live: live.discard(ROW),
    'update': lambda live: live.update(ROW, confidence=0.4),
    'send': lambda live: live.send('ann'),
    'evaluate': lambda live: live.evaluate(),
    'snapshot': lambda live: live.snapshot(),
    'save': lambda live: live.save(os.devnull),
    'watch': lambda live: list(live.watch([])),
    'len': len,
    'in': lambda live: ROW in live,
}


@quiet
@pytest.mark.parametrize('method', LOCKED)
def test_every_step_waits_for_the_one_before(method):
    live = AveragePrecision([ROW[:4]], [10]).live([ROW])
    begun = threading.Event()

    def work():
        begun.set()
        LOCKED[method](live)

    thread = threading.Thread(target=work, daemon=True)
    with live._lock:
        thread.start()
        begun.wait()
        thread.join(0.05)  # time enough to come past a lock that is not asked for
        assert thread.is_alive()
    thread.join(60)  # far more than any of them takes
    assert not thread.is_alive()


def test_a_session_of_nothing_is_no_empty_run():
    evaluation = AveragePrecision([ROW[:4]], [10]).live().evaluate()  # warnings are errors
    assert evaluation.map.tolist() == [0.0]


@given(st.lists(st.lists(st.text('ab1', max_size=3), max_size=6), max_size=6))
def test_places_of_distinct_values(batches):
    distinct = Distinct(key=str)
    for batch in batches:
        codes = [distinct.code(value) for value in batch]
        assert [distinct.values[code] for code in codes] == batch
        distinct._check()


@given(st.lists(st.lists(st.integers(0, 99), max_size=90), max_size=5))
def test_what_was_read_of_columns_stays(batches):
    columns, everything, views = Columns(number=np.int32), [], []
    for batch in batches:
        columns.extend(number=np.array(batch, dtype=np.int32))
        everything.extend(batch)
        views.append((columns['number'], list(everything)))
    for view, expected in views:
        assert view.tolist() == expected
    assert len(columns) == len(everything)
    odd = np.arange(1, len(everything), 2)
    assert columns.select(odd)['number'].tolist() == everything[1::2]


@pytest.mark.parametrize('subset', [None, [('x', 'v'), ('x', 'w')]])
@pytest.mark.parametrize('definition', definitions.names())
@quiet
def test_a_restored_session_is_equal(definition, subset, tmp_path):
    chance = random.Random(6)  # fixed: one session, not a search
    reference, hypotheses = campaign(chance, 200)
    hypotheses += [('y', 'v0', '1', 'ab', -0.0), ('x', 'v', 'é', 'nan', 1e-300), ROW, ROW]
    reference.append(ROW[:4])
    K = strategies.allowed([7, 'all', 3], definition)
    average_precision = AveragePrecision(
        [*reference, reference[0]], K, definition=definition, subset=subset
    )
    live = average_precision.live(hypotheses)
    live.save(tmp_path / 'live.parquet')
    restored = AveragePrecision.restore(tmp_path / 'live.parquet')
    assert len(restored) == len(live)
    assert restored.evaluate().to_dict() == live.evaluate().to_dict()
    for query in [*average_precision.queries[:9], 'zz']:
        assert restored.send(query) == live.send(query)
        assert order_of(restored, query) == order_of(live, query)
    for session in (live, restored):  # also what does not count is there
        session.discard(('y', 'v0', '1', 'ab', 0.0))
        session.discard(ROW)
    assert restored.evaluate().ap.tolist() == live.evaluate().ap.tolist()
    restored._check()


def test_an_empty_session_is_saved_and_restored(tmp_path):
    path = tmp_path / 'live.parquet'
    AveragePrecision([ROW[:4]], [10]).live().save(path)
    restored = AveragePrecision.restore(path)
    assert len(restored) == 0
    restored.add(*ROW)
    assert restored.send('ann') == ([1.0], 1)


def test_a_saved_session_is_a_run(tmp_path):
    average_precision = AveragePrecision([ROW[:4]], [10])
    path = tmp_path / 'live.parquet'
    average_precision.live([ROW]).save(path)
    assert average_precision.evaluate(path).map.tolist() == [1.0]


def test_definitions_of_ones_own_are_restored(tmp_path, monkeypatch):
    own = dataclasses.replace(definitions.get('trec'), name='own', denominator=('k',))
    path = tmp_path / 'live.parquet'
    AveragePrecision([ROW[:4]], [10], definition=own).live([ROW]).save(path)
    assert AveragePrecision.restore(path).evaluate().definition == own
    monkeypatch.setattr(definitions, '_REGISTRY', {'own': dataclasses.replace(own, depth=('R',))})
    with pytest.raises(FormatError, match=r'metadata: found .definition own is S'):
        AveragePrecision.restore(path)


def saved_with(path, change):
    """A saved session whose metadata somebody changed."""
    table = pyarrow.parquet.read_table(path)
    metadata = json.loads(table.schema.metadata[b'mediaeval_ap.live'])
    text = json.dumps(change(metadata)) if callable(change) else change
    table = table.replace_schema_metadata({b'mediaeval_ap.live': text})
    pyarrow.parquet.write_table(table, path)


ELSEWHERE = {'columns': {'corpus_id': ['x'], 'video_id': ['w']}, 'name': 's', 'sha256': None}


COLUMNS_OF_TEXT = dict.fromkeys(REFERENCE.fields, 'xv')


def with_reference(**changes):
    return lambda metadata: {**metadata, 'reference': {**metadata['reference'], **changes}}


def with_definition(**changes):
    return lambda metadata: {**metadata, 'definition': {**metadata['definition'], **changes}}


@pytest.mark.parametrize(
    ('change', 'found'),
    [
        ('{', 'Expecting property name'),
        ('[]', 'list indices'),
        (lambda metadata: {**metadata, 'format': 2}, 'format 2, not 1'),
        (lambda metadata: {**metadata, 'reference': {}}, 'columns'),
        (lambda metadata: {**metadata, 'reference': None}, 'NoneType'),
        (lambda metadata: {**metadata, 'definition': {'repeats': 'x'}}, 'x'),
        (lambda metadata: {**metadata, 'subset': {'columns': {'corpus_id': ['x']}}}, 'video_id'),
        (lambda metadata: {**metadata, 'subset': ELSEWHERE}, 'no row of the reference'),
        (lambda metadata: {**metadata, 'K': []}, 'K: '),
        (lambda metadata: {**metadata, 'K': None}, 'K: '),
        (lambda metadata: {**metadata, 'K': [5, 5]}, 'K: found 5 twice'),
        (lambda metadata: {**metadata, 'K': ['any']}, 'K: '),
        (
            lambda metadata: {
                **metadata,
                'K': ['all'],
                'definition': {**metadata['definition'], 'name': 'own', 'denominator': ['k']},
            },
            'own divides by k',
        ),
        (lambda metadata: {**metadata, 'reference': {**metadata['reference'], 'name': 5}}, 'name'),
        (with_reference(name='\ud800'), "'utf-8' codec can't encode"),
        (with_reference(sha256=7), 'digest'),
        (with_reference(sha256='a\nb'), 'digest'),
        (with_reference(columns=COLUMNS_OF_TEXT), 'in place of a list'),
        (with_reference(columns={field: [7] for field in COLUMNS_OF_TEXT}), 'corpus_id'),
        (with_reference(columns={field: [] for field in COLUMNS_OF_TEXT}), 'no rows'),
        (with_definition(name=7), 'name: found 7'),
        (with_definition(name='a\nb'), 'name: found'),
        (with_definition(depth='k'), 'in place of a list'),
        (with_definition(depth=['k', 'k']), 'depth: found'),
        (with_definition(denominator=[['k']]), 'denominator: found'),
        (with_definition(name='own', without_relevant=float('nan')), 'without_relevant: found nan'),
        (with_definition(name='own', without_relevant='1'), 'without_relevant: found'),
        (with_definition(name='own', without_relevant=-1), 'without_relevant: found -1'),
        (with_definition(repeats=[]), 'list'),
        (with_definition(source=None), 'source: found None'),
        (with_definition(more=1), 'unexpected keyword'),
        (lambda metadata: {**metadata, 'K': {'1': 1}}, 'K: '),
        (lambda metadata: {**metadata, 'K': [1.0]}, 'K: '),
        (lambda metadata: {**metadata, 'K': '10'}, 'K: '),
        ('{"format": 1, "K": [' + '1' * 5000 + ']}', '4300'),
        ('[' * 100_000, 'recursion'),
        ('{"format": ' + '[' * 500 + ']' * 500 + '}', 'format'),
    ],
)
def test_damaged_metadata_are_an_error(change, found, tmp_path):
    path = tmp_path / 'live.parquet'
    AveragePrecision([ROW[:4]], [10]).live([ROW]).save(path)
    saved_with(path, change)
    with pytest.raises(FormatError, match=f'live.parquet, metadata: found .*{found}'):
        AveragePrecision.restore(path)


def test_files_of_another_kind_are_an_error(tmp_path):
    path = tmp_path / 'run.parquet'
    pyarrow.parquet.write_table(pyarrow.table({'a': [1]}), path)
    with pytest.raises(FormatError, match='found no saved session'):
        AveragePrecision.restore(path)
    path.write_bytes(b'PAR1')
    with pytest.raises(ReadError, match='not readable as Parquet'):
        AveragePrecision.restore(path)
    with pytest.raises(ReadError, match='No such file'):
        AveragePrecision.restore(tmp_path / 'nothing')


def test_what_cannot_be_saved_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / 'live.parquet'
    live = AveragePrecision([ROW[:4]], [10]).live([ROW])
    live.save(path)
    before = path.read_bytes()
    live.add(*ROW)
    with pytest.raises(WriteError, match='Not a directory'):
        live.save(path / 'below')
    monkeypatch.setattr('mediaeval_ap.live.saved.LARGEST_METADATA', 100)
    with pytest.raises(WriteError, match='too large to be saved'):
        live.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def interrupted(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize('where', ['add', 'update', 'remove'])
def test_a_step_that_ends_halfway_ends_the_session(where, monkeypatch):
    live = AveragePrecision([ROW[:4]], [10]).live([ROW])
    steps = {
        'add': lambda: live.add(*ROW),
        'update': lambda: live.extend([ROW]),
        'remove': lambda: live.update(ROW, confidence=0.4),
    }
    with monkeypatch.context() as patch:
        patch.setattr(SortedList, where, interrupted)
        with pytest.raises(KeyboardInterrupt):
            steps[where]()
    calls = [*steps.values(), lambda: live.send('ann'), live.evaluate, live.snapshot]
    calls += [lambda: len(live), lambda: ROW in live, lambda: live.discard(ROW)]
    calls += [lambda: live.save('live.parquet'), lambda: live.watch([])]
    for call in calls:
        with pytest.raises(HalfStepError, match='ended a step of this session halfway'):
            call()


@pytest.mark.parametrize('half', [KnownShots, Distinct])
def test_an_answer_that_ends_halfway_ends_the_session(half, monkeypatch):
    live = AveragePrecision([ROW[:4]], [10]).live([ROW])
    with monkeypatch.context() as patch:
        patch.setattr(half, 'order' if half is KnownShots else 'places', interrupted)
        with pytest.raises(KeyboardInterrupt):
            live.send('ann')
    with pytest.raises(HalfStepError):
        live.send('ann')


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


def test_watch_takes_any_iterable_as_it_comes():
    class Rows:
        def __iter__(self):
            return (('x', 'v', str(shot), 'ann', 0.5) for shot in itertools.count())

    average_precision = AveragePrecision([ROW[:4]], [10])
    points = average_precision.watch(Rows(), every=2)
    assert [next(points).n_hypotheses for _ in range(3)] == [2, 4, 6]
    snapshot = average_precision.live([ROW]).snapshot()
    assert [point.map.tolist() for point in average_precision.watch(snapshot)] == [[1.0]]


def test_what_is_no_path_is_not_restored():
    with pytest.raises(ParameterError, match="found b'run', expected a path or an open file"):
        AveragePrecision.restore(b'run')


def test_paths_of_every_kind_are_saved_to(tmp_path):
    live = AveragePrecision([ROW[:4]], [10]).live([ROW])
    for path in (tmp_path / 'a', str(tmp_path / 'b')):
        live.save(path)
        assert len(AveragePrecision.restore(path)) == 1
    with pytest.raises(WriteError, match='no path holds a NUL'):
        live.save('a\0b')
