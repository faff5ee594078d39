"""Evaluations on a real cluster, equal bit for bit to those of one process."""

import os
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from threading import Timer

import pytest
from block_folders import blocks_in
from dask_cluster import dask_cluster, dying, held
from stores import stored

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import DataWarning, ProcessError, ReadError
from mediaeval_ap.execute import worker_processes

REFERENCE = [('x', 'v', str(shot), f'name_{shot % 40:02}') for shot in range(200)]
RUN = [('x', 'v', str(shot), f'name_{shot % 37:02}', shot / 7) for shot in range(300)]


@pytest.fixture
def store(tmp_path):
    return stored(RUN, tmp_path / 'run.store')


@pytest.fixture(scope='module', autouse=True)
def small_blocks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('mediaeval_ap.execute.block_folder.BLOCK_QUERIES', 2)
        yield


def told(evaluate, *arguments, **settings):
    """All that an evaluation says, and its warnings in their order."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        # Python 3.12 and 3.13 say this of executors that fork, as theirs do.
        warnings.filterwarnings('ignore', 'This process .* is multi-threaded', DeprecationWarning)
        evaluation = evaluate(*arguments, **settings)
    values = [evaluation.ap.tobytes(), evaluation.n_relevant.tobytes(), evaluation.map.tobytes()]
    given_out = [(each.category, str(each.message), each.filename) for each in caught]
    return evaluation.to_dict(), values, evaluation.inputs, given_out, repr(evaluation)


def check_equal(average_precision, run, client, *arguments, **settings):
    """The cluster says what one process says."""
    expected = told(average_precision.evaluate, run, *arguments, **settings)
    found = told(average_precision.evaluate, run, *arguments, **settings, jobs=client)
    assert found == expected


def gated(function, folder, n_free):
    """Return a function, by value, whose calls after the first few wait for a file to go on."""

    def call(*task):
        begun = len(list(folder.iterdir()))
        (folder / f'{time.monotonic_ns()}-{os.getpid()}').touch()
        while begun >= n_free and not (folder / 'go').exists():
            time.sleep(0.005)
        return function(*task)

    return call


def has_begun(folder, n_tasks):
    return len(list(folder.iterdir())) >= n_tasks


@pytest.fixture
def calls(tmp_path):
    folder = tmp_path / 'calls'
    folder.mkdir()
    yield folder
    (folder / 'go').touch()  # if the test failed


def test_killed_workers_change_nothing(cluster, client, store, calls, monkeypatch):
    average_precision = AveragePrecision(REFERENCE)
    expected = told(average_precision.evaluate, store)
    monkeypatch.setattr(worker_processes, '_call', gated(worker_processes._call, calls, 5))

    def kill():
        while not has_begun(calls, 7):
            time.sleep(0.005)
        cluster.kill(cluster.workers[0])
        cluster.kill(cluster.workers[0])
        (calls / 'go').touch()
        cluster.add_worker('--no-nanny')

    Timer(0, kill).start()
    assert told(average_precision.evaluate, store, jobs=client) == expected


@pytest.mark.slow
def test_a_killed_scheduler_costs_the_blocks_in_flight(client, store, calls, tmp_path, monkeypatch):
    average_precision, kept = AveragePrecision(REFERENCE), tmp_path / 'kept'
    expected = told(average_precision.evaluate, store)
    monkeypatch.setattr(worker_processes, '_call', gated(worker_processes._call, calls, 5))
    with dask_cluster(tmp_path) as first, first.client() as first_client:
        first.replenish(2)
        lost = f'^{first.address}: lost the connection.*; --resume DIR keeps finished blocks$'
        handed_over = lambda: has_begun(calls, 7) and len(blocks_in(kept)) == 5  # noqa: E731
        with dying(first, handed_over), pytest.raises(ProcessError, match=lost):
            average_precision.evaluate(store, jobs=first_client, resume=kept)
    (calls / 'go').touch()
    found = told(average_precision.evaluate, store, jobs=client, resume=kept)
    assert found == expected
    n_calls = len(list(calls.iterdir())) - 1
    assert n_calls - len(blocks_in(kept)) <= 2  # one block for each worker


# A client whose tasks of ten minutes the test does not wait for.
LONG = """
import sys
import time
from mediaeval_ap.execute.worker_processes import connect, run_tasks
from mediaeval_ap.progress import tracked
def score(_, queries):
    for _ in tracked(queries, 'scoring', ' queries'):
        time.sleep(0.05)
with connect(sys.argv[1]) as client:
    list(run_tasks(client, score, b'', [range(12_000)] * 9))
