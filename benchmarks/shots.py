"""Open runs with few and many distinct shots, beside pyarrow: `python benchmarks/shots.py`."""

import warnings
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import machine
import numpy as np
import pyarrow
from pyarrow import csv
from timing import measured

from mediaeval_ap import AveragePrecision

N_ROWS = 3_000_000
N_SHOTS = [10_000, 1_000_000]  # V3C1 has 1,082,659
SHOTS_OF_VIDEO = 145
N_NAMES = 1_000
REPEATS = 5
SEED = 1  # any would do


def make(path: Path, n_shots: int, *, are_numbers: bool) -> None:
    """Write a run in which each shot occurs, in any order; ids are numbers, or as in V3C1."""
    random = np.random.default_rng(SEED)
    further = random.integers(0, n_shots, N_ROWS - n_shots)
    shots = random.permutation(np.concatenate([np.arange(n_shots), further])).tolist()
    names = random.integers(0, N_NAMES, N_ROWS).tolist()
    confidences = random.random(N_ROWS).tolist()
    with open(path, 'w') as file:
        for shot, name, confidence in zip(shots, names, confidences, strict=True):
            video, number = divmod(shot, SHOTS_OF_VIDEO)
            shot_id = str(shot) if are_numbers else f'{video + 1:05d}_{number + 1}'
            file.write(f'V3C1 {video + 1:05d} {shot_id} person_{name} {confidence:.6f}\n')


def read_by_pyarrow(path: Path) -> None:
    """Read the columns, and do nothing with them."""
    csv.read_csv(
        path,
        read_options=csv.ReadOptions(autogenerate_column_names=True),
        parse_options=csv.ParseOptions(delimiter=' ', quote_char=False),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(['f1', 'f2'], pyarrow.string())
        ),
    )


def cpu_seconds(path: Path) -> tuple[float, float]:
    """Return median CPU times of opening the run and of the peer, in turns."""
    with open(path) as file:
        *shot, name, _ = file.readline().split()
    metric = AveragePrecision([(*shot, name)], K=10)
    ours, theirs = [], []
    for _ in range(REPEATS):
        ours.append(measured(lambda: metric(path))[1].cpu_seconds)
        theirs.append(measured(lambda: read_by_pyarrow(path))[1].cpu_seconds)
    return median(ours), median(theirs)


def rows(folder: Path, *, are_numbers: bool) -> list[list[str]]:
    taken = []
    for n_shots in N_SHOTS:
        path = folder / str(n_shots)
        make(path, n_shots, are_numbers=are_numbers)
        taken.append(cpu_seconds(path))
    ids = '725' if are_numbers else '00006_1'
    return [
        [ids, f'{n_shots:,}', f'{ours:.2f} s', f'{ours / taken[0][0]:.2f}', f'{peer:.2f} s']
        for n_shots, (ours, peer) in zip(N_SHOTS, taken, strict=True)
    ]


def main() -> None:
    with TemporaryDirectory() as name:
        lines = [line for kind in (True, False) for line in rows(Path(name), are_numbers=kind)]
    headers = ['ids', 'distinct', 'open the run', 'as a multiple', 'pyarrow reads']
    machine.write('shots', headers, lines, about=[f'{N_ROWS:,} rows; CPU times.'])


if __name__ == '__main__':
    warnings.simplefilter('ignore')  # the reference knows one shot
    main()
