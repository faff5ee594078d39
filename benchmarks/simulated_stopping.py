"""Whether it may be decided early who is better, by `simulations.py`."""

from collections.abc import Iterator
from itertools import permutations
from math import inf, log
from statistics import NormalDist

import machine
import numpy as np
from fast_intervals import LEVEL, Floats, Numbers
from scipy.stats import t as student
from simulated_coverage import pairs_of
from simulated_runs import OF_CLAIMS, SEED, Booleans, K, Population, Settings, percent, share_of

from mediaeval_ap.comparison import prediction_powered as predictions
from mediaeval_ap.comparison.anytime import EQUAL, always_valid, bets, log_e_values, settled

ALPHA = 1 - LEVEL
LOOKS = (2, 10, 30)  # the number of queries at the first look
AFTER = (50, 100, 200, 400)  # queries, of which intervals are wide
FEW = 50  # draws of intervals, which take a while
MEASURED = (25, 50, 100, 200)
GUESSES = {'as it is': (1, 0), 'with noise of .1': (1, 0.1), 'halved, with noise of .2': (0.5, 0.2)}


def first_better(values: Floats) -> tuple[Numbers, Numbers]:
    """Return the pairs that are not equal, the better one first."""
    a, b = pairs_of(values)
    means = values.mean(axis=1)
    is_right = means[a] >= means[b]
    return np.where(is_right, a, b), np.where(is_right, b, a)


def orders(draws: int, n: int, key: int) -> Iterator[tuple[Numbers, np.random.Generator]]:
    for number in range(draws):
        random = np.random.default_rng([SEED, key, number])
        yield random.permutation(n), random


def t_at_each_look(differences: Floats) -> Booleans:
    """Return whether a t test of the queries so far is significant, after each query but one."""
    n = np.arange(2, differences.shape[1] + 1)
    sums, squares = differences.cumsum(axis=1)[:, 1:], np.square(differences).cumsum(axis=1)[:, 1:]
    variances = np.maximum(squares - sums**2 / n, 0) / (n - 1)
    significant: Booleans = np.abs(sums) > student.isf(ALPHA / 2, n - 1) * np.sqrt(n * variances)
    significant &= variances > 0
    return significant


def percentiles(numbers: list[int]) -> list[str]:
    return [f'{each:.0f}' for each in np.percentile(numbers, (50, 5, 95))]


def stopping(population: Population, settings: Settings) -> list[str]:
    values = population.counted_once
    a, b = first_better(values)
    n, n_runs = values.shape[1], len(values)
    moved = (1 + values[a] - values[b]) / 2
    of_leader = a == values.mean(axis=1).argmax()
    before_end, leads = [], []
    false = {first: np.empty((settings.draws, len(a))) for first in LOOKS}
    false_e, missed = np.empty((2, settings.draws, len(a)))
    limit = log(1 / ALPHA)
    for number, (order, random) in enumerate(orders(settings.draws, n, 1)):
        rows = moved[:, order]
        numbers = np.abs(settled(rows, n, ALPHA))
        before_end.append(int(np.count_nonzero((numbers > 0) & (numbers < n))))
        of_lead = settled(rows, n, ALPHA, n_runs - 1)[of_leader]
        leads.append(int(of_lead.max()) if (of_lead > 0).all() else n + 1)
        truth = log_e_values(rows, bets(rows, ALPHA), moved.mean(axis=1), n)
        missed[number] = (truth >= limit).any(axis=1)
        flipped = (2 * rows - 1) * random.choice([-1, 1], size=rows.shape)
        equal = (1 + flipped) / 2
        logs = log_e_values(equal, bets(equal, ALPHA), np.full(len(a), EQUAL), inf)
        false_e[number] = (logs >= limit).any(axis=1)
        looks = t_at_each_look(flipped)
        for first in LOOKS:
            false[first][number] = looks[:, first - 2 :].any(axis=1)
    level = [
        *([f't test, from query {first}', *_shares(false[first])] for first in LOOKS),
        ['e-process, from query 1', *_shares(false_e)],
    ]
    return [
        '#### Queries looked at one after another',
        f'{len(a)} pairs, AP@{K[OF_CLAIMS]} by trec, {settings.draws:,} random orders of {n} '
        'queries. Equal pairs: signs of the real differences are flipped at random, so a claim is '
        f'wrong. At level {LEVEL:.0%}, looked at after each query:',
        machine.table(['test of equal pairs', 'some claim', 'standard error', 'worst pair'], level),
        f'The real pairs, of which the {n} queries are all that there are:',
        machine.table(
            ['figure', 'median', '5%', '95%'],
            [
                [f'pairs settled before query {n}, of {len(a)}', *percentiles(before_end)],
                ['queries until the leader is settled against all others', *percentiles(leads)],
            ],
        ),
        f'The e-process of the true mean difference stayed below {1 / ALPHA:g} to the end, so that '
        f'intervals after all numbers of queries hold it, in {percent(1 - missed.mean())} of the '
        f'draws; of the worst pair in {percent(1 - missed.mean(axis=0).max())}.',
        *_widths(moved, n),
    ]


