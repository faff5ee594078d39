"""Returned documents of TREC topics: ranked, with ties broken as asked, and their precisions."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import ranges
from mediaeval_ap.choices import TrecTies
from mediaeval_ap.metrics.ap_of_hits import precision_at_hits
from mediaeval_ap.metrics.precision_with_ties import TieBlocks, expected_precisions
from mediaeval_ap.trec.documents import descending
from mediaeval_ap.trec.files import Entries

# Topic, rank, and what the hit adds to the sum of precisions.
Terms: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]


def precisions(
    returned: Entries,
    topic: NDArray[np.int32],
    hit: NDArray[np.bool_],
    n_returned: NDArray[np.int64],
    ties: TrecTies,
) -> Terms:
    """Return the precisions of hits by topic and rank; a topic that is not judged is -1."""
    score = _compared(returned.number, ties)
    order = None
    later, equal = topic[1:] > topic[:-1], topic[1:] == topic[:-1]
    if not (later | (equal & (score[1:] <= score[:-1]))).all():  # most runs stand so already
        order = np.lexsort((-score, topic))
        topic, score, hit = topic[order], score[order], hit[order]
    ties_with_last = np.zeros(len(topic), dtype=np.bool_)
    ties_with_last[1:] = (topic[1:] == topic[:-1]) & (score[1:] == score[:-1])
    begins = len(topic) - n_returned[::-1].cumsum()[::-1]  # for each judged topic, its first row
    if ties == 'expected':
        return _expected(topic, hit, ties_with_last, begins)
    in_block = ties_with_last.copy()
    in_block[:-1] |= ties_with_last[1:]
    tied = in_block.nonzero()[0]
    block = (~ties_with_last[tied]).cumsum()
    if ties in ('best', 'worst'):
        within = hit[tied] != (ties == 'best')
    else:
        within = descending(returned.document[tied if order is None else order[tied]])
    ranked = hit.copy()
    ranked[tied] = hit[tied[np.lexsort((within, block))]]
    hits = ranked.nonzero()[0]
    topic = topic[hits]
    ranks = hits - begins[topic] + 1
    return topic, ranks, precision_at_hits(ranks, topic)


def ranked(
    returned: Entries,
    rows: NDArray[np.int64],
    topic: NDArray[np.int32],
    relevance: NDArray[np.int64],
    ties: TrecTies,
) -> NDArray[np.int64]:
    """Return the order of some rows by topic and rank; slower than `precisions`, but of all rows.

    Among equal scores, the documents of equal relevance are in descending order; ``expected`` is no
    order.
    """
    score = _compared(returned.number[rows], ties)
    signs = {'best': -1, 'worst': 1}
    within = descending(returned.document[rows])
    return np.lexsort((within, signs.get(ties, 0) * relevance, -score, topic))


def _compared(score: NDArray[np.float64], ties: TrecTies) -> NDArray[np.floating]:
    """Return scores in the precision in which they are compared."""
    if ties != 'trec_eval-9':
        return score
    with np.errstate(over='ignore'):  # what single precision does not hold is infinite, as in C
        return score.astype(np.float32)


def _expected(
    topic: NDArray[np.int32],
    hit: NDArray[np.bool_],
    ties_with_last: NDArray[np.bool_],
    begins: NDArray[np.int64],
) -> Terms:
    """Return what ranks of tie blocks add in the mean over all orders of equal scores."""
    starts = (~ties_with_last).nonzero()[0]
    size = np.diff(starts, append=len(hit))
    n_hits = np.add.reduceat(hit, starts, dtype=np.int64)
    held = n_hits > 0
    starts, size, n_hits = starts[held], size[held], n_hits[held]
    topic = topic[starts]
    by_topic = np.bincount(topic, weights=n_hits, minlength=len(begins)).astype(np.int64)
    hits_above = (n_hits.cumsum() - n_hits) - (by_topic.cumsum() - by_topic)[topic]
    above = starts - begins[topic]
    terms = expected_precisions(TieBlocks(size, n_hits, above, hits_above))
    return topic.repeat(size), ranges(above + 1, size), terms
