"""Bounds of runs if a part of the pool of a campaign is not judged, and their time.

`python benchmarks/pool.py FOLDER`
"""

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import machine
from timing import command_of, duration, in_turns, median_taken

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import DataWarning
from mediaeval_ap.evaluation.prepared_run import prepare_run
from mediaeval_ap.judging.pool import Pool

K = [1, 10, 100]
DEPTH, NEAR = K[-1], 0.2  # the defaults of `pool`
SHARES = (0.9, 0.95, 0.99)
SEEDS = range(5)  # any seeds: they show how the figures vary with the shots drawn
REPEATS = 3
N_RUNS = 17

Shot = tuple[str, str, str]


def shots_of(average_precision: AveragePrecision, runs: list[Path], queries: Path) -> list[Shot]:
    """Return the shots that some run returned for some query."""
    names = queries.read_text().split()
    found: set[Shot] = set()
    for path in runs:
        run = prepare_run(average_precision.criteria, path)
        for listing in run.lister.listings(names, DEPTH):
            near_shots = listing.shots[listing.near_positions(DEPTH, NEAR)]
            ids = run.ranking.shots.ids_of(near_shots)
            found.update(zip(*ids.values(), strict=True))
    return sorted(found)


def derived(runs: list[Path], folder: Path) -> list[Path]:
    """Return the runs, and the most confident half of some of them, seventeen in all."""
    made = list(runs)
    for path in runs[: N_RUNS - len(runs)]:
        rows = path.read_text().splitlines()
        rows.sort(key=lambda row: -float(row.split()[-1]))
        half = '\n'.join(rows[: len(rows) // 2])
        made.append(folder / f'{path.stem}-half.txt')
        made[-1].write_text(f'{half}\n')
    return made


def write_judged(path: Path, shots: list[Shot], share: float, seed: int) -> Path:
    drawn = Random(seed).sample(shots, round(share * len(shots)))
    path.write_text(''.join(f'{" ".join(shot)}\n' for shot in drawn))
    return path


def spread(values: Sequence[float], form: str = '') -> str:
    """Format the range of some values, or the value if all are equal."""
    return ' to '.join(dict.fromkeys(f'{each:{form}}' for each in (min(values), max(values))))


def width_of(pool: Pool) -> float:
    metric = f'MAP@{K[-1]}'
    widths = [each.high[metric] - each.low[metric] for each in pool.bounds.values()]
    return sum(widths) / len(widths)


def disjoint(pool: Pool) -> int:
    """Return how many pairs of runs have bounds that do not overlap."""
    metric = f'MAP@{K[-1]}'
    runs = [pool.bounds[run] for run in pool.runs]
    return sum(
        worse.high[metric] < better.low[metric]
        for i, better in enumerate(runs)
        for worse in runs[i:]
    )


def main(folder: Path) -> None:
    with TemporaryDirectory() as name:
        made = Path(name)
        reference = max((folder / 'reference').glob('reference.*'))  # with the latest date
        queries, subset = (folder / 'reference' / each for each in ('queries.txt', 'test.eval'))
        runs = derived(sorted((folder / 'submissions').iterdir()), made)
        measure(reference, queries, subset, runs, made)


def measure(reference: Path, queries: Path, subset: Path, runs: list[Path], made: Path) -> None:
    n_official = sum(path.parent != made for path in runs)
    rows = []
    for campaign in runs[:n_official], runs:
        shots = shots_of(AveragePrecision(reference, K=K, subset=subset), campaign, queries)
        for share in SHARES:
            pools = []
            for seed in SEEDS:
                judged = write_judged(made / 'judged', shots, share, seed)
                average_precision = AveragePrecision(
                    reference, K=K, subset=subset, judged=judged, drop_unjudged_rows=True
                )
                pools.append(average_precision.pool(campaign, queries))
            n_pairs = len(campaign) * (len(campaign) - 1) // 2
            widths, certain, apart = (
                [of_each(pool) for pool in pools]
                for of_each in (width_of, lambda pool: len(pool.certain), disjoint)
            )
            wider = max(each.n_wider for pool in pools for each in pool.bounds.values())
            rows.append(
                [
                    f'{len(campaign)}',
                    f'{1 - share:.0%}',
                    f'{pools[0].counts["unjudged"]:,} of {pools[0].counts["pool"]:,}',
                    spread(widths, '.3f'),
                    f'{spread(certain)} of {n_pairs}',
                    spread(apart),
                    f'{wider}',
                ]
            )
    headers = ['runs', 'shots not judged', 'unjudged pairs', 'mean width of bounds']
    headers += ['orders certain', 'bounds apart', 'queries not exact']
    judged = write_judged(made / 'judged', shots, SHARES[0], SEEDS[0])
    command = command_of(
        sys.executable, 'pool', reference, *runs, '-q', '-K', ','.join(map(str, K))
    )
    command += ['--queries', queries, '--subset', subset]
    commands = {
        'pool': command,
        'pool --judged': [*command, '--judged', judged, '--drop-unjudged-rows'],
    }
    times = []
    for who, processes in in_turns(commands, REPEATS).items():
        taken = median_taken([each.taken for each in processes])
        memory = f'{taken.peak_mib:.0f} MiB'
        times.append([who, duration(taken.seconds), duration(taken.cpu_seconds), memory])
    text = machine.table(headers, rows)
    more = machine.table(['whole process', 'time', 'CPU time', 'memory'], times)
    print(text, more, sep='\n\n')
    about = (
        f'{n_official} runs of 2016, and these with the most confident half of '
        f'{N_RUNS - n_official} of them; 599 queries, MAP@{K[-1]} under `mediaeval-2016`. Of the '
        f'shots that stand in the first {DEPTH} ranks of some query, a part is drawn at random, '
        f'{len(SEEDS)} times, and is not judged; rows of the reference about it are dropped. An '
        'order of two runs is certain if it is the same for all labels of these shots, while names '
        f'farther than {NEAR} count as not relevant; that their '
        'bounds are apart is more than is needed, as both have the same labels.'
    )
    machine.write_page('pool', [about, text, f'{len(runs)} runs, {SHARES[0]:.0%} judged:', more])


if __name__ == '__main__':
    warnings.simplefilter('ignore', DataWarning)  # of AP above 1, and of uncertain orders
    main(Path(sys.argv[1]))
