"""What is wrong in evidence, and in the times of a shot list, by themselves."""

from __future__ import annotations

import numpy as np

from mediaeval_ap.arrays import first_equal
from mediaeval_ap.errors import shown
from mediaeval_ap.tables.faults import FINITE_DECIMAL
from mediaeval_ap.tables.lenient_text import LenientTable
from mediaeval_ap.tables.line_format import is_finite_decimal
from mediaeval_ap.validation import kinds
from mediaeval_ap.validation.campaigns import TIMES, Rules
from mediaeval_ap.validation.problems import Detail, Finding, at_rows
from mediaeval_ap.validation.rows import fields_of

__all__ = ['modalities', 'negative_timestamps', 'repeated_evidence', 'shot_times']

NOT_NEGATIVE = f'{FINITE_DECIMAL}, not negative'


def modalities(read: LenientTable, rules: Rules) -> list[Finding]:
    """Evidence of a kind that the campaign does not know.

    Parameters
    ----------
    read : LenientTable
        The evidence.
    rules : Rules
        The campaign's rules.

    Returns
    -------
    list of Finding
        A problem a row.

    Examples
    --------
    >>> from mediaeval_ap.tables import read
    >>> from mediaeval_ap.tables.layouts import EVIDENCE
    >>> from mediaeval_ap.validation import campaigns
    >>> evidence = read([('ann', 'x', 'v', 'image', 1.5)], EVIDENCE)
    >>> (finding,) = modalities(LenientTable(evidence), campaigns.get('2016'))
    >>> [(problem.found, problem.expected) for problem in finding]
    [("'image'", 'written or pronounced')]
    """
    column = read.table[rules.modality]
    is_wrong = np.array([value not in rules.modalities for value in column.values], dtype=np.bool_)
    rows = np.flatnonzero(is_wrong[column.codes])
    *others, last = rules.modalities
    expected = f'{", ".join(others)} or {last}'

    def describe(place: int) -> Detail:
        return Detail(rules.modality, shown(column.text(rows[place])), expected)

    return [at_rows(kinds.get('modality'), read, rows, describe)]


def negative_timestamps(read: LenientTable) -> list[Finding]:
    """Evidence before the start of its video.

    Parameters
    ----------
    read : LenientTable
        Evidence, with timestamps or not.

    Returns
    -------
    list of Finding
        A problem a row.

    Examples
    --------
    >>> from mediaeval_ap.tables import read
    >>> from mediaeval_ap.tables.layouts import EVIDENCE
    >>> evidence = read([('ann', 'x', 'v', 'written', -1.5)], EVIDENCE)
    >>> (finding,) = negative_timestamps(LenientTable(evidence))
    >>> [problem.found for problem in finding]
    ['-1.5']
    """
    numbers = read.table.numbers
    if numbers is None:
        return []
    rows = np.flatnonzero(numbers < 0)

    def describe(place: int) -> Detail:
        return Detail('timestamp', f'{float(numbers[rows[place]])!r}', NOT_NEGATIVE)

    return [at_rows(kinds.get('timestamp'), read, rows, describe)]


def repeated_evidence(read: LenientTable) -> list[Finding]:
    """Rows of evidence for a name that has some already.

    Parameters
    ----------
    read : LenientTable
        The evidence.

    Returns
    -------
    list of Finding
        A problem a row.

    Examples
    --------
    >>> from mediaeval_ap.tables import QUERIES, read
    >>> (finding,) = repeated_evidence(LenientTable(read(['ann', 'bob', 'ann'], QUERIES)))
    >>> [(problem.line, problem.found) for problem in finding]
    [(3, "'ann' again, as in row 1")]
    """
    column = read.table['person_name']
    first = first_equal(column.codes)
    rows = np.flatnonzero(first != np.arange(len(first)))

    def describe(place: int) -> Detail:
        row = rows[place]
        found = f'{shown(column.text(row))} again, as in {read.table.place(first[row])}'
        return Detail('person_name', found, 'each name once')

    return [at_rows(kinds.get('repeated-evidence'), read, rows, describe)]


def shot_times(read: LenientTable) -> list[Finding]:
    """Times of shots that are negative, or no finite decimal number.

    Parameters
    ----------
    read : LenientTable
        The shot list.

    Returns
    -------
    list of Finding
        A problem a time.

    Examples
    --------
    >>> from mediaeval_ap.tables import read
    >>> from mediaeval_ap.tables.layouts import SHOTS
    >>> shots = read([('x', 'v', '1', '0.5', 'nan')], SHOTS)
    >>> [problem.found for each in shot_times(LenientTable(shots)) for problem in each]
    ["'nan'"]
    """
    return [_times(read, field) for field in fields_of(read.table, TIMES)]


def _times(read: LenientTable, field: str) -> Finding:
    column = read.table[field]
    is_wrong = np.array([not _is_time(value) for value in column.values], dtype=np.bool_)
    rows = np.flatnonzero(is_wrong[column.codes])

    def describe(place: int) -> Detail:
        return Detail(field, shown(column.text(rows[place])), NOT_NEGATIVE)

    return at_rows(kinds.get('timestamp'), read, rows, describe)


def _is_time(text: str) -> bool:
    field = text.encode()
    return is_finite_decimal(field) and float(field) >= 0
