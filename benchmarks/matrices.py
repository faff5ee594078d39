"""Matrices of similarity beside `numpy.argsort` of them: `python benchmarks/matrices.py`."""

import warnings
from statistics import median

import machine
import numpy as np
from timing import measured, peak_mib

from mediaeval_ap import evaluate_trec
from mediaeval_ap.choices import TrecTies

SIZE = 5000
REPEATS = 5
SEED = 5  # any would do
SHARES = [0.001, 0.01, 0.5]  # of relevant documents


def row(scores: np.ndarray, relevance: np.ndarray, ties: TrecTies) -> list[str]:
    """Return median CPU times, of both in turns, and the memory beside the matrices."""
    before = peak_mib()
    evaluate_trec(relevance, scores, ['all'], ties=ties)
    memory = peak_mib() - before
    ours, theirs = [], []
    for _ in range(REPEATS):
        ours.append(measured(lambda: evaluate_trec(relevance, scores, ['all'], ties=ties))[1])
        theirs.append(measured(lambda: scores.argsort(axis=1))[1])
    seconds, peer = (median(each.cpu_seconds for each in taken) for taken in (ours, theirs))
    ratio = f'{seconds / peer:.2f}'
    return [f'{seconds:.2f} s', f'{peer:.2f} s', ratio, f'{memory:.0f} MiB']


def rows() -> list[list[str]]:
    random = np.random.default_rng(SEED)
    uniform = random.random((SIZE, SIZE), dtype=np.float32)
    hamming = random.integers(0, 65, (SIZE, SIZE), dtype=np.int8).astype(np.float32)
    chance = random.random((SIZE, SIZE), dtype=np.float32)
    cases: list[tuple[str, np.ndarray, TrecTies]] = [
        ('all different', uniform, 'trec_eval'),
        ('65 distances', hamming, 'expected'),
    ]
    return [
        [name, ties, f'{share:g}', *row(scores, chance < share, ties)]
        for name, scores, ties in cases
        for share in SHARES
    ]


if __name__ == '__main__':
    warnings.simplefilter('ignore')  # a query may have no relevant document
    headers = ['scores', 'ties', 'relevant', '`evaluate_trec`', 'argsort', 'ratio', 'more memory']
    machine.write('matrices', headers, rows())
