"""Rows of a file compared with each other, and with those of another file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import combine, first_occurrences
from mediaeval_ap.tables.table import Table

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


def rows_where(table: Table, field: str, is_wrong: Sequence[bool]) -> NDArray[np.int64]:
    """Return the rows whose text of a field is wrong, of which there is a flag for each value."""
    return np.flatnonzero(np.array(is_wrong, dtype=np.bool_)[table[field].codes])


def in_rows(count: int) -> str:
    """Say in how many rows something stands."""
    return f'in {count:,} {"row" if count == 1 else "rows"}'
