"""Evaluations on a real cluster, equal bit for bit to those of one process."""

import os
import time
import warnings
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer

import pytest
from dask_cluster import dask_cluster, dying, held
from hypothesis import given
from hypothesis import strategies as st
from stores import stored
from strategies import allowed, cutoffs, examples, hypothesis_rows, names, reference_rows, subsets

from mediaeval_ap import AveragePrecision, cluster, definitions
from mediaeval_ap.cluster import evaluate
from mediaeval_ap.errors import ClusterError, FormatError, ReadError
from mediaeval_ap.execute import dask_tasks, evaluating

REFERENCE = [('x', 'v', str(shot), f'name_{shot % 40:02}') for shot in range(200)]
RUN = [('x', 'v', str(shot), f'name_{shot % 37:02}', shot / 7) for shot in range(300)]


@pytest.fixture
def store(tmp_path):
    return stored(RUN, tmp_path / 'run.store')


@pytest.fixture(scope='module', autouse=True)
def small_blocks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('mediaeval_ap.execute.dask_tasks.BLOCK_QUERIES', 2)
        patch.setattr('mediaeval_ap.execute.plan.BLOCK_QUERIES', 2)
        yield


@pytest.fixture(scope='module')
def shared_client(running):
    running.replenish(2)
    with running.client() as client:
        yield client


