"""What the sections of `scale.py` stand on: data, tables, and processes with their memory."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from typing import NamedTuple

from campaign import large_campaign
from memory import Memory, Watch
from timing import Taken, command_of, median_taken, output_of, whole_process

HYPOTHESES = (100_000, 1_000_000, 10_000_000)
NAMES = (1_000, 10_000, 100_000, 1_000_000)
QUERIES = (1, 10, 100, 1_000, 10_000)
RELEVANT = 5  # rows of the reference for each query, in the mean
AT = HYPOTHESES[-1], 100_000  # hypotheses and names where queries grow


class Data(NamedTuple):
    """A run with its reference and queries."""

    n_hypotheses: int
    n_names: int
    folder: Path

    @property
    def text(self) -> Path:
        return self.folder / 'hypothesis.txt'

    @property
    def reference(self) -> Path:
        return self.folder / 'reference.txt'

    @property
    def n_queries(self) -> int:
        with open(self.folder / 'queries.txt') as file:
            return sum(1 for _ in file)  # of few names, there are fewer than 10,000

    def queries(self, count: int) -> Path:
        """Return a file of the first queries."""
        path = self.folder / f'queries-{count}.txt'
        with open(self.folder / 'queries.txt') as file:
            path.write_text(''.join(islice(file, count)))
        return path

    def store(self) -> Path:
        """Return the store of the run; build it if it is not there."""
        path = self.folder / 'run.store'
        if not path.exists():
            output_of(indexing(self.text, path))
        return path


@dataclass(frozen=True)
class Settings:
    """Where data are, what their sizes are divided by, and how often each process runs."""

    folder: Path
    smaller: int
    repeats: int

    def data(self, n_hypotheses: int, n_names: int) -> Data:
        sizes = n_hypotheses // self.smaller, n_names // self.smaller
        n_queries = max(QUERIES) // self.smaller
        folder = large_campaign(self.folder, *sizes, n_queries, RELEVANT * n_queries)
        return Data(*sizes, folder)

    def grid(self) -> Iterator[Data]:
        for n_hypotheses in HYPOTHESES:
            for n_names in NAMES:
                if n_names <= n_hypotheses:
                    yield self.data(n_hypotheses, n_names)


@dataclass
class Section:
    """A table, and seconds of it by hypotheses, names and step, for exponents and costs."""

    about: str
    headers: list[str]
    rows: list[list[str]] = field(default_factory=list)
    times: list[tuple[int, int, dict[str, float]]] = field(default_factory=list)

    def add(self, data: Data, *cells: str, times: Mapping[str, float]) -> None:
        row = [f'{data.n_hypotheses:,}', f'{data.n_names:,}', *cells]
        print(*row, sep=' | ', flush=True)
        self.rows.append(row)
        self.times.append((data.n_hypotheses, data.n_names, dict(times)))


class Watched(NamedTuple):
    """What a command took, with the memory of its processes, and what it printed."""

    taken: Taken
    largest: Memory
    private_together: float
    printed: str


def indexing(run: Path, store: Path) -> list[object]:
    return command_of(sys.executable, 'index', run, '-o', store, '--quiet')


def evaluating(data: Data, run: Path, count: int, *options: object) -> list[object]:
    files = [data.reference, run, '--queries', data.queries(count)]
    form = ['--per-query', '--format', 'csv', '--quiet']
    return command_of(sys.executable, 'evaluate', *files, *form, *options)


def values_of(printed: str) -> list[str]:
    """Return the lines of CSV without the name of the run."""
    return [line.partition(',')[2] for line in printed.splitlines()]


def watched(command: Sequence[object]) -> Watched:
    with Watch() as watch:
        process = whole_process(command)
    return Watched(process.taken, watch.largest, watch.private_together, process.printed)


def middle(runs: Sequence[Watched]) -> Watched:
    """Return the medians of what was measured."""
    private, peak = (median(column) for column in zip(*(run.largest for run in runs), strict=True))
    return Watched(
        median_taken([run.taken for run in runs]),
        Memory(private, peak),
        median(run.private_together for run in runs),
        runs[0].printed,
    )


def check_equal(values: Iterable[object]) -> None:
    first, *others = values
    for value in others:
        if value != first:
            sys.exit(f'found the values {value}, expected those of the first, {first}')
