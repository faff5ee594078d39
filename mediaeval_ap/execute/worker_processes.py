"""Run tasks on processes of loky (`_worker_pool` says how many), on Dask, or by an executor."""

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
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from mediaeval_ap import __version__
from mediaeval_ap.atomic_files import clean_up_now
from mediaeval_ap.cores import one_core
from mediaeval_ap.errors import (
    DataWarning,
    ProcessError,
    abridged,
    printable,
    require,
    shown,
    warn_caller,
)
from mediaeval_ap.progress import after_each, progress_hidden

if TYPE_CHECKING:
    from distributed import Client

Workers: TypeAlias = 'int | Executor | Client'  # a number of processes, or an executor
# For libraries that would use all cores in each process: OpenBLAS, and pyarrow with OMP.
ONE_THREAD = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}
IN_FLIGHT = 1000  # tasks submitted to an executor at a time: enough for hundreds of workers
SECONDS = 5  # of silence before a warning; a scheduler answers in milliseconds
PACKAGES = ('numpy', 'rapidfuzz', 'ir_measures')  # whose versions can change values

_shared = b''  # in a process of loky: the data that all of its tasks share


class WorkerPool(NamedTuple):
    executor: Executor
    shared: Any
    after_query: Callable[[], object] = int  # called in a worker
    silence_warnings: Callable[[], list[DataWarning]] = list  # about silent workers
    # Errors that end all tasks.
    fatal: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError, ProcessError)

    def wait_for_any(self, futures: Collection[Future[Any]]) -> list[Future[Any]]:
        """Wait until some futures are done; return those with a fatal error last."""

        def is_lost(future: Future[Any]) -> bool:
            return future.cancelled() or isinstance(future.exception(), self.fatal)

        alarm = monotonic() + SECONDS
        # A signal that the system gives to another thread does not wake this one.
        while not (done := wait(futures, timeout=1, return_when=FIRST_COMPLETED).done):
            if (warnings := self.silence_warnings()) and monotonic() > alarm:
                warn_caller(warnings)
                alarm = float('inf')  # once is enough
        if any(map(is_lost, done)):  # other results may be on their way: take them before the error
            done = wait(futures, timeout=1).done
        return sorted(done, key=is_lost)

    def outcome(self, future: Future[Any]) -> Any:
        """Return the result of a task, or its exception; raise one that is fatal."""
        try:
            return future.result()
        except self.fatal:
            raise
        except Exception as error:
            return error


def run_tasks(
    jobs: Workers, function: Callable[[bytes, Any], Any], shared: bytes, arguments: Sequence[Any]
) -> Generator[tuple[int, Any]]:
    """Yield (index, result or exception) of `function(shared, argument)`, as they are completed."""
    futures: dict[Future[Any], int] = {}
    unsubmitted = enumerate(arguments)
    try:
        with _worker_pool(jobs, shared, len(arguments)) as pool:
            while True:
                for number, argument in islice(unsubmitted, IN_FLIGHT - len(futures)):
                    task = function, pool.shared, argument, versions(), pool.after_query
                    futures[pool.executor.submit(_call, *task)] = number
                if not futures:
                    return
                for future in pool.wait_for_any(futures):
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


def _call(function: Any, shared: bytes, argument: Any, expected: Any, after_query: Any) -> Any:
    """Run a task in a worker; raise if its versions differ, because values could differ then."""
    if (own_versions := versions()) != expected:
        remedy = f'expected {" ".join(expected)} as here; install the same on all machines'
        raise ProcessError(f'a worker on {gethostname()}: found {" ".join(own_versions)}, {remedy}')
    with progress_hidden(), one_core(), after_each(after_query):
        return function(shared or _shared, argument)


def _stop_if_unwanted() -> None:
    """End a task of Dask whose client has gone: others wait for this worker."""
    from distributed import Reschedule, get_worker

    worker = get_worker()
    if worker.state.tasks[worker.get_current_task()].state == 'cancelled':
        raise Reschedule


@cache
def versions() -> tuple[str, ...]:
    """Return the versions of Python and packages that must agree on all workers."""
    from importlib import metadata  # here, as most evaluations do not need it

    python = '.'.join(map(str, sys.version_info[:2]))
    named_versions = [f'python={python}', f'mediaeval_ap={__version__}']
    for name in PACKAGES:
        try:
            named_versions.append(f'{name}={metadata.version(name)}')
        except metadata.PackageNotFoundError:
            named_versions.append(f'{name}=none')
    return tuple(named_versions)


