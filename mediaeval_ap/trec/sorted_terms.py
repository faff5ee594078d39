"""The terms of average precision for rows that are sorted by topic and score."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import choices
from mediaeval_ap.arrays import ranges
from mediaeval_ap.definitions import Precision
from mediaeval_ap.metrics.ap_of_hits import PrecisionTerms, precision_at_hits
from mediaeval_ap.metrics.tie_blocks import TieBlocks, expected_precisions, threshold_precisions

UNORDERED = ('expected', 'threshold')  # ties that are not put in an order


class SortedRows(NamedTuple):
    """Rows by topic and descending score; those of unjudged topics, -1, come first."""

    topic: NDArray[np.integer]
    score: NDArray[np.floating]
    is_hit: NDArray[np.bool_]
    n_by_topic: NDArray[np.int64]


def terms_of_sorted(
    rows: SortedRows,
    ties: choices.TrecTies,
    precision: Precision,
    tie_keys: Callable[[NDArray[np.int64]], NDArray[np.int64]],
) -> PrecisionTerms:
    """Return the addend of each hit; `tie_keys` gives keys that sort the tied rows of a block."""
    topic, score, is_hit, n_by_topic = rows
    ties_with_last = np.zeros(len(topic), dtype=np.bool_)
    ties_with_last[1:] = (topic[1:] == topic[:-1]) & (score[1:] == score[:-1])
    topic_starts = len(topic) - n_by_topic[::-1].cumsum()[::-1]
    if ties in UNORDERED:
        return terms_of_blocks(topic, is_hit, ties_with_last, topic_starts, ties, precision)
    is_tied = ties_with_last.copy()
    is_tied[:-1] |= ties_with_last[1:]
    tied = is_tied.nonzero()[0]
    block = (~ties_with_last[tied]).cumsum()
    key = is_hit[tied] != (ties == 'best') if ties in ('best', 'worst') else tie_keys(tied)
    is_hit_at_rank = is_hit.copy()
    is_hit_at_rank[tied] = is_hit[tied[np.lexsort((key, block))]]
    hits = is_hit_at_rank.nonzero()[0]
    topic = topic[hits]
    ranks = hits - topic_starts[topic] + 1
    return PrecisionTerms(topic, ranks, precision_at_hits(ranks, topic, precision))


def terms_of_blocks(
    topic: NDArray[np.integer],
    is_hit: NDArray[np.bool_],
    ties_with_last: NDArray[np.bool_],
    topic_starts: NDArray[np.int64],
    ties: choices.TrecTies,
    precision: Precision,
) -> PrecisionTerms:
    """Return the addends of the tie blocks that hold a hit.

    With ``'expected'`` ties, each rank of a block has the mean of its addend over all orders. With
    ``'threshold'`` ties, each hit counts at the last rank of its block.

    Rows are sorted by topic and descending score; `ties_with_last` marks a row with the topic and
    score of the row before it. `topic_starts` has the first row of each topic.

    One topic whose first two documents tie, one of them a hit. It is first or second, with
    precision 1 or 1/2, each in one of the two orders:

    >>> topic, starts = np.zeros(3, dtype=np.int32), np.array([0])
    >>> columns = topic, np.array([True, False, False]), np.array([False, True, False]), starts
    >>> [column.tolist() for column in terms_of_blocks(*columns, 'expected', 'at')[1:]]
    [[1, 2], [0.5, 0.25]]
    >>> [column.tolist() for column in terms_of_blocks(*columns, 'threshold', 'at')[1:]]
    [[2], [0.5]]
    """
    starts = (~ties_with_last).nonzero()[0]
    size = np.diff(starts, append=len(is_hit))
    n_hits = np.add.reduceat(is_hit, starts, dtype=np.int64)
    has_hit = n_hits > 0
    starts = starts[has_hit]
    size = size[has_hit]
    n_hits = n_hits[has_hit]
    topic = topic[starts]
    by_topic = np.bincount(topic, weights=n_hits, minlength=len(topic_starts)).astype(np.int64)
    hits_above = (n_hits.cumsum() - n_hits) - (by_topic.cumsum() - by_topic)[topic]
    above = starts - topic_starts[topic]
    blocks = TieBlocks(size, n_hits, above, hits_above)
    if ties == 'threshold':
        values = threshold_precisions(blocks, precision)
        return PrecisionTerms(topic.repeat(n_hits), (above + size).repeat(n_hits), values)
    values = expected_precisions(blocks, precision=precision)
    return PrecisionTerms(topic.repeat(size), ranges(above + 1, size), values)
