"""How often intervals have the truth in them, by `simulations.py`."""

from collections.abc import Callable
from itertools import combinations
from math import sqrt

import machine
import numpy as np
from simulated_runs import (
    LEVEL,
    SEED,
    SIZES,
    Floats,
    Numbers,
    Population,
    Settings,
    percent,
    share_of,
)

from mediaeval_ap.comparison.sampling import (
    Interval,
    Units,
    bootstrap_intervals,
    plus2_interval,
    t_interval,
    units_of,
)

VIDEOS = (50,)  # and all
KINDS = ('BCa', 't', 'plus2')
HEADERS = [
    *('intervals of', 'over', 'kind', 'mean', 'standard error', 'worst', 'standard error'),
    'mean width',
]


def pairs_of(values: Floats) -> tuple[Numbers, Numbers]:
    """Return the numbers of the runs of each pair that is not equal on all queries."""
    pairs = combinations(range(len(values)), 2)
    differ = [(a, b) for a, b in pairs if (values[a] != values[b]).any()]
    a, b = np.array(differ, dtype=np.intp).T
    return a, b


def sums_of(units: Units, pairs: tuple[Numbers, Numbers]) -> list[Floats]:
    """Return the sums by unit of each run, then of each difference."""
    runs = np.ldexp(units.sums.T, -units.exponent)
    return [*runs, *(units.differences_of_sums(a, b) for a, b in zip(*pairs, strict=True))]


def bounds_of(
    kind: str, units: Units, pairs: tuple[Numbers, Numbers], resamples: int, seed: int
) -> Floats:
    """Return low and high of each run, then of each difference; NaN without an interval."""
    if kind == 'BCa':
        runs, differences = bootstrap_intervals(units, pairs, LEVEL, resamples, seed)
        intervals: list[Interval] = runs + differences
    else:
        interval_of = plus2_interval if kind == 'plus2' else t_interval
        intervals = [interval_of(sums, units.sizes, LEVEL) for sums in sums_of(units, pairs)]
    return np.array([[each.low, each.high] for each in intervals], dtype=np.float64).T


def coverage(
    units: dict[str, Units],
    draw: Callable[[np.random.Generator], dict[str, Numbers]],
    pairs: tuple[Numbers, Numbers],
    settings: Settings,
    key: int,
) -> list[list[str]]:
    """Return how often intervals over the units that are drawn have the truth in them."""
    n_runs = next(iter(units.values())).sums.shape[1]
    whole = units[list(units)[-1]]  # what is drawn, with all its queries
    truth = np.array([sums.sum() for sums in sums_of(whole, pairs)]) / whole.sizes.sum()
    covers: dict[tuple[str, str], list[Floats]] = {
        (over, kind): [] for over in units for kind in KINDS
    }
    widths: dict[tuple[str, str], list[Floats]] = {way: [] for way in covers}
    for number in range(settings.draws):
        random = np.random.default_rng([SEED, key, number])
        drawn, seed = draw(random), int(random.integers(1 << 32))
        for over, kind in covers:
            every, chosen = units[over], drawn[over]
            sample = Units(every.sums[chosen], every.sizes[chosen], every.exponent)
            low, high = bounds_of(kind, sample, pairs, settings.resamples, seed)
            within = np.where(np.isnan(low), np.nan, (low <= truth) & (truth <= high))
            covers[over, kind].append(within)
            widths[over, kind].append(high - low)
    parts = {'MAP': slice(None, n_runs), 'difference': slice(n_runs, None)}
    return [
        [
            *(what, over, kind, *summary(np.array(covers[over, kind])[:, part])),
            f'{np.nanmean(np.array(widths[over, kind])[:, part]):.3f}',
        ]
        for what, part in parts.items()
        for over, kind in covers
        if (what, kind) != ('MAP', 'plus2')  # which is for differences
    ]


def summary(covers: Floats) -> list[str]:
    """Return coverage over draws (rows) of all statistics and the worst, with standard errors."""
    of_each = np.nanmean(covers, axis=0)
    worst = covers[:, of_each.argmin()]
    of_draws = np.nanmean(covers, axis=1)  # statistics of one draw depend on each other
    error = np.nanstd(of_draws) / sqrt(len(of_draws))
    return [percent(of_each.mean()), f'{error:.2%}', *share_of(worst[~np.isnan(worst)])]


def over_queries(population: Population, settings: Settings) -> list[str]:
    values = population.values
    n_queries = values.shape[1]
    units, pairs = {'queries': units_of(values, np.arange(n_queries))}, pairs_of(values)
    rows = []
    for n in SIZES:

        def draw(random: np.random.Generator, n: int = n) -> dict[str, Numbers]:
            return {'queries': random.integers(n_queries, size=n)}

        rows += [[f'{n}', *row] for row in coverage(units, draw, pairs, settings, n)]
    return [
        f'#### Coverage of {LEVEL:.0%} intervals: queries drawn',
        f'Mean and worst of {len(values)} MAPs and {len(pairs[0])} differences. The worst of many '
        'is a little too low by chance.',
        machine.table(['queries', *HEADERS], rows),
    ]


def over_videos(population: Population, settings: Settings) -> list[str]:
    values, clusters = population.values, population.clusters
    pairs = pairs_of(values)
    units = {
        'queries': units_of(values, np.arange(len(clusters))),
        'videos': units_of(values, clusters),
    }
    n_clusters = len(units['videos'].sizes)
    members = [np.flatnonzero(clusters == number) for number in range(n_clusters)]
    n_single = np.count_nonzero(~population.has_video)
    rows = []
    for n_videos in (population.n_videos, *VIDEOS):
        n = round(n_videos * n_clusters / population.n_videos)

        def draw(random: np.random.Generator, n: int = n) -> dict[str, Numbers]:
            chosen = random.integers(n_clusters, size=n)
            queries = np.concatenate([members[each] for each in chosen])
            return {'queries': queries, 'videos': chosen}

        found = coverage(units, draw, pairs, settings, 10_000 + n)
        rows += [[f'{n_videos}', *row] for row in found]
    return [
        f'#### Coverage of {LEVEL:.0%} intervals: videos drawn',
        f'Each video with all its queries. {n_single} queries without a relevant shot are drawn '
        'with the videos, each by itself, in proportion: so the numbers of videos are means.',
        machine.table(['videos', *HEADERS], rows),
    ]
