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
from mediaeval_ap.tables.faults import Faults
from mediaeval_ap.tables.first_look import header_of
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.sources import (
    COLUMNAR_FORMATS,
    MOST_FIRST_BYTES,
    ByteSource,
    chunks_of,
    decompressed,
    opening,
    read_all,
    standard_input,
    with_first_line,
)
from mediaeval_ap.tables.table import Names, NumberedRows, Provenance, Rows, Table
from mediaeval_ap.tables.text import line_rules
from mediaeval_ap.tables.text.reader import LenientTable, parse, parse_leniently
from mediaeval_ap.tables.text.wrong_lines import explain_endless_line

# For 4 MiB, pyarrow with its import takes as long as Python. For 8 MiB, it takes a quarter less
# time, but twice the memory (138 MiB instead of 69).
BULK_BYTES = 4 << 20
STORE_MANIFEST = 'manifest.json'  # a folder with this file is a store
IS_STORE = (
    'is a store, expected a file: only a run to score may be a store '
    '(mediaeval-ap index --export writes its rows)'
)


class InputKind(Enum):
    """The kinds of inputs that readers treat differently."""

    TEXT = 'text'  # a path, standard input or an open file
    COLUMNAR = 'columnar'  # Parquet, or a table with an Arrow stream (polars, pyarrow)
    FRAME = 'pandas'
    ARRAY = 'array'  # a numpy array with two dimensions
    TABLE = 'table'  # a table of this package
    ROWS = 'rows'
    UNKNOWN = 'unknown'


# Rows of these kinds have all fields of a layout; rows of other kinds may lack unneeded fields.
KINDS_WITH_ALL_FIELDS = (InputKind.TEXT, InputKind.TABLE)


@dataclass(frozen=True)
class TableInput:
    """An input and its kind; files are wrapped in `ByteSource`."""

    kind: InputKind
    value: Any
    role: str = ''  # such as truth or reference, for messages

    @classmethod
    def of(cls, value: Any, role: str = '') -> TableInput:
        """Detect the kind of an input; a `TableInput` keeps its role, if it has one."""
        if isinstance(value, TableInput):
            return replace(value, role=value.role or role)
        kind = InputKind.UNKNOWN
        if isinstance(value, NumberedRows):
            kind = InputKind.TABLE
        # Frames come before open files, as a frame may have a column called "read".
        elif isinstance(value, getattr(sys.modules.get('pandas'), 'DataFrame', ())):
            kind = InputKind.FRAME
        elif is_arrow(value):
            kind = InputKind.COLUMNAR
        elif isinstance(value, str | os.PathLike | ByteSource) or hasattr(value, 'read'):
            value = ByteSource.of(path := value)
            if value.is_path and not isinstance(path, ByteSource) and is_store(path):
                raise ReadError(value.name, IS_STORE)
            kind = InputKind.COLUMNAR if value.format in COLUMNAR_FORMATS else InputKind.TEXT
        elif isinstance(value, np.ndarray) and value.ndim != 1:
            kind = InputKind.ARRAY if value.ndim == 2 else kind
        elif isinstance(value, Iterable) and not isinstance(value, bytes | Mapping):
            kind = InputKind.ROWS
        return cls(kind, value, role)

    @property
    def name(self) -> str:
        """The name of the source, for messages."""
        is_file = isinstance(self.value, ByteSource)
        return self.value.name if is_file else f'<{self.role or type(self.value).__name__}>'

    def error(self, expected: str, names: Sequence[str] = ()) -> ParameterError:
        """Make the error about an input that a reader cannot read; `names` are its columns."""
        value = self.value.name if isinstance(self.value, ByteSource) else self.value
        actual = f'{shown(value)} ({type(self.value).__name__})'
        prefix = f'{self.role}: ' * bool(self.role)
        remedy = remedy_of(self.value, names)
        return ParameterError(f'{prefix}found {actual}, expected {expected}{remedy}')

    def with_columns(self, names: Collection[str]) -> TableInput:
        """Make a frame of columns, of dictionaries, or of a frame with columns in its index."""
        value = self.value
        if isinstance(value, Mapping | list | tuple) and len(names) > 1:
            first = next(iter(value.values() if isinstance(value, Mapping) else value), None)
            is_path = isinstance(first, str | os.PathLike) and os.path.exists(first)
            if is_path or hasattr(first, 'columns'):
                raise self.error('one table: {name: evaluate(run) for name, run in runs.items()}')
        are_columns = isinstance(value, Mapping) and any(
            name in value and not isinstance(value[name], Mapping) for name in names
        )
        are_rows = isinstance(value, list | tuple) and all(
            isinstance(row, Mapping) and not row.keys().isdisjoint(names) for row in value
        )
        if are_columns or (are_rows and value):
            import pandas

            try:
                return replace(self, kind=InputKind.FRAME, value=pandas.DataFrame(value))
            except ValueError as error:  # columns of different lengths
                raise self.error(f'columns of one length ({error})') from None
        if self.kind is InputKind.FRAME or is_series(value):
            columns = getattr(value, 'columns', ())
            levels = [name for name in value.index.names if name in names and name not in columns]
            if levels or value.index.nlevels > 1:
                return replace(self, kind=InputKind.FRAME, value=value.reset_index(level=levels))
        return self


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
        axis = '' if names[0] in value else f'.rename_axis({names[0]!r})'
        is_nested = any(isinstance(item, Mapping) or is_series(item) for item in value.values())
        if len(names) == 2 and not is_nested:
            call = f'pandas.DataFrame(….items(), columns={[*names]})'
        elif not value.keys().isdisjoint(names):
            call = f'pandas.DataFrame(…){axis}'
        elif len(names) == 1:
            call = f'pandas.DataFrame(…){axis}, or pandas.DataFrame(…).T{axis} if keys are ids'
    return call and f': give it as {call}'


