"""Files of records, as CSV or Parquet, and tables: to columns that know where rows stand.

CSV is RFC 4180 as Python's `csv` reads it when it is strict: UTF-8, commas (or tabs), fields in
double quotes where they hold a comma (or a tab), a quote or a line end. Lines end with LF or CR LF;
a byte order mark is passed over; blank lines hold nothing. A number is a finite decimal, with or
without spaces or tabs around it. As with lines, the fast path proves and the slow path explains:
text without quotes goes through pyarrow's reader, and what that cannot prove right is read again,
record by record.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from os.path import splitext
from shutil import copyfileobj
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.atomic_files import COMPRESSED_SUFFIXES
from mediaeval_ap.choices import BETWEEN_LABELS, BETWEEN_WORDS
from mediaeval_ap.errors import FormatError, ParameterError, shown
from mediaeval_ap.tables.columnar import (
    holds_any,
    holds_integers,
    is_list,
    list_array,
    number_array,
    read_columns,
    text_array,
)
from mediaeval_ap.tables.layouts import RecordLayout, column_at
from mediaeval_ap.tables.reading import InputKind, TableInput
from mediaeval_ap.tables.rows import column_names
from mediaeval_ap.tables.sources import ByteSource
from mediaeval_ap.tables.table import (
    PADDED,
    ROW_BY_ROW,
    LineNumbers,
    NumberedRows,
    Provenance,
    not_padded,
)
from mediaeval_ap.tables.text.arrow_reader import read_csv
from mediaeval_ap.tables.text.line_rules import (
    BYTE_ORDER_MARK,
    EXACT_NUMBER,
    FINITE_DECIMAL,
    LARGEST_INTEGER,
    Fault,
    Faults,
    explain_bytes,
    is_finite_decimal,
    is_utf8,
    no_rows,
)

if TYPE_CHECKING:
    import pandas
    import pyarrow

COPIED_BYTES = 1 << 20  # a copy takes little of the time of reading
PADDED_LABEL = f'(?:^|[{BETWEEN_WORDS},\r\n]){PADDED}(?:$|[{BETWEEN_WORDS},\r\n])'
IN_NO_LINE = '\0|\r(?:[^\n]|$)'
LARGEST_FIELD = 2**31 - 1  # what a C long holds everywhere
_LIMIT = Lock()  # the limit of the `csv` module is one for all threads


@dataclass(frozen=True)
class Records(NumberedRows):
    """Rows of a file with a header, as columns in one chunk.

    Texts are large strings (empty for nothing), or in a column of labels lists of them; numbers are
    doubles, NaN for nothing. `integers` are the columns of text that were integers in a frame.
    """

    layout: RecordLayout
    columns: pyarrow.Table
    source: Provenance
    lines: LineNumbers = ROW_BY_ROW
    integers: frozenset[str] = frozenset()

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

    def notes(self, called: str) -> list[str]:
        """Return the note that a saved index holds the ids, if it does."""
        index = f'the ids of {called} are its saved index, a column without a name'
        return [index] * self.layout.from_saved_index

    def refuse_empty(self, role: str) -> None:
        """Refuse rows that have nothing in a column of text."""
        self._refuse('^$', role, 'text')

    def refuse_several(self, role: str) -> None:
        """Refuse rows with white space, which separates labels, where one label is allowed."""
        expected = 'one label, without white space'
        if is_list(self[role]):
            raise FormatError(self.source.name, '', self.layout.by_role[role], 'lists', expected)
        self._refuse(BETWEEN_LABELS, role, expected)

    def refuse_padded_as_in(self, other: Records) -> None:
        """Refuse ids and labels such as 007 where the other file has integers."""
        its = other.layout.by_role.items()
        integers = {_kind(role) for role, name in its if name in other.integers}
        for role, name in self.layout.by_role.items():
            if name not in self.integers and _kind(role) in integers:
                self._refuse(PADDED_LABEL, role, not_padded(other.source))

    def _refuse(self, pattern: str, role: str, expected: str) -> None:
        texts = self[role]
        rows = np.arange(len(self))
        if is_list(texts):
            texts, rows = texts.flatten(), np.repeat(rows, np.diff(texts.offsets))
        if len(wrong := _matching(texts, pattern)):
            found = texts[wrong[0]].as_py()
            found = shown(found) if found else 'nothing'
            raise self.error(np.unique(rows[wrong]), role, found, expected)


def _kind(role: str) -> str:
    return role.removesuffix('s')  # one label or several


def _matching(texts: pyarrow.Array, pattern: str) -> NDArray[np.int64]:
    """Return the rows whose text holds what a regular expression matches."""
    from pyarrow import compute

    found = compute.match_substring_regex(texts, pattern)
    return np.flatnonzero(found.to_numpy(zero_copy_only=False))


def read_records(origin: Any, layouts: Sequence[RecordLayout]) -> Records:
    """Read CSV, TSV, Parquet, a table or `Records`, by the first layout that fits its columns."""
    given = TableInput.of(origin)
    if given.kind in (InputKind.COLUMNAR, InputKind.FRAME) and not layouts[0].has_header:
        found = f'positions ({layouts[0].expected}) in a table'
        raise ParameterError(f'columns: found {found}, expected the names that its columns have')
    match given.kind:
        case InputKind.TEXT:
            return _from_csv(given.value, layouts)
        case InputKind.COLUMNAR:
            columns, source = read_columns(
                given.value, lambda schema: _chosen(schema.names, layouts, given.name)
            )
            return from_table(columns, layouts, source)
        case InputKind.FRAME:
            return _from_frame(given.value, layouts)
        case InputKind.TABLE if isinstance(given.value, Records):
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
    stem, suffix = splitext(source.name.lower())
    if suffix in COMPRESSED_SUFFIXES:
        suffix = splitext(stem)[1]
    delimiter = '\t' if suffix == '.tsv' else ','
    layout, columns, lines = parse_csv(content.getvalue(), layouts, source.name, delimiter)
    records = Records(layout, columns.combine_chunks(), source.provenance(), lines)
    for role, name in layout.by_role.items():
        if name in layout.numbers:
            at = columns.column_names.index(name)
            numbers = _optional_numbers(records, role)
            columns = columns.set_column(at, name, pyarrow.array(numbers))
    return replace(records, columns=columns.combine_chunks())


def _optional_numbers(records: Records, role: str) -> NDArray[np.float64]:
    """Return texts as numbers, NaN for nothing; or refuse texts that are no numbers."""
    import pyarrow

    texts = records[role]
    given = _matching(texts, f'[^{BETWEEN_WORDS}]')
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

    source = Provenance('<DataFrame>')
    frame = frame.set_axis(column_names(frame), axis=1)
    columns = {}
    for name in _chosen(list(frame.columns), layouts, source.name):
        try:
            columns[name] = pyarrow.array(frame[name], from_pandas=True)
            if is_list(columns[name]) and any(issubclass(type(each), Set) for each in frame[name]):
                raise FormatError(source.name, '', name, 'a set', 'labels in an order, as a list')
        except MemoryError:
            raise
        except (pyarrow.ArrowException, OverflowError, UnicodeError) as error:
            reason = str(error).splitlines()[0]
            raise FormatError(source.name, '', name, reason, 'one kind of value') from None
    return from_table(pyarrow.table(columns), layouts, source)


def from_table(
    table: pyarrow.Table, layouts: Sequence[RecordLayout], source: Provenance
) -> Records:
    """Return the records of a table of Arrow, by the first layout that fits its columns."""
    import pyarrow

    layout = choose_layout(table.column_names, layouts, source.name, '')
    if not len(table):
        raise no_rows(source.name, layout)
    columns = {}
    for name in layout.columns(table.column_names):
        if name not in layout.texts:
            column = table[name]
            allow_missing = name in layout.numbers
            if layout.classes and column.type == pyarrow.bool_():
                column = column.cast(pyarrow.int8())
            columns[name] = pyarrow.array(
                number_array(column, name, source, allow_missing=allow_missing)
            )
            continue
        if name == layout.by_role.get('labels') and is_list(table[name]):
            columns[name] = list_array(table[name], name, source)
            continue
        columns[name] = text_array(table[name], name, source).fill_null('')
        (texts,) = columns[name].chunks
        if holds_any(texts, '\0\r') and len(wrong := _matching(texts, IN_NO_LINE)):
            row = int(wrong[0]) + 1
            value = shown(texts[wrong[0]].as_py())
            expected = 'text without NUL, and without CR but in CR LF'
            raise FormatError(source.name, f'row {row}', name, value, expected, len(wrong) - 1)
    integers = frozenset(name for name in columns if holds_integers(table[name]))
    return Records(layout, pyarrow.table(columns).combine_chunks(), source, integers=integers)


def parse_csv(
    content: bytes, layouts: Sequence[RecordLayout], source: str, delimiter: str = ','
) -> tuple[RecordLayout, pyarrow.Table, LineNumbers]:
    """Read CSV by the first layout that fits its columns: texts as large strings, and doubles."""
    content = content.removeprefix(BYTE_ORDER_MARK)
    are_ends = content.count(b'\r') == content.count(b'\r\n')
    if not are_ends or b'\0' in content or not is_utf8(content):
        faults = Faults('line')
        faults.add_all(map(explain_bytes, content.replace(b'\r\n', b'\n').split(b'\n')))
        faults.refuse(source)
    records = _records(content, delimiter)
    with _fields_of_any_size():
        line, header = next(records, (1, []))
    if isinstance(header, Fault):
        raise header.error(source, f'line {line}')
    has_header = layouts[0].has_header
    if not header:
        what = 'a header' if has_header else 'rows'
        raise FormatError(source, '', '', 'nothing', f'{what}: {_expected(layouts)}')
    if not has_header:
        records = chain([(line, header)], records)
        header = [column_at(position) for position, _ in enumerate(header, 1)]
    if len(header) == 1 and ('\t' in header[0] or ';' in header[0]):
        expected = 'commas between columns, or tabs if the name of the file ends in .tsv'
        raise FormatError(source, f'line {line}', '', f'one column {shown(header[0])}', expected)
    layout = choose_layout(header, layouts, source, f'line {line}')
    if b'"' not in content and line == 1:
        columns = _proved(content, header, layout, delimiter)
        if columns is not None:
            return layout, columns, LineNumbers('line', first=1 + has_header)
    with _fields_of_any_size():
        return layout, *_explained(records, header, layout, source)


def choose_layout(
    header: Sequence[str], layouts: Sequence[RecordLayout], source: str, where: str
) -> RecordLayout:
    """Return the first layout that fits the columns of a file."""
    problems = []
    for layout in layouts:
        if (problem := layout.explain(header)) is None:
            return layout.for_header(header)
        if (indexed_layout := layout.for_saved_index(header)) is not None:
            return indexed_layout
        problems.append(problem)
    # A column that should not be there tells more than one that another layout has.
    found, expected = min(problems, key=lambda problem: problem[0].startswith('no '))
    if found.startswith('no '):
        expected = _expected(layouts)
        if layouts[0].missing(header):
            expected += layouts[0].remedy
    raise FormatError(source, where, '', f'{found} in {shown(",".join(header))}', expected)


def _expected(layouts: Sequence[RecordLayout]) -> str:
    return ' or '.join(dict.fromkeys(layout.expected for layout in layouts))


def _proved(
    content: bytes, header: Sequence[str], layout: RecordLayout, delimiter: str
) -> pyarrow.Table | None:
    """Return the columns of text without quotes if all of it is right, and None on any doubt."""
    import pyarrow

    text = pyarrow.large_string()
    number = pyarrow.float64()
    texts = layout.by_role.values()  # numbers where nothing may stand are read as text first
    types = {name: text if name in texts else number for name in layout.columns(header)}
    skipped = int(layout.has_header)
    stream = pyarrow.BufferReader(content)
    table = read_csv(stream, header, types, delimiter=delimiter, skip_rows=skipped)
    n_lines = content.count(b'\n') + (not content.endswith(b'\n'))
    if table is None or not len(table) or len(table) != n_lines - skipped:
        return None
    numbers = [table[name] for name, kind in types.items() if kind == number]
    # What is not finite is wrong, and a large integer may be.
    is_right = all((np.abs(each) < LARGEST_INTEGER).all() for each in numbers)
    return table if is_right else None


def _explained(
    records: Iterator[tuple[int, list[str] | Fault]],
    header: Sequence[str],
    layout: RecordLayout,
    source: str,
) -> tuple[pyarrow.Table, LineNumbers]:
    """Read any text record by record, and explain what is wrong with the first wrong one."""
    import pyarrow

    names = layout.columns(header)
    at = [header.index(name) for name in names]
    rows = []
    lines = []
    faults = Faults('line')
    for line, record in records:
        if isinstance(record, Fault):
            faults.add(line, record)
        elif (wrong := _explain(record, header, layout)) is not None:
            faults.add(line, wrong)
        elif not faults.counts:
            lines.append(line)
            rows.append([record[each] for each in at])
    faults.refuse(source)
    if not rows:
        raise no_rows(source, layout)
    arrays = [
        pyarrow.array(values, pyarrow.large_string())
        if name in layout.by_role.values()
        else pyarrow.array(list(map(float, values)), pyarrow.float64())
        for name, values in zip(names, zip(*rows, strict=True), strict=True)
    ]
    return pyarrow.table(arrays, list(names)), LineNumbers('line', np.array(lines))


def _explain(record: list[str], header: Sequence[str], layout: RecordLayout) -> Fault | None:
    if len(record) != len(header):
        plural = 's' if len(record) > 1 else ''
        found = f'{len(record)} field{plural} in {shown(",".join(record))}'
        as_before = 'the header' if layout.has_header else 'the first line'
        return Fault('', found, f'{len(header)} fields as in {as_before}')
    if layout.other_numbers:
        for name, value in zip(header, record, strict=True):
            if name in layout.texts:
                continue
            if expected := explain_number(value.strip(BETWEEN_WORDS).encode()):
                return Fault(name, shown(value), expected)
    return None


def explain_number(field: bytes) -> str | None:
    """Return what a field should hold if it is not a finite decimal that a double can stand for."""
    if not is_finite_decimal(field):
        return FINITE_DECIMAL
    # An integer has to be exact, as in tables; any other decimal stands for the nearest double.
    digits = field.lstrip(b'+-').lstrip(b'0')  # few enough, where the number is finite
    if digits.isdigit() and int(digits) != int(float(digits)):
        return EXACT_NUMBER
    return None


def decimals(texts: pyarrow.Array) -> NDArray[np.float64]:
    """Return texts as doubles; not finite where one is no number, or no double holds it."""
    import pyarrow

    try:
        numbers = np.array(texts.cast(pyarrow.float64()))
    except pyarrow.ArrowInvalid:  # of a text that is no number, or as the format takes, and it not
        fields = [text.strip(BETWEEN_WORDS).encode() for text in texts.to_pylist()]
        is_number = is_finite_decimal
        numbers = np.array([float(field) if is_number(field) else np.nan for field in fields])
    for row in np.flatnonzero(np.abs(numbers) >= LARGEST_INTEGER):
        if explain_number(texts[row].as_py().strip(BETWEEN_WORDS).encode()):
            numbers[row] = np.nan
    return numbers


def _records(content: bytes, delimiter: str) -> Iterator[tuple[int, list[str] | Fault]]:
    """Read the records that are not blank, or what is wrong with one, each with its first line."""
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
def _fields_of_any_size() -> Iterator[None]:
    """Lift the limit that the `csv` module sets to fields."""
    import csv

    with _LIMIT:
        limit = csv.field_size_limit(LARGEST_FIELD)
        try:
            yield
        finally:
            csv.field_size_limit(limit)
