"""Whether `pool --sampled-queries` keeps what it says: draws of queries of a campaign.

`python benchmarks/sampled.py FOLDER [DRAWS]`; FOLDER as for `simulations.py`.
"""

import sys
import warnings
from pathlib import Path

import machine
import numpy as np

from mediaeval_ap import AveragePrecision
from mediaeval_ap.choices import NEAR, POOL_DEPTH
from mediaeval_ap.errors import DataWarning
from mediaeval_ap.judging.candidates import pool_pairs
from mediaeval_ap.judging.sampled import means_of_sample
from mediaeval_ap.results.run_names import team_of

SEED = 2016
SIZES = (100, 200)
DEFINITIONS = ('trec', 'mediaeval-2016')


def row_of(folder: Path, definition: str, size: int, draws: int) -> list[str]:
    """Return how often intervals hold the mean over all queries, and how wide they are."""
    reference = max((folder / 'reference').glob('reference.*'))  # the last by its date
    criteria = AveragePrecision(
        reference, K=[100], subset=folder / 'reference/test.eval', definition=definition
    )._criteria
    runs = {path.stem: path for path in sorted((folder / 'submissions').iterdir())}
    teams = {run: team_of(run) for run in runs}
    queries = criteria.read_queries(folder / 'reference/queries.txt')
    pairs = pool_pairs(criteria, runs, queries, teams, POOL_DEPTH, NEAR)
    names = pairs.queries
    means = [float(run.scorer.score(names)[0].mean()) for run in pairs.read]
    random = np.random.default_rng([SEED, size])
    covers, widths = np.zeros((2, draws, len(runs))), np.zeros((2, draws, len(runs)))
    for draw in range(draws):
        sampled = [names[at] for at in random.choice(len(names), size, replace=False)]
        found = means_of_sample(pairs, sampled)
        for run, (each, mean) in enumerate(zip(found.values(), means, strict=True)):
            ends = (each.low, each.high), (each.classical_low, each.classical_high)
            covers[:, draw, run] = [low <= mean <= high for low, high in ends]
            widths[:, draw, run] = [high - low for low, high in ends]
    coverage = [f'{each:.1%}' for each in covers.mean(axis=(1, 2))]
    worst = f'{covers[0].mean(axis=0).min():.1%}'
    return [definition, f'{size}', coverage[0], worst, coverage[1]] + [
        f'{each:.3f}' for each in widths.mean(axis=(1, 2))
    ]


def main(folder: Path, draws: int) -> None:
    rows = [row_of(folder, each, size, draws) for each in DEFINITIONS for size in SIZES]
    headers = 'definition,measured,coverage,worst run,classical,mean width,classical'.split(',')
    paragraphs = [
        f'MAP@100 of the runs of a campaign over all its queries, from some that were drawn at '
        f'random, {draws} times (seed {SEED}), and judged completely. Relevance of the others is '
        'predicted by the model of `judge-next`, fitted to the measured ones of other folds. '
        'Coverage of intervals at 95 %, in the mean and of the worst run; classical ones know the '
        'measured queries alone.',
        machine.table(headers, rows),
    ]
    machine.write_page('sampled', paragraphs, ['scipy', 'statsmodels'])
    print('\n\n'.join(paragraphs))


if __name__ == '__main__':
    warnings.simplefilter('ignore', DataWarning)  # of AP above 1, which is known
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 300)
