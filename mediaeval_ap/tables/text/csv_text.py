"""Read CSV: its header decides the layout; the fast path proves, the slow path explains."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from mediaeval_ap.choices import BETWEEN_WORDS
from mediaeval_ap.errors import FormatError, shown
from mediaeval_ap.tables.faults import Fault, Faults, no_rows
from mediaeval_ap.tables.first_look import first_line, header_of
from mediaeval_ap.tables.layouts import (
    Layout,
    RecordLayout,
    choose_layout,
    column_at,
    expected_columns,
    fields_in_words,
)
from mediaeval_ap.tables.rows import from_numbered_rows, parse_numbers
from mediaeval_ap.tables.table import LineNumbers, Table
from mediaeval_ap.tables.text.arrow_reader import read_csv
from mediaeval_ap.tables.text.line_rules import BYTE_ORDER_MARK, holds_text, with_lf
from mediaeval_ap.tables.text.wrong_lines import explain_bytes, remedy_of_foreign, warn_of_cut_line
from mediaeval_ap.tables.values import LARGEST_INTEGER, expected_number

if TYPE_CHECKING:
    import pyarrow

MAX_FIELD_LENGTH = 2**31 - 1  # fits a C long on every platform
_FIELD_LIMIT_LOCK = Lock()  # the `csv` module has one limit for all threads


def read_csv_rows(content: bytes, layouts: Sequence[Layout], source: str, delimiter: str) -> Table:
    """Read CSV whose columns include the fields of one of the layouts."""
    record_layouts = [
        RecordLayout(layout.texts, numbers=tuple(filter(None, [layout.number])))
        for layout in layouts
    ]
    chosen, columns, lines = parse_csv(content, record_layouts, source, delimiter)
    layout = layouts[record_layouts.index(chosen)]
    values = {field: columns[field].to_pylist() for field in layout.fields}
    if layout.number is not None:
        values[layout.number] = parse_numbers(values[layout.number], layout, source, lines)
        ends_in_number = header_of(first_line(content), delimiter)[-1] == layout.number
        if ends_in_number and not (layout.integers or content.endswith(b'\n')):
            warn_of_cut_line(source, lines[len(columns) - 1], layout)
    return from_numbered_rows(list(zip(*values.values(), strict=True)), lines, layout, source)


def parse_csv(
    content: bytes, layouts: Sequence[RecordLayout], source: str, delimiter: str = ','
) -> tuple[RecordLayout, pyarrow.Table, LineNumbers]:
    """Read CSV by the first layout that fits its columns: texts and numbers, and their lines."""
    content = content.removeprefix(BYTE_ORDER_MARK)
    text = with_lf(content)
    if not holds_text(text):
        faults = Faults('line')
        faults.add_all(map(explain_bytes, text.split(b'\n')))
        faults.refuse(source)
    begin = first_line(text).decode().rstrip('\n')
    if remedy := remedy_of_foreign(begin):
        raise FormatError(source, 'line 1', '', shown(begin), expected='CSV', remedy=remedy)
    records = _csv_records(content, delimiter)
    with _fields_of_any_length():
        line, header = next(records, (1, []))
    place = f'line {line}'
    if isinstance(header, Fault):
        raise header.error(source, place)
    has_header = layouts[0].has_header
    if not header:
        first = 'a header' if has_header else 'rows'
        names = expected_columns(layouts)
        raise FormatError(source, '', '', 'nothing', expected=f'{first}: {names}')
    if not has_header:
        records = chain([(line, header)], records)
        header = [column_at(position) for position, _ in enumerate(header, 1)]
    header = [name.strip(BETWEEN_WORDS) for name in header]
    if len(header) == 1 and ('\t' in header[0] or ';' in header[0]):
        expected = 'commas between columns, or tabs if the name of the file ends in .tsv'
        raise FormatError(source, place, '', f'one column {shown(header[0])}', expected=expected)
    layout = choose_layout(header, layouts, source, place)
    if b'"' not in content and line == 1:
        columns = _prove_csv(content, header, layout, delimiter)
        if columns is not None:
            return layout, columns, LineNumbers('line', first=1 + has_header)
    with _fields_of_any_length():
        return layout, *_read_or_explain(records, header, layout, source)


def _prove_csv(
    content: bytes, header: Sequence[str], layout: RecordLayout, delimiter: str
) -> pyarrow.Table | None:
    """Read CSV without quotes as a whole; None if a record is wrong or in doubt."""
    import pyarrow

    types = dict.fromkeys(layout.columns(header), pyarrow.float64())
    for name in layout.by_role.values():  # numbers that may be missing are read as text first
        types[name] = pyarrow.large_string()
    n_header_lines = int(layout.has_header)
    stream = pyarrow.BufferReader(content)
    table = read_csv(stream, header, types, delimiter=delimiter, skip_rows=n_header_lines)
    n_lines = content.count(b'\n') + (not content.endswith(b'\n'))
    if table is None or not len(table) or len(table) != n_lines - n_header_lines:
        return None
    for name in types.keys() - layout.by_role.values():
        # Infinity and NaN are wrong, and larger integers may be inexact.
        if not (np.abs(table[name]) < LARGEST_INTEGER).all():
            return None
    return table


def _read_or_explain(
    records: Iterator[tuple[int, list[str] | Fault]],
    header: Sequence[str],
    layout: RecordLayout,
    source: str,
) -> tuple[pyarrow.Table, LineNumbers]:
    """Read CSV record by record; raise the first fault, with the count of the others."""
    import pyarrow

    names = layout.columns(header)
    positions = [header.index(name) for name in names]
    rows = []
    lines = []
    faults = Faults('line')
    for line, record in records:
        if isinstance(record, Fault):
            faults.add(line, record)
        elif (fault := _explain_record(record, header, layout)) is not None:
            faults.add(line, fault)
        elif not faults.counts:
            lines.append(line)
            rows.append([record[position] for position in positions])
    faults.refuse(source)
    if not rows:
        raise no_rows(source, layout)
    columns = {}
    for name, values in zip(names, zip(*rows, strict=True), strict=True):
        columns[name] = pyarrow.array(values, pyarrow.large_string())
        if name not in layout.by_role.values():
            columns[name] = pyarrow.array(map(float, values), pyarrow.float64())
    return pyarrow.table(columns), LineNumbers('line', np.array(lines))


def _explain_record(record: list[str], header: Sequence[str], layout: RecordLayout) -> Fault | None:
    if len(record) != len(header):
        text = ','.join(record)
        fields = fields_in_words(len(record))
        model = 'the header' if layout.has_header else 'the first line'
        expected = f'{len(header)} fields as in {model}'
        return Fault('', f'{fields} in {shown(text)}', expected, remedy_of_foreign(text))
    if layout.other_numbers:
        for name, value in zip(header, record, strict=True):
            if name not in layout.texts and (number := expected_number(value)):
                return Fault(name, shown(value), number)
    return None


def _csv_records(content: bytes, delimiter: str) -> Iterator[tuple[int, list[str] | Fault]]:
    """Yield the first line and the fields (or the fault) of each record that is not blank."""
    import csv

    text = io.TextIOWrapper(io.BytesIO(content), 'utf-8', newline='')
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    line = 0
    try:
        for record in reader:
            if record:
                yield line + 1, record
            line = reader.line_num
    except csv.Error as error:
        yield line + 1, Fault('', str(error), 'CSV')


@contextmanager
def _fields_of_any_length() -> Iterator[None]:
    """Lift the limit of the `csv` module on the length of a field."""
    import csv

    with _FIELD_LIMIT_LOCK:
        limit = csv.field_size_limit(MAX_FIELD_LENGTH)
        try:
            yield
        finally:
            csv.field_size_limit(limit)
