"""Per-query tables that commands of this package wrote, read as score tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mediaeval_ap import definitions
from mediaeval_ap.comparison.clusters_and_groups import groups_of_items
from mediaeval_ap.comparison.measure_tables import has_measures
from mediaeval_ap.errors import FormatError, ParameterError, printable, shown
from mediaeval_ap.results.metric_kinds import kind_of_metric
from mediaeval_ap.results.result import ALL_QUERIES, N_QUERIES, SHOWN_SETTINGS
from mediaeval_ap.tables.first_look import OWN_COUNTS, is_own_header
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.records import Records

# Columns beside the values.
OWN_SETTINGS = ('metric', 'definition', *SHOWN_SETTINGS)
OWN_TEXT_COLUMNS = (*OWN_SETTINGS, 'n_relevant')
_is_value_name = re.compile(r'value|(Ew)?AP(@[0-9]+)?|RR@[0-9]+').fullmatch


@dataclass(frozen=True)
class OwnLayout(RecordLayout):
    """The layout of a table of this package: a row for each run and query, then one of means."""

    value: str = ''  # the column of values; '' for all of them

    @property
    def values(self) -> list[str]:
        """The columns of values."""
        return [name for name in self.numbers if not name.startswith(OWN_COUNTS)]

    def explain(self, header: Sequence[str]) -> tuple[str, str] | None:
        own = self.for_header(header)
        if is_own_header(header) and own.values and self.value not in OWN_TEXT_COLUMNS:
            return RecordLayout.explain(own, header)
        return super().explain(header) or ('no run', self.expected)

    def for_header(self, header: Sequence[str]) -> OwnLayout:
        texts = {'item': 'query', 'system': 'run'}
        texts |= {name: name for name in OWN_TEXT_COLUMNS if name in header}

        def is_read(name: str) -> bool:
            is_measure = f'{N_QUERIES}_{name}' in header
            is_value = name == self.value if self.value else is_measure or _is_value_name(name)
            return bool(is_value) or name.startswith(OWN_COUNTS)

        numbers = tuple(filter(is_read, header))
        roles = (*texts, *numbers)
        return replace(self, texts=tuple(texts.values()), numbers=numbers, roles=roles)


def metric_columns(
    files: Sequence[Records], value: str, measures: Sequence[str] = ()
) -> dict[str, str]:
    """Return the column of each metric, the claimed one first; all files must have the same.

    Tables by topic and measure have the name of a measure in place of a column. Other tables of
    other tools have one metric: the column named `value`.
    """
    own_files = [records for records in files if isinstance(records.layout, OwnLayout)]
    columns = [value]
    for records in files:
        earlier_columns = columns
        layout = records.layout
        names = layout.values if isinstance(layout, OwnLayout) else [value]
        remedy = 'name one that all files have by --columns value=…, in Python columns='
        if has_measures(records):
            names = list(dict.fromkeys(records['measure'].to_pylist()))
            remedy = 'name some that all files have by --measures, in Python measures='
        columns = _chosen(measures, names)
        if {*columns} == {*earlier_columns}:
            columns = earlier_columns
        elif records is not files[0]:
            actual = f'values {", ".join(columns)}'
            expected = f'{", ".join(earlier_columns)} as in {printable(files[0].source.name)}'
            raise FormatError(records.source.name, '', '', actual, f'{expected}; {remedy}')
    for role in OWN_SETTINGS:
        settings = [
            {*map(shown, records[role].to_pylist())}
            if role in records.layout.by_role
            else {'the default'}
            for records in own_files
        ]
        for records, texts in zip(own_files, settings, strict=True):
            if texts != settings[0] or len(texts) > 1:
                actual = ', '.join(sorted(texts))
                expected = f'{min(settings[0])} as in {printable(own_files[0].source.name)}'
                raise FormatError(records.source.name, '', role, actual, expected)
    groups_of_items(own_files, 'n_relevant', ())  # raises if an item differs between runs
    has_metric = bool(own_files) and 'metric' in own_files[0].layout.by_role
    metric = own_files[0]['metric'][0].as_py() if has_metric else value
    if no_mean := (kind := kind_of_metric(metric)).no_mean:
        remedy = '' if kind.is_one_list else '; give results of --format json --per-query'
        expected = f'a metric with a value by query: {no_mean}{remedy}'
        raise ParameterError(f'compare: found {metric}, expected {expected}')
    counts = own_files[0].layout.numbers if own_files else ()
    own_measures = [name for name in columns if f'{N_QUERIES}_{name}' in counts]
    claimed = (*measures, *own_measures, columns[-1 if own_files else 0])[0]
    columns.sort(key=claimed.__ne__)
    return {metric if name == 'value' else name: name for name in columns}


def _chosen(measures: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the measures, which must be among the names; without them, names but counts."""
    if lacking := [name for name in measures if name not in names]:
        expected = f'some of {", ".join(names)}'
        raise ParameterError(f'found {shown(lacking[0])}, expected {expected}', 'measures')
    return [*measures] or [name for name in names if not name.startswith('num_')] or [*names]


def reason_without_videos(records: Records) -> str:
    """Return the reason why queries of a campaign cannot be tested by video, or ''."""
    by_role = records.layout.by_role
    if 'definition' not in by_role or records['definition'][0].as_py() != definitions.DEFAULT:
        return ''
    return 'tables tell no videos; compare files of --format json --per-query, with the reference'


def without_means(records: Records) -> Records:
    """Drop the rows of means, and queries without a relevant shot if the means leave them out."""
    import pandas
    import pyarrow

    by_role = records.layout.by_role
    are_means = records['item'].to_pandas().eq(ALL_QUERIES)
    if count_column := next(filter(by_role.__contains__, OWN_COUNTS), None):
        counts = pandas.Series(records[count_column])
        are_means &= counts.notna()
    are_read = ~are_means
    if 'n_relevant' in by_role:
        runs = records['system'].to_pandas()
        n_queries = runs.map(counts[are_means].groupby(runs).max())
        are_fewer = n_queries < runs.map(runs[are_read].value_counts())
        are_read &= ~(are_fewer & records['n_relevant'].to_pandas().eq('0'))
    if not are_read.any():
        options = '--per-query' if count_column else 'trec_eval -q'
        expected = f'values of queries: write it with {options}'
        raise FormatError(records.source.name, '', '', 'means alone', expected)
    columns = records.columns.filter(pyarrow.array(are_read)).combine_chunks()
    return replace(records, columns=columns, lines=records.lines.select(are_read.to_numpy()))
