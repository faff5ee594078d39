"""Results: values by query and on average, and what they were computed from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import __version__
from mediaeval_ap.definitions import Cutoff, Definition, ap_column
from mediaeval_ap.errors import DataWarning
from mediaeval_ap.tables import Source

if TYPE_CHECKING:
    import pandas

__all__ = [
    'Evaluation',
    'Score',
    'manifest',
    'mean_average_precision',
    'note_of_floor',
    'notes_of',
    'notes_of_placeholders',
]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a run is worth, query by query and on average.

    Parameters
    ----------
    queries : list of str
        The names asked for, in the order of the rows of `ap`.
    K : list of int or 'all'
        The cutoffs, in the order of its columns.
    ap : ndarray of float64, shape (n_queries, n_cutoffs)
        Average precision.
    n_relevant : ndarray of int64, shape (n_queries,)
        Relevant shots of each query.
    definition : Definition
        What average precision is.
    inputs : mapping of str to Source
        ``reference``, ``hypothesis`` and, where there were any, ``subset`` and ``queries``.
    counts : mapping of str to int
        How much of everything was looked at.
    measures : mapping of str to ndarray of float64, shape (n_queries,)
        What else was asked for, by name; not a number where it is not defined.
    parameters : mapping of str to str or int
        What else the values depend on.
    warnings : sequence of DataWarning
        Warnings about the data, as they were given out.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision('samples/reference.txt', K=[10])
    >>> evaluation = average_precision.evaluate('samples/hypothesis.txt', 'samples/queries.txt')
    >>> evaluation.ap.shape, evaluation.n_relevant.tolist(), evaluation.counts['names']
    ((3, 1), [116, 26, 2], 3500)
    """

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
    def notes(self) -> list[str]:
        """Sentences on the queries without a relevant shot, and on names that are not asked for."""
        notes = []
        if n_without := int(np.count_nonzero(self.n_relevant == 0)):
            counts_as = self.definition.without_relevant
            notes.append(note_of_floor(n_without, len(self.queries), counts_as))
        return notes + notes_of_placeholders(self.counts)

    @property
    def mean_measures(self) -> dict[str, float | None]:
        """The mean of each measure over the queries that it is defined for; none without any."""
        defined = {name: values[~np.isnan(values)] for name, values in self.measures.items()}
        return {
            name: float(mean_average_precision(values[:, None])[0]) if len(values) else None
            for name, values in defined.items()
        }

    def to_frame(self) -> pandas.DataFrame:
        """The queries as a table.

        Returns
        -------
        pandas.DataFrame
            A row per query, which is its index; columns ``AP@k`` for each cutoff, or ``AP`` for
            none, the measures, ``n_relevant``.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
        >>> evaluation = average_precision.evaluate('samples/hypothesis.txt', ['alain_juppe'])
        >>> evaluation.to_frame().columns.tolist()
        ['AP@10', 'AP@100', 'n_relevant']
        """
        import pandas

        frame = pandas.DataFrame(
            self.ap,
            index=pandas.Index(self.queries, name='query'),
            columns=[ap_column(k) for k in self.K],
        )
        for name, values in self.measures.items():
            frame[name] = values
        frame['n_relevant'] = self.n_relevant
        return frame

    def to_dict(self) -> dict[str, Any]:
        """All of it, with a manifest of what it was computed from, ready for JSON.

        Returns
        -------
        dict
            ``definition`` (its name), ``K``, ``map``, ``queries``, ``n_relevant``, ``ap``;
            ``mean_measures`` and ``measures`` where there are any, none standing for what is not
            defined; ``manifest``: the package's ``version``, the ``definition`` in full, the
            ``parameters`` if there are any, the ``inputs`` with their names and SHA-256, the
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
            described['measures'] = {
                name: _without_nan(values) for name, values in self.measures.items()
            }
        how: dict[str, Any] = {'definition': self.definition.to_dict()}
        if self.parameters:
            how['parameters'] = dict(self.parameters)
        return {**described, 'manifest': manifest(how, self.inputs, self.counts)}


@dataclass(frozen=True, eq=False)
class Score:
    """What predictions are worth by one metric, as one number.

    Parameters
    ----------
    metric : str
        What was measured, as ``'MAP@12'``.
    value : float
        The number.
    parameters : mapping of str to str, int or bool
        What it depends on: the cutoff, the definition, what is done with ties, and so on.
    inputs : mapping of str to Source
        ``truth`` and ``predictions``.
    counts : mapping of str to int
        How much of everything there was.
    table : pandas.DataFrame or None
        Query by query, or class by class, where that was asked for.
    notes : sequence of str
        What else to know of the number, a sentence each.
    warnings : sequence of DataWarning
        Warnings about the data, as they were given out.

    Examples
    --------
    >>> from mediaeval_ap import challenges
    >>> score = challenges.evaluate_gap(
    ...     'samples/landmarks_truth.csv', 'samples/landmarks_predictions.csv'
    ... )
    >>> print(score.metric, score.parameters['ties'], score.counts['queries'])
    GAP expected 60
    """

    metric: str
    value: float
    parameters: Mapping[str, str | int]
    inputs: Mapping[str, Source]
    counts: Mapping[str, int]
    table: pandas.DataFrame | None = None
    notes: Sequence[str] = ()
    warnings: Sequence[DataWarning] = field(default=(), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """All of it, with a manifest of what it was computed from, ready for JSON.

        Returns
        -------
        dict
            ``metric``, ``value``, ``table`` (a list of rows, where there is one) and ``manifest``:
            the package's ``version``, the ``parameters``, the ``inputs`` with their names and
            SHA-256, the ``counts``. What is not a number, or missing, is none.

        Examples
        --------
        >>> from mediaeval_ap import challenges
        >>> score = challenges.evaluate_map(
        ...     'samples/fashion_truth.csv', 'samples/fashion_predictions.csv', k=3
        ... )
        >>> score.to_dict()['manifest']['parameters']['definition']
        'kaggle'
        """
        described: dict[str, Any] = {
            'metric': self.metric,
            'value': self.value,
            'notes': list(self.notes),
        }
        if self.table is not None:
            described['table'] = [dict(zip(self.headers, row, strict=True)) for row in self.rows]
        parameters = {'parameters': dict(self.parameters)}
        return {**described, 'manifest': manifest(parameters, self.inputs, self.counts)}

    @property
    def headers(self) -> list[str]:
        """The columns of the table; none without one."""
        return [] if self.table is None else list(self.table.columns)

    @property
    def rows(self) -> list[list[Any]]:
        """The rows of the table as values of Python; what is missing or not a number is none."""
        if self.table is None:
            return []
        table = self.table.astype(object).where(self.table.notna(), None)
        return [list(row) for row in zip(*(table[name].tolist() for name in table), strict=True)]


def mean_average_precision(ap: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over queries, from sums that are rounded once, whatever the queries' order.

    Parameters
    ----------
    ap : ndarray of float64, shape (n_queries, n_cutoffs)
        Average precision.

    Returns
    -------
    ndarray of float64, shape (n_cutoffs,)
        Mean average precision at each cutoff.

    Examples
    --------
    >>> mean_average_precision(np.array([[0.5], [1.0]])).tolist()
    [0.75]
    """
    return np.array([math.fsum(column) / len(ap) for column in ap.T.tolist()])


