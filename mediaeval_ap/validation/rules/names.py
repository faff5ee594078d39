"""Rules about the spelling of names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences
from mediaeval_ap.errors import shown
from mediaeval_ap.tables.table import Table
from mediaeval_ap.tables.text.reader import LenientTable
from mediaeval_ap.validation.near_names import earlier_neighbours
from mediaeval_ap.validation.problems import Detail, Finding, at_rows
from mediaeval_ap.validation.rows import rows_unless

_is_name = re.compile('[a-z_]+').fullmatch


def names_of_other_letters(file: LenientTable) -> Finding:
    names = file.table['person_name']
    rows = rows_unless(names, _is_name)

    def describe(row: int) -> Detail:
        return ('person_name', shown(names.text(row)), 'a name of a-z and _ only')

    return at_rows('name', file, rows, describe)


def _distinct_names(table: Table) -> tuple[NDArray[np.int64], list[str]]:
    """Return the row of each distinct name where it stands first, ascending, and the names."""
    rows = first_occurrences(table['person_name'].codes)
    return rows, table.texts('person_name', rows)


def near_names(file: LenientTable) -> Finding:
    """Find names one insertion, deletion or substitution from an earlier one."""
    distinct, names = _distinct_names(file.table)
    neighbours = earlier_neighbours(names)
    near = np.flatnonzero(neighbours >= 0)
    rows = distinct[near]

    def describe(row: int) -> Detail:
        name = near[np.searchsorted(rows, row)]
        before = neighbours[name]
        where = f'{shown(names[before])} of {file.table.place(distinct[before])}'
        return ('person_name', f'{shown(names[name])}, one edit from {where}', 'one spelling')

    return at_rows('near-names', file, rows, describe)


def misspelt_names(file: LenientTable) -> Iterator[Finding]:
    """Find names that are not in NFC, or have upper-case letters, each where it stands first."""
    distinct, names = _distinct_names(file.table)
    text = file.table['person_name'].text

    def describe(mended: Callable[[str], str], quoted: Callable[[str], str], row: int) -> Detail:
        return ('person_name', quoted(text(row)), quoted(mended(text(row))))

    for kind, mended, quoted in (
        ('not-nfc', _as_nfc, _in_ascii),
        ('upper-case', _in_lower_case, shown),
    ):
        wrong = [place for place, name in enumerate(names) if mended(name) != name]
        yield at_rows(kind, file, distinct[wrong], partial(describe, mended, quoted))


def _as_nfc(name: str) -> str:
    return unicodedata.normalize('NFC', name)


def _in_lower_case(name: str) -> str:
    if name == name.lower():
        return name
    # Not str.lower alone, which changes more than upper-case letters (title case, final sigma).
    return ''.join(letter.lower() if letter.isupper() else letter for letter in name)


def _in_ascii(name: str) -> str:
    """Quote a name by its code points: what is not in NFC looks like what is."""
    text = ascii(name[:61])
    return text if len(text) <= 62 else f'{text[:60]}…'
