"""What a cluster is waited for: a scheduler, a worker, or any worker at all."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from mediaeval_ap.errors import NoWorkerWarning, WaitingWarning, warn_caller

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar('T')

SECONDS = 5  # a choice: nobody waits longer in silence
AGAIN_SECONDS = 60  # a choice: somebody looks again now and then


def awaited(client: Client, call: Callable[[], T]) -> T:
    """Return what a call gives; warn as long as it waits for what does not answer."""
    outcome: Future[T] = Future()
    # The call is in another thread, as it may wait for ever; this one can warn, and be interrupted.
    Thread(target=_carry_out, args=(call, outcome), daemon=True).start()
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


def _carry_out(call: Callable[[], T], outcome: Future[T]) -> None:
    try:
        outcome.set_result(call())
    except BaseException as error:
        outcome.set_exception(error)


def _silent(
    client: Client, heard: dict[str, tuple[float, float]]
) -> tuple[type[WaitingWarning], str, str] | None:
    """Return who does not answer, and what helps, if anything; None if all of them do.

    `heard` has for each worker when the scheduler heard of it last, and when this was new here.
    """
    with suppress(OSError):  # a scheduler that is lost: the call says so
        try:
            asked = client.scheduler.identity
            workers = client.sync(asked, callback_timeout=SECONDS / 2)['workers']
        except TimeoutError:
            return WaitingWarning, 'this scheduler does not answer', ''
        if not workers:
            remedy = f': start one by dask worker {client.scheduler.address}'
            return NoWorkerWarning, 'has no worker', remedy
        if gone := _unheard(workers, heard):
            more = f' and {len(gone) - 1} more' if len(gone) > 1 else ''
            return WaitingWarning, f'nothing is heard of worker {gone[0]}{more}', ''
    return None


def _unheard(workers: dict[str, Any], heard: dict[str, tuple[float, float]]) -> list[str]:
    """Return the workers whose heartbeats have stopped.

    The clock of the scheduler may be another one, so only its changes are looked at.
    """
    now = time.monotonic()
    for address, about in workers.items():
        if address not in heard or heard[address][0] != about['last_seen']:
            heard[address] = about['last_seen'], now
    # Several heartbeats, which are rarer in large clusters: two seconds apart at 200 workers.
    least = max(SECONDS / 2, 1 + len(workers) / 25)
    return [address for address in workers if now - heard[address][1] >= least]
