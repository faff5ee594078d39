"""The fields of a comparison, and its tables for people, papers, pages and programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

from numpy.typing import NDArray

from mediaeval_ap.choices import alpha_of
from mediaeval_ap.comparison.clusters_and_groups import GroupMean
from mediaeval_ap.comparison.comparable_runs import Agreement
from mediaeval_ap.comparison.comparison_page import percent
from mediaeval_ap.comparison.intervals import FEWEST, Interval
from mediaeval_ap.comparison.testing import (
    CORRECTED_BY,
    SIGN_FLIPS,
    Pair,
    Power,
    Standing,
    Verdict,
    names_of_units,
    terms_of,
)
from mediaeval_ap.errors import DataWarning, printable, with_noun
from mediaeval_ap.render.document import Block, Captioned, Grid, Heading, Marked, Terms
from mediaeval_ap.render.formats import short, short_p
from mediaeval_ap.tables import Provenance

# The field of each table, and the class of its rows.
TABLES: dict[str, tuple[str, type[Any]]] = {
    'leaderboard': ('leaderboard', Standing),
    'pairs': ('pairs', Pair),
    'orders': ('orders', Agreement),
    'by': ('groups_by', GroupMean),
    'power': ('power', Power),
    'verdicts': ('verdicts', Verdict),
}
# The columns that a field of intervals becomes.
INTERVAL_COLUMNS = {
    'interval': ['interval_low', 'interval_high', 'interval_reason'],
    'rank_interval': ['rank_low', 'rank_high'],
    'difference_interval': [
        'difference_interval_low',
        'difference_interval_high',
        'difference_interval_reason',
    ],
}
LABEL = 'tab:comparison'
DAGGER = '†'
MOST_RUNS = 5  # pairs of more runs are shown only on request
FIRST_MINUS_SECOND = 'first {0.run} minus second'
DIFFERENCE_HEADERS = ('difference', 'p', 'corrected p', 'win/tie/loss', 'dz')


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonData:
    """The fields of a `Comparison`: the data of its tables and figures."""

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

    @property
    def terms(self) -> Terms:
        return terms_of(self.parameters)


def grid_of(comparison: ComparisonData, table: str) -> Grid:
    """Return one of the tables with every digit, and a column for each bound of an interval."""
    field_name, row_class = TABLES[table]
    names = [row_field.name for row_field in fields(row_class)]
    rows = []
    for entry in map(asdict, getattr(comparison, field_name)):
        row: list[Any] = []
        for name in names:
            value = entry[name]
            columns = INTERVAL_COLUMNS.get(name)
            bounds = value.values() if isinstance(value, dict) else value
            row += [value] if columns is None else bounds or [None] * len(columns)
        rows.append(row)
    return Grid(list(chain(*(INTERVAL_COLUMNS.get(name, [name]) for name in names))), rows)


def caption_of(comparison: ComparisonData, baseline: str | None) -> str:
    """Describe means, intervals and tests: of all pairs, or of the pairs with a baseline."""
    settings = comparison.parameters
    terms = comparison.terms
    queries = with_noun(len(comparison.queries), terms.query, terms.queries)
    definition = f' ({settings["definition"]})' if settings['definition'] else ''
    unit, units = names_of_units(settings)
    counted_units = units
    if settings['cluster'] != 'none':
        clusters = with_noun(comparison.counts['units'], unit, units)
        counted_units = f'{clusters} of {terms.queries}, by {settings["cluster"]}'
    subject = f'Means over {queries}{definition}'
    *exploratory, last = comparison.metrics
    if not comparison.values:
        subject = f'{last} of {queries}'
    methods = f'means: expanded ABC over {counted_units}'
    if comparison.pairs:
        methods += f'; differences: plus2 over {units}'
    intervals = f'with {percent(settings["level"])} intervals ({methods})'
    if comparison.counts['units'] < FEWEST:
        intervals = f'without intervals, which need {FEWEST} {units}'
    claims = f' Claims are about {last}; other columns are exploratory.' if exploratory else ''
    return f'{subject}, {intervals}.{_sentence_on_p(comparison, baseline, units)}{claims}'


def _sentence_on_p(comparison: ComparisonData, baseline: str | None, units: str) -> str:
    """Return a sentence about p: its test, and its correction."""
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
    correction = CORRECTED_BY[settings['correction']]
    return (
        f' p by {SIGN_FLIPS} of {units} ({flips}), corrected by {correction} over {family} for '
        'each metric.'
    )


def blocks_for_people(comparison: ComparisonData, pairs: bool) -> Iterator[Block]:
    """Yield the tables for people."""
    baseline = comparison.parameters['baseline']
    metrics = comparison.metrics
    terms = comparison.terms
    for table in _requested_tables(comparison):
        yield from (Heading(table.title, table.note), table.grid)
    yield _means_with_intervals(comparison)
    if comparison.pairs:
        level = percent(comparison.parameters['level'])
        yield Heading('Rank', f'{level} interval, from the tests of all pairs')
        yield _grid_of_runs(comparison, _rank)
    for metric in metrics if baseline is not None else ():
        yield Heading(f'{_title(comparison, metric)}: difference to {baseline}')
        standings = [
            standing
            for standing in comparison.leaderboard
            if standing.metric == metric and standing.run != baseline
        ]
        rows = [
            [standing.run, *_cells_of(standing, standing.difference_interval)]
            for standing in standings
        ]
        yield _without_empty_columns(comparison, [terms.run, *DIFFERENCE_HEADERS], rows)
    yield from _means_without_floor(comparison)
    if comparison.orders:
        yield Heading(f'Agreement of two orders of the {terms.runs}', "Kendall's tau-b")
        yield _grid_of_orders(comparison)
    for metric, grid in _means_by_group(comparison):
        yield Heading(f'{metric} by {comparison.parameters["by"]}', f'number of {terms.queries}')
        yield grid
    notes = list(comparison.notes)
    if pairs or (baseline is None and len(comparison.runs) <= MOST_RUNS):
        for metric in metrics if comparison.pairs else ():
            title = f'{_title(comparison, metric)}: differences of pairs'
            yield Heading(title, FIRST_MINUS_SECOND.format(terms))
            yield _grid_of_pairs(comparison, metric)
    elif baseline is None:
        n_pairs = len(comparison.pairs) // len(metrics)
        instead = f'ask for them (--pairs), or for a baseline (--baseline {terms.run.upper()})'
        notes.append(f'{n_pairs} pairs of {terms.runs} are not shown: {instead}')
    if notes:
        yield ''.join(f'{note}\n' for note in notes)


def blocks_for_papers(comparison: ComparisonData, pairs: bool) -> Iterator[Block]:
    """Yield the tables for a paper: captioned, with the best of each column bold."""
    terms = comparison.terms
    for table in _requested_tables(comparison):
        yield Captioned(table.grid, f'{table.title}: {table.note}.', f'{LABEL}-{table.label}')
    means = _means_with_intervals(comparison)
    yield replace(means, caption=f'{means.caption} Best in bold.')
    for number, metric in enumerate(comparison.metrics if pairs else (), 1):
        text = (
            f'{_title(comparison, metric)}: differences of pairs, '
            f'{FIRST_MINUS_SECOND.format(terms)}. {caption_of(comparison, None)}'
        )
        if comparison.parameters['cluster'] != 'none':
            text += f' Wins, ties, losses and dz are of {terms.queries}.'
        yield Captioned(_grid_of_pairs(comparison, metric), text, f'{LABEL}-pairs-{number}')
    if comparison.orders:
        text = f"Agreement of two orders of the {terms.runs}: Kendall's tau-b."
        yield Captioned(_grid_of_orders(comparison), text, f'{LABEL}-orders')
    for number, (metric, grid) in enumerate(_means_by_group(comparison), 1):
        text = f'{metric} by {comparison.parameters["by"]}, with the number of {terms.queries}.'
        yield Captioned(grid, text, f'{LABEL}-by-{number}')


def _means_with_intervals(comparison: ComparisonData) -> Captioned:
    """Return the means with intervals.

    Each is marked with its letters in the compact letter display; with a baseline, means that
    differ from it are marked with a dagger.
    """
    baseline = comparison.parameters['baseline']
    alpha = alpha_of(comparison.parameters['level'])
    text = caption_of(comparison, baseline)
    if baseline is not None:
        text += f' {DAGGER}: differs from {printable(baseline)}, corrected p ≤ {alpha:g}.'
    elif comparison.pairs:
        runs = comparison.terms.runs.capitalize()
        text += f' {runs} that share a letter are not told apart (corrected p > {alpha:g}).'

    def cell_of(standing: Standing) -> Marked:
        p = standing.p_adjusted
        mark = DAGGER if p is not None and p <= alpha else ''
        if baseline is None and len(comparison.runs) > 1:
            mark = standing.group
        return Marked(standing.map, standing.rank == 1, mark, _bounds(standing.interval))

    return Captioned(_grid_of_runs(comparison, cell_of), text, LABEL)


def _title(comparison: ComparisonData, metric: str) -> str:
    """Return the name of a metric, marked as exploratory unless it is the last one."""
    return metric if metric == comparison.metrics[-1] else f'{metric} (exploratory)'


def _grid_of_runs(comparison: ComparisonData, cell_of: Callable[[Standing], Any]) -> Grid:
    """Return a row for each run, and a column for each metric."""
    cells = {
        (standing.metric, standing.run): cell_of(standing) for standing in comparison.leaderboard
    }
    metrics = comparison.metrics
    rows = [[run, *(cells[metric, run] for metric in metrics)] for run in comparison.runs]
    return Grid([comparison.terms.run, *(_title(comparison, metric) for metric in metrics)], rows)


def _rank(standing: Standing) -> Marked:
    low, high = standing.rank_interval
    return Marked(standing.rank, detail=f'[{low},{high}]')


def _grid_of_pairs(comparison: ComparisonData, metric: str) -> Grid:
    pairs = [pair for pair in comparison.pairs if pair.metric == metric]
    rows = [[pair.a, pair.b, *_cells_of(pair, pair.interval)] for pair in pairs]
    return _without_empty_columns(comparison, ['first', 'second', *DIFFERENCE_HEADERS], rows)


def _without_empty_columns(
    comparison: ComparisonData, headers: list[str], rows: list[list[Any]]
) -> Grid:
    """Drop the columns after "corrected p" when there are no values by query."""
    end = None if comparison.values else headers.index('corrected p') + 1
    return Grid(headers[:end], [row[:end] for row in rows])


def _cells_of(compared: Standing | Pair, interval: Interval | None) -> list[Any]:
    """Return the cells of `DIFFERENCE_HEADERS`."""
    difference = Marked(compared.difference, detail='' if interval is None else _bounds(interval))
    ps = [Marked('' if p is None else short_p(p)) for p in (compared.p, compared.p_adjusted)]
    counts = Marked(f'{compared.wins}/{compared.ties}/{compared.losses}')
    return [difference, *ps, counts, compared.dz]


def _bounds(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return ''
    return f'[{short(interval.low)},{short(interval.high)}]'


def _means_without_floor(comparison: ComparisonData) -> Iterator[Block]:
    """Yield the means over queries with a relevant shot, if some queries have none."""
    n_without = comparison.counts.get('queries_without_relevant', 0)
    board = comparison.leaderboard
    if not n_without or all(standing.map_without_floor is None for standing in board):
        return
    floors = {standing.metric: standing.floor for standing in board if standing.floor is not None}
    floor = ', '.join(f'{metric} {short(value)}' for metric, value in floors.items())
    if len(set(floors.values())) == 1:
        floor = short(next(iter(floors.values())))
    queries = with_noun(n_without, 'query that has', 'queries that have')
    heading = f'Not the score: means without the {queries} no relevant shot'
    yield Heading(heading, f'an empty run has {floor}')
    yield _grid_of_runs(comparison, attrgetter('map_without_floor'))


def _grid_of_orders(comparison: ComparisonData) -> Grid:
    rows = [(order.a, order.b, order.tau) for order in comparison.orders]
    return Grid(['one', 'other', 'tau'], rows)


def _means_by_group(comparison: ComparisonData) -> Iterator[tuple[str, Grid]]:
    """Yield each metric with its table: a row for each run, a column for each group."""
    group_means = comparison.groups_by
    sizes = {mean.group: mean.n_queries for mean in group_means}
    headers = [comparison.terms.run, *(f'{group} ({size})' for group, size in sizes.items())]
    means = {(mean.metric, mean.run, mean.group): mean.map for mean in group_means}
    for metric in comparison.metrics if sizes else ():
        rows = [
            [run, *(means.get((metric, run, group)) for group in sizes)] for run in comparison.runs
        ]
        yield metric, Grid(headers, rows)


class RequestedTable(NamedTuple):
    """A table that is shown only on request; the label is its id on a page."""

    label: str
    title: str
    note: str
    grid: Grid


def _requested_tables(comparison: ComparisonData) -> Iterator[RequestedTable]:
    """Yield the verdicts, and the numbers of queries for a difference."""
    settings = comparison.parameters
    terms = comparison.terms
    *exploratory, metric = comparison.metrics
    if comparison.verdicts:
        claimed = f'{metric}, not of {", ".join(exploratory)}' if exploratory else metric
        rules = [f'{percent(settings["level"])} interval of {claimed}']
        if settings['fail_if_worse'] is not None:
            rules.append(f'worse: all of it is below {0 - settings["fail_if_worse"]:g}')
        if settings['require_better']:
            rules.append('not better: not all of it is above 0')
        rows: list[Any] = [
            (
                verdict.run,
                Marked(verdict.difference, detail=_bounds(verdict.interval)),
                verdict.words,
            )
            for verdict in comparison.verdicts
        ]
        title = f'Difference to {printable(settings["baseline"])}'
        grid = Grid([terms.run, 'difference', 'verdict'], rows)
        yield RequestedTable('verdicts', title, '; '.join(rules), grid)
    if comparison.power:
        _, units = names_of_units(settings)
        title = f'{metric}: {units} to tell a difference of {settings["power"]:g} at 80 %'
        rows = [(pair.a, pair.b, pair.sd, pair.n_queries) for pair in comparison.power]
        grid = Grid(['first', 'second', 'sd of differences', units], rows)
        yield RequestedTable('power', title, 'of one pair, not corrected', grid)


def requested_tables_on_page(comparison: ComparisonData) -> Iterator[RequestedTable]:
    """Yield the requested tables of a page, the means by group last."""
    yield from _requested_tables(comparison)
    for metric, grid in _means_by_group(comparison):
        if metric == comparison.metrics[-1]:
            title = f'{metric} by {comparison.parameters["by"]}'
            note = f'with the number of {comparison.terms.queries}'
            yield RequestedTable('by', title, note, grid)
