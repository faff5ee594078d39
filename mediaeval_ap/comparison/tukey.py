"""Randomised Tukey HSD (Carterette, 2012): runs are permuted within each query or cluster."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.metrics.parallel import on_all_cores
from mediaeval_ap.progress import Bar

BLOCK = 1 << 20  # a choice: values permuted at a time, so that memory stays low
AT_ONCE = 64  # blocks, between two looks at the progress


def tukey(
    sums: NDArray[np.float64],
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
    tolerance: float,
    permutations: int,
    seed: int,
) -> NDArray[np.float64]:
    """Return p of each metric (rows) and pair of runs, corrected for all pairs of the metric.

    `sums` has shape (n_units, n_runs, n_metrics), in whole steps (`Units`). p is (b + 1) / (n + 1),
    where b counts the permutations whose largest difference of any two runs is at least as large.
    """
    a, b = pairs
    totals = sums.sum(axis=0)
    least = np.abs(totals[a] - totals[b]).T - tolerance
    ranges = np.sort(_ranges(sums, permutations, seed), axis=0)
    n_extreme = np.array(
        [
            permutations - np.searchsorted(of_metric, each, side='left')
            for of_metric, each in zip(ranges.T, least, strict=True)
        ]
    )
    return (n_extreme + 1) / (permutations + 1)


def _ranges(sums: NDArray[np.float64], permutations: int, seed: int) -> NDArray[np.float64]:
    """Return the largest difference of two runs' totals, by permutation and metric."""
    # Where all runs are equal, no permutation changes anything.
    differ = (sums != sums[:, :1]).any(axis=(1, 2))
    values = np.ascontiguousarray(sums[differ])
    if not len(values):
        return np.zeros((permutations, sums.shape[2]))
    n_each = max(1, BLOCK // values.size)
    sizes = [min(n_each, permutations - begin) for begin in range(0, permutations, n_each)]
    # A generator for each block, so that threads change nothing.
    seeds = np.random.SeedSequence(seed).spawn(len(sizes))
    blocks = list(zip(sizes, seeds, strict=True))
    work = _permuting(values)
    ranges: list[NDArray[np.float64]] = []
    with Bar('permutations', permutations, 'permutation') as bar:
        for begin in range(0, len(blocks), AT_ONCE):
            some = blocks[begin : begin + AT_ONCE]
            ranges += on_all_cores(work, some)
            bar.add(sum(size for size, _ in some))
    return np.concatenate(ranges)


def _permuting(
    values: NDArray[np.float64],
) -> Callable[[tuple[int, np.random.SeedSequence]], NDArray[np.float64]]:
    """Return the function that permutes the values of runs within units, so many times."""
    n_units, n_runs, n_metrics = values.shape
    # All metrics of a run move together, as one item.
    items = values.view(np.dtype((np.void, values.itemsize * n_metrics)))[:, :, 0]

    def work(block: tuple[int, np.random.SeedSequence]) -> NDArray[np.float64]:
        size, seed = block
        permuted = np.tile(items, (size, 1))
        np.random.default_rng(seed).permuted(permuted, axis=1, out=permuted)
        numbers = permuted.view(np.float64).reshape(size, n_units, n_runs * n_metrics)
        totals = numbers.sum(axis=1).reshape(size, n_runs, n_metrics)
        ranges: NDArray[np.float64] = totals.max(axis=1) - totals.min(axis=1)
        return ranges

    return work
