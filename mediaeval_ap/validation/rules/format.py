"""Rules about the format of files: lines, fields, numbers and times; and empty files."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import shown
from mediaeval_ap.tables.faults import FINITE_DECIMAL, no_rows
from mediaeval_ap.tables.lenient_text import LenientTable
from mediaeval_ap.tables.line_format import Cause, is_finite_decimal
from mediaeval_ap.validation.kinds import Kind
from mediaeval_ap.validation.problems import Detail, Finding, Problem, at_rows, problem_at
from mediaeval_ap.validation.rows import fields_of, rows_where
from mediaeval_ap.validation.rule import Files, Rule

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


def wrong_lines(kind: Kind, file: LenientTable, cause: Cause) -> Finding:
    """Return the lines of a file that the strict parser refuses for a cause."""
    source, wrong = file.table.source.name, file.wrong

    def problems() -> Iterator[Problem]:
        for place in wrong.places(cause):
            each = wrong[int(place)]
            detail = each.wrong.field, each.wrong.found, each.wrong.expected
            yield problem_at(kind, source, each.line, each.column, detail)

    return Finding(kind, wrong.n_of(cause), problems)


def _of_cause(kind: Kind, cause: Cause) -> Callable[[Files], Iterator[Finding]]:
    return lambda files: (wrong_lines(kind, file, cause) for file in files.values())


def wrong_confidences(files: Files) -> Iterator[Finding]:
    yield wrong_lines(CONFIDENCE, files['hypothesis'], Cause.NUMBER)


def empty_files(files: Files) -> Iterator[Finding]:
    for file in files.values():
        if not file.wrong and not len(file.table):
            source = file.table.source.name
            error = no_rows(source, file.table.layout)
            empty = problem_at(EMPTY, source, 1, 1, ('', error.found, error.expected))
            yield Finding(EMPTY, 1, [empty].__iter__)


def wrong_times(files: Files) -> Iterator[Finding]:
    if shots := files.get('shots'):
        for field in fields_of(shots.table, ('start_time', 'end_time')):
            yield _wrong_shot_times(shots, field)
    if evidence := files.get('evidence'):
        yield wrong_lines(TIMESTAMP, evidence, Cause.NUMBER)
        if evidence.table.numbers is not None:
            yield _negative_timestamps(evidence, evidence.table.numbers)


def _wrong_shot_times(shots: LenientTable, field: str) -> Finding:
    """Return the wrong times of shots, which are read as text, since nothing computes with them."""
    column = shots.table[field]
    rows = rows_where(shots.table, field, [not _is_time(value) for value in column.values])

    def describe(row: int) -> Detail:
        return (field, shown(column.text(row)), NOT_NEGATIVE)

    return at_rows(TIMESTAMP, shots, rows, describe)


def _is_time(text: str) -> bool:
    field = text.encode()
    return is_finite_decimal(field) and float(field) >= 0


def _negative_timestamps(evidence: LenientTable, seconds: NDArray[np.float64]) -> Finding:
    def describe(row: int) -> Detail:
        return ('timestamp', f'{float(seconds[row])!r}', NOT_NEGATIVE)

    return at_rows(TIMESTAMP, evidence, np.flatnonzero(seconds < 0), describe)


RULES = (
    Rule((LONG_LINE,), _of_cause(LONG_LINE, Cause.LENGTH)),
    Rule((ENCODING,), _of_cause(ENCODING, Cause.BYTES)),
    Rule((EMPTY,), empty_files),
    Rule((FIELD_COUNT,), _of_cause(FIELD_COUNT, Cause.FIELDS)),
    Rule((CONFIDENCE,), wrong_confidences),
    Rule((TIMESTAMP,), wrong_times, needs=()),
)
