"""Tasks are done by several processes as by one, and no process is left."""

import inspect
import os
import select
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import process_tasks
import pytest
from hanging import SECONDS, no_hang
from process_tasks import Elsewhere

from mediaeval_ap import errors
from mediaeval_ap.atomic_files import machine
from mediaeval_ap.errors import Error, FormatError, ProcessError, ReadError, WriteError
from mediaeval_ap.execute.processes import Processes, Task

# A command whose two processes tell their numbers and then wait for ever.
WAITING = """
import sys
import mediaeval_ap.cli
import process_tasks
from mediaeval_ap.__main__ import main
from mediaeval_ap.execute.processes import Task
def command(**_):
    with process_tasks.Elsewhere(3) as processes:
        print(processes.folder, flush=True)
        processes.add(Task(process_tasks.tell_and_wait, sys.argv[1], each, each) for each in 'abc')
        list(processes.results())
mediaeval_ap.cli.main = command
main()
"""


def tasks(function, shared, arguments):
    return [Task(function, shared, each, number) for number, each in enumerate(arguments)]


def outcomes(processes, given):
    with no_hang(), processes:
        processes.add(given)
        return {done.task.key: done for done in processes.results()}


@pytest.mark.parametrize('processes', [Processes(1), Processes(3), Elsewhere(2)])
def test_every_task_is_done(processes):
    done = outcomes(processes, tasks(process_tasks.add, 100, range(50)))
    assert {key: each.value for key, each in done.items()} == {i: 100 + i for i in range(50)}
    assert not Path(processes.folder).exists()


def test_tasks_are_added_while_others_are_done():
    with no_hang(), Processes(2) as processes:
        processes.add(tasks(process_tasks.add, 1, [1]))
        values = []
        for done in processes.results():
            values.append(done.value)
            if done.value < 50:
                processes.add(tasks(process_tasks.add, done.value, [done.value] * 2))
    assert sorted(values) == [2**k for k in range(1, 7) for _ in range(2 ** (k - 1))]


def test_other_processes_do_tasks():
    done = outcomes(Elsewhere(3), tasks(process_tasks.process, None, range(4)))
    assert os.getpid() not in {each.value for each in done.values()}


def every_error():
    """An error or a warning of each class, with fields where it has any."""
    with_fields = {
        ReadError: ReadError('a file', 'cannot be had'),
        WriteError: WriteError('a file', 'cannot be had'),
        FormatError: FormatError('run.txt', 'line 2', 'confidence', "'high'", 'a number', 3),
    }
    classes = [getattr(errors, name) for name in errors.__all__]
    assert all(inspect.isclass(each) and issubclass(each, Exception) for each in classes)
    return [with_fields.get(each) or each('what is wrong') for each in classes]


def test_an_error_is_that_of_one_process():
    """With its class, message, fields and cause."""
    given = [each for each in every_error() if not isinstance(each, ProcessError)]
    assert sum(isinstance(each, Error) for each in given) > 10
    done = outcomes(Elsewhere(2), tasks(process_tasks.fail, None, given))
    for number, error in enumerate(given):
        found = done[number].error
        assert (type(found), str(found), vars(found)) == (type(error), str(error), vars(error))
        assert repr(found.__cause__) == "ValueError('the cause')"


def test_an_error_that_cannot_be_pickled_is_told():
    done = outcomes(Elsewhere(2), tasks(process_tasks.fail_strangely, None, [0, 0]))
    assert isinstance(done[0].error, RuntimeError)
    assert 'this cannot be pickled' in str(done[0].error)


@pytest.mark.parametrize(
    ('task', 'argument', 'reason'),
    [
        (process_tasks.be_killed, 0, 'was ended by SIGKILL'),
        (process_tasks.leave, 3, 'ended with exit status 3'),
    ],
)
def test_a_process_that_ends_is_an_error(task, argument, reason):
    processes = Elsewhere(2)
    with pytest.raises(ProcessError) as raised:
        outcomes(processes, tasks(task, None, [argument] * 3))
    assert str(raised.value) == (
        f'a process of this evaluation {reason}: out of memory? use fewer jobs, or 1 to see the '
        'error in this process'
    )
    assert not Path(processes.folder).exists()


