"""Hits of predicted labels, matched as integers: the kernel of first-hit MAP and of AP at k."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import find, first_occurrences
from mediaeval_ap.definitions import Repeats
from mediaeval_ap.metrics.label_input import LabelLists
from mediaeval_ap.metrics.parallel import on_all_cores

Result = TypeVar('Result')

LABELS_IN_BLOCK = 1 << 18  # a choice: half and twice as many take as long
LOW_SIX_BITS = 63  # of a code: a place in a filter of 64 bits


class Matches(NamedTuple):
    """Hits, list after list, and the counts that average precision needs."""

    rankings: NDArray[np.int64]  # of each hit, from 0, ascending
    ranks: NDArray[np.int64]  # of each hit, from 1, ascending in each ranking
    n_relevant: NDArray[np.int64]  # of each ranking: true labels, predicted or not
    n_returned: NDArray[np.int64]  # of each ranking: predictions


def match(truth: LabelLists, predictions: LabelLists, repeats: Repeats) -> Matches:
    """Find the hits in each list of predictions, in O(n log n) for n labels in all."""
    if repeats is Repeats.DROP:
        predictions = _distinct(predictions)
    hits = _possible_hits(truth, predictions)
    rows = predictions.rows[hits]
    codes, n_codes = _small(np.concatenate([truth.codes, predictions.codes[hits]]), len(truth))
    true_keys, keys = codes[: len(truth.codes)], codes[len(truth.codes) :]
    true_keys += np.repeat(np.arange(len(truth)) * n_codes, truth.lengths)
    true_keys.sort(kind='stable')  # fast, as only labels of one short list are out of order
    keys += rows * n_codes
    found = np.flatnonzero(find(true_keys, keys) >= 0)
    if repeats is Repeats.IRRELEVANT:
        found = found[first_occurrences(keys[found])]
    hits, rows = hits[found], rows[found]
    n_relevant = truth.lengths  # repeated labels count again only if repeated predictions do
    if repeats is not Repeats.COUNT:
        repeated = true_keys[1:][true_keys[1:] == true_keys[:-1]]
        n_relevant = n_relevant - np.bincount(repeated // n_codes, minlength=len(truth))
    ranks = hits + 1 - predictions.offsets[rows]
    return Matches(rows, ranks, n_relevant, predictions.lengths)


def map_blocks(
    score: Callable[[LabelLists, LabelLists], Result], truth: LabelLists, predictions: LabelLists
) -> list[Result]:
    """Score blocks of lists on all cores, and return the results in order: at least one."""
    blocks = list(_blocks(truth.offsets + predictions.offsets)) or [slice(0)]
    return on_all_cores(lambda block: score(truth[block], predictions[block]), blocks)


def _blocks(offsets: NDArray[np.int64]) -> Iterator[slice]:
    """Cut lists into blocks of about LABELS_IN_BLOCK labels."""
    begin = 0
    while begin < len(offsets) - 1:
        end = int(np.searchsorted(offsets, offsets[begin] + LABELS_IN_BLOCK))
        end = min(max(end, begin + 1), len(offsets) - 1)
        yield slice(begin, end)
        begin = end


def _distinct(lists: LabelLists) -> LabelLists:
    """Drop each label that stands before in its list."""
    rows = lists.rows
    codes, n_codes = _small(lists.codes, len(lists))
    keys = rows * n_codes + codes
    ascending = np.sort(keys, kind='stable')  # as in `match`
    if (ascending[1:] != ascending[:-1]).all():
        return lists
    kept = first_occurrences(keys)
    lengths = np.bincount(rows[kept], minlength=len(lists))
    return LabelLists(lists.codes[kept], np.concatenate([[0], lengths.cumsum()]))


def _small(codes: NDArray[np.integer], n_lists: int) -> tuple[NDArray[np.int64], int]:
    """Return codes from 0 and their number, such that `list * number + code` fits in 64 bits."""
    low, high = int(codes.min(initial=0)), int(codes.max(initial=0))
    if (high - low + 1) * n_lists > np.iinfo(np.int64).max:
        distinct, codes = np.unique(codes, return_inverse=True)
        low, high = 0, len(distinct) - 1
    return np.subtract(codes, low, dtype=np.int64), high - low + 1


def _possible_hits(truth: LabelLists, predictions: LabelLists) -> NDArray[np.int64]:
    """Return where predictions are that can be hits, ascending."""
    # Most cannot. A filter of 64 bits for each list, of which each true label sets one, proves it
    # of nearly all of them without looking them up.
    bits = np.int64(1) << np.append(truth.codes & LOW_SIX_BITS, 0)
    filters = np.bitwise_or.reduceat(bits, truth.offsets[:-1])
    filters[truth.lengths == 0] = 0  # reduceat gives an empty list the bit of the next label
    possible = np.repeat(filters, predictions.lengths)
    possible >>= predictions.codes & LOW_SIX_BITS
    possible &= 1
    return possible.astype(np.bool_).nonzero()[0]
