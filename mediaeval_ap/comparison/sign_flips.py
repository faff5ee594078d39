"""Paired sign-flip tests: how often chance alone gives a difference as large."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.progress import Bar

MOST_ENUMERATED = 20  # differences that are not zero: 2**20 patterns of signs
BLOCK = 1 << 21  # a choice: signs at a time, so that memory stays low


def sign_flips(
    sums: NDArray[np.float64],
    sizes: NDArray[np.float64],
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
    tolerance: float,
    permutations: int,
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the two-sided p of each pair of columns, and its number of differences that count.

    The columns of `sums` have the sums of a run by unit, in whole steps (`Units`). A difference of
    at most one step for each query of a unit is rounding and counts as 0. Up to `MOST_ENUMERATED`
    differences, p is exact. Else it is (b + 1) / (n + 1) of `permutations` random patterns, the
    same for all pairs (Phipson and Smyth, 2010).
    """
    a, b = pairs
    n_nonzero = np.array(
        [
            np.count_nonzero(np.abs(sums[:, i] - sums[:, j]) > sizes)
            for i, j in zip(a, b, strict=True)
        ],
        dtype=np.int64,
    )
    p = np.ones(len(a))
    for pair in np.flatnonzero(n_nonzero <= MOST_ENUMERATED).tolist():
        differences = sums[:, a[pair]] - sums[:, b[pair]]
        p[pair] = enumerated(differences[np.abs(differences) > sizes], tolerance)
    drawn = np.flatnonzero(n_nonzero > MOST_ENUMERATED)
    if len(drawn):
        n_extreme = _n_extreme(sums, (a[drawn], b[drawn]), tolerance, permutations, seed)
        p[drawn] = (n_extreme + 1) / (permutations + 1)
    return p, n_nonzero


def enumerated(differences: NDArray[np.float64], tolerance: float) -> float:
    """Return the share of all patterns of signs whose sum is as far from zero as the given one."""
    least = abs(float(differences.sum())) - tolerance
    if least <= 0:
        return 1.0
    # Each pattern is one of the first half of the differences and one of the second.
    half = len(differences) // 2
    first, second = _all_sums(differences[:half]), np.sort(_all_sums(differences[half:]))
    n_above = len(second) - np.searchsorted(second, least - first, side='left')
    n_below = np.searchsorted(second, -least - first, side='right')
    return float(n_above.sum() + n_below.sum()) / 2.0 ** len(differences)


def _all_sums(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(1)
    for each in differences.tolist():
        sums = np.concatenate([sums + each, sums - each])
    return sums


def _n_extreme(
    sums: NDArray[np.float64],
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
    tolerance: float,
    permutations: int,
    seed: int,
) -> NDArray[np.int64]:
    """Return how many random patterns give a difference as large, for each pair of columns."""
    a, b = pairs
    generator = np.random.default_rng(seed)
    n_units = len(sums)
    rows = max(1, BLOCK // max(n_units, len(a)))
    totals = sums.sum(axis=0)
    difference = (totals[a] - totals[b])[:, None]
    # Equal as fractions, sums may differ in their last steps; SciPy's tests allow for it, too.
    least = np.abs(difference) - tolerance
    n_extreme = np.zeros(len(a), dtype=np.int64)
    with Bar('sign flips', permutations, 'flip') as bar:
        for begin in range(0, permutations, rows):
            n_rows = min(rows, permutations - begin)
            # Of the units whose sign stays: a flipped sum is twice theirs without the total.
            stayed = sums.T @ _bits(generator, n_rows, n_units).T
            flipped = stayed[a]
            flipped -= stayed[b]
            flipped *= 2
            flipped -= difference
            np.abs(flipped, out=flipped)
            n_extreme += np.count_nonzero(flipped >= least, axis=1)
            bar.add(n_rows)
    return n_extreme


def _bits(generator: np.random.Generator, n_rows: int, n_bits: int) -> NDArray[np.float64]:
    """Return 0 or 1 at random; rows are the same however many are drawn at a time."""
    words = generator.integers(0, 1 << 64, (n_rows, -(-n_bits // 64)), dtype=np.uint64)
    octets = words.astype('<u8', copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=n_bits).astype(np.float64)
