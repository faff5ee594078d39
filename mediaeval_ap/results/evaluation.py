"""Average precision of a run at several cutoffs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Cutoff, Definition, ap_column
from mediaeval_ap.errors import DataWarning
from mediaeval_ap.report.document import Grid
from mediaeval_ap.results.means_and_notes import mean, mean_average_precision
from mediaeval_ap.results.result import ResultByQuery
from mediaeval_ap.tables import Source

if TYPE_CHECKING:
    import pandas

__all__ = ['Evaluation']


@dataclass(frozen=True, eq=False)
class Evaluation(ResultByQuery):
    """Average precision of a run, query by query and in the mean.

    Parameters
    ----------
    queries : list of str
        The names asked for, in the order of the rows of `ap`.
    K : list of int or 'all'
        The cutoffs, in the order of its columns.
    ap : ndarray of float64, shape (n_queries, n_cutoffs)
        Average precision.
    n_relevant : ndarray of int64, shape (n_queries,)
        Number of relevant shots of each query.
    definition : Definition
        Definition of average precision.
    inputs : mapping of str to Source
        ``reference``, ``hypothesis`` and, if given, ``subset`` and ``queries``.
    counts : mapping of str to int
        Sizes of the inputs.
    measures : mapping of str to ndarray of float64, shape (n_queries,)
        Other measures, by name; NaN for queries without a defined value.
    parameters : mapping of str to str or int
        Other settings that the values depend on.
    warnings : sequence of DataWarning
        Warnings about the data; not part of `to_dict`.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision('samples/reference.txt', K=[10])
    >>> evaluation = average_precision.evaluate('samples/hypothesis.txt', 'samples/queries.txt')
    >>> evaluation.ap.shape, evaluation.n_relevant.tolist(), evaluation.counts['names']
    ((3, 1), [116, 26, 2], 3500)
    """

    RUN = 'hypothesis'
    TITLE = 'MEAN AVERAGE PRECISION'
    BY_QUERY = ('queries', 'n_relevant', 'ap', 'measures')
    COLUMNS = BY_QUERY

    queries: list[str]
    K: list[Cutoff]
    ap: NDArray[np.float64]
    n_relevant: NDArray[np.int64]
    definition: Definition
    inputs: Mapping[str, Source]
    counts: Mapping[str, int]
    measures: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    warnings: Sequence[DataWarning] = field(default=(), repr=False)

    @cached_property
    def map(self) -> NDArray[np.float64]:
        """Mean average precision at each cutoff."""
        return mean_average_precision(self.ap)

    @property
    def mean_measures(self) -> dict[str, float | None]:
        """The mean of each measure over the queries with a defined value; None without any."""
        return {name: mean(values[~np.isnan(values)]) for name, values in self.measures.items()}

    def to_frame(self) -> pandas.DataFrame:
        """Return the queries as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each query, which is its index; columns ``AP@k`` for each cutoff (``AP`` for
            ``'all'``), the measures, ``n_relevant``.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
        >>> evaluation = average_precision.evaluate('samples/hypothesis.txt', ['alain_juppe'])
        >>> evaluation.to_frame().columns.tolist()
        ['AP@10', 'AP@100', 'n_relevant']
        """
        return self._frame(self._columns())

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation, and a manifest of what it was computed from, for JSON.

        Returns
        -------
        dict
            ``definition`` (its name), ``K``, ``map``, ``queries``, ``n_relevant``, ``ap``,
            ``notes``; ``mean_measures`` and ``measures``, if there are any, with None where a value
            is not defined; ``manifest``: the package's ``version``, the ``definition`` in full, the
            ``parameters``, if there are any, the ``inputs`` with their names and SHA-256, the
            ``counts``.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt')
        >>> evaluation = average_precision.evaluate('samples/hypothesis.txt', ['alain_juppe'])
        >>> evaluation.to_dict()['manifest']['inputs']['hypothesis']['name']
        'samples/hypothesis.txt'
        """
        described = {
            'definition': self.definition.name,
            'K': list(self.K),
            'map': self.map.tolist(),
            'queries': list(self.queries),
            'n_relevant': self.n_relevant.tolist(),
            'ap': self.ap.tolist(),
            'notes': self.notes,
        }
        if self.measures:
            described['mean_measures'] = self.mean_measures
            described['measures'] = _values(self.measures)
        parameters = {'parameters': dict(self.parameters)} if self.parameters else {}
        manifest = self._manifest(definition=self.definition.to_dict(), **parameters)
        return {**described, 'manifest': manifest}

    def _columns(self) -> dict[str, NDArray[Any]]:
        ap = dict(zip(map(ap_column, self.K), self.ap.T, strict=True))
        return {**ap, **self.measures, 'n_relevant': self.n_relevant}

    def _how(self) -> str:
        return self.definition.name

    def _queries(self) -> Grid:
        return Grid.from_columns({'query': self.queries, **_values(self._columns())})

    def _rows(self) -> Grid:
        grid = self._queries()
        return Grid(['run', *grid.headers], [[self._run, *row] for row in grid.rows])

    def _means(self) -> dict[str, float | None]:
        names = [f'M{ap_column(k)}' for k in self.K]
        return dict(zip(names, self.map.tolist(), strict=True)) | self.mean_measures

    def _summary(self) -> dict[str, Any]:
        return {'run': self._run, 'definition': self.definition.name, **self._means()}


def _values(columns: Mapping[str, NDArray[Any]]) -> dict[str, list[Any]]:
    """Return the columns as values of Python, with None for NaN."""
    return {
        name: [None if math.isnan(value) else value for value in column.tolist()]
        for name, column in columns.items()
    }
