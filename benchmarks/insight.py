"""Comparison, diagnosis and page of seventeen runs, and its statistics beside SciPy and ranx.

`python benchmarks/insight.py [REPEATS]`
"""

import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from math import sqrt
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import machine
import numpy as np
from numpy.typing import NDArray
from runs import make_runs
from timing import Process, command_of, in_turns, median_seconds, median_taken

from mediaeval_ap import AveragePrecision, Comparison, Diagnosis, compare
from mediaeval_ap.comparison.testing import Pair
from mediaeval_ap.errors import DataWarning

K = [1, 10, 100, 1000]
METRIC = 'MAP@100'  # of the values that peers get
RESAMPLES, PERMUTATIONS = 10_000, 100_000
REPEATS = 3  # of each process
NEAR = 0.2  # that of `explain`
N_PEER_PAIRS = 4  # a peer takes seconds for each
MOST_ERRORS = 5  # standard errors between two estimates of p: chance exceeds it once in a million
Floats = NDArray[np.float64]


def files_of(folder: Path) -> tuple[Path, Path, list[Path]]:
    """Return the paths of the reference, the queries and the runs."""
    return folder / 'reference.txt', folder / 'queries.txt', sorted((folder / 'runs').iterdir())


def explain_all(folder: Path) -> list[Diagnosis]:
    """Diagnose each run at each cutoff, as users do."""
    reference, queries, runs = files_of(folder)
    explain = AveragePrecision(reference, K=K).explain
    return [explain(run, queries, k=k) for run in runs for k in K]


def diagnose_all(folder: Path) -> list[Diagnosis]:
    """Diagnose each run at all cutoffs, from one ranking of each query."""
    reference, queries, runs = files_of(folder)
    explain_at = AveragePrecision(reference, K=K).explain_at
    return [each for run in runs for each in explain_at(run, queries)]


def check_sums(diagnoses: list[Diagnosis]) -> None:
    for diagnosis in diagnoses:
        total = np.sum([*diagnosis.parts.values()], axis=0)
        assert np.allclose(total, 1 - diagnosis.ap, rtol=0, atol=1e-12), diagnosis.run


STEPS = {'--explain': explain_all, '--diagnose': diagnose_all}  # in processes of their own


def whole_processes(folder: Path, repeats: int) -> list[list[str]]:
    """Return a row for each command: seconds, memory, size of what it wrote."""
    reference, queries, runs = files_of(folder)
    table, page = folder / 'comparison.json', folder / 'report.html'
    package, own = partial(command_of, sys.executable), [sys.executable, __file__]
    inputs = [reference, *runs, '--queries', queries, '-K', ','.join(map(str, K))]
    counts = ['--resamples', RESAMPLES, '--permutations', PERMUTATIONS]
    commands: dict[str, tuple[list[object], Path | None]] = {
        '`evaluate`': (package('evaluate', *inputs, '--format', 'csv'), None),
        '`compare`': (package('compare', *inputs, *counts, '-o', table), table),
        '`explain`, 68 calls in one process': ([*own, '--explain', folder], None),
        'the same from one ranking for all cutoffs': ([*own, '--diagnose', folder], None),
        '`report`': (package('report', *inputs, '-o', page), page),
    }
    done = in_turns({what: command for what, (command, _) in commands.items()}, repeats)
    rows = []
    for what, (_, output) in commands.items():
        size = '' if output is None else f'{output.stat().st_size / 1e6:.2f} MB'
        rows.append([what, *measured(done[what]), size])
    return rows


def measured(processes: list[Process]) -> list[str]:
    taken = median_taken([process.taken for process in processes])
    peak = max(process.taken.peak_mib for process in processes)
    return [f'{taken.seconds:.1f} s', f'{taken.cpu_seconds:.1f} s', f'{peak:.0f} MiB']


def beside_peers(folder: Path, repeats: int) -> list[list[str]]:
    """Return a row for each peer: seconds, and how far its values are from those of `compare`."""
    reference, queries, runs = files_of(folder)
    average_precision = AveragePrecision(reference, K=K)
    results = {run.stem: average_precision.evaluate(run, queries) for run in runs}
    made: list[Comparison] = []

    def work() -> None:
        made.append(compare(results, resamples=RESAMPLES, permutations=PERMUTATIONS))

    own = median_seconds(work, repeats)
    comparison = made[0]
    what = f'`compare` of what is scored: {len(comparison.pairs)} pairs, all intervals and ranks'
    return [
        [what, f'{own:.1f} s', ''],
        beside('`scipy.stats.permutation_test`, one pair', scipy_p, comparison),
        beside('ranx: Fisher randomisation, one pair', ranx_p, comparison),
        beside_bootstrap(comparison),
    ]


