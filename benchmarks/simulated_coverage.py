"""How often intervals of means cover the truth; parts of `simulations.py`."""

import warnings
from math import sqrt

import machine
import numpy as np
from scipy.special import stdtrit
from scipy.stats import bootstrap
from simulated_pairs import Pair, draws_of, outcome_of, share_covered
from simulated_runs import LEVEL, SHOWN, SIZES, Floats, K, Population, generator, mean_and

from mediaeval_ap.comparison.intervals import Interval, mean_interval
from mediaeval_ap.comparison.units import Units, units_of

RESAMPLES, MOST_BCA = 1_000, 100  # with more, BCa takes too long
HEADERS = ['ABC', 't', 'BCa']
N_SAMPLES = 20_000  # of the model of lwlrap


def ends_of(intervals: list[Interval]) -> Floats:
    """Return the low and the high ends; NaN without an interval."""
    return np.array([(each.low, each.high) for each in intervals], dtype=np.float64).T


def t_ends(sums: Floats, sizes: Floats) -> Floats:
    """Return the ends of Student's intervals of means over units, with linearised variance."""
    n, total = len(sizes), sizes.sum()
    means = sums.sum(axis=1) / total
    variances = np.square(sums - means[:, None] * sizes).sum(axis=1) * n / (n - 1)
    half = stdtrit(n - 1, (1 + LEVEL) / 2) * np.sqrt(variances) / total
    half[half == 0] = np.nan
    return np.array([means - half, means + half])


def bca_ends(means: Floats, random: np.random.Generator) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # of equal values, which have no interval
        found = bootstrap((means,), np.mean, axis=-1, n_resamples=RESAMPLES, rng=random)
    return np.array(found.confidence_interval)


def coverage(units: Units, highest: Floats, n: int, draws: int, key: int) -> list[str]:
    """Return how often intervals from `n` of the units cover the truth, by kind.

    `highest` is the highest possible value of each run (a row) in each unit.
    """
    n_runs, sums = len(highest), units.sums.T
    truth = sums.sum(axis=1) / units.sizes.sum()
    covered: list[list[Floats]] = [[] for _ in HEADERS]
    takes_bca = n <= MOST_BCA and units.sizes.max() == 1
    for number in range(draws):
        random = generator(key, n, number)
        chosen = random.integers(len(units.sizes), size=n)
        sizes, values = units.sizes[chosen], sums[:, chosen]
        is_bound = highest[:, chosen].max(axis=1) <= 1  # AP of a few rules is above 1
        abc = [
            mean_interval(each, sizes, LEVEL, (0, 1) if bound else None)
            for each, bound in zip(values, is_bound.tolist(), strict=True)
        ]
        bca = bca_ends(values, random) if takes_bca else np.full((2, n_runs), np.nan)
        every = [ends_of(abc), t_ends(values, sizes), bca]
        for found, (low, high) in zip(covered, every, strict=True):
            found.append(np.where(np.isnan(low), np.nan, (low <= truth) & (truth <= high)))
    return [
        '' if np.isnan(found).all() else mean_and(min, np.nanmean(found, axis=0).tolist())
        for found in covered
    ]


def of_runs(population: Population, draws: int) -> list[str]:
    rows = []
    for over, numbers in population.numbers.items():
        for at in SHOWN:
            values, units = population.by_cutoff[at], population.units(over, at)
            highest = np.zeros((len(values), len(units.sizes)))
            np.maximum.at(highest.T, numbers, values.T)
            for n in population.sizes(over):
                key = 10 * at + (over == 'clusters')
                cells = coverage(units, highest, n, draws, key)
                rows.append([f'{n} {over}', f'{K[at]}', *cells])
    n_single = population.sizes('clusters')[-1] - population.n_videos
    return [
        f'#### Coverage of {LEVEL:.0%} intervals of means',
        f'Mean of the runs (the worst). A cluster is a video with all its queries '
        f'({population.n_videos}), or a query without a relevant shot ({n_single}). ABC is '
        f"expanded; t is Student's; BCa is SciPy's, with {RESAMPLES:,} resamples, up to "
        f'{MOST_BCA} queries. Draws without an interval, as all values are equal, do not count. '
        f'The standard error of one run is {sqrt(LEVEL * (1 - LEVEL) / draws):.1%} at '
        f'{LEVEL:.0%}; the worst of many is a little too low by chance.',
        machine.table(['drawn', 'K', *HEADERS], rows),
    ]


def of_samples(_: Population, draws: int) -> list[str]:
    """Draw samples from a model of lwlrap, a mean over the labels of samples."""
    random = generator(N_SAMPLES)
    easy = random.normal(size=N_SAMPLES)
    n_labels = random.geometric(0.6, N_SAMPLES)
    ranks = [1 + random.poisson(np.exp(level - 0.3 * easy)) for level in (0.0, 0.1)]
    values = 1 / np.array(ranks)
    units = units_of(values, np.arange(N_SAMPLES), n_labels)
    pair = Pair(units.differences(0, 1), units.sizes, 1.0)
    rows = []
    for n in SIZES[1:]:
        abc, by_t = coverage(units, values, n, draws, 2)[:2]
        of_pair = share_covered(pair, [*map(outcome_of, draws_of(pair, n, draws, 3))])
        rows.append([f'{n}', abc, by_t, *(f'{share:.1%}' for share in of_pair)])
    return [
        '#### Coverage of intervals of lwlrap',
        f'Two runs of a model of {N_SAMPLES:,} samples, each of which is a cluster of its labels.',
        machine.table(
            ['samples', 'means: ABC', 'means: t', 'difference: interval', 'difference: t'], rows
        ),
    ]
