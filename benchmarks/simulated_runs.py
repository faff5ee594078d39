"""The runs that `simulations.py` draws from, and what its parts share."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from runs import make_runs

from mediaeval_ap import AveragePrecision
from mediaeval_ap.comparison.comparable_runs import VideosOfQueries, cluster_numbers, read_runs
from mediaeval_ap.errors import DataWarning

LEVEL = 0.95  # of intervals
SEED = 2016  # any would do: everybody gets the same draws
K = [1, 10, 100, 1000]
OF_CLAIMS = 2  # the place of the cutoff that intervals, ranks and families are about
SIZES = (599, 100, 20)  # queries that are drawn
AT_ONCE = 50  # draws that share patterns of signs

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True)
class Population:
    """AP by query of some runs at each cutoff, and the number of the video of each query."""

    names: list[str]
    by_cutoff: Floats  # (n_cutoffs, n_runs, n_queries)
    clusters: Numbers  # a query without a video is a cluster of its own
    has_video: Booleans

    @property
    def values(self) -> Floats:
        values: Floats = self.by_cutoff[OF_CLAIMS]
        return values

    @property
    def n_videos(self) -> int:
        return len({*self.clusters[self.has_video].tolist()})


@dataclass(frozen=True)
class Settings:
    draws: int
    resamples: int
    permutations: int


def synthetic() -> Population:
    with TemporaryDirectory() as name:
        folder = Path(name)
        paths = make_runs(folder)
        return population_of(paths, folder / 'reference.txt', folder / 'queries.txt')


def official(folder: Path) -> Population:
    """Return the runs of a campaign; queries without a relevant shot count 1."""
    reference = max((folder / 'reference').glob('reference.*'))  # the last by its date
    subset = folder / 'reference' / 'test.eval'
    paths = sorted((folder / 'submissions').iterdir())
    return population_of(paths, reference, folder / 'reference' / 'queries.txt', subset)


def population_of(
    paths: Sequence[Path], reference: Path, queries: Path, subset: Path | None = None
) -> Population:
    average_precision = AveragePrecision(reference, K=K, subset=subset)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DataWarning)  # of AP above 1, which is known
        results = {path.stem: average_precision.evaluate(path, queries) for path in paths}
    runs = read_runs(results)
    videos = VideosOfQueries(runs, 'cluster', reference, subset)
    has_video = np.array([videos.video(query) is not None for query in runs.queries])
    clusters = cluster_numbers(runs, videos)
    return Population(runs.names, runs.values, clusters, has_video)


def percent(share: float) -> str:
    return f'{share:.1%}'


def share_of(outcomes: Sequence[bool] | Booleans | Floats) -> list[str]:
    """Return the share of the draws with an outcome, with its standard error."""
    share = float(np.mean(outcomes))
    return [percent(share), f'{sqrt(share * (1 - share) / len(outcomes)):.2%}']


def blocks(draws: int, *key: int) -> Iterator[tuple[int, np.random.Generator, int]]:
    """Return how many draws each block has, its generator, and a seed of its tests."""
    for begin in range(0, draws, AT_ONCE):
        random = np.random.default_rng([SEED, *key, begin])
        yield min(AT_ONCE, draws - begin), random, int(random.integers(1 << 32))