def is_series(value: object) -> bool:
    """Return True for a series of pandas, without importing pandas."""
    return isinstance(value, getattr(sys.modules.get('pandas'), 'Series', ()))


def is_store(path: str | os.PathLike[str]) -> bool:
    """Return True if a path is the folder of a store."""
    return os.path.lexists(os.path.join(os.fsdecode(path), STORE_MANIFEST))


def is_rows(value: object) -> TypeGuard[Iterable[Any]]:
    """Return True if a value is an iterable of rows, not a file, a frame, an array or a table."""
    if isinstance(value, str | os.PathLike):  # a path of a store would raise an error
        return False
    return TableInput.of(value).kind is InputKind.ROWS


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
        A path, ``-`` for standard input, or an open file: text, perhaps compressed, or Parquet; the
        first bytes decide. Or a table with the layout's fields among its columns (of pandas,
        polars, pyarrow or any library with the Arrow stream interface), an array of text of shape
        (n_rows, n_fields), an iterable of tuples, or a table that was read before.
    layout : Layout
        The fields of a row.

    Returns
    -------
    Table
        The rows.

    Raises
    ------
    ReadError
        If the source cannot be read to its end, or is larger than the limit.
    FormatError
        If a row is wrong, or there is none.
    ParameterError
        If the origin is none of these.

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
    name = table_input.name
    value = table_input.value
    match table_input.kind:
        case InputKind.TEXT:
            return _read_text(value, layouts, may_be_empty)
        case InputKind.COLUMNAR:
            from mediaeval_ap.tables.columnar import check_names, from_arrow, read_columns

            def choose(schema: Any) -> Sequence[str]:
                layout = _layout_with_names(schema.names, layouts)
                check_names(schema.names, layout, name)
                return layout.fields

            columns, source = read_columns(value, choose, name)
            return from_arrow(columns, source, _layout_with_names(columns.column_names, layouts))
        case InputKind.FRAME:
            from mediaeval_ap.tables.rows import from_frame

            return from_frame(value, _layout_with_names(value.columns, layouts), name)
        case InputKind.ARRAY:
            from mediaeval_ap.tables.rows import from_array

            return from_array(value, _layout_of_length(value.shape[1], layouts), name)
        case InputKind.ROWS:
            from mediaeval_ap.tables.rows import from_rows

            rows = list(value)
            if may_be_empty and not rows:
                return Table.empty(first, Provenance(name))
            count = len(rows[0]) if rows and isinstance(rows[0], Sequence) else 0
            return from_rows(rows, _layout_of_length(count, layouts), name)
        case InputKind.TABLE if isinstance(value, Table):
            if value.layout in layouts:
                return value
            raise ParameterError(f'table: found a {value.layout.name}, expected a {first.name}')
    rows_of_fields = f' of {first.expected}' * isinstance(value, Mapping)
    raise table_input.error(
        f'a path, an open file, a table or an iterable of rows{rows_of_fields}', first.fields
    )


