"""Tasks that are shared among this process and others beside it.

Pools of the standard library import the main module of the user again, and both theirs and those
of loky leave processes and semaphores behind when this process is ended by a signal. Here a worker
ends as soon as its connection does, whatever ended this process.
"""

from __future__ import annotations

import glob
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from itertools import pairwise
from multiprocessing import Pipe
from queue import Empty, SimpleQueue
from threading import Condition, Thread
from typing import Any, BinaryIO, NamedTuple, Self

from mediaeval_ap.atomic_files import lock, lock_abandoned, machine, undone_at_once
from mediaeval_ap.cores import one_core
from mediaeval_ap.errors import ProcessError, WriteError
from mediaeval_ap.execute.worker import Outcome

# Libraries that would use all cores in each process: OpenBLAS, and pyarrow by OMP.
ONE_THREAD = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}

WORKER = 'mediaeval_ap.execute.worker'
LOCK = 'lock'  # a file in a temporary folder, locked as long as its process is alive
_NOTHING = object()


class Task(NamedTuple):
    """A function that is called with what several tasks share, and with an argument."""

    function: Callable[[Any, Any], Any]
    shared: Any
    argument: Any
    key: Any  # for whoever adds it; not sent


class Done(NamedTuple):
    """A task with its value, or with the error that it raised."""

    task: Task
    value: Any
    error: BaseException | None

    @classmethod
    def of(cls, task: Task, outcome: Outcome) -> Done:
        """Join the error, as it was raised in another process, with its causes."""
        value, errors = outcome
        for error, cause in pairwise(errors):
            error.__cause__ = cause
        return cls(task, value, errors[0] if errors else None)


