"""What is wrong or strange in the names of a file."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences
from mediaeval_ap.errors import shown
from mediaeval_ap.tables.lenient_text import LenientTable
from mediaeval_ap.validation import kinds
from mediaeval_ap.validation.campaigns import NAME
from mediaeval_ap.validation.near_names import earlier_neighbours
from mediaeval_ap.validation.problems import Detail, Finding, at_rows

__all__ = ['CHECKS', 'distinct_names', 'names_of_other_letters', 'near_names', 'spelling']


def distinct_names(read: LenientTable) -> tuple[NDArray[np.int64], list[str]]:
    """The distinct names of a file, and where each stands first.

    Parameters
    ----------
    read : LenientTable
        A file with a `person_name`.

    Returns
    -------
    rows : ndarray of int64, shape (n_names,)
        Rows from 0, ascending.
    names : list of str
        The names of these rows.

    Examples
    --------
    >>> from mediaeval_ap.tables import QUERIES, read
    >>> rows, names = distinct_names(LenientTable(read(['bob', 'bob', 'ann'], QUERIES)))
    >>> rows.tolist(), names
    ([0, 2], ['bob', 'ann'])
    """
    rows = first_occurrences(read.table['person_name'].codes)
    return rows, read.table.texts('person_name', rows)


def names_of_other_letters(read: LenientTable) -> list[Finding]:
    """Rows whose name is not made of a-z and _.

    Parameters
    ----------
    read : LenientTable
        A file with a `person_name`.

    Returns
    -------
    list of Finding
        A problem a row.

    Examples
    --------
    >>> from mediaeval_ap.tables import QUERIES, read
    >>> (finding,) = names_of_other_letters(LenientTable(read(['bob_2', 'bob'], QUERIES)))
    >>> [problem.found for problem in finding]
    ["'bob_2'"]
    """
    column = read.table['person_name']
    is_wrong = np.array([NAME.fullmatch(name) is None for name in column.values], dtype=np.bool_)
    rows = np.flatnonzero(is_wrong[column.codes])

    def describe(place: int) -> Detail:
        return Detail('person_name', shown(column.text(rows[place])), 'a name of a-z and _ only')

    return [at_rows(kinds.get('name'), read, rows, describe)]


def near_names(read: LenientTable) -> list[Finding]:
    """Names that are one insertion, deletion or substitution from an earlier one.

    Parameters
    ----------
    read : LenientTable
        A hypothesis.

    Returns
    -------
    list of Finding
        A problem a name, where it stands first.

    Examples
    --------
    >>> from mediaeval_ap.tables import QUERIES, read
    >>> (finding,) = near_names(LenientTable(read(['ann', 'bob', 'anne'], QUERIES)))
    >>> [(problem.line, problem.found) for problem in finding]
    [(3, "'anne', one edit from 'ann' of row 1")]
    """
    rows, names = distinct_names(read)
    earlier = earlier_neighbours(names)
    found = np.flatnonzero(earlier >= 0)

    def describe(place: int) -> Detail:
        here = found[place]
        before = earlier[here]
        where = f'{shown(names[before])} of {read.table.place(rows[before])}'
        return Detail('person_name', f'{shown(names[here])}, one edit from {where}', 'one spelling')

    return [at_rows(kinds.get('near-names'), read, rows[found], describe)]


def spelling(read: LenientTable) -> list[Finding]:
    r"""Names that are not in Unicode NFC, and names with upper-case letters.

    Parameters
    ----------
    read : LenientTable
        A hypothesis.

    Returns
    -------
    list of Finding
        A problem a name of each kind, where it stands first.

    Examples
    --------
    >>> from mediaeval_ap.tables import QUERIES, read
    >>> findings = spelling(LenientTable(read(['zoe\u0308', 'Ann'], QUERIES)))
    >>> [(problem.found, problem.expected) for finding in findings for problem in finding]
    [("'zoe\\u0308'", "'zo\\xeb'"), ("'Ann'", "'ann'")]
    """
    rows, names = distinct_names(read)

    def finding(kind: str, mended: Callable[[str], str], quoted: Callable[[str], str]) -> Finding:
        wrong = [place for place, name in enumerate(names) if mended(name) != name]

        def describe(place: int) -> Detail:
            name = names[wrong[place]]
            return Detail('person_name', quoted(name), quoted(mended(name)))

        return at_rows(kinds.get(kind), read, rows[wrong], describe)

    return [finding('not-nfc', _as_nfc, _in_ascii), finding('upper-case', _in_lower_case, shown)]


def _as_nfc(name: str) -> str:
    return unicodedata.normalize('NFC', name)


def _in_lower_case(name: str) -> str:
    if name == name.lower():
        return name
    return ''.join(letter.lower() if letter.isupper() else letter for letter in name)


def _in_ascii(name: str) -> str:
    """A name by its code points, as two that look alike are told apart."""
    text = ascii(name[:61])
    return text if len(text) <= 62 else f'{text[:60]}…'


CHECKS = (near_names, spelling)
