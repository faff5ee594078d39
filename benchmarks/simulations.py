"""Level of the tests and coverage of the intervals of `compare`, by simulation.

`python benchmarks/simulations.py [--official FOLDER]`: queries are drawn again and again, with
replacement, from AP by query of some runs. So the mean over all queries is the truth.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from math import sqrt
from multiprocessing import Pool
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import machine
import numpy as np
from numpy.typing import NDArray
from runs import make_runs

from mediaeval_ap import AveragePrecision
from mediaeval_ap.comparison.bootstrap import bootstrap_intervals, t_intervals
from mediaeval_ap.comparison.groups import Places, cluster_numbers
from mediaeval_ap.comparison.runs import read_runs
from mediaeval_ap.comparison.sign_flips import sign_flips
from mediaeval_ap.comparison.tukey import tukey
from mediaeval_ap.comparison.units import Units, units_of
from mediaeval_ap.errors import DataWarning

SEED = 2016  # any would do: everybody gets the same draws
N_QUERIES = 599
CHUNK = 50  # draws of a task
ALPHA, LEVEL = 0.05, 0.95
MODEL_VIDEOS, MODEL_MEAN = 120, 1.75 / 6  # half of the queries are answered, with 7/12
Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]
Outcomes = Sequence[bool | None]  # None: there is no interval
Draw = Callable[[np.random.Generator], Outcomes]


@dataclass(frozen=True)
class Population:
    """AP by query of some runs, and the number of the video of each query."""

    names: list[str]
    values: Floats  # (n_runs, n_queries)
    videos: Numbers

    def statistics(self) -> list[str]:
        """Return what has an interval: each mean, and the differences to the first run."""
        shares = [np.mean(self.values[0] != each) for each in self.values[1:]]
        return [f'MAP of {name}' for name in self.names] + [
            f'difference of {self.names[0]} and {name} (not 0 for {share:.0%} of the queries)'
            for name, share in zip(self.names[1:], shares, strict=True)
        ]


@dataclass(frozen=True)
class Study:
    """What is drawn, and its outcomes: the test finds a difference, the interval has the truth."""

    what: str
    n_queries: str
    expected: str
    outcomes: list[str]
    draw: Draw


def seed_of(random: np.random.Generator) -> int:
    return int(random.integers(1 << 32))


def exchangeable(every: Floats, n_runs: int, n: int, random: np.random.Generator) -> Units:
    """Draw queries, and give the values of each to runs at random: no run is better."""
    drawn = every[:, random.integers(every.shape[1], size=n)]
    return units_of(random.permuted(drawn, axis=0)[:n_runs], np.arange(n))


def is_below(units: Units, permutations: int, random: np.random.Generator) -> bool:
    """Return whether sign flips tell two runs apart."""
    pair = (np.array([0]), np.array([1]))
    (p,), _ = sign_flips(
        units.sums, units.sizes, pair, units.tolerance, permutations, seed_of(random)
    )
    return bool(p <= ALPHA)


def flips(every: Floats, n: int, permutations: int, random: np.random.Generator) -> Outcomes:
    return [is_below(exchangeable(every, 2, n, random), permutations, random)]


def any_differ(
    every: Floats, n_runs: int, permutations: int, random: np.random.Generator
) -> Outcomes:
    """Return whether Tukey's test tells any two runs apart."""
    units = exchangeable(every, n_runs, N_QUERIES, random)
    pairs = np.triu_indices(n_runs, 1)
    sums = units.sums[:, :, None]
    p = tukey(sums, pairs, units.tolerance, permutations, seed_of(random))
    return [bool(p.min() <= ALPHA)]


def covered(
    values: Floats,
    clusters: Numbers,
    truth: Floats,
    kind: str,
    resamples: int,
    random: np.random.Generator,
) -> list[bool | None]:
    """Return whether the interval of each mean, and of each difference to the first, is right."""
    others = np.arange(1, len(values))
    first = np.zeros_like(others)
    if kind == 't':
        intervals = t_intervals(np.concatenate([values, values[first] - values[others]]), LEVEL)
    else:
        units = units_of(values, clusters)
        found = bootstrap_intervals(
            units, (first, others), 'bca', LEVEL, resamples, seed_of(random)
        )
        intervals = found.runs + found.pairs
    truths = np.concatenate([truth, truth[first] - truth[others]])
    return [
        None if each.low is None or each.high is None else bool(each.low <= mean <= each.high)
        for each, mean in zip(intervals, truths, strict=True)
    ]


