"""Tables as columns: text as codes into its distinct values, confidence as doubles."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables.layouts import Layout

__all__ = ['Column', 'Source', 'Table', 'is_arrow', 'is_instance']


@dataclass(frozen=True)
class Source:
    """Where a table came from.

    Parameters
    ----------
    name : str
        A path, or what stands for one: ``<stdin>``, ``<DataFrame>``, ``<rows>``.
    sha256 : str or None
        SHA-256 of the file as it is stored, or of all that standard input held, in hexadecimal;
        none for open files and for what was never bytes.

    Examples
    --------
    >>> Source('run.txt').sha256 is None
    True
    """

    name: str
    sha256: str | None = None


@dataclass(frozen=True)
class Column:
    """One column of text: a code per row, into its distinct values.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_rows,)
        For each row, the position of its text in `values`.
    values : sequence of str
        The distinct texts.

    Examples
    --------
    >>> column = Column(np.array([0, 1, 0], dtype=np.int32), ['b', 'a'])
    >>> column.sorted().values, column.sorted().codes.tolist()
    (['a', 'b'], [1, 0, 1])
    >>> column.select(np.array([True, False, True])).values
    ['b']
    """

    codes: NDArray[np.int32]
    values: Sequence[str]

    def sorted(self, key: Callable[[str], Any] | None = None) -> Column:
        """The same column with its values in ascending order, so that codes compare as they do.

        Parameters
        ----------
        key : callable, optional
            What the values are ordered by; without it, their code points.

        Returns
        -------
        Column
            The same texts.
        """
        values = sorted(self.values, key=key)
        position = {value: place for place, value in enumerate(values)}
        places = np.array([position[value] for value in self.values], dtype=np.int32)
        return Column(places[self.codes], values)

    def select(self, rows: NDArray[np.bool_]) -> Column:
        """The column of some rows, with no value that none of them holds.

        Parameters
        ----------
        rows : ndarray of bool, shape (n_rows,)
            The rows to keep.

        Returns
        -------
        Column
            The column of those rows.
        """
        kept = self.codes[rows]
        used = np.bincount(kept, minlength=len(self.values)) > 0
        codes = (np.cumsum(used, dtype=np.int32) - 1)[kept]
        return Column(codes, [self.values[code] for code in np.flatnonzero(used).tolist()])

    def text(self, row: int | np.integer) -> str:
        """The text of a row.

        Parameters
        ----------
        row : int
            Which, from 0.

        Returns
        -------
        str
            What it holds.
        """
        return self.values[int(self.codes[row])]

    def find(self, other: Column) -> NDArray[np.int64]:
        """For each row of another column, this column's code of its text.

        Parameters
        ----------
        other : Column
            Any column of text.

        Returns
        -------
        ndarray of int64, shape (n_rows of other,)
            The codes, -1 where this column has no such text.
        """
        code = self.code_of
        found = np.array([code.get(value, -1) for value in other.values], dtype=np.int64)
        return found[other.codes]

    @cached_property
    def code_of(self) -> dict[str, int]:
        """The code of each distinct text."""
        return {value: code for code, value in enumerate(self.values)}


@dataclass(frozen=True)
class Table:
    """Rows of one layout, as columns.

    Parameters
    ----------
    layout : Layout
        What the fields are.
    columns : dict of str to Column
        The text fields.
    numbers : ndarray of float64, shape (n_rows,), or None
        The field of numbers, where the layout has one.
    source : Source
        Where it came from.

    Examples
    --------
    >>> from mediaeval_ap.tables.layouts import HYPOTHESIS
    >>> from mediaeval_ap.tables.reading import read
    >>> table = read([('x', 'v', '1', 'ann', 0.5), ('x', 'w', '1', 'bob', 1)], HYPOTHESIS)
    >>> table['person_name'].values, table.confidence.tolist()
    (['ann', 'bob'], [0.5, 1.0])
    >>> table.select(np.array([False, True])).texts('video_id')
    ['w']
    """

    layout: Layout
    columns: dict[str, Column]
    numbers: NDArray[np.float64] | None
    source: Source

    def __len__(self) -> int:
        return len(self.columns[self.layout.texts[0]].codes)

    def __getitem__(self, field: str) -> Column:
        return self.columns[field]

    @property
    def confidence(self) -> NDArray[np.float64]:
        """The confidence of each row."""
        if self.numbers is None:
            raise TypeError(f'a {self.layout.name} has no confidence')
        return self.numbers

    def texts(self, field: str, rows: NDArray[np.integer] | slice = slice(None)) -> list[str]:
        """The texts of one field, row by row.

        Parameters
        ----------
        field : str
            A text field of the layout.
        rows : ndarray of int, shape (n,), or slice
            Which rows, in which order; by default all.

        Returns
        -------
        list of str
            One text a row.
        """
        values = self[field].values
        return [values[code] for code in self[field].codes[rows].tolist()]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows of the table, one after another.

        Yields
        ------
        tuple
            The fields of the layout, in order.
        """
        columns: list[Iterable[Any]] = [self.texts(field) for field in self.layout.texts]
        if self.numbers is not None:
            columns.insert(self.layout.number_at, self.numbers.tolist())
        return zip(*columns, strict=True)

    def select(self, rows: NDArray[np.bool_]) -> Table:
        """Some rows of the table.

        Parameters
        ----------
        rows : ndarray of bool, shape (n_rows,)
            The rows to keep.

        Returns
        -------
        Table
            Those rows, from the same source.
        """
        columns = {field: column.select(rows) for field, column in self.columns.items()}
        numbers = None if self.numbers is None else self.numbers[rows]
        return replace(self, columns=columns, numbers=numbers)

    def within(self, subset: Table) -> NDArray[np.bool_]:
        """Which rows are of a video of the subset.

        Parameters
        ----------
        subset : Table
            Pairs of corpus and video.

        Returns
        -------
        ndarray of bool, shape (n_rows,)
            True for the rows that count.
        """
        corpus, video = self['corpus_id'], self['video_id']
        wanted_corpus, wanted_video = (
            corpus.find(subset['corpus_id']),
            video.find(subset['video_id']),
        )
        known = (wanted_corpus >= 0) & (wanted_video >= 0)
        n_videos = len(video.values)
        wanted = (wanted_corpus * n_videos + wanted_video)[known]
        return np.isin(corpus.codes.astype(np.int64) * n_videos + video.codes, wanted)


def is_arrow(value: object) -> bool:
    """Whether a value is a table that Arrow can take a stream of, as polars and pyarrow have them.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    bool
        True for what has columns, and the method of the Arrow PyCapsule interface.

    Examples
    --------
    >>> is_arrow([('x', 'v')])
    False
    """
    return hasattr(value, '__arrow_c_stream__') and (
        hasattr(value, 'columns') or hasattr(value, 'schema')
    )


def is_instance(value: object, module: str, name: str) -> bool:
    """Whether a value is of a class of a module, without importing the module to know.

    Parameters
    ----------
    value : object
        Anything.
    module, name : str
        Of the class.

    Returns
    -------
    bool
        False, too, where nobody has imported the module, or not all of it yet.

    Examples
    --------
    >>> is_instance({}, 'collections', 'Counter')
    False
    """
    cls = getattr(sys.modules.get(module), name, None)
    return cls is not None and isinstance(value, cls)
