"""One evaluation on workers of Dask: `python benchmarks/scale_cluster.py --folder DIR`.

Needs the extras `benchmarks` and `cluster`.
"""

import argparse
import json
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from os import cpu_count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import machine
from campaign import large_campaign
from scale import Data, values_of
from timing import command_of, duration, whole_process

N_HYPOTHESES, N_NAMES, N_QUERIES = 10_000_000, 100_000, 2_002
N_WORKERS = 1, 2, 4
DASK = [sys.executable, '-m', 'dask']
PRIVATE = ['--host', '127.0.0.1', '--no-dashboard', '--dashboard-address', '127.0.0.1:0']
START_SECONDS = 60  # a start takes about two
KILLED_AFTER = 0.5  # of the time of the same workers, uninterrupted
HEADERS = ['', 'time', 'CPU time', 'times faster', 'blocks']


@contextmanager
def server(log: Path, pattern: str, *arguments: object) -> Iterator[str]:
    """Start a scheduler or worker, and yield the address that its log has after the pattern."""
    with log.open('wb') as stream:
        command = [*DASK, *map(str, arguments), *PRIVATE]
        process = subprocess.Popen(command, stdout=stream, stderr=stream, start_new_session=True)
    try:
        end = monotonic() + START_SECONDS
        while not (found := re.search(rf'{pattern}:\s+(tcp://\S+)', log.read_text())):
            if monotonic() > end or process.poll() is not None:
                sys.exit(log.read_text())
            sleep(0.05)
        yield found[1]
    finally:
        process.terminate()
        process.wait()


@contextmanager
def cluster(n_workers: int) -> Iterator[str]:
    """Yield the address of a scheduler with workers of one thread each."""
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        start = server(folder / 'scheduler', 'Scheduler at', 'scheduler', '--port', 0)
        address = stack.enter_context(start)
        for number in range(n_workers):
            options = ['--nthreads', 1, '--no-nanny', '--local-directory', folder]
            log = folder / f'worker-{number}'
            stack.enter_context(server(log, 'Registered to', 'worker', address, *options))
        yield address


def kill(command: list[object], seconds: float) -> None:
    """Start a command, and kill it after some seconds."""
    process = subprocess.Popen([*map(str, command)], stderr=subprocess.DEVNULL)
    sleep(seconds)
    process.send_signal(signal.SIGKILL)
    if process.wait() != -signal.SIGKILL:
        sys.exit('the evaluation was done before it was killed')


def cpu_seconds_of_children() -> float:
    """Return the CPU time of all processes that have ended: workers, scheduler and client."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measured(data: Data, n_queries: int) -> Iterator[list[str]]:
    """Yield a row for each number of workers; exit unless all print the same values."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        values: list[str] = []
        seconds: dict[int, float] = {}

        def evaluating(address: str, blocks: Path) -> list[object]:
            options = ['-K', '10,all', '--scheduler', address, '--resume', blocks]
            return data.evaluating(data.store, n_queries, *options)

        for n_workers, is_killed in [*((n, False) for n in N_WORKERS), (2, True)]:
            way = f'{n_workers} workers' if n_workers > 1 else '1 worker'
            if n_workers > (n_cores := cpu_count() or 1):
                way += f' on {n_cores} cores'
            blocks = folder / way
            cpu_begin = cpu_seconds_of_children()
            with cluster(n_workers) as address:
                killed_after, n_kept = 0.0, 0
                if is_killed:
                    blocks = folder / 'killed'
                    killed_after = seconds[n_workers] * KILLED_AFTER
                    kill(evaluating(address, blocks), killed_after)
                    n_kept = len([*blocks.glob('*-*.json')])
                    way += f'; client killed after {duration(killed_after)}, resumed at once'
                process = whole_process(evaluating(address, blocks))  # beside what was left behind
            cpu_seconds = cpu_seconds_of_children() - cpu_begin
            values = values or values_of(process)
            if values_of(process) != values:
                sys.exit(f'{way}: values differ from those of one worker')
            total = killed_after + process.taken.seconds
            seconds.setdefault(n_workers, total)
            n_blocks = len([*blocks.glob('*-*.json')])
            size = json.loads((blocks / 'plan.json').read_text())['block_queries']
            blocks_cell = f'{n_blocks} of {size} queries'
            if is_killed:
                blocks_cell += f', {n_kept} before'
            times = [duration(total), duration(cpu_seconds), f'{seconds[1] / total:.2f}']
            yield [way, *times, blocks_cell]


def main(folder: Path, smaller: int, fewer: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    sizes = N_HYPOTHESES // smaller, N_NAMES // smaller, N_QUERIES // fewer
    data = Data(*sizes[:2], large_campaign(folder, *sizes))
    if not data.store.exists():
        whole_process(command_of(sys.executable, 'index', data.text, '-o', data.store, '--quiet'))
    n_hypotheses, n_names, n_queries = (f'{size:,}' for size in sizes)
    paragraphs = [
        f'`evaluate -K 10,all --resume` of {n_queries} queries about {n_hypotheses} hypotheses of '
        f'{n_names} names, in a store: whole commands beside workers that run already. CPU time is '
        'that of client, scheduler and workers, with their start. All print the same values.',
        machine.table(HEADERS, [*measured(data, sizes[2])]),
    ]
    print('\n\n'.join(paragraphs))
    if smaller == 1:
        machine.write_page('scale-cluster', paragraphs, ['distributed'])


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        '--folder', type=Path, required=True, metavar='DIR', help='where data and store are kept'
    )
    parser.add_argument('--smaller', type=int, default=1, metavar='N', help='divide rows by this')
    parser.add_argument('--fewer', type=int, default=1, metavar='N', help='divide queries by this')
    given = parser.parse_args()
    main(given.folder, given.smaller, given.fewer)
