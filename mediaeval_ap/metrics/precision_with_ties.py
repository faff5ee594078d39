"""Precision in one list that is ordered by confidence, whatever its ties."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from os import cpu_count

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.choices import Ties
from mediaeval_ap.metrics.ap_of_hits import precision_at_hits
from mediaeval_ap.metrics.parallel import on_all_cores

__all__ = ['TieBlocks', 'expected_precisions', 'mean_precisions', 'precisions_at_correct']

WORTH_SHARING = 1 << 16
SAMPLED = 1000
MOST_RANGES = 4  # each looks at all predictions once


def precisions_at_correct(
    confidence: NDArray[np.float64], correct: NDArray[np.bool_], ties: Ties
) -> NDArray[np.float64]:
    """Numbers whose sum is the sum of the precisions at correct predictions.

    Parameters
    ----------
    confidence : ndarray of float64, shape (n_predictions,)
        How sure each prediction is, finite.
    correct : ndarray of bool, shape (n_predictions,)
        Whether it is correct.
    ties : {'expected', 'stable', 'best', 'worst'}
        What stands first among predictions of equal confidence.

    Returns
    -------
    ndarray of float64, shape (n,)
        One for each correct prediction or, with ``'expected'``, for each rank of a tie block that
        holds one. In the order of the ranks, and but for ``'stable'`` the same for any order of the
        input.

    Examples
    --------
    >>> confidence, correct = np.array([0.9, 0.9]), np.array([True, False])
    >>> from mediaeval_ap.choices import TIES
    >>> {ties: precisions_at_correct(confidence, correct, ties).tolist() for ties in TIES}
    {'expected': [0.5, 0.25], 'stable': [1.0], 'best': [1.0], 'worst': [0.5]}
    """
    if ties == 'stable':
        order = np.argsort(-confidence, kind='stable')
        return precision_at_hits(np.flatnonzero(correct[order]) + 1)
    blocks = _tie_blocks(confidence, correct)
    if ties == 'expected':
        return expected_precisions(blocks)
    wrong_above = blocks.above - blocks.correct_above
    if ties == 'worst':
        wrong_above += blocks.size - blocks.n_correct
    n_correct = blocks.n_correct
    return precision_at_hits(np.arange(1, n_correct.sum() + 1) + np.repeat(wrong_above, n_correct))


@dataclass(frozen=True)
class TieBlocks:
    """Blocks of equal confidence that hold a correct prediction, by descending confidence.

    Parameters
    ----------
    size : ndarray of int64, shape (n_blocks,)
        How many predictions each holds.
    n_correct : ndarray of int64, shape (n_blocks,)
        How many of them are correct.
    above : ndarray of int64, shape (n_blocks,)
        How many stand above it.
    correct_above : ndarray of int64, shape (n_blocks,)
        How many of those are correct.

    Examples
    --------
    >>> blocks = TieBlocks(*np.array([[2], [1], [0], [0]]))
    >>> expected_precisions(blocks).tolist()
    [0.5, 0.25]
    """

    size: NDArray[np.int64]
    n_correct: NDArray[np.int64]
    above: NDArray[np.int64]
    correct_above: NDArray[np.int64]


def _tie_blocks(confidence: NDArray[np.float64], correct: NDArray[np.bool_]) -> TieBlocks:
    """Sort the predictions of each of a few ranges of confidence, all ranges at once."""

    def between(edges: tuple[float, float]) -> tuple[TieBlocks, int, int]:
        high, low = edges
        inside = (low <= confidence) & (confidence < high)
        right, wrong = confidence[inside & correct], confidence[inside & ~correct]
        return _sorted_blocks(right, wrong), len(right) + len(wrong), len(right)

    ranges = list(pairwise(_edges(confidence)))
    parts, totals, rights = zip(*on_all_cores(between, ranges), strict=True)
    above, correct_above = np.cumsum([0, *totals]), np.cumsum([0, *rights])
    return TieBlocks(
        np.concatenate([part.size for part in parts]),
        np.concatenate([part.n_correct for part in parts]),
        np.concatenate([part.above + n for part, n in zip(parts, above, strict=False)]),
        np.concatenate(
            [part.correct_above + n for part, n in zip(parts, correct_above, strict=False)]
        ),
    )


def _edges(confidence: NDArray[np.float64]) -> list[float]:
    """Confidences, descending, between which about as many predictions lie as one core sorts."""
    n_ranges = min(cpu_count() or 1, MOST_RANGES) if len(confidence) >= WORTH_SHARING else 1
    sample = np.sort(confidence[:: max(1, len(confidence) // SAMPLED)])[::-1]
    pivots = [float(sample[len(sample) * part // n_ranges]) for part in range(1, n_ranges)]
    return [np.inf, *pivots, -np.inf]


def _sorted_blocks(right: NDArray[np.float64], wrong: NDArray[np.float64]) -> TieBlocks:
    """The blocks of some predictions, of which none is moved: two sorts of numbers tell all."""
    right.sort()
    wrong.sort()
    starts = run_starts([right])
    levels, n_correct = right[starts], np.diff(starts, append=len(right))
    upto = wrong.searchsorted(levels, side='right')
    tied = np.flatnonzero(upto)
    tied = tied[wrong[upto[tied] - 1] == levels[tied]]
    n_wrong = np.zeros_like(upto)
    n_wrong[tied] = upto[tied] - wrong.searchsorted(levels[tied])
    n_correct, n_wrong, wrong_above = n_correct[::-1], n_wrong[::-1], len(wrong) - upto[::-1]
    correct_above = n_correct.cumsum() - n_correct
    return TieBlocks(n_correct + n_wrong, n_correct, wrong_above + correct_above, correct_above)


def expected_precisions(blocks: TieBlocks) -> NDArray[np.float64]:
    """At each rank of tie blocks, the mean over their orders of precision × relevance.

    Parameters
    ----------
    blocks : TieBlocks
        Of one list or of several.

    Returns
    -------
    ndarray of float64, shape (n_ranks,)
        Block after block.

    Notes
    -----
    A rank of a block is correct in r/n of the orders; then, of the ranks of the block before it,
    (r - 1)/(n - 1) are.

    Examples
    --------
    >>> expected_precisions(TieBlocks(*np.array([[2], [2], [0], [0]]))).tolist()
    [1.0, 1.0]
    """
    size = blocks.size
    before = np.arange(size.sum()) - np.repeat(size.cumsum() - size, size)
    share = (blocks.n_correct - 1) / np.maximum(size - 1, 1)
    hits = np.repeat(blocks.correct_above + 1, size) + before * np.repeat(share, size)
    ranks = np.repeat(blocks.above + 1, size) + before
    precisions: NDArray[np.float64] = hits / ranks * np.repeat(blocks.n_correct / size, size)
    return precisions


def mean_precisions(
    descending: NDArray[np.float64], correct: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The precision where each prediction comes to stand, as the mean over its tie block's orders.

    Parameters
    ----------
    descending : ndarray of float64, shape (n_predictions,)
        Confidences in descending order.
    correct : ndarray of bool, shape (n_predictions,)
        Whether each is correct.

    Returns
    -------
    ndarray of float64, shape (n_predictions,)
        The same for all of a block that are correct, and for all that are not.

    Notes
    -----
    With c of m predictions correct before the block, and o of its n - 1 others, that is the mean of
    (c + own + j·o/(n - 1)) / (m + 1 + j) for j = 0 … n - 1.

    Examples
    --------
    >>> mean_precisions(np.array([0.9, 0.9]), np.array([True, False])).tolist()
    [0.75, 0.25]
    """
    starts = run_starts([descending])
    size = np.diff(starts, append=len(correct))
    block = np.repeat(np.arange(len(size)), size)
    n_correct = np.bincount(block[correct], minlength=len(size))
    ranks = np.arange(1, len(correct) + 1)
    reciprocals = np.bincount(block, weights=1 / ranks)[block]
    shares = np.bincount(block, weights=(ranks - 1 - starts[block]) / ranks)[block]
    others = (n_correct[block] - correct) / np.maximum(size[block] - 1, 1)
    correct_above = (n_correct.cumsum() - n_correct)[block]
    sums: NDArray[np.float64] = (correct_above + correct) * reciprocals + others * shares
    sums /= size[block]
    return sums
