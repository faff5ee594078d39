"""The population of runs for `simulations.py`, and helpers of its parts."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from runs import make_runs

from mediaeval_ap import AveragePrecision
from mediaeval_ap.comparison.clusters_and_groups import VideosOfQueries, cluster_numbers
from mediaeval_ap.comparison.comparable_runs import read_runs
from mediaeval_ap.comparison.units import Units, units_of
from mediaeval_ap.errors import DataWarning

SEED = 2016  # any seed: everybody gets the same draws
K = [1, 10, 100, 1000]
SHOWN = (0, 2)  # indices of the cutoffs that are shown: 1 and 100
SIZES = (5, 10, 20, 50, 100, 300)  # units that are drawn; then all

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]


@dataclass(frozen=True)
class Population:
    """AP by query of some runs at each cutoff, and the unit of each query."""

    by_cutoff: Floats  # (n_cutoffs, n_runs, n_queries)
    numbers: dict[str, Numbers]  # of the unit of each query, by the kind of units
    n_videos: int

    def units(self, over: str, at: int) -> Units:
        return units_of(self.by_cutoff[at], self.numbers[over])

    def sizes(self, over: str) -> list[int]:
        """Return the numbers of units to draw; the last is all of them."""
        n_units = int(self.numbers[over].max()) + 1
        return [*(n for n in SIZES if n < n_units), n_units]


def synthetic() -> Population:
    with TemporaryDirectory() as name:
        folder = Path(name)
        paths = make_runs(folder)
        return population_of(paths, folder / 'reference.txt', folder / 'queries.txt')


def official(folder: Path) -> Population:
    """Return the runs of a campaign; queries without a relevant shot count 1."""
    reference = max((folder / 'reference').glob('reference.*'))  # with the latest date
    subset = folder / 'reference' / 'test.eval'
    paths = sorted((folder / 'submissions').iterdir())
    return population_of(paths, reference, folder / 'reference' / 'queries.txt', subset)


def population_of(
    paths: Sequence[Path], reference: Path, queries: Path, subset: Path | None = None
) -> Population:
    average_precision = AveragePrecision(reference, K=K, subset=subset)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DataWarning)  # known ones, of AP above 1
        results = {path.stem: average_precision.evaluate(path, queries) for path in paths}
    runs = read_runs(results)
    videos = VideosOfQueries(runs, 'cluster', reference, subset)
    n_videos = len({videos.video(query) for query in runs.queries} - {None})
    numbers = {'queries': np.arange(len(runs.queries)), 'clusters': cluster_numbers(runs, videos)}
    return Population(runs.values, numbers, n_videos)


def generator(*key: int) -> np.random.Generator:
    return np.random.default_rng([SEED, *key])


def pairs_of(units: Units) -> list[tuple[int, int]]:
    """Return the pairs of runs that differ in some unit."""
    sums = units.sums.T
    return [(a, b) for a, b in combinations(range(len(sums)), 2) if (sums[a] != sums[b]).any()]


def share_of(outcomes: Sequence[bool]) -> str:
    """Return the share of the draws with an outcome, and its standard error."""
    share = float(np.mean(outcomes))
    return f'{share:.1%} (± {sqrt(share * (1 - share) / len(outcomes)):.1%})'
