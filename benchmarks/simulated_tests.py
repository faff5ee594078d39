"""How often tests and ranks are wrong, by `simulations.py`."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations

import machine
import numpy as np
from fast_intervals import TAILS, Floats, Numbers, times_drawn
from scipy.stats import rankdata
from simulated_runs import (
    SEED,
    SIZES,
    Booleans,
    K,
    Population,
    Settings,
    blocks,
    percent,
    share_of,
)

from mediaeval_ap.comparison.sampling import sign_flips, tukey, units_of
from mediaeval_ap.comparison.testing import adjusted, rank_intervals, ranks_of

ALPHA = 0.05
HOLM, TUKEY = 'Holm over sign flips', 'randomised Tukey'
N_EQUAL = slice(1, 7)  # the runs that are made nearly equal: ranks 2 to 7
IN_ORDER = 0.01  # share of the queries on which they are not
SKEWED = np.linspace(0.1, 1, 9)  # share of the queries that each run answers
PERMUTATIONS, TUKEY_PERMUTATIONS = 100_000, 10_000  # of the runs themselves
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


def ranks_by_bootstrap(drawn: Floats, resamples: int, seed: int) -> Numbers:
    """Return the ranks between which each run stands in so many of the resamples."""
    means = drawn @ times_drawn(drawn.shape[1], resamples, seed).T
    ranks = rankdata(-means, method='min', axis=0)
    bounds: Numbers = np.quantile(ranks, TAILS, axis=1, method='inverted_cdf').T.astype(np.intp)
    return bounds


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
        found: dict[str, list[Numbers]] = {HOLM: [], 'bootstrap': []}
        for size, random, seed in blocks(settings.draws, 20_000 + key):
            drawn = np.stack([draw(best_first, n, random) for _ in range(size)])
            p = p_of_draws(drawn, settings.permutations, seed)
            for number, each in enumerate(drawn):
                found[HOLM].append(ranks_by_tests(each, p[number]))
                found['bootstrap'].append(ranks_by_bootstrap(each, settings.resamples, seed))
        for by, intervals in found.items():
            low, high = np.moveaxis(np.array(intervals), -1, 0)
            covers = (low <= truth) & (truth <= high)
            figures = [*share_of(covers.all(axis=1)), percent(covers.mean(axis=0).min())]
            rows.append([what, f'{n}', by, *figures, f'{(high - low + 1).mean():.1f}'])
    headers = ['drawn from', 'queries', 'intervals by', 'all ranks right', 'standard error']
    return [
        '#### Intervals of ranks',
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


def max_t(values: Floats, permutations: int, seed: int) -> Floats:
    """Return p of all pairs, corrected by step-down max-T over sign flips (Westfall and Young)."""
    a, b = np.triu_indices(len(values), 1)
    differences = values[a] - values[b]
    bits = np.random.default_rng(seed).integers(0, 2, (permutations, values.shape[1]), np.int8)
    # Signs change no sum of squares, so t grows with the sum over its root.
    with np.errstate(invalid='ignore'):
        scaled = np.nan_to_num(differences / np.sqrt(np.square(differences).sum(axis=1))[:, None])
    found = np.abs(scaled.sum(axis=1))
    order = np.argsort(-found)
    by_chance = np.abs((2.0 * bits - 1) @ scaled[order].T)
    largest = np.maximum.accumulate(by_chance[:, ::-1], axis=1)[:, ::-1]
    n_extreme = np.count_nonzero(largest >= found[order] - 1e-12, axis=0)  # equal but for rounding
    p = np.empty(len(a))
    p[order] = np.maximum.accumulate((n_extreme + 1) / (permutations + 1))
    return p


def tukey_p(values: Floats, permutations: int, seed: int) -> Floats:
    units = units_of(values, np.arange(values.shape[1]))
    pairs = np.triu_indices(len(values), 1)
    p: Floats = tukey([units], pairs, permutations, seed)[0]
    return p


CORRECTIONS: dict[str, Callable[[Floats, Floats, int, int], Floats]] = {
    HOLM: lambda values, p, permutations, seed: holm(p),
    'step-down max-T': lambda values, p, permutations, seed: max_t(values, permutations, seed),
    TUKEY: lambda values, p, permutations, seed: tukey_p(values, permutations, seed),
}


def skewed(n: int, random: np.random.Generator) -> Floats:
    """Draw AP of runs of one mean: some answer few queries well, others all of them badly."""
    answered = random.random((len(SKEWED), n)) < SKEWED[:, None]
    values: Floats = answered * (SKEWED[0] / SKEWED)[:, None]
    return values


def families(population: Population, settings: Settings) -> list[str]:
    draws = max(1, settings.draws // 4)  # they are slow
    means = population.values.mean(axis=1)
    centred = population.values - (means - means.mean())[:, None]
    moved = f'the {len(means)} runs, moved to one mean'
    studies: list[tuple[str, int, Callable[[int, np.random.Generator], Floats]]] = [
        (f'model of {len(SKEWED)} runs', 100, skewed),
        (moved, 100, partial(as_they_are, centred)),
        (moved, centred.shape[1], partial(as_they_are, centred)),
    ]
    rows = []
    for key, (what, n, draw) in enumerate(studies):
        corrections = dict.fromkeys(CORRECTIONS, settings.permutations) | {TUKEY: FEW}
        if n > 100:
            del corrections[TUKEY]  # it would take longer than all else
        finds: dict[str, list[bool]] = {by: [] for by in corrections}
        for size, random, seed in blocks(draws, 50_000 + key):
            drawn = np.stack([draw(n, random) for _ in range(size)])
            of_pairs = p_of_draws(drawn, settings.permutations, seed)
            for number, (values, p) in enumerate(zip(drawn, of_pairs, strict=True)):
                for by, permutations in corrections.items():
                    corrected = CORRECTIONS[by](values, p, permutations, seed + number)
                    finds[by].append(bool(corrected.min() <= ALPHA))
        rows += [[what, f'{n}', by, *share_of(found)] for by, found in finds.items()]
    headers = ['drawn from', 'queries', 'correction', f'some p ≤ {ALPHA}', 'standard error']
    return [
        '#### Some wrong claim among all pairs of equal runs',
        'All runs have one mean, so each claim is wrong, and a correction should make one in at '
        f'most {ALPHA:.0%} of the draws. But differences are skewed, and sign flips test symmetry. '
        f'In the model, runs answer from {SKEWED[0]:.0%} to {SKEWED[-1]:.0%} of the queries, with '
        f'AP from 1 to {SKEWED[0]:g}. {draws:,} draws; {FEW} permutations of Tukey.',
        machine.table(headers, rows),
    ]


def told_apart(population: Population, settings: Settings) -> list[str]:
    values = population.values
    (p,) = p_of_draws(values[None], PERMUTATIONS, SEED)
    corrected = {
        by: of_pairs(values, p, TUKEY_PERMUTATIONS, SEED) for by, of_pairs in CORRECTIONS.items()
    }
    counts = [[by, f'{np.count_nonzero(each <= ALPHA)}'] for by, each in corrected.items()]
    flipped, permuted = corrected[HOLM], corrected[TUKEY]
    pairs = list(combinations(range(len(values)), 2))
    rows = []
    for place in np.flatnonzero((flipped <= ALPHA) != (permuted <= ALPHA)):
        better, worse = sorted(pairs[place], key=lambda run: -values[run].mean())
        differences = values[better] - values[worse]
        rows.append(
            [
                *(population.names[better], population.names[worse]),
                f'{differences.mean():.3f}',
                f'{np.count_nonzero(differences > 0)} to {np.count_nonzero(differences < 0)}',
                *(f'{each[place]:.5f}' for each in (p, flipped, permuted)),
            ]
        )
    headers = ['better', 'worse', 'difference', 'wins to losses', 'p', 'Holm', 'Tukey']
    return [
        '#### Pairs that are told apart',
        f'Of {len(pairs)} pairs of the {len(values)} runs, on all {values.shape[1]} queries: '
        f'corrected p ≤ {ALPHA}. {PERMUTATIONS:,} sign flips; {TUKEY_PERMUTATIONS:,} permutations '
        'of Tukey and flips of max-T.',
        machine.table(['correction', 'pairs'], counts),
        'Pairs that Holm and Tukey see differently:',
        machine.table(headers, rows),
    ]
