"""What grows: columns, and distinct values with their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from sortedcontainers import SortedKeyList

__all__ = ['Columns', 'Distinct']

Value = TypeVar('Value')

LEAST_CAPACITY = 64


class Columns:
    """Columns of one length that grow at their end.

    What was read of them stays as it is: nothing that is there already is written again.

    Parameters
    ----------
    **types : dtype
        The type of each column, by its name.

    Examples
    --------
    >>> columns = Columns(shot=np.int32)
    >>> columns.extend(shot=np.array([7, 8]))
    >>> before = columns['shot']
    >>> columns.extend(shot=np.array([9]))
    >>> before.tolist(), columns['shot'].tolist()
    ([7, 8], [7, 8, 9])
    """

    def __init__(self, **types: Any) -> None:
        self._buffers = {name: np.empty(LEAST_CAPACITY, kind) for name, kind in types.items()}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._buffers[name][: self._size]

    def extend(self, **columns: NDArray[Any]) -> None:
        """Add rows at the end.

        Parameters
        ----------
        **columns : ndarray, shape (n,)
            What they hold, for each column.

        Notes
        -----
        Takes O(n) time on average: there is room for as many again when there was none left.
        """
        end = self._size + len(next(iter(columns.values())))
        for name, values in columns.items():
            if end > len(self._buffers[name]):
                grown = np.empty(2 * end, self._buffers[name].dtype)
                grown[: self._size] = self[name]
                self._buffers[name] = grown
            self._buffers[name][self._size : end] = values
        self._size = end

    def select(self, rows: NDArray[np.integer]) -> Columns:
        """Other columns, of some of these rows.

        Parameters
        ----------
        rows : ndarray of int, shape (n,)
            Which.

        Returns
        -------
        Columns
            Those rows, with room for more.
        """
        selected = Columns(**{name: buffer.dtype for name, buffer in self._buffers.items()})
        selected.extend(**{name: self[name][rows] for name in self._buffers})
        return selected


class Distinct(Generic[Value]):
    """Distinct values, numbered as they come, and where each stands in their order.

    Parameters
    ----------
    key : callable
        What they are ordered by.

    Attributes
    ----------
    values : list
        The values by their code.
    code_of : dict of value to int
        The code of each.

    Examples
    --------
    >>> names = Distinct(key=str)
    >>> [names.code(name) for name in ('b', 'c', 'b', 'a')]
    [0, 1, 0, 2]
    >>> names.places().tolist()
    [1, 2, 0]
    """

    def __init__(self, key: Callable[[Value], Any]) -> None:
        self.values: list[Value] = []
        self.code_of: dict[Value, int] = {}
        self._ordered = SortedKeyList(key=key)
        self._places = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.values)

    def code(self, value: Value) -> int:
        """The code of a value, which is a new one where the value is new.

        Parameters
        ----------
        value : hashable
            Any value.

        Returns
        -------
        int
            From 0.
        """
        code = self.code_of.get(value)
        if code is None:
            code = self.code_of[value] = len(self.values)
            self.values.append(value)
        return code

    def places(self) -> NDArray[np.int64]:
        """Where each value stands in the order of all.

        Returns
        -------
        ndarray of int64, shape (n_values,)
            From 0, by code. It is not changed later.

        Notes
        -----
        Takes no time where nothing is new; otherwise O(log n) for each value that is, and one
        pass of numpy over all.
        """
        n_known = len(self._places)
        if n_known < len(self.values):
            new = sorted(self.values[n_known:], key=self._ordered.key)
            before = np.array([self._ordered.bisect_left(value) for value in new])
            places = np.empty(len(self.values), dtype=np.int64)
            places[:n_known] = self._places + before.searchsorted(self._places, side='right')
            places[[self.code_of[value] for value in new]] = before + np.arange(len(new))
            self._ordered.update(new)
            self._places = places
        return self._places

    def _check(self) -> None:
        """Assert what always holds."""
        assert [self.code_of[value] for value in self.values] == list(range(len(self)))
        in_order = sorted(self.values, key=self._ordered.key)
        assert [in_order[place] for place in self.places()] == self.values
        self._ordered._check()
