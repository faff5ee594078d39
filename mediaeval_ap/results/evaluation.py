"""Scores of a run, query by query: at several cutoffs, and by the protocol of 2015."""

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
from mediaeval_ap.results import means_and_notes
from mediaeval_ap.results.means_and_notes import mean, mean_average_precision
from mediaeval_ap.results.result import Result
from mediaeval_ap.tables import Source

if TYPE_CHECKING:
    import pandas

__all__ = ['Evaluation', 'Evaluation2015']


class ResultByQuery(Result):
    """A result about names that were asked for."""

    ADDED = (
        'queries',
        'queries_without_name',
        'queries_without_relevant',
        'relevant',
        'relevant_returned',
    )

    queries: list[str]
    n_relevant: NDArray[np.int64]
    definition: Definition

    @property
    def notes(self) -> list[str]:
        """Sentences about queries that are special, and about names that were not asked for."""
        counts, n_queries = self.counts, len(self.queries)
        sentences = []
        if n_without := int(np.count_nonzero(self.n_relevant == 0)):
            counts_as = self.definition.without_relevant
            sentences.append(means_and_notes.note_of_floor(n_without, n_queries, counts_as))
        n_nameless = counts.get('queries_without_name', 0)
        sentences += means_and_notes.notes_of(n_nameless, n_queries, 'are close to no name')
        if n_unnamed := counts.get('placeholders', 0):
            one = '1 placeholder of the reference (a name that begins with ?) is'
            many = f'{n_unnamed} placeholders of the reference (names that begin with ?) are'
            sentences.append(f'{one if n_unnamed == 1 else many} left out of the queries')
        return sentences

    def _frame(self, columns: Mapping[str, Any]) -> pandas.DataFrame:
        import pandas

        return pandas.DataFrame(columns, index=pandas.Index(self.queries, name='query'))


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
    >>> evaluate = AveragePrecision('samples/reference.txt', K=[10]).evaluate
    >>> evaluate('samples/hypothesis.txt', 'samples/queries.txt').ap.shape
    (3, 1)
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
            Indexed by query; columns ``AP@k`` for each cutoff (``AP`` for ``'all'``), the measures,
            ``n_relevant``.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> evaluate = AveragePrecision('samples/reference.txt', K=[10, 100]).evaluate
        >>> evaluate('samples/hypothesis.txt', ['alain_juppe']).to_frame().columns.tolist()
        ['AP@10', 'AP@100', 'n_relevant']
        """
        return self._frame(self._columns())

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation, and a manifest of what it was computed from, for JSON.

        Returns
        -------
        dict
            ``definition`` (its name), ``K``, ``map``, ``queries``, ``n_relevant``, ``ap``,
            ``notes``; if any, ``mean_measures`` and ``measures``, with None where not defined;
            ``manifest``: ``version``, ``definition`` in full, ``parameters`` if any, ``inputs``
            (name, SHA-256), ``counts``.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> evaluate = AveragePrecision('samples/reference.txt').evaluate
        >>> described = evaluate('samples/hypothesis.txt', ['alain_juppe']).to_dict()
        >>> described['manifest']['inputs']['hypothesis']['name']
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


@dataclass(frozen=True, eq=False)
class Evaluation2015(ResultByQuery):
    """Score of a run, and of its evidence for names, by the protocol of 2015.

    Parameters
    ----------
    queries : list of str
        The names asked for.
    names : list of str or None
        The name of the run chosen for each query; None if none was close enough.
    ratios, n_relevant, ap : ndarray, shape (n_queries,)
        Similarity of both, up to 1 (0 without a name); number of relevant shots; average precision.
    correct : ndarray of bool, shape (n_queries,), or None
        True if the evidence for the name is correct; None without evidence.
    definition : Definition
        Definition of average precision.
    parameters : mapping of str to float
        The ``ratio`` above which a name is close enough.
    inputs, counts, warnings
        As of `Evaluation`; the inputs are ``shots``, ``reference``, ``labels`` and others given.

    Examples
    --------
    >>> from mediaeval_ap import PersonDiscovery2015
    >>> discovery = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')])
    >>> discovery.evaluate([('v', '1', 'ann', 0.5)]).map
    1.0
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
            Indexed by query; columns ``name``, ``ratio``, ``AP``, ``correct`` with evidence,
            ``n_relevant``.

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
            ``map``, ``mean_correctness``, ``ewmap``; for each of the ``queries`` its ``query``,
            ``name``, ``ratio``, ``ap``, ``correct`` and ``n_relevant``; ``notes``; ``manifest``.

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


def _values(columns: Mapping[str, NDArray[Any]]) -> dict[str, list[Any]]:
    """Return the columns as values of Python, with None for NaN."""
    return {
        name: [None if math.isnan(value) else value for value in column.tolist()]
        for name, column in columns.items()
    }
