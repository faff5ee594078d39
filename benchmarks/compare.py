"""Compare the package with a row-wise peer on a campaign: `python benchmarks/compare.py`."""

import csv
import shutil
import sys
import warnings
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import machine
from campaign import make_campaign
from rowwise import K
from timing import (
    command_of,
    in_turns,
    median_seconds,
    median_taken,
    output_of,
    seconds,
    whole_process,
)

from mediaeval_ap import AveragePrecision
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, read

ROWWISE = [sys.executable, str(Path(__file__).parent / 'rowwise.py')]
REPEATS = 9
PEER_REPEATS = 3
N_RUNS = 17


def in_process(reference: str, hypothesis: str, queries: str) -> tuple[float, float, float]:
    """Return the median seconds of all queries, indexed or read before, and of one `send`."""
    average_precision = AveragePrecision(reference)
    table = read(hypothesis, HYPOTHESIS)
    asked = read(queries, QUERIES)
    names = asked.texts('person_name')
    score = partial(average_precision.evaluate, Ranking(table), asked)
    session = average_precision(table)
    send = median(seconds(partial(session.send, name)) for name in names)
    evaluate = partial(average_precision.evaluate, table, asked)
    return median_seconds(score, REPEATS), median_seconds(evaluate, REPEATS), send


def largest_difference(rowwise: str, ours: str) -> float:
    own = {row['query']: row for row in csv.DictReader(ours.splitlines())}
    peers = [line.split() for line in rowwise.splitlines()]
    return max(
        abs(float(own[query][f'AP@{k}']) - float(value))
        for query, *values in peers
        for k, value in zip(K, values, strict=True)
    )


def main(folder: Path) -> None:
    make_campaign(folder)
    reference, hypothesis, queries = (
        str(folder / f'{name}.txt') for name in ('reference', 'hypothesis', 'queries')
    )
    copies = [shutil.copy(hypothesis, folder / f'run-{n}.txt') for n in range(1, N_RUNS)]
    command = partial(command_of, sys.executable)
    evaluate = command('evaluate', '--queries', queries, reference, hypothesis)
    commands = {
        'one run': evaluate,
        'many runs': [*evaluate, *copies],
        '--version': command('--version'),
        '--help': command('--help'),
    }
    whole = {
        what: median_taken([each.taken for each in processes]).seconds
        for what, processes in in_turns(commands, REPEATS).items()
    }
    batch, evaluated, send = in_process(reference, hypothesis, queries)
    peers = [whole_process([*ROWWISE, reference, hypothesis, queries]) for _ in range(PEER_REPEATS)]
    rowwise = median_taken([each.taken for each in peers]).seconds
    rowwise_queries = median(float(each.messages.split()[-2]) for each in peers)
    difference = largest_difference(
        peers[0].printed, output_of([*evaluate, '--per-query', '--format', 'csv'])
    )
    one_run = whole['one run']
    rows = [
        [
            'whole process, one run',
            f'{one_run:.3f} s',
            f'{rowwise:.1f} s',
            f'{rowwise / one_run:.0f}',
        ],
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
        [f'{N_RUNS} runs in one command', f'{whole["many runs"]:.2f} s', '', ''],
        *[[f'`{each}`', f'{whole[each]:.3f} s', '', ''] for each in ('--version', '--help')],
        ['largest difference of any AP', f'{difference:.0e}', '', ''],
    ]
    machine.write('campaign', ['', 'mediaeval_ap', 'row-wise', 'times faster'], rows)


if __name__ == '__main__':
    warnings.simplefilter('ignore')
    with TemporaryDirectory() as folder:
        main(Path(folder))
