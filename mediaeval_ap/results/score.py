"""Score of predictions by one metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mediaeval_ap.errors import DataWarning
from mediaeval_ap.report.document import Grid
from mediaeval_ap.results.result import Result
from mediaeval_ap.tables import Source

if TYPE_CHECKING:
    import pandas

__all__ = ['Score']


@dataclass(frozen=True, eq=False)
class Score(Result):
    """Score of predictions by one metric, as one number.

    Parameters
    ----------
    metric : str
        Name of the metric, as ``'MAP@12'``.
    value : float
        The number.
    parameters : mapping of str to str, int or bool
        Settings that it depends on: the cutoff, the definition, how ties are broken, and so on.
    inputs : mapping of str to Source
        ``truth`` and ``predictions``.
    counts : mapping of str to int
        Sizes of the inputs.
    table : pandas.DataFrame or None
        Values of queries, or of classes, if they were asked for.
    notes : sequence of str
        Sentences about queries that are special.
    warnings : sequence of DataWarning
        Warnings about the data; not part of `to_dict`.

    Examples
    --------
    >>> from mediaeval_ap import challenges
    >>> score = challenges.evaluate_gap(
    ...     'samples/landmarks_truth.csv', 'samples/landmarks_predictions.csv'
    ... )
    >>> print(score.metric, score.parameters['ties'], score.counts['queries'])
    GAP expected 60
    """

    RUN = 'predictions'

    metric: str
    value: float
    parameters: Mapping[str, str | int]
    inputs: Mapping[str, Source]
    counts: Mapping[str, int]
    table: pandas.DataFrame | None = None
    notes: Sequence[str] = ()
    warnings: Sequence[DataWarning] = field(default=(), repr=False)

    @property
    def headers(self) -> list[str]:
        """The columns of the table; none without a table."""
        return [] if self.table is None else list(self.table.columns)

    @property
    def rows(self) -> list[list[Any]]:
        """The rows of the table as values of Python, with None for NaN and missing values."""
        return [] if self.table is None else list(map(list, Grid.from_frame(self.table).rows))

    def to_dict(self) -> dict[str, Any]:
        """Return the score, and a manifest of what it was computed from, for JSON.

        Returns
        -------
        dict
            ``metric``, ``value``, ``notes``, ``table`` (a list of rows, if there is one) and
            ``manifest``: the package's ``version``, the ``parameters``, the ``inputs`` with their
            names and SHA-256, the ``counts``. NaN and missing values are None.

        Examples
        --------
        >>> from mediaeval_ap import challenges
        >>> score = challenges.evaluate_map(
        ...     'samples/fashion_truth.csv', 'samples/fashion_predictions.csv', k=3
        ... )
        >>> score.to_dict()['manifest']['parameters']['definition']
        'kaggle'
        """
        described = {'metric': self.metric, 'value': self.value, 'notes': list(self.notes)}
        if self.table is not None:
            described['table'] = Grid.from_frame(self.table).objects()
        return {**described, 'manifest': self._manifest(parameters=dict(self.parameters))}

    def _how(self) -> str:
        return ', '.join(f'{name} {value}' for name, value in self._shown_parameters.items())

    @property
    def _shown_parameters(self) -> dict[str, str | int]:
        """The parameters that the name of the metric does not tell."""
        return {
            name: value for name, value in self.parameters.items() if name in ('definition', 'ties')
        }

    def _queries(self) -> Grid | None:
        return None if self.table is None else Grid.from_frame(self.table)

    def _means(self) -> dict[str, float | None]:
        return {self.metric: self.value}

    def _summary(self) -> dict[str, Any]:
        value = {'metric': self.metric, 'value': self.value}
        return {'run': self._run, **value, **self._shown_parameters, **self.counts}
