"""Tasks on a real scheduler and workers, some of which are killed."""

import errno
import os
import re
import signal
import time
from contextlib import closing, contextmanager
from operator import mul
from threading import Timer

import pytest
from dask_cluster import dask_cluster, held

from mediaeval_ap.errors import (
    ClusterError,
    FormatError,
    NoWorkerWarning,
    QueryError,
    ReadError,
    WaitingWarning,
    WriteError,
)
from mediaeval_ap.execute import dask_tasks
from mediaeval_ap.execute.dask_tasks import results


def gate(folder):
    """Return a function of tasks, by value: it says that it began, and waits for a file to go."""

    def wait_and_multiply(factor, number):
        (folder / f'{number}-{os.getpid()}').touch()
        while not (folder / 'go').exists():
            time.sleep(0.005)
        return factor * number

    return wait_and_multiply


def begun(folder, n_tasks):
    """Wait until so many tasks have begun."""
    while len(list(folder.iterdir())) < n_tasks:
        time.sleep(0.005)


def none_held(client):
    """Wait until the scheduler knows no task: messages are on their way."""
    while held(client):
        time.sleep(0.005)
    return True


def test_few_tasks_are_at_the_scheduler_at_once(client, monkeypatch):
    monkeypatch.setattr(dask_tasks, 'SENT', 3)
    taken = []

    def arguments():
        for number in range(40):
            taken.append(number)
            yield number

    found = {}
    with closing(results(client, mul, 2, arguments())) as finished:
        for n_results, (number, value) in enumerate(finished):
            assert len(taken) <= n_results + 2 * dask_tasks.SENT
            found[number] = value
    assert found == {number: 2 * number for number in range(40)}


def test_a_large_value_is_sent_without_a_warning(client):
    value = os.urandom(11_000_000)  # more than the 10 MB of which distributed warns
    assert dict(results(client, lambda value, n: value[n], value, [0, 1])) == {
        0: value[0],
        1: value[1],
    }


def caused_by(number):
    error = WriteError('/x/1.json', os.strerror(number))
    error.__cause__ = OSError(number, os.strerror(number))
    return error


@pytest.mark.parametrize(
    ('error', 'shown'),
    [
        (ReadError('/x/run.store', 'not there'), r'/x/run.store \(worker .* on .*\): not there; '),
        (WriteError('/x/1.json', 'gone'), r'/x/1.json \(worker .*\): gone; every worker needs'),
        (caused_by(errno.ENOSPC), r'^/x/1.json \(worker .*\): No space left on device$'),
        (caused_by(errno.ENOENT), r'^/x/1.json \(worker .*\): No such file or directory; every wo'),
        (FormatError('a', 'row 2', 'f', '1', '2'), r'a \(worker .*\), row 2, f: found 1, expected'),
        (QueryError('query: found 1'), '^query: found 1$'),
        (ZeroDivisionError('of somebody'), '^of somebody$'),
    ],
)
def test_an_error_comes_out_as_it_is_and_leaves_no_task(client, error, shown):
    cause = error.__cause__  # pickle leaves it out

    def fail(value, number):
        raise error from cause

    with pytest.raises(type(error), match=shown):
        list(results(client, fail, None, range(20)))
    assert none_held(client)


def test_closing_releases_all_tasks(client, tmp_path):
    (tmp_path / 'go').touch()
    finished = results(client, gate(tmp_path), 1, range(100))
    next(finished)
    assert held(client)
    finished.close()
    assert none_held(client)


@pytest.fixture
def told(monkeypatch):
    """The warnings about what is waited for, after a second and each second."""
    # Less, and a busy machine does not answer, either.
    monkeypatch.setattr(dask_tasks, 'SECONDS', 1)
    monkeypatch.setattr(dask_tasks, 'AGAIN_SECONDS', 1)
    found = []
    monkeypatch.setattr(dask_tasks, 'warn_caller', found.extend)
    return found


def wait_until_told(told, category, line, times):
    """Wait until a line was told so many times."""
    line = f'{line}; waiting for [1-9][0-9]* seconds now'
    while sum(type(w) is category and bool(re.match(line, str(w))) for w in told) < times:
        time.sleep(0.005)


@contextmanager
def stopped(pid):
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.fixture(scope='module')
def one_scheduler(tmp_path_factory):
    with dask_cluster(tmp_path_factory.mktemp('scheduler')) as cluster:
        yield cluster


