"""How often intervals cover the truth; a part of `simulations.py`."""

import warnings
from math import sqrt

import machine
import numpy as np
from scipy.special import stdtrit
from scipy.stats import bootstrap
from simulated_runs import SHOWN, SIZES, Floats, K, Population, generator, pairs_of

from mediaeval_ap.comparison.intervals import Interval, mean_interval, plus2_interval
from mediaeval_ap.comparison.units import Units, units_of

LEVEL, RESAMPLES, MOST_BCA = 0.95, 1_000, 100  # with more, BCa takes too long
HEADERS = ['means: ABC', 'means: t', 'means: BCa', 'differences: plus2', 'differences: t']
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
    n_runs, pairs = len(highest), pairs_of(units)
    sums = np.array([*units.sums.T, *(units.differences(a, b) for a, b in pairs)])
    truth = sums.sum(axis=1) / units.sizes.sum()
    of_means, of_differences = truth[:n_runs], truth[n_runs:]
    covers: list[list[Floats]] = [[] for _ in HEADERS]
    takes_bca = n <= MOST_BCA and units.sizes.max() == 1
    for number in range(draws):
        random = generator(key, n, number)
        chosen = random.integers(len(units.sizes), size=n)
        sizes, means, differs = units.sizes[chosen], sums[:n_runs, chosen], sums[n_runs:, chosen]
        is_bound = highest[:, chosen].max(axis=1) <= 1  # AP of a few rules is above 1
        abc = [
            mean_interval(each, sizes, LEVEL, (0, 1) if bound else None)
            for each, bound in zip(means, is_bound.tolist(), strict=True)
        ]
        plus2 = [
            plus2_interval(each, sizes, LEVEL, 1, bool(is_bound[a] and is_bound[b]))
            for each, (a, b) in zip(differs, pairs, strict=True)
        ]
        ends = [
            (of_means, ends_of(abc)),
            (of_means, t_ends(means, sizes)),
            (of_means, bca_ends(means, random) if takes_bca else np.full((2, n_runs), np.nan)),
            (of_differences, ends_of(plus2)),
            (of_differences, t_ends(differs, sizes)),
        ]
        for found, (true, (low, high)) in zip(covers, ends, strict=True):
            found.append(np.where(np.isnan(low), np.nan, (low <= true) & (true <= high)))
    cells = []
    for found in covers:
        of_each = np.nanmean(found, axis=0) if not np.isnan(found).all() else np.zeros(0)
        cells.append(f'{of_each.mean():.1%} ({of_each.min():.1%})' if len(of_each) else '')
    return cells


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
        f'#### Coverage of {LEVEL:.0%} intervals',
        f'Mean of the runs, or pairs (the worst). A cluster is a video with all its queries '
        f'({population.n_videos}), or a query without a relevant shot ({n_single}). ABC is '
        f"expanded; t is Student's; BCa is SciPy's, with {RESAMPLES:,} resamples, up to "
        f'{MOST_BCA} queries. Draws without an interval, as all values are equal, do not count. '
        f'The standard error of one run or pair is {sqrt(LEVEL * (1 - LEVEL) / draws):.1%} at '
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
    rows = [[f'{n}', *coverage(units, values, n, draws, 2)] for n in SIZES[1:]]
    return [
        '#### Coverage of intervals of lwlrap',
        f'Two runs of a model of {N_SAMPLES:,} samples, each of which is a cluster of its labels.',
        machine.table(['samples', *HEADERS], rows),
    ]
