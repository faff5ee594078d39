"""Files of records, as CSV or Parquet, and tables: to columns that know where rows stand."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os.path import splitext
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.atomic_files import COMPRESSED_SUFFIXES
from mediaeval_ap.errors import FormatError, ParameterError, shown
from mediaeval_ap.plain_text import BETWEEN_LABELS, BETWEEN_WORDS
from mediaeval_ap.tables.columnar import (
    holds_any,
    number_array,
    read_parquet,
    text_array,
    to_arrow,
)
from mediaeval_ap.tables.csv_text import choose_layout, decimals, explain_number, parse_csv
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.reading import Origin, OriginKind
from mediaeval_ap.tables.rows import column_names
from mediaeval_ap.tables.sources import ByteSource
from mediaeval_ap.tables.table import ROW_BY_ROW, LineNumbers, NumberedRows, Source
from mediaeval_ap.tables.text.format import FINITE_DECIMAL, no_rows

if TYPE_CHECKING:
    import pandas
    import pyarrow

COPIED_BYTES = 1 << 20  # a choice: a copy takes little of the time of reading
IN_NO_LINE = '\0|\r(?:[^\n]|$)'


@dataclass(frozen=True)
class Records(NumberedRows):
    """Rows of a file with a header, as columns in one chunk.

    Texts are large strings, in which nothing is empty text; numbers are doubles, and NaN where
    nothing may stand.
    """

    layout: RecordLayout
    columns: pyarrow.Table
    source: Source
    lines: LineNumbers = ROW_BY_ROW

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, role: str) -> pyarrow.Array:
        (column,) = self.columns[self.layout.by_role[role]].chunks
        return column

    def error(
        self, rows: Sequence[int] | NDArray[np.integer], field: str, found: str, expected: str
    ) -> FormatError:
        """Make the error of rows that are wrong in the column of a role."""
        return super().error(rows, self.layout.by_role[field], found, expected)

    def refuse_empty(self, role: str) -> None:
        """Refuse rows that have nothing in a column of text."""
        from pyarrow import compute

        empty = np.flatnonzero(compute.equal(self[role], '').to_numpy(zero_copy_only=False))
        if len(empty):
            raise self.error(empty, role, 'nothing', 'text')

    def refuse_several(self, role: str) -> None:
        """Refuse rows with white space, which separates labels, where one label is allowed."""
        from pyarrow import compute

        spaced = compute.match_substring_regex(self[role], BETWEEN_LABELS)
        several = np.flatnonzero(spaced.to_numpy(zero_copy_only=False))
        if len(several):
            found = shown(self[role][several[0]].as_py())
            raise self.error(several, role, found, 'one label, without white space')


def read_records(origin: Any, layouts: Sequence[RecordLayout]) -> Records:
    """Read a file of records, by the first of some layouts that fits its columns.

    The origin is a path to CSV, TSV (perhaps compressed) or Parquet, ``-`` for CSV on standard
    input, an open CSV file, a table with the columns under their names (of pandas, polars, pyarrow
    or any library with the Arrow stream interface), `Records`, or an `Origin`.
    """
    given = Origin.of(origin)
    if (
        given.kind in (OriginKind.PARQUET, OriginKind.FRAME, OriginKind.ARROW)
        and not layouts[0].has_header
    ):
        found = f'positions ({layouts[0].expected}) in a table'
        raise ParameterError(f'columns: found {found}, expected the names that its columns have')
    match given.kind:
        case OriginKind.TEXT:
            return _from_csv(given.value, layouts)
        case OriginKind.PARQUET:
            name = given.value.name
            table, described = read_parquet(
                given.value, lambda schema: _chosen(schema.names, layouts, name)
            )
            return _from_table(table, layouts, described)
        case OriginKind.FRAME:
            return _from_frame(given.value, layouts)
        case OriginKind.ARROW:
            source = Source(f'<{type(given.value).__name__}>')
            return _from_table(to_arrow(given.value), layouts, source)
        case OriginKind.TABLE if isinstance(given.value, Records):
            if given.value.layout not in layouts:
                found = given.value.layout.expected
                raise ParameterError(f'records: found {found}, expected another file')
            return given.value
    raise given.error('a path, an open file or a table')


def _from_csv(source: ByteSource, layouts: Sequence[RecordLayout]) -> Records:
    import pyarrow

    content = io.BytesIO()
    with source.open() as stream:
        copyfileobj(stream, content, COPIED_BYTES)
    delimiter = _delimiter(source.name)
    layout, columns, lines = parse_csv(content.getvalue(), layouts, source.name, delimiter)
    records = Records(layout, columns.combine_chunks(), source.described(), lines)
    for role, name in layout.by_role.items():
        if name in layout.numbers:
            place, numbers = columns.column_names.index(name), _optional_numbers(records, role)
            columns = columns.set_column(place, name, pyarrow.array(numbers))
    return replace(records, columns=columns.combine_chunks())


def _delimiter(name: str) -> str:
    """Return what separates the fields of a file, by its suffix before one of compression."""
    stem, suffix = splitext(name.lower())
    if suffix in COMPRESSED_SUFFIXES:
        suffix = splitext(stem)[1]
    return '\t' if suffix == '.tsv' else ','


def _optional_numbers(records: Records, role: str) -> NDArray[np.float64]:
    """Return texts as numbers, NaN for nothing; or refuse texts that are no numbers."""
    import pyarrow
    from pyarrow import compute

    texts = records[role]
    is_given = compute.not_equal(compute.ascii_trim(texts, BETWEEN_WORDS), '')
    given = np.flatnonzero(is_given.to_numpy(zero_copy_only=False))
    numbers = np.full(len(texts), np.nan)
    numbers[given] = decimals(texts.take(pyarrow.array(given)))
    if len(wrong := given[~np.isfinite(numbers[given])]):
        text = texts[wrong[0]].as_py()
        expected = explain_number(text.strip(BETWEEN_WORDS).encode())
        raise records.error(wrong, role, shown(text), expected or FINITE_DECIMAL)
    return numbers


def _chosen(names: Sequence[str], layouts: Sequence[RecordLayout], source: str) -> Sequence[str]:
    """Return the columns to read of those that are there."""
    return choose_layout(names, layouts, source, '').columns(names)


def _from_frame(frame: pandas.DataFrame, layouts: Sequence[RecordLayout]) -> Records:
    import pyarrow

    source = Source('<DataFrame>')
    frame = frame.set_axis(column_names(frame), axis=1)
    columns = {}
    for name in _chosen(list(frame.columns), layouts, source.name):
        try:
            columns[name] = pyarrow.array(frame[name], from_pandas=True)
        except MemoryError:
            raise
        except (pyarrow.ArrowException, UnicodeError) as error:
            reason = str(error).splitlines()[0]
            raise FormatError(source.name, '', name, reason, 'one kind of value') from None
    return _from_table(pyarrow.table(columns), layouts, source)


def _from_table(table: pyarrow.Table, layouts: Sequence[RecordLayout], source: Source) -> Records:
    import pyarrow

    layout = choose_layout(table.column_names, layouts, source.name, '')
    if not len(table):
        raise no_rows(source.name, layout)
    columns = {}
    for name in layout.columns(table.column_names):
        if name in layout.texts:
            columns[name] = text_array(table[name], name, source).fill_null('')
            _refuse_what_no_line_holds(columns[name], name, source)
        else:
            may_lack = name in layout.numbers
            numbers = number_array(table[name], name, source, may_lack=may_lack)
            columns[name] = pyarrow.array(numbers)
    return Records(layout, pyarrow.table(columns).combine_chunks(), source)


def _refuse_what_no_line_holds(column: Any, name: str, source: Source) -> None:
    """Refuse text that CSV would refuse: a NUL, and a carriage return that ends no line."""
    from pyarrow import compute

    (texts,) = column.chunks
    if holds_any(texts, '\0\r'):
        found = compute.match_substring_regex(texts, IN_NO_LINE).to_numpy(zero_copy_only=False)
        if len(wrong := np.flatnonzero(found)):
            row = int(wrong[0])
            value = shown(texts[row].as_py())
            expected = 'text without NUL, and without CR but in CR LF'
            raise FormatError(source.name, f'row {row + 1}', name, value, expected, len(wrong) - 1)
