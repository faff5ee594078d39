"""Rows of a file compared with each other, and with those of another file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import combine, first_equal, first_occurrences
from mediaeval_ap.tables.table import Column, Table

VIDEO = ('corpus_id', 'video_id')  # of which files of 2015 have no corpus
SHOT = (*VIDEO, 'shot_id')


def fields_of(table: Table, fields: Sequence[str]) -> list[str]:
    """Return those fields that a table has."""
    return [field for field in fields if field in table.columns]


def row_key(table: Table, fields: Sequence[str]) -> NDArray[np.int64]:
    """Return a number for each row, equal where the rows hold the same in some fields."""
    return combine([table[field].codes for field in fields])


def distinct_names(table: Table) -> tuple[NDArray[np.int64], list[str]]:
    """Return the row of each distinct name where it stands first, ascending, and the names."""
    rows = first_occurrences(table['person_name'].codes)
    return rows, table.texts('person_name', rows)


def rows_unless(column: Column, is_right: Callable[[str], object]) -> NDArray[np.int64]:
    """Return the rows whose text is wrong; each distinct text is looked at once."""
    is_wrong = np.array([not is_right(value) for value in column.values], dtype=np.bool_)
    return np.flatnonzero(is_wrong[column.codes])


def first_without(
    table: Table, others: Table, fields: Sequence[str]
) -> tuple[NDArray[np.int64], Callable[[int], str]]:
    """Return the first row of each value that others lack, and the text of how many rows hold it.

    Values are what rows hold in some fields.
    """
    first = first_equal(row_key(table, fields))
    is_first = first == np.arange(len(table))
    counts = np.bincount(first, minlength=len(table))
    rows = np.flatnonzero(is_first & ~table.within(others, fields))
    return rows, lambda row: f'in {counts[row]:,} {"row" if counts[row] == 1 else "rows"}'
