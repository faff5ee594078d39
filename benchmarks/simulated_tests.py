"""How often tests and ranks are wrong, by `simulations.py`."""

from collections.abc import Callable, Sequence
from functools import partial

import machine
import numpy as np
from simulated_runs import (
    SIZES,
    Booleans,
    Floats,
    K,
    Numbers,
    Population,
    Settings,
    blocks,
    percent,
    share_of,
)

from mediaeval_ap.comparison.sampling import sign_flips, tukey, units_of
from mediaeval_ap.comparison.testing import adjusted, rank_intervals, ranks_of

ALPHA = 0.05
N_EQUAL = slice(1, 7)  # the runs that are made nearly equal: ranks 2 to 7
IN_ORDER = 0.01  # share of the queries on which they are not
SKEWED = np.linspace(0.1, 1, 9)  # share of the queries that each run answers
FAMILY = 100  # queries of a draw of all pairs
FEW = 999  # permutations of Tukey in each draw, which are slow


def p_of_flips(
    values: Floats, pairs: tuple[Numbers, Numbers], permutations: int, seed: int
) -> Floats:
    units = units_of(values, np.arange(values.shape[1]))
    p, _ = sign_flips(units, pairs, permutations, seed)
    return p


def p_of_draws(drawn: Floats, permutations: int, seed: int) -> Floats:
    """Return p of all pairs (columns) in each draw (rows); they share patterns of signs."""
    draws, n_runs, n = drawn.shape
    a, b = np.triu_indices(n_runs, 1)
    first = n_runs * np.arange(draws)[:, None]
    pairs = (a + first).ravel(), (b + first).ravel()
    return p_of_flips(drawn.reshape(-1, n), pairs, permutations, seed).reshape(draws, -1)


def as_they_are(values: Floats, n: int, random: np.random.Generator) -> Floats:
    return values[:, random.integers(values.shape[1], size=n)]


def nearly_equal(values: Floats, n: int, random: np.random.Generator) -> Floats:
    """Draw queries, and give the values of some runs to them at random, now and then in order."""
    drawn = as_they_are(values, n, random)
    equal = drawn[N_EQUAL]
    in_order = -np.sort(-equal, axis=0)
    keeps = random.random(n) < IN_ORDER
    drawn[N_EQUAL] = np.where(keeps, in_order, random.permuted(equal, axis=0))
    return drawn


def ranks_by_tests(drawn: Floats, p: Floats) -> Numbers:
    """Return the lowest and highest rank of each run, by the package's rule."""
    n_runs = len(drawn)
    apart = np.zeros((n_runs, n_runs), dtype=bool)
    apart[np.triu_indices(n_runs, 1)] = holm(p) <= ALPHA
    order = np.argsort(-drawn.mean(axis=1), kind='stable')
    ranks = np.empty((n_runs, 2), dtype=np.intp)
    ranks[order] = rank_intervals(np.triu((apart | apart.T)[np.ix_(order, order)]))
    return ranks


def ranks(population: Population, settings: Settings) -> list[str]:
    best_first = population.values[np.argsort(-population.values.mean(axis=1), kind='stable')]
    means = best_first.mean(axis=1)
    true = np.array(ranks_of(means))
    middle = means[N_EQUAL].mean()
    means[N_EQUAL] = middle + IN_ORDER * (
        -np.sort(-best_first[N_EQUAL], axis=0).mean(axis=1) - middle
    )
    n_queries = best_first.shape[1]
    studies = [
        ('the runs', as_they_are, n_queries, true),
        ('the runs', as_they_are, 100, true),
        ('ranks 2 to 7 nearly equal', nearly_equal, n_queries, np.array(ranks_of(means))),
    ]
    rows = []
    for key, (what, draw, n, truth) in enumerate(studies):
        found: list[Numbers] = []
        for size, random, seed in blocks(settings.draws, 20_000 + key):
            drawn = np.stack([draw(best_first, n, random) for _ in range(size)])
            p = p_of_draws(drawn, settings.permutations, seed)
            found += map(ranks_by_tests, drawn, p)
        low, high = np.moveaxis(np.array(found), -1, 0)
        covers = (low <= truth) & (truth <= high)
        figures = [*share_of(covers.all(axis=1)), percent(covers.mean(axis=0).min())]
        rows.append([what, f'{n}', *figures, f'{(high - low + 1).mean():.1f}'])
    headers = ['drawn from', 'queries', 'all ranks right', 'standard error']
    return [
        '#### Intervals of ranks by `holm`',
        f'All ranks right: the true rank of each of the {len(true)} runs is within its interval.',
        machine.table([*headers, 'worst run', 'mean number of ranks'], rows),
    ]


def equal_runs(
    population: Population, clusters: Numbers, n: int, random: np.random.Generator
) -> tuple[Floats, Numbers]:
    """Draw clusters of queries, and exchange the values of two runs at random in each cluster.

    Return differences at each cutoff, of shape (n_cutoffs, n_queries), and the cluster of each
    query. Both runs are equally good.
    """
    a, b = random.choice(len(population.names), 2, replace=False)
    chosen = random.integers(clusters.max() + 1, size=n)
    members = [np.flatnonzero(clusters == each) for each in chosen]
    drawn = np.repeat(np.arange(n), [len(each) for each in members])
    queries = np.concatenate(members)
    differences = population.by_cutoff[:, a, queries] - population.by_cutoff[:, b, queries]
    return differences * random.choice([-1, 1], n)[drawn], drawn


