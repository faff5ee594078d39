"""The comparison of runs: a leaderboard, all pairs, and how far orders agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from numpy.typing import NDArray

from mediaeval_ap import __version__
from mediaeval_ap.choices import check_policy
from mediaeval_ap.comparison.entries import Agreement, GroupMean, Pair, Part, Standing
from mediaeval_ap.errors import DataWarning, require, shown
from mediaeval_ap.render.document import Document, counted
from mediaeval_ap.render.formats import short
from mediaeval_ap.results.described import Described
from mediaeval_ap.tables import Source

if TYPE_CHECKING:
    import pandas

    from mediaeval_ap.comparison.plot import ComparisonPlot

__all__ = ['Comparison']

SCHEMA = 'mediaeval-ap/comparison/1'
RUNS_IN_REPR = 10  # a choice: a few lines


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Described):
    """Runs compared on the same queries: intervals, tests of all pairs, groups.

    Parameters
    ----------
    runs : list of str
        The runs, best first by the last metric.
    metrics : list of str
        The metrics, such as ``'MAP@10'``, in the order of the cutoffs.
    queries : list of str
        The queries, sorted.
    values : mapping of str to ndarray of float64, shape (n_runs, n_queries)
        The values of each metric.
    leaderboard : list of Standing
        One for each metric and run; metrics in their order, runs best first within each.
    pairs : list of Pair
        One for each metric and pair of runs, the better one first.
    orders : list of Agreement
        Kendall's tau-b between the orders that metrics, or definitions, give.
    groups_by : list of GroupMean
        Means over groups of queries, if they were asked for.
    parameters : mapping
        Settings of the comparison, with the ``definition``.
    counts : mapping of str to int
        ``runs``, ``queries``, ``queries_without_relevant`` if known, ``units`` (what is resampled
        and flipped: queries or clusters).
    notes : list of str
        Sentences that are needed to read the tables.
    sources, inputs : mapping of str to Source
        Where each run was read from; what all runs share, such as the ``reference``.
    warnings : sequence of DataWarning
        Warnings about the data; not part of `to_dict`.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision, compare
    >>> reference = [('x', 'v', str(shot), f'name{shot}') for shot in range(60)]
    >>> evaluate = AveragePrecision(reference, K=[10]).evaluate
    >>> right = [(*row, 0.5) for row in reference]
    >>> comparison = compare({'all': evaluate(right), 'few': evaluate(right[:6])}, resamples=100)
    >>> comparison.runs, comparison.pairs[0].wins
    (['all', 'few'], 54)
    """

    runs: list[str]
    metrics: list[str]
    queries: list[str]
    values: Mapping[str, NDArray[Any]]
    leaderboard: list[Standing]
    pairs: list[Pair]
    orders: list[Agreement]
    groups_by: list[GroupMean]
    parameters: Mapping[str, Any]
    counts: Mapping[str, int]
    notes: list[str]
    sources: Mapping[str, Source]
    inputs: Mapping[str, Source]
    warnings: Sequence[DataWarning] = field(default=(), repr=False)

    def __repr__(self) -> str:
        how = ', '.join(
            [
                counted(len(self.runs), 'run', 'runs'),
                counted(len(self.queries), 'query', 'queries'),
                str(self.parameters['correction']),
            ]
        )
        best = [each for each in self.leaderboard if each.metric == self.metrics[-1]]
        width = max(len(shown(each.run)) for each in best)
        lines = [f'Comparison of {how}; {self.metrics[-1]}:']
        for each in best[:RUNS_IN_REPR]:
            low, high = (
                short(bound) or 'none' for bound in (each.interval.low, each.interval.high)
            )
            lines.append(
                f'  {each.rank}  {shown(each.run):{width}}  {short(each.map)} [{low}, {high}]'
            )
        if n_more := len(best[RUNS_IN_REPR:]):
            lines.append(f'  … and {n_more} more')
        return '\n'.join(lines)

    @property
    def plot(self) -> ComparisonPlot:
        """Figures: ``leaderboard()``, ``scatter(a, b)``, ``distribution()``, ``map_by_k()``."""
        require('altair', 'report', 'plot')
        from mediaeval_ap.comparison.plot import ComparisonPlot

        return ComparisonPlot(self)

    def caption(self) -> str:
        """Return what a table needs below it: test, correction, seed, counts, intervals.

        Returns
        -------
        str
            One or two sentences.
        """
        from mediaeval_ap.comparison.documents import caption

        return caption(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison, and a manifest of what it was computed from, for JSON.

        Returns
        -------
        dict
            ``schema``, ``version``, ``kind``, ``runs``, ``metrics``, ``leaderboard``, ``pairs``,
            ``orders``, ``by``, ``notes``, and ``manifest``: ``version``, ``definition``,
            ``parameters``, ``counts``, ``inputs`` (name, SHA-256). Each None has its reason
            beside it; in the manifest it stands for what was not given.
        """
        described = {role: asdict(source) for role, source in self.inputs.items()}
        parameters = dict(self.parameters)
        definition = parameters.pop('definition')
        return {
            'schema': SCHEMA,
            'version': __version__,
            'kind': 'comparison',
            'runs': list(self.runs),
            'metrics': list(self.metrics),
            'leaderboard': [_plain(each) for each in self.leaderboard],
            'pairs': [_plain(each) for each in self.pairs],
            'orders': [_plain(each) for each in self.orders],
            'by': [_plain(each) for each in self.groups_by],
            'notes': list(self.notes),
            'manifest': {
                'version': __version__,
                'definition': definition,
                'parameters': parameters,
                'counts': dict(self.counts),
                'inputs': {
                    'runs': {run: asdict(source) for run, source in self.sources.items()},
                    **described,
                },
            },
        }

    def to_frame(self, table: Part = 'leaderboard') -> pandas.DataFrame:
        """Return one of the tables of the comparison.

        Parameters
        ----------
        table : {'leaderboard', 'pairs', 'orders', 'by'}
            The table.

        Returns
        -------
        pandas.DataFrame
            A row for each entry, and a column for each of its fields: of an interval there are
            ``interval_low``, ``interval_high`` and ``interval_reason``.

        Raises
        ------
        ParameterError
            When there is no such table.
        """
        import pandas

        from mediaeval_ap.comparison.documents import grid_of

        grid = grid_of(self, check_policy('table', table, get_args(Part)))
        return pandas.DataFrame(grid.rows, columns=list(grid.headers))

    def _document(self) -> Document:
        from mediaeval_ap.comparison.documents import describe

        return describe(self)


def _plain(entry: Any) -> dict[str, Any]:
    """Return an entry for JSON, which has lists for tuples."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(entry).items()
    }
