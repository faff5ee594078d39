"""Labels, and lists of labels, from whatever holds them: as integers that are equal where they are.

Text is text and integers are integers: a list that mixes them, or a truth of one and predictions of
the other, is an error, not a score of 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import ParameterError, shown

if TYPE_CHECKING:
    import pyarrow

__all__ = ['LabelLists', 'arrow_array', 'label_array', 'label_lists', 'same_kind']


@dataclass(frozen=True)
class LabelLists:
    """Lists of labels, one after another.

    Parameters
    ----------
    codes : ndarray of int, shape (n_labels,)
        The labels of all lists; equal labels have equal codes.
    offsets : ndarray of int64, shape (n_lists + 1,)
        Where each list begins, and the last ends.

    Examples
    --------
    >>> lists = LabelLists(np.array([7, 8, 9]), np.array([0, 2, 2, 3]))
    >>> len(lists), lists.lengths.tolist()
    (3, [2, 0, 1])
    >>> lists[1:].codes.tolist()
    [9]
    """

    codes: NDArray[np.integer]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, part: slice) -> LabelLists:
        begin, end, _ = part.indices(len(self))
        offsets = self.offsets[begin : end + 1]
        return LabelLists(self.codes[offsets[0] : offsets[-1]], offsets - offsets[0])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many labels each list holds."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The list of each label."""
        return np.repeat(np.arange(len(self)), self.lengths)


def label_lists(
    y_true: Any, y_pred: Any, names: tuple[str, str] = ('y_true', 'y_pred')
) -> tuple[LabelLists, LabelLists]:
    """Lists of true and of predicted labels, in one code.

    Parameters
    ----------
    y_true, y_pred : sequence of sequences of str or int, ndarray, or pyarrow list array
        A list for each query; of as many labels each, where they are the rows of an array. True
        labels may be sets.
    names : tuple of str
        What they are called, for errors.

    Returns
    -------
    truth, predictions : LabelLists
        The same lists.

    Raises
    ------
    ParameterError
        When they are not as many, or not lists of labels of one kind.

    Examples
    --------
    >>> truth, predictions = label_lists([['a', 'b'], []], [['b'], ['c', 'a']])
    >>> truth.codes.tolist(), predictions.codes.tolist(), predictions.offsets.tolist()
    ([0, 1], [1, 2, 0], [0, 1, 3])
    >>> label_lists([['1']], [[1]])
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.ParameterError: y_pred: found integers, expected text as in y_true
    """
    y_true, _ = _rows(y_true)
    y_pred, kinds = _rows(y_pred)
    if any(issubclass(kind, Set) for kind in kinds):
        raise ParameterError(f'{names[1]}: found a set, expected labels in an order')
    truth, truth_offsets = _lists(y_true, names[0])
    predictions, offsets = _lists(y_pred, names[1])
    if len(truth_offsets) != len(offsets):
        raise ParameterError(
            f'{names[1]}: found {len(offsets) - 1} lists, expected {len(truth_offsets) - 1} '
            f'as in {names[0]}'
        )
    truth_codes, codes = _codes(*same_kind(truth, predictions, *names))
    return LabelLists(truth_codes, truth_offsets), LabelLists(codes, offsets)


def arrow_array(values: Any, name: str) -> pyarrow.Array:
    """Values as one pyarrow array, whatever they are.

    Parameters
    ----------
    values : sequence, ndarray, pandas Series or pyarrow array
        ``None``, ``NaN`` and ``NA`` are missing.
    name : str
        What they are called, for errors.

    Returns
    -------
    pyarrow.Array
        The same values; missing ones are null.

    Raises
    ------
    ParameterError
        When they are no sequence, or not of one kind.

    Examples
    --------
    >>> arrow_array([0.5, None, float('nan')], 'confidence').null_count
    2
    """
    import pyarrow

    if isinstance(values, str | bytes | dict | Set) or not hasattr(values, '__iter__'):
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
    """Labels as one pyarrow array of text or integers.

    Parameters
    ----------
    values : sequence of str or int, ndarray, pandas Series or pyarrow array
        ``None``, ``NaN`` and ``NA`` are missing labels. Floats that are integers count as these,
        as pandas makes floats of integers where some are missing.
    name : str
        What they are called, for errors.

    Returns
    -------
    pyarrow.Array
        Of strings or of integers; missing labels are null.

    Raises
    ------
    ParameterError
        When they are anything else.

    Examples
    --------
    >>> label_array(['nan', float('nan')], 'truth').to_pylist()
    ['nan', None]
    >>> label_array(np.array([7, np.nan]), 'truth').to_pylist()
    [7, None]
    """
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
    if _is_text(kind):
        return array.cast(pyarrow.large_string())
    raise ParameterError(f'{name}: found labels of type {kind}, expected text or integers')


