"""Columns of values by query, as programs and people get them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

ALL_QUERIES = 'all'  # the query of the row of means, as trec_eval and ir_measures have it
N_QUERIES = 'n_queries'  # of that row: what its means are over
SKIPPED = 'queries_skipped'  # the count of queries that were left out, where these may be
Column: TypeAlias = NDArray[Any] | Sequence[Any]
Columns: TypeAlias = Mapping[str, Column]


def with_mean(column: Column, mean: Any) -> Column:
    """Return a column with a last value for all queries, which is a number, or None."""
    if not isinstance(column, np.ndarray):
        return [*column, mean]
    if mean is None and column.dtype.kind != 'f':
        return [*column.tolist(), None]  # NaN would make decimals of integers
    return np.append(column, np.nan if mean is None else mean)


def plain(column: Column) -> Sequence[Any]:
    """Return a column as values of Python, with None for NaN."""
    if not isinstance(column, np.ndarray):
        return column
    values: list[Any] = column.tolist()
    if column.dtype.kind != 'f' or not np.isnan(column).any():
        return values
    return [None if value != value else value for value in values]
