"""Scores of a run by the protocol of 2015."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Definition
from mediaeval_ap.errors import DataWarning
from mediaeval_ap.report.document import Grid
from mediaeval_ap.results.means_and_notes import mean, mean_average_precision
from mediaeval_ap.results.result import ResultByQuery
from mediaeval_ap.tables import Source

if TYPE_CHECKING:
    import pandas

__all__ = ['Evaluation2015']


@dataclass(frozen=True, eq=False)
class Evaluation2015(ResultByQuery):
    """Score of a run, and of its evidence for names, by the protocol of 2015.

    Parameters
    ----------
    queries : list of str
        The names asked for.
    names : list of str or None
        The name of the run that was chosen for each query; None if none was close enough.
    ratios : ndarray of float64, shape (n_queries,)
        Similarity of both, up to 1; 0 without a name.
    n_relevant : ndarray of int64, shape (n_queries,)
        Number of relevant shots of each query.
    ap : ndarray of float64, shape (n_queries,)
        Average precision.
    correct : ndarray of bool, shape (n_queries,), or None
        True if the evidence for the name is correct; None without evidence.
    definition : Definition
        Definition of average precision.
    parameters : mapping of str to float
        The ``ratio`` above which a name is close enough.
    inputs : mapping of str to Source
        ``shots``, ``reference``, ``labels`` and, if given, other inputs.
    counts : mapping of str to int
        Sizes of the inputs.
    warnings : sequence of DataWarning
        Warnings about the data; not part of `to_dict`.

    Examples
    --------
    >>> from mediaeval_ap import PersonDiscovery2015
    >>> discovery = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')])
    >>> evaluation = discovery.evaluate([('v', '1', 'ann', 0.5)])
    >>> evaluation.map, evaluation.ewmap
    (1.0, None)
    """

    RUN = 'labels'
    BY_QUERY = ('queries',)
    COLUMNS = ('queries', 'names', 'ratios', 'n_relevant', 'ap', 'correct')

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
        """The share of queries whose name is correct; None without evidence."""
        return None if self.correct is None else float(np.mean(self.correct))

    @property
    def ewmap(self) -> float | None:
        """Evidence-weighted MAP: the mean of AP where the name is correct, and of 0 elsewhere."""
        return None if self.correct is None else mean(self.ap * self.correct)

    def to_frame(self) -> pandas.DataFrame:
        """Return the queries as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each query, which is its index; columns ``name``, ``ratio``, ``AP``,
            ``correct`` if there was evidence, ``n_relevant``.

        Examples
        --------
        >>> from mediaeval_ap import PersonDiscovery2015
        >>> discovery = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')])
        >>> discovery.evaluate([('v', '1', 'ann', 0.5)]).to_frame().columns.tolist()
        ['name', 'ratio', 'AP', 'n_relevant']
        """
        correct = {} if self.correct is None else {'correct': self.correct}
        columns = {'name': self.names, 'ratio': self.ratios, 'AP': self.ap, **correct}
        return self._frame({**columns, 'n_relevant': self.n_relevant})

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation, and a manifest of what it was computed from, for JSON.

        Returns
        -------
        dict
            ``map``; ``mean_correctness`` and ``ewmap``, None without evidence; ``queries``, an
            object each, with its ``query``, ``name``, ``ratio``, ``ap``, ``correct`` and
            ``n_relevant``; ``notes``; ``manifest``.

        Examples
        --------
        >>> from mediaeval_ap import PersonDiscovery2015
        >>> discovery = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')])
        >>> discovery.evaluate([('v', '1', 'ann', 0.5)]).to_dict()['queries'][0]['ap']
        1.0
        """
        return {
            'map': self.map,
            'mean_correctness': self.mean_correctness,
            'ewmap': self.ewmap,
            'queries': Grid.from_columns(self._columns()).objects(),
            'notes': self.notes,
            'manifest': self._manifest(
                definition=self.definition.to_dict(), parameters=dict(self.parameters)
            ),
        }

    def _how(self) -> str:
        return f'ratio {self.parameters["ratio"]:g}'

    def _columns(self) -> dict[str, Sequence[Any]]:
        correct = [None] * len(self.queries) if self.correct is None else self.correct.tolist()
        return {
            'query': self.queries,
            'name': self.names,
            'ratio': self.ratios.tolist(),
            'ap': self.ap.tolist(),
            'correct': correct,
            'n_relevant': self.n_relevant.tolist(),
        }

    def _queries(self) -> Grid:
        columns = self._columns()
        if self.correct is None:
            del columns['correct']
        return Grid.from_columns(columns)

    def _means(self) -> dict[str, float | None]:
        if self.correct is None:
            return {'MAP': self.map}
        return {'MAP': self.map, 'mean correctness': self.mean_correctness, 'EwMAP': self.ewmap}