def p_of_differences(rows: Sequence[Floats], permutations: int, seed: int) -> Floats:
    """Return p of each row of differences; zeros, which change no sum, make them equally long."""
    longest = max(map(len, rows))
    padded = [np.pad(row, (0, longest - len(row))) for row in rows]
    values = np.stack([*padded, np.zeros(longest)])
    pairs = np.arange(len(rows)), np.full(len(rows), len(rows))
    return p_of_flips(values, pairs, permutations, seed)


def cutoffs(population: Population, settings: Settings) -> list[str]:
    rows = []
    queries = np.arange(population.values.shape[1])
    for n in SIZES:
        found = []
        for size, random, seed in blocks(settings.draws, 30_000 + n):
            drawn = [equal_runs(population, queries, n, random)[0] for _ in range(size)]
            p = p_of_differences([*np.concatenate(drawn)], settings.permutations, seed)
            found.append(p.reshape(size, -1) <= ALPHA)
        finds: Booleans = np.concatenate(found)
        rows.append([f'{n} queries', 'queries', f'K = {K[-1]}', *share_of(finds[:, -1])])
        some = f'some K of {", ".join(map(str, K))}'
        rows.append([f'{n} queries', 'queries', some, *share_of(finds.max(axis=1))])
    rows += by_video(population, settings)
    return [
        '#### Two equal runs',
        'Of a pair of runs drawn at random, values are exchanged at random: query by query at all '
        f'cutoffs together, or video by video. So a test at {ALPHA:.0%} should find a difference '
        f'in {ALPHA:.0%} of the draws.',
        machine.table(['drawn', 'flips of', f'p ≤ {ALPHA}', 'share', 'standard error'], rows),
    ]


def by_video(population: Population, settings: Settings) -> list[list[str]]:
    n = int(population.clusters.max()) + 1
    finds: dict[str, list[Booleans]] = {'queries': [], 'videos': []}
    for size, random, seed in blocks(settings.draws, 40_000):
        drawn = [equal_runs(population, population.clusters, n, random) for _ in range(size)]
        rows = {
            'queries': [differences[-1] for differences, _ in drawn],
            'videos': [np.bincount(video, differences[-1]) for differences, video in drawn],
        }
        for over, each in rows.items():
            finds[over].append(p_of_differences(each, settings.permutations, seed) <= ALPHA)
    what = f'{population.n_videos} videos'
    return [
        [what, over, f'K = {K[-1]}', *share_of(np.concatenate(found))]
        for over, found in finds.items()
    ]


def holm(p: Floats) -> Floats:
    return np.array(adjusted(p.tolist(), 'holm'))


def tukey_p(values: Floats, permutations: int, seed: int) -> Floats:
    units = units_of(values, np.arange(values.shape[1]))
    pairs = np.triu_indices(len(values), 1)
    p: Floats = tukey([units], pairs, permutations, seed)[0]
    return p


def skewed(n: int, random: np.random.Generator) -> Floats:
    """Draw AP of runs of one mean: some answer few queries well, others all of them badly."""
    answered = random.random((len(SKEWED), n)) < SKEWED[:, None]
    values: Floats = answered * (SKEWED[0] / SKEWED)[:, None]
    return values


def families(population: Population, settings: Settings) -> list[str]:
    means = population.values.mean(axis=1)
    centred = population.values - (means - means.mean())[:, None]
    studies: list[tuple[str, Callable[[int, np.random.Generator], Floats]]] = [
        (f'model of {len(SKEWED)} runs', skewed),
        (f'the {len(means)} runs, moved to one mean', partial(as_they_are, centred)),
    ]
    rows = []
    for key, (what, draw) in enumerate(studies):
        finds: dict[str, list[bool]] = {'holm': [], 'tukey': []}
        for size, random, seed in blocks(settings.draws, 50_000 + key):
            drawn = np.stack([draw(FAMILY, random) for _ in range(size)])
            of_pairs = p_of_draws(drawn, settings.permutations, seed)
            for number, (values, p) in enumerate(zip(drawn, of_pairs, strict=True)):
                by_tukey = tukey_p(values, FEW, seed + number)
                finds['holm'].append(bool(holm(p).min() <= ALPHA))
                finds['tukey'].append(bool(by_tukey.min() <= ALPHA))
        rows += [[what, by, *share_of(found)] for by, found in finds.items()]
    headers = ['drawn from', 'correction', f'some p ≤ {ALPHA}', 'standard error']
    return [
        '#### Some wrong claim among all pairs of equal runs',
        'All runs have one mean, so each claim is wrong, and a correction should make one in at '
        f'most {ALPHA:.0%} of the draws. But differences are skewed, and sign flips test symmetry. '
        f'In the model, runs answer from {SKEWED[0]:.0%} to {SKEWED[-1]:.0%} of the queries, with '
        f'AP from 1 to {SKEWED[0]:g}. {FAMILY} queries; {FEW} permutations of Tukey.',
        machine.table(headers, rows),
    ]
