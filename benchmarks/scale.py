"""Stores and several processes on runs of any size: `python benchmarks/scale.py --folder DIR`.

Needs the extra `benchmarks`.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import machine
from campaign import large_campaign
from timing import Process, amount, command_of, duration, whole_process

HERE = Path(__file__).parent
SIZES = [  # hypotheses and names
    (100_000, 100_000),
    (1_000_000, 100_000),
    (10_000_000, 1_000),
    (10_000_000, 100_000),
    (10_000_000, 1_000_000),
]
AT = 10_000_000, 100_000  # of several processes, and of the peer
N_QUERIES = 10_000
BATCH = 1_000  # of one process
N_OF_PEER = 10  # queries
TOLERANCE = 1e-12  # as a peer may add in another order
INDEX_HEADERS = ['time', 'CPU time', 'memory at most', 'text', 'store']
STEP_HEADERS = [
    *('', 'open, or read and index', 'private memory', 'first answer', 'next answer'),
    *('query of a batch', 'memory at most'),
]
BATCH_HEADERS = ['time', 'CPU time', 'times faster', 'each query', 'a million queries']
PEER_HEADERS = ['', 'read and index, or open', 'one query', 'largest difference of any AP']


@dataclass(frozen=True)
class Data:
    """A run with its reference and queries."""

    n_hypotheses: int
    n_names: int
    folder: Path

    @property
    def cells(self) -> list[str]:
        return [f'{self.n_hypotheses:,}', f'{self.n_names:,}']

    @property
    def text(self) -> Path:
        return self.folder / 'hypothesis.txt'

    @property
    def store(self) -> Path:
        return self.folder / 'run.store'

    def evaluating(self, run: Path, n_queries: int, *options: object) -> list[object]:
        queries = self.folder / f'queries-{n_queries}.txt'
        names = (self.folder / 'queries.txt').read_text().splitlines(keepends=True)
        queries.write_text(''.join(names[:n_queries]))
        files = [self.folder / 'reference.txt', run, '--queries', queries]
        form = ['--per-query', '--format', 'csv', '--quiet']
        return command_of(sys.executable, 'evaluate', *files, *form, *options)


def data_of(size: tuple[int, int], folder: Path, smaller: int) -> Data:
    n_hypotheses, n_names = (n // smaller for n in size)
    n_queries = N_QUERIES // smaller
    made = large_campaign(folder, n_hypotheses, n_names, n_queries, 5 * n_queries)
    return Data(n_hypotheses, n_names, made)


def size_of(path: Path) -> str:
    """Return the size of a file, or of the files of a folder."""
    files = [path] if path.is_file() else [*path.iterdir()]
    return amount(sum(each.stat().st_size for each in files) / 2**20)


def indexed(data: Data) -> list[str]:
    command = command_of(sys.executable, 'index', data.text, '-o', data.store, '--quiet')
    taken = whole_process(command).taken
    times = [duration(taken.seconds), duration(taken.cpu_seconds)]
    return [*data.cells, *times, amount(taken.peak_mib), size_of(data.text), size_of(data.store)]


def steps_of(data: Data, n_queries: int) -> dict[str, dict[str, Any]]:
    """Measure the steps on the store and in memory; exit unless both give the same values."""
    script = [sys.executable, HERE / 'scale_steps.py']
    runs = {'store': data.store, 'memory': data.text}
    steps: dict[str, dict[str, Any]] = {
        kind: json.loads(whole_process([*script, kind, data.folder, run, n_queries]).printed)
        for kind, run in runs.items()
    }
    if steps['store']['digest'] != steps['memory']['digest']:
        sys.exit(f'{data.folder}: the store and the run in memory give different values')
    return steps


def answered(data: Data, n_queries: int) -> Iterator[list[str]]:
    for kind, steps in steps_of(data, n_queries).items():
        times = [duration(steps[step]) for step in ('first', 'next', 'query')]
        memory = [amount(steps[each]) for each in ('private', 'peak')]
        yield [*data.cells, kind, duration(steps['open']), memory[0], *times, memory[1]]


def values_of(process: Process) -> list[str]:
    """Return the lines of CSV without the name of the run."""
    return [line.partition(',')[2] for line in process.printed.splitlines()]


def in_processes(data: Data, n_queries: int) -> Iterator[list[str]]:
    """Yield a row for each way to evaluate many queries; exit unless all print the same values."""
    with TemporaryDirectory() as folder:
        resume = ['--resume', Path(folder, 'blocks')]
        ways = {
            'one process': data.evaluating(data.store, n_queries),
            '`--jobs 2`': data.evaluating(data.store, n_queries, '--jobs', 2),
            '`--resume`': data.evaluating(data.store, n_queries, *resume),
            '`--resume`, all is there': data.evaluating(data.store, n_queries, *resume),
            'run of text, `--jobs 2`': data.evaluating(data.text, n_queries, '--jobs', 2),
        }
        done = {way: whole_process(command) for way, command in ways.items()}
    one = done['one process']
    for way, process in done.items():
        if values_of(process) != values_of(one):
            sys.exit(f'{way}: values differ from those of one process')
        seconds, cpu_seconds, _ = process.taken
        each = seconds / n_queries
        yield [
            *(way, duration(seconds), duration(cpu_seconds), f'{one.taken.seconds / seconds:.2f}'),
            *(duration(each), f'{cpu_seconds / n_queries * 1e6 / 3600:.2f} core hours'),
        ]


def beside_peer(data: Data) -> list[list[str]]:
    command = [sys.executable, HERE / 'polars_peer.py', data.folder, N_OF_PEER]
    peer = json.loads(whole_process(command).printed)
    printed = whole_process(data.evaluating(data.store, N_OF_PEER))
    ours = [[*map(float, line.split(',')[2:-2])] for line in values_of(printed)[1:]]
    pairs = zip(ours[:N_OF_PEER], peer['values'], strict=True)
    difference = max(abs(one - other) for pair in pairs for one, other in zip(*pair, strict=True))
    if not difference < TOLERANCE:
        sys.exit(f'polars_peer.py: found AP that differs by {difference}, expected equal values')
    own = steps_of(data, N_OF_PEER)
    rows = [[kind, duration(own[kind]['open']), duration(own[kind]['next']), ''] for kind in own]
    times = [duration(peer['open']), duration(peer['send'])]
    return [*rows, ['`polars_peer.py`', *times, f'{difference:.0e}']]


def main(folder: Path, smaller: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    every = [data_of(size, folder, smaller) for size in SIZES]
    at = data_of(AT, folder, smaller)
    sizes, batch = ['hypotheses', 'names'], BATCH // smaller
    paragraphs = [
        '#### Index',
        '`index` of a run of text: whole processes, each once.',
        machine.table([*sizes, *INDEX_HEADERS], [indexed(data) for data in every]),
        '#### Open and answer',
        f'Steps of one process: CPU time of opening, of a first answer, and of 30 more (median); '
        f'wall time of each query of a batch of {batch:,}. A run of text is read and indexed, a '
        'store is opened. Private memory is taken after this. Both give the same values.',
        machine.table(
            [*sizes, *STEP_HEADERS], [row for data in every for row in answered(data, batch)]
        ),
        '#### Many queries',
        f'`evaluate` of {N_QUERIES // smaller:,} queries about {at.n_hypotheses:,} hypotheses of '
        f'{at.n_names:,} names: whole commands. All print the same values.',
        machine.table(['', *BATCH_HEADERS], [*in_processes(at, N_QUERIES // smaller)]),
        '#### Beside Polars',
        'The same run; one query is the median of some, CPU time.',
        machine.table(PEER_HEADERS, beside_peer(at)),
    ]
    print('\n\n'.join(paragraphs))
    if smaller == 1:
        machine.write_page('scale', paragraphs, ['polars'])


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        '--folder', type=Path, required=True, metavar='DIR', help='where data and stores are kept'
    )
    parser.add_argument('--smaller', type=int, default=1, metavar='N', help='divide sizes by this')
    given = parser.parse_args()
    main(given.folder, given.smaller)