def _shares(outcomes: Floats) -> list[str]:
    """Return the mean share of draws (rows), its standard error, and that of the worst pair."""
    of_draws = outcomes.mean(axis=1)
    error = of_draws.std() / np.sqrt(len(of_draws))
    return [percent(outcomes.mean()), f'{error:.2%}', percent(outcomes.mean(axis=0).max())]


def _widths(moved: Floats, n: int) -> list[str]:
    rows = []
    truth = moved.mean(axis=1)
    for seen in AFTER:
        if seen >= n:
            continue
        widths, of_t, covers = [], [], []
        for order, _ in orders(FEW, n, 2):
            some = moved[:, order[:seen]]
            low, high = always_valid(some, n, ALPHA)
            widths.append(2 * (high - low))
            covers.append((low <= truth) & (truth <= high))
            deviation = 2 * some.std(axis=1, ddof=1) * np.sqrt((1 - seen / n) / seen)
            of_t.append(2 * student.isf(ALPHA / 2, seen - 1) * deviation)
        figures = np.nanmean(widths), np.mean(of_t)
        rows.append(
            [f'{seen}', *(f'{each:.3f}' for each in figures), *share_of(np.ravel(covers))[:1]]
        )
    headers = ['queries', 'always valid', "Student's, looked at once", 'always valid ones cover']
    return [
        f'Mean width of intervals of the difference, {FEW} orders:',
        machine.table(headers, rows),
    ]


def predicted(population: Population, settings: Settings) -> list[str]:
    values, names = population.counted_once, population.names
    teams = [name.partition('_')[0] for name in names]
    every = permutations(range(len(names)), 2)
    pairs = [(a, b) for a, b in every if teams[a] == teams[b]] or [(0, 1), (1, 0)]
    n_queries = values.shape[1]
    predictions.LEAST_MEASURED = 2  # what is refused is simulated, too
    quantile, rows = NormalDist().inv_cdf((1 + LEVEL) / 2), []
    for n in MEASURED:
        for guess, (scale, noise) in GUESSES.items():
            covers = np.empty((3, settings.draws, len(pairs)))
            widths = np.empty((2, settings.draws, len(pairs)))
            for number, (order, random) in enumerate(orders(settings.draws, n_queries, n)):
                for place, (one, other) in enumerate(pairs):
                    added = random.normal(0, noise, n_queries)
                    guessed = np.clip(scale * values[other] + added, 0, 1)[order]
                    exact, mean = values[one][order[:n]], values[one].mean()
                    found = predictions.prediction_powered(exact, guessed[:n], guessed[n:], LEVEL)
                    share = n / n_queries
                    rectified = exact - found.weight / (1 - share) * guessed[:n]
                    half = quantile * rectified.std(ddof=1) * np.sqrt((1 - share) / n)
                    covers[:, number, place] = (
                        found.low <= mean <= found.high,
                        abs(found.estimate - mean) <= half,
                        found.classical_low <= mean <= found.classical_high,
                    )
                    widths[:, number, place] = (
                        found.high - found.low,
                        found.classical_high - found.classical_low,
                    )
            of_pairs = covers.mean(axis=1)
            coverage = [percent(each) for each in (*of_pairs.mean(axis=1), *of_pairs.min(axis=1))]
            figures = [f'{each:.3f}' for each in widths.mean(axis=(1, 2))]
            rows.append([f'{n}', guess, *(coverage[each] for each in (0, 3, 1, 4, 2, 5)), *figures])
    headers = [
        *('measured', 'predictions', 'coverage', 'worst', 'PPI++', 'worst', 'classical', 'worst'),
        *('mean width', 'classical'),
    ]
    return [
        f'#### MAP of {n_queries} queries, some of which are measured',
        f'AP@{K[OF_CLAIMS]} by trec of {len(pairs)} runs, each predicted by AP of another run '
        f'of its team. Coverage of intervals at {LEVEL:.0%}, mean and worst of the runs: of '
        '`prediction_powered`; of PPI++ by the normal distribution; and of the measured queries '
        'alone (Student). `prediction_powered` refuses fewer than 100.',
        machine.table(headers, rows),
    ]