def _read_text(source: ByteSource, layouts: Sequence[Layout], may_be_empty: bool) -> Table:
    with source.open() as opened:
        line, stream = with_first_line(opened, MOST_FIRST_BYTES)
        if table := _table_with_header(line, stream, layouts, source.name):
            return replace(table, source=source.provenance())
        layout = layouts[0]
        blocks = line_rules.whole_lines(stream.read)
        if len(layouts) > 1:
            row, blocks = _first_row(blocks, layouts)
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

    return read_csv_rows(read_all(stream, name), [layout], name, ',')


def _layout_of_length(n_fields: int, layouts: Sequence[Layout]) -> Layout:
    """Return the first layout with `n_fields` fields, else the first layout."""
    return next((layout for layout in layouts if len(layout.fields) == n_fields), layouts[0])


def _layout_with_names(names: Iterable[Any], layouts: Sequence[Layout]) -> Layout:
    """Return the layout with the most fields, all of them in `names`; else the first layout."""
    columns = set(map(str, names))
    fitting = [layout for layout in layouts if columns.issuperset(layout.fields)]
    return max(fitting, key=lambda layout: len(layout.fields), default=layouts[0])


def _first_row(
    blocks: Iterator[bytes | None], layouts: Sequence[Layout]
) -> tuple[bytes, Iterator[bytes | None]]:
    """Return the first line that is neither blank nor a comment in any layout, and all blocks."""
    read_blocks: list[bytes | None] = []
    for block in blocks:
        read_blocks.append(block)
        for line in line_rules.split_lines(block or b''):
            if line.strip(b' \t') and not any(layout.is_comment(line) for layout in layouts):
                return line, chain(read_blocks, blocks)
        if block is None:
            return b'', chain(read_blocks, blocks)
    return b'', iter(())


def by_python(source: ByteSource) -> int:
    """Return how many bytes Python parses before pyarrow; none of a large file."""
    return 0 if source.size() > BULK_BYTES else BULK_BYTES


def read_leniently(
    origin: Any, layout: Layout, *, max_problems: int = MAX_PROBLEMS
) -> LenientTable:
    """Read a file to its end, and collect its wrong lines; read any other input strictly.

    At most `max_problems` wrong lines are collected for each cause.
    """
    table_input = TableInput.of(origin)
    if table_input.kind is not InputKind.TEXT:
        return LenientTable(read(table_input, layout), Faults('row'))
    source = table_input.value
    with source.open() as stream:
        lenient = parse_leniently(stream, layout, max_problems, by_python(source))
    return replace(lenient, table=replace(lenient.table, source=source.provenance()))


def lines_of_standard_input() -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines of standard input, each as soon as it arrives."""
    name = '<stdin>'
    n_lines = 0
    with opening(name):
        arriving = chunks_of(standard_input().read1)  # type: ignore[attr-defined]
        for block in line_rules.whole_lines(decompressed(name, arriving).read1):
            if block is None:
                raise explain_endless_line().error(name, f'line {n_lines + 1}')
            lines = line_rules.split_lines(block)
            yield from enumerate(lines, n_lines + 1)
            n_lines += len(lines)
