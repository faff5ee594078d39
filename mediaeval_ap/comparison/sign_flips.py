"""p of paired sign flips in closed form: all patterns of signs are counted, none is drawn.

Of differences d, let S be the absolute sum and A the sum of all |d|. A pattern of signs gives a sum
of -S or less if the |d| with a positive sign sum to c = (A - S) / 2 or less. So p, two-sided, is
twice the share of small subsets of |d|, whose sum is at most c (Pagano and Tritchler, 1983;
Streitberg and Röhmel, 1986). For the differences 3, 2 and -1, S = 4, A = 6 and c = 1: of the 8
subsets, {} and {1} are small, so p = 4 / 8. In this module, the |d| are called amounts.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats
from mediaeval_ap.errors import require

MOST_ENUMERATED = 20  # amounts: two halves of 2**10 subsets
MOST_COUNTED = 1000  # amounts: doubles hold the number of their subsets, 2**1000
MOST_ON_GRID = 128  # amounts; in simulations of real data, rounding them changed p by 1 % at most
WORK = 1 << 21  # additions for one p that is exact, some milliseconds
LEAST_CELLS = 1 << 15  # of the grid, if it holds all amounts
CELLS = 1 << 14  # of the grid, if it holds only the largest amounts
STEP_TOLERANCE = 1e-9  # times the largest amount: how far a multiple of the step may be off


class FlipTest(NamedTuple):
    """The p of a pair; `exact` is False if amounts were rounded to a grid."""

    p: float
    n_nonzero: int
    exact: bool


def flip_test(differences: Floats, tolerance: float) -> FlipTest:
    """Test if differences are symmetric about 0; sums within the tolerance count as equal."""
    amounts = np.sort(np.abs(differences[differences != 0]))
    n_nonzero = len(amounts)
    signed_total = math.fsum(differences.tolist())
    total = abs(signed_total)
    if total <= tolerance:
        return FlipTest(1.0, n_nonzero, True)
    largest_sum = (math.fsum(amounts.tolist()) - total + tolerance) / 2
    amounts = amounts[amounts <= largest_sum]  # larger ones are in no subset that counts
    exact = len(amounts) <= MOST_ENUMERATED
    step = 0.0
    if exact:
        share = _share_by_enumeration(amounts, largest_sum)
    elif (step := _common_step(amounts, largest_sum)) and _is_countable(amounts, largest_sum, step):
        exact = True
        counts = _subset_counts(amounts, step, round(largest_sum / step))
        share = float(np.ldexp(counts, -len(amounts)).sum())
    elif len(amounts) <= MOST_ON_GRID:
        observed = np.abs(differences[differences * signed_total < 0])
        share = _share_on_grid(amounts, largest_sum, observed)
    else:
        share = _share_of_many(amounts, largest_sum + step / 2)
    p = 2 * math.ldexp(share, len(amounts) - n_nonzero)
    # The observed pattern and its opposite always count; a normal tail may be smaller.
    least = math.ldexp(1, max(1 - n_nonzero, -1022))
    return FlipTest(min(max(p, least), 1.0), n_nonzero, exact)


def _share_by_enumeration(amounts: Floats, largest_sum: float) -> float:
    """Return the share of small subsets, each joined from the two halves of the amounts."""
    first = _subset_sums(amounts[::2])
    second = np.sort(_subset_sums(amounts[1::2]))
    n_small = second.searchsorted(largest_sum - first, side='right').sum()
    return math.ldexp(float(n_small), -len(amounts))


def _subset_sums(amounts: Floats) -> Floats:
    sums = np.zeros(1)
    for amount in amounts.tolist():
        sums = np.concatenate([sums, sums + amount])
    return sums


def _common_step(amounts: Floats, largest_sum: float) -> float:
    """Return the largest step that divides all amounts, by Euclid; 0 if it is too small."""
    least = largest_sum / WORK
    distinct = np.unique(amounts)[::-1].tolist()
    step = distinct[0]
    for amount in distinct:
        remainder = abs(math.remainder(amount, step))
        while remainder > least / 2:
            step, remainder = remainder, abs(math.remainder(step, remainder))
        if step < least:
            return 0.0
    multiples = np.rint(amounts / step)
    step = math.fsum(amounts.tolist()) / float(multiples.sum())
    is_common = np.abs(amounts - multiples * step).max() <= STEP_TOLERANCE * distinct[0]
    return step if is_common else 0.0


def _is_countable(amounts: Floats, largest_sum: float, step: float) -> bool:
    n_amounts = len(amounts)
    return n_amounts <= MOST_COUNTED and n_amounts * largest_sum / step <= 2 * WORK


def _share_on_grid(amounts: Floats, largest_sum: float, observed: Floats) -> float:
    """Return the share of small subsets by rounded sums; the observed one and its like count."""
    n_cells = max(WORK // 2 // len(amounts), LEAST_CELLS)  # few amounts may be nearly equal
    step = _step_of_grid(amounts, largest_sum / n_cells)
    multiples = amounts / step
    # Rounding may push a sum that equals the observed one above it, so at least two standard
    # deviations of the rounding of a random subset are added.
    most = int(largest_sum / step + np.linalg.norm(multiples - np.rint(multiples)))
    # Errors of equal amounts add up, and their exchange leaves the rounded sum as it is.
    most = max(most, int(np.rint(observed / step).sum()))
    # Single precision is twice as fast; its range holds 2**128 subsets.
    counts = _subset_counts(amounts, step, most, np.float32)
    return math.ldexp(float(counts.sum(dtype=np.float64)), -len(amounts))


def _step_of_grid(amounts: Floats, step: float) -> float:
    """Return a step near the given one, with which rounding keeps the sum of amounts."""
    return float(amounts.sum() / np.rint(amounts / step).sum())


def _subset_counts(
    amounts: Floats, step: float, most: int, precision: type[np.floating[Any]] = np.float64
) -> NDArray[np.floating[Any]]:
    """Return the number of subsets for each sum of 0 to `most` steps.

    Amounts are added one by one. With amounts of 1 and 2 steps, and `most` = 3, the counts are
    [1, 0, 0, 0], then [1, 1, 0, 0], and last [1, 1, 1, 1].
    """
    multiples = np.rint(amounts / step).astype(np.intp)
    multiples = multiples[multiples <= most]
    sizes = np.minimum(multiples.cumsum(), most) + 1  # later cells are 0 still
    counts = np.zeros(most + 1, dtype=precision)
    counts[0] = 1
    # Within one array, numpy would copy the cells first.
    more_counts = np.zeros_like(counts)
    for multiple, size in zip(multiples.tolist(), sizes.tolist(), strict=True):
        more_counts[:multiple] = counts[:multiple]
        np.add(counts[multiple:size], counts[: size - multiple], out=more_counts[multiple:size])
        counts, more_counts = more_counts, counts
    return counts


def _share_of_many(amounts: Floats, largest_sum: float) -> float:
    """Return the share of small subsets; the sum of the smaller amounts is taken as normal."""
    special = require('scipy.special', 'compare', 'compare')
    smaller = amounts[:-MOST_ON_GRID]
    largest = amounts[-MOST_ON_GRID:]
    step = _step_of_grid(largest, float(largest.sum()) / CELLS)
    n_cells = min(int(largest_sum / step), round(float(largest.sum()) / step))
    counts = _subset_counts(largest, step, n_cells)
    margins = largest_sum - np.arange(len(counts)) * step - smaller.sum() / 2
    below = special.ndtr(margins / (math.sqrt(np.square(smaller).sum()) / 2))
    return float((np.ldexp(counts, -MOST_ON_GRID) * below).sum())
