"""MAP@12 of more users than memory holds: `python benchmarks/dataset.py [FOLDER] [--users N]`.

Users are made as Parquet files of a million each in FOLDER, unless they are there; without FOLDER,
they are deleted at the end. Each way is timed in a process of its own; `--ways` chooses
some. Needs the extra `cluster`.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import machine
import numpy as np
import pyarrow
from pyarrow import dataset, parquet
from timing import Taken, whole_process

from mediaeval_ap.metrics import MeanAveragePrecision, compute

USERS = 10_000_000
USERS_IN_FILE = 1_000_000
ARTICLES = 100_000
PREDICTED = 12
SEED = 5  # any would do
CHECKED = 10_000  # users at once in the check, which compares each prediction with each article
COLUMNS = ('bought', 'listed')
WORKERS = 2

Labels = np.ndarray  # of int32


def made(n_users: int, seed: tuple[int, int]) -> pyarrow.Table:
    """Make what users bought, and twelve predictions for each, few right, some repeated."""
    random = np.random.default_rng(seed)
    n_bought = random.poisson(3, n_users)  # one user in twenty buys nothing
    bought = popular(random, n_bought.sum())
    listed = popular(random, n_users * PREDICTED)
    places = np.flatnonzero(random.random(len(listed), np.float32) < 0.04)
    users = places // PREDICTED
    places, users = places[n_bought[users] > 0], users[n_bought[users] > 0]
    begins = n_bought.cumsum() - n_bought
    listed[places] = bought[begins[users] + random.integers(0, n_bought[users])]
    offsets = np.append(0, n_bought.cumsum()), np.arange(n_users + 1) * PREDICTED
    return pyarrow.table(
        [
            pyarrow.ListArray.from_arrays(begins.astype(np.int32), labels)
            for begins, labels in zip(offsets, (bought, listed), strict=True)
        ],
        COLUMNS,
    )


def popular(random: np.random.Generator, n: int) -> Labels:
    """Draw articles, of which few are bought often."""
    return (ARTICLES * random.random(n, np.float32) ** 3).astype(np.int32)


def write(folder: Path, n_users: int) -> None:
    """Write the files that are not there, one at a time, so that they take little memory."""
    for number, begin in enumerate(range(0, n_users, USERS_IN_FILE)):
        path = folder / f'{number:04d}.parquet'
        if not path.exists():
            some = made(min(USERS_IN_FILE, n_users - begin), (SEED, number))
            parquet.write_table(some, path, compression='zstd')


def brute_force(folder: Path) -> float:
    """Compute MAP@12 with exact sums and none of the code that is measured."""
    total, n_users = Fraction(0), 0
    for path in sorted(folder.iterdir()):
        for truth, listed in pieces(parquet.read_table(path)):
            hits = (listed[:, :, None] == truth[:, None, :]).any(axis=2)
            for rank in range(1, PREDICTED):  # what stands before does not count again
                hits[:, rank] &= (listed[:, :rank] != listed[:, rank, None]).all(axis=1)
            sums = np.zeros(len(hits))
            for rank in range(PREDICTED):
                sums += hits[:, rank] * (np.count_nonzero(hits[:, : rank + 1], axis=1) / (rank + 1))
            ascending = np.sort(truth, axis=1)
            again = (ascending[:, 1:] == ascending[:, :-1]) & (ascending[:, 1:] >= 0)
            n_true = np.count_nonzero(truth >= 0, axis=1) - np.count_nonzero(again, axis=1)
            values = sums[n_true > 0] / np.minimum(n_true[n_true > 0], PREDICTED)
            n_users += len(values)
            for value, n in zip(*np.unique(values, return_counts=True), strict=True):
                total += Fraction(float(value)) * int(n)
    return float(total / n_users)


def pieces(users: pyarrow.Table) -> Iterator[tuple[Labels, Labels]]:
    """Give true and predicted labels of some users as rectangles; -1 stands for no label."""
    for batch in users.to_batches(CHECKED):
        bought, listed = (batch.column(name) for name in COLUMNS)
        n_bought = bought.value_lengths().to_numpy()
        truth = np.full((len(batch), n_bought.max()), -1)
        truth[np.arange(n_bought.max()) < n_bought[:, None]] = bought.flatten().to_numpy()
        yield truth, listed.flatten().to_numpy().reshape(len(batch), PREDICTED)


def plain_loop(folder: Path) -> float:
    """Compute MAP@12 as one would by hand: pyarrow gives batches, an accumulator takes them."""
    metric = MeanAveragePrecision(PREDICTED)
    for batch in dataset.dataset(folder).to_batches(columns=[*COLUMNS]):
        metric.update(batch['bought'], batch['listed'])
    return metric.compute()


def one_process(folder: Path) -> float:
    return compute(MeanAveragePrecision(PREDICTED), folder, columns=COLUMNS)


def on_dask(folder: Path) -> float:
    """Compute MAP@12 on workers with Dask's own settings, and print their peak memory in MiB."""
    from distributed import Client, LocalCluster

    from mediaeval_ap import cluster

    metric = MeanAveragePrecision(PREDICTED)
    with (
        LocalCluster(WORKERS, threads_per_worker=1, dashboard_address=None) as workers,
        Client(workers) as client,
    ):
        value = cluster.compute(metric, folder, client=client, columns=COLUMNS)
        print(json.dumps(list(client.run(peak_mib).values())))
    return value


