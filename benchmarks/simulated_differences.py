"""Intervals and p of differences, gates, and power; parts of `simulations.py`."""

from math import ceil, sqrt

import machine
import numpy as np
from scipy.stats import wilcoxon
from simulated_pairs import (
    GAIN,
    LARGE,
    LOSSES,
    MOST,
    NOISE,
    NOT_ZERO,
    RARE,
    Outcome,
    Pair,
    all_pairs,
    draws_of,
    ends_of,
    outcome_of,
    real_ap,
    share,
    share_covered,
)
from simulated_runs import ALPHA, LEVEL, NEAR, SIZES, Population, listed, mean_and

from mediaeval_ap.comparison.intervals import (
    FEWEST,
    Variation,
    fewest_units,
    size_of_more_units,
    units_to_decide,
)

LIMIT, DROPS = 0.01, (0.04, 0.01)  # of a gate
MANY, FEWER = 60, 4  # times fewer draws of many pairs
FEW_UNITS, MOST_UNITS = 14, 400  # of the power; to draw more takes too long


def decides(outcome: Outcome, bound: float) -> bool:
    return outcome.interval.side_of(bound) != 0


def differences(population: Population, draws: int) -> list[str]:
    rows = []
    for key, (name, pairs) in enumerate(all_pairs(population).items(), 40_000):
        for n in SIZES:
            shares, ratios, n_disagree = [], [], 0
            for number, pair in enumerate(pairs):
                every = [outcome_of(each) for each in draws_of(pair, n, draws, key, number)]
                shares.append(share_covered(pair, every))
                both = np.array([(np.ptp(ends_of(each.interval)), 2 * each.half) for each in every])
                length, length_of_t = both[both[:, 1] > NEAR].sum(axis=0)
                ratios += [length / length_of_t] if length_of_t else []
                n_disagree += sum((each.p <= ALPHA) != decides(each, 0) for each in every)
            covered = [mean_and(min, column) for column in zip(*shares, strict=True)]
            rows.append([name, f'{n}', *covered, f'{np.mean(ratios):.2f}', f'{n_disagree}'])
    rare, not_zero = (listed([f'{part:.0%}' for part in parts]) for parts in (RARE, NOT_ZERO))
    losses = listed([f'{loss}' for loss in LOSSES])
    return [
        f'#### Coverage of {LEVEL:.0%} intervals of differences',
        f'Mean of the pairs (the worst). Of runs, {MOST} pairs are taken at equal distances from '
        'the list of all pairs, best runs first. Drawn are queries, topics or, by video, clusters. '
        'A reciprocal rank is that of the first relevant shot, or 0 beyond rank 100. Beside the '
        "interval of `compare` is Student's t. Its length is 0 if all differences drawn are equal; "
        'the ratio of the mean lengths leaves out such draws. It is large where often fewer than '
        'five large differences are drawn: then `compare` assumes two more that are as large as '
        'can be. It is below 1 where `compare` cuts intervals at ±1. The last column counts the '
        f'draws in which p is at most {ALPHA} but the interval holds 0, or the other way round. '
        'The standard error of one pair is '
        f'{sqrt(LEVEL * (1 - LEVEL) / draws):.1%} at {LEVEL:.0%}.',
        'Sparse: the differences of four pairs that are not 0, with so many zeros added that they '
        f'are {not_zero} of all. The last two populations are made: no interval covers the truth '
        'as often as it should if a sample may lack what is rare, and shows nothing of it. Rare '
        f'differences: {rare} are {LARGE} or -{LARGE}, the others normal with a standard deviation '
        f'of {NOISE}. Rare losses: {rare} are a loss of {losses}, the others '
        f'a gain of {GAIN}.',
        machine.table(
            ['differences', 'drawn', 'interval', 't', 'length / t', 'p contradicts'], rows
        ),
    ]


