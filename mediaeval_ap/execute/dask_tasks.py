"""Tasks for the workers of a Dask scheduler (the extra ``cluster``): blocks of runs above all."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import socket
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import islice
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from mediaeval_ap import __version__
from mediaeval_ap.cores import one_core
from mediaeval_ap.errors import (
    ClusterError,
    FormatError,
    NoWorkerWarning,
    ParameterError,
    ReadError,
    WaitingWarning,
    WriteError,
    printable,
    require,
    shown,
    warn_caller,
)
from mediaeval_ap.execute.blocks import Block, BlockFolder
from mediaeval_ap.execute.evaluating import Job, RunInBlocks, score_block
from mediaeval_ap.execute.plan import BLOCK_QUERIES
from mediaeval_ap.progress import Bar
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.store.store import Store, open_store

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as Sent

T = TypeVar('T')

SENT = 1000  # tasks that the scheduler holds: enough for hundreds of workers
SECONDS = 5  # a scheduler answers in milliseconds, and nobody waits longer in silence
AGAIN_SECONDS = 60  # until the next warning of the same wait
# What a value can depend on; measures of ir_measures are computed by the worker.
PACKAGES = ('mediaeval_ap', 'numpy', 'rapidfuzz', 'ir_measures')

_unpickling = Lock()


def compute_on_workers(runs: Sequence[RunInBlocks], client: Client) -> None:
    """Have the workers compute the blocks of runs that are missing."""
    jobs: list[Job] = []
    tasks: list[tuple[int, Block]] = []
    for number, run in enumerate(runs):  # one open at a time: each has many files
        jobs.append(run.job())
        run.warnings  # noqa: B018, found while the run is open
        run.forget_run()
        n_blocks = -(-len(run.asked.questions.names) // BLOCK_QUERIES)
        tasks += [(number, block) for block in run.missing(max(n_blocks, 1))[0]]
    folder = runs[0].folder
    go_on = '--resume DIR (resume=) keeps finished blocks'
    if folder is not None:
        kept_in = f'finished blocks are in {printable(folder.path)}'
        go_on = f'{kept_in}: call the same again with another scheduler'
        absolute = os.path.abspath(folder.path)  # a worker has another working directory
        tasks = [(number, replace(block, folder=absolute)) for number, block in tasks]
    if not tasks:
        return
    with (
        closing(results(client, _score, jobs, tasks, go_on)) as finished,
        Bar('scoring', len(tasks), ' blocks') as bar,
    ):
        for number, evaluation in finished:
            run_number, block = tasks[number]
            runs[run_number].take(block, evaluation)
            bar.add()


def check_stores(runs: Iterable[Any]) -> None:
    """Refuse runs that are no stores, which workers would have to read again and again."""
    for run in runs:
        try:
            if not isinstance(run, Store):
                open_store(run)
        except ReadError as error:
            remedy = 'a cluster scores stores: mediaeval-ap index RUN -o RUN.store'
            raise ReadError(error.name, f'{error.reason}; {remedy}') from error


def _score(jobs: Sequence[Job], task: tuple[int, Block]) -> Evaluation | None:
    number, block = task
    if block.folder:
        plan = BlockFolder.open(block.folder).plan  # refuses a folder that is not the client's
        if block.key not in plan.keys:
            raise ReadError(block.folder, 'holds another evaluation than the folder of the client')
    return score_block(jobs[number], block)


def results(
    client: Client,
    function: Callable[[Any, Any], Any],
    value: Any,
    arguments: Iterable[Any],
    go_on: str = '',
) -> Generator[tuple[int, Any], None, None]:
    """Give the number of each argument with `function(value, argument)`, as they are finished.

    The value is sent to the scheduler once, and to each worker once. Tasks that are not finished
    are cancelled when the iterator is closed. `go_on` ends the error of a scheduler that is lost.
    """
    check_client(client)
    import cloudpickle
    import dask
    from distributed import as_completed

    name = f'{function.__name__}-{uuid4().hex}'
    payload = cloudpickle.dumps((function, value), protocol=pickle.HIGHEST_PROTOCOL)
    numbered = enumerate(arguments)
    finished = as_completed(loop=client.loop)
    sent: dict[int, Sent] = {}

    def send(n_tasks: int) -> None:
        part = dict(islice(numbered, n_tasks))
        if part:
            keys = [(name, number) for number in part]
            futures = client.map(_call, list(part.values()), key=keys, **settings)
            sent.update(zip(part, futures, strict=True))
            finished.update(futures)

    with _dask_errors(client, go_on):
        # The result of a task is computed again if all workers that hold it die; what is scattered
        # would be lost.
        with dask.config.set({'distributed.admin.large-graph-warning-threshold': '1 TiB'}):
            shared = client.submit(bytes, payload, key=f'shared-{name}')
        settings = {'shared': shared, 'versions': _own_versions()}
        try:
            send(SENT)
            while sent:
                batch = _awaited(client, finished.next_batch)
                send(len(batch))
                gathered = _awaited(client, partial(client.gather, batch))
                for future, result in zip(batch, gathered, strict=True):
                    number = future.key[1]
                    del sent[number]  # so that the worker forgets the result
                    yield number, result
        finally:
            if client.status == 'running':
                client.cancel([shared, *sent.values()])


def check_client(client: Client) -> None:
    """Refuse what is no client, and a cluster whose machines have other versions."""
    Client = require('distributed', 'cluster', 'mediaeval_ap.cluster').Client
    if not isinstance(client, Client) or client.asynchronous:
        found = 'an asynchronous one' if isinstance(client, Client) else shown(client)
        raise ParameterError(f'client: found {found}, expected a distributed.Client')
    if client.status != 'running':
        raise ClusterError(f'client: found it {client.status}, expected a running client')
    with _dask_errors(client):
        asked = partial(client.get_versions, packages=list(PACKAGES))
        versions = _awaited(client, asked)
    own = versions['client']['packages']
    processes = {f'scheduler {client.scheduler.address}': versions['scheduler']}
    processes |= {f'worker {each}': found for each, found in versions['workers'].items()}
    for where, found in processes.items():
        _check_versions(where, found['packages'], own)


@contextmanager
def _dask_errors(client: Client, go_on: str = '') -> Iterator[None]:
    """Turn Dask's exceptions into `ClusterError`."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    address = client.scheduler.address
    try:
        yield
    except (CancelledError, CommClosedError) as error:
        reason = 'lost the connection to this scheduler, or it cancelled the tasks'
        raise ClusterError(f'{address}: {reason}{go_on and "; "}{go_on}') from error
    except KilledWorker as error:
        last = error.last_worker.address
        raise ClusterError(
            f'{address}: each worker that computed one of the tasks ended, the last one {last}; '
            'is the memory of workers too small? their logs say more'
        ) from error


