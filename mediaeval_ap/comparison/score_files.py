"""One score table: CSV, Parquet, a frame, JSON lines, or the output of an evaluation tool."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mediaeval_ap.choices import turned_round
from mediaeval_ap.comparison.benchmark_logs import SUPPORTED, read_logs
from mediaeval_ap.errors import FormatError, ParameterError, abridged, shown
from mediaeval_ap.results.own_tables import OwnLayout, without_means
from mediaeval_ap.results.run_names import name_with_seed, run_names
from mediaeval_ap.tables import first_look
from mediaeval_ap.tables.columnar import read_columns
from mediaeval_ap.tables.layouts import NA, RecordLayout, choose_layout, column_at
from mediaeval_ap.tables.reading import InputKind, TableInput
from mediaeval_ap.tables.records import Records, from_csv, from_table, read_records
from mediaeval_ap.tables.sources import ByteSource, parsed_json, parsed_lines, read_all
from mediaeval_ap.tables.table import LineNumbers
from mediaeval_ap.tables.values import EXACT_NUMBER, as_double

if TYPE_CHECKING:
    import pandas

ROLES = ('item', 'system', 'value', 'cluster', 'seed')
OPTIONAL_ROLES = ('cluster', 'seed')
MEASURE_ROLES = ('measure', 'item')  # of values by topic and measure
# Columns that usually tell datasets apart.
DATASET_COLUMNS = frozenset('dataset task corpus collection split language subset'.split())
SCORE_SHAPES = 'item,system,value, or item,value, or item and a column of numbers for each system'
SCORE_COLUMNS_REMEDY = (
    '; name other columns by --columns item=…,system=…,value=… for all files, in Python columns='
)
MEASURE_REMEDY = "keep one by --where measure=NAME, in Python where={'measure': NAME}"
SYSTEMS_REMEDY = "name the columns by --systems NAME,..., in Python systems=['NAME', …]"
# Values of these sizes have cubes, and sums of cubes, within the range of doubles.
SMALLEST_SIZE = 1e-100
LARGEST_SIZE = 1e100
NamedTables = list[tuple[str, str, Any]]  # the given name and seed, or '', and the table


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    columns: Mapping[str, str] | None = None
    where: Mapping[str, str] | None = None  # the text of columns, by which rows are kept
    missing: str = 'error'
    range: tuple[float, float] | None = None
    by: str | None = None  # the column of groups, if the tables have one of that name
    systems: Sequence[str] | None = None
    macro: str | None = None
    measures: Sequence[str] | None = None
    lower_is_better: bool = False


def columns_of_json_lines(path: str) -> tuple[str, str]:
    """Return the columns of JSON lines, and an option that names them, for an error."""
    names = [*(row := first_look.first_object(ByteSource.of(path)))]
    numbers = [name for name in names[1:] if isinstance(row[name], float | int)]
    example = f'item={next(iter(names), "…")},value={(numbers or ["…"])[-1]}'
    return f'JSON lines with the columns {abridged(names)}', f'their roles, as --columns {example}'


def check_columns(columns: Mapping[str, str]) -> dict[str, str]:
    """Return the column of each role, by default of the same name."""
    names = {role: role for role in ROLES} | dict(columns)
    is_text = all(isinstance(name, str) for name in names.values())
    if names.keys() != {*ROLES} or not is_text or len({*names.values()}) < len(names):
        expected = f'different names of the header, for {", ".join(ROLES)}'
        if is_text:
            expected = turned_round(columns, ROLES) or expected
        raise ParameterError(f'found {shown(columns)}, expected {expected}', 'columns')
    return names


def score_layouts(names: Mapping[str, str], options: TableOptions) -> list[RecordLayout]:
    """Return the layouts of score tables; `names` are the columns, given or not, by role."""
    columns = options.columns or {}
    by, macro, systems = options.by, options.macro, options.systems or ()
    optional = [(role, names[role]) for role in OPTIONAL_ROLES if role not in columns]
    required = [(role, names[role]) for role in OPTIONAL_ROLES if role in columns]
    required += [(_role_of_where(name), name) for name in options.where or ()]
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
        *((MEASURE_ROLES, ('value',), topic) for topic in first_look.TOPIC_COLUMNS),
        (('item',), ('value',), ''),
        (('item',), (), ''),
    ):
        may_fit = {'system', 'value'} & columns.keys() <= {*texts, *numbers}
        if not may_fit or (topic and 'item' in columns):
            continue
        values = tuple(names[role] for role in numbers)
        column_by_role = {**names, 'item': topic or names['item'], 'measure': 'measure'}
        by_shape = []  # more columns that are read where they are
        if topic:
            by_shape = systems_by_topic
        elif not values:
            by_shape = datasets
        layout = RecordLayout(
            (*(column_by_role[role] for role in texts), *(column for _, column in required)),
            other_numbers=not values,
            classes=frozenset(values or systems),
            numbers=values,
            roles=(*texts, *(role for role, _ in required), *numbers),
            optional=(*optional, *by_shape),
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


def _role_of_where(column: str) -> str:
    return f'--where {column}'


class ScoreTable(NamedTuple):
    origin: Any
    given_name: str  # '' if it was given none
    seed: str
    path: str
    run_name: str  # of its values, if it has no names of systems
    records: Records


def read_tables(
    tables: NamedTables, layouts: Sequence[RecordLayout], options: TableOptions
) -> list[ScoreTable]:
    paths = [
        os.fsdecode(origin) if isinstance(origin, str | os.PathLike) else f'table {number}'
        for number, (_, _, origin) in enumerate(tables, 1)
    ]
    names = run_names(paths, [name_with_seed(name, seed) for name, seed, _ in tables])
    may_be_logs = {'item', 'system', 'value'}.isdisjoint(options.columns or ())
    score_tables = []
    for (given_name, seed, origin), path, name in zip(tables, paths, names, strict=True):
        table, source = origin, None
        if may_be_logs and (logs := first_look.logs_in(origin)):
            table, source = read_logs(path, logs, options.measures or ())
        elif may_be_logs and os.path.isdir(path):
            raise FormatError(path, '', '', 'no results in this folder', SUPPORTED)
        records = _read_table(table, name, layouts)
        records = _rows_where(replace(records, source=source or records.source), options.where)
        score_tables.append(ScoreTable(table, given_name, seed, path, name, records))
    return score_tables


def _read_table(table: Any, name: str, layouts: Sequence[RecordLayout]) -> Records:
    """Read one table: CSV, Parquet, a frame, or JSON lines in a regular file."""
    origin = TableInput.of(table, name)
    if origin.kind is InputKind.FRAME and first_look.is_measure_header(origin.value.columns):
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
    if isinstance(records.layout, OwnLayout) or has_measures(records):
        return without_means(records)
    return records


def _rows_where(records: Records, where: Mapping[str, str] | None) -> Records:
    """Keep the rows with a text in each of some columns; raise FormatError if none is left."""
    for column, value in (where or {}).items():
        roles = _role_of_where(column), column  # lines of trec_eval have only measures
        role = next(filter(records.layout.by_role.__contains__, roles), None)
        if role is None:
            raise records.source.error('no header', f'a column {column}, for --where')
        texts = records[role].to_pandas()
        is_kept = (texts == str(value)).to_numpy()
        if not is_kept.any():
            expected = f'one of {abridged([*map(shown, texts.unique())])}'
            raise records.source.error(f'no {shown(value)}', expected, field=column)
        columns = records.columns.filter(is_kept).combine_chunks()
        records = replace(records, columns=columns, lines=records.lines.select(is_kept))
    return records


def _check_columns_of(records: Records, *, has_systems: bool) -> None:
    """Raise FormatError if items are row numbers, systems are measures, or one has no name."""
    numbers = records.layout.numbers
    is_own = isinstance(records.layout, OwnLayout)
    if len(numbers) > 1 and first_look.are_measures(numbers) and not (has_systems or is_own):
        expected = f'systems: choose one by --columns value={numbers[0]}, or name them by --systems'
        raise records.source.error(f'measures {abridged(numbers)}', expected)
    records.refuse_empty('item')
    row_numbers = ({*map(str, range(first, first + len(records)))} for first in (0, 1))
    if (unread := records.layout.unread) and {*records['item'].to_pylist()} in row_numbers:
        expected = f'ids: name their column, perhaps by --columns item={unread}'
        raise records.source.error('row numbers as items', expected)
    if 'system' in records.layout.numbers:
        expected = f'names of systems, and a column of values{SCORE_COLUMNS_REMEDY}'
        raise records.source.error('numbers alone', expected, field='system')
    if 'system' in records.layout.by_role:
        records.refuse_empty('system')


def _read_by_shape(origin: TableInput, layouts: Sequence[RecordLayout]) -> Records:
    start = origin.value.start if origin.kind is InputKind.TEXT else b''
    if start.startswith(b'[{'):
        raise FormatError(
            origin.name, '', '', found='an array of JSON', expected='JSON lines, or CSV'
        )
    if first_look.holds_measures_by_topic(start):
        with origin.value.open() as stream:
            content = read_all(stream, origin.name)
        topics = parsed_json(content, origin.name, 'measures by topic', nan=True)
        records = read_records(with_frame_of_topics(topics), layouts)
        return replace(records, source=origin.value.provenance())
    if start and first_look.kind_of(origin.value) is first_look.Kind.RESULTS:
        expected = 'a score table: in Python compare read_results(path), else without --columns'
        raise FormatError(origin.name, '', '', found='results', expected=expected)
    if first_look.is_json(start):
        return _read_json_lines(origin.value, layouts)
    if first_look.is_trec_eval(start):
        return _read_trec_eval(origin.value)
    return read_records(origin, layouts)


def has_measures(records: Records) -> bool:
    """Return True for values by topic and measure."""
    return records.layout.roles[:2] == MEASURE_ROLES


def _read_trec_eval(source: ByteSource) -> Records:
    """Read lines of trec_eval -q, or of ir_measures -q, which has the topic before the measure."""
    with source.open() as stream:
        lines = [line.split() for line in read_all(stream, source.name).split(b'\n')]
    is_text = {b'runid', b'relstring'}.intersection
    rows = b'\n'.join(b'' if is_text(line[:1]) else b'\t'.join(line) for line in lines)
    is_topic_first = re.search(rb'(?m)\A\s*\d+\t|^all\t', rows)
    layout = RecordLayout(
        tuple(map(column_at, (2, 1) if is_topic_first else (1, 2))),
        numbers=(column_at(3),),
        roles=(*MEASURE_ROLES, 'value'),
        has_header=False,
        allow_na=True,
    )
    return from_csv(rows, [layout], source.provenance(), '\t')


def with_frame_of_topics(table: Any) -> Any:
    """Return a frame of a dictionary of pytrec_eval, {topic: {measure: value}}; else the table."""
    topics = [*table.values()] if isinstance(table, Mapping) else []
    first = next(iter(topics), None)
    if not isinstance(first, Mapping) or not isinstance(next(iter(first.values()), None), Real):
        return table
    import pandas

    rows = [(topic, *pair) for topic, values in table.items() for pair in values.items()]
    return pandas.DataFrame(rows, columns=[first_look.TOPIC_COLUMNS[0], 'measure', 'value'])


def _read_json_lines(source: ByteSource, layouts: Sequence[RecordLayout]) -> Records:
    """Read an object on each line; ids are text or integers, kept unchanged."""
    import pyarrow

    with source.open() as stream:
        rows, lines = parsed_lines(stream, source.name, 'an object of JSON on each line', nan=True)
    names = list(dict.fromkeys(chain.from_iterable(rows)))
    layout = choose_layout(names, layouts, source.name)
    columns = {}
    for name in layout.columns(names):
        is_text = name in layout.texts
        convert: Callable[[object], Any] = _id_of_json
        kind, expected = 'large_string', 'text or an integer'
        cells = [row.get(name) for row in rows]
        if not is_text:
            convert = partial(as_double, allow_boolean=True)
            kind, expected = 'float64', EXACT_NUMBER
            cells = [None if re.match(NA, str(cell)) else cell for cell in cells]
        values = [None if cell is None else convert(cell) for cell in cells]
        columns[name] = pyarrow.array(values, kind)
        for line, cell, value in zip(lines, cells, values, strict=True):
            if value is None and cell is not None:
                actual = f'{shown(cell)} ({type(cell).__name__})'
                place = f'line {line}'
                raise FormatError(source.name, place, name, found=actual, expected=expected)
    records = from_table(pyarrow.table(columns), layout, source.provenance())
    return replace(records, lines=LineNumbers('line', np.array(lines)))


def _id_of_json(cell: object) -> str | None:
    # JSON may escape half of a surrogate pair, which is not text.
    is_text = type(cell) is str and cell.encode(errors='ignore').decode() == cell
    if is_text or type(cell) is int:
        return str(cell)
    return None


def check_numbers(records: Records) -> None:
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


def frame_of(table: ScoreTable, wanted: Container[str] | None = None) -> pandas.DataFrame:
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
        frame = read_columns(origin.value, choose, '')[0].to_pandas()
    elif origin.kind is InputKind.TEXT and (source := origin.value).is_regular_file:
        if not choose(first_look.columns_of(source)):
            return frame
        with source.open() as stream:
            if first_look.is_json(source.start):
                frame = pandas.DataFrame(parsed_lines(stream, '', '', nan=True)[0])
            else:
                separator = first_look.separator_by_suffix(source.name)
                frame = pandas.read_csv(stream, sep=separator, dtype=str, keep_default_na=False)
                frame = frame.rename(columns=str.strip)
    return frame[choose(frame.columns)]
