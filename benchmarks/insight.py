"""Comparison, diagnosis and report of seventeen runs, beside SciPy and ranx.

`python benchmarks/insight.py`
"""

import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import machine
import numpy as np
from numpy.typing import NDArray
from runs import make_runs
from timing import Process, peak_gib, print_steps, seconds, whole_process

from mediaeval_ap import AveragePrecision, Comparison, compare

K = [1, 10, 100, 1000]
RESAMPLES, PERMUTATIONS = 10_000, 100_000
REPEATS = 3
N_PEER_PAIRS = 4  # a peer takes seconds for each
Floats = NDArray[np.float64]


def explain_all(folder: Path) -> None:
    """Print the seconds of all diagnoses, from start to end of the work, and peak memory."""
    begin = perf_counter()
    average_precision = AveragePrecision(folder / 'reference.txt')
    for path in sorted((folder / 'runs').iterdir()):
        for k in K:
            diagnosis = average_precision.explain(path, folder / 'queries.txt', k=k)
            parts = np.sum([*diagnosis.parts.values()], axis=0)
            assert np.allclose(parts, 1 - diagnosis.ap, rtol=0, atol=1e-12)
    print_steps([begin, perf_counter()], peak_gib())


def whole_processes(folder: Path) -> list[list[str]]:
    """Return a row for each command: seconds, memory, and what it wrote."""
    reference, page = folder / 'reference.txt', folder / 'report.html'
    runs = sorted((folder / 'runs').iterdir())
    package = [sys.executable, '-m', 'mediaeval_ap']
    options = ['--queries', folder / 'queries.txt']
    cutoffs = ['-K', ','.join(map(str, K))]
    counts = ['--resamples', RESAMPLES, '--permutations', PERMUTATIONS]
    table = folder / 'pairs.json'
    commands = {
        '`evaluate`, for comparison': ['evaluate', reference, *runs, *options, *cutoffs],
        '`compare`, 17 runs × 4 cutoffs': [
            *('compare', reference, *runs, *options, *cutoffs, *counts),
            *('--format', 'json', '-o', table),
        ],
        '`report`, 17 runs': ['report', reference, *runs, *options, '-o', page],
    }
    rows = []
    for what, command in commands.items():
        rows.append(row_of(what, [whole_process([*package, *command]) for _ in range(REPEATS)]))
    command = [sys.executable, __file__, '--explain', folder]
    processes = [whole_process(command) for _ in range(REPEATS)]
    rows.append(row_of('`explain` in Python, 17 runs × 4 cutoffs', processes))
    rows[2].append(f'{page.stat().st_size / 1e6:.2f} MB')
    return rows


def row_of(what: str, processes: list[Process]) -> list[str]:
    peak = max(process.peak_mib for process in processes)
    return [what, f'{median(each.seconds for each in processes):.1f} s', f'{peak:.0f} MiB']
