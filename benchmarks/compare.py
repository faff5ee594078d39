"""A campaign, scored by the package and by its row-wise peer: `python benchmarks/compare.py`."""

import csv
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import machine
from campaign import make_campaign
from speed_steps import scorer_of
from timing import median_seconds, output_of, seconds

from mediaeval_ap import AveragePrecision
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, read

COMMAND = [sys.executable, '-m', 'mediaeval_ap']
ROWWISE = [sys.executable, str(Path(__file__).parent / 'rowwise.py')]
REPEATS = 9
PEER_REPEATS = 3
N_RUNS = 17


def finished(command: list[str]) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Return the seconds that a command takes, and what it printed."""
    begin = perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return perf_counter() - begin, done


def command_seconds(command: list[str]) -> float:
    return median_seconds(partial(output_of, command), REPEATS)


def in_process(reference: str, hypothesis: str, queries: str) -> tuple[float, float, float]:
    """Return median seconds of all queries: indexed before, read before, and of one `send`."""
    average_precision = AveragePrecision(reference)
    table = read(hypothesis, HYPOTHESIS)
    asked = read(queries, QUERIES)
    names = asked.texts('person_name')
    ranking = Ranking(table)
    score = partial(scorer_of(reference, ranking).score, names)
    session = average_precision(table)
    send = median(seconds(partial(session.send, name)) for name in names)
    evaluate = partial(average_precision.evaluate, table, asked)
    return median_seconds(score, REPEATS), median_seconds(evaluate, REPEATS), send


def largest_difference(rowwise: str, ours: str) -> float:
    expected = {line.split()[0]: line.split()[1:] for line in rowwise.splitlines()}
    rows = list(csv.reader(ours.splitlines()[1:]))
    return max(
        abs(float(a) - float(b))
        for row in rows
        for a, b in zip(row[2:-1], expected[row[1]], strict=True)
    )


def main(folder: Path) -> None:
    make_campaign(folder)
    reference, hypothesis, queries = (
        str(folder / f'{name}.txt') for name in ('reference', 'hypothesis', 'queries')
    )
    evaluate = [*COMMAND, 'evaluate', '--queries', queries, reference, hypothesis]
    whole = command_seconds(evaluate)
    many = command_seconds([*evaluate, *[hypothesis] * (N_RUNS - 1)])
    batch, evaluated, send = in_process(reference, hypothesis, queries)
    peers = [finished([*ROWWISE, reference, hypothesis, queries]) for _ in range(PEER_REPEATS)]
    rowwise = median(time for time, _ in peers)
    rowwise_queries = median(float(done.stderr.split()[-2]) for _, done in peers)
    done = peers[0][1]
    difference = largest_difference(done.stdout, output_of([*evaluate, '--format', 'csv']))
    rows = [
        ['whole process, one run', f'{whole:.3f} s', f'{rowwise:.1f} s', f'{rowwise / whole:.0f}'],
        [
            '599 queries, once loaded and indexed',
            f'{batch * 1e3:.1f} ms',
            f'{rowwise_queries:.1f} s',
            f'{rowwise_queries / batch:.0f}',
        ],
        [
            '`evaluate` of a table: indexing and 599 queries',
            f'{evaluated * 1e3:.1f} ms',
            f'{rowwise_queries:.1f} s',
            f'{rowwise_queries / evaluated:.0f}',
        ],
        ['one `send`', f'{send * 1e3:.3f} ms', f'{rowwise_queries / 599 * 1e3:.0f} ms', ''],
        [f'{N_RUNS} runs in one command', f'{many:.2f} s', '', ''],
        ['`--version`', f'{command_seconds([*COMMAND, "--version"]):.3f} s', '', ''],
        ['`--help`', f'{command_seconds([*COMMAND, "--help"]):.3f} s', '', ''],
        ['largest difference of any AP', f'{difference:.0e}', '', ''],
    ]
    machine.write('campaign', ['', 'mediaeval_ap', 'row-wise', 'times faster'], rows)


if __name__ == '__main__':
    warnings.simplefilter('ignore')
    with TemporaryDirectory() as folder:
        main(Path(folder))
