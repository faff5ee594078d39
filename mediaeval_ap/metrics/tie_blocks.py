"""Ties in one ranked list: precisions at its blocks of equal confidence.

A *tie block* is a set of predictions of equal confidence. Only blocks with a correct prediction add
to AP, so `tie_blocks` returns only these. In this list of four predictions, it returns the
blocks of 0.9 and 0.5::

    rank         1     2     3     4
    confidence   0.9   0.5   0.5   0.2
    correct      yes   one of two  no

Rank 2 is correct in half of the orders, with precision 2/2: it adds 1/2. Rank 3 is correct in the
other half, with precision 2/3: it adds 1/3. So the expected sum is 1 + 1/2 + 1/3. By threshold, all
predictions of a block are retrieved together: the correct one has precision 2/3, and the sum is
1 + 2/3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import ranges, run_starts
from mediaeval_ap.choices import Ties
from mediaeval_ap.cores import on_all_cores, own_cores
from mediaeval_ap.definitions import Precision
from mediaeval_ap.metrics.ap_of_hits import precision_at_hits, trapezoids

WORTH_SHARING = 1 << 16  # predictions; one core sorts fewer in a few milliseconds
MOST_PARTS = 4  # not more, as one core parts the predictions


def ap_of_list(
    confidence: NDArray[np.float64], correct: NDArray[np.bool_], ties: Ties, n_relevant: int
) -> float:
    """Return the AP of one ranked list; relevant items that are not in it count, too."""
    return float(precisions_at_correct(confidence, correct, ties).sum()) / n_relevant


def precisions_at_correct(
    confidence: NDArray[np.float64], correct: NDArray[np.bool_], ties: Ties
) -> NDArray[np.float64]:
    """Return the terms of AP: the (expected) precision at each rank that can be correct."""
    if ties == 'stable':
        order = np.argsort(-confidence, kind='stable')
        return precision_at_hits(np.flatnonzero(correct[order]) + 1)
    blocks = tie_blocks(confidence, correct)
    if ties == 'expected':
        return expected_precisions(blocks)
    if ties == 'threshold':
        return threshold_precisions(blocks)
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
    """Return the tie blocks that have a correct prediction.

    The blocks of 0.9 and 0.5; one prediction, a correct one, is above the second block:

    >>> confidence = np.array([0.9, 0.5, 0.5, 0.2])
    >>> blocks = tie_blocks(confidence, np.array([True, True, False, False]))
    >>> blocks.size.tolist(), blocks.n_correct.tolist()
    ([1, 2], [1, 1])
    >>> blocks.above.tolist(), blocks.correct_above.tolist()
    ([0, 1], [0, 1])
    """
    is_upper = confidence >= 0
    upper = _blocks_of_one_sign(confidence[is_upper], correct[is_upper])
    is_lower = ~is_upper
    if not is_lower.any():
        return upper
    lower = _blocks_of_one_sign(confidence[is_lower], correct[is_lower])
    lower = lower._replace(
        above=lower.above + np.count_nonzero(is_upper),
        correct_above=lower.correct_above + upper.n_correct.sum(),
    )
    return TieBlocks(*map(np.concatenate, zip(upper, lower, strict=True)))


def _blocks_of_one_sign(confidence: NDArray[np.float64], correct: NDArray[np.bool_]) -> TieBlocks:
    """Return the tie blocks of confidences of one sign; overwrites them."""
    is_negative = bool((confidence[:1] < 0).any())
    # Doubles of one sign are in the order of their bits. In place of the sign, a last bit marks
    # correct predictions, so that one sort of integers ranks the pairs.
    keys = confidence.astype(np.float64, copy=False).view(np.uint64)
    keys <<= 1
    if not is_negative:
        keys ^= ~np.uint64(1)  # the greatest first
    keys |= correct
    _sort(keys)
    hits = np.flatnonzero(keys.astype(np.uint8) & 1)
    correct_above = run_starts([keys[hits]])
    n_correct = np.diff(correct_above, append=len(hits))
    above = hits[correct_above]  # up to the first hit
    wrong = keys[above] - 1  # the key of wrong predictions, which come just before the first hit
    tied = np.flatnonzero(keys[above - 1] == wrong)  # never the last key, which is greater
    n_wrong = above[tied] - keys.searchsorted(wrong[tied])
    above[tied] -= n_wrong
    size = n_correct.copy()
    size[tied] += n_wrong
    return TieBlocks(size, n_correct, above, correct_above)


def _sort(keys: NDArray[np.uint64]) -> None:
    """Sort keys in place; each core sorts a part of them."""
    n_parts = min(own_cores(), MOST_PARTS) if len(keys) >= WORTH_SHARING else 1
    cuts = np.arange(1, n_parts) * len(keys) // n_parts
    keys.partition(cuts)
    on_all_cores(np.ndarray.sort, np.split(keys, cuts))


def expected_precisions(
    blocks: TieBlocks, n_ranks: NDArray[np.int64] | None = None, precision: Precision = 'at'
) -> NDArray[np.float64]:
    """Return the mean of precision × relevance over all orders of ties, at each rank of the blocks.

    In a block of n predictions, r of them correct, a rank is correct in r/n of the orders. In these
    orders, each earlier rank of the block is correct with probability (r - 1)/(n - 1). `n_ranks`
    limits the result to the first ranks of each block. `precision` is as for `Definition`.

    One correct prediction among three of equal confidence is at each rank in 1/3 of the orders:

    >>> block = tie_blocks(np.array([0.5, 0.5, 0.5]), np.array([False, True, False]))
    >>> expected_precisions(block).round(3).tolist()  # 1/1, 1/2 and 1/3, times 1/3
    [0.333, 0.167, 0.111]
    """
    size = blocks.size
    if n_ranks is None and precision == 'at' and size.max(initial=1) == 1:  # nothing is tied
        return (blocks.correct_above + 1) / (blocks.above + 1)
    n_ranks = size if n_ranks is None else n_ranks
    before = ranges(np.zeros_like(n_ranks), n_ranks)  # number of earlier ranks in the block
    share = (blocks.n_correct - 1) / np.maximum(size - 1, 1)
    hits = np.repeat(share, n_ranks)
    hits *= before
    hits += np.repeat(blocks.correct_above + 1, n_ranks)
    ranks = before
    ranks += np.repeat(blocks.above + 1, n_ranks)
    precisions: NDArray[np.float64] = hits / ranks
    if precision == 'trapezoid':
        precisions = trapezoids(precisions, hits - 1, ranks - 1)
    precisions *= np.repeat(blocks.n_correct / size, n_ranks)
    return precisions


def threshold_precisions(blocks: TieBlocks, precision: Precision = 'at') -> NDArray[np.float64]:
    """Return, for each correct prediction, the precision at the end of its block.

    These are the terms of scikit-learn's ``average_precision_score``. With ``'trapezoid'``, the
    precision just before is the one at the end of the block above.

    >>> blocks = tie_blocks(np.array([0.9, 0.5, 0.5]), np.array([True, False, True]))
    >>> threshold_precisions(blocks).round(3).tolist()  # 1/1 and 2/3
    [1.0, 0.667]
    """
    ends = blocks.above + blocks.size
    precisions: NDArray[np.float64] = (blocks.correct_above + blocks.n_correct) / ends
    if precision == 'trapezoid':
        precisions = trapezoids(precisions, blocks.correct_above, blocks.above)
    return precisions.repeat(blocks.n_correct)


def mean_precisions(
    descending: NDArray[np.float64], correct: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the mean precision at each prediction, correct or wrong, over all orders of ties.

    A prediction has m predictions above its block of n, c of them correct, and n - 1 others in its
    block, o of them correct; h is 1 if it is itself correct, else 0. Its mean precision is the mean
    of (c + h + j·o/(n - 1)) / (m + 1 + j) over j = 0 … n - 1, the number of others ranked before
    it.

    The correct one of two ties has precision 1/1 or 1/2, the wrong one 0/1 or 1/2:

    >>> mean_precisions(np.array([0.5, 0.5]), np.array([True, False])).tolist()
    [0.75, 0.25]
    """
    starts = run_starts([descending])
    size = np.diff(starts, append=len(correct))
    block = np.repeat(np.arange(len(size)), size)
    n_correct = np.bincount(block[correct], minlength=len(size))
    ranks = np.arange(1, len(correct) + 1)
    reciprocals = np.bincount(block, weights=1 / ranks)[block]
    shares = np.bincount(block, weights=(ranks - 1 - starts[block]) / ranks)[block]
    correct_share = (n_correct[block] - correct) / np.maximum(size[block] - 1, 1)  # of the others
    correct_above = (n_correct.cumsum() - n_correct)[block]
    sums: NDArray[np.float64] = (correct_above + correct) * reciprocals + correct_share * shares
    sums /= size[block]
    return sums
