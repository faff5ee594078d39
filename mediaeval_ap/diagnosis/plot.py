"""Figures of a diagnosis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mediaeval_ap.definitions import check_cutoff
from mediaeval_ap.errors import ParameterError, shown
from mediaeval_ap.render import figures
from mediaeval_ap.results.means_and_notes import short_names

if TYPE_CHECKING:
    import altair

    from mediaeval_ap.diagnosis.diagnosis import Diagnosis


class DiagnosisPlot:
    """Figures of a diagnosis; `Diagnosis.plot` makes it.

    Each figure is an Altair chart: a notebook shows it, and its ``save`` writes it.

    Parameters
    ----------
    diagnosis : Diagnosis
        The diagnosis to draw.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> reference = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'ann')]
    >>> hypothesis = [('x', 'v', '1', 'ann', 0.5)]
    >>> diagnosis = AveragePrecision(reference, definition='trec').explain(hypothesis)
    >>> chart = diagnosis.plot.loss()
    >>> [(row['part'], row['value']) for row in chart.to_dict()['data']['values']]
    [('absent', 0.5)]
    """

    def __init__(self, diagnosis: Diagnosis) -> None:
        self._diagnosis = diagnosis

    def loss(self, *others: Diagnosis, names: Sequence[str] | None = None) -> altair.LayerChart:
        """Draw the parts of the loss, of this run and of others.

        Parameters
        ----------
        *others : Diagnosis
            Diagnoses of other runs.
        names : sequence of str, optional
            Names of the runs, this one first; by default those of their files.

        Returns
        -------
        altair.LayerChart
            A bar for each run; its parts add up to 1 - MAP.

        Raises
        ------
        ParameterError
            When another diagnosis has other queries, another reference, cutoff or definition, or
            when there is not a name for each run, all different.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> reference = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'ann')]
        >>> hypothesis = [('x', 'v', '1', 'ann', 0.5)]
        >>> diagnosis = AveragePrecision(reference, definition='trec').explain(hypothesis)
        >>> rows = diagnosis.plot.loss().to_dict()['data']['values']
        >>> [(row['part'], row['begin'], row['end']) for row in rows]
        [('absent', 0.0, 0.5)]
        """
        diagnoses = [self._diagnosis, *others]
        for other in others:
            self._diagnosis.against(other)
        runs = short_names([each.run for each in diagnoses]) if names is None else list(names)
        if not len(set(runs)) == len(runs) == len(diagnoses):
            raise ParameterError(
                f'names: found {shown(runs)}, expected {len(diagnoses)} names, all different'
            )
        means = [each.mean_parts for each in diagnoses]
        return figures.loss(runs, {part: [each[part] for each in means] for part in means[0]})

    def confused(self, n: int = 20) -> altair.LayerChart:
        """Draw the names that are most often confused.

        Parameters
        ----------
        n : int
            How many pairs of names to draw at most.

        Returns
        -------
        altair.LayerChart
            A bar for each query with the name under which its relevant shots were returned.

        Raises
        ------
        ParameterError
            When n is not a positive integer.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> explain = AveragePrecision([('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob')]).explain
        >>> chart = explain([('x', 'v', '1', 'bob', 0.5)]).plot.confused()
        >>> [(row['query'], row['name'], row['count']) for row in chart.to_dict()['data']['values']]
        [('ann', 'bob', 1)]
        """
        names = self._diagnosis.confused[: check_cutoff(n, 'n')]
        return figures.confused(
            [each.query for each in names],
            [each.name for each in names],
            [each.count for each in names],
        )

    def precision_recall(self, query: str) -> altair.LayerChart:
        """Draw precision against recall at the rank of each hit of a query.

        Parameters
        ----------
        query : str
            One of the queries.

        Returns
        -------
        altair.LayerChart
            A line through the hits down to the cutoff.

        Raises
        ------
        ParameterError
            When the query is not one of those that were asked, or has no relevant shot.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision([('x', 'v', '1', 'ann'), ('x', 'v', '2', 'ann')])
        >>> hypothesis = [('x', 'v', '9', 'ann', 0.9), ('x', 'v', '1', 'ann', 0.5)]
        >>> chart = average_precision.explain(hypothesis).plot.precision_recall('ann')
        >>> [(row['x'], row['value']) for row in chart.to_dict()['data']['values']]
        [(0.5, 0.5)]
        """
        found = self._diagnosis.of(query)
        if not found.n_relevant:
            raise ParameterError(
                f'precision_recall: found {shown(query)}, expected a query with a relevant shot'
            )
        hits = [each.rank for each in found.ranking if each.relevant]
        return figures.precision_recall(
            short_names([self._diagnosis.run]), [hits], found.n_relevant, query
        )
