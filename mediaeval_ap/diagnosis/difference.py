"""The difference of two runs, split into the parts of the loss."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.diagnosis.documents import describe_difference
from mediaeval_ap.errors import ParameterError, shown
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.render.document import Document, counted
from mediaeval_ap.results.described import Described
from mediaeval_ap.tables import Table

if TYPE_CHECKING:
    from mediaeval_ap.diagnosis.diagnosis import Diagnosis


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Described):
    """The difference of average precision between two runs, split; `Diagnosis.against` makes it.

    Parameters
    ----------
    runs : tuple of str
        The two runs, a and b.
    k : int or 'all'
        The cutoff.
    definition : str
        The name of the AP definition.
    queries : list of str
        The queries.
    ap : ndarray of float64, shape (n_queries,)
        AP of b minus AP of a.
    parts : dict of str to ndarray of float64, shape (n_queries,)
        The loss of a minus the loss of b, part by part; for each query they add up to `ap`.
    """

    runs: tuple[str, str]
    k: Cutoff
    definition: str
    queries: list[str]
    ap: NDArray[np.float64]
    parts: dict[str, NDArray[np.float64]]

    @property
    def map(self) -> float:
        """The mean of `ap`: MAP of b minus MAP of a."""
        return math.fsum(self.ap) / len(self.ap)

    @property
    def mean_parts(self) -> dict[str, float]:
        """The mean of each part, by its name."""
        return {part: math.fsum(values) / len(values) for part, values in self.parts.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the difference, for JSON.

        Returns
        -------
        dict
            ``runs``, ``k``, ``definition``, ``difference`` (the mean), ``loss`` (the mean of each
            part) and ``queries`` (``query``, ``difference``, ``loss``).
        """
        rows = zip(*(values.tolist() for values in self.parts.values()), strict=True)
        return {
            'runs': list(self.runs),
            'k': self.k,
            'definition': self.definition,
            'difference': self.map,
            'loss': self.mean_parts,
            'queries': [
                {'query': query, 'difference': ap, 'loss': dict(zip(self.parts, row, strict=True))}
                for query, ap, row in zip(self.queries, self.ap.tolist(), rows, strict=True)
            ],
        }

    def _document(self) -> Document:
        return describe_difference(self)


def check_comparable(a: Diagnosis, b: Diagnosis) -> None:
    """Refuse two diagnoses that differ in more than the run."""
    settings = [
        ('k', a.k, b.k),
        ('near', a.near, b.near),
        ('definition', a.definition.name, b.definition.name),
    ]
    for name, expected, found in settings:
        if found != expected:
            raise _different(b, f'{name} {shown(found)}', f'{shown(expected)}', a)
    if a.definition != b.definition:
        name = f'another definition of the name {shown(b.definition.name)}'
        raise _different(b, name, 'the same', a)
    if sorted(a.queries) != sorted(b.queries):
        n_others = counted(len(b.queries), 'query', 'queries')
        raise _different(b, f'other queries ({n_others})', f'the {len(a.queries):,}', a)


def check_same_data(a: Diagnosis, b: Diagnosis, criteria: Criteria, others: Criteria) -> None:
    """Refuse two diagnoses by criteria with another reference or subset."""
    if criteria is others:
        return
    if Counter(criteria.reference.table.rows()) != Counter(others.reference.table.rows()):
        raise _different(b, 'another reference', 'the same', a)
    if _videos(criteria.subset) != _videos(others.subset):
        raise _different(b, 'another subset', 'the same', a)


def _different(b: Diagnosis, found: str, expected: str, a: Diagnosis) -> ParameterError:
    return ParameterError(
        f'against: {shown(b.run)} was explained with {found}, expected {expected} as for '
        f'{shown(a.run)}; explain both in the same way'
    )


def _videos(subset: Table | None) -> set[tuple[Any, ...]] | None:
    return None if subset is None else set(subset.rows())
