"""Columnar tables: Parquet files, and tables of pyarrow or with the Arrow stream interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mediaeval_ap.choices import TEXT, is_text
from mediaeval_ap.errors import ParameterError, ReadError, printable, shown
from mediaeval_ap.progress import tracked
from mediaeval_ap.tables import arrow, sources
from mediaeval_ap.tables.digests import digest_of_file
from mediaeval_ap.tables.faults import no_rows
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.sources import ByteSource
from mediaeval_ap.tables.table import Argument, ArrowTable, Provenance, Table
from mediaeval_ap.tables.text.arrow_reader import text_column

if TYPE_CHECKING:
    import pandas
    import pyarrow

BATCH_ROWS = 1 << 19  # about as many rows as a block of text has
TEXT_TYPES = ('string', 'large_string')

Choose: TypeAlias = 'Callable[[pyarrow.Schema], Sequence[str]]'  # returns names of columns


def from_arrow(table: pyarrow.Table, source: Provenance, layout: Layout) -> Table:
    """Read a pyarrow table that has the fields of a layout among its columns."""
    check_names(table.column_names, layout, source.name)
    columns = {}
    integers = frozenset(field for field in layout.texts if arrow.holds_integers(table[field]))
    for field in layout.texts:
        texts = arrow.text_array(table[field], field, source)
        arrow.refuse_missing(texts, field, source)
        columns[field] = text_column(texts.dictionary_encode())
    numbers = None
    if layout.number is not None:
        column = table[layout.number]
        numbers = arrow.number_array(column, layout.number, source, allow_boolean=layout.integers)
    rows = Table(layout, columns, numbers, source, integers=integers)
    if not len(rows):
        raise no_rows(source.name, layout)
    for field, column in columns.items():
        for code, value in enumerate(column.values):
            if not is_text(value):
                row = int(np.argmax(column.codes == code))
                raise rows.error([row], field, shown(value), TEXT)
    return rows


def read_columns(
    origin: ByteSource | ArrowTable, choose: Choose, name: str
) -> tuple[pyarrow.Table, Provenance]:
    """Read some columns of a file, or of a table called `name`; `choose` names the columns."""
    if isinstance(origin, ByteSource):
        return _read_parquet(origin, choose)
    table = to_arrow(origin)
    return table.select(choose(table.schema)), Provenance(name)


def parquet_columns(source: ByteSource) -> list[str]:
    """Return the column names of a Parquet file, without reading values."""
    from pyarrow import parquet

    with _opened(source) as (stream, _):
        return list(parquet.read_schema(stream).names)


def to_arrow(origin: Argument) -> pyarrow.Table:
    """Convert a table with `to_arrow` or `__arrow_c_stream__` to a pyarrow table."""
    import pyarrow

    try:
        # `to_arrow` first: polars' stream has types that old versions of pyarrow lack.
        return pyarrow.table(origin.to_arrow() if hasattr(origin, 'to_arrow') else origin)
    except MemoryError:  # pyarrow's is an ArrowException, too
        raise
    except (pyarrow.ArrowException, TypeError) as error:
        (reason, *_) = str(error).splitlines() or ['']
        raise ParameterError(
            f'found {type(origin).__name__}, which is not a table to Arrow: {reason}'
        ) from error


def check_names(
    names: Sequence[str], layout: Layout, source: str, frame: pandas.DataFrame | None = None
) -> None:
    """Raise FormatError if a field of the layout is missing or repeated among the columns."""
    wrong_fields = [field for field in layout.fields if names.count(field) != 1]
    if wrong_fields:
        expected = f'one column {wrong_fields[0]}'
        if frame is not None:
            expected += index_remedy(frame, [name for name in wrong_fields if name in layout.texts])
        columns = shown(', '.join(names))
        raise Provenance(source).error(f'columns {columns}', expected, field=wrong_fields[0])
    if layout.name == 'reference' and 'confidence' in names:
        expected = 'a reference, which has none: are two arguments exchanged?'
        raise Provenance(source).error('a column of a run', expected, field='confidence')


def index_remedy(frame: pandas.DataFrame, missing: Sequence[str]) -> str:
    """Return the call by which a frame would show columns of ids, or '' if none is known."""
    if frame.columns.nlevels > 1:
        return '; its columns have levels: .droplevel(0, axis=1)'
    index = frame.index
    if len(missing) != index.nlevels or getattr(index.dtype, 'kind', '') in 'iu':
        return ''
    names = missing[0] if index.nlevels == 1 else [*missing]
    return f'; if the index holds it, name it: .rename_axis({names!r})'


def _read_parquet(source: ByteSource, choose: Choose) -> tuple[pyarrow.Table, Provenance]:
    import pyarrow
    from pyarrow import parquet

    with _opened(source) as (stream, provenance):
        schema = parquet.read_schema(stream)
        names = list(choose(schema))
        for field in map(schema.field, names):
            if pyarrow.types.is_nested(field.type):
                found = f'a column of {str(field.type).partition("<")[0]}'
                raise provenance.error(found, 'one value in each row', field=field.name)
        texts = [name for name in names if schema.field(name).type in TEXT_TYPES]
        stream.seek(0)
        file = parquet.ParquetFile(stream, read_dictionary=texts)
        sizes = [file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)]
        sources.refuse_beyond_limit(source.name, sum(sizes))
        groups = tracked(
            range(file.num_row_groups), f'reading {printable(source.name)}', ' row groups'
        )
        parts = [
            pyarrow.Table.from_batches([batch])
            for number in groups
            for batch in file.iter_batches(BATCH_ROWS, row_groups=[number], columns=names)
        ]
    return pyarrow.concat_tables(parts or [schema.empty_table().select(names)]), provenance


@contextmanager
def _opened(source: ByteSource) -> Iterator[tuple[Any, Provenance]]:
    """Open a file; yield its stream and provenance. A damaged file raises `ReadError`."""
    import pyarrow

    with sources.opening(source.name), source.open_stored() as stream:
        if not (source.is_remote or sources.version_of(stream)):
            raise ReadError(source.name, f'is {sources.PARQUET}, {sources.NOT_A_REGULAR_FILE}')
        digest = None
        if source.is_remote or not source.is_open:
            digest = digest_of_file(stream)
        try:
            yield stream, Provenance(source.name, digest)
        except (pyarrow.ArrowException, OSError) as error:
            if isinstance(error, ReadError | MemoryError) or getattr(error, 'strerror', None):
                raise
            reason = (str(error).splitlines() or ['damaged'])[0]
            raise OSError(f'not readable as Parquet: {reason}') from error