"""


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGKILL])
@pytest.mark.slow
def test_workers_are_free_soon_after_a_client_has_gone(cluster, client, store, number):
    def n_active():
        return list(client.run(lambda dask_worker: len(dask_worker.active_keys)).values())

    command = [sys.executable, '-c', LONG, cluster.address]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while n_active() != [1, 1]:
        time.sleep(0.05)
    process.send_signal(number)
    process.wait()
    check_equal(AveragePrecision(REFERENCE), store, client)


def test_a_killed_scheduler_without_resume_is_an_error_with_the_way(store, tmp_path):
    average_precision = AveragePrecision(REFERENCE)
    with dask_cluster(tmp_path) as first, first.client() as client:
        lost = f'^{first.address}: lost the connection.*; --resume DIR keeps finished blocks$'
        with dying(first, lambda: held(client)), pytest.raises(ProcessError, match=lost):
            average_precision.evaluate(store, jobs=client)
        with pytest.raises(ProcessError, match='jobs: found a connecting client, expected'):
            average_precision.evaluate(store, jobs=client)


def test_a_worker_that_does_not_see_the_store_is_an_error(client, store, tmp_path):
    os.rename(store.path, tmp_path / 'elsewhere.store')
    seen = rf'{store.path}: No such file'
    with pytest.raises(ReadError, match=seen):
        AveragePrecision(REFERENCE).evaluate(store, jobs=client)


def test_equal_to_one_process(client, store):
    """A store, which workers open, and rows, which they are given."""
    criteria = {'subset': [('x', 'v')], 'judged': [row[:3] for row in REFERENCE]}
    for run, settings in (store, {}), (RUN, {**criteria, 'definition': 'trec'}):
        average_precision = AveragePrecision(REFERENCE, **settings)
        asked = ['name_01', 'nobody', 'name_03', 'name_01', *average_precision.queries]
        check_equal(average_precision, run, client, asked, measures='RR')


def test_an_executor_of_the_user():
    with ThreadPoolExecutor(2) as threads:
        check_equal(AveragePrecision(REFERENCE), RUN, threads)
    with ProcessPoolExecutor(2) as processes:
        check_equal(AveragePrecision(REFERENCE), RUN, processes)


@pytest.mark.slow
def test_a_task_that_ends_its_worker_is_an_error(store, tmp_path, monkeypatch):
    allow_none = {'DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES': '0'}  # by default three
    monkeypatch.setattr(worker_processes, '_call', lambda *_: os._exit(1))
    with dask_cluster(tmp_path, **allow_none) as cluster, cluster.client() as client:
        cluster.add_worker('--no-nanny')
        with pytest.raises(ProcessError, match=r'ended: is the memory of workers too small'):
            AveragePrecision(REFERENCE).evaluate(store, jobs=client)


@pytest.mark.slow
def test_a_worker_of_another_version_is_refused(store, tmp_path):
    about = tmp_path / 'rapidfuzz-0.0.1.dist-info'
    about.mkdir()
    (about / 'METADATA').write_text('Metadata-Version: 2.1\nName: rapidfuzz\nVersion: 0.0.1\n')
    path = os.pathsep.join([str(tmp_path), *sys.path])
    with dask_cluster(tmp_path) as cluster, cluster.client() as client:
        cluster.add_worker('--no-nanny', PYTHONPATH=path)
        with pytest.raises(ProcessError, match=r'^a worker on .*: found .* rapidfuzz=0\.0\.1'):
            AveragePrecision(REFERENCE).evaluate(store, jobs=client)


@pytest.mark.slow
@pytest.mark.parametrize(
    ('who', 'told'),
    [
        ('scheduler', 'this scheduler does not answer$'),
        ('worker', 'no answer from worker tcp'),
    ],
)
def test_who_does_not_answer_is_a_warning(store, tmp_path, calls, monkeypatch, who, told):
    monkeypatch.setattr(worker_processes, 'SECONDS', 0.5)
    monkeypatch.setattr(worker_processes, '_call', gated(worker_processes._call, calls, 5))
    with dask_cluster(tmp_path) as cluster, cluster.client() as client:
        silent = (cluster.add_worker('--no-nanny'), cluster.scheduler)[who == 'scheduler']

        def stop_and_go():
            while not has_begun(calls, 6):
                time.sleep(0.005)
            silent.send_signal(signal.SIGSTOP)
            time.sleep(3)  # several times as long as a look at the workers takes
            (calls / 'go').touch()
            silent.send_signal(signal.SIGCONT)

        Timer(0, stop_and_go).start()
        with pytest.warns(DataWarning, match=f'^{client.scheduler.address}: {told}'):
            AveragePrecision(REFERENCE).evaluate(store, jobs=client)
