"""Rules about confidences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.tables.lenient_text import LenientTable
from mediaeval_ap.validation.problems import Detail, Finding, at_rows


def equal_confidences(file: LenientTable) -> Iterator[Finding]:
    """Find that all confidences are equal, where there are two or more: one problem at most."""
    confidence = file.table.confidence
    rows = np.flatnonzero(np.isfinite(confidence))
    if len(rows) < 2 or confidence[rows].min() != confidence[rows].max():
        return

    def describe(row: int) -> Detail:
        found = f'{float(confidence[row])!r} in each of {len(rows):,} rows'
        return ('confidence', found, 'higher confidences for surer hypotheses')

    yield at_rows('equal-confidences', file, rows[:1], describe)


def single_precision(file: LenientTable) -> Finding:
    """Find confidences that tie with an earlier, different one in single precision."""
    confidence = file.table.confidence
    right = np.flatnonzero(np.isfinite(confidence))
    distinct, first = np.unique(confidence[right], return_index=True)
    first = right[first]
    before = _first_of_single_ties(distinct, first)
    is_later = first != before
    order = np.argsort(first[is_later])
    rows, earlier = first[is_later][order], before[is_later][order]

    def describe(row: int) -> Detail:
        other = earlier[np.searchsorted(rows, row)]
        tied = f'{float(confidence[other])!r} of {file.table.place(other)}'
        found = f'{float(confidence[row])!r}, which is {tied} in single precision'
        return ('confidence', found, 'equal confidences, or ones further apart')

    return at_rows('single-precision', file, rows, describe)


def _first_of_single_ties(
    distinct: NDArray[np.float64], first: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return, for each value, the first row of those that tie with it in single precision."""
    if not len(distinct):
        return first
    with np.errstate(over='ignore'):  # what single precision cannot hold is infinite in it
        starts = run_starts([distinct.astype(np.float32)])
    sizes = np.diff(starts, append=len(distinct))
    return np.minimum.reduceat(first, starts).repeat(sizes)
