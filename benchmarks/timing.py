"""Times of work in this process, of commands, and of steps in a process of their own."""

import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median
from time import perf_counter


def seconds(work: Callable[[], object]) -> float:
    begin = perf_counter()
    work()
    return perf_counter() - begin


def median_seconds(work: Callable[[], object], repeats: int) -> float:
    return median(seconds(work) for _ in range(repeats))


def output_of(command: Sequence[object]) -> str:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout


def print_steps(moments: Sequence[float], *numbers: float) -> None:
    """Print the seconds between moments, and other numbers, for `steps_of`."""
    print(*(after - before for before, after in pairwise(moments)), *numbers)


def steps_of(script: str, folder: object) -> list[float]:
    """Return what a script prints with `--measure`, in a process of its own."""
    return [*map(float, output_of([sys.executable, script, '--measure', folder]).split())]


def peak_gib() -> float:
    """Return the most memory that this process has taken."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
