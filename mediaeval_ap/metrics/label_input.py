"""Labels that users give to metrics, in whatever container, as integers or pyarrow arrays.

Text is never equal to integers: input that mixes the two is an error, not a silent score of 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import ParameterError, shown

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class LabelLists:
    """Lists of labels as integers, one list after another; equal labels have equal codes.

    If there are words, codes are hashes, and only labels with equal words are equal.
    """

    codes: NDArray[np.integer]  # shape (n_labels,)
    offsets: NDArray[np.int64]  # shape (n_lists + 1,): where each list begins, and the last ends
    words: Sequence[NDArray[np.uint64]] = ()  # each of shape (n_labels,)

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
        """The number of labels of each list."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The list of each label."""
        return np.repeat(np.arange(len(self)), self.lengths)


def collected(lists: Any) -> Any:
    """Return lists in a container that can be read twice."""
    if hasattr(lists, 'iloc'):  # of pandas: a frame, or a column of lists
        return lists.to_numpy()
    return list(lists) if isinstance(lists, Iterator) else lists


def label_lists(y_true: Any, y_pred: Any) -> tuple[LabelLists, LabelLists]:
    """Return true and predicted lists with one coding; both are as `collected` gives them."""
    if any(issubclass(kind, Set) for kind in _kinds(y_pred)):
        raise ParameterError('y_pred: found a set, expected labels in an order')
    truth, truth_offsets = _flattened(_unpacked(y_true), 'y_true')
    predictions, offsets = _flattened(_unpacked(y_pred), 'y_pred')
    if len(truth_offsets) != len(offsets):
        expected = f'{len(truth_offsets) - 1} as in y_true'
        raise ParameterError(f'y_pred: found {len(offsets) - 1} lists, expected {expected}')
    truth_codes, codes = _codes(*same_kind(truth, predictions, 'y_true', 'y_pred'))
    return LabelLists(truth_codes, truth_offsets), LabelLists(codes, offsets)


def arrow_array(values: Any, name: str) -> pyarrow.Array:
    """Return a sequence as one pyarrow array, in which ``None``, ``NaN`` and ``NA`` are null."""
    import pyarrow

    if not _is_sequence(values):
        raise ParameterError(f'{name}: found {shown(values)}, expected a sequence')
    if not isinstance(values, pyarrow.Array | pyarrow.ChunkedArray):
        try:
            sized = values if hasattr(values, '__len__') else list(values)
            values = pyarrow.array(sized, from_pandas=True)
        except MemoryError:
            raise
        except (pyarrow.ArrowException, OverflowError, UnicodeError) as error:
            reason = str(error).splitlines()[0]
            raise ParameterError(f'{name}: {reason}, expected values of one kind') from None
    return values.combine_chunks() if isinstance(values, pyarrow.ChunkedArray) else values


def label_array(values: Any, name: str) -> pyarrow.Array:
    """Return labels as one pyarrow array of large strings or integers; missing ones are null."""
    import pyarrow

    array = arrow_array(values, name)
    if pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.null_count == len(array):
        return pyarrow.nulls(len(array))
    kind = array.type
    if pyarrow.types.is_floating(kind):
        return _integers(array, name)
    if pyarrow.types.is_integer(kind):
        try:
            return array if kind.bit_width < 64 else array.cast(pyarrow.int64())
        except pyarrow.ArrowInvalid:
            raise ParameterError(f'{name}: found a number beyond 2**63, expected less') from None
    if kind in (pyarrow.string(), pyarrow.large_string()):
        return array.cast(pyarrow.large_string())
    raise ParameterError(f'{name}: found labels of type {kind}, expected text or integers')


def same_kind(
    one: pyarrow.Array, other: pyarrow.Array, one_name: str, other_name: str
) -> tuple[pyarrow.Array, pyarrow.Array]:
    """Return two arrays of labels that can be compared, or refuse text beside integers."""
    import pyarrow

    # An array without a label has no kind of its own, and gets that of the other.
    null, text = pyarrow.null(), pyarrow.large_string()
    kind = next((each.type for each in (one, other) if each.type != null), pyarrow.int64())
    one, other = (each.cast(kind) if each.type == null else each for each in (one, other))
    expected, found = ('text' if each.type == text else 'integers' for each in (one, other))
    if found != expected:
        raise ParameterError(f'{other_name}: found {found}, expected {expected} as in {one_name}')
    return one, other


def _integers(array: pyarrow.Array, name: str) -> pyarrow.Array:
    """Return floats as integers, which pandas makes floats of where some are missing."""
    import pyarrow

    floats = array.to_numpy(zero_copy_only=False)
    limit = 2.0 ** (np.finfo(floats.dtype).nmant + 1)  # from here on, one stands for several
    missing = np.isnan(floats)
    numbers = np.where(missing, 0, floats).astype(np.float64)
    if not ((np.abs(numbers) < limit) & (np.trunc(numbers) == numbers)).all():
        raise ParameterError(f'{name}: found floats, expected text or integers')
    return pyarrow.array(numbers.astype(np.int64), mask=missing)


def _is_sequence(values: Any) -> bool:
    return hasattr(values, '__iter__') and not isinstance(values, str | bytes | dict | Set)


def _kinds(lists: Any) -> set[type]:
    """Return the types of lists that are objects of Python, in whatever container."""
    import pyarrow

    if isinstance(lists, pyarrow.Array | pyarrow.ChunkedArray) or not _is_sequence(lists):
        return set()
    if isinstance(lists, np.ndarray) and (lists.dtype != object or lists.ndim != 1):
        return set()
    return set(map(type, lists))


def _unpacked(lists: Any) -> Any:
    """Return lists as an array or a sequence that pyarrow takes."""
    if isinstance(lists, list | tuple) and any(hasattr(kind, 'to_numpy') for kind in _kinds(lists)):
        return [row.tolist() if hasattr(row, 'to_numpy') else row for row in lists]
    return lists


def _flattened(lists: Any, name: str) -> tuple[pyarrow.Array, NDArray[np.int64]]:
    """Return the labels of all lists, one list after another, and the offsets of the lists."""
    import pyarrow

    if isinstance(lists, np.ndarray) and lists.ndim == 2:
        n_lists, length = lists.shape
        labels = label_array(lists.ravel(), name)
        offsets = np.arange(n_lists + 1) * length
    else:
        array = arrow_array(lists, name)
        if pyarrow.types.is_null(array.type) and not len(array):
            array = array.cast(pyarrow.list_(pyarrow.null()))
        if pyarrow.types.is_fixed_size_list(array.type):
            array = array.cast(pyarrow.large_list(array.type.value_type))
        if not (pyarrow.types.is_list(array.type) or pyarrow.types.is_large_list(array.type)):
            raise ParameterError(f'{name}: found {array.type}, expected lists of labels')
        if array.null_count:
            raise ParameterError(f'{name}: found a missing list, expected lists of labels')
        labels = label_array(array.flatten(), name)
        offsets = array.offsets.to_numpy().astype(np.int64)
        offsets -= offsets[0]  # those of a slice begin later
    if labels.null_count:
        raise ParameterError(f'{name}: found a missing label, expected text or integers')
    return labels, offsets


def _codes(one: pyarrow.Array, other: pyarrow.Array) -> tuple[NDArray[Any], NDArray[Any]]:
    import pyarrow

    if pyarrow.types.is_integer(one.type):
        return one.to_numpy(), other.to_numpy()
    codes = pyarrow.concat_arrays([one, other]).dictionary_encode().indices.to_numpy()
    return codes[: len(one)], codes[len(one) :]