def peak_mib() -> float:
    """Return the peak memory of this process alone; `getrusage` counts what began it, too."""
    lines = Path('/proc/self/status').read_text().splitlines()
    (line,) = (each for each in lines if each.startswith('VmHWM'))
    return int(line.split()[1]) / 1024


WAYS: dict[str, tuple[str, Callable[[Path], float]]] = {
    'loop': ('a loop over the batches of pyarrow', plain_loop),
    'process': ('metrics.compute', one_process),
    'dask': (f'cluster.compute, {WORKERS} workers', on_dask),
    'brute': ('brute force with numpy', brute_force),
}


def measured(folder: Path, way: str) -> tuple[Taken, float, list[float]]:
    """Return what a way took in a process of its own, its value, and the peaks of its workers."""
    process = whole_process([sys.executable, __file__, folder, '--way', way])
    *peaks, value = map(json.loads, process.printed.splitlines())
    return process.taken, value, peaks[0]


def compare(folder: Path, ways: list[str]) -> None:
    files = sorted(folder.iterdir())
    n_users = sum(parquet.read_metadata(path).num_rows for path in files)
    n_bytes = sum(path.stat().st_size for path in files)
    rows, values = [], set()
    for way in ways:
        taken, value, peaks = measured(folder, way)
        peak = ' and '.join(f'{peak:.0f} MiB' for peak in peaks)
        times = f'{taken.seconds:.1f}', f'{taken.cpu_seconds:.1f}'
        rows.append([WAYS[way][0], *times, peak, repr(value)])
        values.add(value)
    assert len(values) == 1, f'the values differ: {rows}'
    machine.write(
        f'dataset-{n_users // 1_000_000}m',
        ['MAP@12', 'seconds', 'CPU seconds', 'peak memory', 'value'],
        rows,
        ['dask', 'distributed'],
        [
            f'{n_users:,} users in {len(files)} Parquet files of {n_bytes / 1e9:.2f} GB. Each way '
            'in a process of its own, start and imports included; with Dask, memory is that of '
            'each worker, and all settings are those that Dask has by default.'
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path, nargs='?')
    parser.add_argument('--users', type=int, default=USERS)
    parser.add_argument('--ways', choices=[*WAYS], nargs='+', default=[*WAYS])
    parser.add_argument('--way', choices=[*WAYS], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        value = WAYS[given.way][1](given.folder)
        if given.way != 'dask':
            print(json.dumps([peak_mib()]))
        print(json.dumps(value))
        return
    with TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        write(folder, given.users)
        compare(folder, given.ways)


if __name__ == '__main__':
    main()