def beside(what: str, peer: Callable[[Floats, Floats], float], comparison: Comparison) -> list[str]:
    """Compare p of the pairs that are nearest to significance."""
    drawn = [pair for pair in comparison.pairs if pair.metric == METRIC and not pair.exact]
    nearest = sorted(drawn, key=lambda pair: abs(pair.p - 0.05))[:N_PEER_PAIRS]
    values = dict(zip(comparison.runs, comparison.values[METRIC], strict=True))
    peer(*[*values.values()][:2])  # compiles what is compiled
    times, errors = [], []
    for pair in nearest:
        begin = perf_counter()
        p = peer(values[pair.a], values[pair.b])
        times.append(perf_counter() - begin)
        errors.append(errors_between(pair, p))
    assert max(errors) < MOST_ERRORS, (what, errors)
    agreement = f'p of {len(nearest)} pairs differs by at most {max(errors):.1f} standard errors'
    return [what, f'{median(times):.1f} s', agreement]


def errors_between(pair: Pair, p: float) -> float:
    """Return how far two estimates of p are apart, in standard errors of their difference."""
    pooled = (pair.p + p) / 2
    return abs(pair.p - p) / sqrt(2 * pooled * (1 - pooled) / PERMUTATIONS)


def scipy_p(a: Floats, b: Floats) -> float:
    from scipy.stats import permutation_test

    found = permutation_test(
        (a - b,),
        lambda differences, axis: differences.mean(axis=axis),
        permutation_type='samples',
        vectorized=True,
        n_resamples=PERMUTATIONS,
        batch=1_000,
        rng=np.random.default_rng(1),
    )
    return float(found.pvalue)


def ranx_p(a: Floats, b: Floats) -> float:
    from ranx.statistical_tests import fisher_randomization_test

    p, _ = fisher_randomization_test(a, b, n_permutations=PERMUTATIONS)
    return float(p)


def beside_bootstrap(comparison: Comparison) -> list[str]:
    """Compare the intervals of all runs with those of SciPy from the same generator."""
    from scipy.stats import bootstrap

    values = dict(zip(comparison.runs, comparison.values[METRIC], strict=True))
    times, distances = [], []
    for standing in comparison.leaderboard:
        if standing.metric != METRIC:
            continue
        begin = perf_counter()
        found = bootstrap(
            (values[standing.run],),
            np.mean,
            n_resamples=RESAMPLES,
            method='BCa',
            batch=1_000,
            rng=np.random.default_rng(comparison.parameters['seed']),
        )
        times.append(perf_counter() - begin)
        bounds = standing.interval.low, standing.interval.high
        distances.append(np.abs(np.array(bounds) - found.confidence_interval).max())
    assert max(distances) < 1e-9, distances  # sums are rounded in another order
    agreement = f'intervals of {len(times)} runs differ by at most {max(distances):.0e}'
    return ['`scipy.stats.bootstrap`, one run', f'{median(times):.2f} s', agreement]


def main(repeats: int) -> None:
    load = f'Load of the machine before: {os.getloadavg()[0]:.1f} (mean of one minute).'
    with TemporaryDirectory() as name:
        folder = Path(name)
        make_runs(folder)
        about = (
            f'17 runs, 599 queries, K = {" ".join(map(str, K))}; {RESAMPLES:,} resamples, '
            f'{PERMUTATIONS:,} permutations (10,000 of Tukey in `report`), all pairs. '
            f'Processes: median of {repeats}.'
        )
        headers = ['whole process', 'time', 'CPU time', 'memory at most', 'output']
        machine.write(
            'insight', headers, whole_processes(folder, repeats), ['scipy'], [load, about]
        )
        headers = ['in one process', 'time', 'agreement']
        machine.write(
            'insight-peers', headers, beside_peers(folder, repeats), ['scipy', 'ranx'], [load]
        )


if __name__ == '__main__':
    warnings.simplefilter('ignore', DataWarning)  # of AP above 1, which is known
    if sys.argv[1:2] and sys.argv[1] in STEPS:
        check_sums(STEPS[sys.argv[1]](Path(sys.argv[2])))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else REPEATS)
