"""Precision where confidences are equal: blocks of ties, and means over all their orders."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import ranges, run_starts
from mediaeval_ap.choices import Ties
from mediaeval_ap.cores import on_all_cores, own_cores
from mediaeval_ap.metrics.ap_of_hits import precision_at_hits

WORTH_SHARING = 1 << 16  # predictions: one core sorts these in a few milliseconds
SAMPLED = 1000  # half and twice as many cut ranges that take as long
MOST_RANGES = 4  # each core looks at all predictions, to find those of its range


def precisions_at_correct(
    confidence: NDArray[np.float64], correct: NDArray[np.bool_], ties: Ties
) -> NDArray[np.float64]:
    """Return the terms of global AP: precision at each rank that can be correct, in order."""
    if ties == 'stable':
        order = np.argsort(-confidence, kind='stable')
        return precision_at_hits(np.flatnonzero(correct[order]) + 1)
    blocks = tie_blocks(confidence, correct)
    if ties == 'expected':
        return expected_precisions(blocks)
    wrong_above = blocks.above - blocks.correct_above
    if ties == 'worst':
        wrong_above += blocks.size - blocks.n_correct
    n_correct = blocks.n_correct
    return precision_at_hits(np.arange(1, n_correct.sum() + 1) + np.repeat(wrong_above, n_correct))


class TieBlocks(NamedTuple):
    """Blocks of equal confidence with a correct prediction, by descending confidence."""

    size: NDArray[np.int64]
    n_correct: NDArray[np.int64]
    above: NDArray[np.int64]  # predictions of higher confidence
    correct_above: NDArray[np.int64]


def tie_blocks(confidence: NDArray[np.float64], correct: NDArray[np.bool_]) -> TieBlocks:
    """Sort a few ranges of confidence, each on a core of its own."""

    def between(edges: tuple[float, float]) -> tuple[TieBlocks, int, int]:
        high, low = edges
        inside = (low <= confidence) & (confidence < high)
        right = confidence[inside & correct]
        wrong = confidence[inside & ~correct]
        return _sorted_blocks(right, wrong), len(right) + len(wrong), len(right)

    ranges = list(pairwise(_edges(confidence)))
    parts, totals, rights = zip(*on_all_cores(between, ranges), strict=True)
    above = np.cumsum([0, *totals])
    correct_above = np.cumsum([0, *rights])
    shifted = [
        part._replace(above=part.above + n, correct_above=part.correct_above + n_correct)
        for part, n, n_correct in zip(parts, above, correct_above, strict=False)
    ]
    return TieBlocks(*map(np.concatenate, zip(*shifted, strict=True)))


def _edges(confidence: NDArray[np.float64]) -> list[float]:
    """Return confidences, descending, that cut the predictions into ranges of similar size."""
    n_ranges = min(own_cores(), MOST_RANGES) if len(confidence) >= WORTH_SHARING else 1
    sample = np.sort(confidence[:: max(1, len(confidence) // SAMPLED)])[::-1]
    pivots = [float(sample[len(sample) * part // n_ranges]) for part in range(1, n_ranges)]
    return [np.inf, *pivots, -np.inf]


def _sorted_blocks(right: NDArray[np.float64], wrong: NDArray[np.float64]) -> TieBlocks:
    """Return the tie blocks of correct and of wrong confidences."""
    # Sorted apart and compared by bisection: faster than one sort that moves along which prediction
    # is correct.
    right.sort()
    wrong.sort()
    starts = run_starts([right])
    levels = right[starts]
    n_correct = np.diff(starts, append=len(right))
    upto = wrong.searchsorted(levels, side='right')
    tied = np.flatnonzero(upto)
    tied = tied[wrong[upto[tied] - 1] == levels[tied]]
    n_wrong = np.zeros_like(upto)
    n_wrong[tied] = upto[tied] - wrong.searchsorted(levels[tied])
    n_correct = n_correct[::-1]
    n_wrong = n_wrong[::-1]
    wrong_above = len(wrong) - upto[::-1]
    correct_above = n_correct.cumsum() - n_correct
    return TieBlocks(n_correct + n_wrong, n_correct, wrong_above + correct_above, correct_above)


def expected_precisions(
    blocks: TieBlocks, n_ranks: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Return the mean of precision × relevance over all orders of ties, at each rank of blocks.

    A rank of a block of n predictions, r of them correct, is correct in r/n of the orders; in
    these, (r - 1)/(n - 1) of the ranks before it in the block are. With `n_ranks`, so many first
    ranks of each block are returned.
    """
    size = blocks.size
    shown = blocks.size if n_ranks is None else n_ranks
    before = ranges(np.zeros_like(shown), shown)
    share = (blocks.n_correct - 1) / np.maximum(size - 1, 1)
    hits = np.repeat(blocks.correct_above + 1, shown) + before * np.repeat(share, shown)
    ranks = np.repeat(blocks.above + 1, shown) + before
    precisions: NDArray[np.float64] = hits / ranks * np.repeat(blocks.n_correct / size, shown)
    return precisions


def mean_precisions(
    descending: NDArray[np.float64], correct: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the mean precision at each prediction, correct or wrong, over all orders of ties.

    With c of m predictions correct above the block of n, and o of the n - 1 others in it, that is
    the mean of (c + own + j·o/(n - 1)) / (m + 1 + j) for j = 0 … n - 1.
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
