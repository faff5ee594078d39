"""Evaluation criteria: reference, cutoffs, definition, subset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mediaeval_ap.choices import WithoutRelevant, parameter_of_skipped
from mediaeval_ap.definitions import Cutoff, Definition
from mediaeval_ap.errors import FormatError, shown
from mediaeval_ap.evaluation.queries import read_queries
from mediaeval_ap.evaluation.relevance import Reference
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.render.document import counted
from mediaeval_ap.tables import HYPOTHESIS, MAX_BYTES, Table, read
from mediaeval_ap.tables.reading import may_be_store

if TYPE_CHECKING:
    from mediaeval_ap.store.store import Store


@dataclass(frozen=True, eq=False)
class Criteria:
    """Evaluation criteria; `reference` holds the rows of the subset alone."""

    reference: Reference
    K: list[Cutoff]
    definition: Definition
    subset: Table | None
    max_bytes: int = MAX_BYTES
    queries_without_relevant: WithoutRelevant = 'count'

    def __str__(self) -> str:
        name, names = shown(self.reference.table.source.name), self.reference.queries
        subset = '' if self.subset is None else f'subset={shown(self.subset.source.name)}, '
        return (
            f'reference={name}, {counted(len(names), "name", "names")}, {subset}K={self.K}, '
            f'definition={shown(self.definition.name)}'
            + ''.join(f', {name}={shown(value)}' for name, value in self.parameters.items())
        )

    @property
    def parameters(self) -> dict[str, str]:
        """The settings that are the user's choice and not the default, for a manifest."""
        return parameter_of_skipped(self.queries_without_relevant)

    def read_run(self, run: Any) -> Table:
        """Read the hypotheses of a run."""
        if (store := self.open_run(run)) is not None:
            return store.ranking.table
        if isinstance(run, Ranking):
            return run.table
        return read(run, HYPOTHESIS, max_bytes=self.max_bytes)

    def open_run(self, run: Any) -> Store | None:
        """Return a run that is a store, of the same subset; None for any other run."""
        if isinstance(run, str) and not may_be_store(run):  # a file imports nothing of stores
            return None
        from mediaeval_ap.store.store import as_store

        store = as_store(run)
        if store is not None:
            self._check_subset(store)
        return store

    def _check_subset(self, store: Store) -> None:
        from mediaeval_ap.store.manifest import digest_of_videos

        its, here = store.manifest.subset, self.subset
        digest = None if here is None else digest_of_videos(here)
        if digest == (its and its.videos):
            return
        found = 'none' if its is None else f'the videos of {shown(its.name)}'
        if here is None:
            expected = 'none; score with the same --subset, or index the run without it'
        else:
            expected = f'the videos of {shown(here.source.name)}; index the run with --subset'
        raise FormatError(store.path, '', 'subset', found, expected)

    def read_queries(self, queries: Any) -> Table | None:
        """Read the queries; none are given where all of the reference are asked for."""
        return None if queries is None else read_queries(queries, self.max_bytes)


def in_subset(table: Table, subset: Table | None) -> Table:
    """Return the rows whose videos are in the subset; all rows without a subset."""
    return table if subset is None else table.select(table.within(subset))
