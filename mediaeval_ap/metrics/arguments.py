"""Arguments of metrics as arrays of pyarrow: labels, lists of labels, numbers.

Labels are text or integers, never both. The name of the argument begins each error.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import ParameterError, shown
from mediaeval_ap.tables.columnar import array_of_values, is_list, name_of_type
from mediaeval_ap.tables.reading import remedy_of
from mediaeval_ap.tables.table import Argument

if TYPE_CHECKING:
    import pyarrow

ORDERED: frozenset[type] = frozenset({list, tuple})


def on_cpu(values: Argument, name: str) -> Argument:
    """Return a tensor of another library as an array; other values unchanged."""
    is_other = hasattr(values, '__arrow_c_array__') or isinstance(values, np.ndarray)
    if is_other or not hasattr(values, '__dlpack__'):
        return values
    try:
        return np.asarray(values)
    except (TypeError, RuntimeError) as error:
        raise tensor_error(error, name) from None


def tensor_error(error: Exception, name: str) -> ParameterError:
    """Make the error about a tensor that numpy cannot read, with the reason of its library."""
    reason = str(error).split('\n')[0].partition('. ')[0]
    remedy = 'give it as .detach().cpu()'
    if 'traced' in reason:
        remedy = 'call this outside of jit'
    elif 'ScalarType' in reason:  # torch and bfloat16
        remedy = 'give it as .float()'
    return ParameterError(
        f'{name}: found a tensor ({reason}), expected one that numpy can read: {remedy}'
    )


def is_sequence(values: object) -> bool:
    return hasattr(values, '__iter__') and not isinstance(values, str | bytes | dict | Set)


def kinds_of(lists: Argument) -> set[type]:
    """Return the types of the elements of a container of Python objects; else an empty set."""
    import pyarrow

    if isinstance(lists, pyarrow.Array | pyarrow.ChunkedArray) or not is_sequence(lists):
        return set()
    if isinstance(lists, np.ndarray) and (lists.dtype != object or lists.ndim != 1):
        return set()
    return set(map(type, lists))


def _one_array(values: Argument, name: str) -> pyarrow.Array:
    """Convert a sequence to one pyarrow array; ``None``, ``NaN`` and ``NA`` become null."""
    import pyarrow

    values = on_cpu(values, name)
    if not is_sequence(values):
        remedy = remedy_of(values)
        raise ParameterError(f'{name}: found {shown(values)}, expected a sequence{remedy}')
    array = values
    if not isinstance(values, pyarrow.Array | pyarrow.ChunkedArray):
        try:
            array = array_of_values(values if hasattr(values, '__len__') else list(values))
        except ValueError as error:
            raise ParameterError(f'{name}: {error}, expected values of one kind') from None
    return array.combine_chunks() if isinstance(array, pyarrow.ChunkedArray) else array


def label_array(values: Argument, name: str) -> pyarrow.Array:
    """Convert labels to one pyarrow array of large strings or integers; missing ones are null."""
    import pyarrow

    array = _one_array(values, name)
    if pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.null_count == len(array):
        return pyarrow.nulls(len(array))
    kind = array.type
    if pyarrow.types.is_floating(kind):
        return _integers(array, name)
    if kind == pyarrow.uint64():
        try:
            return array.cast(pyarrow.int64())
        except pyarrow.ArrowInvalid:
            raise ParameterError(f'{name}: found a number beyond 2**63, expected less') from None
    if pyarrow.types.is_integer(kind):
        return array
    if kind in (pyarrow.string(), pyarrow.large_string()):
        return array.cast(pyarrow.large_string())
    raise ParameterError(f'{name}: found {name_of_type(kind)}, expected text or integers')


def _integers(array: pyarrow.Array, name: str) -> pyarrow.Array:
    """Convert floats back to integers: pandas stores integers as floats if some are missing."""
    import pyarrow

    floats = array.to_numpy(zero_copy_only=False)
    # From here up, a float may be a rounded integer.
    limit = 2.0 ** (np.finfo(floats.dtype).nmant + 1)
    missing = np.isnan(floats)
    numbers = np.where(missing, 0, floats).astype(np.float64)
    if not ((np.abs(numbers) < limit) & (np.trunc(numbers) == numbers)).all():
        raise ParameterError(f'{name}: found floats, expected text or integers')
    return pyarrow.array(numbers.astype(np.int64), mask=missing)


def same_kind(
    one: pyarrow.Array, other: pyarrow.Array, one_name: str, other_name: str
) -> tuple[pyarrow.Array, pyarrow.Array]:
    """Return two arrays of labels, both text or both integers; refuse text beside integers."""
    import pyarrow

    # An array of nulls alone has no kind: it is cast to the kind of the other array.
    null = pyarrow.null()
    kind = next((labels.type for labels in (one, other) if labels.type != null), pyarrow.int64())
    one, other = (labels.cast(kind) if labels.type == null else labels for labels in (one, other))
    expected, actual = (
        'text' if labels.type == 'large_string' else 'integers' for labels in (one, other)
    )
    if actual != expected:
        raise ParameterError(f'{other_name}: found {actual}, expected {expected} as in {one_name}')
    return one, other


def flat_labels(lists: Argument, name: str) -> tuple[pyarrow.Array, NDArray[np.int64]]:
    """Return the labels of all lists, one list after another, and the offsets of the lists."""
    import pyarrow

    lists = on_cpu(lists, name)
    if isinstance(lists, np.ndarray) and lists.ndim == 2:
        n_lists, length = lists.shape
        labels = label_array(lists.ravel(), name)
        offsets = np.arange(n_lists + 1) * length
    else:
        if type(lists) in ORDERED:
            lists = _plain_rows(lists, name)
        array = _one_array(lists, name)
        if pyarrow.types.is_null(array.type) and not len(array):
            array = array.cast(pyarrow.list_(pyarrow.null()))
        if pyarrow.types.is_fixed_size_list(array.type):
            array = array.cast(pyarrow.large_list(array.type.value_type))
        if not is_list(array):
            actual = name_of_type(array.type)
            raise ParameterError(f'{name}: found {actual}, expected lists of labels')
        if array.null_count:
            raise ParameterError(f'{name}: found a missing list, expected lists of labels')
        labels = label_array(array.flatten(), name)
        offsets = array.offsets.to_numpy().astype(np.int64)
        offsets -= offsets[0]  # the offsets of a slice do not begin at 0
    if labels.null_count:
        raise ParameterError(f'{name}: found a missing label, expected text or integers')
    return labels, offsets


def _plain_rows(lists: Sequence[Argument], name: str) -> Sequence[Argument]:
    """Convert rows that are series or tensors."""
    kinds = set(map(type, lists))
    if any(hasattr(kind, 'to_numpy') for kind in kinds):
        return [row.tolist() if hasattr(row, 'to_numpy') else row for row in lists]
    if any(hasattr(kind, '__dlpack__') for kind in kinds):
        return [on_cpu(row, name) for row in lists]
    return lists


def optional_numbers(values: Argument, name: str) -> NDArray[np.float64]:
    """Return numbers as doubles; missing ones are NaN."""
    import pyarrow
    from pyarrow import types

    array = _one_array(values, name)
    kind = array.type
    if not (types.is_floating(kind) or types.is_integer(kind) or types.is_null(kind)):
        raise ParameterError(f'{name}: found {name_of_type(kind)}, expected numbers')
    try:
        numbers: NDArray[np.float64] = array.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
    except pyarrow.ArrowInvalid:
        raise ParameterError(
            f'{name}: found integers beyond 2**53, expected numbers that a double can hold'
        ) from None
    return numbers