def of_queries(
    values: Floats, n: int, kind: str, resamples: int, random: np.random.Generator
) -> Outcomes:
    drawn = values[:, random.integers(values.shape[1], size=n)]
    return covered(drawn, np.arange(n), values.mean(axis=1), kind, resamples, random)


def of_videos(population: Population, resamples: int, random: np.random.Generator) -> Outcomes:
    """Draw videos, each with all its queries."""
    numbers = range(population.videos.max() + 1)
    members = [np.flatnonzero(population.videos == number) for number in numbers]
    chosen = [members[number] for number in random.integers(len(members), size=len(members))]
    videos = np.repeat(np.arange(len(chosen)), [len(each) for each in chosen])
    values = population.values[:, np.concatenate(chosen)]
    return both_ways(values, videos, population.values.mean(axis=1), resamples, random)


def model(n_runs: int, random: np.random.Generator) -> tuple[Floats, Numbers]:
    """Draw AP for videos of five queries on average; more is answered in some than in others."""
    videos = np.repeat(np.arange(MODEL_VIDEOS), random.geometric(0.2, MODEL_VIDEOS))
    shares = random.random((n_runs, MODEL_VIDEOS))[:, videos]
    answered = random.random(shares.shape) < shares
    return answered * random.choice([0.25, 0.5, 1.0], shares.shape), videos


def of_model(resamples: int, random: np.random.Generator) -> Outcomes:
    return both_ways(*model(1, random), np.array([MODEL_MEAN]), resamples, random)


def flips_of_model(permutations: int, random: np.random.Generator) -> Outcomes:
    """Return whether flips by query, and flips by video, tell two equal runs apart."""
    values, videos = model(2, random)
    units = [units_of(values, clusters) for clusters in (np.arange(len(videos)), videos)]
    return [is_below(each, permutations, random) for each in units]


def both_ways(
    values: Floats, videos: Numbers, truth: Floats, resamples: int, random: np.random.Generator
) -> Outcomes:
    queries = np.arange(len(videos))
    return [
        *covered(values, queries, truth, 'bca', resamples, random),
        *covered(values, videos, truth, 'bca', resamples, random),
    ]


def studies(
    population: Population, every: Floats, resamples: int, permutations: int
) -> Iterator[Study]:
    """Return all studies; `every` is AP by query of all runs."""
    outcomes = [f'p ≤ {ALPHA}']
    for n in (N_QUERIES, 50, 20):
        draw: Draw = partial(flips, every, n, permutations)
        yield Study('sign flips, equal runs', f'{n}', '5 %', outcomes, draw)
    yield tukey_study(every, min(5, len(every)), permutations)
    for kind in ('bca', 't'):
        for n in (N_QUERIES, 50, 20):
            draw = partial(of_queries, population.values, n, kind, resamples)
            yield Study(f'interval {kind}', f'{n}', '95 %', population.statistics(), draw)
    model_queries = f'about {5 * MODEL_VIDEOS}'
    outcomes = [f'p ≤ {ALPHA}, flips by {unit}' for unit in ('query', 'video')]
    draw = partial(flips_of_model, permutations)
    yield Study(f'sign flips, model of {MODEL_VIDEOS} videos', model_queries, '5 %', outcomes, draw)
    outcomes = [f'mean, intervals over {over}' for over in ('queries', 'videos')]
    draw = partial(of_model, resamples)
    what = f'interval bca, model of {MODEL_VIDEOS} videos'
    yield Study(what, model_queries, '95 %', outcomes, draw)
    outcomes = [
        f'{what}, intervals over {over}'
        for over in ('queries', 'videos')
        for what in population.statistics()
    ]
    what = f'interval bca, {population.videos.max() + 1} videos drawn'
    draw = partial(of_videos, population, resamples)
    yield Study(what, f'about {N_QUERIES}', '95 %', outcomes, draw)
    if len(every) > 5:
        yield tukey_study(every, len(every), permutations)


