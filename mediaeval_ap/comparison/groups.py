"""Groups of queries: by the video or corpus of their relevant shots, or by how many there are."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.comparison.entries import GroupMean
from mediaeval_ap.comparison.runs import Runs
from mediaeval_ap.comparison.units import numbered
from mediaeval_ap.errors import ParameterError, printable, shown
from mediaeval_ap.results.means_and_notes import mean
from mediaeval_ap.tables import REFERENCE, SUBSET, Table, read

BINS = {'0': 0, '1': 1, '2–5': 5, '6–20': 20}  # the largest number of relevant shots in each
LAST_BIN = '21+'
Key = TypeVar('Key', str, tuple[str, str])
NO_RELEVANT = 'no relevant shot'


# By default. With fewer, plus2 over videos was simulated to be much wider than t, and BCa intervals
# of means to cover less (docs/comparison.md).
LEAST_VIDEOS = 50


class Places:
    """The videos, pairs of corpus and video, of the relevant shots of each query."""

    def __init__(self, runs: Runs, what: str, reference: Any, subset: Any) -> None:
        if reference is None:
            raise ParameterError(
                f'{what}: found no reference, expected the one that the runs were scored against, '
                'as reference=…'
            )
        if runs.kind != 'evaluation':
            raise ParameterError(
                f'{what}: found results without videos, expected those of AveragePrecision'
            )
        table = read(reference, REFERENCE)
        if subset is not None:
            table = table.select(table.within(read(subset, SUBSET)))
        asked = set(runs.queries)
        shots: dict[str, Counter[tuple[str, str, str]]] = defaultdict(Counter)
        for corpus, video, shot, name in table.rows():
            if name in asked:
                shots[name][corpus, video, shot] += 1
        _refuse_other_reference(runs, shots, table)
        self._videos = {
            query: Counter((corpus, video) for corpus, video, _ in shots[query]) for query in asked
        }

    def video(self, query: str) -> tuple[str, str] | None:
        """Return the video that holds most of the relevant shots, of equal ones the first."""
        return _most(self._videos[query])

    @property
    def n_videos(self) -> int:
        """The number of videos that queries are of."""
        return len({self.video(query) for query in self._videos} - {None})

    def corpus(self, query: str) -> str | None:
        """Return the corpus that holds most of the relevant shots, of equal ones the first."""
        shots: Counter[str] = Counter()
        for (corpus, _), count in self._videos[query].items():
            shots[corpus] += count
        return _most(shots)


def _most(counts: Counter[Key]) -> Key | None:
    return min(counts, key=lambda key: (-counts[key], key), default=None)


def _refuse_other_reference(
    runs: Runs, shots: dict[str, Counter[tuple[str, str, str]]], table: Table
) -> None:
    """Refuse a reference with other numbers of relevant shots than the runs were scored with."""
    assert runs.n_relevant is not None
    for query, n_relevant in zip(runs.queries, runs.n_relevant.tolist(), strict=True):
        found = shots[query]
        if n_relevant not in (len(found), found.total()):  # repeated rows may count again
            raise ParameterError(
                f'{printable(table.source.name)}: found {len(found)} relevant shots of '
                f'{shown(query)}, expected {n_relevant} as in the results; give the reference that '
                'the runs were scored against, and its subset if they had one'
            )


def cluster_numbers(runs: Runs, places: Places | None) -> NDArray[np.intp]:
    """Return the number of the cluster of each query: its video, or else itself."""
    if places is None:
        return np.arange(len(runs.queries))
    # A video is a pair, so it is equal to no query.
    return numbered([places.video(query) or query for query in runs.queries])


def group_means(runs: Runs, groups: list[str], order: list[str]) -> list[GroupMean]:
    """Return the mean of each run by group (in `order`) and metric, runs by name."""
    found = []
    labels = np.array(groups)
    for group in order:
        members = np.flatnonzero(labels == group)
        if not len(members):
            continue
        for metric, values in zip(runs.metrics, runs.values, strict=True):
            for run, row in zip(runs.names, values, strict=True):
                average = mean(row[members])
                assert average is not None
                found.append(GroupMean(group, len(members), metric, run, average))
    return found


def by_relevant(runs: Runs) -> list[GroupMean]:
    """Return means by the number of relevant shots."""
    if runs.n_relevant is None:
        raise ParameterError(
            "by: found 'relevant' for results without numbers of relevant shots, expected None"
        )
    bins = list(BINS.items())
    groups = [
        next((name for name, most in bins if count <= most), LAST_BIN)
        for count in runs.n_relevant.tolist()
    ]
    return group_means(runs, groups, [*BINS, LAST_BIN])


def by_corpus(runs: Runs, places: Places) -> list[GroupMean]:
    """Return means by corpus."""
    groups = [places.corpus(query) or NO_RELEVANT for query in runs.queries]
    return group_means(runs, groups, [*sorted({*groups} - {NO_RELEVANT}), NO_RELEVANT])
