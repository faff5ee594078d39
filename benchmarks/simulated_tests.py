"""Error rates of tests and rank intervals, and errors of p; a part of `simulations.py`."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, cycle, pairwise

import machine
import numpy as np
from simulated_runs import (
    ALPHA,
    NEAR,
    SHOWN,
    Floats,
    K,
    Numbers,
    Population,
    generator,
    pairs_of,
    share_of,
)

from mediaeval_ap.comparison.pair_tests import adjust_p
from mediaeval_ap.comparison.ranks_and_letters import rank_intervals
from mediaeval_ap.comparison.sign_flips import flip_test
from mediaeval_ap.comparison.units import units_of

CELLS, FLIPS, AT_ONCE = 1 << 18, 1_000_000, 10_000  # of the fine grid; of random flips
FEW, SOME, MANY, HEAVY = range(21, 27), (30, 60, 128), (150, 300, 599), 300  # or all there are

Draw = Callable[[np.random.Generator, int], Floats]


def nearly(share: float) -> Draw:
    return lambda random, n: 1 + share * random.uniform(-1, 1, n)


MADE: dict[str, Draw] = {  # amounts
    'normal': lambda random, n: np.abs(random.normal(size=n)),
    'heavy tails (Pareto, exponent 1)': lambda random, n: 1 + random.pareto(1, n),
    'five of 0.9 to 1.1, others below 0.02': lambda random, n: np.append(
        nearly(0.1)(random, 5), random.uniform(0, 0.02, n - 5)
    ),
    'square roots of 2, 3 and 5': lambda random, n: np.sqrt(random.choice([2, 3, 5], n)),
    '1 to 19, ± 0.01': lambda random, n: random.integers(1, 20, n) + nearly(0.01)(random, n) - 1,
    **{f'1 ± {share:g}': nearly(share) for share in (0.1, 0.01, 0.001)},
}


def levels(population: Population, draws: int) -> list[str]:
    """Exchange the values of two runs at random, unit by unit, so that neither is better."""
    rows = []
    for over in population.numbers:
        by_cutoff = [population.units(over, at) for at in range(len(K))]
        pairs, n_units = pairs_of(by_cutoff[SHOWN[-1]]), len(by_cutoff[0].sizes)
        for n in population.sizes(over):
            finds = []
            for number in range(2 * draws):
                random = generator(30_000 + (over == 'clusters'), n, number)
                a, b = pairs[random.integers(len(pairs))]
                chosen, signs = random.integers(n_units, size=n), random.choice([-1, 1], n)
                p = [
                    flip_test(units.differences(a, b)[chosen] * signs, units.tolerance(a, b)).p
                    for units in by_cutoff
                ]
                finds.append([*(p[at] <= ALPHA for at in SHOWN), min(p) <= ALPHA])
            rows.append([f'{n} {over}', *map(share_of, zip(*finds, strict=True))])
    headers = [*(f'K = {K[at]}' for at in SHOWN), f'some K of {", ".join(map(str, K))}']
    return [
        f'#### Two equal runs: p ≤ {ALPHA}',
        f'Values of a pair are exchanged at random, by query or by cluster, so a test should find '
        f'a difference in {ALPHA:.0%} of the draws (± a standard error); in less where few values '
        f'differ, and few p are possible. {2 * draws:,} draws.',
        machine.table(['drawn', *headers], rows),
    ]


def by_enumeration(differences: Floats) -> float:
    """Return p by enumeration: each subset is one of the first half and one of the second."""
    amounts, halves = np.abs(differences), []
    for half in (amounts[::2], amounts[1::2]):
        sums = np.zeros(1)
        for amount in half:
            sums = np.append(sums, sums + amount)
        halves.append(np.sort(sums))
    most = (amounts.sum() - abs(differences.sum()) + NEAR) / 2
    n_small = int(halves[1].searchsorted(most - halves[0], side='right').sum())
    return min(math.ldexp(n_small, 1 - len(amounts)), 1)


def by_whole_sums(amounts: Numbers, most: int) -> float:
    """Return p of whole amounts: add one after another to an array of probabilities."""
    shares = np.zeros(most + 1)
    shares[0] = 1
    for amount in amounts:
        shares[amount:] += shares[: max(len(shares) - amount, 0)].copy()
        shares /= 2
    return min(2 * float(shares.sum()), 1)


def on_a_fine_grid(differences: Floats) -> float:
    amounts = np.abs(differences)
    step = (amounts.sum() - abs(differences.sum())) / 2 / CELLS
    # With equal sums, when rounded.
    return by_whole_sums(np.rint(amounts / step).astype(np.intp), CELLS + math.isqrt(len(amounts)))


def without_rounding(differences: Floats) -> float:
    """Return p of whole differences."""
    amounts = np.abs(differences).astype(np.intp)
    return by_whole_sums(amounts, int(amounts.sum() - abs(differences.sum())) // 2)


def by_flips(every: Sequence[Floats]) -> Floats:
    """Return the p of each row of differences by the same random flips."""
    rows, random, n_extreme = np.array(every), generator(70_000), np.ones(len(every))
    for _ in range(FLIPS // AT_ONCE):
        signs = 2.0 * random.integers(2, size=(rows.shape[1], AT_ONCE)) - 1
        n_extreme += (np.abs(rows @ signs) >= np.abs(rows.sum(axis=1))[:, None]).sum(axis=1)
    return n_extreme / (FLIPS + 1)


def ratios(population: Population, draws: int) -> list[str]:
    """Compare p with the truth for pairs whose p is not exact."""
    units, numbers = population.units('queries', SHOWN[-1]), range(draws)
    pairs = pairs_of(units)

    def observed(n: int, number: int) -> Floats:
        """Return differences of a pair, with signs that favour one run more or less."""
        random = generator(60_000, n, number)
        differences = units.differences(*pairs[random.integers(len(pairs))])
        amounts = random.permutation(np.abs(differences[differences != 0]))[:n]
        is_won = random.random(len(amounts)) < 0.5 + random.uniform(0, 3.5) / math.sqrt(n)
        return np.where(is_won, amounts, -amounts)

    few, some, many = (
        [each for each in map(observed, sizes, numbers) if not flip_test(each, NEAR).exact]
        for sizes in map(cycle, (FEW, SOME, MANY))
    )
    random, shape = generator(80_000), (draws // 5, HEAVY)
    tails = [*(random.pareto(1.5, shape) * random.choice([-1, 1], shape))]
    studies: list[tuple[str, list[Floats], Iterable[float], Sequence[float]]] = [
        ('enumeration', few, map(by_enumeration, few), (1.1, 0)),
        ('a fine grid', some, map(on_a_fine_grid, some), (1.1, 1e-2, 1e-3, 1e-5)),
        ('a fine grid', many, map(on_a_fine_grid, many), (1.1, 1e-2, 1e-3, 1e-5)),
        (f'{FLIPS:,} flips, heavy tails', tails, by_flips(tails), (1.1, 0.05)),
    ]
    rows = []
    for against, every, truths, ends in studies:
        p = [flip_test(each, NEAR).p for each in every]
        found = [(one / truth, truth) for one, truth in zip(p, truths, strict=True)]
        n = ' to '.join(dict.fromkeys(f'{of(map(len, every))}' for of in (min, max)))
        for high, low in pairwise(ends):
            inside = [ratio for ratio, truth in found if low <= truth < high]
            figures = [f'{of(inside):.4f}' if inside else '' for of in (min, max)]
            rows.append([n, against, f'{low:g} to {min(high, 1):g}', f'{len(inside)}', *figures])
    return [
        '#### p beside the truth, where it is not exact',
        f'The least and the largest p, as a share of the truth. Differences are of pairs at '
        f'K = {K[SHOWN[-1]]}; heavy tails are of Pareto, with the exponent 1.5, and {FLIPS:,} '
        f'flips have a standard error of {math.sqrt(0.95 / 0.05 / FLIPS):.1%} at p = .05.',
        machine.table(['differences', 'against', 'p', 'cases', 'least', 'largest'], rows),
        *ratios_of_made(draws),
    ]


def made(draw: Draw, n: int, number: int, largest_sum: int) -> Floats:
    """Return whole differences; those of the side that loses sum to about the number."""
    random = generator(90_000, n, number)
    amounts = draw(random, n)
    is_won = random.random(n) < 0.5 + random.uniform(0, 3.5) / math.sqrt(n)
    lost = min(amounts[is_won].sum(), amounts[~is_won].sum()) or 1.0
    return np.rint(largest_sum * amounts / lost) * np.where(is_won, 1, -1)


def ratios_of_made(draws: int) -> list[str]:
    """Compare p with the truth for amounts that are hard to round."""
    studies: list[tuple[Sequence[int], int, Callable[[Floats], float], int]] = [
        (FEW, 1 << 40, by_enumeration, draws),
        (SOME, 1 << 19, without_rounding, draws // 5),
    ]
    rows = []
    for name, draw in MADE.items():
        for sizes, largest_sum, truth_of, n_draws in studies:
            found = []
            for number, n in zip(range(n_draws), cycle(sizes), strict=False):
                differences = made(draw, n, number, largest_sum)
                test = flip_test(differences, NEAR)
                if not test.exact:
                    truth = truth_of(differences)
                    found.append((test.p / truth, truth))
            row = [name, f'{min(sizes)} to {max(sizes)}', f'{len(found)}']
            for low, high in ((1e-5, 1.1), (0, 1e-5)):
                inside = [ratio for ratio, truth in found if low <= truth < high]
                row += [f'{of(inside):.4f}' if inside else '' for of in (min, max)]
            rows.append(row)
    headers = ['amounts', 'differences', 'cases', 'least', 'largest']
    return [
        '#### p of made differences beside the truth, where it is not exact',
        'The least and the largest p, as a share of the truth, where p is 0.00001 or more, and '
        'below. Differences are whole numbers, so the truth, of an enumeration or of counts of '
        'sums, has no rounding.',
        machine.table([*headers, 'least below', 'largest below'], rows),
    ]


def rank_intervals_of(drawn: Floats) -> tuple[Numbers, Numbers]:
    """Return the runs, best first, and an interval for the rank of each, by tests."""
    order = np.argsort(-drawn.mean(axis=1), kind='stable')
    units, n_runs = units_of(drawn[order], np.arange(drawn.shape[1])), len(drawn)
    p = [
        flip_test(units.differences(a, b), units.tolerance(a, b)).p
        for a, b in combinations(range(n_runs), 2)
    ]
    apart = np.zeros((n_runs, n_runs), dtype=bool)
    apart[np.triu_indices(n_runs, 1)] = np.array(adjust_p(p, 'holm')) <= ALPHA
    return order, np.array(rank_intervals(apart)).T


def ranks(population: Population, draws: int) -> list[str]:
    values = population.by_cutoff[SHOWN[-1]]
    means, n_queries, rows = values.mean(axis=1), values.shape[1], []
    one_mean = values - (means - means.mean())[:, None]
    studies = [
        ('the runs', values, 1 + (means[:, None] < means).sum(axis=1)),
        ('the runs, moved to one mean', one_mean, np.ones(len(means))),
    ]
    for drawn_from, every, truth in studies:
        for n in (n_queries, 100):
            right, widths = [], []
            for number in range(draws // 2):
                chosen = generator(20_000, n, number).integers(n_queries, size=n)
                order, (low, high) = rank_intervals_of(every[:, chosen])
                right.append(bool(((low <= truth[order]) & (truth[order] <= high)).all()))
                widths.append(high - low + 1)
            rows.append([drawn_from, f'{n}', share_of(right), f'{np.mean(widths):.1f}'])
    return [
        '#### Intervals of ranks by `holm`',
        f'The true rank of each of the {len(means)} runs is within its interval; that of equal '
        f'runs is 1, so no pair is told apart. {draws // 2} draws.',
        machine.table(['drawn from', 'queries', 'all right', 'mean number of ranks'], rows),
    ]
