"""Tasks are done by several processes as by one, and no process is left."""

import os
import select
import signal
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import process_tasks
import pytest
from hanging import SECONDS, no_hang

from mediaeval_ap.errors import FormatError, ProcessError, ReadError
from mediaeval_ap.execute.pools import finished

# A command whose two processes tell their numbers and then do not end.
WAITING = """
import sys
import mediaeval_ap.cli
import process_tasks
from mediaeval_ap.__main__ import main
from mediaeval_ap.execute.pools import finished
def command(**_):
    list(finished(2, process_tasks.tell_and_wait, sys.argv[1], 'ab'))
mediaeval_ap.cli.main = command
main()
"""


def outcomes(function, shared, arguments):
    with no_hang():
        return dict(finished(2, function, shared, arguments))


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
    with no_hang(), closing(finished(2, process_tasks.process, None, range(20))) as some:
        pids = {next(some)[1] for _ in range(2)}
    assert not any(os.path.exists(f'/proc/{pid}') for pid in pids)


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
