"""Score tables: values of items (queries) and systems (runs) that any tool computed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from mediaeval_ap.choices import MISSING, check_policy, plain_text
from mediaeval_ap.comparison.clusters_and_groups import groups_of_items
from mediaeval_ap.comparison.comparable_runs import Runs, run_and_seed
from mediaeval_ap.comparison.score_files import (
    DATASET_COLUMNS,
    LARGEST_SIZE,
    MEASURE_REMEDY,
    NamedTables,
    ScoreTable,
    TableOptions,
    check_columns,
    check_numbers,
    frame_of,
    has_measures,
    read_tables,
    score_layouts,
    with_frame_of_topics,
)
from mediaeval_ap.comparison.score_matrix import matrix_of
from mediaeval_ap.errors import ParameterError, abridged, printable, shown
from mediaeval_ap.results.own_tables import OwnLayout, check_alike, reason_without_videos
from mediaeval_ap.results.result import N_QUERIES, kind_of_metric
from mediaeval_ap.tables.reading import InputKind, TableInput, is_series
from mediaeval_ap.tables.records import Records

if TYPE_CHECKING:
    import pandas

NO_LOSSES = 'found results, of which more is better, expected score tables'
# Names such as WER, val_loss and time_ms, but not ms_marco, 1-WER or neg_log_loss.
_is_loss = re.compile(
    '(?i)(?!(?:1|neg|negative)[-_ .])(?:.*[-_ .])?(?:ms|'
    '(?:cer|eer|err|error|latency|loss|mae|mse|perplexity|ppl|rmse|wer)(?:[-_ .].*)?)'
).fullmatch
TABLE_KINDS = (InputKind.TEXT, InputKind.COLUMNAR, InputKind.FRAME)


def tables_in(results: object) -> NamedTables | None:
    """Return score tables with their names and seeds; None if there are other results."""
    if isinstance(results, Mapping):
        tables = list(results.values())
        names = [run_and_seed(key) if key else ('', '') for key in results]
    else:
        tables = list(results) if isinstance(results, list | tuple) else [results]
        names = [_given_name(table) for table in tables]
    tables = [with_frame_of_topics(table) for table in tables]
    if not tables or not all(map(_is_score_table, tables)):
        return None
    return [(name, seed, table) for (name, seed), table in zip(names, tables, strict=True)]


def _given_name(table: object) -> tuple[str, str]:
    """Return the name and the seed that a path was given on the command line, or empty texts."""
    if not isinstance(table, str):  # a frame may have a column named seed
        return '', ''
    return getattr(table, 'given_name', ''), getattr(table, 'seed', '')


def _is_score_table(table: Any) -> bool:
    if is_series(table) and any(table.index.names):
        return True
    return TableInput.of(table).kind in TABLE_KINDS


def read_scores(tables: NamedTables, options: TableOptions | None = None) -> Runs:
    options = options or TableOptions()
    check_policy('missing', options.missing, MISSING)
    for option, given in ('columns', options.columns), ('where', options.where):
        if not isinstance(given, Mapping | None):
            raise ParameterError(f'found {shown(given)}, expected a dictionary of text', option)
    names = check_columns(options.columns or {})
    bounds = None if options.range is None else _check_range(options.range)
    _check_names(options, names)
    score_tables = read_tables(tables, score_layouts(names, options), options)
    files = [table.records for table in score_tables]
    for records in files:
        check_numbers(records)
    columns = _metric_columns(files, names['value'], [*map(str, options.measures or ())])
    matrices = {
        metric: matrix_of(score_tables, column, options, bounds)
        for metric, column in columns.items()
    }
    if options.lower_is_better and isinstance(files[0].layout, OwnLayout):
        raise ParameterError(NO_LOSSES, 'lower_is_better')
    claimed = next(iter(matrices.values()))
    items = claimed.values.index
    if not all(items.equals(matrix.values.index) for matrix in matrices.values()):
        remedy = f'{MEASURE_REMEDY}; or, of columns, by --columns value=NAME'
        found = f'found metrics of different items, expected one metric: {remedy}'
        raise ParameterError(found, 'missing')
    values = np.array([matrix.values.to_numpy().T for matrix in matrices.values()])
    low, high = bounds or (0.0, 1.0)
    is_declared = bounds is not None or (low <= values.min() and values.max() <= high)
    if not is_declared:
        low = float(values.min())
        high = float(values.max())
    groups = _groups_by_column(files, items, names['cluster'], options)
    return Runs(
        names=claimed.values.columns.tolist(),
        metrics=[*matrices],
        queries=items.tolist(),
        values=values,
        sources={str(system): files[file].source for system, file in claimed.first_files.items()},
        notes=[*_notes(score_tables, claimed.missing, items, options)],
        kind='scores',
        clusters=groups[names['cluster']],
        no_videos=reason_without_videos(files[0]),
        groups=groups.get(options.by),
        range=[low, high],
        is_range_declared=bool(is_declared),
        n_as_zero=claimed.n_as_zero,
        missing=claimed.missing,
        macro=groups[options.macro] if options.macro else None,
        values_by_seed={
            system: np.concatenate([matrix.values_by_seed[system] for matrix in matrices.values()])
            for system in claimed.values_by_seed
        },
        warnings=claimed.warnings,
        lower_is_better=bool(options.lower_is_better),
    )


def _check_range(bounds: Any) -> tuple[float, float]:
    with suppress(TypeError, ValueError):
        low, high = bounds
        if -LARGEST_SIZE <= low < high <= LARGEST_SIZE:
            return float(low), float(high)
    raise ParameterError(f'found {shown(bounds)}, expected two numbers, as (0, 1)', 'range')


def _check_names(options: TableOptions, names: Mapping[str, str]) -> None:
    """Raise ParameterError for a wrong kind of `macro`, `systems` or `measures`."""
    macro = options.macro
    other_columns = {*names.values()} - {names['cluster']}
    if macro is not None and (plain_text(macro) is None or macro in other_columns):
        raise ParameterError(f'found {shown(macro)}, expected a column of groups', 'macro')
    roles = {*names.values(), macro, options.by}
    for column in options.where or ():
        if column in roles:
            expected = 'a column without a role'
            raise ParameterError(f'found {shown(column)}, expected {expected}', 'where')
    for option, value in ('systems', options.systems), ('measures', options.measures):
        if not isinstance(value, list | tuple | None):
            raise ParameterError(f'found {shown(value)}, expected a list of names', option)


def _metric_columns(
    files: Sequence[Records], value: str, measures: Sequence[str]
) -> dict[str, str]:
    """Return the column, or measure, of each metric; that of the claimed metric is first."""
    columns = _common_columns(files, value, measures)
    own_files = [records for records in files if isinstance(records.layout, OwnLayout)]
    check_alike(own_files)
    groups_of_items(own_files, 'n_relevant', ())  # raises if an item differs between runs
    metric = value
    claimed = columns[0]
    if own_files:
        layout = own_files[0].layout
        if 'metric' in layout.by_role:
            metric = own_files[0]['metric'][0].as_py()
        own_measures = [name for name in columns if f'{N_QUERIES}_{name}' in layout.numbers]
        claimed = [*own_measures, columns[-1]][0]
    kind = kind_of_metric(metric)
    if kind.no_mean:
        remedy = '' if kind.is_one_list else '; give results of --format json --per-query'
        raise ParameterError(
            f'compare: found {metric}, expected a metric with a value by query: '
            f'{kind.no_mean}{remedy}'
        )
    if measures:
        claimed = measures[0]
    in_order = [claimed, *(name for name in columns if name != claimed)]
    return {metric if name == 'value' else name: name for name in in_order}


def _common_columns(files: Sequence[Records], value: str, measures: Sequence[str]) -> list[str]:
    """Return the columns of values, or the measures, that all files must have."""
    first, *further = files
    columns = _columns_of_values(first, value, measures)
    for records in further:
        other_columns = _columns_of_values(records, value, measures)
        if {*other_columns} != {*columns}:
            remedy = 'name one that all files have by --columns value=…, in Python columns='
            if has_measures(records):
                remedy = f'of those that all files have, {MEASURE_REMEDY}'
            expected = f'{", ".join(columns)} as in {printable(first.source.name)}; {remedy}'
            actual = f'values {", ".join(other_columns)}'
            raise records.source.error(actual, expected)
    return columns


def _columns_of_values(records: Records, value: str, measures: Sequence[str]) -> list[str]:
    """Return the measures, which must be in a file; without them, its values but counts."""
    names = [value]
    if has_measures(records):
        names = list(dict.fromkeys(records['measure'].to_pylist()))
    elif isinstance(records.layout, OwnLayout):
        names = records.layout.values
    if lacking := [name for name in measures if name not in names]:
        expected = f'some of {", ".join(names)}'
        raise ParameterError(f'found {shown(lacking[0])}, expected {expected}', 'measures')
    return [*measures] or [name for name in names if not name.startswith('num_')] or [*names]


def _groups_by_column(
    files: Sequence[Records], items: pandas.Index[str], cluster: str, options: TableOptions
) -> dict[str | None, list[str] | None]:
    """Return the group of each item by columns; raise if `macro` has lost a group, or is none."""
    macro = options.macro
    groups: dict[str | None, list[str] | None] = {}
    for role, column in ('cluster', cluster), ('macro', macro), ('group', options.by):
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


def _notes(
    score_tables: Sequence[ScoreTable],
    missing: str,
    items: pandas.Index[str],
    options: TableOptions,
) -> Iterator[str]:
    for table in score_tables:
        yield from table.records.notes(table.path)
    if options.where:
        conditions = ' and '.join(f'{column} {value}' for column, value in options.where.items())
        yield f'Only rows with {conditions}'
    if missing:
        yield missing[:1].upper() + missing[1:]
    numbers = (table.records.layout.numbers for table in score_tables)
    columns = [*map(str, options.measures or chain.from_iterable(numbers))]
    if not options.lower_is_better and all(map(_is_loss, columns)):
        yield (
            f'More is better here; if values of {abridged([*dict.fromkeys(columns)])} are losses: '
            '--lower-is-better, in Python lower_is_better=True'
        )
    if options.macro is None:
        yield from _notes_on_datasets(score_tables, items, options.by)


def _notes_on_datasets(
    score_tables: Sequence[ScoreTable], items: pandas.Index[str], by: str | None
) -> Iterator[str]:
    """Say that datasets of different sizes weigh by their sizes, if a column tells them apart."""
    for column in sorted(DATASET_COLUMNS):
        group_by_item: dict[str, str] = {}
        for table in score_tables:
            frame = frame_of(table, {column})
            if column in frame and len(frame) == len(table.records):
                in_file = zip(table.records['item'].to_pylist(), frame[column], strict=True)
                group_by_item |= {item: str(group) for item, group in in_file}
        sizes = Counter(group_by_item[item] for item in items if item in group_by_item)
        if len({*sizes.values()}) > 1:
            counts = abridged([f'{size:,} of {name}' for name, size in sizes.most_common()])
            ways = f'--macro {column} counts each the same'
            if by != column:
                ways += f', --by {column} shows each'
            yield f'{column} has {len(sizes)} values ({counts}): larger ones weigh more; {ways}'
