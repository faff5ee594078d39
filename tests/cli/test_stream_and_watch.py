"""A file that is written anew while what it shows grows."""

import os
import time
from threading import Event, Timer

import pytest

from mediaeval_ap import AveragePrecision, atomic_files
from mediaeval_ap.atomic_files import Destination
from mediaeval_ap.cli import stream_and_watch
from mediaeval_ap.cli.stream_and_watch import RewrittenFile, together
from mediaeval_ap.errors import WriteError

PATIENCE = 10  # seconds, far more than a thread needs on a busy machine


def until(is_so):
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(stream_and_watch, 'SECONDS_BETWEEN_WRITES', 0.05)
    return tmp_path / 'file.txt'


def test_a_change_is_written_while_nothing_else_comes(path):
    content = ['one']
    with Destination(path) as output, RewrittenFile(output, lambda: content[0]) as file:
        file.change()
        until(path.exists)
        until(lambda: path.read_text() == 'one')
        content[0] = 'two'
        file.change()
        until(lambda: path.read_text() == 'two')


def test_the_end_is_written_whatever_the_thread_is_waiting_for(path, monkeypatch):
    monkeypatch.setattr(stream_and_watch, 'SECONDS_BETWEEN_WRITES', 1000)
    content = ['one']
    with Destination(path) as output, RewrittenFile(output, lambda: content[0]) as file:
        file.change()
        until(path.exists)
        content[0] = 'two'
        file.change()
    assert path.read_text() == 'two'
    assert os.listdir(path.parent) == [path.name]


def test_nothing_is_written_without_a_change_or_after_an_error(path):
    with Destination(path) as output, RewrittenFile(output, lambda: 'one'):
        pass
    with Destination(path) as output:
        file = RewrittenFile(output, lambda: 'one').__enter__()
        file.change()
        until(path.exists)
        until(lambda: not atomic_files._begun)
        assert atomic_files.give_up()  # so a signal may still end the process
        path.unlink()
        file.__exit__(KeyboardInterrupt)
    assert not path.exists()


def test_an_error_of_the_thread_is_that_of_the_next_change(path):
    def content():
        raise WriteError(str(path), 'no')

    with Destination(path) as output:
        file = RewrittenFile(output, content).__enter__()
        file.change()
        until(lambda: file._error is not None)
        with pytest.raises(WriteError, match='no'):
            file.change()
        file.__exit__(WriteError)


def test_a_pipe_gets_one_content_at_the_end(path):
    ours, theirs = os.pipe()
    content = ['one']
    with (
        Destination(f'/dev/fd/{theirs}') as output,
        RewrittenFile(output, lambda: content[0]) as file,
    ):
        file.change()
        content[0] = 'two'
        file.change()
    os.close(theirs)
    with open(ours) as stream:
        assert stream.read() == 'two'


@pytest.mark.parametrize('every', [2, 5])
def test_a_run_that_has_ended_is_shown_before_more_is_judged(every):
    """All of it, and once."""
    rows = [('x', 'v', shot, 'ann', 0.5) for shot in '12']
    come = Event()

    def judged():
        come.wait()
        yield rows[1][:4]

    late = Timer(PATIENCE, come.set)  # so that a point that does not come ends the test
    late.start()
    live = AveragePrecision([rows[0][:4]], [2]).live()
    points = live.watch(together(iter(rows), judged()), every=every)
    shown = [next(points)]
    late.cancel()
    come.set()
    shown += points
    assert [(each.n_hypotheses, each.n_reference) for each in shown] == [(2, 1), (2, 2)]
