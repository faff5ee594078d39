"""The population of runs for `simulations.py`, and helpers of its parts."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from runs import make_runs

from mediaeval_ap import AveragePrecision, evaluate_trec
from mediaeval_ap.comparison.clusters_and_groups import (
    cluster_numbers,
    largest,
    videos_of_queries,
)
from mediaeval_ap.comparison.comparable_runs import read_runs
from mediaeval_ap.comparison.units import Units, units_of
from mediaeval_ap.errors import DataWarning

SEED = 2016  # any seed: everybody gets the same draws
LEVEL, ALPHA = 0.95, 0.05
NEAR = 1e-11  # sums that differ by less are equal
K = [1, 10, 100, 1000]
DEPTHS = range(1, 101)  # where the first relevant shot is looked for
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
    reciprocal_ranks: Floats  # (n_runs, n_queries)
    trec_covid: Floats | None = None  # AP: (n_runs, n_topics)

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


def ap_of_topics(folder: Path) -> Floats:
    """Return AP by run and topic of round 5 of TREC-COVID, from clones named as in `published`."""
    qrels = folder / 'castorini+anserini-tools' / 'qrels' / 'qrels.covid-round5.txt'
    paths = sorted((folder / 'castorini+TREC-COVID' / 'round5' / 'runs').iterdir())
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DataWarning)  # known ones
        every = [
            evaluate_trec(qrels, path, 'all', ties='trec_eval-9', missing='zero') for path in paths
        ]
    return np.array([evaluation.ap[:, 0] for evaluation in every])


def population_of(
    paths: Sequence[Path], reference: Path, queries: Path, subset: Path | None = None
) -> Population:
    average_precision = AveragePrecision(reference, K=K, subset=subset)
    at_each_depth = AveragePrecision(reference, K=DEPTHS, subset=subset)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DataWarning)  # known ones, of AP above 1
        results = {path.stem: average_precision.evaluate(path, queries) for path in paths}
        deep = [at_each_depth.evaluate(path, queries).ap > 0 for path in paths]
    runs = read_runs(results)
    videos = videos_of_queries(runs, 'cluster', reference, subset)
    n_videos = len({largest(videos[query]) for query in runs.queries} - {None})
    numbers = {
        'queries': np.arange(len(runs.queries)),
        'clusters': cluster_numbers(runs, 'video', videos),
    }
    # AP@K is above 0 from the rank of the first relevant shot on.
    reciprocal_ranks = np.array([each.any(axis=1) / (1 + each.argmax(axis=1)) for each in deep])
    by_cutoff = runs.values[[runs.metrics.index(f'MAP@{k}') for k in K]]
    return Population(by_cutoff, numbers, n_videos, reciprocal_ranks)


def generator(*key: int) -> np.random.Generator:
    return np.random.default_rng([SEED, *key])


def pairs_of(units: Units) -> list[tuple[int, int]]:
    """Return the pairs of runs that differ in some unit."""
    sums = units.sums.T
    return [(a, b) for a, b in combinations(range(len(sums)), 2) if (sums[a] != sums[b]).any()]


def listed(words: Sequence[str]) -> str:
    return f'{", ".join(words[:-1])} or {words[-1]}'


def mean_and(worst: Callable[[Sequence[float]], float], shares: Sequence[float]) -> str:
    return f'{np.mean(shares):.1%} ({worst(shares):.1%})'


def share_of(outcomes: Sequence[bool]) -> str:
    """Return the share of the draws with an outcome, and its standard error."""
    share = float(np.mean(outcomes))
    return f'{share:.1%} (± {sqrt(share * (1 - share) / len(outcomes)):.1%})'
