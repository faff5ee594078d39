"""Results by the protocol of 2015."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Definition
from mediaeval_ap.errors import DataWarning
from mediaeval_ap.results import (
    manifest,
    mean_average_precision,
    note_of_floor,
    notes_of,
    notes_of_placeholders,
)
from mediaeval_ap.tables import Source

if TYPE_CHECKING:
    import pandas

__all__ = ['Evaluation2015']


@dataclass(frozen=True, eq=False)
class Evaluation2015:
    """What labels, and the evidence for their names, are worth by the protocol of 2015.

    Parameters
    ----------
    queries : list of str
        The names asked for.
    names : list of str or None
        The hypothesized name that was chosen for each; none where none was close enough.
    ratios : ndarray of float64, shape (n_queries,)
        How close it is, up to 1; 0 where there is none.
    n_relevant : ndarray of int64, shape (n_queries,)
        Relevant shots of each query.
    ap : ndarray of float64, shape (n_queries,)
        Average precision.
    correct : ndarray of bool, shape (n_queries,), or None
        Whether the name is correct by its evidence; none where there was no evidence.
    definition : Definition
        What average precision was.
    parameters : mapping of str to float
        The ``ratio`` above which a name is close enough.
    inputs : mapping of str to Source
        ``shots``, ``reference``, ``labels`` and what else there was.
    counts : mapping of str to int
        How much of everything was looked at.
    warnings : sequence of DataWarning
        Warnings about the data, as they were given out.

    Examples
    --------
    >>> from mediaeval_ap import PersonDiscovery2015
    >>> discovery = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')])
    >>> evaluation = discovery.evaluate([('v', '1', 'ann', 0.5)])
    >>> evaluation.map, evaluation.ewmap
    (1.0, None)
    """

    queries: list[str]
    names: list[str | None]
    ratios: NDArray[np.float64]
    n_relevant: NDArray[np.int64]
    ap: NDArray[np.float64]
    correct: NDArray[np.bool_] | None
    definition: Definition
    parameters: Mapping[str, float]
    inputs: Mapping[str, Source]
    counts: Mapping[str, int]
    warnings: Sequence[DataWarning] = field(default=(), repr=False)

    @property
    def map(self) -> float:
        """Mean average precision."""
        return float(mean_average_precision(self.ap[:, None])[0])

    @property
    def mean_correctness(self) -> float | None:
        """The share of queries whose name is correct; none without evidence."""
        return None if self.correct is None else float(np.mean(self.correct))

    @property
    def ewmap(self) -> float | None:
        """Evidence-weighted MAP: the mean of AP where the name is correct, and of 0 elsewhere."""
        if self.correct is None:
            return None
        return float(mean_average_precision((self.ap * self.correct)[:, None])[0])

    @property
    def notes(self) -> list[str]:
        """Sentences on the queries that are not like the others."""
        counts = self.counts
        notes = []
        if n_without := counts['queries_without_relevant']:
            counts_as = self.definition.without_relevant
            notes.append(note_of_floor(n_without, counts['queries'], counts_as))
        notes += notes_of(counts['queries_without_name'], counts['queries'], 'are close to no name')
        return notes + notes_of_placeholders(counts)

    def to_frame(self) -> pandas.DataFrame:
        """The queries as a table.

        Returns
        -------
        pandas.DataFrame
            A row per query, which is its index; columns ``name``, ``ratio``, ``AP``, ``correct``
            where there was evidence, ``n_relevant``.

        Examples
        --------
        >>> from mediaeval_ap import PersonDiscovery2015
        >>> discovery = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')])
        >>> discovery.evaluate([('v', '1', 'ann', 0.5)]).to_frame().columns.tolist()
        ['name', 'ratio', 'AP', 'n_relevant']
        """
        import pandas

        columns: dict[str, Any] = {'name': self.names, 'ratio': self.ratios, 'AP': self.ap}
        if self.correct is not None:
            columns['correct'] = self.correct
        columns['n_relevant'] = self.n_relevant
        return pandas.DataFrame(columns, index=pandas.Index(self.queries, name='query'))

    def to_dict(self) -> dict[str, Any]:
        """All of it, with a manifest of what it was computed from, ready for JSON.

        Returns
        -------
        dict
            ``map``; ``mean_correctness`` and ``ewmap``, none without evidence; ``queries``, an
            object each, with its ``query``, ``name``, ``ratio``, ``ap``, ``correct`` and
            ``n_relevant``; ``manifest``.

        Examples
        --------
        >>> from mediaeval_ap import PersonDiscovery2015
        >>> discovery = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')])
        >>> discovery.evaluate([('v', '1', 'ann', 0.5)]).to_dict()['queries'][0]['ap']
        1.0
        """
        correct = [None] * len(self.queries) if self.correct is None else self.correct.tolist()
        fields = ('query', 'name', 'ratio', 'ap', 'correct', 'n_relevant')
        columns = (
            self.queries,
            self.names,
            self.ratios.tolist(),
            self.ap.tolist(),
            correct,
            self.n_relevant.tolist(),
        )
        how = {'definition': self.definition.to_dict(), 'parameters': dict(self.parameters)}
        return {
            'map': self.map,
            'mean_correctness': self.mean_correctness,
            'ewmap': self.ewmap,
            'queries': [dict(zip(fields, row, strict=True)) for row in zip(*columns, strict=True)],
            'notes': self.notes,
            'manifest': manifest(how, self.inputs, self.counts),
        }
