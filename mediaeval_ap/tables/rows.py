"""Tables from tuples, arrays and DataFrames: columns proved right, wrong rows explained."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import TEXT, is_text, plain_text
from mediaeval_ap.errors import FormatError, shown
from mediaeval_ap.tables.columnar import check_names
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.table import Column, Provenance, Table
from mediaeval_ap.tables.text.line_rules import (
    AS_INTEGERS,
    AS_TEXT,
    EXACT_NUMBER,
    Fault,
    Faults,
    explain_number,
    no_rows,
)

if TYPE_CHECKING:
    import pandas


def from_rows(rows: Iterable[Any], layout: Layout, *, name: str = '<rows>') -> Table:
    """Read tuples, one a row; of a layout with one field, a row may be that field itself."""
    rows = [(row,) if isinstance(row, str) and len(layout.fields) == 1 else row for row in rows]
    if not rows:
        raise no_rows(name, layout)
    table = None
    if all(_is_row(row) and len(row) == len(layout.fields) for row in rows):
        table = _proved(list(zip(*rows, strict=True)), layout, name)
    if table is None:
        _explain(rows, layout, name)
    return table


def from_frame(frame: pandas.DataFrame, layout: Layout) -> Table:
    """Read a pandas DataFrame that has the fields of a layout among its columns."""
    name = '<DataFrame>'
    names = column_names(frame)
    check_names(names, layout, name)
    if not len(frame):
        raise no_rows(name, layout)
    columns = []
    integers = set()
    for field in layout.fields:
        values = frame.iloc[:, names.index(field)].tolist()
        if type(values[0]) is int and field != layout.number and str not in set(map(type, values)):
            values = [str(value) if type(value) is int else value for value in values]
            integers.add(field)
        columns.append(values)
    table = _proved(columns, layout, name)
    if table is None:
        _explain(zip(*columns, strict=True), layout, name)
    return replace(table, integers=frozenset(integers))


def from_array(array: NDArray[Any], layout: Layout) -> Table:
    """Read an array with a row for each row, in which numbers may be written as in a file."""
    name = f'<{type(array).__name__}>'
    n_columns = array.shape[1]
    if n_columns != len(layout.fields):
        found = f'{n_columns} column{"" if n_columns == 1 else "s"}'
        raise FormatError(name, '', '', found, layout.expected)
    columns = array.T.tolist()
    if layout.number is not None:
        columns[layout.number_at] = _parsed(columns[layout.number_at], layout, name)
    return from_rows(zip(*columns, strict=True), layout, name=name)


def _parsed(values: list[Any], layout: Layout, name: str) -> list[Any]:
    """Return numbers of which some are text; text that is no number of the layout is an error."""
    texts = [plain_text(value) for value in values]
    encoded = (None if text is None else text.encode(errors='replace') for text in texts)
    faults = Faults('row')
    faults.add_all(None if text is None else explain_number(text, layout) for text in encoded)
    faults.refuse(name)
    return [
        value if text is None else float(text) for value, text in zip(values, texts, strict=True)
    ]


def column_names(frame: pandas.DataFrame) -> list[str]:
    """Return the names of the columns as plain text: of a name that is no text, how it prints."""
    return [str(name) if (text := plain_text(name)) is None else text for name in frame.columns]


def explain_row(row: object, layout: Layout) -> Fault | None:
    """Return the first thing wrong with a row of values, or None."""
    if not _is_row(row):
        return Fault('', _described(row), layout.expected)
    if len(row) != len(layout.fields):
        return Fault('', f'{len(row)} fields in {shown(row)}', layout.expected)
    for field, value in zip(layout.fields, row, strict=True):
        if field == layout.number:
            if as_double(value) is None:
                return Fault(field, _described(value), EXACT_NUMBER)
        elif not is_text(value):
            remedy = AS_INTEGERS if isinstance(value, float) else AS_TEXT
            remedy *= isinstance(value, Real)
            return Fault(field, _described(value), f'{TEXT}{remedy}')
    return None


def _explain(rows: Iterable[object], layout: Layout, source: str) -> NoReturn:
    faults = Faults('row')
    faults.add_all(explain_row(row, layout) for row in rows)
    faults.refuse(source)
    raise AssertionError('no row is wrong')


def _proved(columns: Sequence[Sequence[Any]], layout: Layout, source: str) -> Table | None:
    """Return the table if all its values are right, and None on any doubt."""
    texts = {}
    numbers = None
    for field, values in zip(layout.fields, columns, strict=True):
        if field == layout.number:
            doubles = [as_double(value) for value in values]
            if None in doubles:
                return None
            numbers = np.array(doubles, dtype=np.float64)
            continue
        column = _text_column(values)
        if column is None:
            return None
        texts[field] = column
    return Table(layout, texts, numbers, Provenance(source))


def _is_row(row: object) -> TypeGuard[Sequence[Any]]:
    # Asking an abstract class takes ten times as long, and most rows are tuples.
    return type(row) is tuple or (isinstance(row, Sequence) and not isinstance(row, str))


def _text_column(values: Sequence[Any]) -> Column | None:
    if set(map(type, values)) != {str}:  # classes of text may compare and hash as they like
        values = [plain_text(value) for value in values]
    code_of = {value: code for code, value in enumerate(dict.fromkeys(values))}
    # One look at all text takes a tenth of the time of a look at each.
    text = ''.join(map(str, code_of)) if all(code_of) else ' '
    is_plain = text.isascii() and text.isprintable() and ' ' not in text
    if not is_plain and not all(map(is_text, code_of)):
        return None
    codes = np.fromiter(map(code_of.__getitem__, values), dtype=np.int32, count=len(values))
    return Column(codes, list(code_of))


def as_double(value: object) -> float | None:
    """Return the double that a number is, and None if there is none."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return None
    try:
        number = float(value)
    except OverflowError:  # of an integer
        return None
    if not math.isfinite(number) or (isinstance(value, Integral) and int(number) != int(value)):
        return None
    return number


def _described(value: object) -> str:
    return f'{shown(value)} ({type(value).__name__})'
