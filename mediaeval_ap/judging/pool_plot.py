"""The figure of a pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mediaeval_ap.choices import check_policy
from mediaeval_ap.render import figures
from mediaeval_ap.render.plot import Plot

if TYPE_CHECKING:
    import altair

    from mediaeval_ap.judging.bounds import Bounds

Means = Mapping[str, Mapping[str, float]]  # of each run, by the names of the run and the mean


class PoolPlot(Plot):
    """The figure of a pool; `Pool.plot` makes it, of the pool.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision([('x', 'v', s, 'ann') for s in '12'], K=[10])
    >>> pool = average_precision.pool({'a_1': [('x', 'v', '1', 'ann', 0.5)]})
    >>> rows = pool.plot.leaderboard().to_dict()['data']['values']
    >>> [(row['run'], row['value'], row['without']) for row in rows]
    [('a_1', 1.0, 0.0)]
    """

    def __init__(
        self, runs: Sequence[str], means: Means, without_own: Means, bounds: Mapping[str, Bounds]
    ) -> None:
        self._runs, self._means, self._without_own = runs, means, without_own
        self._bounds = [bounds.get(run) for run in runs]

    def leaderboard(self, metric: str | None = None) -> altair.LayerChart:
        """Draw the runs, best first, with their bounds and without their own team's shots.

        Parameters
        ----------
        metric : str, optional
            One of the means, such as ``'MAP@10'``; by default the last.

        Returns
        -------
        altair.LayerChart
            A point for each run, a tick where it would be without the relevant shots that only its
            own team returned, and, with judgements, a bar from the lowest to the highest mean that
            unjudged shots of the pool could give it.

        Raises
        ------
        ParameterError
            When there is no such mean.
        """
        known = tuple(self._means[self._runs[0]])
        metric = known[-1] if metric is None else check_policy('metric', metric, known)
        return figures.pool(
            self._runs,
            [self._means[run][metric] for run in self._runs],
            [each and each.low[metric] for each in self._bounds],
            [each and each.high[metric] for each in self._bounds],
            [self._without_own[run][metric] for run in self._runs],
            metric=metric,
        )
