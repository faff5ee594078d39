"""The fields of a comparison, and its tables for people, papers, pages and programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import chain
from operator import attrgetter
from typing import Any

from numpy.typing import NDArray

from mediaeval_ap.choices import alpha_of
from mediaeval_ap.comparison.comparable_runs import Agreement, GroupMean
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
from mediaeval_ap.errors import DataWarning, counted, printable
from mediaeval_ap.render.document import Block, Captioned, Grid, Heading, Marked, Terms
from mediaeval_ap.render.formats import short, short_p
from mediaeval_ap.tables import Provenance

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
LABEL = 'tab:comparison'
DAGGER = '†'
MOST_RUNS = 5  # their pairs are shown to people who did not ask for them
FIRST_MINUS_SECOND = 'first {0.run} minus second'
DIFFERENCE = ('difference', 'p', 'corrected p', 'win/tie/loss', 'dz')


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonData:
    """The fields of a `Comparison`, which its tables and figures are made of."""

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
    """Return one of the tables with every digit, each bound of an interval by itself."""
    at, kind = TABLES[table]
    names = [each.name for each in fields(kind)]
    rows = []
    for entry in map(asdict, getattr(comparison, at)):
        row: list[Any] = []
        for name in names:
            value = entry[name]
            columns = BOUNDS.get(name)
            bounds = value.values() if isinstance(value, dict) else value
            row += [value] if columns is None else bounds or [None] * len(columns)
        rows.append(row)
    return Grid(list(chain(*(BOUNDS.get(name, [name]) for name in names))), rows)


def caption_of(comparison: ComparisonData, baseline: str | None) -> str:
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


def _test(comparison: ComparisonData, baseline: str | None, unit: str) -> str:
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


def blocks_for_people(comparison: ComparisonData, pairs: bool) -> Iterator[Block]:
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


def blocks_for_papers(comparison: ComparisonData, pairs: bool) -> Iterator[Block]:
    """Return the tables of a paper: captioned, the best of each column bold."""
    terms = comparison.terms
    for title, note, grid, label in _asked_for(comparison):
        yield Captioned(grid, f'{title}: {note}.', f'{LABEL}-{label}')
    means = _means(comparison)
    yield replace(means, caption=f'{means.caption} Best in bold.')
    for number, metric in enumerate(comparison.metrics if pairs else (), 1):
        text = (
            f'{_titled(comparison, metric)}: differences of pairs, '
            f'{FIRST_MINUS_SECOND.format(terms)}. {caption_of(comparison, None)}'
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


def _means(comparison: ComparisonData) -> Captioned:
    """Return means with intervals, and letters, or daggers for what differs from a baseline."""
    baseline = comparison.parameters['baseline']
    alpha = alpha_of(comparison.parameters['level'])
    text = caption_of(comparison, baseline)
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


def _titled(comparison: ComparisonData, metric: str) -> str:
    """Return the name of a metric, and that it is exploratory if it is not the last one."""
    return metric if metric == comparison.metrics[-1] else f'{metric} (exploratory)'


def _by_run(comparison: ComparisonData, cell_of: Callable[[Standing], Any]) -> Grid:
    """Return a row for each run, and a column for each metric."""
    cells = {(one.metric, one.run): cell_of(one) for one in comparison.leaderboard}
    metrics = comparison.metrics
    rows = [[run, *(cells[metric, run] for metric in metrics)] for run in comparison.runs]
    return Grid([comparison.terms.run, *(_titled(comparison, metric) for metric in metrics)], rows)


def _rank(one: Standing) -> Marked:
    low, high = one.rank_interval
    return Marked(one.rank, detail=f'[{low},{high}]')


def _pairs_by(comparison: ComparisonData, metric: str) -> Grid:
    pairs = [pair for pair in comparison.pairs if pair.metric == metric]
    rows = [[pair.a, pair.b, *_cells_of(pair, pair.interval)] for pair in pairs]
    return _known(comparison, ['first', 'second', *DIFFERENCE], rows)


def _known(comparison: ComparisonData, headers: list[str], rows: list[list[Any]]) -> Grid:
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


def _without_floor(comparison: ComparisonData) -> Iterator[Block]:
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


def _orders(comparison: ComparisonData) -> Grid:
    return Grid(['one', 'other', 'tau'], [(each.a, each.b, each.tau) for each in comparison.orders])


def _means_by_group(comparison: ComparisonData) -> Iterator[tuple[str, Grid]]:
    sizes = {each.group: each.n_queries for each in comparison.groups_by}
    headers = [comparison.terms.run, *(f'{group} ({size})' for group, size in sizes.items())]
    means = {(each.metric, each.run, each.group): each.map for each in comparison.groups_by}
    for metric in comparison.metrics if sizes else ():
        of_run = [
            (run, [means.get((metric, run, group)) for group in sizes]) for run in comparison.runs
        ]
        yield metric, Grid(headers, [[run, *row] for run, row in of_run])


def _asked_for(comparison: ComparisonData) -> Iterator[tuple[str, str, Grid, str]]:
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


def tables_on_page(comparison: ComparisonData) -> Iterator[tuple[str, str, str, Grid]]:
    """Return the tables of a page that were asked for: id, title, note and grid."""
    terms = comparison.terms
    for title, note, grid, label in _asked_for(comparison):
        yield label, title, note, grid
    for metric, grid in _means_by_group(comparison):
        if metric == comparison.metrics[-1]:
            title = f'{metric} by {comparison.parameters["by"]}'
            yield 'by', title, f'with the number of {terms.queries}', grid
