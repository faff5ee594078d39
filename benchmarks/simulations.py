"""Simulate the error rates of the tests of `compare`, and the coverage of its intervals.

`python benchmarks/simulations.py [--official FOLDER] [--trec-covid FOLDER]`: queries, or clusters
of queries by video, are drawn again and again, with replacement, from the queries of a campaign,
and from the topics of TREC-COVID, of which the second folder has the clones of `published.py`. So
the mean over all queries, or topics, is the truth. `--only` simulates some parts. The page of
results is written only after all parts of both.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from time import perf_counter

import machine
from simulated_coverage import of_runs, of_samples
from simulated_differences import differences, gates, power, skew
from simulated_runs import SEED, Population, ap_of_topics, official, synthetic
from simulated_seeds import macro, seeds
from simulated_tests import levels, ranks, ratios

PARTS: dict[str, Callable[[Population, int], list[str]]] = {  # paragraphs of Markdown
    'means': of_runs,
    'differences': differences,
    'lwlrap': of_samples,
    'seeds': seeds,
    'macro': macro,
    'gates': gates,
    'power': power,
    'levels': levels,
    'skew': skew,
    'ratios': ratios,
    'ranks': ranks,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--official', type=Path, metavar='FOLDER', help='folder of a campaign')
    parser.add_argument('--trec-covid', type=Path, metavar='FOLDER', help='folder of two clones')
    parser.add_argument('--only', nargs='+', choices=PARTS, help='parts to simulate')
    parser.add_argument('--draws', type=int, default=1_000)
    given = parser.parse_args()
    population = synthetic() if given.official is None else official(given.official)
    _, n_runs, n_queries = population.by_cutoff.shape
    about = f'{n_runs} runs, {n_queries} queries in {population.n_videos} videos; '
    if given.trec_covid is not None:
        population = replace(population, trec_covid=(topics := ap_of_topics(given.trec_covid)))
        about += f'{len(topics)} runs, {topics.shape[1]} topics of TREC-COVID (round 5); '
    paragraphs = [
        f'{date.today()}; {about}{given.draws:,} draws where no other number is stated, '
        f'seed {SEED}.'
    ]
    for name in given.only or PARTS:
        begin = perf_counter()
        paragraphs += PARTS[name](population, given.draws)
        print(f'{name}: {perf_counter() - begin:.0f} s', file=sys.stderr, flush=True)
    if given.only is None and None not in (given.official, given.trec_covid):
        machine.write_page('simulations', paragraphs, ['scipy'])
    print('\n\n'.join(paragraphs))


if __name__ == '__main__':
    main()
