"""Scores that any tool computed, as tables of items, systems and values: the runs of a comparison.

An item counts as a query, and a system as a run.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import MISSING, check_policy, plain_text
from mediaeval_ap.comparison.comparable_runs import NAMES_REMEDY, Runs
from mediaeval_ap.errors import FormatError, ParameterError, ReadError, counted, printable, shown
from mediaeval_ap.results.run_names import run_names
from mediaeval_ap.tables import Source
from mediaeval_ap.tables.columnar import names_of_columns
from mediaeval_ap.tables.layouts import UNNAMED, RecordLayout
from mediaeval_ap.tables.reading import Origin, OriginKind
from mediaeval_ap.tables.records import Records, choose_layout, from_table, read_records
from mediaeval_ap.tables.rows import as_double
from mediaeval_ap.tables.sources import COLUMNAR_FORMATS, ByteSource, parsed_json, parsed_lines
from mediaeval_ap.tables.table import Frame, LineNumbers
from mediaeval_ap.tables.text.format import EXACT_NUMBER

if TYPE_CHECKING:
    import pandas

GROUPS = RecordLayout(('item', 'group'))
ROLES = ('item', 'system', 'value', 'cluster')
SHAPES = 'item,system,value, or item,value, or item and a column of numbers for each system'
REMEDY = '; name other columns by --columns item=…,system=…,value=…, in Python columns='
MISSING_REMEDY = (
    "; drop such items, or count them as 0, by --missing skip or zero, in Python missing='skip' or "
    "'zero'"
)
N_FIRST_BYTES = 1 << 16  # which hold the header of some thousand systems
KINDS = (OriginKind.TEXT, OriginKind.COLUMNAR, OriginKind.FRAME)
Tables = list[tuple[str, Any]]


def tables_in(results: object) -> Tables | None:
    """Return the score tables that are compared, with the names they were given; None of others."""
    if isinstance(results, Mapping):
        given = [(plain_text(name) or '', each) for name, each in results.items()]
    else:
        listed = results if isinstance(results, list | tuple) else [results]
        given = [
            (getattr(each, 'given', '') if isinstance(each, str) else '', each) for each in listed
        ]
    are_tables = all(Origin.of(each).kind in KINDS for _, each in given)
    return given if given and are_tables else None


def holds_scores(path: str, item: str = 'item') -> bool:
    """Return whether a regular file has a header, or objects of JSON, with the column of items."""
    source = ByteSource(path)
    with suppress(ReadError, FormatError):
        if source.is_stored and source.format in COLUMNAR_FORMATS:
            return not {item, 'value'}.isdisjoint(names_of_columns(source))
        line = _first_line(source)
        if line.startswith(b'{'):
            row = parsed_json(line, path)
            return item in row and not any(isinstance(each, dict | list) for each in row.values())
        between = b'[\t]' if '.tsv' in path.lower() else b'[,;]'  # a row of a run may have tabs
        cells = [each.strip(b'" \r').decode(errors='replace') for each in re.split(between, line)]
        return item in cells or (len(cells) > 1 and cells[0] in ('', UNNAMED))
    return False


def _first_line(source: ByteSource) -> bytes:
    return source.first_bytes(N_FIRST_BYTES).split(b'\n')[0]


def _checked_range(given: Any) -> tuple[float, float]:
    """Return the least and the largest value that there can be, or refuse what is no range."""
    try:
        low, high = given
        if -np.inf < low < high < np.inf:
            return float(low), float(high)
    except (TypeError, ValueError):
        pass
    raise ParameterError(f'range: found {shown(given)}, expected two numbers, as (0, 1)')


def read_scores(
    tables: Tables,
    columns: Mapping[str, str] | None = None,
    missing: str = 'error',
    range: tuple[float, float] | None = None,
    by: str | None = None,
) -> Runs:
    """Read score tables; `by` is the column of groups, if they have one of that name."""
    import pandas

    check_policy('missing', missing, MISSING)
    names = _checked_columns(columns or {})
    bounds = None if range is None else _checked_range(range)
    layouts = _layouts(names, columns or {}, by)
    paths = [
        os.fsdecode(table) if isinstance(table, str | os.PathLike) else f'table {number}'
        for number, (_, table) in enumerate(tables, 1)
    ]
    given = [name for name, _ in tables]
    called = run_names(paths, given)
    files = [_read(table, layouts) for _, table in tables]
    parts = zip(files, called, given, strict=True)
    every = [
        _cells(records, names['value'], *both).assign(file=number)
        for number, (records, *both) in enumerate(parts)
    ]
    cells = pandas.concat(every, ignore_index=True)
    items = pandas.Index(cells['item'].unique()).sort_values()
    first_files = cells.drop_duplicates('system').set_index('system')['file']
    cells = cells.dropna(subset='value')
    if len(again := cells[cells.duplicated(['item', 'system'])]):
        first, rows = _first(again)
        found = f'{shown(first.item)} of {shown(first.system)} again'
        raise files[first.file].error(rows, 'item', found, f'each item once; {NAMES_REMEDY}')
    if bounds and len(outside := cells[~cells['value'].between(*bounds)]):
        first, rows = _first(outside)
        field = 'value' if 'value' in files[first.file].layout.by_role else first.system
        found = f'{first.value:g} of {shown(first.system)}'
        expected = f'a number from {bounds[0]:g} to {bounds[1]:g}, the range'
        raise files[first.file].error(rows, field, found, expected)
    table = cells.pivot(index='item', columns='system', values='value')
    table = table.reindex(index=items, columns=sorted(first_files.index))
    table, n_as_zero, notes = _without_lacking(table, missing, bounds)
    values = np.ascontiguousarray(table.to_numpy().T)
    low, high = bounds or (0.0, 1.0)
    is_declared = bounds is not None or (low <= values.min() and values.max() <= high)
    if not is_declared:
        low, high = float(values.min()), float(values.max())
    clusters = _groups(files, 'cluster', table.index)
    return Runs(
        names=table.columns.tolist(),
        metrics=[names['value']],
        queries=table.index.tolist(),
        values=values[None],
        sources={str(system): files[number].source for system, number in first_files.items()},
        notes=[*chain.from_iterable(map(Records.notes, files, paths)), *notes],
        kind='scores',
        clusters=clusters,
        groups=clusters if by == names['cluster'] else _groups(files, 'group', table.index),
        range=[low, high],
        is_range_declared=bool(is_declared),
        n_as_zero=n_as_zero,
    )


def _first(wrong: pandas.DataFrame) -> tuple[Any, NDArray[np.intp]]:
    """Return the first wrong cell, and the rows of all that are wrong in its file and system."""
    first: Any = next(wrong.itertuples())
    alike = (wrong['file'] == first.file) & (wrong['system'] == first.system)
    return first, wrong.loc[alike, 'row'].to_numpy()


def _without_lacking(
    table: pandas.DataFrame, missing: str, bounds: tuple[float, float] | None
) -> tuple[pandas.DataFrame, dict[str, int], list[str]]:
    """Drop items that some system lacks, or count them as 0 (how many, by system), or refuse."""
    lacking = table.isna().any(axis=1)
    n_lacking = int(lacking.sum())
    if not n_lacking:
        return table, {}, []
    told = f'{n_lacking:,} of {len(table):,} items without a value of some system'
    known = table.notna().to_numpy()
    n_common = known.T.astype(int) @ known  # of each pair of systems
    has_none_left = n_lacking == len(table) if missing == 'skip' else not n_common.all()
    if missing == 'error' or has_none_left:
        row, column = np.argwhere(table.isna().to_numpy())[0]
        item, system = table.index[row], table.columns[column]
        remedy = MISSING_REMEDY if missing == 'error' else ''
        raise ParameterError(
            f'compare: found {told}, as {shown(item)} of {shown(system)}, '
            f'expected one for each item and system{remedy}'
        )
    if missing == 'skip':
        return table[~lacking], {}, [f'{told}: left out']
    low, high = bounds or (-math.inf, float(np.nanmax(table.to_numpy())))
    if not low <= 0 <= high:
        where = f'0 is not between {low:g} and {high:g}, where values are'
        raise ParameterError(f"missing: found 'zero', expected 'skip': {where}")
    n_as_zero = {str(name): int(n) for name, n in table.isna().sum().items() if n}
    listed = ', '.join(f'{n:,} of {printable(name)}' for name, n in n_as_zero.items())
    return table.fillna(0), n_as_zero, [f'items without a value count as 0: {listed}']


def _groups(files: Sequence[Records], role: str, items: Iterable[str]) -> list[str] | None:
    """Return the cluster, or the group, of each item; refuse an item that has two, or none."""
    known: dict[str, str] = {}
    for records in files:
        if role not in records.layout.by_role:
            continue
        records.refuse_empty(role)
        both = zip(records['item'].to_pylist(), records[role].to_pylist(), strict=True)
        for row, (item, group) in enumerate(both):
            if known.setdefault(item, group) != group:
                found = f'{shown(group)} for {shown(item)}'
                raise records.error([row], role, found, f'{shown(known[item])} as before')
    if not known:
        return None
    if without := [item for item in items if item not in known]:
        found_none = f'found no {role} of {shown(without[0])}'
        raise ParameterError(f'compare: {found_none}, expected one for each item')
    return [known[item] for item in items]


def groups_in_file(origin: Frame, items: Sequence[str]) -> tuple[list[str], Source]:
    """Return the group of each item by a table of item,group, and its source."""
    records = read_records(Origin.of(origin), [GROUPS])
    for role in GROUPS.texts:
        records.refuse_empty(role)
    known: dict[str, str] = {}
    both = zip(records['item'].to_pylist(), records['group'].to_pylist(), strict=True)
    for row, (item, group) in enumerate(both):
        if item in known:
            raise records.error([row], 'item', f'{shown(item)} again', 'each item once')
        known[item] = group
    if lacking := [item for item in items if item not in known]:
        found = f'no row of {shown(lacking[0])}'
        if more := len(lacking) - 1:
            found += f' and {counted(more, "other", "others")}'
        expected = f'one for each of the {len(items):,} that are scored: add it, with any group'
        raise FormatError(records.source.name, '', 'item', found, expected)
    return [known[item] for item in items], records.source


def _checked_columns(columns: Mapping[str, str]) -> dict[str, str]:
    """Return the name of the column of each role."""
    names = {role: role for role in ROLES} | dict(columns)
    is_text = all(isinstance(name, str) for name in names.values())
    if names.keys() != {*ROLES} or not is_text or len({*names.values()}) < len(names):
        expected = f'different names of the header, for {", ".join(ROLES)}'
        raise ParameterError(f'columns: found {shown(columns)}, expected {expected}')
    return names


def _layouts(
    names: Mapping[str, str], given: Mapping[str, str], by: str | None
) -> list[RecordLayout]:
    """Return the layouts of score tables, those with most columns first."""
    of_groups: list[tuple[str, ...]] = [('cluster',)] if 'cluster' in given else [('cluster',), ()]
    if by is not None and by not in names.values():
        names = {**names, 'group': by}
        of_groups = [*((*roles, 'group') for roles in of_groups), *of_groups]
    layouts = []
    for texts, numbers in (
        (('item', 'system'), ('value',)),
        (('item',), ('value',)),
        (('item',), ()),
    ):
        if {'system', 'value'} & given.keys() - {*texts, *numbers}:
            continue
        for more in of_groups:
            values = tuple(names[role] for role in numbers)
            layout = RecordLayout(
                tuple(names[role] for role in (*texts, *more)),
                other_numbers=not values,
                classes=frozenset(values),
                numbers=values,
                roles=(*texts, *more, *numbers),
                remedy=REMEDY,
                may_lack=not values,
                described=SHAPES,
            )
            layouts.append(layout)
    return layouts


def _read(table: Any, layouts: Sequence[RecordLayout]) -> Records:
    """Read one table: CSV, Parquet, a frame, or JSON lines in a regular file."""
    origin = Origin.of(table)
    if origin.kind is OriginKind.TEXT and _first_line(origin.value).startswith(b'{'):
        records = _from_json_lines(origin.value, layouts)
    else:
        records = read_records(origin, layouts)
    records.refuse_empty('item')
    if 'system' in records.layout.by_role:
        records.refuse_empty('system')
    return records


def _from_json_lines(source: ByteSource, layouts: Sequence[RecordLayout]) -> Records:
    """Read objects, in which ids are text or integers, and stay as they are written."""
    import pyarrow

    with source.open() as stream:
        rows, lines = parsed_lines(stream, source.name, 'an object of JSON on each line')
    names = list(dict.fromkeys(chain.from_iterable(rows)))
    layout = choose_layout(names, layouts, source.name, '')
    columns = {}
    for name in layout.columns(names):
        is_text = name in layout.texts
        converted, kind = (_text, 'large_string') if is_text else (_number, 'float64')
        given = [row.get(name) for row in rows]
        values = [None if each is None else converted(each) for each in given]
        columns[name] = pyarrow.array(values, kind)
        for line, value, known in zip(lines, given, values, strict=True):
            if known is None and value is not None:
                found = f'{shown(value)} ({type(value).__name__})'
                expected = 'text or an integer' if is_text else EXACT_NUMBER
                raise FormatError(source.name, f'line {line}', name, found, expected)
    records = from_table(pyarrow.table(columns), [layout], source.described())
    return replace(records, lines=LineNumbers('line', np.array(lines)))


def _text(value: object) -> str | None:
    return str(value) if type(value) in (str, int) else None


def _number(value: object) -> float | None:
    return as_double(int(value) if isinstance(value, bool) else value)


def _cells(records: Records, value: str, name: str, given: str) -> pandas.DataFrame:
    """Return system, row, value and item of each cell of a table; `name` is that of the table."""
    import pandas

    layout = records.layout
    if value not in layout.numbers:  # a column for each system
        wide = records.columns.select(list(layout.numbers)).to_pandas()
        wide = wide.rename_axis(index='row', columns='system')
        cells: pandas.DataFrame = wide.unstack().rename('value').reset_index()
    else:
        system = records['system'].to_pandas() if 'system' in layout.by_role else name
        numbers = {'row': np.arange(len(records)), 'value': records['value'].to_numpy()}
        cells = pandas.DataFrame({'system': system, **numbers})
    if given and (n_systems := cells['system'].nunique()) > 1:
        raise ParameterError(
            f'compare: found the name {shown(given)} for {printable(records.source.name)}, '
            f'a table of {n_systems} systems, expected none'
        )
    cells['system'] = given or cells['system']
    cells['item'] = records['item'].to_pandas().take(cells['row']).to_numpy()
    return cells
