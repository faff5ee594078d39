"""Lists of labels from containers of any kind, and their hits, found by matching integers.

Text is never equal to an integer: input that mixes the two is an error, not a silent score of 0.

Each label becomes a code; together with the index of its list, the code makes a *key*. A prediction
is a hit if a true label has the same key. With two codes, a = 0 and b = 1, two lists become::

    true         [a, b]   [b]        codes 0 1  1        keys 0 1  3       (list · 2 + code)
    predictions  [b, a]   [a, b]     codes 1 0  0 1      keys 1 0  2 3     hits: all but key 2

There are two ways to get codes. `label_lists` keeps integers, and numbers the distinct texts.
`hashed_lists` is faster for short texts: it packs their bytes into words of 8 bytes, and hashes
these. Two texts may share a hash. So `match` compares the words of all labels with equal keys; if
any differ, it raises `Unproved`, and `map_blocks` starts again with `label_lists`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain, islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import MAX_PACKED_BYTES, find, first_occurrences, hash_words, words_at
from mediaeval_ap.cores import on_all_cores
from mediaeval_ap.definitions import Repeats
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.metrics.ap_of_hits import RankedHits
from mediaeval_ap.metrics.arguments import ORDERED, flat_labels, kinds_of, same_kind
from mediaeval_ap.tables.table import Argument

BlockScore = TypeVar('BlockScore')

NUL = '\0'
# Workers of Dask give memory back at once (MALLOC_TRIM_THRESHOLD_), and the system then maps each
# array of 128 KiB or more anew, page by page. Blocks of this size have few such arrays: in Dask
# they take half the time of larger blocks, elsewhere the same time.
LABELS_IN_BLOCK = 1 << 17
FILTERED_AT_ONCE = 15_000  # labels; each takes 8 bytes
USERS_AT_ONCE = 1 << 12  # their lists stay in the cache: 1 << 14 took a third longer to join
TEXTS_AT_ONCE = 32  # 23 MB with 12 predictions of ten letters per user; at most six times that
LOW_SIX_BITS = 63  # the mask that turns a code into the number of a bit in a 64-bit filter


@dataclass(frozen=True)
class LabelLists:
    """Lists of labels as integer codes, one list after another; equal labels have equal codes."""

    codes: NDArray[np.integer]  # shape (n_labels,); with words, they are hashes
    offsets: NDArray[np.int64]  # shape (n_lists + 1,): start of each list, and end of the last
    words: Sequence[NDArray[np.uint64]] = ()  # first words of all labels, second words, and so on

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, part: slice) -> LabelLists:
        begin, end, _ = part.indices(len(self))
        offsets = self.offsets[begin : end + 1]
        labels = slice(offsets[0], offsets[-1])
        words = [word[labels] for word in self.words]
        return LabelLists(self.codes[labels], offsets - offsets[0], words)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)


def reusable(lists: Argument) -> Argument:
    """Return lists in a container that can be read twice."""
    if hasattr(lists, 'iloc') or hasattr(lists, 'to_arrow'):  # a frame, or a column of lists
        return lists.to_numpy()
    return list(lists) if isinstance(lists, Iterator) else lists


def label_lists(y_true: Argument, y_pred: Argument) -> tuple[LabelLists, LabelLists]:
    """Read true and predicted lists of `reusable` containers; both get the same codes."""
    if any(issubclass(kind, Set) for kind in kinds_of(y_pred)):
        raise ParameterError('y_pred: found a set, expected labels in an order')
    truth, truth_offsets = flat_labels(y_true, 'y_true')
    predictions, offsets = flat_labels(y_pred, 'y_pred')
    if len(truth_offsets) != len(offsets):
        expected = f'{len(truth_offsets) - 1} as in y_true'
        raise ParameterError(f'y_pred: found {len(offsets) - 1} lists, expected {expected}')
    truth, predictions = same_kind(truth, predictions, 'y_true', 'y_pred')
    if truth.type == 'large_string':
        import pyarrow

        codes = pyarrow.concat_arrays([truth, predictions]).dictionary_encode().indices.to_numpy()
        true_codes = codes[: len(truth)]
        predicted_codes = codes[len(truth) :]
    else:
        true_codes = truth.to_numpy()
        predicted_codes = predictions.to_numpy()
    return LabelLists(true_codes, truth_offsets), LabelLists(predicted_codes, offsets)


class Unproved(Exception):
    """Raised if the fast path cannot prove its result; then the slow path is used."""


def lists_of_python(lists: Argument) -> Sequence[Argument]:
    """Return lists held by a list, a tuple or an object array; raise `Unproved` for others."""
    if type(lists) is np.ndarray and lists.ndim == 1 and lists.dtype == object:
        lists = lists.tolist()
    if type(lists) not in ORDERED:
        raise Unproved
    return lists  # type: ignore[no-any-return]


def lengths_of(lists: Sequence[Argument], kinds: frozenset[type] = ORDERED) -> NDArray[np.int64]:
    """Return the number of labels of each list; raise `Unproved` for lists of other kinds."""
    if not kinds.issuperset(map(type, lists)):
        raise Unproved
    return np.fromiter(map(len, lists), np.int64, len(lists))


def joined_text(n_labels: int, *lists: Sequence[Argument]) -> bytes:
    """Join all labels of sequences of lists, with NUL between labels, and encode the text."""
    non_empty = filter(None, chain(*lists))
    try:
        text = NUL.join(map(NUL.join, non_empty)).encode()
    except (TypeError, UnicodeEncodeError):  # labels that are not text; surrogates
        raise Unproved from None
    if len(text) > n_labels * (MAX_PACKED_BYTES + 1):  # a label is too long: stop before more texts
        raise Unproved
    return text


def hashed_lists(text: bytes, lengths: NDArray[np.int64]) -> LabelLists:
    """Return the lists of a `joined_text`, with hashes of words of 8 bytes as codes.

    Labels of at most 8 letters have one word; equal labels have equal words and codes:

    >>> lists = hashed_lists(joined_text(3, [['a', 'b'], ['a']]), np.array([2, 1]))
    >>> len(lists), lists.offsets.tolist(), lists.words[0].tolist()
    (2, [0, 2, 3], [97, 98, 97])
    >>> (lists.codes == lists.codes[0]).tolist()
    [True, False, True]
    """
    n_labels = int(lengths.sum())
    words: list[NDArray[np.uint64]] = []
    if n_labels:
        buffer = np.frombuffer(text + bytes(MAX_PACKED_BYTES), np.uint8)
        ends = np.append(np.flatnonzero(buffer[: len(text)] == 0), len(text))
        if len(ends) != n_labels:  # a label contains NUL
            raise Unproved
        starts = np.append(0, ends[:-1] + 1)
        if (ends - starts).max() > MAX_PACKED_BYTES:
            raise Unproved
        words = [*words_at(buffer, starts, ends - starts).T]
    n_bits = 1 + len(lengths).bit_length()  # left free for the sign and the index of the list
    codes = (hash_words(words, n_labels) >> np.uint64(n_bits)).view(np.int64)
    return LabelLists(codes, np.append(0, lengths.cumsum()), words)


def match(truth: LabelLists, predictions: LabelLists, repeats: Repeats) -> RankedHits:
    """Find the hits in each list of predictions, in O(n log n) time for n labels in total.

    >>> truth, predictions = label_lists([['a', 'b'], ['b']], [['b', 'x', 'a'], ['a', 'b']])
    >>> hits = match(truth, predictions, Repeats.IRRELEVANT)
    >>> hits.rankings.tolist(), hits.ranks.tolist()
    ([0, 0, 1], [1, 3, 2])
    """
    if repeats is Repeats.DROP:
        predictions = _distinct(predictions)
    hits = _possible_hits(truth, predictions)
    rows = predictions.offsets.searchsorted(hits, side='right') - 1
    codes, n_codes = _small(np.concatenate([truth.codes, predictions.codes[hits]]), len(truth))
    true_keys = codes[: len(truth.codes)]
    keys = codes[len(truth.codes) :]
    true_keys += np.repeat(np.arange(len(truth)) * n_codes, truth.lengths)
    keys += rows * n_codes
    ascending = np.sort(true_keys, kind='stable')  # fast, as labels move only within a short list
    matching = np.flatnonzero(find(ascending, keys) >= 0)
    if truth.words:
        pairs = zip(truth.words, predictions.words, strict=True)
        words = [np.append(true, predicted[hits[matching]]) for true, predicted in pairs]
        _expect_equal(np.append(true_keys, keys[matching]), words)
    if repeats is Repeats.IRRELEVANT:
        matching = matching[first_occurrences(keys[matching])]
    hits = hits[matching]
    rows = rows[matching]
    n_relevant = truth.lengths  # repeated labels count again only if repeated predictions do
    if repeats is not Repeats.COUNT:
        repeated = ascending[1:][ascending[1:] == ascending[:-1]]
        n_relevant = n_relevant - np.bincount(repeated // n_codes, minlength=len(truth))
    ranks = hits + 1 - predictions.offsets[rows]
    return RankedHits(rows, ranks, n_relevant, predictions.lengths)


def map_blocks(
    score: Callable[[LabelLists, LabelLists], BlockScore], y_true: Argument, y_pred: Argument
) -> list[BlockScore]:
    """Score lists block by block on all cores; return at least one result, in order."""
    y_true = reusable(y_true)
    y_pred = reusable(y_pred)
    try:
        return _map_text(score, y_true, y_pred)
    except Unproved:
        truth, predictions = label_lists(y_true, y_pred)
    offsets = truth.offsets + predictions.offsets
    blocks = list(_blocks_of_lists(offsets, LABELS_IN_BLOCK)) or [slice(0)]
    return on_all_cores(lambda block: score(truth[block], predictions[block]), blocks)


def _map_text(
    score: Callable[[LabelLists, LabelLists], BlockScore], y_true: Argument, y_pred: Argument
) -> list[BlockScore]:
    """Score lists of short text as hashes; raise `Unproved` for anything else."""

    def score_text(text_and_lengths: tuple[bytes, NDArray[np.int64]]) -> BlockScore:
        text, lengths = text_and_lengths
        lists = hashed_lists(text, lengths.ravel())
        n_users = lengths.shape[1]
        return score(lists[:n_users], lists[n_users:])

    results: list[BlockScore] = []
    texts = _texts(lists_of_python(y_true), lists_of_python(y_pred))
    # Several texts are joined before threads begin: joining holds the interpreter, and each step of
    # numpy in a thread would wait until a text is joined.
    while batch := list(islice(texts, TEXTS_AT_ONCE)):
        results += on_all_cores(score_text, batch)
    return results


def _texts(
    y_true: Sequence[Argument], y_pred: Sequence[Argument]
) -> Iterator[tuple[bytes, NDArray[np.int64]]]:
    """Yield, per block of users, the joined text, and the lengths of both lists of each user."""
    if not len(y_true) == len(y_pred) > 0:
        raise Unproved
    for begin in range(0, len(y_true), USERS_AT_ONCE):
        users = slice(begin, begin + USERS_AT_ONCE)
        truth = y_true[users]
        predictions = y_pred[users]
        lengths = np.array([lengths_of(truth, ORDERED | {set}), lengths_of(predictions)])
        offsets = np.append(0, lengths.sum(axis=0).cumsum())
        for block in _blocks_of_lists(offsets, LABELS_IN_BLOCK):
            n_labels = int(lengths[:, block].sum())
            yield joined_text(n_labels, truth[block], predictions[block]), lengths[:, block]


def _blocks_of_lists(offsets: NDArray[np.int64], n_labels: int) -> Iterator[slice]:
    """Cut lists into blocks of about `n_labels` labels; no list is cut."""
    begin = 0
    while begin < len(offsets) - 1:
        end = int(np.searchsorted(offsets, offsets[begin] + n_labels))
        end = min(max(end, begin + 1), len(offsets) - 1)
        yield slice(begin, end)
        begin = end


def _distinct(lists: LabelLists) -> LabelLists:
    """Drop each label that repeats an earlier label of its list."""
    rows = np.repeat(np.arange(len(lists)), lists.lengths)
    codes, n_codes = _small(lists.codes, len(lists))
    keys = rows * n_codes + codes
    ascending = np.sort(keys, kind='stable')  # as in `match`
    if (ascending[1:] != ascending[:-1]).all():
        return lists
    if lists.words:
        _expect_equal(keys, lists.words)
    first = first_occurrences(keys)
    lengths = np.bincount(rows[first], minlength=len(lists))
    words = [word[first] for word in lists.words]
    return LabelLists(lists.codes[first], np.concatenate([[0], lengths.cumsum()]), words)


def _expect_equal(keys: NDArray[np.int64], words: Sequence[NDArray[np.uint64]]) -> None:
    """Raise `Unproved` if labels with equal keys have different words."""
    order = np.argsort(keys, kind='stable')
    ascending = keys[order]
    repeats = np.flatnonzero(ascending[1:] == ascending[:-1])
    earlier = order[repeats]
    later = order[repeats + 1]
    if any((word[earlier] != word[later]).any() for word in words):
        raise Unproved


def _small(codes: NDArray[np.integer], n_lists: int) -> tuple[NDArray[np.int64], int]:
    """Shift or renumber codes to 0 … n - 1; return them and n. ``list * n + code`` fits 64 bits."""
    low = int(codes.min(initial=0))
    high = int(codes.max(initial=0))
    if (high - low + 1) * n_lists > np.iinfo(np.int64).max:
        distinct, codes = np.unique(codes, return_inverse=True)
        low = 0
        high = len(distinct) - 1
    return np.subtract(codes, low, dtype=np.int64), high - low + 1


def _possible_hits(truth: LabelLists, predictions: LabelLists) -> NDArray[np.int64]:
    """Return the positions of predictions that may be hits, ascending; others cannot be.

    Most predictions are not hits; a filter of 64 bits for each list leaves them out without a
    search. Each true label sets the bit whose number is the last six bits of its code; a prediction
    whose bit is not set is not a true label. True codes 3 and 70 set bits 3 and 6: predicted code 4
    cannot be a hit, codes 3, 6 and 70 may be.
    """
    bits = np.int64(1) << np.append(truth.codes & LOW_SIX_BITS, 0)
    filters = np.bitwise_or.reduceat(bits, truth.offsets[:-1])
    filters[truth.lengths == 0] = 0  # reduceat gives an empty list the bit of the next label
    possible = np.empty(len(predictions.codes), dtype=np.bool_)
    for block in _blocks_of_lists(predictions.offsets, FILTERED_AT_ONCE):
        labels = slice(*predictions.offsets[[block.start, block.stop]])
        filter_bits = np.repeat(filters[block], predictions.lengths[block])
        filter_bits >>= predictions.codes[labels] & LOW_SIX_BITS
        filter_bits &= 1
        possible[labels] = filter_bits
    return possible.nonzero()[0]
