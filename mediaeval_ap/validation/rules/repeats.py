"""Rules about shots, names and confidences that come more than once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import combine, first_equal, first_occurrences, run_starts
from mediaeval_ap.errors import shown
from mediaeval_ap.tables.table import Table
from mediaeval_ap.tables.text.reader import LenientTable
from mediaeval_ap.validation.problems import Detail, Finding, at_rows
from mediaeval_ap.validation.rows import SHOT, row_key


def repeated_rows(file: LenientTable) -> Iterator[Finding]:
    """Find rows with the shot and the name of an earlier row, with its confidence or another."""
    table = file.table
    shot_and_name = row_key(table, table.layout.texts)
    _, confidence = np.unique(table.confidence, return_inverse=True)
    same = first_equal(combine([shot_and_name, confidence]))  # the first row that says the same
    is_first = same == np.arange(len(table))
    is_right = np.isfinite(table.confidence)

    def repeats(row: int) -> Detail:
        found = f'{_quoted(table, row)} again, as in {file.table.place(same[row])}'
        return (table.layout.texts[0], found, 'each row once')

    yield at_rows('repeated-row', file, np.flatnonzero(is_right & ~is_first), repeats)

    rows = np.flatnonzero(is_right & is_first)
    before = np.arange(len(table))
    before[rows] = rows[first_equal(shot_and_name[rows])]

    def differs(row: int) -> Detail:
        found = f'{float(table.confidence[row])!r} for {_quoted(table, row)}'
        earlier = f'{float(table.confidence[before[row]])!r}, as in {file.table.place(before[row])}'
        return ('confidence', found, f'{earlier}, or no second row')

    yield at_rows('two-confidences', file, np.flatnonzero(before != np.arange(len(table))), differs)


def _quoted(table: Table, row: int) -> str:
    return shown(' '.join(table[field].text(row) for field in table.layout.texts))


def several_names(file: LenientTable) -> Finding:
    """Find shots that are returned under several names, each where its second name stands."""
    names = file.table['person_name']
    shot = row_key(file.table, SHOT)
    distinct = first_occurrences(combine([shot, names.codes]))
    before = np.empty(len(shot), np.int64)  # set for distinct pairs: the first row of their shot
    before[distinct] = distinct[first_equal(shot[distinct])]
    further = distinct[before[distinct] != distinct]
    n_further = np.bincount(before[further], minlength=len(shot))

    def describe(row: int) -> Detail:
        first = before[row]
        later, earlier = (shown(names.text(each)) for each in (row, first))
        where = f'{later} after {earlier} of {file.table.place(first)}'
        found = f'{where}, {n_further[first] + 1} names in all'
        return ('person_name', found, 'one name, or several people')

    rows = further[first_occurrences(before[further])]
    return at_rows('several-names', file, rows, describe)


def repeated_evidence(file: LenientTable) -> Finding:
    column = file.table['person_name']
    first = first_equal(column.codes)

    def describe(row: int) -> Detail:
        found = f'{shown(column.text(row))} again, as in {file.table.place(first[row])}'
        return ('person_name', found, 'each name once')

    rows = np.flatnonzero(first != np.arange(len(first)))
    return at_rows('repeated-evidence', file, rows, describe)


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
