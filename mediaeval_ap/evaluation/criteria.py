"""Evaluation criteria: reference, cutoffs, definition, subset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mediaeval_ap.definitions import Cutoff, Definition
from mediaeval_ap.errors import shown
from mediaeval_ap.evaluation.queries import read_queries
from mediaeval_ap.evaluation.relevance import Reference
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.report.document import counted
from mediaeval_ap.tables import HYPOTHESIS, MAX_BYTES, Table, read


@dataclass(frozen=True, eq=False)
class Criteria:
    """Evaluation criteria; `reference` holds the rows of the subset alone."""

    reference: Reference
    K: list[Cutoff]
    definition: Definition
    subset: Table | None
    max_bytes: int = MAX_BYTES

    def __str__(self) -> str:
        name, names = shown(self.reference.table.source.name), self.reference.queries
        subset = '' if self.subset is None else f'subset={shown(self.subset.source.name)}, '
        return (
            f'reference={name}, {counted(len(names), "name", "names")}, {subset}K={self.K}, '
            f'definition={shown(self.definition.name)}'
        )

    def read_run(self, run: Any) -> Table:
        """Read the hypotheses of a run."""
        if isinstance(run, Ranking):
            return run.table
        return read(run, HYPOTHESIS, max_bytes=self.max_bytes)

    def read_queries(self, queries: Any) -> Table | None:
        """Read the queries; none are given where all of the reference are asked for."""
        return None if queries is None else read_queries(queries, self.max_bytes)


def in_subset(table: Table, subset: Table | None) -> Table:
    """Return the rows whose videos are in the subset; all rows without a subset."""
    return table if subset is None else table.select(table.within(subset))