def tukey_study(every: Floats, n_runs: int, permutations: int) -> Study:
    draw = partial(any_differ, every, n_runs, permutations)
    what = f'Tukey HSD, {n_runs} equal runs'
    return Study(what, f'{N_QUERIES}', '5 %', [f'any p ≤ {ALPHA}'], draw)


def outcomes_of(task: tuple[Study, int, range]) -> list[Outcomes]:
    """Return the outcomes of some draws, each with a generator of its own."""
    study, number, draws = task
    return [study.draw(np.random.default_rng([SEED, number, draw])) for draw in draws]


def rows_of(study: Study, drawn: list[Outcomes]) -> Iterator[list[str]]:
    """Return a row of each outcome, with the standard error of the simulation."""
    for name, column in zip(study.outcomes, zip(*drawn, strict=True), strict=True):
        defined = [outcome for outcome in column if outcome is not None]
        share = sum(defined) / len(defined)
        error = sqrt(share * (1 - share) / len(defined))
        yield [
            *(study.what, study.n_queries, name, study.expected, f'{share:.2%}', f'{error:.2%}'),
            f'{len(column) - len(defined)}',
        ]


def synthetic() -> tuple[Population, Floats]:
    """Return three synthetic runs, of which two are nearly equal, and AP of all seventeen."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        paths = make_runs(folder)
        every = population_of(paths, folder / 'reference.txt', folder / 'queries.txt')
    names = ['birch_primary', 'birch_1', 'cedar_primary']
    values = every.values[[every.names.index(name) for name in names]]
    return Population(names, values, every.videos), every.values


def official(folder: Path) -> tuple[Population, Floats]:
    """Return the runs of a campaign; queries without a relevant shot count 1."""
    [reference] = (folder / 'reference').glob('reference.*')
    subset = folder / 'reference' / 'test.eval'
    paths = sorted((folder / 'submissions').iterdir())
    every = population_of(paths, reference, folder / 'reference' / 'queries.txt', subset)
    return every, every.values


def population_of(
    paths: Sequence[Path], reference: Path, queries: Path, subset: Path | None = None
) -> Population:
    average_precision = AveragePrecision(reference, K=[100], subset=subset)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DataWarning)  # of AP above 1, which is known
        results = {path.stem: average_precision.evaluate(path, queries) for path in paths}
    runs = read_runs(results)
    videos = cluster_numbers(runs, Places(runs, 'cluster', reference, subset))
    return Population(runs.names, runs.values[0], videos)


def simulate(chosen: Iterator[Study], draws: int, about: Sequence[str], name: str) -> None:
    """Carry out the studies, and keep the rows of those that are done."""
    rows: list[list[str]] = []
    headers = [
        *('', 'queries', 'outcome', 'expected', 'measured', 'standard error'),
        'draws without interval',
    ]
    with Pool() as pool:
        for number, study in enumerate(chosen):
            begin = perf_counter()
            starts = range(0, draws, CHUNK)
            tasks = [(study, number, range(at, min(at + CHUNK, draws))) for at in starts]
            drawn = [each for part in pool.imap(outcomes_of, tasks) for each in part]
            rows += rows_of(study, drawn)
            text = machine.keep(name, headers, rows, ['scipy'], about)
            print(f'{study.what}, {study.n_queries} queries: {perf_counter() - begin:.0f} s')
    print(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--official', type=Path, help='folder of a campaign')
    parser.add_argument('--draws', type=int, default=2_000)
    parser.add_argument('--resamples', type=int, default=1_000, help='of each draw')
    parser.add_argument('--permutations', type=int, default=999, help='of each draw')
    given = parser.parse_args()
    population, every = synthetic() if given.official is None else official(given.official)
    about = [
        f'{date.today()}; {given.draws:,} draws of queries, seed {SEED}; in each, '
        f'{given.resamples:,} resamples and {given.permutations:,} permutations (`compare` takes '
        '10,000 and 100,000).'
    ]
    chosen = studies(population, every, given.resamples, given.permutations)
    name = 'simulations' if given.official is None else 'simulations-official'
    simulate(chosen, given.draws, about, name)


if __name__ == '__main__':
    main()