def manifest(
    described: Mapping[str, Any], inputs: Mapping[str, Source], counts: Mapping[str, int]
) -> dict[str, Any]:
    """What a result was computed from, and with what, ready for JSON.

    Parameters
    ----------
    described : mapping of str to object
        How: the ``definition``, the ``parameters``.
    inputs : mapping of str to Source
        What was read, by what it is.
    counts : mapping of str to int
        How much of everything was looked at.

    Returns
    -------
    dict
        ``version``, what was described, ``inputs`` with their names and SHA-256, ``counts``.

    Examples
    --------
    >>> manifest({}, {'labels': Source('run.label')}, {'queries': 3})['inputs']
    {'labels': {'name': 'run.label', 'sha256': None}}
    """
    return {
        'version': __version__,
        **described,
        'inputs': {
            role: {'name': source.name, 'sha256': source.sha256} for role, source in inputs.items()
        },
        'counts': dict(counts),
    }


def notes_of(count: int, n_queries: int, what: str) -> list[str]:
    """The note that some queries are not like the others, where there are such.

    Parameters
    ----------
    count : int
        How many.
    n_queries : int
        Of how many.
    what : str
        What they are, or have.

    Returns
    -------
    list of str
        One note or none.

    Examples
    --------
    >>> notes_of(2, 30, 'have no true label'), notes_of(0, 30, 'have no true label')
    (['2 of 30 queries have no true label'], [])
    """
    return [f'{count} of {n_queries} queries {what}'] if count else []


def note_of_floor(n_without: int, n_queries: int, counts_as: float) -> str:
    """Describe queries without a relevant shot, and the mean that they alone make.

    Parameters
    ----------
    n_without, n_queries : int
        How many queries have no relevant shot, of how many.
    counts_as : float
        Average precision of each of them.

    Returns
    -------
    str
        A sentence.

    Examples
    --------
    >>> note_of_floor(86, 599, 0.0)
    '86 of 599 queries have no relevant shot: each counts 0'
    >>> note_of_floor(86, 599, 1.0)
    '86 of 599 queries have no relevant shot: each counts 1, and an empty run has MAP 0.144'
    """
    (note,) = notes_of(n_without, n_queries, f'have no relevant shot: each counts {counts_as:g}')
    floor = n_without * counts_as / n_queries
    return f'{note}, and an empty run has MAP {floor:.3f}' if floor else note


def notes_of_placeholders(counts: Mapping[str, int]) -> list[str]:
    """Return the note on names that are not asked for by default, where there are such.

    Parameters
    ----------
    counts : mapping of str to int
        Of a result.

    Returns
    -------
    list of str
        One sentence, or none.

    Examples
    --------
    >>> notes_of_placeholders({'placeholders': 1})
    ['1 placeholder of the reference (a name that begins with ?) is left out of the queries']
    """
    match counts.get('placeholders', 0):
        case 0:
            return []
        case 1:
            who = '1 placeholder of the reference (a name that begins with ?) is'
        case many:
            who = f'{many} placeholders of the reference (names that begin with ?) are'
    return [f'{who} left out of the queries']


def _without_nan(values: NDArray[np.float64]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]
