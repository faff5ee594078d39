"""Times of work in this process, of commands, and of steps in a process of their own."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median
from tempfile import TemporaryFile
from time import perf_counter
from typing import NamedTuple


class Process(NamedTuple):
    """What a command took, and what it printed."""

    seconds: float
    cpu_seconds: float  # of all cores; on a busy machine the steadier figure
    peak_mib: float
    printed: str


def seconds(work: Callable[[], object]) -> float:
    begin = perf_counter()
    work()
    return perf_counter() - begin


def median_seconds(work: Callable[[], object], repeats: int) -> float:
    return median(seconds(work) for _ in range(repeats))


def output_of(command: Sequence[object]) -> str:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout


def whole_process(command: Sequence[object]) -> Process:
    """Run a command, and count all of it: the start of Python, imports, reading, and memory."""
    begin = perf_counter()
    with TemporaryFile('w+') as printed:
        process = subprocess.Popen([*map(str, command)], stdout=printed)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = perf_counter() - begin
        if status:
            raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), process.args)
        printed.seek(0)
        cpu_seconds = usage.ru_utime + usage.ru_stime
        return Process(seconds, cpu_seconds, usage.ru_maxrss / 1024, printed.read())


def print_steps(moments: Sequence[float], *numbers: float) -> None:
    """Print the seconds between moments, and other numbers, for `steps_of`."""
    print(*(after - before for before, after in pairwise(moments)), *numbers)


def steps_of(script: str, folder: object) -> list[float]:
    """Return what a script prints with `--measure`, in a process of its own."""
    return [*map(float, output_of([sys.executable, script, '--measure', folder]).split())]


def peak_gib() -> float:
    """Return the most memory that this process has taken."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
