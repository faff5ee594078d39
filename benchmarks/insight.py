"""Comparison, diagnosis and page of seventeen runs: `python benchmarks/insight.py [REPEATS]`.

Also comparison of tables of scores, and diagnosis where all confidences are equal.
"""

import os
import sys
import warnings
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import machine
import numpy as np
from campaign import make_campaign
from runs import make_runs
from timing import amount, command_of, in_turns, median_taken

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import DataWarning

K = [1, 10, 100, 1000]
REPEATS = 3  # of each process
SYSTEMS, ITEMS = (50, 100, 200), 50
TIED = (150, 600)  # queries


def files_of(folder: Path) -> tuple[Path, Path, list[Path]]:
    """Return the paths of the reference, the queries and the runs."""
    return folder / 'reference.txt', folder / 'queries.txt', sorted((folder / 'runs').iterdir())


def explain_all(folder: Path) -> None:
    """Diagnose each run at each cutoff, as users do."""
    reference, queries, runs = files_of(folder)
    explain = AveragePrecision(reference, K=K).explain
    for run in runs:
        for k in K:
            explain(run, queries, k=k)


def make_scores(path: Path, n_systems: int) -> Path:
    """Write scores of systems, of which some are alike, by item."""
    random = np.random.default_rng(1)  # any seed
    items, systems = random.normal(0, 1, (ITEMS, 1)), random.normal(0, 0.4, n_systems)
    logits = items + systems + random.normal(0, 0.7, (ITEMS, n_systems))
    lines = [','.join(['item', *(f's{number}' for number in range(n_systems))])]
    for number, row in enumerate((1 / (1 + np.exp(-logits))).tolist()):
        lines.append(','.join([f'q{number}', *map(str, row)]))
    path.write_text('\n'.join(lines) + '\n')
    return path


def make_tied(folder: Path, n_queries: int) -> Path:
    """Write a campaign of 30,000 hypotheses, all with one confidence."""
    make_campaign(folder, n_queries=n_queries)
    path = folder / 'hypothesis.txt'
    rows = [line.rsplit(maxsplit=1)[0] for line in path.read_text().splitlines()]
    path.write_text(''.join(f'{row} 0.5\n' for row in rows))
    return folder


def whole_processes(folder: Path, repeats: int) -> list[list[str]]:
    """Return a row for each command: seconds, memory, size of its output."""
    reference, queries, runs = files_of(folder)
    table, page = folder / 'comparison.json', folder / 'report.html'
    package = partial(command_of, sys.executable)
    inputs = [reference, *runs, '--queries', queries, '-K', ','.join(map(str, K))]
    commands: dict[str, tuple[list[object], Path | None]] = {
        '`evaluate`': (package('evaluate', *inputs, '--format', 'csv'), None),
        '`compare`': (package('compare', *inputs, '-o', table), table),
        f'`explain`, {len(runs) * len(K)} calls in one process': (
            [sys.executable, __file__, '--explain', folder],
            None,
        ),
        '`report`': (package('report', *inputs, '-o', page), page),
    }
    for n_systems in SYSTEMS:
        scores, compared = folder / f'{n_systems}.csv', folder / f'{n_systems}.json'
        compare = package('compare', make_scores(scores, n_systems), '-o', compared)
        commands[f'`compare` of scores, {n_systems} systems × {ITEMS} items'] = (compare, compared)
    for n_queries in TIED:
        tied, explained = (
            make_tied(folder / f'{n_queries}', n_queries),
            folder / f'{n_queries}.json',
        )
        files = [tied / f'{name}.txt' for name in ('reference', 'hypothesis')]
        asked = ['--queries', tied / 'queries.txt', '-k', 'all', '-o', explained]
        explain = package('explain', *files, *asked)
        commands[f'`explain -k all`, one confidence, {n_queries} queries'] = (explain, explained)
    done = in_turns({what: command for what, (command, _) in commands.items()}, repeats)
    rows = []
    for what, (_, output) in commands.items():
        size = '' if output is None else f'{output.stat().st_size / 1e6:.2f} MB'
        taken = median_taken([process.taken for process in done[what]])
        times = [f'{taken.seconds:.1f} s', f'{taken.cpu_seconds:.1f} s']
        rows.append([what, *times, amount(taken.peak_mib), size])
    return rows


def main(repeats: int) -> None:
    load = f'Load of the machine before: {os.getloadavg()[0]:.1f} (mean of one minute).'
    with TemporaryDirectory() as name:
        folder = Path(name)
        make_runs(folder)
        about = (
            f'17 runs, 599 queries, K = {" ".join(map(str, K))}; all pairs. Processes: median of '
            f'{repeats}. Nothing stands beside the last five.'
        )
        headers = ['whole process', 'time', 'CPU time', 'memory at most', 'output']
        machine.write(
            'insight', headers, whole_processes(folder, repeats), ['scipy'], [load, about]
        )


if __name__ == '__main__':
    warnings.simplefilter('ignore', DataWarning)  # known ones, of AP above 1
    if sys.argv[1:2] == ['--explain']:
        explain_all(Path(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else REPEATS)
