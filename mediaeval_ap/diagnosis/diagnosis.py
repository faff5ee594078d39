"""`Diagnosis`: where the average precision of a run was lost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Cutoff, Definition
from mediaeval_ap.diagnosis.difference import Difference
from mediaeval_ap.diagnosis.rows import PARTS, ConfusedName, NearMiss, QueryDiagnosis
from mediaeval_ap.errors import DataWarning
from mediaeval_ap.tables import Source


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """Where the average precision of a run was lost; `AveragePrecision.explain` makes it.

    Parameters
    ----------
    run : str
        The run.
    k : int or 'all'
        The cutoff.
    near : float
        The largest distance at which a name is taken for another spelling of a query.
    definition : Definition
        The AP definition.
    queries : list of str
        The queries, in their order.
    ap : ndarray of float64, shape (n_queries,)
        Average precision at the cutoff.
    n_relevant : ndarray of int64, shape (n_queries,)
        Numbers of relevant shots.
    parts : dict of str to ndarray of float64, shape (n_queries,)
        The parts of the loss in their order; for each query they add up to 1 - AP.
    confused : list of ConfusedName
        The names most often confused with a query, most relevant shots first.
    near_misses : list of NearMiss
        The names near a query, most relevant shots first.
    inputs : dict of str to Source
        The tables that were read.
    warnings : tuple of DataWarning
        What was warned of.
    """

    run: str
    k: Cutoff
    near: float
    definition: Definition
    queries: list[str]
    ap: NDArray[np.float64]
    n_relevant: NDArray[np.int64]
    parts: dict[str, NDArray[np.float64]]
    confused: list[ConfusedName]
    near_misses: list[NearMiss]
    inputs: Mapping[str, Source]
    warnings: tuple[DataWarning, ...] = ()

    @property
    def map(self) -> float:
        """Mean average precision at the cutoff."""
        return math.fsum(self.ap) / len(self.ap)

    @property
    def mean_parts(self) -> dict[str, float]:
        """The mean of each part over the queries; together they are 1 - MAP."""
        return {part: math.fsum(self.parts[part]) / len(self.queries) for part in PARTS}

    def costliest(self, n: int = 10) -> list[str]:
        """Return the queries that lose most, the costliest first."""
        raise NotImplementedError

    def of(self, query: str) -> QueryDiagnosis:
        """Return the diagnosis of a single query."""
        raise NotImplementedError

    def against(self, other: Diagnosis) -> Difference:
        """Split the difference to another run."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis, for JSON."""
        raise NotImplementedError