@contextmanager
def _loky_processes(jobs: int, shared: bytes) -> Iterator[WorkerPool]:
    """Start processes of loky; they end with the block, or when this process ends."""
    from loky.process_executor import ProcessPoolExecutor

    executor = None
    # loky's tracker removes semaphores that are left over, and would warn of them.
    filters = os.environ.get('PYTHONWARNINGS')
    try:
        os.environ['PYTHONWARNINGS'] = f'{filters or ""},ignore:resource_tracker'.lstrip(',')
        try:
            initargs = os.getpid(), shared
            executor = ProcessPoolExecutor(
                jobs, initializer=_begin_process, initargs=initargs, env=ONE_THREAD
            )
            executor.submit(int)  # starts all of them
        finally:
            del os.environ['PYTHONWARNINGS']
            if filters is not None:
                os.environ['PYTHONWARNINGS'] = filters
        yield WorkerPool(executor, b'')
    finally:
        if executor is not None:
            executor.shutdown(kill_workers=True)


def _begin_process(parent: int, shared: bytes) -> None:
    """Prepare a process: keep the shared data, and end after the parent, even if it is killed."""
    global _shared
    _shared = shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, too

    def end_with_parent() -> None:
        while os.getppid() == parent:
            sleep(0.1)
        clean_up_now()
        os._exit(0)

    Thread(target=end_with_parent, daemon=True).start()


def _worker_pool(jobs: Workers, shared: bytes, n_tasks: int) -> AbstractContextManager[WorkerPool]:
    """Start `jobs` processes, at most one for each task; or use the workers of an executor."""
    if isinstance(jobs, int):
        return _loky_processes(min(jobs, n_tasks), shared)
    if hasattr(jobs, 'get_executor'):
        return _dask_workers(jobs, shared)
    return nullcontext(WorkerPool(jobs, shared))


@contextmanager
def _dask_workers(client: Client, shared: bytes) -> Iterator[WorkerPool]:
    import dask
    from distributed import CancelledError as Cancelled
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    status = 'an asynchronous' if client.asynchronous else f'a {client.status}'
    if status != 'a running':
        raise ProcessError(f'jobs: found {status} client, expected a running client of Dask')
    address = client.scheduler.address
    cancelled = CancelledError, Cancelled, CommClosedError
    try:
        # Sent by a task, which is computed again if its worker dies; scattered data would be lost.
        with dask.config.set({'distributed.admin.large-graph-warning-threshold': '1 TiB'}):
            shared_future = client.submit(bytes, shared, pure=False)
        fatal = *cancelled, KilledWorker, ProcessError
        silence_warnings = partial(_silence_warnings, client, {})
        executor = client.get_executor(pure=False)
        yield WorkerPool(executor, shared_future, _stop_if_unwanted, silence_warnings, fatal)
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


def _silence_warnings(
    client: Client, last_seen: dict[str, tuple[float, float]]
) -> list[DataWarning]:
    """Return a warning about a scheduler or worker that does not answer, if there is one."""
    # For each worker: when the scheduler last heard from it, by the scheduler's clock; and when
    # this time changed, by the clock of this process.
    address = client.scheduler.address
    if client.status != 'running':  # a result that was on its way never comes
        raise CancelledError
    try:
        workers = client.sync(client.scheduler.identity, callback_timeout=SECONDS)['workers']
    except TimeoutError:
        return [DataWarning('no-worker', address, 'this scheduler does not answer')]
    except OSError:  # the next call finds that the connection is lost
        return []
    if not workers:
        remedy = f': start one by dask worker {address}'
        return [DataWarning('no-worker', address, 'has no worker', remedy)]
    for worker, state in workers.items():
        # The clock of the scheduler may be wrong, so only changes of its times are used.
        if last_seen.get(worker, (0, 0))[0] != state['last_seen']:
            last_seen[worker] = state['last_seen'], monotonic()
    silent_workers = [worker for worker in workers if monotonic() - last_seen[worker][1] > SECONDS]
    if not silent_workers:
        return []
    finding = f'no answer from worker {abridged(silent_workers, 1)}'
    return [DataWarning('no-worker', address, finding)]


@contextmanager
def connect(address: str) -> Iterator[Client]:
    """Connect to a scheduler of Dask; it releases all tasks of this client at the end."""
    distributed = require('distributed', 'cluster', '--scheduler')
    before = logging.root.manager.disable
    logging.disable()  # libraries would log errors that are raised here, on one line
    try:
        try:
            if asyncio.run(_server_type(address)) != 'Scheduler':
                raise ValueError('another server')
            client = distributed.Client(address, timeout=SECONDS, set_as_default=False)
        except Exception as error:  # the answer of another server can raise anything
            expected = 'expected the address that dask scheduler prints, as tcp://host:8786'
            actual = f'{printable(address) or shown(address)}: found no scheduler'
            raise ProcessError(f'{actual}, {expected}') from error
        with client:
            yield client
    finally:
        logging.disable(before)


async def _server_type(address: str) -> Any:
    """Ask a server for its type; a client would wait for ever if the server is silent."""
    import distributed

    arguments = distributed.Security().get_connection_args('client')  # from the configuration: TLS
    async with distributed.rpc(address, connection_args=arguments) as server:
        return (await asyncio.wait_for(server.identity(), SECONDS))['type']
