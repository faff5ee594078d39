"""Rows of a file, compared with each other and with what is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import combine
from mediaeval_ap.tables.table import Column, Table

VIDEO = ('corpus_id', 'video_id')  # of which files of 2015 have no corpus
SHOT = (*VIDEO, 'shot_id')


def fields_of(table: Table, fields: Sequence[str]) -> list[str]:
    """Return those fields that a table has."""
    return [field for field in fields if field in table.columns]


def row_key(table: Table, fields: Sequence[str]) -> NDArray[np.int64]:
    """Return a number for each row, equal where the rows hold the same in some fields."""
    return combine([table[field].codes for field in fields_of(table, fields)])


def rows_unless(column: Column, is_right: Callable[[str], object]) -> NDArray[np.int64]:
    """Return the rows whose text is wrong; each distinct text is looked at once."""
    is_wrong = np.array([not is_right(value) for value in column.values], dtype=np.bool_)
    return np.flatnonzero(is_wrong[column.codes])
