"""Intervals of systems with several seeds, and of macro means; parts of `simulations.py`."""

from collections.abc import Callable, Sequence
from itertools import product

import machine
import numpy as np
from simulated_pairs import (
    MOST,
    Pair,
    covers,
    ends_of,
    outcome_of,
    pair_of,
    real_ap,
    real_pairs,
    share,
)
from simulated_runs import LEVEL, Floats, K, Population, generator, mean_and

from mediaeval_ap.comparison.intervals import (
    Spread,
    difference_interval,
    mean_interval,
    size_of_more_units,
    spreads_of_difference,
)
from mediaeval_ap.comparison.units import units_of

N_SEEDS, DRAWN = (2, 3, 5), (20, 50, 200)
SPREADS, SPREAD, RESIDUAL = (0.0, 0.02, 0.04), 0.02, 0.05
ADDED = (0, 0.2)  # to all differences
GROUPS = ((50, 50, 50), (200, 20, 10), (300, 8, 5))
FEWER = 4  # times fewer draws


def noise_of(n: int, k: int, spread: float, random: np.random.Generator) -> tuple[Floats, Spread]:
    """Return what the mean of k seeds adds to the values of n items, and its spread."""
    noise = random.normal(0, spread, (k, 1)) + random.normal(0, RESIDUAL, (k, n))
    return noise.mean(axis=0), Spread(float(noise.mean(axis=1).var(ddof=1)) / k, k - 1)


def of_difference(
    pair: Pair, n: int, k: int, spread: float, random: np.random.Generator
) -> list[bool]:
    """Return if the interval covers the truth, and if that of averages over seeds does."""
    noise, seeds = zip(*(noise_of(n, k, spread, random) for _ in 'AB'), strict=True)
    drawn = pair_of(pair.drawn(n, random).sums + noise[0] - noise[1])
    m = size_of_more_units(drawn.sums, drawn.sizes, 1.0)
    spreads = spreads_of_difference(drawn.sums, drawn.sizes, m, seeds)
    p = spreads[0].p(drawn.difference)
    interval = difference_interval(drawn.difference, spreads, LEVEL, p, None)
    return [covers(each, pair.difference) for each in (interval, outcome_of(drawn).interval)]


def of_mean(
    values: Floats, n: int, k: int, spread: float, random: np.random.Generator
) -> list[bool]:
    """Return if the interval covers the truth, and if that of averages over seeds does."""
    noise, of_seeds = noise_of(n, k, spread, random)
    drawn, sizes = values[random.integers(len(values), size=n)] + noise, np.ones(n)
    intervals = [mean_interval(drawn, sizes, LEVEL, (0, 1), each) for each in ([of_seeds], [])]
    return [covers(each, float(values.mean())) for each in intervals]


def row_of(
    cover: Callable[..., list[bool]],
    every: Sequence[Pair | Floats],
    n: int,
    spread: float,
    draws: int,
) -> list[str]:
    """Return the coverage for each number of seeds, then that of averages over seeds."""
    numbers, cells = range(draws // FEWER), []
    for k in N_SEEDS:
        shares = [
            [cover(each, n, k, spread, generator(53_000, n, k, at, number)) for number in numbers]
            for at, each in enumerate(every)
        ]
        cells.append([mean_and(min, found) for found in np.mean(shares, axis=1).T.tolist()])
    return [cell for column in zip(*cells, strict=True) for cell in column]


def seeds(population: Population, draws: int) -> list[str]:
    at_1, topics = population.by_cutoff[K.index(1)], population.trec_covid
    values = {'AP, TREC-COVID': topics, 'AP@1': at_1}
    known = {name: each for name, each in values.items() if each is not None}
    of_differences = [
        [name, f'{n}', f'{spread:g}', *row_of(of_difference, real_pairs(each), n, spread, draws)]
        for (name, each), n, spread in product(known.items(), DRAWN, SPREADS)
    ]
    of_means = [
        [
            name,
            f'{n}',
            f'{SPREAD}',
            *row_of(of_mean, each[:: -(-len(each) // MOST)], n, SPREAD, draws),
        ]
        for (name, each), n in product(known.items(), DRAWN)
    ]
    headers = [f'{k} seeds{averaged}' for averaged in ('', ', averaged') for k in N_SEEDS]
    return [
        f'#### Coverage of {LEVEL:.0%} intervals with several seeds',
        'Mean of the pairs, or runs (the worst). What a seed adds to all values of a run is normal '
        'with the standard deviation of the column spread; what it adds to a single value is '
        f'normal with a standard deviation of {RESIDUAL}. Both runs of a pair have as many seeds, '
        'and the truth is without seeds. Averaged: the interval for values averaged over the '
        f'seeds, as if there were no spread between seeds. {draws // FEWER} draws of each pair or '
        'run.',
        machine.table(['differences', 'drawn', 'spread', *headers], of_differences),
        machine.table(['means', 'drawn', 'spread', *headers], of_means),
    ]


def macro(population: Population, draws: int) -> list[str]:
    rows = []
    for key, (name, pairs) in enumerate(real_ap(population).items(), 54_000):
        for sizes, added in product(GROUPS, ADDED):
            weights = np.repeat([sum(sizes) / len(sizes) / n for n in sizes], sizes)
            shares, lengths = [], []
            for number, pair in enumerate(pairs):
                groups = [*map(pair_of, np.array_split(pair.sums + added, len(sizes)))]
                truth = sum(group.difference for group in groups) / len(sizes)
                found = []
                for draw in range(draws):
                    random = generator(key, *sizes, number, draw)
                    drawn = [
                        group.drawn(n, random).sums for group, n in zip(groups, sizes, strict=True)
                    ]
                    units = units_of(
                        np.concatenate(drawn)[None],
                        np.arange(len(weights)),
                        weights,
                        are_groups_equal=True,
                    )
                    weighted = Pair(units.sums[:, 0], units.sizes)
                    low, high = ends_of(outcome_of(weighted, units.n_effective).interval)
                    found.append(low <= truth <= high)
                    lengths.append(high - low)
                shares.append(share(found))
            drawn_of = ', '.join(map(str, sizes))
            rows.append(
                [name, drawn_of, f'{added:g}', mean_and(min, shares), f'{np.mean(lengths):.3f}']
            )
    return [
        f'#### Coverage of {LEVEL:.0%} intervals of differences of macro means',
        'Mean of the pairs (the worst). The topics, or queries, are split into three groups. So '
        'many items are drawn of each, and each group counts the same. The same number is added to '
        'all differences.',
        machine.table(
            ['differences', 'items drawn of the groups', 'added', 'coverage', 'mean length'], rows
        ),
    ]
