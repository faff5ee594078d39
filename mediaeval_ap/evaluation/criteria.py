"""The criteria of an evaluation (reference, cutoffs, definition, subset), and its queries."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from mediaeval_ap import definitions
from mediaeval_ap.choices import (
    JUDGED_BY,
    TEXT,
    JudgedBy,
    Unjudged,
    WithoutRelevant,
    check_near,
    check_unjudged,
    check_without_relevant,
    is_text,
    parameter_of_skipped,
    plain_text,
)
from mediaeval_ap.definitions import Cutoff, Definition, check_cutoffs
from mediaeval_ap.errors import (
    DataWarning,
    FormatError,
    ParameterError,
    ReadError,
    printable,
    shown,
    with_noun,
)
from mediaeval_ap.evaluation.data_warnings import (
    likely_cause,
    repeated_queries,
    repeated_rows,
    skipped_queries,
)
from mediaeval_ap.evaluation.judged import Judged
from mediaeval_ap.evaluation.relevance import PLACEHOLDER, Reference
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, REFERENCE, SUBSET, Provenance, Table, read
from mediaeval_ap.tables.reading import read_one_of
from mediaeval_ap.tables.table import Names, Rows, consistent

if TYPE_CHECKING:
    from mediaeval_ap.store.store import Store

Run: TypeAlias = 'Rows | Store | Ranking'


def check_query(query: object) -> str:
    """Return a query as plain text, or raise `ParameterError` if it is not a name."""
    if query is None:
        raise ParameterError(
            'query: found None, expected a name; a session needs no priming, and close() ends it'
        )
    text = plain_text(query)
    if text is None or not is_text(text):
        raise ParameterError(f'query: found {shown(query)}, expected {TEXT}')
    return text


def read_queries(queries: Names) -> Table:
    """Read queries; if a text is not the path of a file, the error suggests a list of one name."""
    try:
        return read(queries, QUERIES)
    except ReadError as error:
        name = plain_text(queries)
        is_missing_file = isinstance(error.__cause__, FileNotFoundError)
        if name is None or not is_text(name) or not is_missing_file:
            raise
        hint = f'for one name, give a list: queries=[{shown(name)}]'
        raise ReadError(error.name, f'{error.reason}; {hint}') from error.__cause__


def queries_or_default(
    queries: Table | None, reference: Reference, skip_or_count: WithoutRelevant
) -> tuple[list[str], int, list[DataWarning], list[DataWarning]]:
    """Return queries, the number left out, and warnings about repeats, then about these."""
    names = reference.names
    if queries is None:
        if not reference.queries:
            reason = (
                f'every name of this reference begins with {PLACEHOLDER}, and stands for people '
                'without a name'
            )
            if not names:
                reason = 'no row of this reference is judged: all are dropped'
            raise ParameterError(f'{reference.name}: {reason}; give the queries to ask for')
        return list(reference.queries), 0, [], []
    n_skipped = 0
    about_skipped = []
    if skip_or_count == 'skip':
        column = queries['person_name']
        source = queries.source.name
        n_queries = len(queries)
        is_in_reference = np.array([name in names for name in column.values])[column.codes]
        n_skipped = int(np.count_nonzero(~is_in_reference))
        cause = '' if is_in_reference.any() else likely_cause(column.values, names)
        file = reference.table.source.name
        about_skipped = skipped_queries(source, file, n_skipped, n_queries, cause=cause)
        queries = queries.select(is_in_reference)
    about_repeated = repeated_queries(queries)
    return queries.texts('person_name'), n_skipped, about_repeated, about_skipped


@dataclass(frozen=True, eq=False)
class Criteria:
    """Evaluation criteria; `reference` holds only the rows of the subset."""

    has_names: ClassVar[bool] = True  # else queries are topics of TREC
    judged_by: ClassVar[tuple[JudgedBy, ...]] = JUDGED_BY  # the default first
    columns: ClassVar[Mapping[str, str]] = {  # their titles, by the field of a hypothesis
        field: field for field in (*HYPOTHESIS.texts, 'distance', 'confidence', 'temporal_rank')
    }

    reference: Reference
    K: list[Cutoff]
    definition: Definition
    subset: Table | None

    queries_without_relevant: WithoutRelevant = 'count'
    judgements: Judged | None = None

    @classmethod
    def read(
        cls,
        reference: Rows,
        K: Any,
        definition: str | Definition,
        subset: Rows | None,
        queries_without_relevant: WithoutRelevant,
        judged: Rows | None,
        unjudged: Unjudged,
        drop_unjudged_rows: bool,
    ) -> Criteria:
        """Validate and read the arguments of `AveragePrecision`."""
        definition = definitions.get(definition)
        cutoffs = check_cutoffs(K, definition)
        videos = None if subset is None else read(subset, SUBSET)
        policy = check_unjudged(unjudged, drop_unjudged_rows, judged)
        may_be_empty = judged is not None
        rows = read_one_of(reference, [REFERENCE]) if may_be_empty else read(reference, REFERENCE)
        table = in_subset(rows, videos)
        if len(rows) and not len(table):
            name = printable(table.source.name)
            raise ParameterError(f'{name}: no row of this reference is in the subset')
        judgements = None
        if judged is not None:
            judged_list = Judged.read(judged).within(videos)
            table, n_dropped = judged_list.check_reference(table, drop=drop_unjudged_rows)
            judgements = Judged(judged_list.table, policy, n_dropped)
        subset_reference = Reference(table, definition.counts_again, rows['person_name'].values)
        skip_or_count = check_without_relevant(queries_without_relevant)
        return cls(subset_reference, cutoffs, definition, videos, skip_or_count, judgements)

    def checked_near(self, near: float) -> float:
        """Return the largest distance at which a name counts as the query."""
        return check_near(near)

    def repeated_rows(self) -> list[DataWarning]:
        """Return a warning that the reference repeats rows, if it does."""
        table = self.reference.table
        n_repeated = self.reference.n_repeated
        are_kept = self.definition.counts_again
        n_rows = len(table) + (0 if are_kept else n_repeated)
        return repeated_rows(table.source.name, n_rows, n_repeated, are_kept=are_kept)

    def __str__(self) -> str:
        source = shown(self.reference.table.source.name)
        names = self.reference.queries
        subset = '' if self.subset is None else f'subset={shown(self.subset.source.name)}, '
        return (
            f'reference={source}, {with_noun(len(names), "name", "names")}, {subset}K={self.K}, '
            f'definition={shown(self.definition.name)}'
            + ''.join(f', {name}={shown(value)}' for name, value in self.parameters.items())
        )

    @property
    def parameters(self) -> dict[str, str]:
        """The settings that the user changed from their default, for a manifest."""
        judgements = self.judgements
        unjudged = {} if judgements is None else {'unjudged': judgements.unjudged}
        return {**parameter_of_skipped(self.queries_without_relevant), **unjudged}

    def sources(self, queries: Provenance | None) -> dict[str, Provenance]:
        """Return the inputs by their roles; `queries` is the source of given queries."""
        sources = {
            'reference': self.reference.table.source,
            'subset': None if self.subset is None else self.subset.source,
            'queries': queries,
            'judged': None if self.judgements is None else self.judgements.table.source,
        }
        return {role: source for role, source in sources.items() if source is not None}

    def read_run(self, run: Run) -> Table:
        if (store := self.open_run(run)) is not None:
            return store.ranking.table
        if isinstance(run, Ranking):
            return run.table
        rows: Any = run  # neither a store nor a ranking
        table = read(rows, HYPOTHESIS)
        return consistent(table, self.reference.table)

    def open_run(self, run: Run) -> Store | None:
        """Return the store behind a run, or None; raise FormatError if the subsets differ."""
        if isinstance(run, str) and not os.path.isdir(run):  # a file needs no import of stores
            return None
        from mediaeval_ap.store.manifest import digest_of_videos
        from mediaeval_ap.store.store import as_store

        if (store := as_store(run)) is None:
            return None
        indexed_subset = store.manifest.subset
        videos = self.subset
        digest = None if videos is None else digest_of_videos(videos)
        if digest == (indexed_subset and indexed_subset.videos):
            return store
        actual = 'none' if indexed_subset is None else f'the videos of {shown(indexed_subset.name)}'
        if videos is None:
            expected = 'none; score with the same --subset, or index the run without it'
        else:
            expected = f'the videos of {shown(videos.source.name)}; index the run with --subset'
        raise FormatError(store.path, '', 'subset', actual, expected)

    def read_queries(self, queries: Names | None) -> Table | None:
        """Read the given queries; None stands for all names of the reference."""
        table = None if queries is None else read_queries(queries)
        return table and consistent(table, self.reference.table)


def in_subset(table: Table, subset: Table | None) -> Table:
    """Return the rows with a video of the subset; all rows without a subset."""
    return table if subset is None else consistent(table, subset).select(table.within(subset))
