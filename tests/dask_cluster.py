"""A scheduler and workers of Dask in processes of their own, on loopback."""

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from threading import Thread

from distributed import Client

SECONDS = 60  # a start takes about one; a machine that does much else, several
DASK = [sys.executable, '-m', 'dask']
PRIVATE = ['--host', '127.0.0.1', '--no-dashboard', '--dashboard-address', '127.0.0.1:0']

SETTINGS = {
    'PYTHONUNBUFFERED': '1',
    # A killed worker may still be asked for what it has done: not for half a minute.
    'DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT': '5s',
    # What nobody looks at takes half of the time of those that wait.
    'DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED': 'False',
    'DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL': '10s',
}


class DaskCluster:
    """Processes that are killed at the end; each writes its log into the folder."""

    def __init__(self, folder, **environment):
        self.folder = folder
        self.processes = []
        # It ends by itself, and its workers with it, if this process is killed.
        settings = '--port', '0', '--idle-timeout', '600s'
        self.scheduler = self._start('scheduler', *settings, **environment)
        self.address = self._wait_for(self.scheduler, r'Scheduler at:\s+(tcp://\S+)')
        self.workers = []

    def add_worker(self, *options, **environment):
        """Start a worker of one thread, and wait until it can work."""
        options = ('--nthreads', '1', '--local-directory', str(self.folder), *options)
        process = self._start('worker', self.address, *options, **environment)
        self._wait_for(process, r'Registered to:\s+(tcp://\S+)')
        self.workers.append(process)
        return process

    def client(self):
        return Client(self.address, timeout=SECONDS, set_as_default=False)

    def kill(self, process):
        """Kill a process (SIGKILL), and wait until it is gone."""
        process.kill()
        process.wait(SECONDS)
        self.workers = [each for each in self.workers if each is not process]

    def replenish(self, n_workers):
        """Have just so many workers."""
        for process in self.workers[n_workers:]:
            self.kill(process)
        for _ in range(n_workers - len(self.workers)):
            self.add_worker('--no-nanny')

    def _start(self, what, *options, **environment):
        log = self.folder / f'{what}-{len(self.processes)}.log'
        with log.open('wb') as stream:
            process = subprocess.Popen(
                [*DASK, what, *PRIVATE, *options],
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                env={**os.environ, **SETTINGS, **environment},
                start_new_session=True,  # Ctrl-C of a test is for the client alone
            )
        process.log = log
        self.processes.append(process)
        return process

    def _wait_for(self, process, pattern):
        """Look at the log of a process until it says something."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and process.poll() is None:
            if found := re.search(pattern, process.log.read_text()):
                return found[1]
            time.sleep(0.02)
        raise TimeoutError(f'{pattern!r} not found: {process.log.read_text()}')

    def close(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait(SECONDS)


@contextmanager
def dask_cluster(folder, **environment):
    """Start a scheduler, and end it with its workers."""
    cluster = DaskCluster(folder, **environment)
    try:
        yield cluster
    finally:
        cluster.close()


@contextmanager
def dying(cluster, is_time):
    """Kill the scheduler as soon as it is time, while something else goes on."""

    def kill():
        while not is_time():
            time.sleep(0.005)
        cluster.kill(cluster.scheduler)

    thread = Thread(target=kill)
    thread.start()
    yield
    thread.join()


def held(client):
    """The number of tasks that the scheduler knows."""
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
