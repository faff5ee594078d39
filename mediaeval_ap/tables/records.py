"""Files with a header, as CSV or Parquet, and tables: to columns that know where rows stand."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import FormatError, ParameterError, shown
from mediaeval_ap.plain_text import BETWEEN_LABELS
from mediaeval_ap.tables.arrow import holds_any, number_array, text_array, to_arrow
from mediaeval_ap.tables.csv_text import choose_layout, parse_csv
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.line_format import no_rows
from mediaeval_ap.tables.parquet import read_parquet
from mediaeval_ap.tables.rows import column_names
from mediaeval_ap.tables.sources import MAX_BYTES, ByteSource, Hasher
from mediaeval_ap.tables.table import Source, is_arrow, is_instance

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ['Records', 'read_records']

COPIED_BYTES = 1 << 20
IN_NO_LINE = '\0|\r(?:[^\n]|$)'


@dataclass(frozen=True)
class Records:
    r"""Rows of a file with a header, as columns.

    Parameters
    ----------
    layout : RecordLayout
        Which columns those are.
    columns : pyarrow.Table
        Its texts as large strings, in which nothing is empty text; its numbers as doubles; in one
        chunk.
    source : Source
        Where it came from.
    lines : ndarray of int64, shape (n_rows,), or None
        The line on which each row begins, where that is not simply the next.
    has_lines : bool
        Whether it came from lines at all.

    Examples
    --------
    >>> import io
    >>> file = io.StringIO('Image,Id\n1.jpg,w_1\n2.jpg,w_2\n')
    >>> records = read_records(file, [RecordLayout(('Image', 'Id'))])
    >>> records['Id'].to_pylist(), records.place(1)
    (['w_1', 'w_2'], 'line 3')
    """

    layout: RecordLayout
    columns: pyarrow.Table
    source: Source
    lines: NDArray[np.int64] | None = None
    has_lines: bool = False

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> pyarrow.Array:
        (column,) = self.columns[name].chunks
        return column

    def place(self, row: int) -> str:
        """Where a row stands in its source.

        Parameters
        ----------
        row : int
            Which, from 0.

        Returns
        -------
        str
            ``'line 3'``, or ``'row 2'`` of what has no lines.
        """
        if not self.has_lines:
            return f'row {row + 1}'
        return f'line {row + 2 if self.lines is None else self.lines[row]}'

    def error(self, rows: NDArray[np.integer], name: str, found: str, expected: str) -> FormatError:
        """The error of rows that are wrong in one column.

        Parameters
        ----------
        rows : ndarray of int, shape (n_wrong,)
            Which, from 0, ascending.
        name : str
            The column.
        found, expected : str
            What the first of them holds, and what it should.

        Returns
        -------
        FormatError
            To be raised.
        """
        place = self.place(int(rows[0]))
        return FormatError(self.source.name, place, name, found, expected, len(rows) - 1)

    def refuse_empty(self, name: str) -> None:
        """Refuse rows that have nothing in a column.

        Parameters
        ----------
        name : str
            A column of text.

        Raises
        ------
        FormatError
            Names the first.
        """
        from pyarrow import compute

        empty = np.flatnonzero(compute.equal(self[name], '').to_numpy(zero_copy_only=False))
        if len(empty):
            raise self.error(empty, name, 'nothing', 'text')

    def refuse_several(self, name: str) -> None:
        """Refuse rows that have white space in a column of labels, of which each has one at most.

        That is what stands between labels where there may be several.

        Parameters
        ----------
        name : str
            A column of text.

        Raises
        ------
        FormatError
            Names the first.
        """
        from pyarrow import compute

        spaced = compute.match_substring_regex(self[name], BETWEEN_LABELS)
        several = np.flatnonzero(spaced.to_numpy(zero_copy_only=False))
        if len(several):
            found = shown(self[name][several[0]].as_py())
            raise self.error(several, name, found, 'one label, without white space')


def read_records(
    origin: Any, layouts: Sequence[RecordLayout], *, max_bytes: int = MAX_BYTES
) -> Records:
    """Read a file with a header from whatever holds it.

    Parameters
    ----------
    origin : str, path-like, file object, DataFrame or Records
        A path to CSV (``.gz``, ``.bz2``, ``.xz`` and ``.zst`` are decompressed) or to Parquet
        (``.parquet``, ``.pq``), ``-`` for CSV on standard input, an open CSV file, a table with
        the columns under their names (of pandas, polars, pyarrow or anything that Arrow can take a
        stream of), or what was read before.
    layouts : sequence of RecordLayout
        What it may hold; the first that fits its columns is read.
    max_bytes : int
        How many bytes what does not say how large it is may give: a compressed file or Parquet
        (once decompressed), standard input, a pipe, a device.

    Returns
    -------
    Records
        Its rows.

    Raises
    ------
    ReadError
        When the source cannot be opened, decompressed or read to its end, or gives more.
    FormatError
        When a row is wrong, there is none, or no layout fits.
    ParameterError
        When the origin is none of these, or the limit no positive integer.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({'Image': ['1.jpg'], 'Id': ['w_1']})
    >>> read_records(frame, [RecordLayout(('Image', 'Id'))]).place(0)
    'row 1'
    """
    if isinstance(origin, Records):
        if origin.layout not in layouts:
            raise ParameterError(f'records: found {origin.layout.expected}, expected another file')
        return origin
    if is_instance(origin, 'pandas', 'DataFrame'):
        return _from_frame(origin, layouts)
    if is_arrow(origin):
        return _from_table(to_arrow(origin), layouts, Source(f'<{type(origin).__name__}>'))
    if not (isinstance(origin, str | os.PathLike) or hasattr(origin, 'read')):
        raise ParameterError(
            f'found {shown(origin)} ({type(origin).__name__}), '
            'expected a path, an open file or a table'
        )
    source = ByteSource(origin, max_bytes)
    if source.is_parquet:
        table, file = read_parquet(
            source, lambda schema: _chosen(schema.names, layouts, source.name)
        )
        return _from_table(table, layouts, file)
    hasher, content = Hasher(), io.BytesIO()
    with source.open(hasher) as stream:
        copyfileobj(stream, content, COPIED_BYTES)
    parsed = parse_csv(content.getvalue(), layouts, source.name)
    file = Source(source.name, None if source.is_open else hasher.sha256)
    columns = parsed.columns.combine_chunks()
    return Records(parsed.layout, columns, file, parsed.lines, has_lines=True)


def _chosen(names: Sequence[str], layouts: Sequence[RecordLayout], source: str) -> Sequence[str]:
    """The columns to read of those that are there."""
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
            columns[name] = pyarrow.array(number_array(table[name], name, source))
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
