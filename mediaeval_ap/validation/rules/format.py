"""Rules about the format of files: lines, fields, numbers, times and words; and empty files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from mediaeval_ap.errors import shown
from mediaeval_ap.tables.text.format import (
    FINITE_DECIMAL,
    Cause,
    file_of,
    is_finite_decimal,
    no_row_of_text,
)
from mediaeval_ap.tables.text.reader import LenientTable
from mediaeval_ap.validation.kinds import KINDS
from mediaeval_ap.validation.problems import Detail, Finding, Problem, at_rows, problem_at
from mediaeval_ap.validation.rows import rows_unless

NOT_NEGATIVE = f'{FINITE_DECIMAL}, not negative'
# By the field that holds them: the campaigns of 2015 and of 2016 call it differently.
MODALITIES = {'source': ('image', 'audio', 'both'), 'modality': ('written', 'pronounced')}


def wrong_format(file: LenientTable) -> Iterator[Finding]:
    """Find what is wrong with any file: lines that are no rows, and no row at all."""
    yield wrong_lines('long-line', Cause.LENGTH, file)
    yield wrong_lines('encoding', Cause.BYTES, file)
    if not file.wrong.counts.total() and not len(file.table):
        error = no_row_of_text(file.table.source.name, file.table.layout, file.n_lines)
        empty = problem_at('empty', file, 1, 1, ('', error.found, error.expected))
        yield Finding(KINDS['empty'], 1, partial(iter, (empty,)))
    yield wrong_lines('header', Cause.HEADER, file)
    yield wrong_lines('field-count', Cause.FIELDS, file)
    if file.other:
        found = f'a first row that fits {file_of(file.other)}'
        detail = '', found, f'one of {file_of(file.table.layout.name)}'
        other = problem_at('other-file', file, file.table.lines[0], 1, detail)
        yield Finding(KINDS['other-file'], 1, partial(iter, (other,)))


def wrong_lines(kind: str, cause: Cause, file: LenientTable) -> Finding:
    """Find the lines that the strict parser refuses for a cause."""

    def problems() -> Iterator[Problem]:
        for each in file.wrong.kept[cause]:
            detail = each.wrong.field, each.wrong.found, each.wrong.expected
            yield problem_at(kind, file, each.line, each.column, detail, each.wrong.remedy)

    return Finding(KINDS[kind], file.wrong.counts[cause], problems)


def wrong_times_of_shots(shots: LenientTable) -> Iterator[Finding]:
    """Find wrong times of shots, which are read as text, since nothing computes with them."""

    def describe(field: str, row: int) -> Detail:
        return (field, shown(shots.table[field].text(row)), NOT_NEGATIVE)

    for field in ('start_time', 'end_time'):
        rows = rows_unless(shots.table[field], _is_time)
        yield at_rows('timestamp', shots, rows, partial(describe, field))


def _is_time(text: str) -> bool:
    field = text.encode()
    return is_finite_decimal(field) and float(field) >= 0


def negative_timestamps(evidence: LenientTable) -> Iterator[Finding]:
    seconds = evidence.table.numbers
    if seconds is None:  # as in the campaign of 2015
        return

    def describe(row: int) -> Detail:
        return ('timestamp', f'{float(seconds[row])!r}', NOT_NEGATIVE)

    yield at_rows('timestamp', evidence, np.flatnonzero(seconds < 0), describe)


def unknown_modalities(evidence: LenientTable) -> Finding:
    (field,) = MODALITIES.keys() & evidence.table.columns.keys()
    column, known = evidence.table[field], MODALITIES[field]
    expected = f'{", ".join(known[:-1])} or {known[-1]}'
    rows = rows_unless(column, lambda text: text in known)
    return at_rows(
        'modality', evidence, rows, lambda row: (field, shown(column.text(row)), expected)
    )
