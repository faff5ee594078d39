"""Tasks for processes beside this one, by loky, and the temporary folder that they read from."""

from __future__ import annotations

import fcntl
import glob
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import pairwise
from threading import Thread
from typing import Any, BinaryIO

from mediaeval_ap.atomic_files import give_up, undone_at_once
from mediaeval_ap.cores import one_core
from mediaeval_ap.errors import ProcessError, WriteError

# Libraries that would use all cores in each process: OpenBLAS, and pyarrow by OMP.
ONE_THREAD = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}
LOCK = 'lock'  # a file in a temporary folder, locked as long as its process is alive

_shared: Any = None  # in a process beside: the value that all of its tasks share


def results(
    jobs: int, function: Callable[[Any, Any], Any], shared: Any, arguments: Sequence[Any]
) -> Generator[tuple[int, Any]]:
    """Give the number of each argument with `function(shared, argument)`, or with what it raised.

    They come as they are finished. Up to `jobs` processes are started, and none is alive once the
    iterator is closed.
    """
    from loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

    with ExitStack() as stack:
        with _starting():  # a Ctrl-C of meanwhile is raised at its end
            executor = ProcessPoolExecutor(
                min(jobs, len(arguments)),
                initializer=_begin,
                initargs=(os.getpid(), shared),
                env=ONE_THREAD,
            )
            stack.callback(executor.shutdown, kill_workers=True)
            numbers = {
                executor.submit(_outcome, function, each): n for n, each in enumerate(arguments)
            }
        try:
            while numbers:
                # A signal that the system gives to another thread does not wake this one.
                for future in wait(numbers, timeout=1, return_when=FIRST_COMPLETED).done:
                    value, errors = future.result()
                    for error, cause in pairwise(errors):
                        error.__cause__ = cause
                    yield numbers.pop(future), errors[0] if errors else value
        except BrokenProcessPool as error:
            raise ProcessError(
                'a process of this evaluation ended before its work was done: out of memory? use '
                'fewer jobs, or 1 to see the error in this process'
            ) from error


@contextmanager
def _starting() -> Iterator[None]:
    """Let processes that start within be silent when a signal ends the one that starts them."""
    # Ctrl-C, which all get, is left to the process that starts them.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    # loky's tracker removes the semaphores that are left, and would warn that it had to.
    filters = os.environ.get('PYTHONWARNINGS', '')
    os.environ['PYTHONWARNINGS'] = f'{filters},ignore:resource_tracker'.lstrip(',')
    try:
        yield
    finally:
        del os.environ['PYTHONWARNINGS']
        if filters:
            os.environ['PYTHONWARNINGS'] = filters
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _begin(parent: int, shared: Any) -> None:
    """Prepare a process beside: it ends with the one that began it, whatever ended that."""
    global _shared
    _shared = shared

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(0.1)
        give_up()
        os._exit(0)

    Thread(target=end_with_parent, daemon=True).start()


def _outcome(function: Callable[[Any, Any], Any], argument: Any) -> tuple[Any, list[BaseException]]:
    """Return a value, or an error and its causes, which pickle leaves out."""
    try:
        with one_core():
            return function(_shared, argument), []
    except Exception as error:
        errors: list[BaseException] = [error]
        while (cause := errors[-1].__cause__) is not None:
            errors.append(cause)
        return None, errors


@contextmanager
def temporary_folder() -> Iterator[str]:
    """Make a folder for temporary stores; remove it at the end, and what killed processes left."""
    prefix = os.path.join(tempfile.gettempdir(), 'mediaeval_ap-')
    _remove_abandoned(prefix)
    folder = f'{prefix}{os.urandom(8).hex()}'
    with undone_at_once(partial(shutil.rmtree, folder, ignore_errors=True)):
        try:
            file = _locked_folder(folder)
        except OSError as error:
            raise WriteError(error.filename or 'TMPDIR', error.strerror or str(error)) from error
        with file:
            yield folder


def _locked_folder(path: str) -> BinaryIO:
    """Make a folder, and return a file in it that is locked until it is closed."""
    while True:
        os.mkdir(path, 0o700)
        with suppress(FileNotFoundError):  # removed before it was locked, as one that was left
            file = open(os.path.join(path, LOCK), 'wb')  # noqa: SIM115
            fcntl.flock(file, fcntl.LOCK_EX)
            os.stat(path)
            return file


def _remove_abandoned(prefix: str) -> None:
    """Remove temporary folders whose processes are gone, as after ``kill -9``."""
    for folder in glob.iglob(f'{glob.escape(prefix)}*'):
        with suppress(OSError):
            os.rmdir(folder)  # the process had not come to the lock
        with suppress(OSError), open(os.path.join(folder, LOCK), 'rb') as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
