"""The part of a worker of a cluster: it compares versions, then calls the function of a task."""

from __future__ import annotations

import pickle
import socket
from collections.abc import Mapping
from functools import cache, lru_cache
from threading import Lock
from typing import Any

from mediaeval_ap import __version__
from mediaeval_ap.cores import one_core
from mediaeval_ap.errors import ClusterError, FormatError, ReadError, WriteError

# What a value can depend on; measures of ir_measures are computed by the worker.
PACKAGES = ('mediaeval_ap', 'numpy', 'rapidfuzz', 'ir_measures')

_unpickling = Lock()


def call(argument: Any, *, shared: bytes, versions: Mapping[str, str | None]) -> Any:
    """Return what a function makes of the argument and of the value that all its tasks share."""
    check_versions(_where(), own_versions(), versions)  # a worker may join after the client looked
    with _unpickling:  # once for all threads of a worker
        function, value = _unpickled(shared)
    try:
        with one_core():  # others compute on this machine, too
            return function(value, argument)
    except (ReadError, WriteError) as error:
        reason = error.reason
        if _may_be_of_this_machine(error.__cause__):
            reason = f'{reason}; every worker needs the path as the client has it'
        raise type(error)(f'{error.name} ({_where()})', reason) from error
    except FormatError as error:
        source = f'{error.source} ({_where()})'
        arguments = error.place, error.field, error.found, error.expected, error.further
        raise FormatError(source, *arguments) from error


def _may_be_of_this_machine(cause: BaseException | None) -> bool:
    """Return whether another machine may see the path otherwise: it is not a full disk, as such."""
    is_path = isinstance(cause, FileNotFoundError | NotADirectoryError | PermissionError)
    return is_path or not isinstance(cause, OSError)


@lru_cache(maxsize=4)  # a choice: the runs that are evaluated at once
def _unpickled(shared: bytes) -> Any:
    return pickle.loads(shared)


@cache
def own_versions() -> dict[str, str | None]:
    """Return the versions of Python and packages in this process, as distributed finds them."""
    from distributed.versions import get_versions

    return {**get_versions(PACKAGES)['packages'], 'mediaeval_ap': __version__}


def check_versions(
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
