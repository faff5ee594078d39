"""Which predictions are hits: lists of predicted labels against lists of true ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import find, first_occurrences
from mediaeval_ap.definitions import Repeats
from mediaeval_ap.metrics.label_input import LabelLists
from mediaeval_ap.metrics.parallel import on_all_cores

__all__ = ['Matches', 'map_blocks', 'match']

Result = TypeVar('Result')

LABELS_IN_BLOCK = 1 << 18
LOW_SIX_BITS = 63


@dataclass(frozen=True)
class Matches:
    """The hits of rankings, and what else average precision is made of.

    Parameters
    ----------
    rankings : ndarray of int64, shape (n_hits,)
        The ranking of each hit, ascending.
    ranks : ndarray of int64, shape (n_hits,)
        Its rank from 1, ascending in each ranking.
    n_relevant : ndarray of int64, shape (n_rankings,)
        How many labels are true, predicted or not.
    n_returned : ndarray of int64, shape (n_rankings,)
        How many are predicted.

    Examples
    --------
    >>> from mediaeval_ap.metrics.label_input import label_lists
    >>> match(*label_lists([['a', 'b'], ['a']], [['b', 'c'], ['c', 'a']]), Repeats.COUNT).ranks
    array([1, 2])
    """

    rankings: NDArray[np.int64]
    ranks: NDArray[np.int64]
    n_relevant: NDArray[np.int64]
    n_returned: NDArray[np.int64]


def match(truth: LabelLists, predictions: LabelLists, repeats: Repeats) -> Matches:
    """Find the hits of lists.

    Parameters
    ----------
    truth : LabelLists
        The true labels of each query.
    predictions : LabelLists
        As many lists of predicted labels, best first, in the same code.
    repeats : Repeats
        What a label counts that is predicted again. Where it counts again, so does one that is
        repeated in the truth; elsewhere that counts once.

    Returns
    -------
    Matches
        In the order of the lists.

    Notes
    -----
    Takes O(n log n) time for n labels in all.

    Examples
    --------
    >>> from mediaeval_ap.metrics.label_input import label_lists
    >>> lists = label_lists([['a', 'b']], [['a', 'a', 'c', 'b']])
    >>> [match(*lists, repeats).ranks.tolist() for repeats in Repeats]
    [[1, 2, 4], [1, 4], [1, 3]]
    """
    if repeats is Repeats.DROP:
        predictions = _distinct(predictions)
    hits = _possible_hits(truth, predictions)
    rows = predictions.rows[hits]
    codes, n_codes = _small(np.concatenate([truth.codes, predictions.codes[hits]]), len(truth))
    true_keys, keys = codes[: len(truth.codes)], codes[len(truth.codes) :]
    true_keys += np.repeat(np.arange(len(truth)) * n_codes, truth.lengths)
    true_keys.sort(kind='stable')  # lists are short, and stand in order already
    keys += rows * n_codes
    found = np.flatnonzero(find(true_keys, keys) >= 0)
    if repeats is Repeats.IRRELEVANT:
        found = found[first_occurrences(keys[found])]
    hits, rows = hits[found], rows[found]
    n_relevant = truth.lengths
    if repeats is not Repeats.COUNT:
        repeated = true_keys[1:][true_keys[1:] == true_keys[:-1]]
        n_relevant = n_relevant - np.bincount(repeated // n_codes, minlength=len(truth))
    ranks = hits + 1 - predictions.offsets[rows]
    return Matches(rows, ranks, n_relevant, predictions.lengths)


def map_blocks(
    score: Callable[[LabelLists, LabelLists], Result], truth: LabelLists, predictions: LabelLists
) -> list[Result]:
    """Do something with a part of the lists at a time, on all cores when there are several parts.

    Parameters
    ----------
    score : callable
        Takes the true and the predicted labels of some lists.
    truth, predictions : LabelLists
        All of them.

    Returns
    -------
    list
        What it returned, in the order of the lists.

    Examples
    --------
    >>> from mediaeval_ap.metrics.label_input import label_lists
    >>> lists = label_lists([['a', 'b']] * 300_000, [['a']] * 300_000)
    >>> sum(map_blocks(lambda truth, predictions: len(truth), *lists))
    300000
    """
    parts = list(_blocks(truth.offsets + predictions.offsets)) or [slice(0)]
    return on_all_cores(lambda part: score(truth[part], predictions[part]), parts)


def _blocks(offsets: NDArray[np.int64]) -> Iterator[slice]:
    """Lists one after another, until they hold about as many labels as a block should."""
    begin = 0
    while begin < len(offsets) - 1:
        end = int(np.searchsorted(offsets, offsets[begin] + LABELS_IN_BLOCK))
        end = min(max(end, begin + 1), len(offsets) - 1)
        yield slice(begin, end)
        begin = end


def _distinct(lists: LabelLists) -> LabelLists:
    """The lists without labels that came before in theirs."""
    rows = lists.rows
    codes, n_codes = _small(lists.codes, len(lists))
    keys = rows * n_codes + codes
    ascending = np.sort(keys, kind='stable')  # as above
    if (ascending[1:] != ascending[:-1]).all():
        return lists
    kept = first_occurrences(keys)
    lengths = np.bincount(rows[kept], minlength=len(lists))
    return LabelLists(lists.codes[kept], np.concatenate([[0], lengths.cumsum()]))


def _small(codes: NDArray[np.integer], n_lists: int) -> tuple[NDArray[np.int64], int]:
    """New codes from 0 and how many, so few that `list * n_codes + code` fits into 64 bits."""
    low, high = int(codes.min(initial=0)), int(codes.max(initial=0))
    if (high - low + 1) * n_lists > np.iinfo(np.int64).max:
        distinct, codes = np.unique(codes, return_inverse=True)
        low, high = 0, len(distinct) - 1
    return np.subtract(codes, low, dtype=np.int64), high - low + 1


def _possible_hits(truth: LabelLists, predictions: LabelLists) -> NDArray[np.int64]:
    """Predictions that can be hits, and few others, ascending.

    Each list gets 64 bits, of which every true label sets one. A prediction whose bit is not set
    is no hit.
    """
    bits = np.int64(1) << np.append(truth.codes & LOW_SIX_BITS, 0)
    filters = np.bitwise_or.reduceat(bits, truth.offsets[:-1])
    filters[truth.lengths == 0] = 0
    possible = np.repeat(filters, predictions.lengths)
    possible >>= predictions.codes & LOW_SIX_BITS
    possible &= 1
    return possible.astype(np.bool_).nonzero()[0]
