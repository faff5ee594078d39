"""Clusters and groups of queries: by video, by a column or by a file; means over groups."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import Cluster
from mediaeval_ap.comparison.comparable_runs import Runs
from mediaeval_ap.errors import FormatError, ParameterError, printable, shown, with_noun
from mediaeval_ap.results.rounding import exact_mean
from mediaeval_ap.tables import REFERENCE, SUBSET, Provenance, read
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.reading import TableInput
from mediaeval_ap.tables.records import Records, read_records
from mediaeval_ap.tables.table import Frame, Rows

GROUP_LAYOUT = RecordLayout(('item', 'group'))
BINS = {'0': 0, '1': 1, '2–5': 5, '6–20': 20}  # the largest number of relevant shots in each
LAST_BIN = '21+'
NO_CORPUS = 'no relevant shot'
CorpusOrVideo = TypeVar('CorpusOrVideo', str, tuple[str, str])
Videos: TypeAlias = Mapping[str, Counter[tuple[str, str]]]  # counts of relevant shots, by query


def videos_of_queries(
    runs: Runs, option: str, reference: Rows | None, subset: Rows | None
) -> Videos:
    """Return the number of relevant shots by corpus and video of each query."""
    if reference is None:
        expected = 'the one that the runs were scored against, as reference=…'
        raise ParameterError(f'found no reference, expected {expected}', option)
    if not runs.has_videos:
        expected = 'results of AveragePrecision'
        raise ParameterError(f'found results without videos, expected {expected}', option)
    table = read(reference, REFERENCE)
    if subset is not None:
        table = table.select(table.within(read(subset, SUBSET)))
    queries = set(runs.queries)
    shots: dict[str, Counter[tuple[str, str, str]]] = defaultdict(Counter)
    for corpus, video, shot, name in table.rows():
        if name in queries:
            shots[name][corpus, video, shot] += 1
    assert runs.n_relevant is not None
    for query, n_relevant in zip(runs.queries, runs.n_relevant.tolist(), strict=True):
        relevant = shots[query]
        if n_relevant not in (len(relevant), relevant.total()):  # repeated rows may count again
            raise ParameterError(
                f'{printable(table.source.name)}: found {len(relevant)} relevant shots of '
                f'{shown(query)}, expected {n_relevant} as in the results; give the reference '
                'that the runs were scored against, and its subset if they had one'
            )
    return {query: Counter(shot[:2] for shot in shots[query]) for query in queries}


def largest(counts: Counter[CorpusOrVideo]) -> CorpusOrVideo | None:
    """Return the corpus or video with most of the relevant shots; of several, the first by name."""
    return min(counts, key=lambda key: (-counts[key], key), default=None)


def cluster_numbers(
    runs: Runs, cluster: Cluster | Literal['column'] | None, videos: Videos | None
) -> NDArray[np.intp]:
    """Return the number of each query's cluster: its video, or its given cluster, or itself."""
    keys: Iterable[object]
    if cluster == 'column':
        keys = runs.clusters or []
    elif cluster == 'video' and videos is not None:  # a video is a pair, so equal to no query
        keys = [largest(videos[query]) or query for query in runs.queries]
    else:
        return np.arange(len(runs.queries))
    numbers: dict[object, int] = {}  # by first occurrence
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


@dataclass(frozen=True)
class GroupMean:
    group: str
    n_queries: int
    metric: str
    run: str
    map: float


def members_of_groups(
    runs: Runs, by: str | None, videos: Videos | None, column: Sequence[str] | None = None
) -> dict[str, NDArray[np.intp]]:
    """Return the rows of the queries of each group: of a column, corpora, or numbers of shots."""
    if column is not None:
        groups = list(column)
        order = sorted(set(column))
    elif by is None:
        return {}
    elif by == 'corpus' and videos is not None:
        corpora = (
            largest(Counter(corpus for corpus, _ in videos[query].elements()))
            for query in runs.queries
        )
        groups = [corpus or NO_CORPUS for corpus in corpora]
        order = [*sorted({*groups} - {NO_CORPUS}), NO_CORPUS]
    elif runs.n_relevant is None:
        raise ParameterError(
            "found 'relevant' for results without numbers of relevant shots, expected None", 'by'
        )
    else:
        order = [*BINS, LAST_BIN]
        ends = [*BINS.values()]
        groups = [order[bisect_left(ends, count)] for count in runs.n_relevant.tolist()]
    members = {group: np.flatnonzero(np.array(groups) == group) for group in order}
    return {group: rows for group, rows in members.items() if len(rows)}


def group_means(runs: Runs, members: Mapping[str, NDArray[np.intp]]) -> list[GroupMean]:
    return [
        GroupMean(group, len(rows), metric, run=run, map=exact_mean(row[rows]))
        for group, rows in members.items()
        for metric, values in zip(runs.metrics, runs.values, strict=True)
        for run, row in zip(runs.names, values, strict=True)
    ]


def groups_of_items(files: Sequence[Records], role: str, items: Iterable[str]) -> list[str] | None:
    """Return the one text of each item in the column of a role; None if no file has it."""
    group_by_item: dict[str, str] = {}
    for records in files:
        if role not in records.layout.by_role:
            continue
        records.refuse_empty(role)
        rows = zip(records['item'].to_pylist(), records[role].to_pylist(), strict=True)
        for row, (item, group) in enumerate(rows):
            if (first_group := group_by_item.setdefault(item, group)) != group:
                actual = f'{shown(group)} for {shown(item)}'
                raise records.error([row], role, actual, f'{shown(first_group)} as before')
    if not group_by_item:
        return None
    if lacking := [item for item in items if item not in group_by_item]:
        actual = f'no row of {shown(lacking[0])}'
        if n_more := len(lacking) - 1:
            actual += f' and {with_noun(n_more, "other", "others")}'
        names = ', '.join(records.source.name for records in files)
        expected = f'one with the {role} of each item'
        raise FormatError(names, '', role, found=actual, expected=expected)
    return [group_by_item[item] for item in items]


def groups_in_file(origin: Frame, items: Sequence[str]) -> tuple[list[str], Provenance]:
    """Read the group of each item from a table of item,group; return its provenance, too."""
    records = read_records(TableInput.of(origin, 'groups'), [GROUP_LAYOUT])
    records.refuse_empty('item')
    return groups_of_items([records], 'group', items) or [], records.source
