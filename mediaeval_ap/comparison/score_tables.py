"""Score tables: values of items and systems that any tool computed, read as runs to compare.

An item counts as a query, and a system as a run.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats
from mediaeval_ap.choices import MISSING, MISSING_REMEDY, check_policy, plain_text, turned_round
from mediaeval_ap.comparison import measure_tables
from mediaeval_ap.comparison.clusters_and_groups import groups_of_items
from mediaeval_ap.comparison.comparable_runs import Runs, mean_of_seeds, note_of_zeros, run_and_seed
from mediaeval_ap.comparison.own_tables import (
    OwnLayout,
    metric_columns,
    reason_without_videos,
    without_means,
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
from mediaeval_ap.results.rounding import READ_ROUNDING
from mediaeval_ap.results.run_names import name_with_seed, run_names
from mediaeval_ap.tables.columnar import read_columns
from mediaeval_ap.tables.first_look import (
    TOPIC_COLUMNS,
    are_measures,
    columns_of,
    first_object,
    holds_measures_by_topic,
    is_json,
    is_measure_header,
    is_trec_eval,
)
from mediaeval_ap.tables.layouts import NA, RecordLayout, choose_layout, column_at
from mediaeval_ap.tables.reading import InputKind, TableInput, is_series
from mediaeval_ap.tables.records import Records, from_table, read_records
from mediaeval_ap.tables.rows import as_double
from mediaeval_ap.tables.sources import ByteSource, parsed_lines
from mediaeval_ap.tables.table import LineNumbers
from mediaeval_ap.tables.text.line_rules import EXACT_NUMBER

if TYPE_CHECKING:
    import pandas

ROLES = ('item', 'system', 'value', 'cluster', 'seed')
OPTIONAL_ROLES = ('cluster', 'seed')
# Columns that usually tell datasets apart.
DATASET_COLUMNS = frozenset('dataset task corpus collection split language subset'.split())
SCORE_SHAPES = 'item,system,value, or item,value, or item and a column of numbers for each system'
SCORE_COLUMNS_REMEDY = (
    '; name other columns by --columns item=…,system=…,value=… for all files, in Python columns='
)
SYSTEMS_REMEDY = "name the columns by --systems NAME,..., in Python systems=['NAME', …]"
REPEATED_REMEDY = (
    'each item once: name tables of one system by NAME=FILE, in Python by a mapping {name: table}; '
    'in other tables, give each system a name of its own'
)
NO_LOSSES = 'found results, of which more is better, expected score tables'
# Names such as WER, val_loss and time_ms, but not ms_marco, 1-WER or neg_log_loss.
_is_loss = re.compile(
    '(?i)(?!(?:1|neg|negative)[-_ .])(?:.*[-_ .])?(?:ms|'
    '(?:cer|eer|err|error|latency|loss|mae|mse|perplexity|ppl|rmse|wer)(?:[-_ .].*)?)'
).fullmatch
# Values of these sizes have cubes, and sums of cubes, within the range of doubles.
SMALLEST_SIZE = 1e-100
LARGEST_SIZE = 1e100
_TOTAL = '(?:all|average|avg|macro|mean|micro|overall|sum|total)s?'
_UNIT = '(?:of|over|score|value|result|item|query|querie|task|topic|dataset|sample)s?'
TOTAL_NAME = f'(?:(?:grand|weighted) )?{_TOTAL}(?: {_TOTAL}| {_UNIT})*'
STATISTIC = 'count|max|mean|median|min|std|(?:25|50|75)%'  # as describe() of pandas has
LARGEST_RATIO = 10  # of a median to the largest share; larger ones are of another scale
TABLE_KINDS = (InputKind.TEXT, InputKind.COLUMNAR, InputKind.FRAME)
NamedTables = list[tuple[str, str, Any]]  # the given name and seed, or '', and the table


def tables_in(results: object) -> NamedTables | None:
    """Return score tables with their names and seeds; None if there are other results."""
    tables: list[Any] = [*results] if isinstance(results, list | tuple) else [results]
    files = (table if isinstance(table, str) else '' for table in tables)  # a frame has a seed, too
    names = [(getattr(file, 'given_name', ''), getattr(file, 'seed', '')) for file in files]
    if isinstance(results, Mapping):
        tables = list(results.values())
        names = [run_and_seed(key) if key else ('', '') for key in results]
    tables = [*map(measure_tables.with_frame_of_topics, tables)]
    are_tables = all(
        TableInput.of(table).kind in TABLE_KINDS or (is_series(table) and any(table.index.names))
        for table in tables
    )
    named = [(*pair, table) for pair, table in zip(names, tables, strict=True)]
    return named if named and are_tables else None


def columns_of_json_lines(path: str) -> tuple[str, str]:
    """Return the columns of JSON lines, and an option that names them, for an error."""
    names = [*(row := first_object(ByteSource.of(path)))]
    numbers = [name for name in names[1:] if isinstance(row[name], float | int)]
    example = f'item={next(iter(names), "…")},value={(numbers or ["…"])[-1]}'
    return f'JSON lines with the columns {abridged(names)}', f'their roles, as --columns {example}'


def _check_range(bounds: Any) -> tuple[float, float]:
    """Check the least and the largest possible value."""
    try:
        low, high = bounds
        if -LARGEST_SIZE <= low < high <= LARGEST_SIZE:
            return float(low), float(high)
    except (TypeError, ValueError):
        pass
    raise ParameterError(f'found {shown(bounds)}, expected two numbers, as (0, 1)', 'range')


def read_scores(
    tables: NamedTables,
    columns: Mapping[str, str] | None = None,
    missing: str = 'error',
    range: tuple[float, float] | None = None,
    by: str | None = None,
    systems: Sequence[str] | None = None,
    macro: str | None = None,
    measures: Sequence[str] | None = None,
    lower_is_better: bool = False,
) -> Runs:
    """Read score tables; `by` is the column of groups, if they have one of that name."""
    check_policy('missing', missing, MISSING)
    names = _check_columns(columns or {})
    bounds = None if range is None else _check_range(range)
    if macro is not None and (
        plain_text(macro) is None or macro in {*names.values()} - {names['cluster']}
    ):
        raise ParameterError(f'found {shown(macro)}, expected a column of groups', 'macro')
    for option, value in ('systems', systems), ('measures', measures):
        if not isinstance(value, list | tuple | None):
            raise ParameterError(f'found {shown(value)}, expected a list of names', option)
    layouts = _score_layouts(names, columns or {}, by, macro, systems or ())
    score_tables = _read_tables(tables, layouts)
    files = [table.records for table in score_tables]
    for records in files:
        _check_numbers(records)
    matrices = {
        metric: _matrix_of(score_tables, column, systems, missing, bounds)
        for metric, column in metric_columns(
            files, names['value'], [*map(str, measures or ())]
        ).items()
    }
    if lower_is_better and isinstance(files[0].layout, OwnLayout):
        raise ParameterError(NO_LOSSES, 'lower_is_better')
    claimed = next(iter(matrices.values()))
    if not all(claimed.values.index.equals(matrix.values.index) for matrix in matrices.values()):
        expected = 'one metric: choose it by --measures'
        raise ParameterError(f'found metrics of different items, expected {expected}', 'missing')
    values = np.array([matrix.values.to_numpy().T for matrix in matrices.values()])
    low, high = bounds or (0.0, 1.0)
    is_declared = bounds is not None or (low <= values.min() and values.max() <= high)
    if not is_declared:
        low = float(values.min())
        high = float(values.max())
    items = claimed.values.index
    groups = _groups_by_column(files, items, names['cluster'], macro, by)
    notes = [note for table in score_tables for note in table.records.notes(table.path)]
    notes += [claimed.missing[:1].upper() + claimed.missing[1:]] * bool(claimed.missing)
    notes += [] if lower_is_better else _note_on_losses(files)
    notes += _notes_on_datasets(score_tables, items, by) if macro is None else ()
    return Runs(
        names=claimed.values.columns.tolist(),
        metrics=[*matrices],
        queries=items.tolist(),
        values=values,
        sources={str(system): files[file].source for system, file in claimed.first_files.items()},
        notes=notes,
        kind='scores',
        clusters=groups[names['cluster']],
        no_videos=reason_without_videos(files[0]),
        groups=groups.get(by),
        range=[low, high],
        is_range_declared=bool(is_declared),
        n_as_zero=claimed.n_as_zero,
        missing=claimed.missing,
        macro=groups[macro] if macro else None,
        values_by_seed={
            system: np.concatenate([matrix.values_by_seed[system] for matrix in matrices.values()])
            for system in claimed.values_by_seed
        },
        warnings=claimed.warnings,
        lower_is_better=bool(lower_is_better),
    )


def _note_on_losses(files: Sequence[Records]) -> list[str]:
    """Say that more is better here, if all compared columns of values are called like losses."""
    columns = dict.fromkeys(chain.from_iterable(records.layout.numbers for records in files))
    note = f'More is better here; if values of {abridged([*columns])} are losses: '
    note += '--lower-is-better, in Python lower_is_better=True'
    return [note] if all(map(_is_loss, columns)) else []


def _groups_by_column(
    files: Sequence[Records],
    items: pandas.Index[str],
    cluster: str,
    macro: str | None,
    by: str | None,
) -> dict[str | None, list[str] | None]:
    """Return the group of each item by columns; raise if `macro` has lost a group, or is none."""
    groups: dict[str | None, list[str] | None] = {}
    for role, column in ('cluster', cluster), ('macro', macro), ('group', by):
        if column is None or column in groups:
            continue
        groups[column] = groups_of_items(files, role, items)
        if column != macro:
            continue
        if (in_use := groups[column]) is None:
            actual = f'{shown(macro)}, which no table has'
            raise ParameterError(f'found {actual}, expected a column', 'macro')
        columns = (file[role].to_pylist() for file in files if role in file.layout.by_role)
        if lost := sorted({*chain.from_iterable(columns)} - {*in_use}):
            actual = f'no item of {shown(lost[0])} with a value of each system'
            raise ParameterError(f'found {actual}, expected one in each group', 'macro')
    return groups


class _ScoreTable(NamedTuple):
    """One score table, as given and as read."""

    origin: Any
    given_name: str  # '' if it was given none
    seed: str
    path: str
    run_name: str  # of its values, if it has no names of systems
    records: Records


def _read_tables(tables: NamedTables, layouts: Sequence[RecordLayout]) -> list[_ScoreTable]:
    paths = [
        os.fsdecode(origin) if isinstance(origin, str | os.PathLike) else f'table {number}'
        for number, (_, _, origin) in enumerate(tables, 1)
    ]
    names = run_names(paths, [name_with_seed(name, seed) for name, seed, _ in tables])
    return [
        _ScoreTable(origin, given_name, seed, path, name, _read_table(origin, name, layouts))
        for (given_name, seed, origin), path, name in zip(tables, paths, names, strict=True)
    ]


class _Matrix(NamedTuple):
    """The values of a metric: a row for each item, a column for each system, none missing."""

    values: pandas.DataFrame  # means over seeds
    values_by_seed: dict[str, Floats]  # of systems of several seeds: (1, n_seeds, n_items)
    first_files: pandas.Series[int]  # of each system: the number of the first file that has it
    n_as_zero: dict[str, int]
    missing: str  # a note
    warnings: list[DataWarning]


def _matrix_of(
    score_tables: Sequence[_ScoreTable],
    column: str,
    systems: Sequence[str] | None,
    missing: str,
    bounds: tuple[float, float] | None,
) -> _Matrix:
    """Join a column of all score tables by item and system, and check the values."""
    import pandas

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
    try:
        values, n_as_zero, note = _apply_missing_policy(values, missing, bounds)
    except ParameterError:
        warn_caller(warnings)  # they may name the cause
        raise
    seeds = {
        system: values.xs(system, axis=1, level='system').to_numpy().T
        for system in sorted(first_files.index)
    }
    means = {system: mean_of_seeds(by_seed) for system, by_seed in seeds.items()}
    return _Matrix(
        pandas.DataFrame(means, index=values.index),
        {system: by_seed[None] for system, by_seed in seeds.items() if len(by_seed) > 1},
        first_files,
        n_as_zero,
        note,
        warnings,
    )


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
    for system, seed in largest.index.difference(shares.index) if len(shares) else ():
        its_cells = cells[(cells['system'] == system) & (cells['seed'] == seed)]
        values = its_cells['value']
        roles = files[its_cells['file'].iloc[0]].layout.by_role.keys()
        # A column of a wide table need not be a system: with a value beyond, it may be a year.
        is_other = may_hold_other_data and roles.isdisjoint(['system', 'value'])
        if is_other or values.median() > LARGEST_RATIO * shares.min():
            is_percent = values.between(0, 100).all()
            remedy = f'divide {shown(system)} by 100 if it is in percent, ' * bool(is_percent)
            remedy += f'{SYSTEMS_REMEDY}, or ' * is_other
            expected = f'a number from 0 to 1, as {shown(shares.index[0][0])} has: {remedy}give '
            expected += '--range LOW,HIGH, in Python range=(LOW, HIGH)'
            outside = its_cells[(values - 0.5).abs() > 0.5 + READ_ROUNDING]
            raise _value_error(outside, column, files, expected)


def _with_distinct_systems(
    cells: pandas.DataFrame, score_tables: Sequence[_ScoreTable], *, may_rename: bool
) -> pandas.DataFrame:
    """Name equal systems of several files after the files; raise if one still has an item twice.

    Systems are renamed only if each of their files holds one system.
    """
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
    actual = f'{shown(first.item)} of {_system_with_seed(first)} again'
    expected = REPEATED_REMEDY
    if len(in_one_file):
        cell = [first.item, first.system, first.seed, first.file]
        alike = filled[(filled[keys] == cell).all(axis=1)]
        actual = f'{len(alike)} rows for {shown(first.item)} of {_system_with_seed(first)}'
        if differing := _differing_columns(table, alike['row'].to_numpy()[:2]):
            actual += (
                f', as {", ".join(differing)} {"differs" if len(differing) == 1 else "differ"}'
            )
        item_column = table.records.layout.by_role['item']
        expected = 'one: average them first, or give ids of rows by --columns item=…,cluster='
        expected += f'{item_column}, or seeds by --columns seed=…'
        if 'measure' in (*differing, *table.records.layout.roles[:1]):
            expected = 'each measure of a topic once; qid,measure,value need no --columns'
        if groups := DATASET_COLUMNS.intersection(differing):
            expected = f'ids that tell items apart, as {min(groups)}-{first.item}'
    raise table.records.error(rows, 'item', actual, expected)


def _system_with_seed(cell: Any) -> str:
    return name_with_seed(shown(cell.system), cell.seed and shown(cell.seed))


def _differing_columns(table: _ScoreTable, rows: NDArray[np.intp]) -> list[str]:
    """Return the columns beside item, system, value and seed that differ between two rows."""
    by_role = table.records.layout.by_role
    columns_read = [name for role, name in by_role.items() if role not in ('macro', 'group')]
    frame = _frame_of(table)
    pair = frame.iloc[rows if len(frame) == len(table.records) else []].astype(str)
    return [str(name) for name in pair if name not in columns_read and pair[name].nunique() > 1]


def _frame_of(table: _ScoreTable, wanted: Container[str] | None = None) -> pandas.DataFrame:
    """Read columns of a table again; an empty frame if it cannot be read twice, or has none."""
    import pandas

    def choose(names: Iterable[str]) -> list[str]:
        return [name for name in names if wanted is None or name in wanted]

    origin = TableInput.of(table.origin)
    frame = pandas.DataFrame()
    if not table.records.layout.has_header:  # lines of trec_eval
        return frame
    if origin.kind is InputKind.FRAME:
        frame = origin.value
    elif origin.kind is InputKind.COLUMNAR:
        frame = read_columns(origin.value, lambda schema: choose(schema.names), '')[0].to_pandas()
    elif origin.kind is InputKind.TEXT and (source := origin.value).is_regular_file:
        if not choose(columns_of(source)):
            return frame
        with source.open() as stream:
            if is_json(source.start):
                frame = pandas.DataFrame(parsed_lines(stream, '', '', nan=True)[0])
            else:
                separator = '\t' if '.tsv' in source.name.lower() else ','
                frame = pandas.read_csv(stream, sep=separator, dtype=str, keep_default_na=False)
                frame = frame.rename(columns=str.strip)
    return frame[choose(frame.columns)]


def _notes_on_datasets(
    score_tables: Sequence[_ScoreTable], items: pandas.Index[str], by: str | None
) -> Iterator[str]:
    """Say that datasets of different sizes weigh by their sizes, if a column tells them apart."""
    for column in sorted(DATASET_COLUMNS):
        group_by_item: dict[str, str] = {}
        for table in score_tables:
            frame = _frame_of(table, {column})
            if column in frame and len(frame) == len(table.records):
                in_file = zip(table.records['item'].to_pylist(), frame[column], strict=True)
                group_by_item |= {item: str(group) for item, group in in_file}
        sizes = Counter(group_by_item[item] for item in items if item in group_by_item)
        if len({*sizes.values()}) > 1:
            counts = abridged([f'{size:,} of {name}' for name, size in sizes.most_common()])
            ways = f'--macro {column} counts each the same'
            ways += '' if by == column else f', --by {column} shows each'
            yield f'{column} has {len(sizes)} values ({counts}): larger ones weigh more; {ways}'


def _check_numbers(records: Records) -> None:
    """Raise FormatError for values that cannot be added."""
    by_role = records.layout.by_role
    for role in (role for role, name in by_role.items() if name in records.layout.numbers):
        column = records[role].to_numpy()
        sizes = np.abs(column)
        is_wrong = (sizes > LARGEST_SIZE) | ((sizes > 0) & (sizes < SMALLEST_SIZE))
        if len(wrong_rows := np.flatnonzero(is_wrong)):
            sizes_allowed = f'0, or a size from {SMALLEST_SIZE:g} to {LARGEST_SIZE:g}'
            expected = f'{sizes_allowed}, so that values can be added'
            raise records.error(wrong_rows, role, f'{column[wrong_rows[0]]:g}', expected)


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
        expected = (
            factor * (other_values.mean() if name == 'means' else other_values.sum())[total.index]
        )
        tolerance = _half_digit(total) + factor * sizes[name] * half_digit
        tolerance += READ_ROUNDING * expected.abs().clip(lower=1)
        if (total - expected).abs().le(tolerance).all():
            others_in_percent = 'others' + ' in percent' * (factor == 100)
            refuse(item, f'{shown(item)}, whose values are the {name} of the {others_in_percent}')
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
    return 0.5 * 10.0**-n_digits * bool(n_digits or np.nanmax(np.abs(numbers), initial=0) > 1)


def _first_cell(cells: pandas.DataFrame) -> tuple[Any, NDArray[np.intp]]:
    """Return the first cell, and the rows of all cells with its file and system."""
    first: Any = next(cells.itertuples())
    alike = (cells['file'] == first.file) & (cells['system'] == first.system)
    return first, cells.loc[alike, 'row'].to_numpy()


def _apply_missing_policy(
    values: pandas.DataFrame, missing: str, bounds: tuple[float, float] | None
) -> tuple[pandas.DataFrame, dict[str, int], str]:
    """Drop items that some system lacks, fill in 0, or raise ParameterError, as `missing` says.

    Columns are pairs of a system and a seed. Return a value for each item and column, the number of
    items filled in by system, and a note.
    """
    is_lacking = values.isna().any(axis=1)
    n_lacking = int(is_lacking.sum())
    if not n_lacking:
        return values, {}, ''
    summary = f'{n_lacking:,} of {len(values):,} items without a value of some system'
    has_value = values.notna().to_numpy()
    n_common = has_value.T.astype(int) @ has_value  # of each pair of systems
    has_none_left = n_lacking == len(values) if missing == 'skip' else not n_common.all()
    if missing == 'error' or has_none_left:
        row, column = np.argwhere(values.isna().to_numpy())[0]
        item = values.index[row]
        system, seed = values.columns[column]
        where = name_with_seed(shown(system), seed and shown(seed))
        remedy = MISSING_REMEDY if missing == 'error' else ''
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


def _check_columns(columns: Mapping[str, str]) -> dict[str, str]:
    """Return the column of each role, by default of the same name."""
    names = {role: role for role in ROLES} | dict(columns)
    is_text = all(isinstance(name, str) for name in names.values())
    if names.keys() != {*ROLES} or not is_text or len({*names.values()}) < len(names):
        expected = turned_round(columns, ROLES) if is_text else ''
        expected = expected or f'different names of the header, for {", ".join(ROLES)}'
        raise ParameterError(f'found {shown(columns)}, expected {expected}', 'columns')
    return names


def _score_layouts(
    names: Mapping[str, str],
    columns: Mapping[str, str],
    by: str | None,
    macro: str | None,
    systems: Sequence[str],
) -> list[RecordLayout]:
    """Return the layouts of score tables; `columns` are the given ones of `names`, by role."""
    optional = [(role, names[role]) for role in OPTIONAL_ROLES if role not in columns]
    required = [(role, names[role]) for role in OPTIONAL_ROLES if role in columns]
    if macro is not None and macro != names['cluster']:
        optional.append(('macro', macro))
    if by is not None and by not in (*names.values(), macro):
        optional.append(('group', by))
    taken = {*systems, *(name for _, name in (*optional, *required))}
    datasets = [(name, name) for name in DATASET_COLUMNS if name not in taken]
    systems_by_topic = [('system', name) for name in ('name', 'system') if name not in taken]
    layouts: list[RecordLayout] = []
    for texts, numbers, topic in (
        (('item', 'system'), ('value',), ''),
        *((measure_tables.TEXT_ROLES, ('value',), topic) for topic in TOPIC_COLUMNS),
        (('item',), ('value',), ''),
        (('item',), (), ''),
    ):
        may_fit = {'system', 'value'} & columns.keys() <= {*texts, *numbers}
        if not may_fit or (topic and 'item' in columns):
            continue
        values = tuple(names[role] for role in numbers)
        column_by_role = {**names, 'item': topic or names['item'], 'measure': 'measure'}
        layout = RecordLayout(
            (*(column_by_role[role] for role in texts), *(column for _, column in required)),
            other_numbers=not values,
            classes=frozenset(values or systems),
            numbers=values,
            roles=(*texts, *(role for role, _ in required), *numbers),
            optional=(*optional, *(systems_by_topic if topic else () if values else datasets)),
            remedy=SCORE_COLUMNS_REMEDY,
            allow_missing=not values,
            allow_na=True,
            description=SCORE_SHAPES,
        )
        layouts.append(layout)
    own_columns = {'item': 'query', 'system': 'run', 'value': columns.get('value', '')}
    if {**own_columns, **columns} == own_columns and macro is None:
        own = replace(layouts[0], optional=())
        # A table by measure has other columns, too, so that a saved index could be its items.
        layouts.sort(key=lambda layout: layout.roles[0] != 'measure')
        layouts.insert(0, OwnLayout(**vars(own), value=own_columns['value']))
    return layouts


def _read_table(table: Any, name: str, layouts: Sequence[RecordLayout]) -> Records:
    """Read one table: CSV, Parquet, a frame, or JSON lines in a regular file."""
    origin = TableInput.of(table, name)
    if origin.kind is InputKind.FRAME and is_measure_header(origin.value.columns):
        origin = replace(origin, value=origin.value.astype({'measure': str}))  # of ir_measures
    try:
        records = _read_by_shape(origin, layouts)
    except FormatError as error:
        if origin.kind is InputKind.FRAME and 'n_relevant' in origin.value:
            actual = 'a frame of results, expected the results themselves'
            raise ParameterError(f'compare: found {actual}: compare(a, b)') from None
        if error.field == 'system':  # a long table, whose values have another name
            raise error.with_remedy(SCORE_COLUMNS_REMEDY.strip('; ')) from None
        optional = {column_at(3), *(name for layout in layouts for _, name in layout.optional)}
        if error.field in {'', *optional, *chain(*(layout.columns(()) for layout in layouts))}:
            raise
        raise error.with_remedy(SYSTEMS_REMEDY) from None
    _check_columns_of(records, has_systems=bool(layouts[-1].classes))
    has_means = isinstance(records.layout, OwnLayout) or measure_tables.has_measures(records)
    return without_means(records) if has_means else records


def _check_columns_of(records: Records, *, has_systems: bool) -> None:
    """Raise FormatError if items are row numbers, systems are measures, or one has no name."""
    numbers = records.layout.numbers
    is_own = isinstance(records.layout, OwnLayout)
    if len(numbers) > 1 and are_measures(numbers) and not (has_systems or is_own):
        expected = f'systems: choose one by --columns value={numbers[0]}, or name them by --systems'
        raise FormatError(records.source.name, '', '', f'measures {abridged(numbers)}', expected)
    records.refuse_empty('item')
    row_numbers = ({*map(str, range(first, first + len(records)))} for first in (0, 1))
    if (unread := records.layout.unread) and {*records['item'].to_pylist()} in row_numbers:
        expected = f'ids: name their column, perhaps by --columns item={unread}'
        raise FormatError(records.source.name, '', '', 'row numbers as items', expected)
    if 'system' in records.layout.numbers:
        expected = f'names of systems, and a column of values{SCORE_COLUMNS_REMEDY}'
        raise FormatError(records.source.name, '', 'system', 'numbers alone', expected)
    if 'system' in records.layout.by_role:
        records.refuse_empty('system')


def _read_by_shape(origin: TableInput, layouts: Sequence[RecordLayout]) -> Records:
    start = origin.value.start if origin.kind is InputKind.TEXT else b''
    if start.startswith(b'[{'):
        raise FormatError(origin.name, '', '', 'an array of JSON', 'JSON lines, or CSV')
    if holds_measures_by_topic(start):
        frame = measure_tables.frame_of_json(origin.value)
        return replace(read_records(frame, layouts), source=origin.value.provenance())
    if is_json(start):
        return _read_json_lines(origin.value, layouts)
    if is_trec_eval(start):
        return measure_tables.read_trec_eval(origin.value)
    return read_records(origin, layouts)


def _read_json_lines(source: ByteSource, layouts: Sequence[RecordLayout]) -> Records:
    """Read an object on each line; ids are text or integers, kept unchanged."""
    import pyarrow

    with source.open() as stream:
        rows, lines = parsed_lines(stream, source.name, 'an object of JSON on each line', nan=True)
    names = list(dict.fromkeys(chain.from_iterable(rows)))
    layout = choose_layout(names, layouts, source.name, '')
    columns = {}
    for name in layout.columns(names):
        is_text = name in layout.texts
        convert, kind = (_id_of_json, 'large_string') if is_text else (_number_of_json, 'float64')
        cells = [row.get(name) for row in rows]
        if not is_text:
            cells = [None if re.match(NA, str(cell)) else cell for cell in cells]
        values = [None if cell is None else convert(cell) for cell in cells]
        columns[name] = pyarrow.array(values, kind)
        for line, cell, value in zip(lines, cells, values, strict=True):
            if value is None and cell is not None:
                actual = f'{shown(cell)} ({type(cell).__name__})'
                expected = 'text or an integer' if is_text else EXACT_NUMBER
                raise FormatError(source.name, f'line {line}', name, actual, expected)
    records = from_table(pyarrow.table(columns), [layout], source.provenance())
    return replace(records, lines=LineNumbers('line', np.array(lines)))


def _id_of_json(cell: object) -> str | None:
    # JSON may escape half of a surrogate pair, which is not text.
    is_text = type(cell) is str and cell.encode(errors='ignore').decode() == cell
    return str(cell) if is_text or type(cell) is int else None


def _number_of_json(cell: object) -> float | None:
    return as_double(int(cell) if isinstance(cell, bool) else cell)


def _cells(
    table: _ScoreTable, value_column: str, systems: Sequence[str] | None
) -> pandas.DataFrame:
    """Return a row for each cell of a table: its system, row, value and item."""
    import pandas

    records = table.records
    layout = records.layout
    is_by_measure = measure_tables.has_measures(records)
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
