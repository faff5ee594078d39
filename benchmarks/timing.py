"""Time and memory of work in this process, and of commands."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile
from time import perf_counter, process_time
from typing import NamedTuple, TypeVar

T = TypeVar('T')


class Taken(NamedTuple):
    """Seconds and memory of some work."""

    seconds: float
    cpu_seconds: float  # of all cores; steadier on a busy machine
    peak_mib: float  # of the process so far; of a command, of the largest of its processes


class Process(NamedTuple):
    """Seconds, memory and output of a command."""

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
    """Return the value of some work in this process, and its seconds and memory."""
    begin, cpu_begin = perf_counter(), process_time()
    value = work()
    seconds, cpu_seconds = perf_counter() - begin, process_time() - cpu_begin
    return value, Taken(seconds, cpu_seconds, peak_mib())


def median_taken(of_each: Sequence[Taken]) -> Taken:
    return Taken(*map(median, zip(*of_each, strict=True)))


def whole_process(command: Sequence[object]) -> Process:
    """Run a command; measure all of it, also the start of Python, imports and reading.

    Modules are compiled once, as for users, even if the environment forbids it.
    """
    kept = {name: os.environ[name] for name in os.environ if name != 'PYTHONDONTWRITEBYTECODE'}
    begin = perf_counter()
    with TemporaryFile('w+') as printed, TemporaryFile('w+') as messages:
        process = subprocess.Popen([*map(str, command)], stdout=printed, stderr=messages, env=kept)
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
    """Return a command of the package that an interpreter has installed, for any working folder."""
    return [python, '-P', '-m', 'mediaeval_ap', *arguments]


def in_turns(commands: Mapping[str, Sequence[object]], repeats: int) -> dict[str, list[Process]]:
    """Run each command several times, in turns, so that the load of the machine is the same."""
    runs: dict[str, list[Process]] = {who: [] for who in commands}
    for _ in range(repeats):
        for who, command in commands.items():
            runs[who].append(whole_process(command))
    return runs


def duration(seconds: float) -> str:
    return f'{seconds:.2f} s' if seconds >= 0.9995 else f'{seconds * 1e3:.3g} ms'


def amount(mib: float) -> str:
    return f'{mib / 1024:.2f} GiB' if mib >= 1024 else f'{mib:.0f} MiB'


def peak_mib() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def private_mib() -> float:
    """Return the memory of this process that no file and no other process shares."""
    lines = Path('/proc/self/status').read_text().splitlines()
    (line,) = (line for line in lines if line.startswith('RssAnon:'))
    return int(line.split()[1]) / 1024
