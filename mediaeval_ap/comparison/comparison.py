"""The comparison of runs: a leaderboard, all pairs, and how far orders agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from numpy.typing import NDArray

from mediaeval_ap import __version__
from mediaeval_ap.choices import alpha_of, check_policy
from mediaeval_ap.comparison.runs import Agreement, GroupMean
from mediaeval_ap.comparison.sampling import MOST_ENUMERATED, Interval
from mediaeval_ap.comparison.testing import POWER, Pair, Standing
from mediaeval_ap.errors import DataWarning, counted, printable, require, shown
from mediaeval_ap.render.document import Block, Captioned, Document, Grid, Heading, Marked
from mediaeval_ap.render.formats import short, short_p
from mediaeval_ap.results.described import Described
from mediaeval_ap.tables import Source

if TYPE_CHECKING:
    import pandas

    from mediaeval_ap.comparison.comparison_plot import ComparisonPlot

TableName: TypeAlias = Literal['leaderboard', 'pairs', 'orders', 'by']
KINDS: dict[TableName, type] = {
    'leaderboard': Standing,
    'pairs': Pair,
    'orders': Agreement,
    'by': GroupMean,
}
BOUNDS = {
    'interval': ['interval_low', 'interval_high', 'interval_reason'],
    'rank_interval': ['rank_low', 'rank_high'],
    'difference_interval': [
        'difference_interval_low',
        'difference_interval_high',
        'difference_interval_reason',
    ],
}
SCHEMA = 'mediaeval-ap/comparison/1'
LABEL = 'tab:comparison'
DAGGER = '†'
RUNS_IN_REPR = 10
MOST_RUNS = 5  # their pairs are shown to people who did not ask for them


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
        from mediaeval_ap.comparison.comparison_plot import ComparisonPlot

        return ComparisonPlot(self.runs, self.queries, self.values, self.leaderboard)

    def caption(self) -> str:
        """Return what a table needs below it: test, correction, seed, counts, intervals.

        Returns
        -------
        str
            One or two sentences.
        """
        return _caption(self, self.parameters['baseline'])

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
        parameters = dict(self.parameters)
        definition = parameters.pop('definition')
        return {
            'schema': SCHEMA,
            'version': __version__,
            'kind': 'comparison',
            'runs': list(self.runs),
            'metrics': list(self.metrics),
            **{str(table): [_plain(each) for each in self._entries(table)] for table in KINDS},
            'notes': list(self.notes),
            'manifest': {
                'version': __version__,
                'definition': definition,
                'parameters': parameters,
                'counts': dict(self.counts),
                'inputs': {
                    'runs': {run: asdict(source) for run, source in self.sources.items()},
                    **{role: asdict(source) for role, source in self.inputs.items()},
                },
            },
        }

    def to_frame(self, table: TableName = 'leaderboard') -> pandas.DataFrame:
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

        grid = self._grid(check_policy('table', table, get_args(TableName)))
        return pandas.DataFrame(grid.rows, columns=list(grid.headers))

    def _entries(self, table: TableName) -> Sequence[Any]:
        entries: Sequence[Any] = self.groups_by if table == 'by' else getattr(self, table)
        return entries

    def _grid(self, table: TableName) -> Grid:
        """Return one of the tables with every digit, each bound of an interval by itself."""
        columns = [
            column for each in fields(KINDS[table]) for column in BOUNDS.get(each.name, [each.name])
        ]
        rows = []
        for entry in self._entries(table):
            row: list[Any] = []
            for name, value in asdict(entry).items():
                if name not in BOUNDS:
                    row.append(value)
                elif value is None:
                    row += [None] * len(BOUNDS[name])
                else:
                    row += value.values() if isinstance(value, dict) else value
            rows.append(row)
        return Grid(columns, rows)

    def _document(self, *, pairs: bool = False) -> Document:
        """Describe the comparison; its rows are runs, or pairs of runs if asked for."""
        return Document(
            lambda: _blocks(self, pairs),
            self.to_dict,
            lambda: self._grid('pairs' if pairs else 'leaderboard'),
            lambda: _for_papers(self, pairs),
        )


def _plain(entry: Any) -> dict[str, Any]:
    """Return an entry for JSON, which has lists for tuples."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(entry).items()
    }


SIGN_FLIPS, TUKEY = 'paired sign flips', 'randomised Tukey HSD'
CORRECTED_BY = {'holm': 'Holm', 'bh': 'Benjamini and Hochberg'}
FIRST_MINUS_SECOND = 'first run minus second'
DIFFERENCE = ('difference', 'p', 'corrected p', 'win/tie/loss', 'dz')
FOR_POWER = f'queries for {POWER:.0%}'.replace('%', ' %')


def words_of_test(correction: str) -> str:
    """Return the name of the test, with its correction."""
    if correction == 'tukey':
        return TUKEY
    return f'{SIGN_FLIPS}, corrected by {CORRECTED_BY[correction]}'