def _awaited(client: Client, call: Callable[[], T]) -> T:
    """Return what a call gives; warn as long as it waits for what does not answer."""
    outcome: Future[T] = Future()

    def call_into_outcome() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    # The call is in another thread, as it may wait for ever; this one can warn, and be interrupted.
    Thread(target=call_into_outcome, daemon=True).start()
    began = time.monotonic()
    next_warning = began + SECONDS
    heard: dict[str, tuple[float, float]] = {}
    while not wait([outcome], SECONDS / 2).done:
        found = _silent(client, heard)
        now = time.monotonic()
        if found is not None and now >= next_warning:
            category, reason, remedy = found
            waiting = f'waiting for {now - began:.0f} seconds now{remedy}'
            warn_caller([category(f'{client.scheduler.address}: {reason}; {waiting}')])
            next_warning = now + AGAIN_SECONDS
    return outcome.result()


def _silent(
    client: Client, heard: dict[str, tuple[float, float]]
) -> tuple[type[WaitingWarning], str, str] | None:
    """Return who does not answer, and what helps, if anything; None if all of them do.

    `heard` has for each worker when the scheduler heard of it last, and when this was new here.
    """
    try:
        asked = client.scheduler.identity
        workers = client.sync(asked, callback_timeout=SECONDS / 2)['workers']
    except TimeoutError:
        return WaitingWarning, 'this scheduler does not answer', ''
    except OSError:  # it is lost: the call says so
        return None
    if not workers:
        remedy = f': start one by dask worker {client.scheduler.address}'
        return NoWorkerWarning, 'has no worker', remedy
    now = time.monotonic()
    for worker, about in workers.items():
        # The clock of the scheduler may be another one, so only its changes are looked at.
        if worker not in heard or heard[worker][0] != about['last_seen']:
            heard[worker] = about['last_seen'], now
    # Several heartbeats, which are rarer in large clusters: two seconds apart at 200 workers.
    least = max(SECONDS / 2, 1 + len(workers) / 25)
    gone = [worker for worker in workers if now - heard[worker][1] >= least]
    if not gone:
        return None
    more = f' and {len(gone) - 1} more' if len(gone) > 1 else ''
    return WaitingWarning, f'nothing is heard of worker {gone[0]}{more}', ''