def skew(population: Population, draws: int) -> list[str]:
    rows = []
    for key, (name, pairs) in enumerate(real_ap(population).items(), 50_000):
        for n in SIZES[2:5]:
            shares = []
            for number, pair in enumerate(pairs):
                mean = pair.sums[pair.sums != 0].mean()
                centred = Pair(np.where(pair.sums == 0, 0.0, pair.sums - mean), pair.sizes)
                samples = draws_of(centred, n, draws, key, number)
                every = [*map(outcome_of, samples)]
                by_flips = share([each.p <= ALPHA for each in every])
                by_t = share([abs(each.difference) > each.half for each in every])
                shares.append((by_flips, by_t, share([rank_p(each) <= ALPHA for each in samples])))
            rows.append(
                [name, f'{n}', *(mean_and(max, column) for column in zip(*shares, strict=True))]
            )
    return [
        f'#### Skewed differences, mean 0: p ≤ {ALPHA}',
        'Mean of the pairs (the worst). The mean of the differences that are not 0 is subtracted '
        "from each of them. So no run is better, though flips, and Wilcoxon's signed ranks, take "
        'differences to be symmetric then.',
        machine.table(['differences', 'drawn', 'flips', 't', 'Wilcoxon'], rows),
    ]


def rank_p(pair: Pair) -> float:
    return float(wilcoxon(pair.sums).pvalue) if pair.sums.any() else 1.0


def gates(population: Population, draws: int) -> list[str]:
    name, pairs = next(iter(real_ap(population, MANY).items()))
    rows = []
    for n in SIZES[1:5]:
        cells = []
        for drop in DROPS:
            shares = []
            for number, pair in enumerate(pairs):
                moved = Pair(pair.sums - pair.difference - drop, pair.sizes)
                samples = draws_of(moved, n, draws // FEWER, 51_000, number)
                every = [*map(outcome_of, samples)]
                below = share([each.interval.side_of(-LIMIT) < 0 for each in every])
                by_t = share([each.difference + each.half < -LIMIT for each in every])
                shares.append((below, by_t))
            worst = max if drop == LIMIT else min
            cells += [mean_and(worst, column) for column in zip(*shares, strict=True)]
        rows.append([f'{n}', *cells])
    headers = [f'{by}drop of {drop}' for drop in DROPS for by in ('', 't: ')]
    return [
        f'#### Gate: intervals below -{LIMIT}',
        f'The share of {draws // FEWER} draws whose interval is below -{LIMIT}, so that a gate '
        f'with this limit fails: the mean of {len(pairs)} pairs (the least, or the most for a drop '
        f'of {LIMIT}) of {name}. A constant is added to the differences of each pair, so that the '
        'true drop is known.',
        machine.table(['drawn', *headers], rows),
    ]


def power(population: Population, draws: int) -> list[str]:
    rows = []
    for key, (name, pairs) in enumerate(real_ap(population, MANY).items(), 52_000):
        for bound in (-LIMIT, 0.0):
            found = []
            for number, pair in enumerate(pairs):
                fewest, n = units_for(pair, bound)
                if fewest < n <= MOST_UNITS:
                    samples = draws_of(pair, n, draws // FEWER, key, number)
                    decided = [decides(outcome_of(each), bound) for each in samples]
                    found.append((n, share(decided)))
            for low, high in ((0, FEW_UNITS - 1), (FEW_UNITS, MOST_UNITS)):
                shares = [each for n, each in found if low <= n <= high]
                cells = [f'{max(low, fewest_units(LEVEL) + 1)} to {high}', f'{len(shares)}']
                if shares:
                    cells += [f'{np.mean(shares):.1%}', f'{min(shares):.1%} to {max(shares):.1%}']
                    rows.append([name, f'{bound:g}', *cells])
    return [
        '#### Power with as many units as `compare` gives',
        f'The share of {draws // FEWER} draws whose interval leaves out the limit (at 0, p '
        'decides), for the number of units that is given for a power of 80% from the differences '
        f'of the pair. There are up to {MANY} pairs, without those that need more than '
        f'{MOST_UNITS} units, or no more than the least number that `compare` gives, with which p '
        f'can be at most {ALPHA}, and {FEWEST} units differ.',
        machine.table(
            ['differences', 'limit', 'units', 'pairs', 'power', 'least to largest'], rows
        ),
    ]


def units_for(pair: Pair, bound: float) -> tuple[int, int]:
    """Return the fewest units for any difference, and the number for that of a pair."""
    nonzero = float(np.mean(pair.sums != 0))
    m = size_of_more_units(pair.sums, pair.sizes)
    variation = Variation(float(pair.sums.std()), m, nonzero)
    n = units_to_decide(pair.difference, bound, variation, LEVEL)
    return max(fewest_units(LEVEL), ceil(FEWEST / nonzero)), n or 0
