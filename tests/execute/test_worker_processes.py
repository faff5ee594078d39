"""Tasks are done by several processes as by one, and no process is left."""

import os
import select
import signal
import subprocess
import sys
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Timer
from time import sleep

import process_tasks
import pytest
from hanging import SECONDS, no_hang

from mediaeval_ap.errors import FormatError, ProcessError, ReadError
from mediaeval_ap.execute import worker_processes
from mediaeval_ap.execute.worker_processes import run_tasks

# A command whose two processes tell their numbers and then do not end.
WAITING = """
import sys
import mediaeval_ap.cli
import process_tasks
from mediaeval_ap.__main__ import main
from mediaeval_ap.execute.worker_processes import run_tasks
def command(**_):
    list(run_tasks(2, process_tasks.tell_and_wait, sys.argv[1], 'ab'))
mediaeval_ap.cli.main = command
main()
"""


def outcomes(function, shared, arguments):
    with no_hang():
        return dict(run_tasks(2, function, shared, arguments))


def test_other_processes_do_every_task():
    assert outcomes(process_tasks.add, 100, range(50)) == {i: 100 + i for i in range(50)}
    assert os.getpid() not in outcomes(process_tasks.process, None, range(4)).values()


def test_an_error_is_that_of_one_process():
    """With its class, message and fields."""
    given = [
        ReadError('a file', 'cannot be had'),
        FormatError('run.txt', 'line 2', 'confidence', "'high'", 'a number', 3),
        MemoryError('what is wrong'),
    ]
    for number, found in outcomes(process_tasks.fail, None, given).items():
        error = given[number]
        assert (type(found), str(found), vars(found)) == (type(error), str(error), vars(error))


def test_a_process_that_is_killed_is_an_error():
    expected = r'ended before its work was done: out of memory\? use fewer jobs, or 1 to see'
    with pytest.raises(ProcessError, match=expected):
        outcomes(process_tasks.be_killed, None, range(3))


def test_no_process_is_left_of_an_iterator_that_is_closed():
    with no_hang(), closing(run_tasks(2, process_tasks.process, None, range(20))) as some:
        pids = {next(some)[1] for _ in range(2)}
    assert not any(os.path.exists(f'/proc/{pid}') for pid in pids)


class Futures(Executor):
    """An executor whose tasks stay as they are until a test says how they end."""

    def __init__(self):
        self.futures = []

    def submit(self, *_):
        self.futures.append(Future())
        return self.futures[-1]


@pytest.mark.parametrize(
    ('error', 'told'),
    [
        (BrokenExecutor('gone'), '^a process of this evaluation ended before its work was done'),
        (None, '^the executor cancelled tasks of this evaluation$'),
    ],
)
def test_results_are_taken_before_the_error_of_an_executor(error, told):
    """Those of an executor that is lost would be computed again."""
    executor = Futures()
    some = run_tasks(executor, process_tasks.add, b'', range(3))
    Timer(0.1, end, [executor, error]).start()
    assert sorted([next(some), next(some)]) == [(1, 'one'), (2, 'two')]
    with pytest.raises(ProcessError, match=told):
        next(some)


def end(executor, error):
    lost, first, second = executor.futures
    if error is None:
        lost.cancel()
        lost.set_running_or_notify_cancel()
    else:
        lost.set_exception(error)
    sleep(0.1)  # on their way
    first.set_result('one')
    second.set_result('two')


def test_few_tasks_are_in_flight(monkeypatch):
    """A scheduler would keep all tasks in memory."""
    monkeypatch.setattr(worker_processes, 'IN_FLIGHT', 3)
    executor = Futures()
    some = run_tasks(executor, process_tasks.add, b'', range(5))
    for number in range(5):
        Timer(0.05, lambda number=number: executor.futures[number].set_result(number)).start()
        assert next(some) == (number, number)
        assert len(executor.futures) == min(3 + number, 5)
    assert list(some) == []


@contextmanager
def killed_at_the_end(process):
    try:
        yield
    finally:
        process.kill()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_and_no_file_is_left(tmp_path, number):
    """Whatever signal ends the command, and Ctrl-C goes to all processes of a terminal."""
    fifo = tmp_path / 'fifo'
    os.mkfifo(fifo)
    path = os.pathsep.join([str(Path(process_tasks.__file__).parent), *sys.path])
    options = {
        'env': {**os.environ, 'PYTHONPATH': path, 'TMPDIR': str(tmp_path)},
        'stdout': subprocess.PIPE,
        'stderr': subprocess.PIPE,
        'start_new_session': True,
    }
    command = [sys.executable, '-c', WAITING, fifo]
    with subprocess.Popen(command, **options) as p, killed_at_the_end(p), no_hang():
        workers = set()
        while len(workers) < 2:
            workers |= set(map(int, fifo.read_text().split()))
        ends = [os.pidfd_open(each) for each in workers]
        if number == signal.SIGINT:
            os.killpg(p.pid, number)
        else:
            p.send_signal(number)
        assert p.communicate() == (b'', b'')
        assert p.returncode in (128 + number, -number)
        for end in ends:  # becomes readable as the process ends
            readable, _, _ = select.select([end], [], [], SECONDS)
            os.close(end)
            assert readable
    fifo.unlink()
    assert list(tmp_path.iterdir()) == []
