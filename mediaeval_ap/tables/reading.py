"""Read tables from files, frames and rows: strictly, leniently, or line by line as they arrive."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain
from typing import Any, BinaryIO, TypeGuard

import numpy as np

from mediaeval_ap.choices import MAX_PROBLEMS
from mediaeval_ap.errors import ParameterError, ReadError, shown
from mediaeval_ap.tables import sources
from mediaeval_ap.tables.faults import Faults
from mediaeval_ap.tables.first_look import header_of
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.sources import ByteSource
from mediaeval_ap.tables.table import Argument, ArrowTable, Names, NumberedRows, Rows, Table
from mediaeval_ap.tables.text import line_rules
from mediaeval_ap.tables.text.reader import LenientTable, parse, parse_leniently
from mediaeval_ap.tables.text.wrong_lines import explain_endless_line

# For 4 MiB, pyarrow with its import takes as long as Python. For 8 MiB, it takes a quarter less
# time, but twice the memory (138 MiB instead of 69).
BULK_BYTES = 4 << 20
STORE_MANIFEST = 'manifest.json'  # a folder with this file is a store


class InputKind(Enum):
    TEXT = 'text'  # a path, standard input or an open file
    COLUMNAR = 'columnar'  # Parquet, or a table with an Arrow stream (polars, pyarrow)
    FRAME = 'pandas'
    ARRAY = 'array'  # a numpy array with two dimensions
    TABLE = 'table'  # a table of this package
    ROWS = 'rows'
    UNKNOWN = 'unknown'


@dataclass(frozen=True)
class TableInput:
    """An input and its kind; files are wrapped in `ByteSource`."""

    kind: InputKind
    value: Argument
    role: str = ''  # such as truth or reference, for messages

    @classmethod
    def of(cls, value: Argument, role: str = '') -> TableInput:
        """Detect the kind of an input; a `TableInput` keeps its role, if it has one."""
        if isinstance(value, TableInput):
            return replace(value, role=value.role or role)
        kind = _kind_of_input(value)
        if kind is InputKind.TEXT:
            value = ByteSource.of(path := value)
            if value.is_path and not isinstance(path, ByteSource) and is_store(path):
                raise ReadError(
                    value.name,
                    'is a store, expected a file: only a run to score may be a store '
                    '(mediaeval-ap index --export writes its rows)',
                )
            if value.format in sources.COLUMNAR_FORMATS:
                kind = InputKind.COLUMNAR
        return cls(kind, value, role)

    @property
    def name(self) -> str:
        if isinstance(self.value, ByteSource):
            return self.value.name
        return f'<{self.role or type(self.value).__name__}>'

    def error(self, expected: str, names: Sequence[str] = ()) -> ParameterError:
        """Make the error about an input that a reader cannot read; `names` are its columns."""
        value = self.value.name if isinstance(self.value, ByteSource) else self.value
        problem = f'found {shown(value)} ({type(self.value).__name__}), expected {expected}'
        role = self.role and f'{self.role}: '
        return ParameterError(f'{role}{problem}{remedy_of(self.value, names)}')

    def with_columns(self, names: Collection[str]) -> TableInput:
        """Make a frame of columns, of dictionaries, or of a frame with columns in its index."""
        value = self.value
        if isinstance(value, Mapping | list | tuple):
            return self._with_columns_of_values(names)
        if self.kind is InputKind.FRAME or is_series(value):
            columns = getattr(value, 'columns', ())
            levels = [name for name in value.index.names if name in names and name not in columns]
            if levels or value.index.nlevels > 1:
                return replace(self, kind=InputKind.FRAME, value=value.reset_index(level=levels))
        return self

    def _with_columns_of_values(self, names: Collection[str]) -> TableInput:
        """Make a frame of a dictionary of columns, or a list of dictionaries, if they are some."""
        value = self.value
        values = list(value.values()) if isinstance(value, Mapping) else value
        first = next(iter(values), None)
        is_path = isinstance(first, str | os.PathLike) and os.path.exists(first)
        if len(names) > 1 and (is_path or hasattr(first, 'columns')):
            raise self.error('one table: {name: evaluate(run) for name, run in runs.items()}')
        if isinstance(value, Mapping):
            is_table = any(name in value and not isinstance(value[name], Mapping) for name in names)
        else:
            is_table = bool(value) and all(
                isinstance(row, Mapping) and not row.keys().isdisjoint(names) for row in value
            )
        if not is_table:
            return self
        import pandas

        try:
            return replace(self, kind=InputKind.FRAME, value=pandas.DataFrame(value))
        except ValueError as error:  # columns of different lengths
            raise self.error(f'columns of one length ({error})') from None


def _kind_of_input(value: Argument) -> InputKind:
    """Return the kind of an input; `TEXT` for any file."""
    if isinstance(value, NumberedRows):
        return InputKind.TABLE
    # Frames come before open files, as a frame may have a column called "read".
    if isinstance(value, getattr(sys.modules.get('pandas'), 'DataFrame', ())):
        return InputKind.FRAME
    if is_arrow(value):
        return InputKind.COLUMNAR
    if isinstance(value, str | os.PathLike | ByteSource) or hasattr(value, 'read'):
        return InputKind.TEXT
    if isinstance(value, np.ndarray) and value.ndim != 1:
        return InputKind.ARRAY if value.ndim == 2 else InputKind.UNKNOWN
    if isinstance(value, Iterable) and not isinstance(value, bytes | Mapping):
        return InputKind.ROWS
    return InputKind.UNKNOWN


def remedy_of(value: object, names: Sequence[str] = ()) -> str:
    """Return the call that makes a table with these columns, ids first, for an error; or ''."""
    call = ''
    if callable(getattr(value, 'collect', None)):
        call = '.collect()'
    elif is_series(value) and len(names) == 2:
        call = f'.rename_axis({names[0]!r}).reset_index(name={names[1]!r})'
    elif isinstance(value, list | tuple) and value and isinstance(value[0], Mapping):
        call = 'pandas.DataFrame(…)'
    elif isinstance(value, Mapping) and names:
        call = _call_for_dictionary(value, names)
    return call and f': give it as {call}'


def _call_for_dictionary(value: Mapping[Any, object], names: Sequence[str]) -> str:
    """Return the call that makes a table of a dictionary by id, of columns, or of rows; or ''."""
    is_nested = any(isinstance(item, Mapping) or is_series(item) for item in value.values())
    if len(names) == 2 and not is_nested:
        return f'pandas.DataFrame(….items(), columns={[*names]})'
    set_ids = '' if names[0] in value else f'.rename_axis({names[0]!r})'
    if not value.keys().isdisjoint(names):
        return f'pandas.DataFrame(…){set_ids}'
    if len(names) == 1:
        return f'pandas.DataFrame(…){set_ids}, or pandas.DataFrame(…).T{set_ids} if keys are ids'
    return ''


def is_series(value: object) -> bool:
    """Return True for a series of pandas, without importing pandas."""
    return isinstance(value, getattr(sys.modules.get('pandas'), 'Series', ()))


def is_store(path: str | os.PathLike[str]) -> bool:
    return os.path.lexists(os.path.join(os.fsdecode(path), STORE_MANIFEST))


def is_rows(value: object) -> TypeGuard[Iterable[Any]]:
    """Return True if a value is an iterable of rows, not a file, a frame, an array or a table."""
    return _kind_of_input(value) is InputKind.ROWS


def is_arrow(value: object) -> bool:
    """Return True if a value is a table with an Arrow stream, such as one of polars or pyarrow."""
    return hasattr(value, '__arrow_c_stream__') and (
        hasattr(value, 'columns') or hasattr(value, 'schema')
    )


def read(origin: Rows | Names | TableInput, layout: Layout) -> Table:
    """Read a table from a file, a frame, an array or rows.

    Parameters
    ----------
    origin : str, path-like, file object, DataFrame, array, iterable or Table
        A path, ``-``, or an open file: text, perhaps compressed, or Parquet. Or a table with the
        layout's fields among its columns (of any library with the Arrow stream interface), an array
        of text of shape (n_rows, n_fields), an iterable of tuples, or a table that was read before.
    layout : Layout
        The fields of a row.

    Returns
    -------
    Table

    Raises
    ------
    ReadError, FormatError, ParameterError
        If the source cannot be read to its end, or is larger than the limit; if a row is wrong, or
        there is none; if the origin is none of these.

    Examples
    --------
    >>> from mediaeval_ap.tables import REFERENCE
    >>> reference = read('samples/reference.txt', REFERENCE)
    >>> len(reference['person_name'].values)
    2003
    """
    return read_one_of(origin, [layout], may_be_empty=False)


def read_one_of(
    origin: Rows | Names | TableInput, layouts: Sequence[Layout], *, may_be_empty: bool = True
) -> Table:
    """Read a table in one of several layouts; the columns decide which."""
    first = layouts[0]
    fields = {field for layout in layouts for field in layout.fields}
    table_input = TableInput.of(origin, first.name).with_columns(fields)
    value = table_input.value
    match table_input.kind:
        case InputKind.TEXT:
            return _read_text(value, layouts, may_be_empty)
        case InputKind.COLUMNAR:
            return _read_columns(value, layouts, table_input.name)
        case InputKind.FRAME | InputKind.ARRAY | InputKind.ROWS:
            return _read_values(table_input, layouts, may_be_empty)
        case InputKind.TABLE if isinstance(value, Table):
            if value.layout in layouts:
                return value
            raise ParameterError(f'table: found a {value.layout.name}, expected a {first.name}')
    expected = 'a path, an open file, a table or an iterable of rows'
    if isinstance(value, Mapping):
        expected += f' of {first.expected}'
    raise table_input.error(expected, first.fields)


def _read_columns(origin: ByteSource | ArrowTable, layouts: Sequence[Layout], name: str) -> Table:
    from mediaeval_ap.tables.columnar import check_names, from_arrow, read_columns

    def choose(names: list[str]) -> Sequence[str]:
        layout = _layout_with_names(names, layouts)
        check_names(names, layout, name)
        return layout.fields

    columns, source = read_columns(origin, choose, name)
    return from_arrow(columns, source, _layout_with_names(columns.column_names, layouts))


def _read_values(table_input: TableInput, layouts: Sequence[Layout], may_be_empty: bool) -> Table:
    from mediaeval_ap.tables import rows

    value = table_input.value
    name = table_input.name
    if table_input.kind is InputKind.FRAME:
        return rows.from_frame(value, _layout_with_names(value.columns, layouts), name)
    if table_input.kind is InputKind.ARRAY:
        return rows.from_array(value, _layout_of_length(value.shape[1], layouts), name)
    value = list(value)
    if may_be_empty and not value:
        return Table.empty(layouts[0], name)
    n_fields = len(value[0]) if value and isinstance(value[0], Sequence) else 0
    return rows.from_rows(value, _layout_of_length(n_fields, layouts), name)


def _read_text(source: ByteSource, layouts: Sequence[Layout], may_be_empty: bool) -> Table:
    with source.open() as opened:
        line, stream = sources.with_first_line(opened)
        if table := _table_with_header(line, stream, layouts, source.name):
            return replace(table, source=source.provenance())
        layout = layouts[0]
        blocks = line_rules.whole_lines(stream.read)
        if len(layouts) > 1:
            row, blocks = first_row(blocks, layouts)
            layout = _layout_of_length(line_rules.count_fields(row), layouts)
        n_bytes = by_python(source)
        table = parse(blocks, layout, source.name, n_bytes, may_be_empty=may_be_empty)
    return replace(table, source=source.provenance())


def _table_with_header(
    line: bytes, stream: BinaryIO, layouts: Sequence[Layout], name: str
) -> Table | None:
    """Read CSV whose first line has the fields of a layout; return None for any other text."""
    if b',' not in line:
        return None
    columns = header_of(line.removeprefix(line_rules.BYTE_ORDER_MARK), ',')
    layout = _layout_with_names(columns, layouts)
    if not {*columns}.issuperset(layout.fields):
        return None
    from mediaeval_ap.tables.text.csv_text import read_csv_rows

    return read_csv_rows(sources.read_all(stream, name), [layout], name, ',')


def _layout_of_length(n_fields: int, layouts: Sequence[Layout]) -> Layout:
    """Return the first layout with `n_fields` fields, else the first layout."""
    return next((layout for layout in layouts if len(layout.fields) == n_fields), layouts[0])


def _layout_with_names(names: Iterable[object], layouts: Sequence[Layout]) -> Layout:
    """Return the layout with the most fields, all of them in `names`; else the first layout."""
    columns = set(map(str, names))
    fitting = [layout for layout in layouts if columns.issuperset(layout.fields)]
    return max(fitting, key=lambda layout: len(layout.fields), default=layouts[0])


def first_row(
    blocks: Iterator[bytes | None], layouts: Sequence[Layout]
) -> tuple[bytes, Iterator[bytes | None]]:
    """Return the first line that is neither blank nor a comment in any layout, and all blocks."""
    read_blocks: list[bytes | None] = []
    for block in blocks:
        read_blocks.append(block)
        for line in line_rules.split_lines(block or b''):
            if not any(line_rules.holds_no_row(line, layout) for layout in layouts):
                return line, chain(read_blocks, blocks)
        if block is None:
            return b'', chain(read_blocks, blocks)
    return b'', iter(read_blocks)


def by_python(source: ByteSource) -> int:
    """Return how many bytes Python parses before pyarrow; none of a large file."""
    return 0 if source.size() > BULK_BYTES else BULK_BYTES


def read_leniently(rows: Rows, layout: Layout, *, max_problems: int = MAX_PROBLEMS) -> LenientTable:
    """Read lines with `max_problems` wrong ones of each cause; read any other input strictly."""
    table_input = TableInput.of(rows)
    if table_input.kind is not InputKind.TEXT:
        return LenientTable(read(table_input, layout), Faults('row'))
    source = table_input.value
    with source.open() as opened:
        line, stream = sources.with_first_line(opened)
        if table := _table_with_header(line, stream, [layout], source.name):
            return LenientTable(replace(table, source=source.provenance()), Faults('row'))
        lenient = parse_leniently(stream, layout, max_problems, by_python(source))
    return replace(lenient, table=replace(lenient.table, source=source.provenance()))


def lines_of_standard_input() -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines of standard input, each as soon as it arrives."""
    name = '<stdin>'
    n_lines = 0
    with sources.opening(name):
        arriving = sources.chunks_of(sources.standard_input().read1)  # type: ignore[attr-defined]
        for block in line_rules.whole_lines(sources.decompressed(name, arriving).read1):
            if block is None:
                raise explain_endless_line().error(name, f'line {n_lines + 1}')
            lines = line_rules.split_lines(block)
            yield from enumerate(lines, n_lines + 1)
            n_lines += len(lines)
