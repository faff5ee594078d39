"""Figures of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from mediaeval_ap.comparison.testing import Standing
from mediaeval_ap.errors import ParameterError, shown
from mediaeval_ap.render import figures

if TYPE_CHECKING:
    import altair


class ComparisonPlot:
    """Figures of a comparison; `Comparison.plot` makes it.

    Each figure is an Altair chart: a notebook shows it, and its ``save`` writes it.

    Parameters
    ----------
    runs, queries : list of str
        The runs, best first, and the queries.
    values : mapping of str to ndarray of float64, shape (n_runs, n_queries)
        The values of each metric.
    leaderboard : list of Standing
        The mean and the interval of each run by each metric.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision, compare
    >>> reference = [('x', 'v', str(shot), f'name{shot}') for shot in range(80)]
    >>> evaluate = AveragePrecision(reference, K=[1, 10]).evaluate
    >>> right = [(*row, 0.5) for row in reference]
    >>> comparison = compare({'all': evaluate(right), 'some': evaluate(right[:20])}, resamples=100)
    >>> chart = comparison.plot.leaderboard()
    >>> [row['run'] for row in chart.to_dict()['data']['values']]
    ['all', 'some']
    """

    def __init__(
        self,
        runs: list[str],
        queries: list[str],
        values: Mapping[str, NDArray[Any]],
        leaderboard: Sequence[Standing],
    ) -> None:
        self._runs, self._queries, self._values = runs, queries, values
        self._leaderboard = leaderboard

    def leaderboard(self, metric: str | None = None) -> altair.LayerChart:
        """Draw the runs, best first, with their intervals and groups.

        Parameters
        ----------
        metric : str, optional
            One of the metrics, such as ``'MAP@10'``; by default the last.

        Returns
        -------
        altair.LayerChart
            A point and the bar of its interval for each run.

        Raises
        ------
        ParameterError
            When there is no such metric.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision, compare
        >>> reference = [('x', 'v', str(shot), f'name{shot}') for shot in range(80)]
        >>> evaluate = AveragePrecision(reference, K=[10]).evaluate
        >>> right = [(*row, 0.5) for row in reference]
        >>> runs = {'all': evaluate(right), 'some': evaluate(right[:20])}
        >>> rows = compare(runs, resamples=100).plot.leaderboard('MAP@10').to_dict()['data']
        >>> [(row['run'], round(row['value'], 3)) for row in rows['values']]
        [('all', 1.0), ('some', 0.25)]
        """
        metric = self._metric(metric)
        standings = [each for each in self._leaderboard if each.metric == metric]
        return figures.leaderboard(
            [each.run for each in standings],
            [each.map for each in standings],
            [each.interval.low for each in standings],
            [each.interval.high for each in standings],
            groups=[each.group for each in standings],
            metric=metric,
        )

    def scatter(self, a: str, b: str, metric: str | None = None) -> altair.LayerChart:
        """Draw two runs, query by query.

        Parameters
        ----------
        a, b : str
            The runs of the horizontal and of the vertical axis.
        metric : str, optional
            One of the metrics, such as ``'MAP@10'``; by default the last.

        Returns
        -------
        altair.LayerChart
            A point for each pair of values, as large as it has queries; above the diagonal, run b
            is better.

        Raises
        ------
        ParameterError
            When there is no such run or metric.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision, compare
        >>> reference = [('x', 'v', str(shot), f'name{shot}') for shot in range(80)]
        >>> evaluate = AveragePrecision(reference, K=[10]).evaluate
        >>> right = [(*row, 0.5) for row in reference]
        >>> runs = {'all': evaluate(right), 'some': evaluate(right[:20])}
        >>> rows = compare(runs, resamples=100).plot.scatter('all', 'some').to_dict()['data']
        >>> [(row['x'], row['y'], row['count']) for row in rows['values']]
        [(1.0, 0.0, 60), (1.0, 1.0, 20)]
        """
        metric = self._metric(metric)
        first, second = (self._values[metric][self._row(run)].tolist() for run in (a, b))
        name = metric.removeprefix('M')
        return figures.scatter(a, b, self._queries, first, second, metric=name)

    def distribution(self, metric: str | None = None) -> altair.LayerChart:
        """Draw how many queries of each run have a value of 0, of 1, and between them.

        Parameters
        ----------
        metric : str, optional
            One of the metrics, such as ``'MAP@10'``; by default the last.

        Returns
        -------
        altair.LayerChart
            A bar for each run, as long as there are queries.

        Raises
        ------
        ParameterError
            When there is no such metric.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision, compare
        >>> reference = [('x', 'v', str(shot), f'name{shot}') for shot in range(80)]
        >>> evaluate = AveragePrecision(reference, K=[10]).evaluate
        >>> right = [(*row, 0.5) for row in reference]
        >>> runs = {'all': evaluate(right), 'some': evaluate(right[:20])}
        >>> rows = compare(runs, resamples=100).plot.distribution().to_dict()['data']['values']
        >>> [(row['run'], row['class'], row['count']) for row in rows]
        [('all', '1', 80), ('some', '0', 60), ('some', '1', 20)]
        """
        metric = self._metric(metric)
        values = self._values[metric].tolist()
        return figures.distribution(self._runs, values, metric=metric.removeprefix('M'))

    def map_by_k(self) -> altair.LayerChart:
        """Draw the mean of each run against the cutoff.

        Returns
        -------
        altair.LayerChart
            A line for each run, named at its end.

        Raises
        ------
        ParameterError
            When the metrics are not one metric at several cutoffs.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision, compare
        >>> reference = [('x', 'v', str(shot), f'name{shot}') for shot in range(80)]
        >>> evaluate = AveragePrecision(reference, K=[1, 10]).evaluate
        >>> right = [(*row, 0.5) for row in reference]
        >>> runs = {'all': evaluate(right), 'some': evaluate(right[:20])}
        >>> rows = compare(runs, resamples=100).plot.map_by_k().to_dict()['data']['values']
        >>> [(row['series'], row['x'], round(row['value'], 3)) for row in rows]
        [('all', '1', 1.0), ('all', '10', 1.0), ('some', '1', 0.25), ('some', '10', 0.25)]
        """
        parts = [metric.partition('@') for metric in self._values]
        if len({name for name, _, _ in parts}) > 1:
            raise ParameterError(
                f'map_by_k: found the metrics {", ".join(self._values)}, '
                'expected one metric at several cutoffs'
            )
        means = {(each.run, each.metric): each.map for each in self._leaderboard}
        maps = [[means[run, metric] for metric in self._values] for run in self._runs]
        cutoffs = [k or 'all' for _, _, k in parts]
        return figures.map_by_k(self._runs, cutoffs, maps, metric=parts[0][0])

    def _metric(self, metric: str | None) -> str:
        metrics = list(self._values)
        if metric is None:
            return metrics[-1]
        if metric not in metrics:
            expected = ', '.join(metrics)
            raise ParameterError(f'metric: found {shown(metric)}, expected one of {expected}')
        return metric

    def _row(self, run: str) -> int:
        if run not in self._runs:
            expected = ', '.join(map(shown, self._runs))
            raise ParameterError(f'run: found {shown(run)}, expected one of {expected}')
        return self._runs.index(run)
