"""Randomised Tukey HSD, against all permutations."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import oracle_comparison as oracle
import pytest

from mediaeval_ap.comparison.sampling import tukey, units_of

TINY = [
    [[1, 0, 1], [0, 1, 0], [0.5, 0, 0]],
    [[0.5, 0.25, 1, 0], [0.25, 0.25, 0, 0], [0, 0.25, 0.5, 0]],
    [[0.75, 0.5, 1, 0.25], [0.75, 0.5, 1, 0.25]],
]


# Tenths, of which 1 + 2 + 7 and 3 + 7 give the same difference but for rounding.
TINY += [
    [[Fraction(max(0, sign * each), 10) for each in tenths] for sign in (1, -1)]
    for tenths in ((1, 2, -3, 7), (-1, -2, 3, 7))
]


@pytest.mark.parametrize('runs', TINY)
def test_p_is_the_share_of_all_permutations(runs):
    units = units_of(np.array(runs, dtype=float), np.arange(len(runs[0])))
    pairs = list(combinations(range(len(runs)), 2))
    n = 20_000
    (p,) = tukey(units.sums[:, :, None], tuple(np.array(pairs).T), units.tolerance, n, 0)
    for pair, found in zip(pairs, p, strict=True):
        exact = float(oracle.tukey_p(runs)[pair])
        # A share of n draws: five deviations are exceeded once in a million times.
        assert abs(found - exact) <= 5 * np.sqrt(exact * (1 - exact) / n) + 1 / (n + 1)


def test_metrics_are_families_of_their_own():
    """The permutations are those of all metrics, and the largest difference is of each."""
    values = np.random.default_rng(1).integers(0, 9, (3, 12, 2)) / 8
    pairs = np.array([0, 0, 1]), np.array([1, 2, 2])
    sums = [units_of(values[:, :, metric], np.arange(12)).sums for metric in range(2)]
    together = tukey(np.stack(sums, axis=2), pairs, 0, 2000, 0)
    exchanged = tukey(np.stack(sums[::-1], axis=2), pairs, 0, 2000, 0)
    assert together.tolist() == exchanged[::-1].tolist()


def test_runs_that_are_equal_everywhere():
    pair = np.array([0]), np.array([1])
    assert tukey(np.ones((4, 2, 1)), pair, 0, 100, 0).tolist() == [[1.0]]
