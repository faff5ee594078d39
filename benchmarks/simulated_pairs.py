"""Pairs of systems whose true difference is known; for parts of `simulations.py`."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from simulated_runs import LEVEL, NEAR, Floats, K, Numbers, Population, generator, pairs_of

from mediaeval_ap.comparison.intervals import (
    DifferenceInterval,
    Interval,
    difference_interval,
    size_of_more_units,
    spreads_of_difference,
)
from mediaeval_ap.comparison.sign_flips import flip_test
from mediaeval_ap.comparison.units import units_of

MOST = 15  # pairs of a population
NOT_ZERO = (0.03, 0.1, 0.25, 0.5)  # shares of sparse differences, of four pairs
N_MADE = 1_000  # made differences of a pair
RARE = (0.02, 0.05, 0.1, 0.2, 0.3)  # shares of large ones among them
LARGE, NOISE, LOSSES, GAIN = 0.3, 0.002, (0.3, 0.6, 0.9), 0.01


class Pair(NamedTuple):
    """The sums of two systems' differences by unit, and the sizes of the units."""

    sums: Floats
    sizes: Floats
    limit: float | None = None  # the largest possible difference

    @property
    def difference(self) -> float:
        return math.fsum(self.sums.tolist()) / math.fsum(self.sizes.tolist())

    def drawn(self, n: int, random: np.random.Generator) -> 'Pair':
        chosen = random.integers(len(self.sums), size=n)
        return Pair(self.sums[chosen], self.sizes[chosen], self.limit)


class Outcome(NamedTuple):
    difference: float
    p: float
    interval: DifferenceInterval
    half: float  # of the length of Student's interval


def outcome_of(pair: Pair, n_effective: float | None = None) -> Outcome:
    """Return the p and the interval of `compare`."""
    p = flip_test(pair.sums, NEAR).p
    m = size_of_more_units(pair.sums, pair.sizes, 1.0)
    spreads = spreads_of_difference(pair.sums, pair.sizes, m, (), n_effective)
    interval = difference_interval(pair.difference, spreads, LEVEL, p, pair.limit)
    return Outcome(pair.difference, p, interval, spreads[0].half(LEVEL))


def ends_of(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def covers(interval: Interval, truth: float) -> bool:
    low, high = ends_of(interval)
    return low <= truth <= high


def draws_of(pair: Pair, n: int, draws: int, *key: int) -> list[Pair]:
    return [pair.drawn(n, generator(*key, n, number)) for number in range(draws)]


def share(outcomes: Sequence[bool]) -> float:
    return sum(outcomes) / len(outcomes)


def share_covered(pair: Pair, every: Sequence[Outcome]) -> tuple[float, float]:
    """Return how often intervals, and Student's, of draws from a pair cover its difference."""
    truth = pair.difference
    by_t = [abs(each.difference - truth) <= each.half for each in every]
    return share([covers(each.interval, truth) for each in every]), share(by_t)


def pair_of(differences: Floats, limit: float | None = None) -> Pair:
    return Pair(differences, np.ones(len(differences)), limit)


def real_pairs(values: Floats, numbers: Numbers | None = None, most: int = MOST) -> list[Pair]:
    """Return pairs at equal distances in the list of all, which begins with those of the best run.

    `numbers` are those of the unit of each value; without them each is a unit.
    """
    best_first = values[np.argsort(-values.mean(axis=1), kind='stable')]
    units = units_of(best_first, np.arange(values.shape[1]) if numbers is None else numbers)
    pairs = pairs_of(units)
    limit = 1.0 if values.max() <= 1 else None  # AP of a few rules is above 1
    chosen = np.unique(np.linspace(0, len(pairs) - 1, most).astype(int)).tolist()
    return [Pair(units.differences(*pairs[at]), units.sizes, limit) for at in chosen]


def real_ap(population: Population, most: int = MOST) -> dict[str, list[Pair]]:
    at_100 = population.by_cutoff[K.index(100)]
    values = {'AP, TREC-COVID': population.trec_covid, 'AP@100': at_100}
    return {name: real_pairs(each, most=most) for name, each in values.items() if each is not None}


def sparse_pairs(pairs: list[Pair]) -> list[Pair]:
    """Add differences of 0 to those of some pairs, until a given share is not 0."""
    sparse = []
    for pair in pairs[:: len(pairs) // 4][:4]:
        nonzero = pair.sums[pair.sums != 0]
        n_zeros = [round(len(nonzero) / part) - len(nonzero) for part in NOT_ZERO]
        sparse += [pair_of(np.pad(nonzero, (0, n)), pair.limit) for n in n_zeros]
    return sparse


def rare_pairs() -> list[Pair]:
    """Return noise with a few large differences of either sign."""
    random = generator(90_000)
    is_large = np.arange(N_MADE) < N_MADE * np.repeat(RARE, MOST // len(RARE))[:, None]
    signs = random.choice([-1, 1], is_large.shape)
    noise = random.normal(0, NOISE, is_large.shape)
    return [*map(pair_of, np.where(is_large, LARGE * signs, noise))]


def losing_pairs() -> list[Pair]:
    """Return small equal gains with a few large equal losses."""
    is_lost = np.arange(N_MADE) < N_MADE * np.array(RARE)[:, None]
    return [*map(pair_of, np.concatenate([np.where(is_lost, -loss, GAIN) for loss in LOSSES]))]


def all_pairs(population: Population) -> dict[str, list[Pair]]:
    """Return the pairs of each population."""
    ap, numbers = real_ap(population), population.numbers['clusters']
    return {
        **ap,
        'AP@1': real_pairs(population.by_cutoff[K.index(1)]),
        'reciprocal rank': real_pairs(population.reciprocal_ranks),
        **{f'{name}, sparse': sparse_pairs(pairs) for name, pairs in ap.items()},
        'AP@1 by video': real_pairs(population.by_cutoff[K.index(1)], numbers),
        'AP@100 by video': real_pairs(population.by_cutoff[K.index(100)], numbers),
        'rare differences': rare_pairs(),
        'rare losses': losing_pairs(),
    }
