"""Memory of processes as Linux counts it: of steps of this one, or of commands it runs."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from threading import Event, Thread
from typing import NamedTuple, Self, TypeVar

from timing import measured

T = TypeVar('T')
Step = dict[str, float]  # as `step` returns it
Steps = dict[str, Step]

EVERY = 0.02  # seconds between two looks


class Memory(NamedTuple):
    """Memory of a process, in MiB."""

    private: float  # RssAnon: what it shares with no file and no other process
    peak: float  # VmHWM, which is ru_maxrss: the most so far, with pages of mapped files


def amount(mib: float) -> str:
    return f'{mib / 1024:.2f} GiB' if mib >= 1024 else f'{mib:.0f} MiB'


def memory_of(pid: int | str = 'self') -> Memory:
    lines = Path(f'/proc/{pid}/status').read_text().splitlines()
    fields = dict(line.split(':', 1) for line in lines)
    private, peak = (int(fields[name].split()[0]) / 1024 for name in ('RssAnon', 'VmHWM'))
    return Memory(private, peak)


def step(work: Callable[[], T]) -> tuple[T, Step]:
    """Return the value of some work, its time, and the memory of the process after it, in MiB."""
    value, taken = measured(work)
    private, peak = memory_of()
    times = {'seconds': taken.seconds, 'cpu': taken.cpu_seconds}
    return value, {**times, 'private': private, 'peak': peak}


def medians(steps: Sequence[Step]) -> Step:
    return {name: median(step[name] for step in steps) for name in steps[0]}


def begun_by(pid: int) -> Iterator[int]:
    """Yield all processes that a process has begun, and those that they have."""
    for thread in Path(f'/proc/{pid}/task').glob('*'):
        with suppress(OSError):  # it has ended
            for child in map(int, (thread / 'children').read_text().split()):
                yield child
                yield from begun_by(child)


class Watch(Thread):
    """Looks at the memory of all processes that this one has begun, as long as a block runs."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most: dict[int, Memory] = {}  # of each process
        self.private_together = 0.0  # the most at one moment
        self._done = Event()
        self._error: BaseException | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._done.set()
        self.join()
        if self._error:
            raise self._error

    def run(self) -> None:
        try:
            while not self._done.wait(EVERY):
                self._look()
        except BaseException as error:  # else memory would be missing without a word
            self._error = error

    def _look(self) -> None:
        together = 0.0
        for pid in [*begun_by(os.getpid())]:
            try:
                now = memory_of(pid)
            except (KeyError, OSError):  # it has ended
                continue
            together += now.private
            before = self.most.get(pid, now)
            self.most[pid] = Memory(max(now.private, before.private), max(now.peak, before.peak))
        self.private_together = max(together, self.private_together)

    @property
    def largest(self) -> Memory:
        """The most of any one process."""
        private, peak = map(max, zip(*self.most.values(), strict=True))
        return Memory(private, peak)
