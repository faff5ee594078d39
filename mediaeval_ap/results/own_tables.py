"""Per-query tables that commands of this package wrote, read as score tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mediaeval_ap import definitions
from mediaeval_ap.errors import printable, shown
from mediaeval_ap.results.result import ALL_QUERIES, N_QUERIES, SHOWN_SETTINGS
from mediaeval_ap.tables.first_look import OWN_COUNTS, is_own_header
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.records import Records

# Columns beside the values.
OWN_SETTINGS = ('metric', 'definition', *SHOWN_SETTINGS)
OWN_TEXT_COLUMNS = (*OWN_SETTINGS, 'n_relevant')
_is_value_name = re.compile(r'value|(Ew|xinf)?AP(@[0-9]+)?|RR@[0-9]+').fullmatch


@dataclass(frozen=True)
class OwnLayout(RecordLayout):
    """The layout of a table of this package: a row for each run and query, then one of means."""

    value: str = ''  # the column of values; '' for all of them

    @property
    def values(self) -> list[str]:
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
            if name.startswith(OWN_COUNTS):
                return True
            if self.value:
                return name == self.value
            return f'{N_QUERIES}_{name}' in header or bool(_is_value_name(name))

        numbers = tuple(filter(is_read, header))
        roles = (*texts, *numbers)
        return replace(self, texts=tuple(texts.values()), numbers=numbers, roles=roles)


def check_alike(files: Sequence[Records]) -> None:
    """Raise FormatError unless each setting of these tables has one value."""
    for role in OWN_SETTINGS:
        values = [_values_of_setting(records, role) for records in files]
        for records, texts in zip(files, values, strict=True):
            if texts != values[0] or len(texts) > 1:
                actual = ', '.join(sorted(texts))
                expected = f'{min(values[0])} as in {printable(files[0].source.name)}'
                raise records.source.error(actual, expected, field=role)


def _values_of_setting(records: Records, role: str) -> set[str]:
    if role not in records.layout.by_role:
        return {'the default'}
    return {*map(shown, records[role].to_pylist())}


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
        expected = 'values of queries: write it with trec_eval -q'
        if count_column:
            expected = 'values of queries: write it with --per-query'
        raise records.source.error('means alone', expected)
    columns = records.columns.filter(pyarrow.array(are_read)).combine_chunks()
    return replace(records, columns=columns, lines=records.lines.select(are_read.to_numpy()))
