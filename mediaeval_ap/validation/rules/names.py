"""Rules about the spelling of names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from mediaeval_ap.errors import shown
from mediaeval_ap.validation.kinds import Kind
from mediaeval_ap.validation.near_names import earlier_neighbours
from mediaeval_ap.validation.problems import Detail, Finding, at_rows
from mediaeval_ap.validation.rows import distinct_names, rows_where
from mediaeval_ap.validation.rule import SUBMITTED, Files, Rule

NAME = Kind('name', 'error', 'transliterate the name to lower-case letters, with _ for every space')
NEAR_NAMES = Kind('near-names', 'warning', 'if they are the same person, spell the name one way')
NOT_NFC = Kind('not-nfc', 'warning', 'write the name in NFC')
UPPER_CASE = Kind('upper-case', 'warning', 'write the name in lower case')
_is_name = re.compile('[a-z_]+').fullmatch


def names_of_other_letters(files: Files) -> Iterator[Finding]:
    for file in (files[role] for role in SUBMITTED if role in files):
        names = file.table['person_name']
        rows = rows_where(file.table, 'person_name', [not _is_name(name) for name in names.values])

        def describe(row: int, text: Callable[[int], str] = names.text) -> Detail:
            return ('person_name', shown(text(row)), 'a name of a-z and _ only')

        yield at_rows(NAME, file, rows, describe)


def near_names(files: Files) -> Iterator[Finding]:
    """Find names one insertion, deletion or substitution from an earlier one."""
    file = files['hypothesis']
    distinct, names = distinct_names(file.table)
    neighbours = earlier_neighbours(names)
    near = np.flatnonzero(neighbours >= 0)
    rows = distinct[near]

    def describe(row: int) -> Detail:
        name = near[np.searchsorted(rows, row)]
        before = neighbours[name]
        where = f'{shown(names[before])} of {file.table.place(distinct[before])}'
        return ('person_name', f'{shown(names[name])}, one edit from {where}', 'one spelling')

    yield at_rows(NEAR_NAMES, file, rows, describe)


def misspelt_names(files: Files) -> Iterator[Finding]:
    """Find names that are not in NFC, or have upper-case letters, each where it stands first."""
    file = files['hypothesis']
    distinct, names = distinct_names(file.table)
    text = file.table['person_name'].text
    for kind, mended, quoted in (NOT_NFC, _as_nfc, _in_ascii), (UPPER_CASE, _in_lower_case, shown):
        wrong = [place for place, name in enumerate(names) if mended(name) != name]
        yield at_rows(kind, file, distinct[wrong], partial(_mended, text, mended, quoted))


def _mended(
    text: Callable[[int], str],
    mended: Callable[[str], str],
    quoted: Callable[[str], str],
    row: int,
) -> Detail:
    name = text(row)
    return ('person_name', quoted(name), quoted(mended(name)))


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
    Rule((NEAR_NAMES,), near_names),
    Rule((NOT_NFC, UPPER_CASE), misspelt_names),
)
