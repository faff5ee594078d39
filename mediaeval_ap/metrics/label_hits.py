"""Hits of predicted labels, matched as integers: the kernel of first-hit MAP and of AP at k."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import find, first_occurrences
from mediaeval_ap.definitions import Repeats
from mediaeval_ap.metrics.label_input import LabelLists, collected, label_lists
from mediaeval_ap.metrics.parallel import on_all_cores
from mediaeval_ap.metrics.text_hashes import (
    ORDERED,
    Unproved,
    hashed_lists,
    joined,
    lengths_of,
    lists_of_python,
)

Result = TypeVar('Result')

# Workers of Dask give memory back at once (MALLOC_TRIM_THRESHOLD_); then the system maps arrays of
# 128 KiB and more anew, page by page. With few such arrays in a block this takes half the time, and
# elsewhere no longer than with larger blocks.
LABELS_IN_BLOCK = 1 << 17
FILTERED_AT_ONCE = 15_000  # of 8 bytes each
USERS_AT_ONCE = 1 << 12  # their lists stay in the cache: 1 << 14 took a third longer to join
TEXTS_AT_ONCE = 32  # 23 MB for 12 predictions of ten letters, six times as much for the longest
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
    rows = predictions.offsets.searchsorted(hits, side='right') - 1
    codes, n_codes = _small(np.concatenate([truth.codes, predictions.codes[hits]]), len(truth))
    true_keys, keys = codes[: len(truth.codes)], codes[len(truth.codes) :]
    true_keys += np.repeat(np.arange(len(truth)) * n_codes, truth.lengths)
    keys += rows * n_codes
    ascending = np.sort(true_keys, kind='stable')  # fast: only labels of one short list are moved
    found = np.flatnonzero(find(ascending, keys) >= 0)
    if truth.words:
        pairs = zip(truth.words, predictions.words, strict=True)
        words = [np.append(word, other[hits[found]]) for word, other in pairs]
        _expect_equal(np.append(true_keys, keys[found]), words)
    if repeats is Repeats.IRRELEVANT:
        found = found[first_occurrences(keys[found])]
    hits, rows = hits[found], rows[found]
    n_relevant = truth.lengths  # repeated labels count again only if repeated predictions do
    if repeats is not Repeats.COUNT:
        repeated = ascending[1:][ascending[1:] == ascending[:-1]]
        n_relevant = n_relevant - np.bincount(repeated // n_codes, minlength=len(truth))
    ranks = hits + 1 - predictions.offsets[rows]
    return Matches(rows, ranks, n_relevant, predictions.lengths)


def map_blocks(
    score: Callable[[LabelLists, LabelLists], Result],
    y_true: Any,
    y_pred: Any,
) -> list[Result]:
    """Score blocks of lists on all cores, and return the results in order: at least one."""
    y_true, y_pred = collected(y_true), collected(y_pred)
    try:
        return _map_text(score, y_true, y_pred)
    except Unproved:
        truth, predictions = label_lists(y_true, y_pred)
    blocks = list(_blocks(truth.offsets + predictions.offsets)) or [slice(0)]
    return on_all_cores(lambda block: score(truth[block], predictions[block]), blocks)


def _map_text(
    score: Callable[[LabelLists, LabelLists], Result], y_true: Any, y_pred: Any
) -> list[Result]:
    """Score lists of short text as hashes; raise `Unproved` for anything else."""

    def score_text(text_and_lengths: tuple[bytes, NDArray[np.int64]]) -> Result:
        text, lengths = text_and_lengths
        lists = hashed_lists(text, lengths.ravel())
        n_users = lengths.shape[1]
        return score(lists[:n_users], lists[n_users:])

    results: list[Result] = []
    texts = _texts(lists_of_python(y_true), lists_of_python(y_pred))
    # Several texts are joined before threads begin: joining holds the interpreter, so beside it
    # each step of numpy would wait for a whole text.
    while some := list(islice(texts, TEXTS_AT_ONCE)):
        results += on_all_cores(score_text, some)
    return results


def _texts(
    y_true: Sequence[Any], y_pred: Sequence[Any]
) -> Iterator[tuple[bytes, NDArray[np.int64]]]:
    """Give the text of blocks of users, and the lengths of their true and predicted lists."""
    if not len(y_true) == len(y_pred) > 0:
        raise Unproved
    for begin in range(0, len(y_true), USERS_AT_ONCE):
        some = slice(begin, begin + USERS_AT_ONCE)
        truth, predictions = y_true[some], y_pred[some]
        lengths = np.array([lengths_of(truth, ORDERED | {set}), lengths_of(predictions)])
        for block in _blocks(np.append(0, lengths.sum(axis=0).cumsum())):
            n_labels = int(lengths[:, block].sum())
            yield joined(n_labels, truth[block], predictions[block]), lengths[:, block]


def _blocks(offsets: NDArray[np.int64], n_labels: int = LABELS_IN_BLOCK) -> Iterator[slice]:
    """Cut lists into blocks of about so many labels."""
    begin = 0
    while begin < len(offsets) - 1:
        end = int(np.searchsorted(offsets, offsets[begin] + n_labels))
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
    if lists.words:
        _expect_equal(keys, lists.words)
    kept = first_occurrences(keys)
    lengths = np.bincount(rows[kept], minlength=len(lists))
    words = [word[kept] for word in lists.words]
    return LabelLists(lists.codes[kept], np.concatenate([[0], lengths.cumsum()]), words)


def _expect_equal(keys: NDArray[np.int64], words: Sequence[NDArray[np.uint64]]) -> None:
    """Raise `Unproved` if labels with equal keys have different words."""
    order = np.argsort(keys, kind='stable')
    ascending = keys[order]
    again = np.flatnonzero(ascending[1:] == ascending[:-1])
    one, other = order[again], order[again + 1]
    if any((word[one] != word[other]).any() for word in words):
        raise Unproved


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
    possible = np.empty(len(predictions.codes), dtype=np.bool_)
    for some in _blocks(predictions.offsets, FILTERED_AT_ONCE):
        labels = slice(*predictions.offsets[[some.start, some.stop]])
        filter_of_each = np.repeat(filters[some], predictions.lengths[some])
        filter_of_each >>= predictions.codes[labels] & LOW_SIX_BITS
        filter_of_each &= 1
        possible[labels] = filter_of_each
    return possible.nonzero()[0]
