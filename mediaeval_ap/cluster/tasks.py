"""Tasks on a cluster: sent a bounded number at a time, and their results in any order."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from mediaeval_ap.cluster import worker
from mediaeval_ap.errors import ClusterError, ParameterError, printable, shown

if TYPE_CHECKING:
    from distributed import Client, Future

SENT = 1000  # a choice: tasks that the scheduler holds, enough for hundreds of workers


def results(
    client: Client, function: Callable[[Any, Any], Any], value: Any, arguments: Iterable[Any]
) -> Iterator[tuple[int, Any]]:
    """Give the number of each argument with `function(value, argument)`, as they are finished.

    The value is sent to the scheduler once, and to each worker once. Tasks that are not finished
    are cancelled when the iterator is closed.
    """
    check_client(client)
    import cloudpickle
    import dask
    from distributed import as_completed

    name = f'{function.__name__}-{uuid4().hex}'
    # The result of a task is computed again if all workers that hold it die; what is scattered
    # would be lost.
    with dask.config.set({'distributed.admin.large-graph-warning-threshold': '1 TiB'}):
        payload = cloudpickle.dumps((function, value), protocol=pickle.HIGHEST_PROTOCOL)
        shared = client.submit(bytes, payload, key=f'shared-{name}')
    settings = {'shared': shared, 'versions': worker.own_versions()}
    numbered = enumerate(arguments)
    finished = as_completed(loop=client.loop)
    futures: dict[int, Future] = {}

    def send(n_tasks: int) -> None:
        part = dict(islice(numbered, n_tasks))
        keys = [(name, number) for number in part]
        if keys:
            sent = client.map(worker.call, list(part.values()), key=keys, **settings)
            futures.update(zip(part, sent, strict=True))
            finished.update(sent)

    try:
        send(SENT)
        for batch in finished.batches():
            send(len(batch))
            for future, result in zip(batch, _gathered(client, batch), strict=True):
                number = future.key[1]
                del futures[number]  # so that the worker forgets the result
                yield number, result
    finally:
        if client.status == 'running':
            client.cancel([shared, *futures.values()])


def check_client(client: Client) -> None:
    """Refuse what is no client, and a cluster whose machines have other versions."""
    from distributed import Client

    if not isinstance(client, Client) or client.asynchronous:
        found = 'an asynchronous one' if isinstance(client, Client) else shown(client)
        raise ParameterError(f'client: found {found}, expected a distributed.Client')
    if client.status != 'running':
        raise ClusterError(f'client: found it {client.status}, expected a running client')
    address = client.scheduler.address
    try:
        versions = client.get_versions(packages=list(worker.PACKAGES))
    except (OSError, RuntimeError) as error:
        raise ClusterError(f'{address}: lost the connection to this scheduler') from error
    own = versions['client']['packages']
    processes = {f'scheduler {address}': versions['scheduler']}
    processes |= {f'worker {each}': found for each, found in versions['workers'].items()}
    for where, found in processes.items():
        worker.check_versions(where, found['packages'], own)


def _gathered(client: Client, futures: list[Future]) -> list[Any]:
    """Return the results of tasks, or raise the first error as it is told on one line."""
    from distributed import CancelledError, KilledWorker

    address = client.scheduler.address
    try:
        return list(client.gather(futures))
    except CancelledError as error:
        reason = printable(str(error))
        raise ClusterError(f'{address}: lost the scheduler, or it gave up: {reason}') from error
    except KilledWorker as error:
        reason = printable(str(error))
        raise ClusterError(f'{address}: {reason}; is the memory of workers too small?') from error
