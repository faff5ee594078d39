"""Connections to what is, and what is no, scheduler."""

import socket
import sys
import time
from threading import Thread

import pytest

from mediaeval_ap.errors import MissingExtraError, ProcessError
from mediaeval_ap.execute import worker_processes
from mediaeval_ap.execute.worker_processes import connect

EXPECTED = r'expected the address that dask scheduler prints, as tcp://host:8786'

LONGEST = 20  # seconds, on a machine that does much else


def refused(address):
    """Return how many seconds it takes to refuse an address, which the error names."""
    begun = time.monotonic()
    with pytest.raises(ProcessError, match=EXPECTED) as caught, connect(address):
        pass
    assert str(caught.value).startswith(f'{address}: ')
    assert '\n' not in str(caught.value)
    return time.monotonic() - begun


def test_a_scheduler_is_connected_and_let_go(cluster):
    with connect(cluster.address) as client:
        assert client.submit(abs, -3).result() == 3
    assert client.status == 'closed'


@pytest.mark.parametrize('address', ['tcp://127.0.0.1', 'nothing://127.0.0.1:1', ''])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ProcessError) as caught, connect(address):
        pass
    assert str(caught.value) == f'{address or repr("")}: found no scheduler, {EXPECTED}'


def test_where_nobody_listens_is_refused_within_seconds(monkeypatch):
    monkeypatch.setattr(worker_processes, 'SECONDS', 0.3)
    with socket.create_server(('127.0.0.1', 0)) as server:
        address = f'tcp://127.0.0.1:{server.getsockname()[1]}'
    assert refused(address) < LONGEST


@pytest.mark.parametrize('says', [b'', b'SSH-2.0-OpenSSH_9.2\r\n'])
def test_another_server_is_refused_within_seconds(says, monkeypatch):
    """A client of Dask waits for ever for a server that does not answer."""
    monkeypatch.setattr(worker_processes, 'SECONDS', 0.3)
    with socket.create_server(('127.0.0.1', 0)) as server:
        closed = Thread(target=answer, args=[server, says])
        closed.start()
        assert refused(f'tcp://127.0.0.1:{server.getsockname()[1]}') < LONGEST
        closed.join()


def answer(server, says):
    """Say something, and nothing else until the client is gone."""
    connection, _ = server.accept()
    with connection:
        connection.sendall(says)
        while connection.recv(1 << 12):
            pass


def test_a_worker_is_no_scheduler(cluster, client):
    (worker, *_) = client.nthreads()
    expected = f'^{worker}: found no scheduler, {EXPECTED}'
    with pytest.raises(ProcessError, match=expected), connect(worker):
        pass


def test_without_the_extra_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, 'distributed', None)
    install = r"pip install '\.\[cluster\]'"
    with pytest.raises(MissingExtraError, match=install), connect('tcp://127.0.0.1:8786'):
        pass
