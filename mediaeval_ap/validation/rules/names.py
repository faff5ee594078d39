"""Rules about the spelling of names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from mediaeval_ap.errors import shown
from mediaeval_ap.tables.lenient_text import LenientTable
from mediaeval_ap.validation.near_names import earlier_neighbours
from mediaeval_ap.validation.problems import Detail, Finding, Kind, at_rows
from mediaeval_ap.validation.rows import distinct_names, rows_unless
from mediaeval_ap.validation.rule import Rule

NAME = Kind('name', 'error', 'transliterate the name to lower-case letters, with _ for every space')
NEAR_NAMES = Kind('near-names', 'warning', 'if they are the same person, spell the name one way')
NOT_NFC = Kind('not-nfc', 'warning', 'write the name in NFC')
UPPER_CASE = Kind('upper-case', 'warning', 'write the name in lower case')
_is_name = re.compile('[a-z_]+').fullmatch


def names_of_other_letters(kind: Kind, file: LenientTable) -> Iterator[Finding]:
    names = file.table['person_name']
    rows = rows_unless(names, _is_name)

    def describe(row: int) -> Detail:
        return ('person_name', shown(names.text(row)), 'a name of a-z and _ only')

    yield at_rows(kind, file, rows, describe)


def near_names(kind: Kind, file: LenientTable) -> Iterator[Finding]:
    """Find names one insertion, deletion or substitution from an earlier one."""
    distinct, names = distinct_names(file.table)
    neighbours = earlier_neighbours(names)
    near = np.flatnonzero(neighbours >= 0)
    rows = distinct[near]

    def describe(row: int) -> Detail:
        name = near[np.searchsorted(rows, row)]
        before = neighbours[name]
        where = f'{shown(names[before])} of {file.table.place(distinct[before])}'
        return ('person_name', f'{shown(names[name])}, one edit from {where}', 'one spelling')

    yield at_rows(kind, file, rows, describe)


def misspelt_names(not_nfc: Kind, upper_case: Kind, file: LenientTable) -> Iterator[Finding]:
    """Find names that are not in NFC, or have upper-case letters, each where it stands first."""
    distinct, names = distinct_names(file.table)
    text = file.table['person_name'].text

    def describe(mended: Callable[[str], str], quoted: Callable[[str], str], row: int) -> Detail:
        return ('person_name', quoted(text(row)), quoted(mended(text(row))))

    for kind, mended, quoted in (not_nfc, _as_nfc, _in_ascii), (upper_case, _in_lower_case, shown):
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


RULES = (
    Rule((NAME,), names_of_other_letters, campaigns_only=True),
    Rule((NAME,), names_of_other_letters, ('evidence',), campaigns_only=True),
    Rule((NEAR_NAMES,), near_names),
    Rule((NOT_NFC, UPPER_CASE), misspelt_names),
)
