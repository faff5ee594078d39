"""The columns of the files of challenges, under the challenge's names or those that are given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from mediaeval_ap.errors import ParameterError, shown
from mediaeval_ap.plain_text import plain_text
from mediaeval_ap.tables.layouts import RecordLayout, column_at
from mediaeval_ap.tables.records import Records

Columns = Mapping[str, str | int]  # the name or position of the column of each role
Shape = Mapping[str, str | None]  # the challenge's own name of each role; None if it has none
NUMBERS = ('confidence',)  # roles of columns that hold numbers
OPTIONS = {'columns': '--columns', 'truth_columns': '--truth-columns'}

# What a first line without data would have above ids.
_heads_ids = re.compile(
    r'(?i:(?:.*[ _-])?id|fname|filename|image|query|sample|user)|.*[a-z]I[dD]'
).fullmatch


def layouts_of_files(
    truth: Sequence[Shape],
    predictions: Sequence[Shape],
    columns: Any,
    truth_columns: Any,
    *,
    other_numbers: bool = False,
) -> tuple[list[RecordLayout], list[RecordLayout]]:
    """Return the layouts of a truth and of predictions; `columns` holds for both if it is alone."""
    given = _checked(columns, 'columns')
    if truth_columns is not None:
        alone = _checked(truth_columns, 'truth_columns')
        return (
            _layouts(truth, alone, 'truth_columns'),
            _layouts(predictions, given, 'columns', other_numbers=other_numbers),
        )
    of_truth, of_predictions = _roles(truth), _roles(predictions)
    if given.keys() - of_truth - of_predictions:
        raise _wrong_roles(given, [*predictions, *truth], 'columns')
    layouts_of_predictions = _layouts(
        predictions, _only(given, of_predictions), 'columns', other_numbers=other_numbers
    )
    layouts_of_truth = _layouts(truth, _only(given, of_truth), 'columns', is_shared=True)
    return layouts_of_truth, layouts_of_predictions


def as_text(columns: Columns) -> str:
    """Return columns as the command takes them."""
    return ','.join(f'{role}={column}' for role, column in columns.items())


def refuse_header(records: Records) -> None:
    """Refuse a header where columns are given by position, as it would be scored as data."""
    first = records['id'][0].as_py()
    if not records.layout.has_header and _heads_ids(first.strip()):
        expected = 'an id, as columns given by position mean a file without a header'
        raise records.error([0], 'id', f'{shown(first)}, as in a header', expected)


def _checked(columns: Any, parameter: str) -> dict[str, str | int]:
    """Return columns by role, each once and all of one kind, names or positions."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        expected = "columns by role, as {'id': 'user', 'labels': 'items'}"
        raise ParameterError(f'{parameter}: found {shown(columns)}, expected {expected}')
    checked = {str(role): _column(column, parameter) for role, column in columns.items()}
    if len({type(column) for column in checked.values()}) > 1:
        expected = 'either names or, for a file without a header, positions'
        raise ParameterError(f'{parameter}: found {as_text(checked)}, expected {expected}')
    if len(set(checked.values())) < len(checked):
        raise ParameterError(f'{parameter}: found {as_text(checked)}, expected each column once')
    return checked


def _column(column: Any, parameter: str) -> str | int:
    if text := plain_text(column):
        return text
    if isinstance(column, Integral) and not isinstance(column, bool) and int(column) > 0:
        return int(column)
    expected = 'the name of a column, or its position from 1'
    raise ParameterError(f'{parameter}: found {shown(column)}, expected {expected}')


def _roles(shapes: Sequence[Shape]) -> set[str]:
    return {role for shape in shapes for role in shape}


def _only(given: Columns, roles: set[str]) -> dict[str, str | int]:
    return {role: column for role, column in given.items() if role in roles}


def _wrong_roles(given: Columns, shapes: Sequence[Shape], parameter: str) -> ParameterError:
    known = ' or '.join(dict.fromkeys(','.join(shape) for shape in shapes))
    if any(isinstance(column, int) for column in given.values()):
        known = f'the positions of {known}'
    return ParameterError(f'{parameter}: found {",".join(given)}, expected {known}')


def _layouts(
    shapes: Sequence[Shape],
    given: Columns,
    parameter: str,
    *,
    other_numbers: bool = False,
    is_shared: bool = False,
) -> list[RecordLayout]:
    """Return the layouts of a file, by the shapes that have the given roles."""
    by_position = any(isinstance(column, int) for column in given.values())
    if by_position and other_numbers:
        expected = 'the name of a column, as only a header names the classes'
        raise ParameterError(f'{parameter}: found {as_text(given)}, expected {expected}')
    fitting = [
        {role: given.get(role, name) for role, name in shape.items()}
        for shape in shapes
        if given.keys() <= shape.keys() and not (by_position and shape.keys() - given.keys())
    ]
    fitting = [columns for columns in fitting if None not in columns.values()]
    if not fitting:
        raise _wrong_roles(given, shapes, parameter)
    remedy = ''
    if not given or is_shared:
        option = 'truth_columns' if is_shared else parameter
        roles = ' or '.join(','.join(f'{role}=…' for role in shape) for shape in shapes)
        remedy = f'; name other columns by {OPTIONS[option]} {roles}, in Python {option}='
    return [_layout(columns, other_numbers, not by_position, remedy) for columns in fitting]


def _layout(
    columns: Mapping[str, Any], other_numbers: bool, has_header: bool, remedy: str
) -> RecordLayout:
    roles = sorted(columns, key=lambda role: role in NUMBERS)
    names = {role: columns[role] if has_header else column_at(columns[role]) for role in roles}
    return RecordLayout(
        texts=tuple(name for role, name in names.items() if role not in NUMBERS),
        numbers=tuple(name for role, name in names.items() if role in NUMBERS),
        roles=tuple(roles),
        other_numbers=other_numbers,
        has_header=has_header,
        remedy=remedy,
    )
