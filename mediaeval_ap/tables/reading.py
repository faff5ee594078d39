"""Reading of tables from whatever holds them: strictly, leniently, and lines as they arrive."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain
from typing import Any, TypeGuard

import numpy as np

from mediaeval_ap.choices import MAX_PROBLEMS
from mediaeval_ap.errors import ParameterError, ReadError, shown
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.sources import (
    COLUMNAR_FORMATS,
    ByteSource,
    chunks_of,
    decompressed,
    opening,
    standard_input,
)
from mediaeval_ap.tables.table import Names, NumberedRows, Provenance, Rows, Table
from mediaeval_ap.tables.text import line_rules
from mediaeval_ap.tables.text.line_rules import Faults
from mediaeval_ap.tables.text.reader import LenientTable, parse, parse_leniently

# pyarrow, with its import, takes as long as Python for 4 MiB, and a quarter less for 8
# MiB; there it takes twice the memory (138 MiB for 69).
BULK_BYTES = 4 << 20
STORE_MANIFEST = 'manifest.json'  # the file that tells a store from other folders
IS_STORE = (
    'is a store, expected a file: a store stands only for a run that is scored '
    '(mediaeval-ap index --export writes its rows)'
)


class InputKind(Enum):
    """The kinds of origins that readers treat differently."""

    TEXT = 'text'  # a path, standard input or an open file
    COLUMNAR = 'columnar'  # Parquet, or what gives a stream of Arrow, as polars and pyarrow
    FRAME = 'pandas'
    ARRAY = 'array'  # of numpy, with two dimensions
    TABLE = 'table'  # what this package has read
    ROWS = 'rows'
    UNKNOWN = 'unknown'


# Of these, rows have all fields; others may lack what is not needed.
WITH_ALL_FIELDS = (InputKind.TEXT, InputKind.TABLE)


@dataclass(frozen=True)
class TableInput:
    """Something that a table is read from, and its kind; of files, `value` is a `ByteSource`."""

    kind: InputKind
    value: Any

    @classmethod
    def of(cls, value: Any) -> TableInput:
        """Find the kind of an origin; what has been looked at stays as it is."""
        if isinstance(value, TableInput):
            return value
        if isinstance(value, NumberedRows):
            return cls(InputKind.TABLE, value)
        # Before open files: a frame may have a column called "read". If pandas is not imported yet,
        # nothing is one.
        if isinstance(value, getattr(sys.modules.get('pandas'), 'DataFrame', ())):
            return cls(InputKind.FRAME, value)
        if is_arrow(value):
            return cls(InputKind.COLUMNAR, value)
        if isinstance(value, str | os.PathLike | ByteSource) or hasattr(value, 'read'):
            source = value if isinstance(value, ByteSource) else ByteSource(value)
            if source.is_path and is_store(value):
                raise ReadError(source.name, IS_STORE)
            is_columnar = source.format in COLUMNAR_FORMATS
            return cls(InputKind.COLUMNAR if is_columnar else InputKind.TEXT, source)
        if isinstance(value, np.ndarray) and value.ndim != 1:
            return cls(InputKind.ARRAY if value.ndim == 2 else InputKind.UNKNOWN, value)
        if isinstance(value, Iterable) and not isinstance(value, bytes | Mapping):
            return cls(InputKind.ROWS, value)
        return cls(InputKind.UNKNOWN, value)

    @property
    def name(self) -> str:
        """The name of the source, for messages."""
        is_file = isinstance(self.value, ByteSource)
        return self.value.name if is_file else f'<{type(self.value).__name__}>'

    def error(self, expected: str, what: str = '') -> ParameterError:
        """Make the error of an origin that a reader cannot read."""
        value = self.value.name if isinstance(self.value, ByteSource) else self.value
        found = f'found {shown(value)} ({type(self.value).__name__})'
        return ParameterError(f'{what}{found}, expected {expected}')


def is_store(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is the folder of a store."""
    return os.path.lexists(os.path.join(os.fsdecode(path), STORE_MANIFEST))


