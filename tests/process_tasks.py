"""Tasks that tests give to processes: functions of a module, as another process imports them."""

import os
import signal
import time
from typing import ClassVar
from weakref import WeakSet

from mediaeval_ap.execute.resuming import write_block

from mediaeval_ap.execute.processes import Processes, _Worker


class Elsewhere(Processes):
    """Processes of which this one takes no task that another can take, so that tests see these."""

    def add(self, tasks):
        tasks = list(tasks)
        super().add(tasks)
        if tasks and not self._workers:
            self._workers.append(_Worker(self.folder, self._take, self._done))

    def _next_here(self):
        return self._here.popleft() if self._here else None


class Counted:
    """What tasks share; each process counts those that it holds."""

    alive: ClassVar = WeakSet()

    def __init__(self):
        self.alive.add(self)

    def __reduce__(self):
        return Counted, ()


def n_alive(shared, _):
    return len(shared.alive)


def process(_, __):
    return os.getpid()


def add(shared, argument):
    return shared + argument


def fail(_, error):
    raise error from ValueError('the cause')


def fail_strangely(_, __):
    error = ValueError('this cannot be pickled')
    error.reason = lambda: None
    raise error


def be_killed(_, __):
    os.kill(os.getpid(), signal.SIGKILL)


def write_and_be_killed(job, block):
    """Be killed as a block is in its temporary file."""
    os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
    write_block(job, block)


def write_and_interrupt(job, block):
    """Interrupt the process that gave the task as a block is in its temporary file."""

    def interrupt(_):
        parent = os.getppid()
        while os.getppid() == parent:  # again where the first came while Python ignores errors
            os.kill(parent, signal.SIGINT)
            time.sleep(5)

    os.fsync = interrupt
    write_block(job, block)


def leave(_, status):
    os._exit(status)


def tell_and_wait(fifo, _):
    """Tell the number of the process, then wait for ever."""
    with open(fifo, 'w') as told:
        told.write(f'{os.getpid()}\n')
    signal.pause()
