"""`compare`: which runs differ, and how sure that is, as a `Comparison`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import __version__, choices
from mediaeval_ap.choices import GROUPINGS, alpha_of, check_policy, plain_text
from mediaeval_ap.comparison.comparable_runs import (
    Agreement,
    GroupMean,
    Runs,
    VideosOfQueries,
    agreements,
    cluster_numbers,
    group_means,
    read_runs,
)
from mediaeval_ap.comparison.comparison_page import Paged, context_of, lead_of, of_query, percent
from mediaeval_ap.comparison.intervals import FEWEST, Interval
from mediaeval_ap.comparison.score_tables import groups_in_file, read_scores, tables_in
from mediaeval_ap.comparison.testing import (
    CORRECTED_BY,
    SIGN_FLIPS,
    Pair,
    Power,
    Settings,
    Standing,
    Verdict,
    check_run,
    checked_settings,
    names_of_units,
    powers,
    terms_of,
    tests_of,
    verdicts_of,
)
from mediaeval_ap.comparison.units import Units
from mediaeval_ap.errors import (
    DataWarning,
    ParameterError,
    counted,
    printable,
    require,
    shown,
    warn_caller,
)
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.render.document import Block, Captioned, Document, Grid, Heading, Marked, Terms
from mediaeval_ap.render.formats import short, short_p
from mediaeval_ap.render.plot import Plot
from mediaeval_ap.results.result import SKIPPED, Described, Result, note_of_floor
from mediaeval_ap.tables import STANDARD_INPUT, Provenance
from mediaeval_ap.tables.table import Frame, Rows

if TYPE_CHECKING:
    import altair
    import pandas

TableName: TypeAlias = Literal['leaderboard', 'pairs', 'orders', 'by', 'power', 'verdicts']
# The field and the class of the entries of each table.
TABLES: dict[str, tuple[str, type[Any]]] = {
    'leaderboard': ('leaderboard', Standing),
    'pairs': ('pairs', Pair),
    'orders': ('orders', Agreement),
    'by': ('groups_by', GroupMean),
    'power': ('power', Power),
    'verdicts': ('verdicts', Verdict),
}
OF_INTERVAL = ('low', 'high', 'reason')
BOUNDS = {
    'interval': [f'interval_{each}' for each in OF_INTERVAL],
    'rank_interval': ['rank_low', 'rank_high'],
    'difference_interval': [f'difference_interval_{each}' for each in OF_INTERVAL],
}
SCHEMA = 'mediaeval-ap/comparison/2'
LABEL = 'tab:comparison'
DAGGER = '†'
RUNS_IN_REPR = 10
MOST_RUNS = 5  # their pairs are shown to people who did not ask for them
# Videos that are clusters by default. With fewer, intervals over videos were simulated to be much
# wider than over queries (docs/comparison.md).
LEAST_VIDEOS = 50
# Clusters in effect, and the share of one: beyond, intervals were simulated to cover 84 to 92 %.
LEAST_CLUSTERS = 30
LARGEST_SHARE = 0.1
FIRST_MINUS_SECOND = 'first {0.run} minus second'
DIFFERENCE = ('difference', 'p', 'corrected p', 'win/tie/loss', 'dz')


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Described, Paged):
    """Runs compared on the same queries: intervals, tests of all pairs, groups.

    Parameters
    ----------
    runs : list of str
        The runs, best first by the last metric.
    metrics : list of str
        The metrics, such as ``'MAP@10'``, in the order of the cutoffs and measures; the one that is
        claimed, the first measure or else the last cutoff, is last.
    queries : list of str
        The queries, sorted.
    values : mapping of str to ndarray of float64, shape (n_runs, n_queries)
        The values of each metric; none of lwlrap, which is a mean over labels.
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
        ``runs``, ``queries``, ``queries_without_relevant`` if known, ``units`` (queries, or
        clusters of them).
    notes : list of str
        Sentences that are needed to read the tables.
    sources, inputs : mapping of str to Provenance
        Where each run was read from; what all runs share, such as the ``reference``.
    warnings : sequence of DataWarning
        Warnings about the data; not part of `to_dict`.
    power : list of Power
        Queries for the difference that was asked for, one for each pair by the last metric.
    verdicts : list of Verdict
        Whether each run passed against the baseline by the last metric, if it was asked for.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision, compare
    >>> reference = [('x', 'v', str(shot), f'name{shot}') for shot in range(60)]
    >>> evaluate = AveragePrecision(reference, K=[10]).evaluate
    >>> right = [(*row, 0.5) for row in reference]
    >>> comparison = compare({'all': evaluate(right), 'few': evaluate(right[:6])})
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
    sources: Mapping[str, Provenance]
    inputs: Mapping[str, Provenance]
    warnings: Sequence[DataWarning] = field(default=(), repr=False)
    power: Sequence[Power] = ()
    verdicts: Sequence[Verdict] = ()

    def __repr__(self) -> str:
        how = f'{self._counted()}, {self.parameters["correction"]}'
        best = [each for each in self.leaderboard if each.metric == self.metrics[-1]]
        width = max(len(shown(each.run)) for each in best)
        lines = [f'Comparison of {how}; {self.metrics[-1]}:']
        for each in best[:RUNS_IN_REPR]:
            low = short(each.interval.low) or 'none'
            high = short(each.interval.high) or 'none'
            bounds = f'[{low}, {high}]'
            lines.append(f'  {each.rank}  {shown(each.run):{width}}  {short(each.map)} {bounds}')
        if n_more := len(best[RUNS_IN_REPR:]):
            lines.append(f'  … and {n_more} more')
        return '\n'.join(lines)

    @property
    def terms(self) -> Terms:
        return terms_of(self.parameters)

    def _counted(self, joined: str = ', ') -> str:
        run, runs, query, queries, *_ = self.terms
        both = counted(len(self.runs), run, runs), counted(len(self.queries), query, queries)
        return joined.join(both)

    @property
    def plot(self) -> ComparisonPlot:
        """Figures: ``leaderboard()``, ``scatter(a, b)``, ``distribution()``, ``map_by_k()``."""
        require('altair', 'report', 'plot')
        return ComparisonPlot(self)

    def caption(self) -> str:
        """Return what a table needs below it: test, correction, counts, intervals.

        Returns
        -------
        str
            One or two sentences.
        """
        return _caption(self, self.parameters['baseline'])

    def _page(self) -> tuple[dict[str, Any], dict[str, Any]]:
        compared = self.to_dict()
        terms = self.terms
        warnings = list(map(str, self.warnings))
        read = [*self.inputs.items(), *((terms.run, source) for source in self.sources.values())]
        keys = dict.fromkeys((role, source.name, source.sha256) for role, source in read)
        inputs = [dict(zip(('role', 'name', 'sha256'), key, strict=True)) for key in keys]
        of_all: dict[str, Any] = {'queries': None, 'of': None, 'runs': self.runs}
        data = {
            **{name: compared[name] for name in ('version', 'runs', 'metrics')},
            'title': self._counted(' on '),
            'lead': {**lead_of(compared), 'caveats': [f'{each}.' for each in warnings]},
            'queries': self.queries,
            'values': {name: each.tolist() for name, each in self.values.items()},
            'comparison': compared,
            'remarks': [{'what': text, **of_all} for text in (*self.notes, *warnings)],
            'manifest': {**compared['manifest'], 'inputs': inputs},
            'figures': self.plot._on_page(),
        }
        facts = {'AP definition': self.parameters['definition']}
        if self.parameters['range']:
            facts = {'Range': f'{terms.low:g} to {terms.high:g}, where more is better'}
        asked = list(_asked_on_page(self))
        return data, {**context_of(data, self.caption(), facts), 'asked': asked}

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison, and a manifest of what it was computed from, for JSON.

        Returns
        -------
        dict
            ``schema``, ``version``, ``kind``, ``runs``, ``metrics``, ``leaderboard``, ``pairs``,
            ``orders``, ``by``, ``power``, ``verdicts``, ``notes``, and ``manifest``:
            ``version``, ``definition``, ``parameters``, ``counts``, ``inputs`` (name, SHA-256).
            Each None has its reason beside it; in the manifest it stands for what was not given.
        """
        parameters = dict(self.parameters)
        definition = parameters.pop('definition')
        return {
            'schema': SCHEMA,
            'version': __version__,
            'kind': 'comparison',
            'runs': list(self.runs),
            'metrics': list(self.metrics),
            **{
                table: [_plain(each) for each in getattr(self, at)]
                for table, (at, _) in TABLES.items()
            },
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
        table : {'leaderboard', 'pairs', 'orders', 'by', 'power', 'verdicts'}
            The table.

        Returns
        -------
        pandas.DataFrame
            A row for each entry, and a column for each of its fields: of an interval there are
            ``interval_low``, ``interval_high`` and ``interval_reason``.
        """
        import pandas

        grid = self._grid(check_policy('table', table, tuple(TABLES)))
        return pandas.DataFrame(grid.rows, columns=list(grid.headers))

    def _grid(self, table: str) -> Grid:
        """Return one of the tables with every digit, each bound of an interval by itself."""
        at, kind = TABLES[table]
        names = [each.name for each in fields(kind)]
        rows = []
        for entry in map(asdict, getattr(self, at)):
            row: list[Any] = []
            for name in names:
                value = entry[name]
                columns = BOUNDS.get(name)
                bounds = value.values() if isinstance(value, dict) else value
                row += [value] if columns is None else bounds or [None] * len(columns)
            rows.append(row)
        return Grid(list(chain(*(BOUNDS.get(name, [name]) for name in names))), rows)

    def document(self, *, pairs: bool = False) -> Document:
        """Describe the comparison for all output formats.

        Parameters
        ----------
        pairs : bool
            Show all pairs of runs, and make them the rows of tables for programs.

        Returns
        -------
        Document
            Blocks for people and for papers, an object for JSON, and a table for programs.
        """
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


