"""Read records (CSV, TSV, Parquet, tables in memory) into columns, with the line of each row.

CSV is RFC 4180 as Python's `csv` reads it when it is strict; a byte order mark and blank lines are
skipped, and spaces and tabs around numbers and names of columns are cut.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import BETWEEN_LABELS, BETWEEN_WORDS
from mediaeval_ap.errors import FormatError, ParameterError, ReadError, shortened, shown
from mediaeval_ap.tables import columnar
from mediaeval_ap.tables.faults import no_rows
from mediaeval_ap.tables.first_look import NPY, separator_by_suffix
from mediaeval_ap.tables.layouts import NA, RecordLayout, choose_layout
from mediaeval_ap.tables.reading import InputKind, TableInput
from mediaeval_ap.tables.rows import column_names
from mediaeval_ap.tables.sources import ByteSource, read_all
from mediaeval_ap.tables.table import (
    ROW_BY_ROW,
    Argument,
    ArrowTable,
    LineNumbers,
    NumberedRows,
    Provenance,
    RowNumbers,
    not_padded,
)
from mediaeval_ap.tables.text.csv_text import parse_csv
from mediaeval_ap.tables.text.line_rules import BYTE_ORDER_MARK
from mediaeval_ap.tables.values import FINITE_DECIMAL, PADDED, expected_number

if TYPE_CHECKING:
    import pandas
    import pyarrow

PADDED_LABEL = f'(?:^|[{BETWEEN_WORDS},\r\n]){PADDED}(?:$|[{BETWEEN_WORDS},\r\n])'
FORBIDDEN_IN_LINES = f'\0|\r(?:[^\n]|$)|{BYTE_ORDER_MARK.decode()}'


@dataclass(frozen=True)
class Records(NumberedRows):
    """The rows of a file with a header, each column in one chunk."""

    layout: RecordLayout
    columns: pyarrow.Table  # of large strings, lists of them, and doubles; empty cells: '' and NaN
    source: Provenance
    lines: LineNumbers = ROW_BY_ROW
    integers: frozenset[str] = frozenset()  # the text columns that were integers in a table
    has_ids: bool = True  # False for an array, whose rows and columns are numbered

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, role: str) -> pyarrow.Array:
        (column,) = self.columns[self.layout.by_role[role]].chunks
        return column

    @property
    def classes(self) -> list[str]:
        """The names of the columns of numbers."""
        return [name for name in self.columns.column_names if name not in self.layout.texts]

    def error(self, rows: RowNumbers, field: str, found: str, expected: str) -> FormatError:
        """Make the error for rows that are wrong in the column with this role."""
        return super().error(rows, self.layout.by_role[field], found, expected)

    def notes(self, name: str) -> list[str]:
        """Return a note if the ids are in a saved index; the note calls the records `name`."""
        if not self.layout.from_saved_index:
            return []
        return [f'the ids of {name} are its saved index, a column without a name']

    def refuse_empty(self, role: str) -> None:
        self._refuse('^$', role, 'text')

    def refuse_several(self, role: str) -> None:
        """Raise FormatError if a cell holds several labels, separated by white space."""
        expected = 'one label, without white space'
        if columnar.is_list(self[role]):
            raise self.source.error('lists', expected, field=self.layout.by_role[role])
        self._refuse(BETWEEN_LABELS, role, expected)

    def refuse_padded_as_in(self, other: Records) -> None:
        """Raise FormatError for ids or labels like 007 if they are integers in the other file."""
        other_columns = other.layout.by_role.items()
        integer_roles = {_singular(role) for role, name in other_columns if name in other.integers}
        for role, name in self.layout.by_role.items():
            if name not in self.integers and _singular(role) in integer_roles:
                self._refuse(PADDED_LABEL, role, not_padded(other.source))

    def _refuse(self, pattern: str, role: str, expected: str) -> None:
        texts = self[role]
        rows = np.arange(len(self))
        if columnar.is_list(texts):
            texts, rows = texts.flatten(), np.repeat(rows, np.diff(texts.offsets))
        if len(wrong := _matching_rows(texts, pattern)):
            text = texts[wrong[0]].as_py()
            actual = (text and shown(text)) or 'nothing'
            raise self.error(np.unique(rows[wrong]), role, actual, expected)


def _singular(role: str) -> str:
    return role.removesuffix('s')  # 'label' and 'labels' hold the same kind of value


def _matching_rows(texts: pyarrow.Array, pattern: str) -> NDArray[np.int64]:
    from pyarrow import compute

    is_match = compute.match_substring_regex(texts, pattern)
    return np.flatnonzero(is_match.to_numpy(zero_copy_only=False))


def read_records(
    origin: Argument,
    layouts: Sequence[RecordLayout],
    *,
    allow_arrays: bool = False,  # also in .npy files; an array has the last layout
    like: Records | None = None,  # has the ids and columns of an array, which else are numbers
) -> Records:
    """Read CSV, TSV, Parquet, a table or `Records`, by the first layout that fits its columns."""
    columns = {name for layout in layouts for name in layout.by_role.values()}
    columns |= {name for layout in layouts for _, name in layout.optional}
    table_input = TableInput.of(origin).with_columns(columns)
    is_table = table_input.kind in (InputKind.COLUMNAR, InputKind.FRAME)
    if is_table and not layouts[0].has_header:
        positions = f'positions ({layouts[0].expected}) in a table'
        raise ParameterError(f'found {positions}, expected the names of its columns', 'columns')
    value = content = table_input.value
    source = Provenance(table_input.name)
    if table_input.kind is InputKind.TEXT:
        content = read_file(value, allow_arrays)
        source = value.provenance()
    if allow_arrays and isinstance(content, np.ndarray):
        return _from_array(content, layouts[-1], source, like)
    if like is not None and not like.has_ids:
        raise source.error('no array', f'an array or a .npy file, as {like.source.name} has no ids')
    match table_input.kind:
        case InputKind.TEXT if isinstance(content, bytes):
            return from_csv(content, layouts, source)
        case InputKind.COLUMNAR:
            return _from_columnar(value, layouts, source.name)
        case InputKind.FRAME:
            return _from_frame(value, layouts, source)
        case InputKind.TABLE if isinstance(value, Records):
            if value.layout in layouts:
                return value
            raise ParameterError(f'records: found {value.layout.expected}, expected another file')
    names_by_layout = (list(layout.by_role.values()) for layout in layouts)
    names = min(names_by_layout, key=lambda names: abs(len(names) - 2))  # an id and its value
    raise table_input.error('a path, an open file or a table', names)


def read_file(source: ByteSource, allow_array: bool) -> bytes | NDArray[Any]:
    """Read all of a file: its bytes, or with `allow_array` the array of a .npy file."""
    with source.open() as stream:
        if not (allow_array and stream.peek(len(NPY)).startswith(NPY)):
            return read_all(stream, source.name)
        try:
            array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
            if stream.read(1):
                raise ValueError('more bytes after the array')
        except (OSError, MemoryError):
            raise
        except Exception as error:  # numpy evaluates the header: a damaged one may raise any error
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise ReadError(source.name, f'not readable as .npy of numbers: {reason}') from None
        return array


def _from_array(
    array: NDArray[Any], layout: RecordLayout, source: Provenance, like: Records | None
) -> Records:
    """Read an array with the ids and classes of `like`, else with numbers; errors count from 0."""
    import pyarrow

    dtype = array.dtype
    are_labels = bool(layout.classes)
    is_number = dtype.kind in 'iuf' or (are_labels and dtype.kind == 'b')
    actual = f'{array.ndim} dimensions of {shortened(str(dtype))}'
    if isinstance(array, np.ma.MaskedArray):
        raise source.error(f'{actual} with a mask', '2 of numbers')
    if array.ndim != 2 or not is_number or dtype.itemsize > 8:
        raise source.error(actual, '2 of numbers')
    ids, classes = ([*map(str, range(size))] for size in array.shape)
    if like is not None:
        ids, classes = like['id'], like.classes
        if (shape := (len(ids), len(classes))) != array.shape:
            raise source.error(f'shape {array.shape}', f'{shape} as {like.source.name} has')
    columns = {layout.by_role['id']: pyarrow.array(ids, pyarrow.large_string())}
    for index, name in enumerate(classes):  # four times as fast as to copy the transposed array
        column = np.ascontiguousarray(np.asarray(array)[:, index], dtype.newbyteorder('='))
        is_wrong = ~np.isfinite(column)
        expected = FINITE_DECIMAL
        if are_labels:
            is_wrong = (column != 0) & (column != 1)
            expected = '0 or 1'
        if is_wrong.any():
            row = int(is_wrong.argmax())
            place = f'row {row}'
            raise source.error(f'{column[row]:g}', expected, place=place, field=f'column {index}')
        columns[name] = pyarrow.array(column)
    layout = choose_layout([*columns], [layout], source.name)
    records = from_table(pyarrow.table(columns), layout, source)
    return replace(records, has_ids=like is not None and like.has_ids)


def from_csv(
    content: bytes, layouts: Sequence[RecordLayout], source: Provenance, delimiter: str = ''
) -> Records:
    """Read CSV; by default, the suffix of the file tells if tabs separate the columns."""
    import pyarrow

    delimiter = delimiter or separator_by_suffix(source.name)
    layout, columns, lines = parse_csv(content, layouts, source.name, delimiter)
    records = Records(layout, columns.combine_chunks(), source, lines)
    for role, name in layout.by_role.items():
        if name in layout.numbers:
            position = columns.column_names.index(name)
            numbers = _optional_numbers(records, role)
            columns = columns.set_column(position, name, pyarrow.array(numbers))
    return replace(records, columns=columns.combine_chunks())


def _optional_numbers(records: Records, role: str) -> NDArray[np.float64]:
    """Parse a column of texts as numbers, NaN for empty cells; raise if a text is not a number."""
    import pyarrow

    texts = records[role]
    filled_rows = _matching_rows(texts, f'[^{BETWEEN_WORDS}]')
    if records.layout.allow_na:
        filled_rows = np.setdiff1d(filled_rows, _matching_rows(texts, NA))
    numbers = np.full(len(texts), np.nan)
    numbers[filled_rows] = columnar.parse_decimals(texts.take(pyarrow.array(filled_rows)))
    if len(wrong := filled_rows[~np.isfinite(numbers[filled_rows])]):
        text = texts[wrong[0]].as_py()
        expected = expected_number(text) or FINITE_DECIMAL
        raise records.error(wrong, role, shown(text), expected)
    return numbers


def _from_columnar(
    value: ByteSource | ArrowTable, layouts: Sequence[RecordLayout], name: str
) -> Records:
    chosen: list[RecordLayout] = []

    def choose(names: list[str]) -> Sequence[str]:
        chosen.append(choose_layout(names, layouts, name))
        return chosen[0].columns(names)

    table, source = columnar.read_columns(value, choose, name)
    return from_table(table, chosen[0], source)


def _from_frame(
    frame: pandas.DataFrame, layouts: Sequence[RecordLayout], source: Provenance
) -> Records:
    import pyarrow

    names = column_names(frame)
    ids = layouts[0].texts[:1]
    advice = columnar.index_remedy(frame, [name for name in ids if name not in names])
    frame = frame.set_axis(names, axis=1)
    columns = {}
    layout = choose_layout(names, layouts, source.name, advice=advice)
    for column in layout.columns(names):
        cells = frame[column]
        if layout.allow_na and column in layout.numbers and cells.dtype == object:
            cells = cells.mask(cells.astype(str).str.match(NA))
        try:
            columns[column] = columnar.array_of_values(cells)
        except ValueError as error:
            raise source.error(str(error), 'one kind of value', field=column) from None
        if columnar.is_list(columns[column]) and any(issubclass(type(cell), Set) for cell in cells):
            raise source.error('a set', 'an ordered list of labels', field=column)
    return from_table(pyarrow.table(columns), layout, source)


def from_table(table: pyarrow.Table, layout: RecordLayout, source: Provenance) -> Records:
    """Read the columns of an Arrow table that has been found to fit a layout."""
    import pyarrow

    if not len(table):
        raise no_rows(source.name, layout)
    columns = {}
    for name in layout.columns(table.column_names):
        column = table[name]
        if name not in layout.texts:
            allow_missing = name in layout.numbers
            allowed = {'allow_missing': allow_missing, 'allow_boolean': bool(layout.classes)}
            columns[name] = pyarrow.array(columnar.number_array(column, name, source, **allowed))
            continue
        if name == layout.by_role.get('labels') and columnar.is_list(column):
            columns[name] = columnar.list_array(column, name, source)
            continue
        if layout.lists_remedy and name != layout.texts[0] and columnar.is_list(column):
            raise source.error('lists', f'one label{layout.lists_remedy}', field=name)
        columns[name] = columnar.text_array(column, name, source).fill_null('')
        (texts,) = columns[name].chunks
        if columnar.holds_any(texts, f'\0\r{BYTE_ORDER_MARK.decode()}') and len(
            wrong := _matching_rows(texts, FORBIDDEN_IN_LINES)
        ):
            text = shown(texts[wrong[0]].as_py())
            expected = 'text without NUL and U+FEFF, and with CR only before LF'
            raise source.error(text, expected, field=name, rows=wrong)
    integers = frozenset(name for name in columns if columnar.holds_integers(table[name]))
    return Records(layout, pyarrow.table(columns).combine_chunks(), source, integers=integers)
