"""Score of predictions by one metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Definition
from mediaeval_ap.errors import DataWarning, ParameterError, printable
from mediaeval_ap.render.document import Grid
from mediaeval_ap.results.result import Compared, NamedColumns, Result, setting_in_words
from mediaeval_ap.tables import Provenance

if TYPE_CHECKING:
    import pandas
    import pyarrow

SUMMED_COUNTS = ('n_relevant', 'n_labels')  # columns whose last row has the sum


@dataclass(frozen=True, eq=False, repr=False)
class Score(Result):
    """The score of predictions by one metric: a value for each cutoff, and values by query.

    Parameters
    ----------
    metric : str
        Name of the metric, such as ``'MAP@12'``; with several cutoffs, at the last one.
    value : float
        The score.
    parameters : mapping of str to str, int or bool
        Settings that the score depends on, such as the cutoff and the order of ties.
    inputs, counts, warnings, run
        As in `Evaluation`; the inputs are ``truth`` and ``predictions``.
    table : pandas.DataFrame or None
        Values by query or by class, if the score was computed with ``per_query=True`` or
        ``per_class=True``.
    notes : sequence of str
        Sentences about special queries.
    queries : pyarrow.Array, shape (n_queries,)
        The ids of the truth, in its order; not part of `to_dict`, nor are `values`.
    values : mapping of str to ndarray, shape (n_queries,)
        Values of each query: ``RR@k``; ``AP@k`` and ``n_relevant``; ``LRAP``, for lwlrap with
        ``n_labels``; for GAP ``confidence`` (NaN without prediction) and ``correct``; for macro AP
        the `queries` are the classes, with ``AP`` (NaN without a positive) and ``n_relevant``.
    definition : Definition or None
        Definition of average precision, if the metric has one; in the manifest of `to_dict`.
    means : mapping of str to float
        The score at each cutoff, by the name of the metric there; by default `metric` alone.

    Examples
    --------
    >>> from mediaeval_ap.challenges import evaluate_gap
    >>> score = evaluate_gap('samples/landmarks_truth.csv', 'samples/landmarks_predictions.csv')
    >>> score.metric, score.parameters['ties'], int(score.values['correct'].sum())
    ('GAP', 'expected', 24)
    """

    kind = 'score'
    run_role = 'predictions'

    metric: str
    value: float
    parameters: Mapping[str, str | int]
    inputs: Mapping[str, Provenance]
    counts: Mapping[str, int]
    table: pandas.DataFrame | None = None
    notes: Sequence[str] = ()
    warnings: Sequence[DataWarning] = ()
    queries: pyarrow.Array | None = None
    values: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    definition: Definition | None = None
    run: str = ''
    means: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.means) < 2:
            object.__setattr__(self, 'means', {self.metric: self.value})
        super().__post_init__()

    def to_dict(self) -> dict[str, Any]:
        # Only a table has the rank of each query among all predictions.
        per_query = not self.metric_kind.is_one_list or self.table is not None
        return self._json_object(per_query)

    @property
    def mean_counts(self) -> dict[str, int]:
        """The number of items in each mean: queries, queries with a true label (GAP), or labels."""
        kind = self.metric_kind
        count = self.counts[kind.over]
        if kind.over == 'queries' and not kind.scores_all:
            count -= self.counts.get('without_truth', 0)
        return dict.fromkeys(self.means, count)

    def _count_columns(self) -> dict[str, int]:
        return {f'n_{self.metric_kind.over}': self.mean_counts[self.metric]}

    @property
    def _is_of_classes(self) -> bool:
        """True if the table has a row for each class, not for each query."""
        return self.table is not None and self.table.columns[0] == 'class'

    def _subtitle(self) -> str:
        words = [setting_in_words(*setting) for setting in self._order_setting.items()]
        if 'k' in self.parameters and not self._has_several_cutoffs:
            words = [self.metric, *words]
        return ', '.join(words)

    @property
    def _order_setting(self) -> dict[str, str | int]:
        """The definition or the order of ties, which the name of the metric does not tell."""
        names = ('definition', 'ties')
        return {name: value for name, value in self.parameters.items() if name in names}

    def _settings(self) -> dict[str, Any]:
        if self._has_several_cutoffs:
            return self._order_setting
        return {'metric': self.metric, **self._order_setting}

    def _own_entries(self) -> dict[str, str]:
        return {'metric': self.metric}

    def _detail(self, per_query: bool) -> NamedColumns | None:
        if per_query or not self._is_of_classes:
            return super()._detail(per_query)
        assert self.table is not None
        return _columns_of(self.table.rename(columns={'precision': 'value'}))

    def _columns(self) -> NamedColumns:
        renamed = {next(iter(self.values), ''): 'value'}
        if self.metric_kind.is_one_list:
            renamed = {'term': 'value'}
        elif self._has_several_cutoffs:
            renamed = {}
        if self.table is not None and not self._is_of_classes:
            table = self.table.rename(columns={self.table.columns[0]: 'query', **renamed})
            first = ['query', *renamed.values()]
            remaining = [name for name in table.columns if name not in first]
            return _columns_of(table[[*first, *remaining]])
        if self.metric_kind.is_one_list or self.queries is None:
            raise ParameterError(
                f'per_query: this score ({self.metric}) has no table of its queries; compute it '
                'with per_query=True'
            )
        values = {renamed.get(name, name): column for name, column in self.values.items()}
        return {'query': self.queries.to_pylist(), **values}

    def compared_values(self) -> Compared:
        if self.queries is None:
            raise ParameterError(f'{printable(self.run)}: this score has no values by query')
        queries = self.queries.to_pylist()
        if self.metric_kind.is_one_list:
            raise ParameterError(
                f'compare: found {self.metric} of {printable(self.run)}, expected a metric with a '
                f'value by query: {self.metric_kind.no_mean}'
            )
        if self.metric_kind.no_mean:
            lrap, n_true = self.values.values()
            values = {self.metric: lrap.astype(np.float64)}
            return Compared(list(map(str, queries)), values, n_true, {self.metric: 0})
        values = dict(zip(self.means, self.values.values(), strict=False))
        n_relevant = self.values.get('n_relevant')
        if n_relevant is not None:  # queries without a relevant label are not in the mean
            rows = np.flatnonzero(n_relevant)
            queries = [queries[row] for row in rows.tolist()]
            values = {name: column[rows] for name, column in values.items()}
            n_relevant = n_relevant[rows]
        floor = {} if self.metric_kind.scores_all else dict.fromkeys(values, 0.0)
        return Compared(list(map(str, queries)), values, n_relevant, floor)

    def _mean_row(self) -> dict[str, Any]:
        columns: dict[str, Any] = dict(self.values)
        if self.table is not None:
            columns = {**self.table, **columns}
        totals = {name: int(np.sum(columns[name])) for name in SUMMED_COUNTS if name in columns}
        names = ['value']
        if self._has_several_cutoffs:
            names = list(self.values)
        return {**dict(zip(names, self.means.values(), strict=False)), **totals}

    @property
    def _has_several_cutoffs(self) -> bool:
        """True if there are several cutoffs, which then have a column each."""
        return len(self.means) > 1

    def _summary(self) -> dict[str, Any]:
        if self._has_several_cutoffs:
            return super()._summary()
        row = {'run': self.run, **self._settings(), 'value': self.value}
        return {**row, **self._count_columns()}

    def sort_value(self) -> float:
        return self.value


def _columns_of(table: pandas.DataFrame) -> NamedColumns:
    """Return the columns of a table, columns of numbers as arrays."""
    columns: dict[str, NDArray[Any] | Sequence[Any]] = {}
    for name, column in table.items():
        if column.dtype.kind in 'fiu':
            columns[str(name)] = column.to_numpy()
        else:
            columns[str(name)] = [value for (value,) in Grid.from_frame(column.to_frame()).rows]
    return columns