def _caption(comparison: Comparison, baseline: str | None) -> str:
    """Return the caption of pairs with a baseline, or of all pairs without one."""
    settings = comparison.parameters
    queries = counted(len(comparison.queries), 'query', 'queries')
    definition = f' ({settings["definition"]})' if settings['definition'] else ''
    unit = of_units = 'queries'
    if settings['cluster'] != 'none':
        unit = 'clusters'
        clusters = counted(comparison.counts['units'], 'cluster', 'clusters')
        of_units = f'{clusters} of queries, by video'
    means = (
        f'BCa bootstrap, {counted(settings["resamples"], "resample", "resamples")} of {of_units}'
    )
    intervals = f"Student's t over {of_units}" if settings['interval'] == 't' else means
    if settings['interval'] == 'plus2' and comparison.pairs:
        intervals = f'means: {means}; differences: plus2 over {unit}'
    *others, last = comparison.metrics
    claims = f'Claims are about {last}; other columns are exploratory. ' if others else ''
    return (
        f'Means over {queries}{definition}, with {_level(comparison)} intervals ({intervals}).'
        f'{_test(comparison, baseline, unit)} {claims}Seed {settings["seed"]}.'
    )


def _test(comparison: Comparison, baseline: str | None, unit: str) -> str:
    """Return the sentence on what p is, how it is corrected, and which flips gave it."""
    if not comparison.pairs:
        return ''
    settings = comparison.parameters
    pairs = [pair for pair in comparison.pairs if baseline in (None, pair.a, pair.b)]
    flips = counted(settings['permutations'], 'random flip', 'random flips')
    few = f'at most {MOST_ENUMERATED} differences'
    if all(pair.exact for pair in pairs):
        flips = f'exact: {few} are not 0'
    elif any(pair.exact for pair in pairs):
        flips = f'exact for {few} that are not 0, else {flips}'
    p = f' p by {SIGN_FLIPS} of {unit} ({flips})'
    if settings['correction'] == 'tukey':
        permutations = counted(settings['permutations'], 'permutation', 'permutations')
        return (
            f'{p}; corrected p by {TUKEY} over all pairs of runs for each metric '
            f'({permutations} of runs within {unit}).'
        )
    family = 'all pairs of runs' if baseline is None else f'the pairs with {printable(baseline)}'
    return (
        f'{p}, corrected by {CORRECTED_BY[settings["correction"]]} over {family} for each metric.'
    )


def _blocks(comparison: Comparison, pairs: bool) -> Iterator[Block]:
    """Return the tables for people."""
    baseline, metrics = comparison.parameters['baseline'], comparison.metrics
    ranks = {}
    for one in comparison.leaderboard:
        low, high = one.rank_interval
        ranks[one.metric, one.run] = Marked(one.rank, detail=f'[{low},{high}]')
    yield _means(comparison)
    yield Heading('Rank', f'{_level(comparison)} interval, from the tests of all pairs')
    yield _by_run(comparison, ranks)
    for metric in metrics if baseline is not None else ():
        yield Heading(f'{_titled(comparison, metric)}: difference to {baseline}')
        others = [
            one for one in comparison.leaderboard if one.metric == metric and one.run != baseline
        ]
        rows = [[one.run, *_cells_of(one, one.difference_interval)] for one in others]
        yield Grid(['run', *DIFFERENCE], rows)
    yield from _without_floor(comparison)
    if comparison.orders:
        yield Heading('Agreement of two orders of the runs', "Kendall's tau-b")
        yield _orders(comparison)
    for metric, grid in _means_by_group(comparison):
        yield Heading(f'{metric} by {comparison.parameters["by"]}', 'number of queries')
        yield grid
    notes = list(comparison.notes)
    if pairs or (baseline is None and len(comparison.runs) <= MOST_RUNS):
        for metric in metrics:
            title = f'{_titled(comparison, metric)}: differences of pairs'
            yield Heading(title, FIRST_MINUS_SECOND)
            yield _pairs_by(comparison, metric)
    elif baseline is None:
        n_pairs = len(comparison.pairs) // len(metrics)
        notes.append(f'{n_pairs} pairs of runs are not shown: ask for pairs, or for a baseline')
    if notes:
        yield ''.join(f'{note}\n' for note in notes)


