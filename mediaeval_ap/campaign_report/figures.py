"""The figures of a report, from its comparison, diagnoses and rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from mediaeval_ap.errors import ParameterError, require, shown

if TYPE_CHECKING:
    import altair

    from mediaeval_ap.comparison.comparison import Comparison
    from mediaeval_ap.diagnosis.diagnosis import Diagnosis

NAMES = (
    *('leaderboard', 'loss', 'map_by_k', 'scatter', 'distribution', 'precision_recall'),
    'confused',
)
CONFUSED_SHOWN = 20  # a choice: what fits on a screen


class Figures:
    """The figures of a report; each method returns an Altair chart."""

    def __init__(
        self,
        comparison: Comparison,
        diagnoses: Mapping[str, Diagnosis],
        rankings: Mapping[str, Any],
    ) -> None:
        require('altair', 'report', 'figures')
        from mediaeval_ap.report import figure_lines, figures

        self._bars, self._lines = figures, figure_lines
        self._comparison = comparison
        self._diagnoses = diagnoses
        self._rankings = rankings

    def leaderboard(self, metric: str | None = None) -> altair.LayerChart:
        """Draw the runs with their intervals, at the last cutoff or another metric."""
        metric = self._metric(metric)
        rows = [row for row in self._comparison.leaderboard if row.metric == metric]
        return self._bars.leaderboard(
            [row.run for row in rows],
            [row.map for row in rows],
            [row.interval.low for row in rows],
            [row.interval.high for row in rows],
            groups=[row.group or '' for row in rows],
            metric=metric,
        )

    def loss(self) -> altair.LayerChart:
        """Draw the parts of the loss of each run."""
        runs = self._comparison.runs
        means = [self._diagnoses[run].mean_parts for run in runs]
        parts = [part for part in means[0] if any(mean[part] for mean in means)]
        return self._bars.loss(runs, {part: [mean[part] for mean in means] for part in parts})

    def map_by_k(self) -> altair.LayerChart:
        """Draw the mean of each run at each cutoff."""
        values = self._comparison.values
        maps = [[values[metric][run].mean() for metric in values] for run in self._numbers]
        cutoffs = [metric.partition('@')[2] or 'all' for metric in values]
        return self._lines.map_by_k(self._comparison.runs, cutoffs, maps)

    def scatter(
        self, a: str | None = None, b: str | None = None, metric: str | None = None
    ) -> altair.LayerChart:
        """Draw two runs, by default the best two, query by query."""
        metric, runs = self._metric(metric), self._comparison.runs
        numbers = [self._run(a, 0), self._run(b, min(1, len(runs) - 1))]
        one, other = (self._comparison.values[metric][number] for number in numbers)
        names = [runs[number] for number in numbers]
        queries = self._comparison.queries
        return self._bars.scatter(*names, queries, one, other, metric=metric[1:])

    def distribution(self, metric: str | None = None) -> altair.LayerChart:
        """Draw how many queries of each run have which AP."""
        metric = self._metric(metric)
        values = self._comparison.values[metric]
        return self._bars.distribution(self._comparison.runs, values, metric=metric[1:])

    def precision_recall(self, query: str | None = None) -> altair.LayerChart:
        """Draw precision against recall at each relevant shot of a query, by default the first."""
        queries = self._comparison.queries
        if query is not None and query not in queries:
            raise ParameterError(f'query: found {shown(query)}, expected one of the report')
        number = 0 if query is None else queries.index(query)
        diagnosis = self._diagnoses[self._comparison.runs[0]]
        n_relevant = diagnosis.n_relevant[diagnosis.queries.index(queries[number])]
        ranks = [
            np.array(list(accumulate(hits[number])), dtype=float) for hits in self._rankings['hits']
        ]
        found = [np.arange(1, len(each) + 1) for each in ranks]
        recalls = [each / n_relevant for each in found]
        precisions = [each / rank for each, rank in zip(found, ranks, strict=True)]
        return self._lines.precision_recall(self._comparison.runs, recalls, precisions)

    def confused(self, n: int = CONFUSED_SHOWN) -> altair.LayerChart:
        """Draw the names most often confused, over all runs."""
        counts: dict[tuple[str, str], int] = {}
        for diagnosis in self._diagnoses.values():
            for each in diagnosis.confused:
                key = each.query, each.name
                counts[key] = counts.get(key, 0) + each.count
        most = sorted(counts, key=lambda key: (-counts[key], key))[:n]
        queries, names = [key[0] for key in most], [key[1] for key in most]
        return self._bars.confused(queries, names, [counts[key] for key in most])

    def on_page(self) -> dict[str, Any]:
        """Return the specifications of the page with their legends; its script gives some rows."""
        comparison = self._comparison
        charts = {'loss': self.loss(), 'map_by_k': self.map_by_k()}
        charts |= {f'distribution {each}': self.distribution(each) for each in comparison.metrics}
        nothing: Sequence[Sequence[float]] = [[] for _ in comparison.runs]
        charts['precision_recall'] = self._lines.precision_recall(comparison.runs, nothing, nothing)
        most = np.max([each.max(axis=0) for each in comparison.values.values()], axis=0)
        charts['scatter'] = self._bars.scatter('', '', comparison.queries, most, most)
        return {name: _embedded(chart, name) for name, chart in charts.items()}

    @property
    def _numbers(self) -> range:
        return range(len(self._comparison.runs))

    def _metric(self, metric: str | None) -> str:
        metrics = self._comparison.metrics
        if metric is None or metric in metrics:
            return metric or metrics[-1]
        raise ParameterError(f'metric: found {shown(metric)}, expected one of {", ".join(metrics)}')

    def _run(self, run: str | None, by_default: int) -> int:
        runs = self._comparison.runs
        if run is None:
            return by_default
        if run not in runs:
            raise ParameterError(f'run: found {shown(run)}, expected one of {", ".join(runs)}')
        return runs.index(run)


def _embedded(chart: altair.LayerChart, name: str) -> dict[str, Any]:
    from mediaeval_ap.report.page_figures import on_page

    figure = on_page(chart)
    if name == 'scatter':
        figure.spec['data']['values'] = []  # the example that set the ends of its axes
    legend = [
        {'label': entry.label, 'colour': entry.colour, 'dash': entry.dash}
        for entry in figure.legend
    ]
    return {'spec': figure.spec, 'legend': legend}