def _call(argument: Any, *, shared: bytes, versions: Mapping[str, str | None]) -> Any:
    """Return what a function makes of the argument and of the value that all its tasks share."""
    # Here too: a worker may join after the client looked.
    _check_versions(_where(), _own_versions(), versions)
    with _unpickling:  # once for all threads of a worker
        function, value = _unpickled(shared)
    try:
        with one_core():  # others compute on this machine, too
            return function(value, argument)
    except (ReadError, WriteError) as error:
        reason, cause = error.reason, error.__cause__
        is_path = isinstance(cause, FileNotFoundError | NotADirectoryError | PermissionError)
        if is_path or not isinstance(cause, OSError):  # a full disk is no matter of the path
            reason = f'{reason}; every worker needs the path as the client has it'
        raise type(error)(f'{error.name} ({_where()})', reason) from error
    except FormatError as error:
        source = f'{error.source} ({_where()})'
        arguments = error.place, error.field, error.found, error.expected, error.further
        raise FormatError(source, *arguments) from error


@lru_cache(maxsize=4)  # the runs that are evaluated at once
def _unpickled(shared: bytes) -> Any:
    return pickle.loads(shared)


@cache
def _own_versions() -> dict[str, str | None]:
    """Return the versions of Python and packages in this process, as distributed finds them."""
    from distributed.versions import get_versions

    return {**get_versions(PACKAGES)['packages'], 'mediaeval_ap': __version__}


def _check_versions(
    where: str, found: Mapping[str, str | None], expected: Mapping[str, str | None]
) -> None:
    """Refuse a process in which values could differ from those of the client."""
    for name in ('python', *PACKAGES):
        if (version := _relevant(name, found)) != (needed := _relevant(name, expected)):
            raise ClusterError(
                f'{where}: found {name} {version}, expected {needed} as the client has it; '
                'install the same versions on all machines'
            )


def _relevant(name: str, versions: Mapping[str, str | None]) -> str:
    """Return a version as far as it has to agree: of Python, without its patch."""
    version = versions.get(name) or 'not installed'
    return '.'.join(version.split('.')[:2]) if name == 'python' else version


def _where() -> str:
    from distributed import get_worker

    return f'worker {get_worker().address} on {socket.gethostname()}'


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """Connect to a scheduler, which releases all tasks of this client at the end."""
    distributed = require('distributed', 'cluster', '--scheduler')
    with ExitStack() as stack:
        stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable()  # what libraries log: an error is told once, on one line
        stack.enter_context(warnings.catch_warnings())
        # Versions that matter are compared, and told on one line.
        warnings.simplefilter('ignore', distributed.versions.VersionMismatchWarning)
        try:
            distributed.comm.get_address_host_port(address)
        except ValueError as error:
            raise _no_scheduler(address, 'no address') from error
        try:
            found = asyncio.run(_kind(address))
        except TimeoutError as error:
            raise _no_scheduler(address, f'no answer within {SECONDS} seconds') from error
        except Exception as error:  # whatever comes of the answer of another server
            raise _no_scheduler(address, 'no scheduler') from error
        if found != 'Scheduler':
            raise _no_scheduler(address, printable(f'a {found}'))
        with distributed.Client(address, timeout=SECONDS, set_as_default=False) as client:
            yield client


async def _kind(address: str) -> Any:
    """Return what a server says it is; a client would wait for ever for one that is silent."""
    import distributed

    arguments = distributed.Security().get_connection_args('client')  # of the configuration: TLS
    async with distributed.rpc(address, connection_args=arguments) as server:
        return (await asyncio.wait_for(server.identity(), SECONDS))['type']


def _no_scheduler(address: str, found: str) -> ClusterError:
    expected = 'expected the address that dask scheduler prints, as tcp://host:8786'
    return ClusterError(f'{printable(address) or shown(address)}: found {found}, {expected}')