def _for_papers(comparison: Comparison, pairs: bool) -> Iterator[Block]:
    """Return the tables of a paper: captioned, the best of each column bold."""
    means = _means(comparison)
    yield replace(means, caption=f'{means.caption} Best in bold.')
    for number, metric in enumerate(comparison.metrics if pairs else (), 1):
        text = (
            f'{_titled(comparison, metric)}: differences of pairs, {FIRST_MINUS_SECOND}. '
            f'{_caption(comparison, None)} {FOR_POWER.capitalize()}: of this pair alone, not '
            'corrected.'
        )
        if comparison.parameters['cluster'] != 'none':
            text += ' Wins, ties, losses and dz are of queries.'
        yield Captioned(_pairs_by(comparison, metric), text, f'{LABEL}-pairs-{number}')
    if comparison.orders:
        text = "Agreement of two orders of the runs: Kendall's tau-b."
        yield Captioned(_orders(comparison), text, f'{LABEL}-orders')
    for number, (metric, grid) in enumerate(_means_by_group(comparison), 1):
        text = f'{metric} by {comparison.parameters["by"]}, with the number of queries.'
        yield Captioned(grid, text, f'{LABEL}-by-{number}')


def _means(comparison: Comparison) -> Captioned:
    """Return the mean of each run by each metric, with its interval.

    Beside a mean stand its letters, or a dagger where it differs from the baseline.
    """
    baseline, alpha = comparison.parameters['baseline'], alpha_of(comparison.parameters['level'])
    text = _caption(comparison, baseline)
    if baseline is not None:
        text += f' {DAGGER}: differs from {printable(baseline)}, corrected p ≤ {alpha:g}.'
    elif comparison.pairs:
        text += f' Runs that share a letter are not told apart (corrected p > {alpha:g}).'
    cells = {}
    for one in comparison.leaderboard:
        mark = DAGGER if one.p_adjusted is not None and one.p_adjusted <= alpha else ''
        if baseline is None and len(comparison.runs) > 1:
            mark = one.group
        cells[one.metric, one.run] = Marked(one.map, one.rank == 1, mark, _bounds(one.interval))
    return Captioned(_by_run(comparison, cells), text, LABEL)


def _level(comparison: Comparison) -> str:
    return f'{100 * comparison.parameters["level"]:g} %'


def _titled(comparison: Comparison, metric: str) -> str:
    """Return the name of a metric, and that it is exploratory if it is not the last one."""
    return metric if metric == comparison.metrics[-1] else f'{metric} (exploratory)'


def _by_run(comparison: Comparison, cells: Mapping[tuple[str, str], Any]) -> Grid:
    """Return a row for each run, and a column for each metric."""
    metrics = comparison.metrics
    rows = [[run, *(cells[metric, run] for metric in metrics)] for run in comparison.runs]
    return Grid(['run', *(_titled(comparison, metric) for metric in metrics)], rows)


def _pairs_by(comparison: Comparison, metric: str) -> Grid:
    pairs = [pair for pair in comparison.pairs if pair.metric == metric]
    rows = [[pair.a, pair.b, *_cells_of(pair, pair.interval), pair.n_for_power] for pair in pairs]
    return Grid(['first', 'second', *DIFFERENCE, FOR_POWER], rows)


def _cells_of(one: Standing | Pair, interval: Interval | None) -> list[Any]:
    """Return the cells that say how two runs differ."""
    difference = Marked(one.difference, detail='' if interval is None else _bounds(interval))
    ps = [Marked('' if p is None else short_p(p)) for p in (one.p, one.p_adjusted)]
    return [difference, *ps, Marked(f'{one.wins}/{one.ties}/{one.losses}'), one.dz]


def _bounds(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return ''
    return f'[{short(interval.low)},{short(interval.high)}]'


def _without_floor(comparison: Comparison) -> Iterator[Block]:
    """Return the means without queries that have no relevant shot, where there are any."""
    n_without = comparison.counts.get('queries_without_relevant', 0)
    means = {(one.metric, one.run): one.map_without_floor for one in comparison.leaderboard}
    if not n_without or all(mean is None for mean in means.values()):
        return
    floors = {one.metric: one.floor for one in comparison.leaderboard if one.floor is not None}
    listed = ', '.join(f'{metric} {short(floor)}' for metric, floor in floors.items())
    if len(set(floors.values())) == 1:
        listed = short(next(iter(floors.values())))
    queries = counted(n_without, 'query that has', 'queries that have')
    yield Heading(f'Without the {queries} no relevant shot', f'an empty run has {listed}')
    yield _by_run(comparison, means)


def _orders(comparison: Comparison) -> Grid:
    rows = [(each.a, each.b, each.tau) for each in comparison.orders]
    return Grid(('one', 'other', 'tau'), rows)


def _means_by_group(comparison: Comparison) -> Iterator[tuple[str, Grid]]:
    sizes = {each.group: each.n_queries for each in comparison.groups_by}
    means = {(each.metric, each.run, each.group): each.map for each in comparison.groups_by}
    for metric in comparison.metrics if sizes else ():
        rows = [
            [run, *(means.get((metric, run, group)) for group in sizes)] for run in comparison.runs
        ]
        yield metric, Grid(['run', *(f'{group} ({size})' for group, size in sizes.items())], rows)