def same_kind(
    one: pyarrow.Array, other: pyarrow.Array, one_name: str, other_name: str
) -> tuple[pyarrow.Array, pyarrow.Array]:
    """Two arrays of labels that can be compared.

    Parameters
    ----------
    one, other : pyarrow.Array
        What `label_array` returns.
    one_name, other_name : str
        What they are called, for errors.

    Returns
    -------
    one, other : pyarrow.Array
        The same labels; an array without any label, which has no kind of its own, as the other.

    Raises
    ------
    ParameterError
        When one holds text and the other integers.

    Examples
    --------
    >>> same_kind(label_array(['a'], ''), label_array([None], ''), '', '')[1].type
    DataType(large_string)
    """
    import pyarrow

    kinds = [each.type for each in (one, other) if not pyarrow.types.is_null(each.type)]
    one, other = (
        each.cast(kinds[0] if kinds else pyarrow.int64())
        if pyarrow.types.is_null(each.type)
        else each
        for each in (one, other)
    )
    if _is_text(one.type) != _is_text(other.type):
        kinds = ['text' if _is_text(each.type) else 'integers' for each in (other, one)]
        raise ParameterError(
            f'{other_name}: found {kinds[0]}, expected {kinds[1]} as in {one_name}'
        )
    return one, other


def _is_text(kind: pyarrow.DataType) -> bool:
    import pyarrow

    return kind in (pyarrow.string(), pyarrow.large_string())


def _integers(array: pyarrow.Array, name: str) -> pyarrow.Array:
    """The integers that floats are, of which none stands for a neighbour that no float holds."""
    import pyarrow

    floats = array.to_numpy(zero_copy_only=False)
    limit = 2.0 ** (np.finfo(floats.dtype).nmant + 1)
    missing = np.isnan(floats)
    numbers = np.where(missing, 0, floats).astype(np.float64)
    if not ((np.abs(numbers) < limit) & (np.trunc(numbers) == numbers)).all():
        raise ParameterError(f'{name}: found floats, expected text or integers')
    return pyarrow.array(numbers.astype(np.int64), mask=missing)


def _rows(lists: Any) -> tuple[Any, set[type]]:
    """Lists as an array or as what pyarrow knows as lists, and the types of these."""
    if hasattr(lists, 'iloc'):  # of pandas: a frame, or a column of lists
        lists = lists.to_numpy()
    if isinstance(lists, Iterator):
        lists = list(lists)
    if not isinstance(lists, list | tuple):
        return lists, set()
    kinds = set(map(type, lists))
    if any(hasattr(kind, 'to_numpy') for kind in kinds):
        lists = [row.tolist() if hasattr(row, 'to_numpy') else row for row in lists]
    return lists, kinds


def _lists(lists: Any, name: str) -> tuple[pyarrow.Array, NDArray[np.int64]]:
    """All labels of lists, one after another, and the offsets of the lists."""
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
        offsets -= offsets[0]
    if labels.null_count:
        raise ParameterError(f'{name}: found a missing label, expected text or integers')
    return labels, offsets


def _codes(one: pyarrow.Array, other: pyarrow.Array) -> tuple[NDArray[Any], NDArray[Any]]:
    import pyarrow

    if pyarrow.types.is_integer(one.type):
        return one.to_numpy(), other.to_numpy()
    codes = pyarrow.concat_arrays([one, other]).dictionary_encode().indices.to_numpy()
    return codes[: len(one)], codes[len(one) :]
