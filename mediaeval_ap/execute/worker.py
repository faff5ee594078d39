"""A process beside the one that evaluates: ``python -m mediaeval_ap.execute.worker``.

It carries out tasks from a connection, one after another, and ends with the process that began it.
"""

from __future__ import annotations

import os
import pickle
import shutil
import sys
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeAlias

from mediaeval_ap.atomic_files import give_up
from mediaeval_ap.cores import one_core

# What a function returned, and what it raised, followed by the causes of that.
Outcome: TypeAlias = tuple[Any, list[BaseException]]


def serve(connection: Connection, folder: str) -> None:
    """Carry out orders until the other side is gone, then remove the folder of temporary files."""
    orders: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_receive, args=(connection, orders, folder), daemon=True).start()
    last: list[Any] = [None]
    while True:
        outcome = _outcome(orders.get(), last)
        try:
            answer = pickle.dumps(outcome)
        except Exception as error:
            answer = pickle.dumps((None, _chain(error)))
        with suppress(OSError):  # the other side is gone, and so is this process in a moment
            connection.send_bytes(answer)


def _receive(connection: Connection, orders: SimpleQueue[bytes], folder: str) -> None:
    """Pass orders on, also while one is carried out, so that the end is seen at once."""
    try:
        while True:
            orders.put(connection.recv_bytes())
    except (EOFError, OSError):  # the other side has ended, whatever ended it
        give_up()
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)


def _outcome(order: bytes, last: list[Any]) -> Outcome:
    """Carry out a task; `last` holds what it may share with the task before, and nothing older."""
    try:
        function, is_new, given, argument = pickle.loads(order)
        if is_new:
            last[0] = given
        with one_core():
            return function(last[0], argument), []
    except BaseException as error:
        return None, _chain(error)


def _chain(error: BaseException | None) -> list[BaseException]:
    """Return an error and its causes, which pickle leaves out, each as it can be pickled."""
    chain: list[BaseException] = []
    while error is not None:
        chain.append(_portable(error))
        error = error.__cause__
    return chain


def _portable(error: BaseException) -> BaseException:
    try:
        if str(pickle.loads(pickle.dumps(error))) == str(error):
            return error
    except Exception:
        pass
    return RuntimeError(''.join(traceback.format_exception(error)))


if __name__ == '__main__':
    import mediaeval_ap.execute.evaluating  # noqa: F401, while the other side is busy

    serve(Connection(int(sys.argv[1])), sys.argv[2])