def is_rows(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether a value gives rows that can be taken one after another."""
    if isinstance(value, str | os.PathLike):  # which may be a store
        return False
    return TableInput.of(value).kind is InputKind.ROWS


def is_arrow(value: object) -> bool:
    """Return whether a value is a table that gives a stream of Arrow, as polars and pyarrow do."""
    return hasattr(value, '__arrow_c_stream__') and (
        hasattr(value, 'columns') or hasattr(value, 'schema')
    )


def read(origin: Rows | Names | TableInput, layout: Layout) -> Table:
    """Read a table from whatever holds it.

    Parameters
    ----------
    origin : str, path-like, file object, DataFrame, array, iterable or Table
        A path, ``-`` for standard input, an open file (each as text, perhaps compressed, or as
        Parquet, as its first bytes say), a table with the layout's fields among its columns (of
        pandas, polars, pyarrow or any library with the Arrow stream interface), an array of text of
        shape (n_rows, n_fields), an iterable of tuples, or a table that was read before.
    layout : Layout
        The fields of a row.

    Returns
    -------
    Table
        The rows.

    Raises
    ------
    ReadError, FormatError, ParameterError
        When the source cannot be read to its end, or is beyond the limit; when a row is wrong, or
        there is none; when the origin is none of these.

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
    """Read a table of one of several layouts, which its columns tell apart."""
    given = TableInput.of(origin)
    value = given.value
    first = layouts[0]
    match given.kind:
        case InputKind.TEXT:
            return _read_text(value, layouts, may_be_empty)
        case InputKind.COLUMNAR:
            from mediaeval_ap.tables.columnar import check_names, from_arrow, read_columns

            def choose(schema: Any) -> Sequence[str]:
                layout = _with_names(schema.names, layouts)
                check_names(schema.names, layout, given.name)
                return layout.fields

            columns, source = read_columns(value, choose)
            return from_arrow(columns, source, _with_names(columns.column_names, layouts))
        case InputKind.FRAME:
            from mediaeval_ap.tables.rows import from_frame

            return from_frame(value, _with_names(value.columns, layouts))
        case InputKind.ARRAY:
            from mediaeval_ap.tables.rows import from_array

            return from_array(value, _of_length(value.shape[1], layouts))
        case InputKind.ROWS:
            from mediaeval_ap.tables.rows import from_rows

            rows = list(value)
            if may_be_empty and not rows:
                return Table.empty(first, Provenance('<rows>'))
            count = len(rows[0]) if rows and isinstance(rows[0], Sequence) else 0
            return from_rows(rows, _of_length(count, layouts))
        case InputKind.TABLE if isinstance(value, Table):
            if value.layout in layouts:
                return value
            raise ParameterError(f'table: found a {value.layout.name}, expected a {first.name}')
    raise given.error('a path, an open file, a table or an iterable of rows', f'{first.name}: ')


def _read_text(source: ByteSource, layouts: Sequence[Layout], may_be_empty: bool) -> Table:
    with source.open() as stream:
        layout = layouts[0]
        blocks = line_rules.whole_lines(stream.read)
        if len(layouts) > 1:
            row, blocks = _first_row(blocks, layouts)
            layout = _of_length(line_rules.count_fields(row), layouts)
        n_bytes = by_python(source)
        table = parse(blocks, layout, source.name, n_bytes, may_be_empty=may_be_empty)
    return replace(table, source=source.provenance())


def _of_length(n_fields: int, layouts: Sequence[Layout]) -> Layout:
    """Return the layout with so many fields, else the first."""
    return next((each for each in layouts if len(each.fields) == n_fields), layouts[0])


def _with_names(names: Iterable[Any], layouts: Sequence[Layout]) -> Layout:
    """Return the largest layout whose fields are among some columns, else the first."""
    known = set(map(str, names))
    fitting = [each for each in layouts if known.issuperset(each.fields)]
    return max(fitting, key=lambda each: len(each.fields), default=layouts[0])


def _first_row(
    blocks: Iterator[bytes | None], layouts: Sequence[Layout]
) -> tuple[bytes, Iterator[bytes | None]]:
    """Return the first line that is neither blank nor a comment of any layout, and all blocks."""
    passed: list[bytes | None] = []
    for block in blocks:
        passed.append(block)
        for line in line_rules.split_lines(block or b''):
            if line.strip(b' \t') and not any(each.is_comment(line) for each in layouts):
                return line, chain(passed, blocks)
        if block is None:
            return b'', chain(passed, blocks)
    return b'', iter(())


def by_python(source: ByteSource) -> int:
    """Return how many bytes Python should read before pyarrow does."""
    return 0 if source.size() > BULK_BYTES else BULK_BYTES


def read_leniently(
    origin: Any, layout: Layout, *, max_problems: int = MAX_PROBLEMS
) -> LenientTable:
    """Read a table to its end, whatever its lines hold; tables of values are read strictly.

    Of wrong lines, `max_problems` of each cause are kept.
    """
    given = TableInput.of(origin)
    if given.kind is not InputKind.TEXT:
        return LenientTable(read(given, layout), Faults('row'))
    with given.value.open() as stream:
        found = parse_leniently(stream, layout, max_problems, by_python(given.value))
    return replace(found, table=replace(found.table, source=given.value.provenance()))


def lines_of_standard_input() -> Iterator[tuple[int, bytes]]:
    """Yield the lines of standard input, with their numbers, each as soon as it is there."""
    name = '<stdin>'
    n_lines = 0
    with opening(name):
        arriving = chunks_of(standard_input().read1)  # type: ignore[attr-defined]
        for block in line_rules.whole_lines(decompressed(name, arriving).read1):
            if block is None:
                raise line_rules.explain_endless_line().error(name, f'line {n_lines + 1}')
            lines = line_rules.split_lines(block)
            yield from enumerate(lines, n_lines + 1)
            n_lines += len(lines)
