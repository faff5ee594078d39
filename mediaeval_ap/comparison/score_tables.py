"""Scores that any tool computed, as tables of items, systems and values: the runs of a comparison.

An item counts as a query, and a system as a run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import check_policy, plain_text
from mediaeval_ap.comparison.comparable_runs import NAMES_REMEDY, Runs
from mediaeval_ap.comparison.settings import MISSING_SCORES
from mediaeval_ap.errors import FormatError, ParameterError, ReadError, printable, shown
from mediaeval_ap.results.run_names import run_names
from mediaeval_ap.tables import Source
from mediaeval_ap.tables.columnar import names_of_columns
from mediaeval_ap.tables.json_text import parsed_json, parsed_lines
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.reading import Origin, OriginKind
from mediaeval_ap.tables.records import Records, choose_layout, from_table, read_records
from mediaeval_ap.tables.rows import as_double
from mediaeval_ap.tables.sources import COLUMNAR_FORMATS, ByteSource
from mediaeval_ap.tables.table import LineNumbers
from mediaeval_ap.tables.text.format import EXACT_NUMBER

ROLES = ('item', 'system', 'value', 'cluster')
SHAPES = 'item,system,value, or item,value, or item and a column of numbers for each system'
REMEDY = '; name other columns by --columns item=…,system=…,value=…, in Python columns='
MISSING_REMEDY = "; drop such items by --missing skip, in Python missing='skip'"
N_FIRST_BYTES = 1 << 16  # which hold the header of some thousand systems
KINDS = (OriginKind.TEXT, OriginKind.COLUMNAR, OriginKind.FRAME)
Tables = list[tuple[str, Any]]


def tables_in(results: object) -> Tables | None:
    """Return the score tables that are compared, with the names they were given; None of others."""
    if _is_table(results):
        return [_named(results)]
    if isinstance(results, Mapping):
        given = [(plain_text(name) or '', each) for name, each in results.items()]
    else:
        given = list(map(_named, results)) if isinstance(results, list | tuple) else []
    return given if given and all(_is_table(each) for _, each in given) else None


def _named(table: Any) -> tuple[str, Any]:
    return (getattr(table, 'given', '') if isinstance(table, str) else ''), table


def _is_table(value: object) -> bool:
    return Origin.of(value).kind in KINDS


def holds_scores(path: str, item: str = 'item') -> bool:
    """Return whether a regular file has a header, or objects of JSON, with the column of items."""
    source = ByteSource(path)
    with suppress(ReadError, FormatError):
        if source.is_stored and source.format in COLUMNAR_FORMATS:
            return item in names_of_columns(source)
        line = _first_line(source)
        if line.startswith(b'{'):
            row = parsed_json(line, path)
            return item in row and not any(isinstance(each, dict | list) for each in row.values())
        between = b'[\t]' if '.tsv' in path.lower() else b'[,;]'  # a row of a run may have tabs
        return item.encode() in (each.strip(b'" \r') for each in re.split(between, line))
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
    check_policy('missing', missing, MISSING_SCORES)
    names = _checked_columns(columns or {})
    bounds = None if range is None else _checked_range(range)
    layouts = _layouts(names, columns or {}, by)
    paths = [
        os.fsdecode(table) if isinstance(table, str | os.PathLike) else f'table {number}'
        for number, (_, table) in enumerate(tables, 1)
    ]
    called = run_names(paths, [name for name, _ in tables])
    files = [_read(table, layouts) for _, table in tables]
    cells = [
        _cells(records, names['value'], name, given)
        for records, name, (given, _) in zip(files, called, tables, strict=True)
    ]
    items = sorted(set(chain.from_iterable(records['item'].to_pylist() for records in files)))
    by_system: dict[str, NDArray[np.float64]] = {}
    sources: dict[str, Source] = {}
    place = {item: number for number, item in enumerate(items)}
    clusters: dict[str, dict[str, str]] = {'cluster': {}, 'group': {}}
    for records, columns_of in zip(files, cells, strict=True):
        at = np.array([place[item] for item in records['item'].to_pylist()])
        for system, rows, values in columns_of:
            known = by_system.setdefault(system, np.full(len(items), np.nan))
            sources.setdefault(system, records.source)
            first = np.full(len(items), -1)
            first[at[rows][::-1]] = rows[::-1]
            again = rows[(first[at[rows]] != rows) | ~np.isnan(known[at[rows]])]
            if len(again):
                found = f'{shown(items[at[again[0]]])} of {shown(system)} again'
                raise records.error(again, 'item', found, f'each item once; {NAMES_REMEDY}')
            known[at[rows]] = values
            if bounds and len(wrong := rows[(values < bounds[0]) | (values > bounds[1])]):
                found = f'{values[rows == wrong[0]][0]:g} of {shown(system)}'
                field = 'value' if 'value' in records.layout.by_role else system
                expected = f'a number from {bounds[0]:g} to {bounds[1]:g}, the range'
                raise records.error(wrong, field, found, expected)
        for role, known_groups in clusters.items():
            if role in records.layout.by_role:
                _add_groups(records, role, known_groups)
    if by == names['cluster']:
        clusters['group'] = clusters['cluster']
    return _runs(by_system, items, clusters, missing, bounds, sources, names['value'])


def _add_groups(records: Records, role: str, known: dict[str, str]) -> None:
    """Add the cluster, or the group, of each item; refuse one that has two."""
    records.refuse_empty(role)
    both = zip(records['item'].to_pylist(), records[role].to_pylist(), strict=True)
    for row, (item, group) in enumerate(both):
        if known.setdefault(item, group) != group:
            found = f'{shown(group)} for {shown(item)}'
            raise records.error([row], role, found, f'{shown(known[item])} as before')


def _runs(
    by_system: Mapping[str, NDArray[np.float64]],
    items: list[str],
    groups: Mapping[str, Mapping[str, str]],
    missing: str,
    bounds: tuple[float, float] | None,
    sources: Mapping[str, Source],
    metric: str,
) -> Runs:
    """Return the systems by name, on the items that all of them have."""
    systems = sorted(by_system)
    values = np.array([by_system[system] for system in systems])
    lacking, notes = np.isnan(values).any(axis=0), []
    if n_lacking := int(np.count_nonzero(lacking)):
        at = int(np.flatnonzero(lacking)[0])
        system = systems[int(np.isnan(values[:, at]).argmax())]
        told = f'{n_lacking:,} of {len(items):,} items without a value of some system'
        if missing == 'error' or n_lacking == len(items):
            remedy = MISSING_REMEDY if missing == 'error' else ''
            raise ParameterError(
                f'compare: found {told}, as {shown(items[at])} of {shown(system)}, '
                f'expected one for each item and system{remedy}'
            )
        notes.append(f'{told}: left out')
    kept = [item for item, lacks in zip(items, lacking, strict=True) if not lacks]
    values = values[:, ~lacking]
    low, high = bounds or (0.0, 1.0)
    if not bounds and (values.min() < low or values.max() > high):
        low, high = float(values.min()), float(values.max())
    found = {}
    for role, known in groups.items():
        if known and (without := [each for each in kept if each not in known]):
            found_none = f'found no {role} of {shown(without[0])}'
            raise ParameterError(f'compare: {found_none}, expected one for each item')
        found[role] = [known[each] for each in kept] if known else None
    return Runs(
        names=systems,
        metrics=[metric],
        queries=kept,
        values=values[None],
        n_relevant=None,
        floor={},
        definition=None,
        sources=dict(sources),
        inputs={},
        notes=notes,
        kind='scores',
        n_skipped=None,
        clusters=found['cluster'],
        groups=found['group'],
        range=[low, high],
    )


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
    with_groups = [{'cluster': names['cluster']}]
    if 'cluster' not in given:
        with_groups.append({})
    if by is not None and by not in names.values():
        with_groups = [*({**each, 'group': by} for each in with_groups), *with_groups]
    layouts = []
    for number, shape in enumerate([('system', 'value'), ('value',), ()]):
        if {'system', 'value'} & given.keys() - {*shape}:
            continue
        for groups in with_groups:
            texts = {role: names[role] for role in ROLES[: 2 - (number > 0)]} | groups
            numbers = (names['value'],) if 'value' in shape else ()
            layout = RecordLayout(
                tuple(texts.values()),
                classes=frozenset(numbers),
                numbers=numbers,
                roles=(*texts, *shape[-1:]),
                remedy=REMEDY,
                described=SHAPES,
            )
            layouts.append(layout if shape else replace(layout, other_numbers=True, may_lack=True))
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


def _cells(
    records: Records, value: str, name: str, given: str
) -> list[tuple[str, NDArray[np.intp], NDArray[np.float64]]]:
    """Return the rows and values of each system of a table; `name` is that of the table."""
    layout = records.layout
    if value not in layout.numbers:  # a column for each system
        columns = {system: records.columns[system].to_numpy() for system in layout.numbers}
    elif 'system' not in layout.by_role:
        columns = {name: records['value'].to_numpy()}
    else:
        codes = records['system'].dictionary_encode()
        number, values = codes.indices.to_numpy(), records['value'].to_numpy()
        columns = {
            system: np.where(number == code, values, np.nan)
            for code, system in enumerate(codes.dictionary.to_pylist())
        }
    if given and len(columns) > 1:
        raise ParameterError(
            f'compare: found the name {shown(given)} for {printable(records.source.name)}, '
            f'a table of {len(columns)} systems, expected none'
        )
    found = []
    for system, values in columns.items():
        rows = np.flatnonzero(~np.isnan(values))
        found.append((given or system, rows, values[rows]))
    return found
