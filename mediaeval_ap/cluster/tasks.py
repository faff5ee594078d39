"""Tasks on a cluster: sent a bounded number at a time, and their results in any order."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from mediaeval_ap.cluster import worker
from mediaeval_ap.cluster.waiting import awaited
from mediaeval_ap.errors import ClusterError, ParameterError, require, shown

if TYPE_CHECKING:
    from distributed import Client, Future

SENT = 1000  # a choice: tasks that the scheduler holds, enough for hundreds of workers


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
    sent: dict[int, Future] = {}

    def send(n_tasks: int) -> None:
        part = dict(islice(numbered, n_tasks))
        if part:
            keys = [(name, number) for number in part]
            futures = client.map(worker.call, list(part.values()), key=keys, **settings)
            sent.update(zip(part, futures, strict=True))
            finished.update(futures)

    with _told_on_one_line(client, go_on):
        # The result of a task is computed again if all workers that hold it die; what is scattered
        # would be lost.
        with dask.config.set({'distributed.admin.large-graph-warning-threshold': '1 TiB'}):
            shared = client.submit(bytes, payload, key=f'shared-{name}')
        settings = {'shared': shared, 'versions': worker.own_versions()}
        try:
            send(SENT)
            while sent:
                batch = awaited(client, finished.next_batch)
                send(len(batch))
                gathered = awaited(client, partial(client.gather, batch))
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
    with _told_on_one_line(client):
        asked = partial(client.get_versions, packages=list(worker.PACKAGES))
        versions = awaited(client, asked)
    own = versions['client']['packages']
    processes = {f'scheduler {client.scheduler.address}': versions['scheduler']}
    processes |= {f'worker {each}': found for each, found in versions['workers'].items()}
    for where, found in processes.items():
        worker.check_versions(where, found['packages'], own)


@contextmanager
def _told_on_one_line(client: Client, go_on: str = '') -> Iterator[None]:
    """Tell what becomes of a scheduler or its workers as an error of this package."""
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
