"""Warnings about data that is scored all the same: each function returns the warning, or none.

A public function collects them in its result, and gives them out with `errors.warn_caller`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions, errors
from mediaeval_ap.definitions import Definition
from mediaeval_ap.errors import DataWarning, printable, shown
from mediaeval_ap.results.means_and_notes import note_of_floor
from mediaeval_ap.tables import Table

QUERIES_IN_WARNING = 5  # a choice: enough to look at, and still one line


class KnownNames(Protocol):
    """The names of a reference, of which a query should be one."""

    @property
    def name(self) -> str: ...  # of the reference

    def has(self, name: str) -> bool: ...

    def nearest(self, query: str) -> str | None: ...


def repeated_rows(source: str, n_rows: int, n_repeated: int, *, kept: bool) -> list[DataWarning]:
    """Warn that rows of a reference or a run repeat an earlier row."""
    if not n_repeated:
        return []
    fate = 'kept' if kept else 'counted once'
    finding = f'{n_repeated} of {n_rows} rows repeat an earlier one exactly, and are {fate}'
    return [errors.RepeatedRowsWarning(f'{printable(source)}: {finding}')]


def repeated_queries(queries: Table) -> list[DataWarning]:
    """Warn that queries are asked more than once."""
    n_repeated = len(queries) - len(queries['person_name'].values)
    if not n_repeated:
        return []
    repeated = f'{n_repeated} of {len(queries)} queries repeat an earlier one'
    text = f'{printable(queries.source.name)}: {repeated}; each counts in the mean'
    return [errors.RepeatedQueriesWarning(text)]


def empty_run(run: str, n_hypotheses: int, n_counted: int) -> list[DataWarning]:
    """Warn that the subset leaves nothing of a run that is not empty."""
    if not n_hypotheses or n_counted:
        return []
    finding = f'none of its {n_hypotheses} hypotheses is in the subset'
    text = f'{printable(run)}: {finding}; scored as a run that returns nothing'
    return [errors.EmptyRunWarning(text)]


def no_overlap(source: str, finding: str, cause: str) -> list[DataWarning]:
    """Warn that no id of an input occurs in the other one, and name the likely cause if any."""
    remedy = cause or 'are these files of the same data?'
    return [errors.NoOverlapWarning(f'{printable(source)}: {finding}; {remedy}')]


def without_relevant(
    reference: str, n_relevant: NDArray[np.int64], definition: Definition
) -> list[DataWarning]:
    """Warn that some, but not all, queries have no relevant shot, and tell what they add to MAP."""
    n_without = int(np.count_nonzero(n_relevant == 0))
    if not 0 < n_without < len(n_relevant):  # where all are without, `no_overlap` says so
        return []
    note = note_of_floor(n_without, len(n_relevant), definition.without_relevant)
    return [errors.WithoutRelevantWarning(f'{reference}: {note}')]


def unknown_queries(
    queries: Iterable[str], reference: KnownNames, n_queries: int = 1
) -> list[DataWarning]:
    """Warn of queries that are no names of the reference, and tell the nearest name of a few."""
    unknown = [query for query in queries if not reference.has(query)]
    if not unknown:
        return []
    told = []
    for query in unknown[:QUERIES_IN_WARNING]:
        nearest = reference.nearest(query)
        told.append(f'{shown(query)} (nearest: {shown(nearest)})' if nearest else shown(query))
    if (further := len(unknown) - QUERIES_IN_WARNING) > 0:
        told[-1] += f' and {further:,} more'
    named = ', '.join(told)
    if n_queries > 1:
        named = f'{len(unknown):,} of {n_queries:,} queries are no names of it: {named}'
    else:
        named = f'the query is no name of it: {named}'
    return [errors.UnknownQueriesWarning(f'{reference.name}: {named}')]


def above_one(ap: NDArray[np.float64], queries: Sequence[str]) -> list[str]:
    """Return the queries whose average precision exceeds 1 at a cutoff."""
    return list(compress(queries, ap.max(axis=1, initial=0) > 1))


def scores_above_one(queries: Sequence[str], run: str, definition: Definition) -> list[DataWarning]:
    """Warn of queries whose average precision exceeds 1, and name definitions that prevent it."""
    if not (queries and definition.counts_again):
        return []
    named = ', '.join(map(printable, queries[:QUERIES_IN_WARNING]))
    if (further := len(queries) - QUERIES_IN_WARNING) > 0:
        named += f' and {further} more'
    others = [str(other) for other in definitions.registered() if not other.counts_again]
    cause = f'{definition} counts a shot again that is returned again'
    finding = f'average precision above 1, as {cause}: {named}; {", ".join(others)} count it once'
    return [errors.ScoreAboveOneWarning(f'{printable(run)}: {finding}')]