class Processes:
    """Up to `count` processes, the others started beside this one when there is a task for them."""

    folder: str  # for temporary stores, removed at the end

    def __init__(self, count: int) -> None:
        self._most = count - 1
        self._waiting: deque[Task] = deque()
        self._here: deque[Task] = deque()  # which only this process can carry out
        self._changed = Condition()
        self._is_closed = False
        self._done: SimpleQueue[Done] = SimpleQueue()
        self._n_open = 0
        self._workers: list[_Worker] = []
        self._at_end = ExitStack()

    def __enter__(self) -> Self:
        prefix = f'mediaeval_ap-{machine()}-'
        try:
            folder = os.path.join(tempfile.gettempdir(), prefix)
            _remove_abandoned(folder)
            self.folder = f'{folder}{os.urandom(8).hex()}'
            remove = partial(shutil.rmtree, self.folder, ignore_errors=True)
            self._at_end.enter_context(undone_at_once(remove))
            self._at_end.enter_context(_locked_folder(self.folder))
        except OSError as error:
            self._at_end.close()
            raise WriteError(error.filename or 'TMPDIR', error.strerror or str(error)) from error
        self._at_end.enter_context(undone_at_once(self._kill))  # first
        return self

    def __exit__(self, *exception: object) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._at_end.close()
        for worker in self._workers:
            worker.end()

    def _kill(self) -> None:
        for worker in self._workers:
            worker.kill()

    def add(self, tasks: Iterable[Task]) -> None:
        """Let tasks be carried out by whichever process is free."""
        with self._changed:
            n_before = len(self._waiting)
            self._waiting.extend(tasks)
            self._n_open += len(self._waiting) - n_before
            n_wanted = min(self._most, len(self._waiting) - 1)  # this process takes one itself
            self._changed.notify_all()
        while len(self._workers) < n_wanted:
            self._workers.append(_Worker(self.folder, self._take, self._done))

    def add_here(self, tasks: Iterable[Task]) -> None:
        """Let this process carry out tasks, before others."""
        n_before = len(self._here)
        self._here.extend(tasks)
        self._n_open += len(self._here) - n_before

    def discard(self, shared: Any) -> int:
        """Forget the tasks that share something and that nobody has begun; return how many."""
        with self._changed:
            kept = [task for task in self._waiting if task.shared is not shared]
            n_discarded = len(self._waiting) - len(kept)
            self._n_open -= n_discarded
            self._waiting = deque(kept)
        return n_discarded

    def results(self) -> Iterator[Done]:
        """Carry out tasks, here too, and yield each that is done; more may be added meanwhile."""
        while self._n_open:
            if self._done.empty() and (task := self._next_here()):
                done = self._carry_out(task)
            else:
                done = self._next_done()
            self._n_open -= 1
            if isinstance(done.error, ProcessError):
                raise done.error
            yield done

    def _next_done(self) -> Done:
        while True:
            # A signal that the system gives to another thread does not wake this one.
            with suppress(Empty):
                return self._done.get(timeout=1)

    def _next_here(self) -> Task | None:
        with self._changed:
            tasks = self._here or self._waiting
            return tasks.popleft() if tasks else None

    def _carry_out(self, task: Task) -> Done:
        try:
            with one_core() if self._workers else ExitStack():
                return Done(task, task.function(task.shared, task.argument), None)
        except Exception as error:
            return Done(task, None, error)

    def _take(self) -> Task | None:
        """Wait for a task; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            return None if self._is_closed else self._waiting.popleft()


def _locked_folder(path: str) -> BinaryIO:
    """Make a folder, and return a file in it that is locked until it is closed."""
    while True:
        os.mkdir(path, 0o700)
        with suppress(FileNotFoundError):  # removed before it was locked, as one that was left
            file = open(os.path.join(path, LOCK), 'wb')  # noqa: SIM115
            lock(file.fileno())
            os.stat(path)
            return file


def _remove_abandoned(prefix: str) -> None:
    """Remove temporary folders whose processes are gone, as after ``kill -9``."""
    for folder in glob.iglob(f'{glob.escape(prefix)}*'):
        with suppress(OSError):
            os.rmdir(folder)  # the process had not come to the lock
        with suppress(OSError), lock_abandoned(os.path.join(folder, LOCK)):
            shutil.rmtree(folder, ignore_errors=True)


class _Worker(Thread):
    """A process, and the thread that gives it tasks."""

    def __init__(
        self, folder: str, take: Callable[[], Task | None], done: SimpleQueue[Done]
    ) -> None:
        super().__init__(daemon=True)
        self._take, self._done = take, done
        self._shared: Any = _NOTHING  # what was sent last: tasks come run by run
        self._connection, theirs = Pipe()
        path = os.pathsep.join(os.path.abspath(each) for each in sys.path)
        # Its own group of processes: Ctrl-C ends this process, and so the worker, silently.
        self._process = subprocess.Popen(
            [
                sys.executable,
                '-P',
                '-m',
                WORKER,
                str(theirs.fileno()),
                folder,
            ],
            env={**os.environ, **ONE_THREAD, 'PYTHONPATH': path},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            process_group=0,
        )
        theirs.close()
        self.start()

    def run(self) -> None:
        for task in iter(self._take, None):
            try:
                outcome = self._sent(task)
            except (EOFError, OSError):
                outcome = None, [self._death()]
            except Exception as error:  # what cannot be pickled
                outcome = None, [error]
            done = Done.of(task, outcome)
            self._done.put(done)
            if isinstance(done.error, ProcessError):
                return

    def _sent(self, task: Task) -> Outcome:
        is_new = task.shared is not self._shared
        given = task.shared if is_new else None
        self._connection.send_bytes(pickle.dumps((task.function, is_new, given, task.argument)))
        self._shared = task.shared
        outcome: Outcome = pickle.loads(self._connection.recv_bytes())
        return outcome

    def _death(self) -> ProcessError:
        status = self._process.wait()
        if status < 0:
            reason = f'was ended by {signal.Signals(-status).name}'
        else:
            reason = f'ended with exit status {status}'
        return ProcessError(
            f'a process of this evaluation {reason}: out of memory? use fewer jobs, or 1 to see '
            'the error in this process'
        )

    def kill(self) -> None:
        """End the process at once, and wait until it is gone; whoever has its status keeps it."""
        with suppress(OSError):  # it has ended, and somebody else has its status
            self._process.kill()
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)

    def end(self) -> None:
        """Wait for the process, which was killed, and for the thread."""
        self._process.wait()
        self.join()
        self._connection.close()
