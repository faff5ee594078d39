"""``evaluate --scheduler``, as a command beside a real cluster."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from commands import refused, run
from dask_cluster import dask_cluster, held
from hanging import no_hang

from mediaeval_ap import index

SECONDS = 120  # a test takes a few, and several times that on a machine that does much else


@pytest.fixture(autouse=True)
def bounded():
    with no_hang(SECONDS):
        yield


@pytest.fixture(scope='module')
def address(tmp_path_factory):
    with dask_cluster(tmp_path_factory.mktemp('cluster')) as cluster:
        cluster.add_worker()  # with its nanny, as by default
        yield cluster.address


@pytest.fixture
def folder(folder):
    index('run.txt', 'run.store')
    index('run.txt', 'other.store')
    return folder


def outcome(*arguments):
    result = run('evaluate', 'reference.txt', *arguments)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize('run_files', ['run.store', 'run.store missing.store --keep-going'])
def test_the_same_as_in_one_process(folder, address, run_files):
    arguments = run_files.split()
    assert outcome(*arguments, '--scheduler', address) == outcome(*arguments)


def test_parts_are_of_no_use_beside_a_scheduler(folder):
    arguments = ['run.store', '--resume', 'blocks', '--part', '1/2', '--scheduler', 'tcp://x:1']
    error = refused('evaluate', 'reference.txt', *arguments)
    assert 'exclude each other: the scheduler distributes all blocks' in error


# Told a second after it begins, not after five.
SOON = """
from mediaeval_ap.execute import worker_processes
worker_processes.SECONDS = 1
from mediaeval_ap.__main__ import main
main()
"""


@pytest.mark.slow
def test_without_workers_a_line_says_so_and_ctrl_c_releases_the_tasks(folder, tmp_path):
    (tmp_path / 'idle').mkdir()
    arguments = 'evaluate', 'reference.txt', 'run.store'
    with dask_cluster(tmp_path / 'idle') as cluster, cluster.client() as client:  # without workers
        process = subprocess.Popen(
            [sys.executable, '-c', SOON, *arguments, '--scheduler', cluster.address],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        told = 'has no worker: start one by dask worker'
        warning = f'Warning: {cluster.address}: {told} {cluster.address}\n'
        assert re.fullmatch(warning, process.stderr.readline().decode())
        assert held(client)
        os.kill(process.pid, signal.SIGINT)
        state = b'Interrupted: nothing is kept; --resume DIR keeps finished blocks\n'
        assert process.communicate() == (b'', state)
        assert process.returncode == 130
        while held(client):
            time.sleep(0.01)


@pytest.mark.slow
def test_ctrl_c_tells_how_many_blocks_are_kept(folder, tmp_path):
    arguments = 'evaluate', 'reference.txt', 'run.store', 'other.store', '--resume', 'blocks'
    assert run(*arguments, '--part', '1/2', '--quiet').exit_code == 0
    n_kept = len(list((folder / 'blocks').glob('*-*.json')))
    (tmp_path / 'idle').mkdir()
    with dask_cluster(tmp_path / 'idle') as cluster:  # without workers
        process = subprocess.Popen(
            [sys.executable, '-c', SOON, *arguments, '--scheduler', cluster.address],
            stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        process.stderr.readline()
        os.kill(process.pid, signal.SIGINT)
        _, error = process.communicate()
    state = f'blocks has {n_kept} of {2 * n_kept} blocks; the same command goes on'
    assert (error.decode(), process.returncode) == (f'Interrupted: {state}\n', 130)
