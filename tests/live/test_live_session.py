"""A live session takes steps whole or not at all, and holds on to no more than it needs."""

import random
import sys
import threading
import warnings
from collections import deque

import numpy as np
import pytest
from live_sessions import ROW, WRONG_ROWS, campaign, order_of, order_of_frozen, quiet

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.errors import DataWarning, FormatError, NoOverlapWarning, ParameterError
from mediaeval_ap.tables import HYPOTHESIS, read


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
    with pytest.raises(FormatError, match='an empty file'):
        live.extend(path)
    with pytest.raises(ParameterError):
        live.extend(7)


def test_rows_outside_of_the_subset_are_kept_and_do_not_count():
    outside = ('x', 'w', '1', 'ann', 0.9)
    average_precision = AveragePrecision([ROW[:4]], [10], subset=[('x', 'v')])
    assert average_precision.live().evaluate().map.tolist() == [0.0]  # warnings are errors
    live = average_precision.live([outside])
    with pytest.warns(NoOverlapWarning, match='<live>: none of its 1 hypotheses') as caught:
        assert live.evaluate().map.tolist() == [0.0]
    assert caught[0].filename == __file__
    live.add(ROW)
    assert live.send('ann') == ([1.0], 1)
    assert (len(live), len(live.snapshot())) == (2, 2)


def test_warnings_are_those_of_the_batch_and_point_at_the_caller():
    live = AveragePrecision([ROW[:4]], [10]).live([ROW, ROW])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        live.evaluate(['ann', 'ann'])
    assert {each.category for each in caught} == {DataWarning, DataWarning, DataWarning}
    assert {each.filename for each in caught} == {__file__}
    with pytest.warns(DataWarning) as caught:
        live.send('ann')
    assert caught[0].filename == __file__


def test_snapshot_is_scored_like_a_run():
    average_precision = AveragePrecision([ROW[:4]], [10])
    live = average_precision.live([ROW])
    snapshot = live.snapshot()
    assert live.snapshot() is snapshot
    live.remove(ROW)
    assert average_precision(snapshot).send('ann') == ([1.0], 1)
    assert len(average_precision.rank(snapshot, 'ann')) == 1
    assert len(live.snapshot()) == 0
    other = AveragePrecision([('x', 'w', '1', 'ann')], [10], subset=[('x', 'w')])
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


@pytest.mark.parametrize('wrong', WRONG_ROWS, ids=str)
def test_wrong_rows_change_nothing(wrong):
    live = AveragePrecision([ROW[:4]], [10]).live([ROW])
    calls = [lambda: live.extend([ROW, wrong]), lambda: live.remove(wrong)]
    calls.append(lambda: live.update(wrong, confidence=0.1))
    if isinstance(wrong, tuple) and len(wrong) == 5:
        calls.append(lambda: live.add(wrong))
    for call in calls:
        with pytest.raises(FormatError):
            call()
    assert wrong not in live
    assert len(live) == 1


def test_messages_say_what_was_found():
    live = AveragePrecision([ROW[:4]], [10]).live()
    with pytest.raises(FormatError, match=r'^<live>, shot_id: found 7 \(int\), .*dtype=str'):
        live.add(('x', 'v', 7, 'ann', 0.5))
    with pytest.raises(
        ParameterError, match=r"^<live>: no hypothesis \('x', 'v', '1', 'ann', 0.5\)"
    ):
        live.remove(ROW)
    live.add(ROW)
    with pytest.raises(FormatError, match='<live>, confidence: found nan'):
        live.update(ROW, confidence=float('nan'))
    assert ROW in live
    with pytest.raises(ParameterError):
        live.send(None)


def test_rows_are_any_sequence_of_texts_and_a_number():
    live = AveragePrecision([ROW[:4]], [10]).live([ROW])
    live.update(deque(ROW), confidence=0.4)
    live.remove(deque((*ROW[:4], 0.4)))
    for one in (1, 1.0, np.float32(1), np.int8(1)):
        live.add((*ROW[:4], one))
        assert (*ROW[:4], one) in live
    live.remove((*ROW[:4], 1))
    assert live.snapshot().table.confidence.tolist() == [1.0] * 3


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


def test_what_is_no_longer_used_is_left_behind():
    """A name of 300 hypotheses changes 29 times, and its columns do not hold 29 times 300."""
    rows = [('x', 'v', str(shot), 'ann', 0.5) for shot in range(300)]
    live = AveragePrecision([ROW[:4]], [10]).live(rows)
    confidence = 0.5
    for step in range(1, 30):
        live.update(('x', 'v', '1', 'ann', confidence), confidence=0.5 + step / 100)
        confidence = 0.5 + step / 100
        live.send('ann')
        assert len(live._ranking._columns) <= 2 * 300
    assert live.send('ann') == ([1.0], 1)
