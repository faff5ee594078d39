"""The connection of a command to the scheduler of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mediaeval_ap.errors import ClusterError, printable, require

if TYPE_CHECKING:
    from distributed import Client

SECONDS = 5  # a choice: a scheduler answers in milliseconds, and nobody waits longer in silence


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """Connect to a scheduler, whose tasks of this client are released at the end."""
    distributed = require('distributed', 'cluster', '--scheduler')
    try:
        client = distributed.Client(address, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f'{printable(address)}: found no scheduler within {SECONDS} seconds, expected the '
            f'address that dask scheduler prints, as tcp://host:8786 ({printable(str(error))})'
        ) from error
    with client:
        yield client