class ComparisonPlot(Plot):
    """Figures of a comparison; `Comparison.plot` makes it.

    Each figure is an Altair chart: a notebook shows it, and its ``save`` writes it. A name that is
    no run or metric, or a figure that the data do not allow, is a `ParameterError`.

    Parameters
    ----------
    comparison : Comparison
        The comparison to draw.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision, compare
    >>> reference = [('x', 'v', str(shot), f'name{shot}') for shot in range(80)]
    >>> evaluate = AveragePrecision(reference, K=[1, 10]).evaluate
    >>> right = [(*row, 0.5) for row in reference]
    >>> comparison = compare({'all': evaluate(right), 'some': evaluate(right[:20])})
    >>> plot = comparison.plot
    >>> rows = plot.leaderboard().to_dict()['data']['values']
    >>> [(row['run'], round(row['value'], 3)) for row in rows]
    [('all', 1.0), ('some', 0.25)]
    >>> rows = plot.scatter('all', 'some').to_dict()['data']['values']
    >>> [(row['x'], row['y'], row['count']) for row in rows]
    [(1.0, 0.0, 60), (1.0, 1.0, 20)]
    >>> rows = plot.distribution().to_dict()['data']['values']
    >>> [(row['run'], row['class'], row['count']) for row in rows]
    [('all', '1', 80), ('some', '0', 60), ('some', '1', 20)]
    >>> rows = plot.map_by_k().to_dict()['data']['values']
    >>> [(row['series'], row['x'], round(row['value'], 3)) for row in rows]
    [('all', '1', 1.0), ('all', '10', 1.0), ('some', '1', 0.25), ('some', '10', 0.25)]
    """

    def __init__(self, comparison: Comparison) -> None:
        from mediaeval_ap.render import figures

        self._comparison = comparison
        self._figures = figures
        self._runs = comparison.runs
        self._values = comparison.values
        self._teams = [run.partition('_')[0] or run for run in comparison.runs]
        self.terms = comparison.terms

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
        """
        metric = self._metric(metric, self._comparison.metrics)
        standings = [each for each in self._comparison.leaderboard if each.metric == metric]
        return self._figures.leaderboard(
            [each.run for each in standings],
            [each.map for each in standings],
            [each.interval.low for each in standings],
            [each.interval.high for each in standings],
            groups=[each.group for each in standings],
            metric=metric,
            terms=self.terms,
        )

    def scatter(
        self, a: str | None = None, b: str | None = None, metric: str | None = None
    ) -> altair.LayerChart:
        """Draw two runs, query by query.

        Parameters
        ----------
        a, b : str, optional
            The runs of the horizontal and of the vertical axis; by default the two best.
        metric
            As of `leaderboard`.

        Returns
        -------
        altair.LayerChart
            A point for each pair of values, as large as it has queries; above the diagonal, run b
            is better.
        """
        metric = self._metric(metric)
        if (a is None or b is None) and len(self._runs) < 2:
            raise ParameterError(f'scatter: found one {self.terms.run}, expected two or more')
        a = self._runs[0] if a is None else a
        b = self._runs[1] if b is None else b
        for run in a, b:
            check_run('run', run, self._runs)
        first, second = (self._values[metric][self._runs.index(run)].tolist() for run in (a, b))
        queries = self._comparison.queries
        name = of_query(metric)
        return self._figures.scatter(a, b, queries, first, second, metric=name, terms=self.terms)

    def distribution(self, metric: str | None = None) -> altair.LayerChart:
        """Draw how many queries of each run have a value of 0, of 1, and between them.

        Parameters
        ----------
        metric
            As of `leaderboard`.

        Returns
        -------
        altair.LayerChart
            A bar for each run, as long as there are queries.
        """
        metric = self._metric(metric)
        values = self._values[metric].tolist()
        name = of_query(metric)
        return self._figures.distribution(self._runs, values, metric=name, terms=self.terms)

    def map_by_k(self) -> altair.LayerChart:
        """Draw the mean of each run against the cutoff.

        Returns
        -------
        altair.LayerChart
            A line for each run, named at its end; of more than eight runs, the best of each team
            (the part of its name before ``_``) is named, and the others are grey.
        """
        parts = [metric.partition('@') for metric in self._values]
        if len({name for name, _, _ in parts}) > 1 or self._comparison.parameters['range']:
            raise ParameterError(
                f'map_by_k: found the metrics {", ".join(self._values)}, '
                'expected one metric at several cutoffs'
            )
        means = {(each.run, each.metric): each.map for each in self._comparison.leaderboard}
        maps = [[means[run, metric] for metric in self._values] for run in self._runs]
        cutoffs = [k or 'all' for _, _, k in parts]
        metric = parts[0][0]
        return self._figures.map_by_k(self._runs, cutoffs, maps, metric=metric, teams=self._teams)

    def _on_page(self) -> dict[str, Any]:
        """Return the specifications of the page with their legends; its script adds some rows."""
        from mediaeval_ap.render.page import on_page

        self._metric(None)  # refuses what is no mean
        values = np.concatenate(list(self._values.values()))
        ends = values.max(axis=0), values.min(axis=0)  # as far as the scatter goes
        charts = {f'distribution {each}': self.distribution(each) for each in self._values}
        charts['scatter'] = self._figures.scatter(
            '', '', self._comparison.queries, *ends, terms=self.terms
        )
        if len(self._values) > 1:
            with suppress(ParameterError):  # of other metrics than one at several cutoffs
                charts['map_by_k'] = self.map_by_k()
        embedded = {name: on_page(chart) for name, chart in charts.items()}
        embedded['scatter']['spec']['data']['values'] = []
        return embedded

    def _metric(self, metric: str | None, known: Sequence[str] = ()) -> str:
        metrics = tuple(known or self._values)
        if not metrics:
            (no_mean,) = self._comparison.metrics
            raise ParameterError(f'metric: found {no_mean}, expected a mean over queries')
        return metrics[-1] if metric is None else check_policy('metric', metric, metrics)


def _caption(comparison: Comparison, baseline: str | None) -> str:
    """Return the caption of pairs with a baseline, or of all pairs without one."""
    settings = comparison.parameters
    terms = comparison.terms
    queries = counted(len(comparison.queries), terms.query, terms.queries)
    definition = f' ({settings["definition"]})' if settings['definition'] else ''
    one, unit = names_of_units(settings)
    of_units = unit
    if settings['cluster'] != 'none':
        clusters = counted(comparison.counts['units'], one, unit)
        of_units = f'{clusters} of {terms.queries}, by {settings["cluster"]}'
    whole = f'Means over {queries}{definition}'
    *others, last = comparison.metrics
    if not comparison.values:
        whole = f'{last} of {queries}'
    methods = f'means: expanded ABC over {of_units}'
    if comparison.pairs:
        methods += f'; differences: plus2 over {unit}'
    intervals = f'with {percent(settings["level"])} intervals ({methods})'
    if comparison.counts['units'] < FEWEST:
        intervals = f'without intervals, which need {FEWEST} {unit}'
    claims = f' Claims are about {last}; other columns are exploratory.' if others else ''
    return f'{whole}, {intervals}.{_test(comparison, baseline, unit)}{claims}'


def _test(comparison: Comparison, baseline: str | None, unit: str) -> str:
    """Return the sentence on what p is, and how it is corrected."""
    if not comparison.pairs:
        return ''
    settings = comparison.parameters
    runs = comparison.terms.runs
    pairs = [pair for pair in comparison.pairs if baseline in (None, pair.a, pair.b)]
    flips = 'exact'
    if n_rounded := sum(not pair.exact for pair in pairs):
        flips = f'{n_rounded:,} of {len(pairs):,} rounded to a grid, others exact'
        if n_rounded == len(pairs):
            flips = 'rounded to a grid'
    family = f'all pairs of {runs}' if baseline is None else f'the pairs with {printable(baseline)}'
    by = CORRECTED_BY[settings['correction']]
    return (
        f' p by {SIGN_FLIPS} of {unit} ({flips}), corrected by {by} over {family} for each metric.'
    )


def _blocks(comparison: Comparison, pairs: bool) -> Iterator[Block]:
    """Return the tables for people."""
    baseline = comparison.parameters['baseline']
    metrics = comparison.metrics
    terms = comparison.terms
    for title, note, grid, _ in _asked_for(comparison):
        yield from (Heading(title, note), grid)
    yield _means(comparison)
    if comparison.pairs:
        level = percent(comparison.parameters['level'])
        yield Heading('Rank', f'{level} interval, from the tests of all pairs')
        yield _by_run(comparison, _rank)
    for metric in metrics if baseline is not None else ():
        yield Heading(f'{_titled(comparison, metric)}: difference to {baseline}')
        others = [
            one for one in comparison.leaderboard if one.metric == metric and one.run != baseline
        ]
        rows = [[one.run, *_cells_of(one, one.difference_interval)] for one in others]
        yield _known(comparison, [terms.run, *DIFFERENCE], rows)
    yield from _without_floor(comparison)
    if comparison.orders:
        yield Heading(f'Agreement of two orders of the {terms.runs}', "Kendall's tau-b")
        yield _orders(comparison)
    for metric, grid in _means_by_group(comparison):
        yield Heading(f'{metric} by {comparison.parameters["by"]}', f'number of {terms.queries}')
        yield grid
    notes = list(comparison.notes)
    if pairs or (baseline is None and len(comparison.runs) <= MOST_RUNS):
        for metric in metrics if comparison.pairs else ():
            title = f'{_titled(comparison, metric)}: differences of pairs'
            yield Heading(title, FIRST_MINUS_SECOND.format(terms))
            yield _pairs_by(comparison, metric)
    elif baseline is None:
        n_pairs = len(comparison.pairs) // len(metrics)
        instead = f'ask for them (--pairs), or for a baseline (--baseline {terms.run.upper()})'
        notes.append(f'{n_pairs} pairs of {terms.runs} are not shown: {instead}')
    if notes:
        yield ''.join(f'{note}\n' for note in notes)


def _for_papers(comparison: Comparison, pairs: bool) -> Iterator[Block]:
    """Return the tables of a paper: captioned, the best of each column bold."""
    terms = comparison.terms
    for title, note, grid, label in _asked_for(comparison):
        yield Captioned(grid, f'{title}: {note}.', f'{LABEL}-{label}')
    means = _means(comparison)
    yield replace(means, caption=f'{means.caption} Best in bold.')
    for number, metric in enumerate(comparison.metrics if pairs else (), 1):
        text = (
            f'{_titled(comparison, metric)}: differences of pairs, '
            f'{FIRST_MINUS_SECOND.format(terms)}. {_caption(comparison, None)}'
        )
        if comparison.parameters['cluster'] != 'none':
            text += f' Wins, ties, losses and dz are of {terms.queries}.'
        yield Captioned(_pairs_by(comparison, metric), text, f'{LABEL}-pairs-{number}')
    if comparison.orders:
        text = f"Agreement of two orders of the {terms.runs}: Kendall's tau-b."
        yield Captioned(_orders(comparison), text, f'{LABEL}-orders')
    for number, (metric, grid) in enumerate(_means_by_group(comparison), 1):
        text = f'{metric} by {comparison.parameters["by"]}, with the number of {terms.queries}.'
        yield Captioned(grid, text, f'{LABEL}-by-{number}')


def _means(comparison: Comparison) -> Captioned:
    """Return means with intervals, and letters, or daggers for what differs from a baseline."""
    baseline = comparison.parameters['baseline']
    alpha = alpha_of(comparison.parameters['level'])
    text = _caption(comparison, baseline)
    if baseline is not None:
        text += f' {DAGGER}: differs from {printable(baseline)}, corrected p ≤ {alpha:g}.'
    elif comparison.pairs:
        runs = comparison.terms.runs.capitalize()
        text += f' {runs} that share a letter are not told apart (corrected p > {alpha:g}).'

    def cell_of(one: Standing) -> Marked:
        mark = DAGGER if one.p_adjusted is not None and one.p_adjusted <= alpha else ''
        if baseline is None and len(comparison.runs) > 1:
            mark = one.group
        return Marked(one.map, one.rank == 1, mark, _bounds(one.interval))

    return Captioned(_by_run(comparison, cell_of), text, LABEL)


def _titled(comparison: Comparison, metric: str) -> str:
    """Return the name of a metric, and that it is exploratory if it is not the last one."""
    return metric if metric == comparison.metrics[-1] else f'{metric} (exploratory)'


def _by_run(comparison: Comparison, cell_of: Callable[[Standing], Any]) -> Grid:
    """Return a row for each run, and a column for each metric."""
    cells = {(one.metric, one.run): cell_of(one) for one in comparison.leaderboard}
    metrics = comparison.metrics
    rows = [[run, *(cells[metric, run] for metric in metrics)] for run in comparison.runs]
    return Grid([comparison.terms.run, *(_titled(comparison, metric) for metric in metrics)], rows)


def _rank(one: Standing) -> Marked:
    low, high = one.rank_interval
    return Marked(one.rank, detail=f'[{low},{high}]')


def _pairs_by(comparison: Comparison, metric: str) -> Grid:
    pairs = [pair for pair in comparison.pairs if pair.metric == metric]
    rows = [[pair.a, pair.b, *_cells_of(pair, pair.interval)] for pair in pairs]
    return _known(comparison, ['first', 'second', *DIFFERENCE], rows)


def _known(comparison: Comparison, headers: list[str], rows: list[list[Any]]) -> Grid:
    """Drop the columns after "corrected p" when there are no values by query."""
    end = None if comparison.values else headers.index('corrected p') + 1
    return Grid(headers[:end], [row[:end] for row in rows])


def _cells_of(one: Standing | Pair, interval: Interval | None) -> list[Any]:
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
    board = comparison.leaderboard
    if not n_without or all(one.map_without_floor is None for one in board):
        return
    floors = {one.metric: one.floor for one in board if one.floor is not None}
    listed = ', '.join(f'{metric} {short(floor)}' for metric, floor in floors.items())
    if len(set(floors.values())) == 1:
        listed = short(next(iter(floors.values())))
    queries = counted(n_without, 'query that has', 'queries that have')
    heading = f'Not the score: means without the {queries} no relevant shot'
    yield Heading(heading, f'an empty run has {listed}')
    yield _by_run(comparison, attrgetter('map_without_floor'))


def _orders(comparison: Comparison) -> Grid:
    return Grid(['one', 'other', 'tau'], [(each.a, each.b, each.tau) for each in comparison.orders])


def _means_by_group(comparison: Comparison) -> Iterator[tuple[str, Grid]]:
    sizes = {each.group: each.n_queries for each in comparison.groups_by}
    headers = [comparison.terms.run, *(f'{group} ({size})' for group, size in sizes.items())]
    means = {(each.metric, each.run, each.group): each.map for each in comparison.groups_by}
    for metric in comparison.metrics if sizes else ():
        of_run = [
            (run, [means.get((metric, run, group)) for group in sizes]) for run in comparison.runs
        ]
        yield metric, Grid(headers, [[run, *row] for run, row in of_run])


def _asked_for(comparison: Comparison) -> Iterator[tuple[str, str, Grid, str]]:
    """Return verdicts, and numbers of queries for a difference: title, note, grid and label."""
    settings = comparison.parameters
    terms = comparison.terms
    *others, metric = comparison.metrics
    if comparison.verdicts:
        of = f'{metric}, not of {", ".join(others)}' if others else metric
        rules = [f'{percent(settings["level"])} interval of {of}']
        if settings['fail_if_worse'] is not None:
            rules.append(f'worse: all of it is below {0 - settings["fail_if_worse"]:g}')
        if settings['require_better']:
            rules.append('not better: not all of it is above 0')
        rows: list[Any] = [
            (one.run, Marked(one.difference, detail=_bounds(one.interval)), one.words)
            for one in comparison.verdicts
        ]
        title = f'Difference to {printable(settings["baseline"])}'
        grid = Grid([terms.run, 'difference', 'verdict'], rows)
        yield title, '; '.join(rules), grid, 'verdicts'
    if comparison.power:
        _, units = names_of_units(settings)
        title = f'{metric}: {units} to tell a difference of {settings["power"]:g} at 80 %'
        rows = [(one.a, one.b, one.sd, one.n_queries) for one in comparison.power]
        grid = Grid(['first', 'second', 'sd of differences', units], rows)
        yield title, 'of one pair, not corrected', grid, 'power'


def _asked_on_page(comparison: Comparison) -> Iterator[tuple[str, str, str, Grid]]:
    """Return the tables of a page that were asked for: id, title, note and grid."""
    terms = comparison.terms
    for title, note, grid, label in _asked_for(comparison):
        yield label, title, note, grid
    for metric, grid in _means_by_group(comparison):
        if metric == comparison.metrics[-1]:
            title = f'{metric} by {comparison.parameters["by"]}'
            yield 'by', title, f'with the number of {terms.queries}', grid


@shows_progress
def compare(
    results: Frame | Iterable[Result | Frame] | Mapping[str, Result | Sequence[Result] | Frame],
    *,
    baseline: str | None = None,
    correction: choices.Correction = 'holm',
    level: float = choices.LEVEL,
    cluster: choices.Cluster | None = None,
    by: choices.Grouping | Frame | None = None,
    reference: Rows | None = None,
    subset: Rows | None = None,
    also: Mapping[str, Iterable[Result] | Mapping[str, Result | Sequence[Result]]] | None = None,
    power: float | None = None,
    fail_if_worse: float | None = None,
    require_better: bool = False,
    columns: Mapping[str, str] | None = None,
    systems: Sequence[str] | None = None,
    missing: choices.Missing = 'error',
    range: tuple[float, float] | None = None,
    progress: bool = False,
) -> Comparison:
    """Compare runs on the same queries: intervals, tests of all pairs, ranks, groups.

    Parameters
    ----------
    results : iterable of Evaluation, Evaluation2015 or Score, or mapping from str to these
        Results of one kind, with the same queries, definition and reference. The keys of a mapping
        name the runs. One run has intervals, but no pairs. Scores at several cutoffs are a list, or
        share the name of their run. Or score tables, whose items count as queries and whose systems
        as runs: a path or a frame, several of them, or a mapping. They have ``item,system,value``,
        ``item,value``, or ``item`` and a column for each system, and perhaps ``cluster``.
    baseline : str, optional
        The run to compare all others with on the leaderboard.
    correction : {'holm', 'bh'}
        The correction of p for many comparisons: Holm, or Benjamini and Hochberg (false discovery
        rate). Each metric is a family of its own: all pairs, for letters
        and intervals of ranks, and all comparisons with the baseline. Of several metrics, the
        first measure, or else the last cutoff, is what is claimed; the others are exploratory.
    level : float
        Level of confidence of the intervals, between 0 and 1. Runs whose corrected p is above
        1 - level share a letter.
    cluster : {'video', 'none'}, optional
        What is tested as one: all queries of a video together, or single queries. The
        video of a query is the one with most of its relevant shots, of equal ones the first; a
        query without relevant shots is a cluster of its own. By default videos where a reference
        is given and the queries are of at least 50, the clusters of a score table, else queries.
    by : {'corpus', 'relevant'} or str, path-like or DataFrame, optional
        Add means by corpus, by the number of relevant shots, or by the groups of a table of
        ``item,group``; in score tables also by a column of this name.
    reference, subset : as of `AveragePrecision`, optional
        What the runs were scored against, for clusters and means by corpus.
    also : mapping from str to results, optional
        The same runs under other definitions, by name: adds Kendall's tau-b between the orders.
    power : float, optional
        Say for each pair how many queries, or clusters, would tell such a difference at 80 %.
    fail_if_worse : float, optional
        Give each run a verdict: it is worse where the interval of its difference to the baseline
        lies below minus this.
    require_better : bool
        Give each run a verdict: it is not better unless this interval lies above 0.
    columns : mapping of str to str, optional
        Other names of the columns of score tables: of ``'item'``, ``'system'``, ``'value'`` and
        ``'cluster'``.
    systems : sequence of str, optional
        The systems of score tables to compare; in tables with a column for each, other columns are
        passed over. By default all.
    missing : {'error', 'zero', 'skip'}
        In score tables, an item that some system lacks is an error, counts 0, or is left out.
    range : pair of float, optional
        The least and the largest value of score tables, which plus2 depends on; by default 0 and 1
        if all values are within, else those found.
    progress : bool
        Show progress on standard error, if it takes longer than half a second.

    Returns
    -------
    Comparison
        Leaderboard, pairs, agreement of orders, means by group.

    Raises
    ------
    ParameterError, ReadError, FormatError
        When runs cannot be compared, a run is there twice, or an argument is not valid; when a
        table cannot be read.
    MissingExtraError
        When the extra ``compare`` is not installed.

    Warns
    -----
    DataWarning
        When one cluster holds more than a tenth of all queries, or clusters are fewer than 30 in
        effect; when no data on so few queries, or clusters, could give a verdict.

    Notes
    -----
    p is that of paired sign flips, two-sided, of which all patterns are counted (Pagano and
    Tritchler, 1983; Streitberg and Röhmel, 1986): exact for up to 20 differences, and for more
    that are multiples of a common step; else amounts are rounded to a grid, and of more than 128
    the sum of the smaller ones is taken as normal. With clusters, p and intervals are of clusters,
    but wins, ties, losses and dz of queries. The order of runs and queries changes nothing.

    Intervals of means are Hesterberg's (2015) expanded ABC (DiCiccio and Efron, 1992), within the
    range of the metric. Intervals of differences are Student's t after a difference of +m and one
    of -m are appended (Bonett and Price, 2012): m is the range, 1 for AP, or that of the values of
    the two systems where none is known. Fewer than 5 queries, or clusters, have no interval.

    lwlrap is a mean over labels: a query is a cluster of its labels.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision, compare
    >>> reference = [('x', 'v', str(shot), f'name{shot}') for shot in range(60)]
    >>> evaluate = AveragePrecision(reference, K=[10]).evaluate
    >>> right = [(*row, 0.5) for row in reference]
    >>> results = {'all': evaluate(right), 'few': evaluate(right[:6])}
    >>> comparison = compare(results)
    >>> comparison.pairs[0].difference, comparison.pairs[0].p < 0.05
    (0.9, True)
    """
    settings = checked_settings(
        baseline=baseline,
        correction=correction,
        level=level,
        cluster=cluster,
        by=by,
        power=power,
        fail_if_worse=fail_if_worse,
        require_better=require_better,
    )
    named_by = plain_text(by)
    if (tables := tables_in(results)) is None:
        runs = read_runs(results)
        if columns is not None or systems is not None or range is not None or missing != 'error':
            named = 'columns, systems, range, missing'
            raise ParameterError(f'{named}: found results, expected score tables')
    else:
        runs = read_scores(tables, columns, missing, range, named_by, systems)
    if runs.no_mean and by is not None:
        found = f'found {shown(named_by or by)} for {runs.metrics[0]}, expected none'
        raise ParameterError(f'by: {found}: {runs.no_mean}')
    given, source = _groups(runs, by, named_by)
    settings = replace(settings, by=source.name if source else named_by, range=runs.range)
    _check_baseline(settings, runs)
    is_known = reference is not None and runs.has_videos
    is_by_corpus = given is None and named_by == 'corpus'
    videos = None
    if is_by_corpus or cluster == 'video' or (cluster is None and is_known):
        videos = VideosOfQueries(runs, 'by' if is_by_corpus else 'cluster', reference, subset)
    why_no_videos = '' if settings.cluster else _why_no_videos(runs, videos)
    if settings.cluster is None:
        by_default: Any = 'none' if why_no_videos else 'video'
        settings = replace(settings, cluster='column' if runs.clusters else by_default)
    orders = agreements(runs, also)
    groups = group_means(runs, named_by, videos, given)  # before the tests, as some are refused
    clusters = cluster_numbers(
        runs,
        videos if settings.cluster == 'video' else None,
        runs.clusters if settings.cluster == 'column' else None,
    )
    best_first, leaderboard, pairs, units = tests_of(settings, runs, clusters)
    verdicts, n_needed = verdicts_of(settings, runs, leaderboard, units)
    counts = {'runs': len(runs.names), 'queries': len(runs.queries), 'units': len(units.sizes)}
    if runs.n_skipped is not None:
        counts[SKIPPED] = runs.n_skipped
    if runs.n_relevant is not None:
        counts['queries_without_relevant'] = runs.n_without_relevant
    comparison = Comparison(
        runs=[runs.names[run] for run in best_first],
        metrics=runs.metrics,
        queries=runs.queries,
        values={
            metric: each[best_first]
            for metric, each in zip(runs.metrics, runs.values, strict=True)
            if not runs.no_mean
        },
        leaderboard=leaderboard,
        pairs=pairs,
        orders=orders,
        groups_by=groups,
        parameters={**vars(settings), 'definition': runs.definition},
        counts={name: int(count) for name, count in counts.items()},
        notes=[*runs.notes, *_notes(settings, runs, why_no_videos)],
        sources=runs.sources,
        inputs={**runs.inputs, **({'groups': source} if source else {})},
        power=powers(settings, runs, pairs, units),
        verdicts=verdicts,
        warnings=tuple(_warnings(settings, units, n_needed)),
    )
    warn_caller(comparison.warnings)
    return comparison


def _check_baseline(settings: Settings, runs: Runs) -> None:
    """Refuse a baseline that is not there, and verdicts without anything to compare with it."""
    if settings.fail_if_worse is not None or settings.require_better:
        if len(runs.names) == 1:
            baseline = printable(str(settings.baseline))
            run = printable(runs.names[0])
            told = f'nothing to compare with {baseline}: found {run} alone'
            raise ParameterError(f'compare: {told}, expected two or more')
        if runs.lacking_claim:
            found = f'no value of {runs.lacking_claim} for some queries'
            raise ParameterError(f'compare: found {found}, expected one for each: runs pass by it')
    check_run('baseline', settings.baseline, runs.names)


def _groups(
    runs: Runs, by: Any, name: str | None
) -> tuple[Sequence[str] | None, Provenance | None]:
    """Return the group of each query, by a column or a file of groups, and this file."""
    if by is None or runs.groups is not None or (runs.kind != 'scores' and name in GROUPINGS):
        return runs.groups, None
    if name is not None and name != STANDARD_INPUT and not os.path.exists(name):
        known = 'a column of all score tables' if runs.kind == 'scores' else ', '.join(GROUPINGS)
        raise ParameterError(
            f'by: found {shown(name)}, expected one of {known}, or a file of item,group'
        )
    return groups_in_file(by, runs.queries)


def _why_no_videos(runs: Runs, videos: VideosOfQueries | None) -> str:
    """Return why videos are not the units by default, or ''."""
    if not runs.has_videos:
        return 'the results have no videos'
    if videos is None:
        return 'their videos are not known without the reference'
    if (n_videos := videos.n_videos) < LEAST_VIDEOS:
        found = counted(n_videos, 'video', 'videos')
        return f'their relevant shots are in {found}, and {LEAST_VIDEOS} are needed'
    return ''


def _notes(settings: Settings, runs: Runs, why_no_videos: str) -> list[str]:
    """Return sentences about the floor, and about what stands for a cluster."""
    notes = []
    queries = terms_of(vars(settings)).queries
    if n_without := runs.n_without_relevant:
        n_queries = len(runs.queries)
        floor = next(iter(runs.floor.values()))
        notes.append(note_of_floor(n_without, n_queries, floor * n_queries / n_without))
    if settings.cluster != 'none':
        notes.append(
            'p, intervals and numbers of differences that are not 0 are of clusters; wins, ties, '
            f'losses and dz are of {queries}'
        )
        if n_without and settings.cluster == 'video':
            notes.append('each query without a relevant shot is a cluster of its own')
    if why_no_videos and runs.has_videos:
        notes.append(f'queries are taken as independent, not by video: {why_no_videos}')
    if runs.kind == 'scores' or runs.no_mean:
        return notes
    if unknown := [metric for metric in runs.metrics if metric not in runs.floor]:
        notes.append(f'{", ".join(unknown)}: no floor, as the mean of an empty run is not known')
    if runs.n_relevant is None:
        notes.append('no means without the floor: numbers of relevant items are not known')
    return notes


def _warnings(settings: Settings, units: Units, n_needed: int) -> Iterator[DataWarning]:
    sizes = units.sizes
    queries = terms_of(vars(settings)).queries
    if settings.cluster != 'none':
        share = sizes.max() / sizes.sum()
        n_in_effect = sizes.sum() ** 2 / np.square(sizes).sum()
        if share > LARGEST_SHARE or n_in_effect < LEAST_CLUSTERS:
            finding = (
                f'{counted(len(sizes), "cluster counts", "clusters count")} as {n_in_effect:.1f} '
                f'of equal size, and the largest holds {100 * share:.3g} % of the {queries}: '
                f'intervals may be too narrow with fewer than {LEAST_CLUSTERS}, or with one above '
                f'{percent(LARGEST_SHARE)}'
            )
            yield DataWarning('few-clusters', '', finding)
    if n_needed:
        _, kind = names_of_units(vars(settings))
        could = 'pass' if settings.require_better else 'fail'
        finding = (
            f'no data on {len(sizes)} {kind} could {could} at this limit: {n_needed} or more are '
            'needed for a verdict'
        )
        yield DataWarning('no-verdict', '', finding)
