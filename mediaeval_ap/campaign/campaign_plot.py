"""The figures of a report, from its comparison, diagnoses and rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from mediaeval_ap.comparison.comparison import Comparison, ComparisonPlot
from mediaeval_ap.definitions import check_cutoff
from mediaeval_ap.errors import ParameterError, shown
from mediaeval_ap.render import figures
from mediaeval_ap.render.page import on_page

if TYPE_CHECKING:
    import altair

    from mediaeval_ap.diagnosis.diagnosis import Diagnosis


class CampaignPlot(ComparisonPlot):
    """Figures of a report: those of its comparison, and of the diagnoses of all runs.

    `CampaignReport.plot` makes it, of its comparison, diagnoses and rankings.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision([('x', 'v', '1', 'ann')], K=[1])
    >>> report = average_precision.report({'mine': [('x', 'v', '1', 'ann', 0.5)]})
    >>> rows = report.plot.distribution().to_dict()['data']['values']
    >>> [(row['run'], row['class'], row['count']) for row in rows]
    [('mine', '1', 1)]
    """

    def __init__(
        self,
        comparison: Comparison,
        diagnoses: Mapping[str, Diagnosis],
        rankings: Mapping[str, Any],
        losses: Mapping[str, Mapping[str, Mapping[str, float]]],
        teams: Mapping[str, str],
        confused: Sequence[Mapping[str, Any]],
    ) -> None:
        super().__init__(comparison)
        self._teams = [teams[run] for run in comparison.runs]
        self._diagnoses = [diagnoses[run] for run in comparison.runs]
        self._hits, self._losses = rankings['hits'], losses
        self._confused = confused

    def loss(self, metric: str | None = None) -> altair.LayerChart:
        """Draw the parts of the loss of each run.

        Parameters
        ----------
        metric : str, optional
            One of the metrics; by default the loss at the cutoff of the diagnoses.

        Returns
        -------
        altair.LayerChart
            A bar for each run, of the parts that some run has.

        Raises
        ------
        ParameterError
            When there is no such metric.
        """
        means: list[Mapping[str, float]] = [each.mean_parts for each in self._diagnoses]
        if metric is not None:
            means = [self._losses[run][self._metric(metric)] for run in self._comparison.runs]
        parts = [part for part in means[0] if any(mean[part] for mean in means)]
        columns = {part: [mean[part] for mean in means] for part in parts}
        return figures.loss(self._comparison.runs, columns)

    def precision_recall(self, query: str | None = None) -> altair.LayerChart:
        """Draw precision against recall at each relevant shot that a run returned for a query.

        Parameters
        ----------
        query : str, optional
            The query; by default the first that has a relevant shot.

        Returns
        -------
        altair.LayerChart
            A line for each run.

        Raises
        ------
        ParameterError
            When the report has no such query, or no shot is relevant to it.
        """
        diagnosis, queries = self._diagnoses[0], self._comparison.queries
        n_relevant = dict(zip(diagnosis.queries, diagnosis.n_relevant.tolist(), strict=True))
        if query is None:
            query = next((each for each in queries if n_relevant[each]), queries[0])
        if not n_relevant.get(query):
            expected = 'expected a query of the report that has a relevant shot'
            raise ParameterError(f'precision_recall: found {shown(query)}, {expected}')
        number = queries.index(query)
        ranks = [list(accumulate(hits[number])) for hits in self._hits]
        return figures.precision_recall(self._comparison.runs, ranks, n_relevant[query], query)

    def confused(self, n: int = 20) -> altair.LayerChart:
        """Draw the names of other people that were most often confused, over all runs.

        Parameters
        ----------
        n : int
            How many pairs of names to draw at most.

        Returns
        -------
        altair.LayerChart
            A bar for each query with the name under which its relevant shots were returned.
        """
        most = self._confused[: check_cutoff(n, 'n')]
        queries, names = ([row[field] for row in most] for field in ('query', 'name'))
        return figures.confused(queries, names, [sum(row['counts'].values()) for row in most])

    def _on_page(self) -> dict[str, Any]:
        comparison = self._comparison
        charts = {
            **{f'loss {each}': self.loss(each) for each in comparison.metrics},
            'precision_recall': figures.precision_recall(
                comparison.runs, [[] for _ in comparison.runs], 1
            ),
        }
        return super()._on_page() | {name: on_page(chart) for name, chart in charts.items()}
