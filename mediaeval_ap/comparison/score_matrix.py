"""The values of score tables as a matrix of items and systems, with the checks of all values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats
from mediaeval_ap.choices import MISSING_REMEDY
from mediaeval_ap.comparison.comparable_runs import mean_of_seeds, note_of_zeros
from mediaeval_ap.comparison.intervals import Range
from mediaeval_ap.comparison.score_files import (
    DATASET_COLUMNS,
    MEASURE_REMEDY,
    SYSTEMS_REMEDY,
    ScoreTable,
    TableOptions,
    frame_of,
    has_measures,
)
from mediaeval_ap.errors import (
    DataWarning,
    FormatError,
    NoOverlapWarning,
    ParameterError,
    abridged,
    printable,
    shown,
    warn_caller,
)
from mediaeval_ap.results.own_tables import OwnLayout
from mediaeval_ap.results.rounding import READ_ROUNDING
from mediaeval_ap.results.run_names import name_with_seed
from mediaeval_ap.tables.records import Records

if TYPE_CHECKING:
    import pandas

REPEATED_REMEDY = (
    'each item once: name tables of one system by NAME=FILE, in Python by a mapping {name: table}; '
    'in other tables, give each system a name of its own'
)
_TOTAL = '(?:all|average|avg|macro|mean|micro|overall|sum|total)s?'
_UNIT = '(?:of|over|score|value|result|item|query|querie|task|topic|dataset|sample)s?'
TOTAL_NAME = f'(?:(?:grand|weighted) )?{_TOTAL}(?: {_TOTAL}| {_UNIT})*'
STATISTIC = 'count|max|mean|median|min|std|(?:25|50|75)%'  # as describe() of pandas has
LARGEST_RATIO = 10  # of a median to the largest share; larger ones are of another scale


class ScoreMatrix(NamedTuple):
    """The values of a metric: a row for each item, a column for each system, none missing."""

    values: pandas.DataFrame  # means over seeds
    values_by_seed: dict[str, Floats]  # of systems of several seeds: (1, n_seeds, n_items)
    first_files: pandas.Series[int]  # of each system: the number of the first file that has it
    n_as_zero: dict[str, int]
    missing: str  # a note
    warnings: list[DataWarning]


def matrix_of(
    score_tables: Sequence[ScoreTable], column: str, options: TableOptions, bounds: Range | None
) -> ScoreMatrix:
    """Join a column of all score tables by item and system, and check the values."""
    import pandas

    systems = options.systems
    files = [table.records for table in score_tables]
    cells_by_table = [
        _cells(table, column, systems).assign(file=number)
        for number, table in enumerate(score_tables)
    ]
    cells = pandas.concat(cells_by_table, ignore_index=True)
    lacking = [name for name in systems or () if name not in cells['system'].unique()]
    if lacking and not any(table.given_name for table in score_tables):
        actual = f'found {shown(lacking[0])}, which no table has'
        raise ParameterError(f'{actual}, expected systems, or columns of these', 'systems')
    has_seed = cells['seed'] != ''
    if len(lacking_seed := cells[~has_seed & cells['system'].isin(cells['system'][has_seed])]):
        first, rows = _first_cell(lacking_seed)
        actual = f'no seed of {shown(first.system)}'
        raise files[first.file].error(rows, 'item', actual, 'one, as its other rows have')
    items = pandas.Index(cells['item'].unique()).sort_values()
    cells = _with_distinct_systems(cells, score_tables, may_rename=True)
    first_files = cells.drop_duplicates('system').set_index('system')['file']
    filled = cells.dropna(subset='value')
    if bounds is not None and len(outside := filled[~filled['value'].between(*bounds)]):
        expected = f'a number from {bounds[0]:g} to {bounds[1]:g}, the range'
        raise _value_error(outside, column, files, expected)
    if bounds is None:
        _check_one_scale(filled, column, files, may_hold_other_data=not systems)
    values = cells.groupby(['item', 'system', 'seed'])['value'].first().unstack(['system', 'seed'])
    values = values.reindex(index=items).sort_index(axis=1)
    # A seed that other systems have is none of a system without a value of it.
    is_empty = values.isna().all()
    values = values.loc[:, ~is_empty | is_empty.groupby(level='system').transform('all')]
    warnings = [*_check_no_totals(values, filled, files), *_lost_zeros(values)]
    remedy = MISSING_REMEDY
    if has_measures(files[0]) and values.isna().all(axis=1).any():
        remedy = f'; they have different measures: {MEASURE_REMEDY}'
    try:
        values, n_as_zero, note = _apply_missing_policy(values, options.missing, bounds, remedy)
    except ParameterError:
        warn_caller(warnings)  # they may name the cause
        raise
    seeds = {
        system: values.xs(system, axis=1, level='system').to_numpy().T
        for system in sorted(first_files.index)
    }
    means = {system: mean_of_seeds(by_seed) for system, by_seed in seeds.items()}
    return ScoreMatrix(
        values=pandas.DataFrame(means, index=values.index),
        values_by_seed={
            system: by_seed[None] for system, by_seed in seeds.items() if len(by_seed) > 1
        },
        first_files=first_files,
        n_as_zero=n_as_zero,
        missing=note,
        warnings=warnings,
    )


def _cells(table: ScoreTable, value_column: str, systems: Sequence[str] | None) -> pandas.DataFrame:
    """Return a row for each cell of a table: its system, row, value and item."""
    import pandas

    records = table.records
    layout = records.layout
    is_by_measure = has_measures(records)
    if value_column not in layout.numbers and not is_by_measure:  # a column for each system
        wide = records.columns.select(list(layout.numbers)).to_pandas()
        wide = wide.rename_axis(index='row', columns='system')
        cells: pandas.DataFrame = wide.unstack().rename('value').reset_index()
    else:
        system = records['system'].to_pandas() if 'system' in layout.by_role else table.run_name
        values = records[value_column if isinstance(layout, OwnLayout) else 'value'].to_numpy()
        if is_by_measure:
            values = np.where(records['measure'].to_pandas() == value_column, values, np.nan)
        numbers = {'row': np.arange(len(records)), 'value': values}
        cells = pandas.DataFrame({'system': system, **numbers})
    if systems:
        cells = cells[cells['system'].isin(systems)]
    if table.given_name and (n_systems := cells['system'].nunique()) > 1:
        raise ParameterError(
            f'compare: found the name {shown(table.given_name)} for '
            f'{printable(records.source.name)}, a table of {n_systems} systems, expected none'
        )
    rows = cells['row']
    items = records['item'].to_pandas().take(rows).to_numpy()
    seeds = table.seed
    if 'seed' in layout.by_role:
        seeds = records['seed'].to_pandas().take(rows).to_numpy()
    return cells.assign(system=table.given_name or cells['system'], item=items, seed=seeds)


def _value_error(
    cells: pandas.DataFrame, column: str, files: Sequence[Records], expected: str
) -> FormatError:
    """Make the error about the values in some cells of one file and system, or of several."""
    first, rows = _first_cell(cells)
    records: Records = files[first.file]
    fields = 'value', column, first.system, *records.layout.numbers
    field = next(filter(records.layout.by_role.__contains__, fields))
    return records.error(rows, field, f'{first.value:g} of {shown(first.system)}', expected)


def _check_one_scale(
    cells: pandas.DataFrame, column: str, files: Sequence[Records], *, may_hold_other_data: bool
) -> None:
    """Raise FormatError if one system has values from 0 to 1, and another is far beyond."""
    by_system = cells.groupby(['system', 'seed'])['value']
    largest = by_system.max()
    shares = largest[(by_system.min() >= 0) & (largest <= 1 + READ_ROUNDING)]
    if not len(shares):
        return
    for system, seed in largest.index.difference(shares.index):
        its_cells = cells[(cells['system'] == system) & (cells['seed'] == seed)]
        values = its_cells['value']
        roles = files[its_cells['file'].iloc[0]].layout.by_role.keys()
        # A column of a wide table need not be a system: with a value beyond, it may be a year.
        is_other = may_hold_other_data and roles.isdisjoint(['system', 'value'])
        if is_other or values.median() > LARGEST_RATIO * shares.min():
            is_percent = values.between(0, 100).all()
            remedy = 'give --range LOW,HIGH, in Python range=(LOW, HIGH)'
            if is_other:
                remedy = f'{SYSTEMS_REMEDY}, or {remedy}'
            if is_percent:
                remedy = f'divide {shown(system)} by 100 if it is in percent, {remedy}'
            expected = f'a number from 0 to 1, as {shown(shares.index[0][0])} has: {remedy}'
            outside = its_cells[(values - 0.5).abs() > 0.5 + READ_ROUNDING]
            raise _value_error(outside, column, files, expected)


def _with_distinct_systems(
    cells: pandas.DataFrame, score_tables: Sequence[ScoreTable], *, may_rename: bool
) -> pandas.DataFrame:
    """Name equal systems of files that hold one each after the files; raise for other repeats."""
    filled = cells.dropna(subset='value')
    keys = ['item', 'system', 'seed', 'file']
    if not len(repeated := filled[filled.duplicated(keys[:3])]):
        return cells
    in_one_file = filled[filled.duplicated(keys)]
    are_equal = cells['system'].isin(repeated['system'])
    n_systems = cells.groupby('file')['system'].nunique()[cells['file'][are_equal].unique()]
    has_path = all(score_tables[number].records.source.sha256 for number in n_systems.index)
    if may_rename and has_path and (n_systems == 1).all() and not len(in_one_file):
        names = dict(enumerate(table.run_name for table in score_tables))
        by_file = cells['file'].map(names)
        renamed = cells.assign(system=cells['system'].mask(are_equal, by_file))
        return _with_distinct_systems(renamed, score_tables, may_rename=False)
    first, rows = _first_cell(in_one_file if len(in_one_file) else repeated)
    table = score_tables[first.file]
    repeated_item = f'{shown(first.item)} of {_system_with_seed(first.system, first.seed)}'
    actual = f'{repeated_item} again'
    expected = REPEATED_REMEDY
    if len(in_one_file):
        cell = [first.item, first.system, first.seed, first.file]
        alike = filled[(filled[keys] == cell).all(axis=1)]
        actual = f'{len(alike)} rows for {repeated_item}'
        if differing := _differing_columns(table, alike['row'].to_numpy()[:2]):
            differ = 'differs' if len(differing) == 1 else 'differ'
            actual += f', as {", ".join(differing)} {differ}'
        item_column = table.records.layout.by_role['item']
        expected = 'one: average them first, or give ids of rows by --columns item=…,cluster='
        expected += f'{item_column}, or seeds by --columns seed=…'
        if differing:
            expected += f', or keep one by --where {differing[0]}=…'
            if table.records.layout.by_role.keys() & {'value', 'system'} == {'value'}:
                expected += f', or name systems by --columns system={differing[0]}'
        if 'measure' in (*differing, *table.records.layout.roles[:1]):
            expected = 'each measure of a topic once; qid,measure,value need no --columns'
        if groups := DATASET_COLUMNS.intersection(differing):
            expected = f'ids that tell items apart, as {min(groups)}-{first.item}'
    raise table.records.error(rows, 'item', actual, expected)


def _system_with_seed(system: str, seed: str) -> str:
    return name_with_seed(shown(system), seed and shown(seed))


def _differing_columns(table: ScoreTable, rows: NDArray[np.intp]) -> list[str]:
    """Return the columns beside item, system, value and seed that differ between two rows."""
    by_role = table.records.layout.by_role
    columns_read = [name for role, name in by_role.items() if role not in ('macro', 'group')]
    frame = frame_of(table)
    pair = frame.iloc[rows if len(frame) == len(table.records) else []].astype(str)
    return [str(name) for name in pair if name not in columns_read and pair[name].nunique() > 1]


def _check_no_totals(
    values: pandas.DataFrame, cells: pandas.DataFrame, files: Sequence[Records]
) -> Iterator[DataWarning]:
    """Raise if a total is an item; warn of items that are only named like one."""

    def refuse(item: str, actual: str) -> NoReturn:
        first, _ = _first_cell(cells[cells['item'] == item])
        expected = 'items alone: leave it out, or keep it under another name'
        raise files[first.file].error([first.row], 'item', actual, expected)

    values = values.dropna(how='all')
    names = values.index.map(_plain_name)
    totals = values.index[names.str.fullmatch(TOTAL_NAME)]
    statistics = values.index[names.str.fullmatch(STATISTIC)]
    if len(statistics) > 1:
        refuse(statistics[0], f'{abridged([*map(shown, statistics)])}, as describe() of pandas has')
    other_values = values.drop(index=totals)
    half_digit = _half_digit(other_values) if len(totals) else 0
    sizes = {'means': 1, 'sums': len(other_values)}
    for item, name, factor in product(totals, sizes, (1, 100)):
        total = values.loc[item].dropna()
        if not half_digit and total.isin((0, 1)).all():
            continue  # of right and wrong answers, an item may hold the sums by chance
        other_total = other_values.sum()
        if name == 'means':
            other_total = other_values.mean()
        expected = factor * other_total[total.index]
        tolerance = _half_digit(total) + factor * sizes[name] * half_digit
        tolerance += READ_ROUNDING * expected.abs().clip(lower=1)
        if (total - expected).abs().le(tolerance).all():
            actual = f'{shown(item)}, whose values are the {name} of the others'
            if factor == 100:
                actual += ' in percent'
            refuse(item, actual)
    if len(doubtful := totals.union(statistics)):
        finding = f'counted as items, but named like totals: {abridged([*map(shown, doubtful)])}'
        yield DataWarning('total-names', '', finding)


def _lost_zeros(values: pandas.DataFrame) -> Iterator[DataWarning]:
    """Warn of items that some system lacks, and that are another item but for leading zeros."""
    items = values.index[values.isna().any(axis=1)].to_series()
    forms = items.str.lstrip('0')
    lost = items[forms.duplicated(keep=False)]
    if len(lost):
        finding = f'{len(lost)} of {len(values)} items are others but for leading zeros, as '
        finding += ' and '.join(map(shown, lost[forms[lost.index] == forms[lost.index[0]]]))
        yield NoOverlapWarning('lost-zeros', '', finding, '; read as text')


def _plain_name(item: str) -> str:
    """Return the words of a name in small letters, without a part in brackets at the end."""
    without_end = re.sub(r'(?<=\w)\W*[(\[][^()\[\]]*[)\]]\W*$', '', item.casefold())
    return ' '.join(re.findall(r'[^\W_]+%?', without_end))


def _half_digit(values: pandas.DataFrame | pandas.Series[float]) -> float:
    """Return half a unit of the last digit that a value has; whole numbers up to 1 are exact."""
    numbers = np.unique(values.to_numpy())
    texts = (np.format_float_positional(number, trim='-') for number in numbers)
    n_digits = max((len(text.partition('.')[2]) for text in texts), default=0)
    if not n_digits and np.nanmax(np.abs(numbers), initial=0) <= 1:
        return 0.0
    return 0.5 * 10.0**-n_digits


def _first_cell(cells: pandas.DataFrame) -> tuple[Any, NDArray[np.intp]]:
    """Return the first cell, and the rows of all cells with its file and system."""
    first: Any = next(cells.itertuples())
    alike = (cells['file'] == first.file) & (cells['system'] == first.system)
    return first, cells.loc[alike, 'row'].to_numpy()


def _apply_missing_policy(
    values: pandas.DataFrame, missing: str, bounds: Range | None, remedy: str
) -> tuple[pandas.DataFrame, dict[str, int], str]:
    """Return values without gaps, the number of items filled in by system, and a note."""
    is_lacking = values.isna().any(axis=1)
    n_lacking = int(is_lacking.sum())
    if not n_lacking:
        return values, {}, ''
    summary = f'{n_lacking:,} of {len(values):,} items without a value of some system'
    has_value = values.notna().to_numpy()
    n_common = has_value.T.astype(int) @ has_value  # of each pair of systems
    has_none_left = not n_common.all()
    if missing == 'skip':
        has_none_left = n_lacking == len(values)
    if missing == 'error' or has_none_left:
        row, column = np.argwhere(values.isna().to_numpy())[0]
        item = values.index[row]
        where = _system_with_seed(*values.columns[column])
        if missing != 'error':
            remedy = ''
        raise ParameterError(
            f'compare: found {summary}, as {shown(item)} of {where}, '
            f'expected one for each item and system{remedy}'
        )
    if missing == 'skip':
        return values[~is_lacking], {}, f'{summary}: left out'
    low, high = bounds or (-math.inf, float(np.nanmax(values.to_numpy())))
    if not low <= 0 <= high:
        where = f'0 is not between {low:g} and {high:g}, where values are'
        raise ParameterError(f"found 'zero', expected 'skip': {where}", 'missing')
    lacks_value = values.isna().T.groupby(level='system').any().T
    n_as_zero = {str(name): int(n) for name, n in lacks_value.sum().items() if n}
    return values.fillna(0), n_as_zero, note_of_zeros(n_as_zero, 'items')
