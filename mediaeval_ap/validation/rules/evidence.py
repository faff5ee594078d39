"""Rules about evidence, and about names that another file lacks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mediaeval_ap.arrays import first_equal
from mediaeval_ap.errors import printable, shown
from mediaeval_ap.tables.lenient_text import LenientTable
from mediaeval_ap.validation.problems import Detail, Finding, Kind, at_rows
from mediaeval_ap.validation.rows import first_without, rows_unless
from mediaeval_ap.validation.rule import Rule

MODALITY = Kind('modality', 'error', 'write one of these words')
REPEATED_EVIDENCE = Kind('repeated-evidence', 'error', 'keep one line of evidence per name')
MISSING_EVIDENCE = Kind(
    'missing-evidence', 'error', 'add a line of evidence for the name, or drop its hypotheses'
)
UNUSED_EVIDENCE = Kind(
    'unused-evidence', 'error', 'spell the name as in the hypotheses, or drop the line'
)
UNREFERENCED_NAME = Kind(
    'unreferenced-name',
    'warning',
    'check the spelling; the person may be in no shot of the reference',
)
# By the field that holds them: the campaigns of 2015 and of 2016 call it differently.
MODALITIES = {'source': ('image', 'audio', 'both'), 'modality': ('written', 'pronounced')}


def unknown_modalities(kind: Kind, file: LenientTable) -> Iterator[Finding]:
    (field,) = MODALITIES.keys() & file.table.columns.keys()
    column, known = file.table[field], MODALITIES[field]
    expected = f'{", ".join(known[:-1])} or {known[-1]}'
    rows = rows_unless(column, lambda text: text in known)
    yield at_rows(kind, file, rows, lambda row: (field, shown(column.text(row)), expected))


def repeated_evidence(kind: Kind, file: LenientTable) -> Iterator[Finding]:
    column = file.table['person_name']
    first = first_equal(column.codes)

    def describe(row: int) -> Detail:
        found = f'{shown(column.text(row))} again, as in {file.table.place(first[row])}'
        return ('person_name', found, 'each name once')

    rows = np.flatnonzero(first != np.arange(len(first)))
    yield at_rows(kind, file, rows, describe)


def names_without(kind: Kind, file: LenientTable, others: LenientTable) -> Iterator[Finding]:
    """Find names that another file lacks, each where it stands first."""
    names = file.table['person_name']
    rows, n_rows = first_without(file.table, others.table, ['person_name'])
    expected = f'a name of {printable(others.table.source.name)}'

    def describe(row: int) -> Detail:
        return ('person_name', f'{shown(names.text(row))} {n_rows(row)}', expected)

    yield at_rows(kind, file, rows, describe)


RULES = (
    Rule((MODALITY,), unknown_modalities, ('evidence',), campaigns_only=True),
    Rule((REPEATED_EVIDENCE,), repeated_evidence, ('evidence',), campaigns_only=True),
    Rule((MISSING_EVIDENCE,), names_without, ('hypothesis', 'evidence'), campaigns_only=True),
    Rule((UNUSED_EVIDENCE,), names_without, ('evidence', 'hypothesis'), campaigns_only=True),
    Rule((UNREFERENCED_NAME,), names_without, ('hypothesis', 'reference')),
)
