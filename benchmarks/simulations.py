"""Whether tests and intervals of `compare` keep what they say, by simulation.

`python benchmarks/simulations.py [--official FOLDER]`: queries, or videos with all their queries,
are drawn again and again, with replacement, from AP by query of the runs of a campaign. So the mean
over all its queries is the truth. `--only` simulates some parts; a page is kept if it is whole.
"""

import argparse
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from time import perf_counter

import machine
from simulated_coverage import over_queries, over_videos
from simulated_runs import OF_CLAIMS, SEED, K, Population, Settings, official, synthetic
from simulated_tests import cutoffs, families, ranks

Part = Callable[[Population, Settings], list[str]]  # paragraphs of Markdown

PARTS: dict[str, Part] = {
    'queries': over_queries,
    'videos': over_videos,
    'ranks': ranks,
    'cutoffs': cutoffs,
    'families': families,
}


def parts(text: str) -> list[str]:
    names = text.split(',')
    for name in names:
        if name not in PARTS:
            raise argparse.ArgumentTypeError(f'found {name}, expected some of {", ".join(PARTS)}')
    return [name for name in PARTS if name in names]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--official', type=Path, metavar='FOLDER', help='folder of a campaign')
    parser.add_argument('--only', type=parts, metavar='PART,...', help='parts to simulate')
    parser.add_argument('--draws', type=int, default=250)
    parser.add_argument('--resamples', type=int, default=1_000, help='of each draw')
    parser.add_argument('--permutations', type=int, default=4_999, help='of each draw')
    given = parser.parse_args()
    population = synthetic() if given.official is None else official(given.official)
    settings = Settings(given.draws, given.resamples, given.permutations)
    about = (
        f'{date.today()}; {len(population.names)} runs, {len(population.clusters)} queries in '
        f'{population.n_videos} videos, AP@{K[OF_CLAIMS]}; {given.draws:,} draws, seed {SEED}'
    )
    paragraphs = [
        f'{about}; in each, {given.resamples:,} resamples and {given.permutations:,} sign flips '
        '(`compare` takes 10,000 and 100,000).'
    ]
    for name in given.only or PARTS:
        begin = perf_counter()
        paragraphs += PARTS[name](population, settings)
        print(f'{name}: {perf_counter() - begin:.0f} s', file=sys.stderr, flush=True)
    if given.only is None:
        kept = 'simulations' if given.official is not None else 'simulations-synthetic'
        machine.write_page(kept, paragraphs, ['scipy'])
    print('\n\n'.join(paragraphs))


if __name__ == '__main__':
    main()
