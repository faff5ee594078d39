"""Read tuples, arrays and DataFrames into tables: columns as a whole, on any doubt row by row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import is_text, plain_text
from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables.columnar import check_names
from mediaeval_ap.tables.faults import Faults, explain_number, explain_row, is_row, no_rows
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.table import Argument, Column, Fields, LineNumbers, Provenance, Table
from mediaeval_ap.tables.values import LARGEST_INTEGER, as_double, integer_as_text

if TYPE_CHECKING:
    import pandas


def from_rows(
    rows: Iterable[Argument], layout: Layout, name: str, places: Iterable[str] = ()
) -> Table:
    """Read tuples, or strings for a layout of one field; errors name `places`, if any."""
    rows = list(rows)
    if len(layout.fields) == 1:
        rows = [(row,) if isinstance(row, str) else row for row in rows]
    if not rows:
        raise no_rows(name, layout)
    table = None
    are_tuples = {*map(type, rows)} == {tuple}  # asked first, as it is faster
    if (are_tuples or all(map(is_row, rows))) and {*map(len, rows)} == {len(layout.fields)}:
        table = prove_columns(list(zip(*rows, strict=True)), layout, name)
    if table is None:
        for row, place in zip(rows, places, strict=False):
            if fault := explain_row(row, layout):
                raise fault.error(name, place)
        _refuse_rows(rows, layout, name)
    return table


def from_numbered_rows(
    rows: Sequence[Fields], lines: LineNumbers, layout: Layout, name: str
) -> Table:
    """Read tuples that stand in the lines of a file."""
    places = (f'{lines.unit} {lines[row]}' for row in range(len(rows)))
    return replace(from_rows(rows, layout, name, places), lines=lines)


def from_frame(frame: pandas.DataFrame, layout: Layout, name: str) -> Table:
    names = column_names(frame)
    check_names(names, layout, name, frame)
    if not len(frame):
        raise no_rows(name, layout)
    columns = []
    integer_fields = set()
    for field in layout.fields:
        values = frame.iloc[:, names.index(field)].tolist()
        if type(values[0]) is int and field != layout.number and str not in set(map(type, values)):
            values = list(map(integer_as_text, values))
            integer_fields.add(field)
        columns.append(values)
    table = prove_columns(columns, layout, name)
    if table is None:
        _refuse_rows(zip(*columns, strict=True), layout, name)
    return replace(table, integers=frozenset(integer_fields))


def from_array(array: NDArray[Any], layout: Layout, name: str) -> Table:
    """Read a two-dimensional array, a row each; it may hold numbers as text."""
    n_columns = array.shape[1]
    if n_columns != len(layout.fields):
        actual = {1: '1 column'}.get(n_columns, f'{n_columns} columns')
        raise FormatError(name, '', '', found=actual, expected=layout.expected)
    columns = array.T.tolist()
    if layout.number is not None:
        numbers = columns[layout.number_at]
        columns[layout.number_at] = parse_numbers(numbers, layout, name, LineNumbers())
    return from_rows(zip(*columns, strict=True), layout, name)


def parse_numbers(
    values: list[Argument], layout: Layout, name: str, lines: LineNumbers
) -> list[Argument]:
    """Parse the texts among numbers; raise if one is not a number that the layout allows."""
    numbers = []
    faults = Faults(lines.unit)
    for row, value in enumerate(values):
        text = plain_text(value)
        if text is None:
            numbers.append(value)
        elif fault := explain_number(text.encode(errors='replace'), layout):
            faults.add(lines[row], fault)
        else:
            numbers.append(float(text))
    faults.refuse(name)
    return numbers


def column_names(frame: pandas.DataFrame) -> list[str]:
    """Return the names of the columns as plain text; names of other types are converted."""
    return [plain_text(name) or str(name) for name in frame.columns]


def _refuse_rows(rows: Iterable[object], layout: Layout, source: str) -> NoReturn:
    faults = Faults('row')
    faults.add_all(explain_row(row, layout) for row in rows)
    faults.refuse(source)
    raise AssertionError('no row is wrong')


def prove_columns(
    columns: Sequence[Sequence[Argument] | Column], layout: Layout, source: str
) -> Table | None:
    """Make a table of columns; None if a value is wrong or in doubt."""
    texts = {}
    numbers = None
    for field, values in zip(layout.fields, columns, strict=True):
        if isinstance(values, Column):
            texts[field] = values
        elif field == layout.number:
            numbers = _number_column(values, layout)
            if numbers is None:
                return None
        else:
            column = text_column(values, is_numbered=field != layout.unnumbered)
            if column is None:
                return None
            texts[field] = column
    return Table(layout, texts, numbers, Provenance(source))


def _number_column(values: Sequence[Argument], layout: Layout) -> NDArray[np.float64] | None:
    if {*map(type, values)} <= {int, float}:
        with suppress(OverflowError):
            numbers = np.fromiter(values, np.float64, len(values))
            if (np.abs(numbers) < LARGEST_INTEGER).all():  # false for NaN
                return numbers
    doubles = [as_double(value, layout.integers) for value in values]
    return None if None in doubles else np.array(doubles, dtype=np.float64)


def text_column(values: Sequence[Argument], *, is_numbered: bool = True) -> Column | None:
    """Return texts as a column; None if a value is wrong or in doubt."""
    # Subclasses of str may compare and hash as they like.
    if [*map(type, values)].count(str) != len(values):
        values = [plain_text(value) for value in values]
    texts, codes = values, np.arange(len(values), dtype=np.int32)
    if is_numbered:
        code_of: defaultdict[Argument, int] = defaultdict(count().__next__)
        codes = np.fromiter(map(code_of.__getitem__, values), dtype=np.int32, count=len(values))
        texts = list(code_of)
    if not all(texts):
        return None
    # To test all texts joined is ten times faster than to test one by one.
    letters = np.frombuffer(''.join(texts).encode(errors='surrogatepass'), np.uint8)
    is_plain = ((letters > ord(' ')) & (letters <= ord('~'))).all()
    if not is_plain and not all(map(is_text, {*texts})):
        return None
    return Column(codes, texts)
