"""Times of work in this process, of commands, and of steps in a process of their own."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from tempfile import TemporaryFile
from time import perf_counter, process_time
from typing import NamedTuple, TypeVar

T = TypeVar('T')


class Taken(NamedTuple):
    """What some work took."""

    seconds: float
    cpu_seconds: float  # of all cores; on a busy machine the steadier figure
    peak_mib: float  # of the process so far


class Process(NamedTuple):
    """What a command took, and what it printed."""

    taken: Taken
    printed: str
    messages: str  # on standard error


def seconds(work: Callable[[], object]) -> float:
    begin = perf_counter()
    work()
    return perf_counter() - begin


def median_seconds(work: Callable[[], object], repeats: int) -> float:
    return median(seconds(work) for _ in range(repeats))


def output_of(command: Sequence[object]) -> str:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout


def measured(work: Callable[[], T]) -> tuple[T, Taken]:
    """Return the value of some work in this process, and what it took."""
    begin, cpu_begin = perf_counter(), process_time()
    value = work()
    seconds, cpu_seconds = perf_counter() - begin, process_time() - cpu_begin
    return value, Taken(seconds, cpu_seconds, peak_gib() * 1024)


def median_taken(of_each: Sequence[Taken]) -> Taken:
    return Taken(*map(median, zip(*of_each, strict=True)))


def whole_process(
    command: Sequence[object], environment: Mapping[str, str] | None = None
) -> Process:
    """Run a command, and count all of it: the start of Python, imports, reading, and memory.

    Python compiles a module once, as it does for users, even where the environment forbids it.
    """
    kept = {name: os.environ[name] for name in os.environ if name != 'PYTHONDONTWRITEBYTECODE'}
    begin = perf_counter()
    with TemporaryFile('w+') as printed, TemporaryFile('w+') as messages:
        process = subprocess.Popen(
            [*map(str, command)],
            stdout=printed,
            stderr=messages,
            env={**kept, **(environment or {})},
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = perf_counter() - begin
        printed.seek(0)
        messages.seek(0)
        taken = Taken(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
        done = Process(taken, printed.read(), messages.read())
    if status:
        sys.stderr.write(done.messages)
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), process.args)
    return done


def command_of(python: str, *arguments: object) -> list[object]:
    """Return a command of the package that an interpreter has, in whatever folder it begins."""
    return [python, '-P', '-m', 'mediaeval_ap', *arguments]


def in_turns(
    commands: Mapping[str, Sequence[object]],
    repeats: int,
    environment: Mapping[str, str] | None = None,
) -> dict[str, list[Process]]:
    """Run each command several times, in turns, so that all see the same machine."""
    runs: dict[str, list[Process]] = {who: [] for who in commands}
    for _ in range(repeats):
        for who, command in commands.items():
            runs[who].append(whole_process(command, environment))
    return runs


def print_steps(moments: Sequence[float], *numbers: float) -> None:
    """Print the seconds between moments, and other numbers, for `steps_of`."""
    print(*(after - before for before, after in pairwise(moments)), *numbers)


def steps_of(script: str, folder: object) -> list[float]:
    """Return what a script prints with `--measure`, in a process of its own."""
    return [*map(float, output_of([sys.executable, script, '--measure', folder]).split())]


def duration(seconds: float) -> str:
    return f'{seconds:.2f} s' if seconds >= 0.9995 else f'{seconds * 1e3:.3g} ms'


def peak_gib() -> float:
    """Return the most memory that this process has taken."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
