"""Figures of a comparison."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from mediaeval_ap.choices import check_policy
from mediaeval_ap.comparison.comparison_page import value_name
from mediaeval_ap.comparison.comparison_settings import check_run
from mediaeval_ap.comparison.comparison_tables import ComparisonData
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.render.plot import Plot
from mediaeval_ap.results.run_names import team_of

if TYPE_CHECKING:
    import altair


class ComparisonPlot(Plot):
    """Figures of a comparison, as Altair charts; `Comparison.plot` makes it.

    Examples
    --------
    >>> import pandas
    >>> from mediaeval_ap import compare
    >>> scores = {'item': ['w', 'x', 'y', 'z'], 'all': [1, 1, 1, 1], 'some': [0, 0, 0, 1]}
    >>> plot = compare(pandas.DataFrame(scores)).plot
    >>> rows = plot.leaderboard().to_dict()['data']['values']
    >>> [(row['run'], row['value']) for row in rows]
    [('all', 1.0), ('some', 0.25)]
    >>> rows = plot.scatter('all', 'some').to_dict()['data']['values']
    >>> [(row['x'], row['y'], row['count']) for row in rows]
    [(1.0, 0.0, 3), (1.0, 1.0, 1)]
    """

    def __init__(self, comparison: ComparisonData) -> None:
        from mediaeval_ap.render import figures

        self._comparison = comparison
        self._figures = figures
        self._runs = comparison.runs
        self._values = comparison.values
        self._teams = [team_of(run) for run in comparison.runs]
        self.terms = comparison.terms

    def leaderboard(self, metric: str | None = None) -> altair.LayerChart:
        """Draw the runs, best first, with their intervals and groups.

        Parameters
        ----------
        metric : str, optional
            One of the metrics, such as ``'MAP@10'``; by default the first.
        """
        metric = self._metric(metric, self._comparison.metrics)
        standings = [row for row in self._comparison.leaderboard if row.metric == metric]
        return self._figures.leaderboard(
            [standing.run for standing in standings],
            [standing.map for standing in standings],
            [standing.interval.low for standing in standings],
            [standing.interval.high for standing in standings],
            groups=[standing.group for standing in standings],
            metric=metric,
            terms=self.terms,
        )

    def scatter(
        self, a: str | None = None, b: str | None = None, metric: str | None = None
    ) -> altair.LayerChart:
        """Draw two runs, query by query.

        The size of a point grows with the number of queries. Above the diagonal, run b is better;
        below it, if lower is better.

        Parameters
        ----------
        a, b : str, optional
            The runs of the horizontal and of the vertical axis; by default the two best.
        metric
            As for `leaderboard`.
        """
        metric = self._metric(metric)
        if (a is None or b is None) and len(self._runs) < 2:
            raise ParameterError(f'found one {self.terms.run}, expected two or more', 'scatter')
        if a is None:
            a = self._runs[0]
        if b is None:
            b = self._runs[1]
        for run in a, b:
            check_run('run', run, self._runs)
        first, second = (self._values[metric][self._runs.index(run)].tolist() for run in (a, b))
        queries = self._comparison.queries
        name = value_name(metric)
        return self._figures.scatter(
            a, b, queries, a=first, b=second, metric=name, terms=self.terms
        )

    def distribution(self, metric: str | None = None) -> altair.LayerChart:
        """Draw how many queries of each run have a value of 0, of 1, and between them."""
        metric = self._metric(metric)
        values = self._values[metric].tolist()
        name = value_name(metric)
        return self._figures.distribution(self._runs, values, metric=name, terms=self.terms)

    def map_by_k(self) -> altair.LayerChart:
        """Draw the mean of each run against the cutoff.

        Lines are named at their ends. With more than eight runs, only the best of each team (the
        part of the run's name before ``_``) is named, and the others are grey.
        """
        parts = [metric.partition('@') for metric in self._values]
        if len({name for name, _, _ in parts}) > 1 or self._comparison.parameters['range']:
            names = ', '.join(self._values)
            raise ParameterError(
                f'found the metrics {names}, expected one metric at several cutoffs', 'map_by_k'
            )
        means = {(row.run, row.metric): row.map for row in self._comparison.leaderboard}
        in_order = sorted(parts, key=lambda part: int(part[2] or sys.maxsize))
        maps = [[means[run, ''.join(part)] for part in in_order] for run in self._runs]
        cutoffs = [k or 'all' for _, _, k in in_order]
        metric = parts[0][0]
        return self._figures.map_by_k(self._runs, cutoffs, maps, metric=metric, teams=self._teams)

    def _on_page(self) -> dict[str, Any]:
        """Return the figures of the page with legends; its script fills in the scatter."""
        from mediaeval_ap.render.page import chart_for_page

        self._metric(None)  # raises if there are no means
        values = np.concatenate(list(self._values.values()))
        charts = {f'distribution {metric}': self.distribution(metric) for metric in self._values}
        # The extreme values of each query make the axes wide enough for all pairs of runs.
        extremes = values.max(axis=0), values.min(axis=0)
        charts['scatter'] = self._figures.scatter(
            '', '', self._comparison.queries, *extremes, terms=self.terms
        )
        if len(self._values) > 1:
            with suppress(ParameterError):  # if it is not one metric at several cutoffs
                charts['map_by_k'] = self.map_by_k()
        embedded = {name: chart_for_page(chart) for name, chart in charts.items()}
        embedded['scatter']['spec']['data']['values'] = []
        return embedded

    def _metric(self, metric: str | None, metrics: Sequence[str] = ()) -> str:
        """Check that a metric exists, and return it; by default the first."""
        metrics = tuple(metrics or self._values)
        if not metrics:
            (no_mean,) = self._comparison.metrics
            raise ParameterError(f'found {no_mean}, expected a mean over queries', 'metric')
        if metric is None:
            return metrics[0]
        return check_policy('metric', metric, metrics)
