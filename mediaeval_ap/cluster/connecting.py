"""The connection of a command to the scheduler of a cluster."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mediaeval_ap.errors import ClusterError, printable, require, shown

if TYPE_CHECKING:
    from distributed import Client

SECONDS = 5  # a choice: a scheduler answers in milliseconds, and nobody waits longer in silence


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """Connect to a scheduler, which releases all tasks of this client at the end."""
    distributed = require('distributed', 'cluster', '--scheduler')
    with _silent_log(), warnings.catch_warnings():
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


@contextmanager
def _silent_log() -> Iterator[None]:
    """Silence what libraries log: an error is told once, on one line."""
    before = logging.root.manager.disable
    logging.disable()
    try:
        yield
    finally:
        logging.disable(before)


async def _kind(address: str) -> Any:
    """Return what a server says it is; a client would wait for ever for one that is silent."""
    import distributed

    arguments = distributed.Security().get_connection_args('client')  # of the configuration: TLS
    async with distributed.rpc(address, connection_args=arguments) as server:
        return (await asyncio.wait_for(server.identity(), SECONDS))['type']


def _no_scheduler(address: str, found: str) -> ClusterError:
    expected = 'expected the address that dask scheduler prints, as tcp://host:8786'
    return ClusterError(f'{printable(address) or shown(address)}: found {found}, {expected}')
