"""How soon the order of the runs of a campaign is right, by each strategy of `judge-next`.

`python benchmarks/replay.py --official FOLDER`: plays the campaign again from nothing; the truth is
its last reference. mtc also with other priors. Times are of seventeen synthetic runs.
"""

import argparse
import sys
import warnings
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import machine
import numpy as np
from numpy.typing import NDArray
from runs import make_runs

from mediaeval_ap import AveragePrecision, Replay
from mediaeval_ap.choices import NEAR, POOL_DEPTH, STRATEGIES, Strategy
from mediaeval_ap.errors import DataWarning
from mediaeval_ap.judging.candidates import PoolPairs
from mediaeval_ap.judging.replay import replay_pool

GRID = [50, 100, 200, 500, 1000, 2000, 5000]
FOUND_AT = 4000  # judgements; the figure that others have published of a campaign
SEEDS = range(3)  # of random, whose results differ by chance
Floats = NDArray[np.float64]


def priors(pairs: PoolPairs) -> dict[str, Floats | None]:
    """Return probabilities before there are judgements, the package's own first."""
    is_returned = pairs.ranks > 0
    reciprocal = np.divide(1, pairs.ranks, out=np.zeros(pairs.ranks.shape), where=is_returned)
    best, teams = reciprocal.max(axis=0), np.array(pairs.teams)
    votes = np.mean([is_returned[teams == each].any(axis=0) for each in {*pairs.teams}], axis=0)
    return {
        'mean of 1/rank (as in the package)': None,
        'share of teams': 0.05 + 0.85 * votes,
        'all .2': np.full(len(pairs), 0.2),
        'all .5': np.full(len(pairs), 0.5),
        'half of 1/(1 + log of the best rank)': 0.5 / (1 - np.log(best)),
        'share of teams / root of the best rank': (0.1 + 0.9 * votes) * np.sqrt(best),
    }


def row_of(name: str, replay: Replay, strategy: str, expected: bool) -> list[str]:
    steps = {each.n_judged: each for each in replay.steps if each.strategy == strategy}
    taus = [steps[n].expected_tau if expected else steps[n].tau for n in GRID]
    settled = [replay.settled(strategy, expected=expected, level=level) for level in (0.94, 0.95)]
    counts = ['never before the end' if each is None else f'{each:,}' for each in settled]
    return [name, *('' if tau is None else f'{tau:.3f}' for tau in taus), *counts]


def found_at(replay: Replay, strategy: str) -> int:
    before = [each for each in replay.steps if each.strategy == strategy]
    return next(each.n_found for each in reversed(before) if each.n_judged <= FOUND_AT)


def played(folder: Path, by: str, K: int, definition: str, *, whole: bool) -> list[str]:
    """Return the paragraphs about one way to judge and to score; all of them, or one table."""
    reference = max((folder / 'reference').glob('reference.*'))  # the last by its date
    runs = {path.stem: path for path in sorted((folder / 'submissions').iterdir())}
    average_precision = AveragePrecision(
        reference, [K], subset=folder / 'reference' / 'test.eval', definition=definition
    )
    queries = folder / 'reference' / 'queries.txt'
    given: dict[str, Any] = {'queries': queries, 'by': by}
    begin = perf_counter()
    replay = average_precision.replay(runs, reference, **given)
    seconds = perf_counter() - begin
    rows = [
        row_of(f'{strategy}, by {kind}', replay, strategy, expected)
        for strategy in STRATEGIES
        for expected, kind in ((True, 'expected MAP'), (False, 'MAP'))
    ]
    headers = ['', *(f'{n:,}' for n in GRID), 'stays ≥ .94', 'stays ≥ .95']
    found = ', '.join(f'{each} {found_at(replay, each):,}' for each in STRATEGIES)
    tau = 'none' if replay.whole_tau is None else f'{replay.whole_tau:.3f}'
    paragraphs = [
        f'#### By {by}: MAP@{K}, {definition}',
        f'{replay.n_pairs:,} pool pairs, {replay.n_relevant:,} relevant; {replay.n_outside} other '
        f'shots are no pool pairs (by all of the reference tau-b {tau}, MAP differs by '
        f"{replay.whole_error:.3f}). Kendall's tau-b after so many judgements: one pair of "
        f'{len(runs)} runs the wrong way round takes {4 / len(runs) / (len(runs) - 1):.3f}. '
        f'All five strategies took {seconds:.0f} s.',
        machine.table(headers, rows),
        f'Relevant pool pairs that are found after {FOUND_AT:,} judgements: {found}.',
    ]
    if whole:
        seeds = [
            average_precision.replay(runs, reference, **given, strategies=['random'], seed=seed)
            for seed in SEEDS
        ]
        chance = [
            [each.settled('random', expected=kind) for each in seeds] for kind in (True, False)
        ]
        paragraphs += [
            f'Random with seeds 0 to {SEEDS[-1]}: ≥ .95 after {chance[0]} by expected MAP, after '
            f'{chance[1]} by MAP.',
            'mtc with other probabilities before there are judgements, by expected MAP:',
            machine.table(headers, of_priors(average_precision, runs, replay, queries, by)),
        ]
    return paragraphs


def of_priors(
    average_precision: AveragePrecision,
    runs: Mapping[str, Path],
    replay: Replay,
    queries: Path,
    by: Any,
) -> list[list[str]]:
    criteria = average_precision._criteria
    pairs = average_precision._pool_pairs(criteria, runs, queries, None, POOL_DEPTH, NEAR)
    rows, mtc = [], ['mtc']
    strategies: list[Strategy] = ['mtc']
    for name, prior in priors(pairs).items():
        steps, found = replay_pool(pairs, criteria.reference, by, strategies, 0, prior)
        parameters = {**replay.parameters, 'strategies': mtc}
        made = Replay(steps, **found, parameters=parameters, inputs={})
        rows.append(row_of(name, made, 'mtc', True))
    return rows


def times() -> list[str]:
    """Return the seconds of a queue, and of what comes after each judgement."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        paths = make_runs(folder)
        begin = perf_counter()
        average_precision = AveragePrecision(folder / 'reference.txt', [100])
        queue = average_precision.judge_next(paths, folder / 'queries.txt')
        first = queue.lines[0]
        seconds, steps = perf_counter() - begin, []
        for _ in range(50):
            begin = perf_counter()
            queue = queue.after((first.corpus_id, first.video_id, first.shot_id))
            first = queue.lines[0]
            steps.append(perf_counter() - begin)
    return [
        '#### Time of seventeen synthetic runs, 599 queries',
        f'{queue.n_pairs:,} pool pairs: {seconds:.1f} s from files to the queue, '
        f'{max(steps):.2f} s at most from a judgement to the next line.',
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--official', type=Path, required=True, metavar='FOLDER')
    folder = parser.parse_args().official
    warnings.simplefilter('ignore', DataWarning)  # of AP above 1, which is known
    paragraphs = [f'{date.today()}; first {POOL_DEPTH} ranks, names within {NEAR}.', *times()]
    for by, K, definition in (
        ('pair', 100, 'mediaeval-2016'),
        ('shot', 100, 'mediaeval-2016'),
        ('pair', 100, 'trec'),
        ('pair', 10, 'mediaeval-2016'),
    ):
        paragraphs += played(folder, by, K, definition, whole=K == 100 and definition != 'trec')
        print(f'{by} {K} {definition}', file=sys.stderr, flush=True)
    machine.write_page('replay', paragraphs, ['statsmodels'])
    print('\n\n'.join(paragraphs))


if __name__ == '__main__':
    main()