@pytest.fixture
def alone(one_scheduler):
    """A scheduler without workers."""
    one_scheduler.replenish(0)
    return one_scheduler


@pytest.mark.slow  # what it says at the beginning, test_on_cluster looks for as well
def test_a_warning_says_that_no_worker_is_there(alone, tmp_path, told):
    """Neither at the beginning nor later."""

    def come_and_go():
        line = f'{alone.address}: has no worker'
        wait_until_told(told, NoWorkerWarning, line, 1)
        alone.add_worker('--no-nanny')
        begun(tmp_path, 1)
        told.clear()
        alone.kill(alone.workers[0])
        wait_until_told(told, NoWorkerWarning, line, 2)
        (tmp_path / 'go').touch()
        alone.add_worker('--no-nanny')

    with alone.client() as client:
        Timer(0, come_and_go).start()
        assert dict(results(client, gate(tmp_path), 3, [5, 7])) == {0: 15, 1: 21}
    assert str(told[0]).endswith(f'seconds now: start one by dask worker {alone.address}')


def test_a_warning_says_that_the_scheduler_does_not_answer(alone, tmp_path, told):
    def stop():
        begun(tmp_path, 1)
        with stopped(alone.scheduler.pid):
            (tmp_path / 'go').touch()
            line = f'{alone.address}: this scheduler does not answer'
            wait_until_told(told, WaitingWarning, line, 1)

    alone.add_worker('--no-nanny')
    with alone.client() as client:
        Timer(0, stop).start()
        assert dict(results(client, gate(tmp_path), 3, [5, 7])) == {0: 15, 1: 21}


def test_a_warning_says_that_a_worker_does_not_answer(client, tmp_path, told):
    def stop():
        begun(tmp_path, 2)
        pid = int(next(tmp_path.iterdir()).name.partition('-')[2])
        with stopped(pid):
            (tmp_path / 'go').touch()
            line = r'tcp://[0-9.:]+: nothing is heard of worker tcp://[0-9.:]+'
            wait_until_told(told, WaitingWarning, line, 1)

    Timer(0, stop).start()
    assert dict(results(client, gate(tmp_path), 3, range(9))) == {n: 3 * n for n in range(9)}


def test_long_tasks_of_living_workers_are_no_silence(client, tmp_path, told):
    Timer(2.2, (tmp_path / 'go').touch).start()  # twice what is waited in silence
    assert dict(results(client, gate(tmp_path), 3, [5, 7])) == {0: 15, 1: 21}
    assert told == []


def test_nothing_to_do_needs_no_worker(alone, told):
    with alone.client() as client:
        assert list(results(client, mul, 3, [])) == []
    assert told == []


def test_a_task_that_ends_its_worker_is_an_error(tmp_path):
    allow_none = {'DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES': '0'}  # by default three
    with dask_cluster(tmp_path, **allow_none) as cluster, cluster.client() as client:
        cluster.add_worker('--no-nanny')
        with pytest.raises(
            ClusterError, match=r'ended, the last one tcp:.*; is the memory of workers'
        ):
            list(results(client, lambda value, number: os._exit(1), 1, [0]))


def another_version(folder, package):
    """A folder on the path of Python in which a package is said to be of another version."""
    about = folder / f'{package}-0.0.1.dist-info'
    about.mkdir()
    (about / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {package}\nVersion: 0.0.1\n')
    return {'PYTHONPATH': str(folder)}


def test_a_worker_of_another_version_is_refused_before_any_task(cluster, client, tmp_path):
    odd = cluster.add_worker('--no-nanny', **another_version(tmp_path, 'mediaeval_ap'))
    try:
        with pytest.raises(ClusterError, match=r'worker tcp.*: found mediaeval_ap 0\.0\.1, expect'):
            list(results(client, mul, 1, [0]))
    finally:
        cluster.kill(odd)


def test_a_late_worker_of_another_version_is_refused(alone, tmp_path):
    settings = another_version(tmp_path, 'rapidfuzz')
    with alone.client() as client:
        Timer(0, alone.add_worker, ['--no-nanny'], settings).start()
        with pytest.raises(ClusterError, match=r'worker tcp.*: found rapidfuzz 0\.0\.1, expected'):
            list(results(client, mul, 1, [0]))
