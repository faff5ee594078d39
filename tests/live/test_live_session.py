"""A live session takes steps whole or not at all, from many threads, until it ends."""

import sys
import threading
import warnings

import pytest
from live_sessions import ROW, check_live

from mediaeval_ap import AveragePrecision
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
    live = average_precision.live([outside])
    with pytest.warns(NoOverlapWarning, match='<live>: none of its 1 hypotheses') as caught:
        assert live.evaluate().map.tolist() == [0.0]
    assert caught[0].filename == __file__
    live.add(ROW)
    assert live.send('ann') == ([1.0], 1)
    assert (len(live), len(live.snapshot())) == (2, 2)
    live.remove(outside)
    with pytest.raises(ParameterError, match='no hypothesis'):
        live.remove(outside)
    check_live(live)


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


def test_a_session_of_nothing_is_no_empty_run():
    evaluation = AveragePrecision([ROW[:4]], [10]).live().evaluate()  # warnings are errors
    assert evaluation.map.tolist() == [0.0]
