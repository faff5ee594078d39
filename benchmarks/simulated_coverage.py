"""How often intervals have the truth in them, by `simulations.py`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import machine
import numpy as np
from fast_intervals import KINDS, LEVEL, MOST_APART, Floats, Numbers, Sample, check
from simulated_runs import SEED, SIZES, Population, Settings, percent, share_of

from mediaeval_ap.comparison.sampling import units_of

VIDEOS = (100, 50, 25)  # and all
N_CHECKED = 3  # samples of each study whose intervals are compared with those of the package
CHECKED = (
    'The worst of many is a little too low by chance. The intervals of the first '
    f'{N_CHECKED} draws of each size are those of the package, but for {MOST_APART:g}.'
)


def pairs_of(values: Floats) -> tuple[Numbers, Numbers]:
    """Return the numbers of the runs of each pair that is not equal on all queries."""
    pairs = combinations(range(len(values)), 2)
    differ = [(a, b) for a, b in pairs if (values[a] != values[b]).any()]
    a, b = np.array(differ, dtype=np.intp).T
    return a, b


@dataclass(frozen=True)
class Row:
    """What an interval is of, over and by."""

    what: str  # MAP or difference
    over: str
    kind: str


HEADERS = [
    *('intervals of', 'over', 'kind', 'mean', 'standard error', 'worst', 'standard error'),
    *('without interval, at most', 'mean width'),
]


def coverage(
    rows: Sequence[Row],
    draw: Callable[[np.random.Generator], dict[str, Sample]],
    truth: Floats,
    n_runs: int,
    settings: Settings,
    key: int,
) -> list[list[str]]:
    """Return how often the intervals of each row have the truth in them."""
    ways = list(dict.fromkeys((row.over, row.kind) for row in rows))
    covers = {way: np.empty((settings.draws, len(truth))) for way in ways}
    widths = {way: np.zeros(len(truth)) for way in ways}
    for number in range(settings.draws):
        random = np.random.default_rng([SEED, key, number])
        samples = draw(random)
        seed = int(random.integers(1 << 32))
        for over, kind in ways:
            sample = samples[over]
            if number < N_CHECKED:
                check(kind, sample, settings.resamples, seed)
            bounds = KINDS[kind](sample.sums, sample.units.sizes, settings.resamples, seed)
            low, high = bounds
            within = np.where(np.isnan(low), np.nan, (low <= truth) & (truth <= high))
            covers[over, kind][number] = within
            widths[over, kind] += np.nan_to_num(high - low) / settings.draws
    found = []
    for row in rows:
        chosen = slice(None, n_runs) if row.what == 'MAP' else slice(n_runs, None)
        way = row.over, row.kind
        figures = summary(covers[way][:, chosen])
        found.append([row.what, row.over, row.kind, *figures, f'{widths[way][chosen].mean():.3f}'])
    return found


def summary(covers: Floats) -> list[str]:
    """Return coverage over draws (rows) of all statistics and the worst, with standard errors."""
    without = np.isnan(covers).mean(axis=0)
    some = covers[:, without < 1]
    of_each = np.nanmean(some, axis=0)
    column = some[:, of_each.argmin()]
    of_draws = np.nanmean(some, axis=1)  # statistics of one draw depend on each other
    error = np.nanstd(of_draws) / sqrt(len(of_draws))
    worst_figures = share_of(column[~np.isnan(column)])
    return [percent(of_each.mean()), f'{error:.2%}', *worst_figures, percent(without.max())]


def truths(sample: Sample) -> Floats:
    truth: Floats = sample.sums.sum(axis=0) / sample.units.sizes.sum()
    return truth


def over_queries(population: Population, settings: Settings) -> list[str]:
    values = population.values
    every = Sample.of(units_of(values, np.arange(values.shape[1])), pairs_of(values))
    kinds = {'MAP': ('BCa', 't'), 'difference': ('BCa', 't', 'plus2')}
    wanted = [Row(what, 'queries', kind) for what in kinds for kind in kinds[what]]
    rows = []
    for n in SIZES:

        def draw(random: np.random.Generator, n: int = n) -> dict[str, Sample]:
            return {'queries': every.drawn(random.integers(values.shape[1], size=n))}

        found = coverage(wanted, draw, truths(every), len(values), settings, n)
        rows += [[f'{n}', *row] for row in found]
    n_pairs = len(every.pairs[0])
    return [
        f'#### Coverage of {LEVEL:.0%} intervals: queries drawn',
        f'Mean and worst of {len(values)} MAPs and {n_pairs} differences. {CHECKED}',
        machine.table(['queries', *HEADERS], rows),
    ]


def over_videos(population: Population, settings: Settings) -> list[str]:
    values, clusters = population.values, population.clusters
    pairs = pairs_of(values)
    of_queries = Sample.of(units_of(values, np.arange(len(clusters))), pairs)
    of_videos = Sample.of(units_of(values, clusters), pairs)
    n_clusters = len(of_videos.sums)
    members = [np.flatnonzero(clusters == number) for number in range(n_clusters)]
    wanted = [
        *(Row('MAP', over, 'BCa') for over in ('queries', 'videos')),
        Row('MAP', 'videos', 't'),
        *(Row('difference', 'queries', kind) for kind in ('BCa', 'plus2')),
        *(Row('difference', 'videos', kind) for kind in ('BCa', 't', 'plus2')),
    ]
    n_single = np.count_nonzero(~population.has_video)
    rows = []
    for n_videos in (population.n_videos, *VIDEOS):
        n = round(n_videos * n_clusters / population.n_videos)

        def draw(random: np.random.Generator, n: int = n) -> dict[str, Sample]:
            chosen = random.integers(n_clusters, size=n)
            queries = np.concatenate([members[each] for each in chosen])
            return {'queries': of_queries.drawn(queries), 'videos': of_videos.drawn(chosen)}

        found = coverage(wanted, draw, truths(of_videos), len(values), settings, 10_000 + n)
        rows += [[f'{n_videos}', *row] for row in found]
    return [
        f'#### Coverage of {LEVEL:.0%} intervals: videos drawn',
        f'Each video with all its queries. {n_single} queries without a relevant shot are drawn '
        'with the videos, each by itself, in proportion: so the numbers of videos are means. '
        f'Mean and worst of {len(values)} MAPs and {len(pairs[0])} differences.',
        machine.table(['videos', *HEADERS], rows),
    ]