def test_tasks_that_nobody_has_begun_are_forgotten():
    with no_hang(), Processes(1) as processes:
        shared = object()
        processes.add(tasks(process_tasks.process, shared, range(5)))
        processes.add(tasks(process_tasks.process, None, range(3)))
        results = processes.results()
        next(results)
        assert processes.discard(shared) == 4
        assert len(list(results)) == 3


def test_a_process_keeps_only_what_its_last_task_shared():
    given = [
        Task(process_tasks.n_alive, process_tasks.Counted(), 0, (number, block))
        for number in range(4)
        for block in range(2)
    ]
    done = outcomes(Elsewhere(2), given)
    assert {each.value for each in done.values()} == {1}


@contextmanager
def killed_at_the_end(process):
    try:
        yield
    finally:
        process.kill()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_no_process_and_no_file_is_left(tmp_path, number):
    """Whatever signal ends the command, and only the command is told."""
    fifo = tmp_path / 'fifo'
    os.mkfifo(fifo)
    command = [sys.executable, '-c', WAITING, fifo]
    path = os.pathsep.join([str(Path(process_tasks.__file__).parent), *sys.path])
    pipes = dict.fromkeys(('stdout', 'stderr'), subprocess.PIPE)
    env = {**os.environ, 'PYTHONPATH': path}
    with subprocess.Popen(command, env=env, **pipes) as p, killed_at_the_end(p), no_hang():
        folder = Path(p.stdout.readline().decode().strip())
        assert folder.is_dir()
        workers = set()
        while len(workers) < 2:
            workers |= set(map(int, fifo.read_text().split()))
        ends = [os.pidfd_open(each) for each in workers]
        p.send_signal(number)
        assert p.communicate() == (b'', b'')
        assert p.returncode in (128 + number, -number)
        for end in ends:  # becomes readable as the process ends
            readable, _, _ = select.select([end], [], [], SECONDS)
            os.close(end)
            assert readable
    assert not folder.exists()


# Makes its temporary folder, and waits for ever before it has any worker.
STORING = """
import pathlib, signal
from mediaeval_ap.execute.processes import Processes
with Processes(2) as processes:
    pathlib.Path(processes.folder, 'run.store').mkdir()
    print(processes.folder, flush=True)
    signal.pause()
"""


def test_the_next_call_removes_what_a_killed_process_left(tmp_path, monkeypatch):
    """But nothing of a living one, of another machine, or of somebody else."""
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    monkeypatch.setattr(tempfile, 'tempdir', None)
    of_another = tmp_path / 'mediaeval_ap-00000000-0123456789abcdef'
    of_a_user = tmp_path / f'mediaeval_ap-{machine()}-results'
    never_locked = tmp_path / f'mediaeval_ap-{machine()}-0123456789abcdef'
    for folder in of_another, of_a_user, never_locked:
        folder.mkdir()
    (of_another / 'lock').touch()
    (of_a_user / 'notes.txt').touch()
    command = [sys.executable, '-c', STORING]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as p, killed_at_the_end(p), no_hang():
        left = Path(p.stdout.readline().decode().strip())
        with Processes(2):
            assert (left / 'run.store').exists()
        p.kill()
        p.wait()
        assert (left / 'run.store').exists()
    with Processes(2):
        assert not left.exists()
    assert set(tmp_path.iterdir()) == {of_another, of_a_user}


def test_no_room_for_a_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path / 'gone'))
    with pytest.raises(WriteError, match=r'gone/mediaeval_ap-.*: No such file or directory$'):
        outcomes(Processes(2), [])
