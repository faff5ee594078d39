"""Rules about evidence, and about names that another file lacks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mediaeval_ap.arrays import first_equal
from mediaeval_ap.errors import printable, shown
from mediaeval_ap.tables.lenient_text import LenientTable
from mediaeval_ap.validation.kinds import Kind
from mediaeval_ap.validation.problems import Detail, Finding, at_rows
from mediaeval_ap.validation.rows import distinct_names, in_rows, rows_where
from mediaeval_ap.validation.rule import Files, Rule

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


def unknown_modalities(files: Files) -> Iterator[Finding]:
    file = files['evidence']
    (field,) = MODALITIES.keys() & file.table.columns.keys()
    column, known = file.table[field], MODALITIES[field]
    expected = f'{", ".join(known[:-1])} or {known[-1]}'
    rows = rows_where(file.table, field, [value not in known for value in column.values])
    yield at_rows(MODALITY, file, rows, lambda row: (field, shown(column.text(row)), expected))


def repeated_evidence(files: Files) -> Iterator[Finding]:
    file = files['evidence']
    column = file.table['person_name']
    first = first_equal(column.codes)

    def describe(row: int) -> Detail:
        found = f'{shown(column.text(row))} again, as in {file.table.place(first[row])}'
        return ('person_name', found, 'each name once')

    rows = np.flatnonzero(first != np.arange(len(first)))
    yield at_rows(REPEATED_EVIDENCE, file, rows, describe)


def missing_evidence(files: Files) -> Iterator[Finding]:
    yield _names_without(MISSING_EVIDENCE, files['hypothesis'], files['evidence'])


def unused_evidence(files: Files) -> Iterator[Finding]:
    yield _names_without(UNUSED_EVIDENCE, files['evidence'], files['hypothesis'])


def unreferenced_names(files: Files) -> Iterator[Finding]:
    yield _names_without(UNREFERENCED_NAME, files['hypothesis'], files['reference'])


def _names_without(kind: Kind, file: LenientTable, others: LenientTable) -> Finding:
    """Find names that another file lacks, each where it stands first."""
    column = file.table['person_name']
    known = others.table['person_name'].code_of
    distinct, names = distinct_names(file.table)
    rows = distinct[[place for place, name in enumerate(names) if name not in known]]
    counts = np.bincount(column.codes)
    expected = f'a name of {printable(others.table.source.name)}'

    def describe(row: int) -> Detail:
        found = f'{shown(column.text(row))} {in_rows(counts[column.codes[row]])}'
        return ('person_name', found, expected)

    return at_rows(kind, file, rows, describe)


RULES = (
    Rule((MODALITY,), unknown_modalities, ('evidence',), campaigns_only=True),
    Rule((REPEATED_EVIDENCE,), repeated_evidence, ('evidence',), campaigns_only=True),
    Rule((MISSING_EVIDENCE,), missing_evidence, ('hypothesis', 'evidence'), campaigns_only=True),
    Rule((UNUSED_EVIDENCE,), unused_evidence, ('hypothesis', 'evidence'), campaigns_only=True),
    Rule((UNREFERENCED_NAME,), unreferenced_names, ('hypothesis', 'reference')),
)
