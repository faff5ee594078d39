"""Runs of millions, one a process: `python benchmarks/large.py [N_HYPOTHESES ...]`."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import machine
from campaign import make_campaign
from timing import peak_gib, print_steps, steps_of

from mediaeval_ap import definitions
from mediaeval_ap.evaluation.relevance import Reference, Relevance
from mediaeval_ap.evaluation.scoring import Scorer
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, REFERENCE, read

SIZES = (1_000_000, 10_000_000)
N_NAMES = 100_000
N_QUERIES = 1_000
FAR = 'ABC'  # shares nothing with any name: one tie block of them all


def measure(folder: Path) -> None:
    """Print seconds of each step, and the peak of memory in GiB."""
    reference = Reference(read(folder / 'reference.txt', REFERENCE), counts_again=True)
    queries = read(folder / 'queries.txt', QUERIES).texts('person_name')
    times = [perf_counter()]
    table = read(folder / 'hypothesis.txt', HYPOTHESIS)
    times.append(perf_counter())
    ranking = Ranking(table)
    relevance = Relevance(reference, ranking.shots)
    scorer = Scorer(ranking, relevance, [1, 10, 100, 1000], definitions.get(definitions.DEFAULT))
    times.append(perf_counter())
    scorer.score(queries)
    times.append(perf_counter())
    for _ in ranking.names.measured(queries):
        pass
    times.append(perf_counter())
    (far,) = ranking.names.measured([FAR])
    times.append(perf_counter())
    ranking.top(far, 1000)
    times.append(perf_counter())
    print_steps(times, peak_gib())


def main(sizes: list[int]) -> None:
    rows = []
    for size in sizes:
        with TemporaryDirectory() as folder:
            make_campaign(Path(folder), size, N_NAMES, N_QUERIES, 20_000, 20_000)
            load, index, queries, distances, _, tied, peak = steps_of(__file__, folder)
        rows.append(
            [
                f'{size:,}',
                f'{load:.1f} s',
                f'{index:.1f} s',
                f'{queries:.2f} s',
                f'{distances:.2f} s',
                f'{tied * 1e3:.1f} ms',
                f'{peak:.2f} GiB',
            ]
        )
    headers = [
        *('hypotheses', 'load', 'index', f'{N_QUERIES:,} queries', 'distances alone'),
        *('one query as far from every name', 'peak memory'),
    ]
    machine.write('large', headers, rows)


if __name__ == '__main__':
    if sys.argv[1:2] == ['--measure']:
        measure(Path(sys.argv[2]))
    else:
        main([int(size) for size in sys.argv[1:]] or list(SIZES))
