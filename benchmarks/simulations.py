"""Simulate the error rates of the tests of `compare`, and the coverage of its intervals.

`python benchmarks/simulations.py [--official FOLDER]`: queries, or clusters of queries by video,
are drawn again and again, with replacement, from the queries of a campaign. So the mean over all
its queries is the truth. `--only` simulates some parts. The page of results is written only after
all parts of an official campaign.
"""

import argparse
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from time import perf_counter

import machine
from simulated_coverage import of_runs, of_samples
from simulated_runs import SEED, Population, official, synthetic
from simulated_tests import levels, ranks, ratios

PARTS: dict[str, Callable[[Population, int], list[str]]] = {  # paragraphs of Markdown
    'intervals': of_runs,
    'lwlrap': of_samples,
    'levels': levels,
    'ratios': ratios,
    'ranks': ranks,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--official', type=Path, metavar='FOLDER', help='folder of a campaign')
    parser.add_argument('--only', nargs='+', choices=PARTS, help='parts to simulate')
    parser.add_argument('--draws', type=int, default=1_000)
    given = parser.parse_args()
    population = synthetic() if given.official is None else official(given.official)
    _, n_runs, n_queries = population.by_cutoff.shape
    paragraphs = [
        f'{date.today()}; {n_runs} runs, {n_queries} queries in {population.n_videos} videos; '
        f'{given.draws:,} draws (of levels twice as many, of ranks half), seed {SEED}.'
    ]
    for name in given.only or PARTS:
        begin = perf_counter()
        paragraphs += PARTS[name](population, given.draws)
        print(f'{name}: {perf_counter() - begin:.0f} s', file=sys.stderr, flush=True)
    if given.only is None and given.official is not None:
        machine.write_page('simulations', paragraphs, ['scipy'])
    print('\n\n'.join(paragraphs))


if __name__ == '__main__':
    main()
