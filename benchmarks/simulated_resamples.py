"""How often intervals of lwlrap, which `compare` resamples, have the truth in them.

`python benchmarks/simulated_resamples.py`: two runs of a model of 20,000 queries, of which some are
drawn again and again. The value of all of them is the truth.
"""

import argparse
from datetime import date

import machine
import numpy as np
from simulated_runs import LEVEL, SEED, Floats, share_of

from mediaeval_ap.comparison.comparable_runs import Runs
from mediaeval_ap.comparison.sampling import percentiles
from mediaeval_ap.comparison.testing import _drawn, checked_settings
from mediaeval_ap.errors import UndefinedScoreError

N_QUERIES = 20_000
HEADERS = [
    *('queries', 'with a true label', 'value', 'standard error'),
    *('difference', 'standard error', 'refused'),
]


def sounds(random: np.random.Generator, share: float) -> Floats:
    """Return two runs of LRAP and number of labels, where a share has any."""
    easy = random.normal(size=N_QUERIES)
    n_labels = random.geometric(0.6, N_QUERIES) * (random.random(N_QUERIES) < share)
    ranks = (1 + random.poisson(np.exp(level - 0.3 * easy)) for level in (0.0, 0.1))
    return np.array([np.column_stack([1 / rank, n_labels]) for rank in ranks])


SHARE, SIZES = 0.95, (50, 100, 300)
KEY = 2  # of the random numbers; others would do


def value_of(rows: Floats) -> float:
    return float(np.average(rows[:, 0], weights=rows[:, 1]))


def runs_of(rows: Floats) -> Runs:
    return Runs(
        names=['one', 'other'],
        metrics=['lwlrap'],
        queries=[f'{place}' for place in range(rows.shape[1])],
        values=rows[None],
        n_relevant=None,
        floor={},
        definition=None,
        sources={},
        inputs={},
        notes=[],
        kind='score',
        n_skipped=None,
        no_mean='simulated',
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--draws', type=int, default=1_000)
    parser.add_argument('--resamples', type=int, default=1_000, help='of each draw')
    given = parser.parse_args()
    settings = checked_settings(
        baseline=None,
        correction='holm',
        interval=None,
        level=LEVEL,
        cluster=None,
        resamples=given.resamples,
        permutations=None,
        seed=SEED,
    )
    table = []
    every = sounds(np.random.default_rng([SEED, KEY]), SHARE)
    one, other = map(value_of, every)
    for n in SIZES:
        covers, n_refused = [], 0
        for number in range(given.draws):
            random = np.random.default_rng([SEED, KEY, n, number])
            some = every[:, random.integers(N_QUERIES, size=n)]
            try:
                drawn = _drawn(settings, runs_of(some))
            except UndefinedScoreError:
                n_refused += 1
                continue
            within = []
            for truth, each in (one, drawn[0]), (one - other, drawn[0] - drawn[1]):
                interval = percentiles(each, LEVEL)
                assert interval.low is not None
                assert interval.high is not None
                within.append(interval.low <= truth <= interval.high)
            covers.append(within)
        of_value, of_difference = np.array(covers).T
        refused = f'{n_refused / given.draws:.1%}'
        table.append(
            [f'{n}', f'{SHARE:.0%}', *share_of(of_value), *share_of(of_difference), refused]
        )
    about = (
        f'{date.today()}; {given.draws:,} draws, seed {SEED}; in each, {given.resamples:,} '
        f'resamples (`compare` takes 10,000). How often {LEVEL:.0%} intervals of percentiles have '
        'the truth in them: of the value of a run, and of the difference of two. As p is at most '
        '5% where the interval lacks 0, it is so for equal runs as often as an interval misses. '
        'Samples are refused if some resample has no true label, and are left out.'
    )
    paragraphs = [about, machine.table(HEADERS, table)]
    machine.write_page('resamples', paragraphs, ['scipy'])
    print('\n\n'.join(paragraphs))


if __name__ == '__main__':
    main()
