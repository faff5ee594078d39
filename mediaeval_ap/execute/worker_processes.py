"""Executors of `concurrent.futures` that tasks are given to: loky, Dask, or one of the caller."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from itertools import islice
from socket import gethostname
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from mediaeval_ap import __version__
from mediaeval_ap.atomic_files import clean_up_now
from mediaeval_ap.cores import one_core
from mediaeval_ap.errors import (
    DataWarning,
    ProcessError,
    printable,
    require,
    shown,
    some,
    warn_caller,
)
from mediaeval_ap.progress import progress_hidden

if TYPE_CHECKING:
    from distributed import Client

# Libraries that would use all cores in each process: OpenBLAS, and pyarrow by OMP.
ONE_THREAD = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}
IN_FLIGHT = 1000  # tasks that an executor holds: enough for hundreds of workers
SECONDS = 5  # a scheduler answers in milliseconds, and nobody waits longer in silence
PACKAGES = ('numpy', 'rapidfuzz', 'ir_measures')  # that a value can depend on

_shared = b''  # in a process of loky: what all of its tasks share


class Pool(NamedTuple):
    """An executor, what its tasks share, who does not answer, and errors that end all tasks."""

    executor: Executor
    shared: Any
    silent: Callable[[], list[DataWarning]] = list
    fatal: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError, ProcessError)

    def done(self, futures: Collection[Future[Any]]) -> list[Future[Any]]:
        """Wait until some futures are done; those with an error that ends all tasks stand last."""

        def is_lost(future: Future[Any]) -> bool:
            return future.cancelled() or isinstance(future.exception(), self.fatal)

        alarm = monotonic() + SECONDS
        # A signal that the system gives to another thread does not wake this one.
        while not (done := wait(futures, timeout=1, return_when=FIRST_COMPLETED).done):
            if (warnings := self.silent()) and monotonic() > alarm:
                warn_caller(warnings)
                alarm = float('inf')  # once is enough
        if any(map(is_lost, done)):  # results on their way would be lost, too
            done = wait(futures, timeout=1).done
        return sorted(done, key=is_lost)

    def outcome(self, future: Future[Any]) -> Any:
        """Return the result of a task, or what it raised."""
        try:
            return future.result()
        except self.fatal:
            raise
        except Exception as error:
            return error


def finished(
    jobs: Any, function: Callable[[bytes, Any], Any], shared: bytes, arguments: Sequence[Any]
) -> Generator[tuple[int, Any]]:
    """Yield (index, result or exception) of `function(shared, argument)`, in order of completion.

    `jobs` is a number of processes, which end with the iterator, or an executor. Tasks that are not
    done are cancelled when the iterator is closed.
    """
    futures: dict[Future[Any], int] = {}
    waiting = enumerate(arguments)
    try:
        with _pool(jobs, shared, len(arguments)) as pool:
            while True:
                for number, argument in islice(waiting, IN_FLIGHT - len(futures)):
                    task = function, pool.shared, argument, versions()
                    futures[pool.executor.submit(_call, *task)] = number
                if not futures:
                    return
                for future in pool.done(futures):
                    yield futures.pop(future), pool.outcome(future)
    except BrokenExecutor as error:
        raise ProcessError(
            'a process of this evaluation ended before its work was done: out of memory? use fewer '
            'jobs, or 1 to see the error in this process'
        ) from error
    except CancelledError as error:
        raise ProcessError('the executor cancelled tasks of this evaluation') from error
    finally:
        for future in futures:
            future.cancel()


def _call(function: Any, shared: bytes, argument: Any, expected: tuple[str, ...]) -> Any:
    if (found := versions()) != expected:  # in which values could differ
        told = f'expected {" ".join(expected)} as here; install the same on all machines'
        raise ProcessError(f'a worker on {gethostname()}: found {" ".join(found)}, {told}')
    with progress_hidden(), one_core():
        return function(shared or _shared, argument)


@cache
def versions() -> tuple[str, ...]:
    """Return Python and packages with their versions, as far as they have to agree."""
    from importlib import metadata  # here, as most evaluations have no need of it

    python = '.'.join(map(str, sys.version_info[:2]))
    found = [f'python={python}', f'mediaeval_ap={__version__}']
    for name in PACKAGES:
        try:
            found.append(f'{name}={metadata.version(name)}')
        except metadata.PackageNotFoundError:
            found.append(f'{name}=none')
    return tuple(found)


@contextmanager
def _processes(jobs: int, shared: bytes) -> Iterator[Pool]:
    """Start processes beside this one; none is alive at the end, or after the end of this one."""
    from loky.process_executor import ProcessPoolExecutor

    executor = None
    # loky's tracker removes the semaphores that are left, and would warn that it had to.
    filters = os.environ.get('PYTHONWARNINGS')
    try:
        os.environ['PYTHONWARNINGS'] = f'{filters or ""},ignore:resource_tracker'.lstrip(',')
        try:
            initargs = os.getpid(), shared
            executor = ProcessPoolExecutor(
                jobs, initializer=_begin, initargs=initargs, env=ONE_THREAD
            )
            executor.submit(int)  # starts all of them
        finally:
            del os.environ['PYTHONWARNINGS']
            if filters is not None:
                os.environ['PYTHONWARNINGS'] = filters
        yield Pool(executor, b'')
    finally:
        if executor is not None:
            executor.shutdown(kill_workers=True)


def _begin(parent: int, shared: bytes) -> None:
    """Prepare a process beside: it ends with the one that began it, whatever ended that."""
    global _shared
    _shared = shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which the process that began it gets, too

    def end_with_parent() -> None:
        while os.getppid() == parent:
            sleep(0.1)
        clean_up_now()
        os._exit(0)

    Thread(target=end_with_parent, daemon=True).start()


def _pool(jobs: Any, shared: bytes, n_tasks: int) -> AbstractContextManager[Pool]:
    if isinstance(jobs, int):
        return _processes(min(jobs, n_tasks), shared)
    if hasattr(jobs, 'get_executor'):
        return _workers(jobs, shared)
    return nullcontext(Pool(jobs, shared))


@contextmanager
def _workers(client: Client, shared: bytes) -> Iterator[Pool]:
    import dask
    from distributed import CancelledError as Cancelled
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    if client.asynchronous or client.status != 'running':
        found = 'an asynchronous client' if client.asynchronous else f'a {client.status} client'
        raise ProcessError(f'jobs: found {found}, expected one of Dask that is running')
    address = client.scheduler.address
    cancelled = CancelledError, Cancelled, CommClosedError
    try:
        # A task, which is computed again if its worker dies; what is scattered would be lost.
        with dask.config.set({'distributed.admin.large-graph-warning-threshold': '1 TiB'}):
            sent = client.submit(bytes, shared, pure=False)
        fatal = *cancelled, KilledWorker, ProcessError
        yield Pool(client.get_executor(pure=False), sent, partial(_silent, client, {}), fatal)
    except KilledWorker as error:
        raise ProcessError(
            f'{address}: each worker that computed one of the tasks ended: is the memory of '
            'workers too small? their logs say more'
        ) from error
    except Exception as error:
        if client.status == 'running' and not isinstance(error, cancelled):
            raise
        reason = 'lost the connection to this scheduler, or it cancelled the tasks'
        raise ProcessError(f'{address}: {reason}; --resume DIR keeps finished blocks') from error


def _silent(client: Client, heard: dict[str, tuple[float, float]]) -> list[DataWarning]:
    """Warn of a scheduler or a worker that does not answer.

    `heard` has for each worker when the scheduler heard of it last, and when this was new here.
    """
    address = client.scheduler.address
    if client.status != 'running':  # a result that was on its way never comes
        raise CancelledError
    try:
        workers = client.sync(client.scheduler.identity, callback_timeout=SECONDS)['workers']
    except TimeoutError:
        return [DataWarning('no-worker', address, 'this scheduler does not answer')]
    except OSError:  # the next look says that it is lost
        return []
    if not workers:
        remedy = f': start one by dask worker {address}'
        return [DataWarning('no-worker', address, 'has no worker', remedy)]
    for worker, about in workers.items():
        # The clock of the scheduler may be another one, so only its changes are looked at.
        if heard.get(worker, (0, 0))[0] != about['last_seen']:
            heard[worker] = about['last_seen'], monotonic()
    gone = [worker for worker in workers if monotonic() - heard[worker][1] > SECONDS]
    told = f'nothing is heard of worker {some(gone, 1)}'
    return [DataWarning('no-worker', address, told)] if gone else []


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """Connect to a scheduler of Dask, which releases all tasks of this client at the end."""
    distributed = require('distributed', 'cluster', '--scheduler')
    before = logging.root.manager.disable
    logging.disable()  # what libraries log: an error is told once, on one line
    try:
        try:
            if asyncio.run(_kind(address)) != 'Scheduler':
                raise ValueError('another server')
            client = distributed.Client(address, timeout=SECONDS, set_as_default=False)
        except Exception as error:  # whatever comes of the answer of another server
            expected = 'expected the address that dask scheduler prints, as tcp://host:8786'
            found = f'{printable(address) or shown(address)}: found no scheduler'
            raise ProcessError(f'{found}, {expected}') from error
        with client:
            yield client
    finally:
        logging.disable(before)


async def _kind(address: str) -> Any:
    """Return what a server says it is; a client would wait for ever for one that is silent."""
    import distributed

    arguments = distributed.Security().get_connection_args('client')  # of the configuration: TLS
    async with distributed.rpc(address, connection_args=arguments) as server:
        return (await asyncio.wait_for(server.identity(), SECONDS))['type']
