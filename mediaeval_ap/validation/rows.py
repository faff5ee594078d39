"""Rows of a file that is looked at: what they hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import combine
from mediaeval_ap.tables.table import Table

__all__ = ['fields_of', 'row_key']


def fields_of(table: Table, fields: Sequence[str]) -> list[str]:
    """Those of some fields that a table has.

    Parameters
    ----------
    table : Table
        Any table.
    fields : sequence of str
        Fields.

    Returns
    -------
    list of str
        Some of them, in their order.

    Examples
    --------
    >>> from mediaeval_ap.tables import SUBSET, read
    >>> fields_of(read([('x', 'v')], SUBSET), ['video_id', 'shot_id'])
    ['video_id']
    """
    return [field for field in fields if field in table.columns]


def row_key(table: Table, fields: Sequence[str]) -> NDArray[np.int64]:
    """One key for what each row holds in some fields.

    Parameters
    ----------
    table : Table
        Any table.
    fields : sequence of str
        Text fields of it.

    Returns
    -------
    ndarray of int64, shape (n_rows,)
        Equal where all of the fields are.

    Examples
    --------
    >>> from mediaeval_ap.tables import SUBSET, read
    >>> row_key(read([('x', 'v'), ('y', 'v'), ('x', 'v')], SUBSET), ['corpus_id']).tolist()
    [0, 1, 0]
    """
    return combine([table[field].codes for field in fields])
