"""What is wrong or strange in the rows of a hypothesis, by themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import combine, first_equal, first_occurrences, run_starts
from mediaeval_ap.errors import shown
from mediaeval_ap.tables.lenient_text import LenientTable
from mediaeval_ap.validation import kinds
from mediaeval_ap.validation.campaigns import IDS
from mediaeval_ap.validation.problems import Detail, Finding, at_rows
from mediaeval_ap.validation.rows import fields_of, row_key

__all__ = [
    'CHECKS',
    'equal_confidences',
    'repeated_rows',
    'several_names',
    'single_precision',
]


def repeated_rows(read: LenientTable) -> list[Finding]:
    """Rows that say again what an earlier one said, with its confidence or with another.

    Parameters
    ----------
    read : LenientTable
        A hypothesis.

    Returns
    -------
    list of Finding
        A problem a row.

    Examples
    --------
    >>> from mediaeval_ap.tables import HYPOTHESIS, read
    >>> rows = [('x', 'v', '1', 'ann', 0.5), ('x', 'v', '1', 'ann', 0.5)]
    >>> [finding.count for finding in repeated_rows(LenientTable(read(rows, HYPOTHESIS)))]
    [1, 0]
    """
    table = read.table
    said = row_key(table, table.layout.texts)
    _, number = np.unique(table.confidence, return_inverse=True)
    first = first_equal(combine([said, number]))
    rows = np.arange(len(table))
    is_right = np.isfinite(table.confidence)
    repeated = np.flatnonzero((first != rows) & is_right)

    def again(place: int) -> Detail:
        row = repeated[place]
        what = f'{_described(read, row)} again, as in {read.table.place(first[row])}'
        return Detail(table.layout.texts[0], what, 'it once')

    right = np.flatnonzero(is_right & (first == rows))
    first_said = right[first_equal(said[right])]
    differing = right[first_said != right]
    earlier = first_said[first_said != right]

    def differs(place: int) -> Detail:
        row, before = differing[place], earlier[place]
        as_before = f'{float(table.confidence[before])!r}, as in {read.table.place(before)}'
        what = f'{float(table.confidence[row])!r} for {_described(read, row)}'
        return Detail('confidence', what, f'{as_before}, or no second row')

    return [
        at_rows(kinds.get('repeated-row'), read, repeated, again),
        at_rows(kinds.get('two-confidences'), read, differing, differs),
    ]


def several_names(read: LenientTable) -> list[Finding]:
    """Shots that are returned under several names, each where its second name stands.

    Parameters
    ----------
    read : LenientTable
        A hypothesis.

    Returns
    -------
    list of Finding
        A problem a shot.

    Examples
    --------
    >>> from mediaeval_ap.tables import HYPOTHESIS, read
    >>> rows = [('x', 'v', '1', 'ann', 0.5), ('x', 'v', '1', 'bob', 0.4)]
    >>> (finding,) = several_names(LenientTable(read(rows, HYPOTHESIS)))
    >>> [problem.found for problem in finding]
    ["'bob' after 'ann' of row 1, 2 names in all"]
    """
    table = read.table
    shot = row_key(table, fields_of(table, IDS))
    pair = combine([shot, table['person_name'].codes])
    distinct = first_occurrences(pair)
    first = distinct[first_equal(shot[distinct])]
    further = distinct != first
    second = first_occurrences(first[further])
    rows, firsts = distinct[further][second], first[further][second]
    n_further = np.bincount(first[further], minlength=len(table))
    names = table['person_name']

    def describe(place: int) -> Detail:
        row, before = rows[place], firsts[place]
        later, earlier = (shown(names.text(each)) for each in (row, before))
        count = n_further[before] + 1
        found = f'{later} after {earlier} of {read.table.place(before)}, {count} names in all'
        return Detail('person_name', found, 'one name, or several people')

    return [at_rows(kinds.get('several-names'), read, rows, describe)]


def equal_confidences(read: LenientTable) -> list[Finding]:
    """Confidences that are all equal, where there are two at least.

    Parameters
    ----------
    read : LenientTable
        A hypothesis.

    Returns
    -------
    list of Finding
        A problem, or none, at the first row.

    Examples
    --------
    >>> from mediaeval_ap.tables import HYPOTHESIS, read
    >>> rows = [('x', 'v', '1', 'ann', 0.5), ('x', 'v', '2', 'bob', 0.5)]
    >>> (finding,) = equal_confidences(LenientTable(read(rows, HYPOTHESIS)))
    >>> [problem.found for problem in finding]
    ['0.5 in each of 2 rows']
    """
    right = np.flatnonzero(np.isfinite(read.table.confidence))
    confidences = read.table.confidence[right]
    are_equal = len(right) > 1 and confidences.min() == confidences.max()

    def describe(_: int) -> Detail:
        found = f'{float(confidences[0])!r} in each of {len(right):,} rows'
        return Detail('confidence', found, 'what is surer to be greater')

    return [at_rows(kinds.get('equal-confidences'), read, right[: int(are_equal)], describe)]


def single_precision(read: LenientTable) -> list[Finding]:
    """Confidences that single precision cannot tell from an earlier one that is not equal.

    Parameters
    ----------
    read : LenientTable
        A hypothesis.

    Returns
    -------
    list of Finding
        A problem a confidence, where it stands first.

    Examples
    --------
    >>> from mediaeval_ap.tables import HYPOTHESIS, read
    >>> rows = [('x', 'v', '1', 'ann', 0.5), ('x', 'v', '2', 'bob', 0.5000000001)]
    >>> (finding,) = single_precision(LenientTable(read(rows, HYPOTHESIS)))
    >>> [problem.found for problem in finding]
    ['0.5000000001, which is 0.5 of row 1 in single precision']
    """
    right = np.flatnonzero(np.isfinite(read.table.confidence))
    confidences = read.table.confidence
    distinct, first = np.unique(confidences[right], return_index=True)
    rows, earlier = _single_ties(distinct, right[first])

    def describe(place: int) -> Detail:
        row, before = rows[place], earlier[place]
        other = f'{float(confidences[before])!r} of {read.table.place(before)}'
        found = f'{float(confidences[row])!r}, which is {other} in single precision'
        return Detail('confidence', found, 'the same, or further apart')

    return [at_rows(kinds.get('single-precision'), read, rows, describe)]


def _single_ties(
    distinct: NDArray[np.float64], first: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the values that tie with one of an earlier row, and that row."""
    if not len(distinct):
        return first, first
    with np.errstate(over='ignore'):  # what single precision cannot hold is infinite in it
        starts = run_starts([distinct.astype(np.float32)])
    earliest = np.minimum.reduceat(first, starts)
    sizes = np.diff(starts, append=len(distinct))
    before = earliest.repeat(sizes)
    later = first != before
    order = np.argsort(first[later])
    return first[later][order], before[later][order]


def _described(read: LenientTable, row: np.int64) -> str:
    columns = (read.table[field] for field in read.table.layout.texts)
    return shown(' '.join(column.text(row) for column in columns))


CHECKS = (repeated_rows, several_names, equal_confidences, single_precision)