def told(evaluate, *arguments, **settings):
    """All that an evaluation says, and its warnings in their order."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        evaluation = evaluate(*arguments, **settings)
    values = [evaluation.ap.tobytes(), evaluation.n_relevant.tobytes(), evaluation.map.tobytes()]
    given_out = [(each.category, str(each.message), each.filename) for each in caught]
    return evaluation.to_dict(), values, evaluation.inputs, given_out, repr(evaluation)


def check_equal(average_precision, store, client, *arguments, **settings):
    """The cluster says what one process says."""
    expected = told(average_precision.evaluate, store, *arguments, **settings)
    found = told(cluster.evaluate, average_precision, store, *arguments, **settings, client=client)
    assert found == expected


@examples(0.5)
@given(
    reference_rows,
    hypothesis_rows,
    cutoffs,
    st.sampled_from(definitions.names()),
    subsets,
    st.none() | st.lists(names, min_size=1, max_size=5),
)
def test_equal_to_one_process(shared_client, reference, rows, K, definition, subset, asked):
    subset = None if subset is None else sorted(subset)
    if subset is not None and not {row[:2] for row in reference} & set(subset):
        subset = [reference[0][:2]]
    with warnings.catch_warnings(), TemporaryDirectory() as folder:
        warnings.simplefilter('ignore')
        K = allowed(K, definition)
        average_precision = AveragePrecision(reference, K, subset=subset, definition=definition)
        if asked is None and not average_precision.queries:
            asked = ['ab']
        store = stored(rows, Path(folder, 'run.store'), subset)
        check_equal(average_precision, store, shared_client, asked)


def test_a_path_and_names_in_a_file_are_equal(client, store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path('queries.txt').write_text('name_01\nname_03\nnobody\nname_01\n')
    average_precision = AveragePrecision(REFERENCE, queries_without_relevant='skip')
    check_equal(average_precision, Path('run.store'), client, 'queries.txt', measures='nDCG@10 RR')


def test_a_pruned_store_is_equal_down_to_its_depth(client, tmp_path):
    store = stored(RUN, tmp_path / os.fsdecode(b'run\xff.store'), keep=5)
    check_equal(AveragePrecision(REFERENCE, K=[1, 5]), store.folder, client)


def gated(function, folder, n_free):
    """Return a function, by value, whose calls after the first few wait for a file to go on."""

    def call(jobs, task):
        begun = len(list(folder.iterdir()))
        (folder / f'{time.monotonic_ns()}-{os.getpid()}').touch()
        while begun >= n_free and not (folder / 'go').exists():
            time.sleep(0.005)
        return function(jobs, task)

    return call


def has_begun(folder, n_tasks):
    return len(list(folder.iterdir())) >= n_tasks


@pytest.fixture
def calls(tmp_path):
    folder = tmp_path / 'calls'
    folder.mkdir()
    yield folder
    (folder / 'go').touch()  # if the test failed


def n_files_open(folder):
    """How many descriptors of this process are of files in a folder."""
    descriptors = [f'/proc/self/fd/{each}' for each in os.listdir('/proc/self/fd')]
    files = [os.readlink(each) for each in descriptors if os.path.lexists(each)]
    return sum(file.startswith(os.path.realpath(folder)) for file in files)


def test_few_stores_are_open_at_once(store, tmp_path, monkeypatch):
    """However many runs a command has: each store has many files."""
    average_precision = AveragePrecision(REFERENCE)
    expected = average_precision.evaluate(store)
    path, n_open = store.path, []

    def results(_, function, jobs, tasks, go_on):
        n_open.append(n_files_open(path))
        found = [(number, function(jobs, task)) for number, task in enumerate(tasks)]
        evaluating._opened.cache_clear()  # which is that of a worker
        yield from found

    del store
    monkeypatch.setattr(dask_tasks, 'results', results)
    evaluating._opened.cache_clear()
    before = n_files_open(path)
    asked = evaluating.ask(average_precision._criteria, None, ())
    for folder in None, tmp_path / 'kept':
        runs = evaluating.in_blocks(asked, [path, path, path], folder)
        dask_tasks.compute_on_workers(runs, None)
        for run in runs:
            assert run.evaluation().to_dict() == expected.to_dict()
    assert n_open == [before] * 2


def test_killed_workers_change_nothing(cluster, client, store, calls, monkeypatch):
    average_precision = AveragePrecision(REFERENCE)
    expected = told(average_precision.evaluate, store)
    monkeypatch.setattr(dask_tasks, '_score', gated(dask_tasks._score, calls, 5))

    def kill():
        while not has_begun(calls, 7):
            time.sleep(0.005)
        cluster.kill(cluster.workers[0])
        cluster.kill(cluster.workers[0])
        (calls / 'go').touch()
        cluster.add_worker('--no-nanny')

    Timer(0, kill).start()
    assert told(evaluate, average_precision, store, client=client) == expected


def test_a_killed_scheduler_costs_the_blocks_in_flight(client, store, calls, tmp_path, monkeypatch):
    average_precision, kept = AveragePrecision(REFERENCE), tmp_path / 'kept'
    expected = told(average_precision.evaluate, store)
    monkeypatch.setattr(dask_tasks, '_score', gated(dask_tasks._score, calls, 5))
    with dask_cluster(tmp_path) as first, first.client() as first_client:
        first.replenish(2)
        go_on = f'; finished blocks are in {kept}: call the same again with another scheduler$'
        lost = f'^{first.address}: lost the connection.*{go_on}'
        with dying(first, lambda: has_begun(calls, 7)), pytest.raises(ClusterError, match=lost):
            cluster.evaluate(average_precision, store, client=first_client, resume=kept)
    n_before = len(list(calls.iterdir()))
    (calls / 'go').touch()
    found = told(cluster.evaluate, average_precision, store, client=client, resume=kept)
    assert found == expected
    n_blocks = len(list(kept.glob('*-*.json')))
    assert n_blocks == 20
    assert len(list(calls.iterdir())) - 1 - n_blocks <= 2 < n_before  # one block for each worker


def test_a_killed_scheduler_without_resume_is_an_error_with_the_way(store, tmp_path):
    average_precision = AveragePrecision(REFERENCE)
    with dask_cluster(tmp_path) as first, first.client() as client:
        lost = (
            f'^{first.address}: lost the connection to this scheduler, or it cancelled the tasks; '
            r'--resume DIR \(resume=\) keeps finished blocks$'
        )
        with dying(first, lambda: held(client)), pytest.raises(ClusterError, match=lost):
            cluster.evaluate(average_precision, store, client=client)
        with pytest.raises(ClusterError, match='client: found it connecting, expected'):
            cluster.evaluate(average_precision, store, client=client)


def test_a_worker_that_does_not_see_the_store_is_an_error(client, store, tmp_path):
    os.rename(store.path, tmp_path / 'elsewhere.store')
    seen = rf'{store.path} \(worker tcp://.* on .*\): No such file .* path as the client has it'
    with pytest.raises(ReadError, match=seen):
        cluster.evaluate(AveragePrecision(REFERENCE), store, client=client)


def test_a_worker_that_sees_another_store_is_an_error(client, store):
    stored(RUN[1:], store.path)
    seen = rf'{store.path} \(worker tcp://.*\), sha256: found .*, expected {store.sha256}'
    with pytest.raises(FormatError, match=seen):
        cluster.evaluate(AveragePrecision(REFERENCE), store, client=client)


def test_a_worker_that_does_not_see_the_folder_of_blocks_is_an_error(
    client, store, tmp_path, monkeypatch
):
    monkeypatch.setattr(
        dask_tasks, 'replace', lambda block, folder: replace(block, folder='/nothing')
    )
    with pytest.raises(
        ReadError, match=r'/nothing \(worker tcp://.*\): is no folder; every worker'
    ):
        cluster.evaluate(AveragePrecision(REFERENCE), store, client=client, resume=tmp_path / 'a')


def test_a_run_that_is_no_store_is_refused(client, tmp_path):
    path = tmp_path / 'run.txt'
    path.write_text('x v 1 ann 0.5\n')
    with pytest.raises(ReadError, match=f'{path}: is no store; a cluster scores stores: mediae'):
        cluster.evaluate(AveragePrecision(REFERENCE), path, client=client)
