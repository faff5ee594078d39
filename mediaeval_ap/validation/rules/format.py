"""Rules about the format of files: lines, fields, numbers and times; and empty files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from mediaeval_ap.errors import shown
from mediaeval_ap.tables.faults import FINITE_DECIMAL, no_rows
from mediaeval_ap.tables.lenient_text import LenientTable
from mediaeval_ap.tables.line_format import Cause, is_finite_decimal
from mediaeval_ap.validation.campaigns import ROLES
from mediaeval_ap.validation.problems import Detail, Finding, Kind, Problem, at_rows
from mediaeval_ap.validation.rows import rows_unless
from mediaeval_ap.validation.rule import Rule

LONG_LINE = Kind('long-line', 'error', 'end each row with a line end')
ENCODING = Kind('encoding', 'error', 'save the file as UTF-8 text with LF or CR LF line ends')
EMPTY = Kind('empty', 'error', 'write one row per line, or leave the file out')
FIELD_COUNT = Kind(
    'field-count',
    'error',
    'give the line these fields, separated by spaces or tabs, without spaces inside them',
)
CONFIDENCE = Kind('confidence', 'error', 'write a finite decimal number')
TIMESTAMP = Kind('timestamp', 'error', 'write the seconds since the start of the video')
NOT_NEGATIVE = f'{FINITE_DECIMAL}, not negative'


def wrong_lines(cause: Cause, kind: Kind, *files: LenientTable) -> Iterator[Finding]:
    """Find the lines that the strict parser refuses for a cause."""

    def problems(file: LenientTable) -> Iterator[Problem]:
        for each in file.wrong.of(cause):
            detail = each.wrong.field, each.wrong.found, each.wrong.expected
            yield kind.at(file.table.source.name, each.line, each.column, detail)

    for file in files:
        yield Finding(kind, file.wrong.counts[cause], partial(problems, file))


def empty_files(kind: Kind, *files: LenientTable) -> Iterator[Finding]:
    for file in files:
        if not file.wrong.counts.total() and not len(file.table):
            source = file.table.source.name
            error = no_rows(source, file.table.layout)
            empty = kind.at(source, 1, 1, ('', error.found, error.expected))
            yield Finding(kind, 1, partial(iter, (empty,)))


def wrong_times_of_shots(kind: Kind, shots: LenientTable) -> Iterator[Finding]:
    """Find wrong times of shots, which are read as text, since nothing computes with them."""

    def describe(field: str, row: int) -> Detail:
        return (field, shown(shots.table[field].text(row)), NOT_NEGATIVE)

    for field in ('start_time', 'end_time'):
        rows = rows_unless(shots.table[field], _is_time)
        yield at_rows(kind, shots, rows, partial(describe, field))


def _is_time(text: str) -> bool:
    field = text.encode()
    return is_finite_decimal(field) and float(field) >= 0


def negative_timestamps(kind: Kind, evidence: LenientTable) -> Iterator[Finding]:
    seconds = evidence.table.numbers
    if seconds is None:  # as in the campaign of 2015
        return

    def describe(row: int) -> Detail:
        return ('timestamp', f'{float(seconds[row])!r}', NOT_NEGATIVE)

    yield at_rows(kind, evidence, np.flatnonzero(seconds < 0), describe)


RULES = (
    Rule((LONG_LINE,), partial(wrong_lines, Cause.LENGTH), (), ROLES),
    Rule((ENCODING,), partial(wrong_lines, Cause.BYTES), (), ROLES),
    Rule((EMPTY,), empty_files, (), ROLES),
    Rule((FIELD_COUNT,), partial(wrong_lines, Cause.FIELDS), (), ROLES),
    Rule((CONFIDENCE,), partial(wrong_lines, Cause.NUMBER)),
    Rule((TIMESTAMP,), wrong_times_of_shots, ('shots',)),
    Rule((TIMESTAMP,), partial(wrong_lines, Cause.NUMBER), ('evidence',)),
    Rule((TIMESTAMP,), negative_timestamps, ('evidence',)),
)
