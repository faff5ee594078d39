"""A cluster of two workers, which tests may kill."""

import pytest
from dask_cluster import dask_cluster
from hanging import no_hang

from mediaeval_ap.execute import worker_processes

SECONDS = 120  # a test takes a few, and several times that on a machine that does much else


@pytest.fixture(autouse=True)
def bounded(monkeypatch):
    """No warning that a worker is late, as it is on such a machine."""
    monkeypatch.setattr(worker_processes, 'SECONDS', SECONDS)
    with no_hang(SECONDS):
        yield


@pytest.fixture(scope='package')  # to its end: also what waits takes time
def running(tmp_path_factory):
    with dask_cluster(tmp_path_factory.mktemp('cluster')) as cluster:
        yield cluster


@pytest.fixture
def cluster(running):
    running.replenish(2)
    return running


@pytest.fixture
def client(cluster):
    with cluster.client() as client:
        yield client
