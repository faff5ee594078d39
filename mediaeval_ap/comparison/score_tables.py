"""Scores that any tool computed, as tables of items, systems and values: the runs of a comparison.

An item counts as a query, and a system as a run.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import MISSING, MISSING_REMEDY, check_policy, plain_text
from mediaeval_ap.comparison.comparable_runs import Runs
from mediaeval_ap.errors import FormatError, ParameterError, ReadError, counted, printable, shown
from mediaeval_ap.results.result import ALL_QUERIES, N_QUERIES, kind_of_metric
from mediaeval_ap.results.run_names import run_names
from mediaeval_ap.tables import Provenance
from mediaeval_ap.tables.columnar import names_of_columns, read_columns
from mediaeval_ap.tables.layouts import IN_PARQUET, UNNAMED, RecordLayout
from mediaeval_ap.tables.reading import InputKind, TableInput
from mediaeval_ap.tables.records import Records, choose_layout, from_table, read_records
from mediaeval_ap.tables.rows import as_double
from mediaeval_ap.tables.sources import COLUMNAR_FORMATS, ByteSource, parsed_lines
from mediaeval_ap.tables.table import Frame, LineNumbers
from mediaeval_ap.tables.text.line_rules import EXACT_NUMBER

if TYPE_CHECKING:
    import pandas

GROUPS = RecordLayout(('item', 'group'))
ROLES = ('item', 'system', 'value', 'cluster')
SHAPES = 'item,system,value, or item,value, or item and a column of numbers for each system'
REMEDY = '; name other columns by --columns item=…,system=…,value=…, in Python columns='
SYSTEMS_REMEDY = "name the columns by --systems NAME,..., in Python systems=['NAME', …]"
APART_REMEDY = (
    'each item once: name tables of one system by NAME=FILE, in Python by a mapping {name: table}, '
    'and equal systems of others apart in their columns'
)
N_FIRST_BYTES = 1 << 16  # which hold the header of some thousand systems
LEAST = 1e-100
MOST = 1e100  # sizes whose cubes are doubles, and sums of these
_TOTAL = '(?:all|average|avg|macro|mean|overall|sum|total)'
_STATISTIC = r'(?:count|max|median|min|std|[0-9]+%)'  # which stand beside a mean
TOTALS = rf'\W*(?:(?:grand|macro|micro|weighted)\W+)?{_TOTAL}\W*|{_STATISTIC}'
ROUNDED = 0.005  # of the largest value, or of 1: totals may have two digits
# What commands of this package write beside the values of queries.
OWN_TEXTS = ('metric', 'definition', 'n_relevant')
COUNTS = (N_QUERIES, 'n_labels')
_is_value = re.compile(r'value|(Ew)?AP(@[0-9]+)?|RR@[0-9]+').fullmatch
KINDS = (InputKind.TEXT, InputKind.COLUMNAR, InputKind.FRAME)
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
    are_tables = all(TableInput.of(each).kind in KINDS for _, each in given)
    return given if given and are_tables else None


def holds_scores(path: str, item: str = 'item') -> bool:
    """Return whether a regular file has a header, or objects of JSON, with the column of items."""
    source = ByteSource(path)
    with suppress(ReadError, RecursionError, ValueError):
        if source.is_stored and source.format in COLUMNAR_FORMATS:
            names: Sequence[str] = names_of_columns(source)
            return not {item, 'value', IN_PARQUET}.isdisjoint(names) or _is_own(names)
        if (start := _start(source)).startswith('{'):
            row, _ = json.JSONDecoder().raw_decode(start)
            names = [name for name, value in row.items() if not isinstance(value, dict | list)]
        else:
            between = '[\t]' if '.tsv' in path.lower() else '[,;]'  # a row of a run may have tabs
            names = [name.strip('" \r') for name in re.split(between, start.split('\n')[0])]
            if len(names) > 1 and names[0] in ('', UNNAMED):
                return True
        return item in names or _is_own(names)
    return False


def _start(source: ByteSource) -> str:
    """Return the first characters of a regular file."""
    return source.first_bytes(N_FIRST_BYTES).decode(errors='replace').lstrip(' \r\n')


def _is_own(names: Sequence[str]) -> bool:
    """Return whether these are columns of values by query that a command of this package wrote."""
    return {'run', 'query'} <= {*names} and not {*COUNTS}.isdisjoint(names)


@dataclass(frozen=True)
class _OwnLayout(RecordLayout):
    """Values by query as commands of this package write them, with a row of means for each run."""

    value: str = ''  # the column of values; '' for all of them

    @property
    def values(self) -> list[str]:
        """The columns of values."""
        return [name for name in self.numbers if not name.startswith(COUNTS)]

    def explain(self, header: Sequence[str]) -> tuple[str, str] | None:
        own = self.of_header(header)
        if _is_own(header) and own.values and self.value not in OWN_TEXTS:
            return RecordLayout.explain(own, header)
        return super().explain(header) or ('no run', self.expected)

    def of_header(self, header: Sequence[str]) -> _OwnLayout:
        texts = {'item': 'query', 'system': 'run'}
        texts |= {name: name for name in OWN_TEXTS if name in header}

        def is_read(name: str) -> bool:
            is_measure = f'{N_QUERIES}_{name}' in header
            is_value = name == self.value if self.value else is_measure or _is_value(name)
            return bool(is_value) or name.startswith(COUNTS)

        numbers = tuple(filter(is_read, header))
        roles = (*texts, *numbers)
        return replace(self, texts=tuple(texts.values()), numbers=numbers, roles=roles)


def _checked_range(given: Any) -> tuple[float, float]:
    """Return the least and the largest value that there can be, or refuse what is no range."""
    try:
        low, high = given
        if -MOST <= low < high <= MOST:
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
    systems: Sequence[str] | None = None,
) -> Runs:
    """Read score tables; `by` is the column of groups, if they have one of that name."""
    import pandas

    check_policy('missing', missing, MISSING)
    names = _checked_columns(columns or {})
    bounds = None if range is None else _checked_range(range)
    if not isinstance(systems, list | tuple | None):
        raise ParameterError(f'systems: found {shown(systems)}, expected a list of names')
    layouts = _layouts(names, columns or {}, by, systems or ())
    origins = [table for _, table in tables]
    paths = [
        os.fsdecode(table) if isinstance(table, str | os.PathLike) else f'table {number}'
        for number, table in enumerate(origins, 1)
    ]
    given = [name for name, _ in tables]
    called = run_names(paths, given)
    files = [_read(table, layouts) for table in origins]
    for records in files:
        _refuse_numbers(records, may_be_others=bounds is None and not systems)
    by_metric = {}
    for metric, column in _metrics(files, names['value']).items():
        parts = zip(files, called, given, strict=True)
        every = [
            _cells(records, column, name, called_by, systems).assign(file=number)
            for number, (records, name, called_by) in enumerate(parts)
        ]
        cells = pandas.concat(every, ignore_index=True)
        lacking = [name for name in systems or () if name not in cells['system'].unique()]
        if lacking and not any(given):
            found = f'found {shown(lacking[0])}, which no table has'
            raise ParameterError(f'systems: {found}, expected systems, or columns of these')
        items = pandas.Index(cells['item'].unique()).sort_values()
        cells = _apart(cells, origins, files, called)
        first_files = cells.drop_duplicates('system').set_index('system')['file']
        cells = cells.dropna(subset='value')
        if bounds and len(outside := cells[~cells['value'].between(*bounds)]):
            first, rows = _first(outside)
            layout = files[first.file].layout
            fields = 'value', column, first.system, *layout.numbers
            field = next(filter(layout.by_role.__contains__, fields))
            found = f'{first.value:g} of {shown(first.system)}'
            expected = f'a number from {bounds[0]:g} to {bounds[1]:g}, the range'
            raise files[first.file].error(rows, field, found, expected)
        table = cells.pivot(index='item', columns='system', values='value')
        table = table.reindex(index=items, columns=sorted(first_files.index))
        _refuse_totals(table, cells, files)
        table, n_as_zero, notes = _without_lacking(table, missing, bounds)
        by_metric[metric] = table.to_numpy().T
    values = np.array([*by_metric.values()])
    low, high = bounds or (0.0, 1.0)
    is_declared = bounds is not None or (low <= values.min() and values.max() <= high)
    if not is_declared:
        low = float(values.min())
        high = float(values.max())
    clusters = _groups(files, 'cluster', table.index)
    return Runs(
        names=table.columns.tolist(),
        metrics=[*by_metric],
        queries=table.index.tolist(),
        values=values,
        sources={str(system): files[number].source for system, number in first_files.items()},
        notes=[*chain.from_iterable(map(Records.notes, files, paths)), *notes],
        kind='scores',
        clusters=clusters,
        groups=clusters if by == names['cluster'] else _groups(files, 'group', table.index),
        range=[low, high],
        is_range_declared=bool(is_declared),
        n_as_zero=n_as_zero,
    )


def _metrics(files: Sequence[Records], value: str) -> dict[str, str]:
    """Return the column of each metric, which all files have."""
    own = [records for records in files if isinstance(records.layout, _OwnLayout)]
    columns = [value]
    for records in files:
        before = columns
        layout = records.layout
        columns = layout.values if isinstance(layout, _OwnLayout) else [value]
        if columns != before and records is not files[0]:
            found = f'values {", ".join(columns)}'
            expected = f'{", ".join(before)} as before'
            remedy = 'name one of all files by --columns value=…, in Python columns='
            raise FormatError(records.source.name, '', '', found, f'{expected}; {remedy}')
    for role in OWN_TEXTS:
        _groups(own, role, ())  # refuses runs of which an item has another text
    has_metric = bool(own) and 'metric' in own[0].layout.by_role
    metric = own[0]['metric'][0].as_py() if has_metric else value
    if no_mean := (kind := kind_of_metric(metric)).no_mean:
        remedy = '' if kind.is_one_list else '; give results of --format json --per-query'
        expected = f'a metric with a value by query: {no_mean}{remedy}'
        raise ParameterError(f'compare: found {metric}, expected {expected}')
    counts = own[0].layout.numbers if own else ()
    measures = [name for name in columns if f'{N_QUERIES}_{name}' in counts]
    columns.sort(key=measures[:1].__contains__)  # claims are about the last metric
    return {metric if name == 'value' else name: name for name in columns}


def _apart(
    cells: pandas.DataFrame, origins: Sequence[Any], files: Sequence[Records], called: Sequence[str]
) -> pandas.DataFrame:
    """Name equal systems of several files by these, if each has no other; refuse an item twice."""
    filled = cells.dropna(subset='value')
    keys = ['item', 'system', 'file']
    if not len(again := filled[filled.duplicated(keys[:2])]):
        return cells
    in_one_file = filled[filled.duplicated(keys)]
    are_equal = cells['system'].isin(again['system'])
    n_systems = cells.groupby('file')['system'].nunique()[cells['file'][are_equal].unique()]
    has_path = all(files[number].source.sha256 for number in n_systems.index)
    if called and has_path and (n_systems == 1).all() and not len(in_one_file):
        by_file = cells['file'].map(dict(enumerate(called)))
        named = cells.assign(system=cells['system'].mask(are_equal, by_file))
        return _apart(named, origins, files, ())
    first, rows = _first(in_one_file if len(in_one_file) else again)
    records = files[first.file]
    found = f'{shown(first.item)} of {shown(first.system)} again'
    expected = APART_REMEDY
    if len(in_one_file):
        alike = filled[(filled[keys] == [first.item, first.system, first.file]).all(axis=1)]
        found = f'{len(alike)} rows for {shown(first.item)} of {shown(first.system)}'
        if differing := _differing(origins[first.file], records, alike['row'].to_numpy()[:2]):
            found += f', as {", ".join(differing)} {"differs" if len(differing) == 1 else "differ"}'
        remedy = f'or give ids of rows by --columns item=…,cluster={records.layout.by_role["item"]}'
        expected = f'one: average them first, {remedy}'
    raise records.error(rows, 'item', found, expected)


def _differing(table: Any, records: Records, rows: NDArray[np.intp]) -> list[str]:
    """Return the columns, of those that were not read, in which two rows of a table differ."""
    import pandas

    origin = TableInput.of(table)
    known = records.layout.by_role.values()
    frame = origin.value if origin.kind is InputKind.FRAME else pandas.DataFrame()
    if origin.kind is InputKind.COLUMNAR:
        frame = read_columns(origin.value, lambda schema: schema.names)[0].to_pandas()
    elif origin.kind is InputKind.TEXT and origin.value.is_stored:
        with origin.value.open() as stream:
            if _start(origin.value).startswith('{'):
                frame = pandas.DataFrame(parsed_lines(stream, '', '', nan=True)[0])
            else:
                between = '\t' if '.tsv' in origin.value.name.lower() else ','
                frame = pandas.read_csv(stream, sep=between, dtype=str)
    pair = frame.iloc[rows if len(frame) else []].astype(str)
    return [str(name) for name in pair if name not in known and pair[name].nunique() > 1]


def _refuse_numbers(records: Records, *, may_be_others: bool) -> None:
    """Refuse values that cannot be added, and columns of other numbers beside those of systems."""
    by_role = records.layout.by_role
    numbers = records.layout.numbers
    values = {role: records[role].to_numpy() for role, name in by_role.items() if name in numbers}
    outside = {}
    for role, column in values.items():
        sizes = np.abs(column)
        if len(wrong := np.flatnonzero((sizes > MOST) | ((sizes > 0) & (sizes < LEAST)))):
            expected = f'0, or a size from {LEAST:g} to {MOST:g}, so that values can be added'
            raise records.error(wrong, role, f'{column[wrong[0]]:g}', expected)
        outside[role] = np.flatnonzero(np.abs(column - 0.5) > 0.5 + 1e-9)  # but for rounding
    inside = [role for role, rows in outside.items() if not len(rows) and (values[role] >= 0).any()]
    is_wide = not {'system', 'value'} & by_role.keys()
    for role, rows in outside.items() if may_be_others and is_wide and inside else ():
        if len(rows):
            expected = f'a number from 0 to 1, as {shown(inside[0])} has: {SYSTEMS_REMEDY}'
            found = f'{values[role][rows[0]]:g}'
            raise records.error(rows, role, found, f'{expected}, or give --range LOW,HIGH')


def _refuse_totals(
    table: pandas.DataFrame, cells: pandas.DataFrame, files: Sequence[Records]
) -> None:
    """Refuse an item called as a total whose values are the means, or sums, of all other items."""
    totals = table.index[table.index.str.lower().str.fullmatch(TOTALS)]
    for item in totals:
        others = table.drop(index=totals)
        values = table.loc[item].dropna()
        most = ROUNDED * others.abs().max().clip(lower=1)
        for name, of_others in ('means', others.mean()), ('sums', others.sum()):
            if len(values) and ((values - of_others).abs() <= most)[values.index].all():
                first, _ = _first(cells[cells['item'] == item])
                found = f'{shown(item)}, whose values are the {name} of the others'
                expected = 'items alone: leave it out, or keep it under another name'
                raise files[first.file].error([first.row], 'item', found, expected)


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
        item = table.index[row]
        system = table.columns[column]
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
    if lacking := [item for item in items if item not in known]:
        found = f'no row of {shown(lacking[0])}'
        if more := len(lacking) - 1:
            found += f' and {counted(more, "other", "others")}'
        names = ', '.join(records.source.name for records in files)
        raise FormatError(names, '', role, found, f'one with the {role} of each item')
    return [known[item] for item in items]


def groups_in_file(origin: Frame, items: Sequence[str]) -> tuple[list[str], Provenance]:
    """Return the group of each item by a table of item,group, and its source."""
    records = read_records(TableInput.of(origin), [GROUPS])
    records.refuse_empty('item')
    return _groups([records], 'group', items) or [], records.source


def _checked_columns(columns: Mapping[str, str]) -> dict[str, str]:
    """Return the name of the column of each role."""
    names = {role: role for role in ROLES} | dict(columns)
    is_text = all(isinstance(name, str) for name in names.values())
    if names.keys() != {*ROLES} or not is_text or len({*names.values()}) < len(names):
        expected = f'different names of the header, for {", ".join(ROLES)}'
        raise ParameterError(f'columns: found {shown(columns)}, expected {expected}')
    return names


def _layouts(
    names: Mapping[str, str], given: Mapping[str, str], by: str | None, systems: Sequence[str]
) -> list[RecordLayout]:
    """Return the layouts of score tables, those with most columns first."""
    of_groups: list[tuple[str, ...]] = [('cluster',)] if 'cluster' in given else [('cluster',), ()]
    if by is not None and by not in names.values():
        names = {**names, 'group': by}
        of_groups = [*((*roles, 'group') for roles in of_groups), *of_groups]
    layouts: list[RecordLayout] = []
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
                classes=frozenset(values or systems),
                numbers=values,
                roles=(*texts, *more, *numbers),
                remedy=REMEDY,
                may_lack=not values,
                described=SHAPES,
            )
            layouts.append(layout)
    own = {'item': 'query', 'system': 'run', 'value': given.get('value', '')}
    if {**own, **given} == own:
        layouts.insert(0, _OwnLayout(**vars(layouts[0]), value=own['value']))
    return layouts


def _read(table: Any, layouts: Sequence[RecordLayout]) -> Records:
    """Read one table: CSV, Parquet, a frame, or JSON lines in a regular file."""
    origin = TableInput.of(table)
    is_json = origin.kind is InputKind.TEXT and _start(origin.value).startswith('{')
    try:
        records = _from_json(origin.value, layouts) if is_json else read_records(origin, layouts)
    except FormatError as error:
        if error.field in {'', *chain(*(layout.columns(()) for layout in layouts))}:
            raise
        error.expected += f': {SYSTEMS_REMEDY}'
        raise FormatError(*error.__reduce__()[1]) from None
    records.refuse_empty('item')
    if 'system' in records.layout.numbers:
        expected = f'names of systems, and a column of values{REMEDY}'
        raise FormatError(records.source.name, '', 'system', 'numbers alone', expected)
    if 'system' in records.layout.by_role:
        records.refuse_empty('system')
    return _without_means(records) if isinstance(records.layout, _OwnLayout) else records


def _without_means(records: Records) -> Records:
    """Leave out the rows of means of own files, and queries that the means leave out."""
    import pandas
    import pyarrow

    by_role = records.layout.by_role
    runs = records['system'].to_pandas()
    counts = pandas.Series(records[next(name for name in COUNTS if name in by_role)])
    are_means = records['item'].to_pandas().eq(ALL_QUERIES) & counts.notna()
    kept = ~are_means
    if 'n_relevant' in by_role:
        n_queries = runs.map(counts[are_means].groupby(runs).max())
        are_fewer = n_queries < runs.map(runs[kept].value_counts())
        kept &= ~(are_fewer & records['n_relevant'].to_pandas().eq('0'))
    if not kept.any():
        expected = 'values of queries: write it with --per-query'
        raise FormatError(records.source.name, '', '', 'means alone', expected)
    columns = records.columns.filter(pyarrow.array(kept)).combine_chunks()
    return replace(records, columns=columns, lines=records.lines.select(kept.to_numpy()))


def _from_json(source: ByteSource, layouts: Sequence[RecordLayout]) -> Records:
    """Read objects, in which ids are text or integers, and stay as they are written."""
    import pyarrow

    with source.open() as stream:
        rows, lines = parsed_lines(stream, source.name, 'an object of JSON on each line', nan=True)
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
    # Half of a surrogate pair, which JSON may escape, is no text.
    is_text = type(value) is str and value.encode(errors='ignore').decode() == value
    return str(value) if is_text or type(value) is int else None


def _number(value: object) -> float | None:
    return as_double(int(value) if isinstance(value, bool) else value)


def _cells(
    records: Records, value: str, name: str, given: str, systems: Sequence[str] | None
) -> pandas.DataFrame:
    """Return system, row, value and item of each cell of a table; `name` is that of the table."""
    import pandas

    layout = records.layout
    if value not in layout.numbers:  # a column for each system
        wide = records.columns.select(list(layout.numbers)).to_pandas()
        wide = wide.rename_axis(index='row', columns='system')
        cells: pandas.DataFrame = wide.unstack().rename('value').reset_index()
    else:
        system = records['system'].to_pandas() if 'system' in layout.by_role else name
        values = records[value if value in layout.by_role else 'value']
        numbers = {'row': np.arange(len(records)), 'value': values.to_numpy()}
        cells = pandas.DataFrame({'system': system, **numbers})
    if systems:
        cells = cells[cells['system'].isin(systems)]
    if given and (n_systems := cells['system'].nunique()) > 1:
        raise ParameterError(
            f'compare: found the name {shown(given)} for {printable(records.source.name)}, '
            f'a table of {n_systems} systems, expected none'
        )
    items = records['item'].to_pandas().take(cells['row']).to_numpy()
    return cells.assign(system=given or cells['system'], item=items)
