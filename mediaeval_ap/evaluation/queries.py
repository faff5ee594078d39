"""Queries: the names that may be asked for, and those that are asked for by default."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from mediaeval_ap.errors import (
    DataWarning,
    ParameterError,
    QueryError,
    ReadError,
    UndefinedScoreError,
    WithoutRelevantWarning,
    printable,
    shown,
)
from mediaeval_ap.evaluation.data_warnings import repeated_queries
from mediaeval_ap.evaluation.likely_causes import likely_cause
from mediaeval_ap.plain_text import TEXT, is_text, plain_text
from mediaeval_ap.results.means_and_notes import NO_RELEVANT, notes_of_skipped
from mediaeval_ap.tables import QUERIES, Table, read

PLACEHOLDER = '?'  # begins a name of the reference that stands for people without a name


def check_query(query: object) -> str:
    """Return a query as plain text, or raise `QueryError` for what is no name."""
    if query is None:
        raise QueryError(
            'query: found None, expected a name; a session is primed already, and close() ends it'
        )
    text = plain_text(query)
    if text is None or not is_text(text):
        raise QueryError(f'query: found {shown(query)}, expected {TEXT}')
    return text


def read_queries(queries: Any, max_bytes: int) -> Table:
    """Read queries; of text that is no path, the error says how to ask for one name."""
    try:
        return read(queries, QUERIES, max_bytes=max_bytes)
    except ReadError as error:
        name = plain_text(queries)
        is_no_file = isinstance(error.__cause__, FileNotFoundError)
        if name is None or not is_text(name) or not is_no_file:
            raise
        hint = f'for one name, give a list: queries=[{shown(name)}]'
        raise ReadError(error.name, f'{error.reason}; {hint}') from error.__cause__


def without_placeholders(names: Iterable[str]) -> list[str]:
    """Return the names that stand for a person, sorted."""
    return sorted(name for name in names if not name.startswith(PLACEHOLDER))


def answerable(
    queries: Table, names: Collection[str], reference: str
) -> tuple[Table, int, list[DataWarning]]:
    """Return the queries that a reference has, how many it lacks, and the warning about these."""
    column = queries['person_name']
    is_known = np.array([name in names for name in column.values])[column.codes]
    n_skipped = int(np.count_nonzero(~is_known))
    cause = '' if is_known.any() else likely_cause(column.values, names)
    found = skipped(queries.source.name, reference, n_skipped, len(queries), cause=cause)
    return queries.select(is_known), n_skipped, found


def skipped(
    source: str,
    reference: str,
    n_skipped: int,
    n_queries: int,
    lack: str = NO_RELEVANT,
    cause: str = '',
) -> list[DataWarning]:
    """Warn that queries are left out, or refuse to leave out all of those in a source."""
    if n_skipped and n_skipped == n_queries:
        where = '' if source == reference else f' in {printable(reference)}'
        finding = f'{n_queries:,} of {n_queries:,} queries {lack}{where}'
        remedy = (
            'none is left to score: score them by --queries-without-relevant count, in Python '
            "queries_without_relevant='count'"
        )
        raise UndefinedScoreError(f'{printable(source)}: {finding}; {cause or remedy}')
    notes = notes_of_skipped(n_skipped, n_queries - n_skipped, lack)
    return [WithoutRelevantWarning(f'{printable(reference)}: {note}') for note in notes]


def queries_or_default(
    queries: Table | None, by_default: Sequence[str], reference: str
) -> tuple[list[str], list[DataWarning]]:
    """Return the queries in their order, by default those of a reference, and warnings."""
    if queries is not None:
        return queries.texts('person_name'), repeated_queries(queries)
    if not by_default:
        raise ParameterError(
            f'{printable(reference)}: every name of this reference begins with {PLACEHOLDER}, and '
            'stands for people without a name; give the queries to ask for'
        )
    return list(by_default), []
