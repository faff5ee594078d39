"""The fields of a comparison, and its tables for people, papers, pages and programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import chain, islice
from operator import attrgetter
from typing import Any, NamedTuple

from numpy.typing import NDArray

from mediaeval_ap.choices import alpha_of
from mediaeval_ap.comparison.clusters_and_groups import GroupMean
from mediaeval_ap.comparison.comparable_runs import Agreement
from mediaeval_ap.comparison.comparison_page import join_names, percent, ranks
from mediaeval_ap.comparison.intervals import FEWEST, Interval
from mediaeval_ap.comparison.testing import (
    CORRECTED_BY,
    FAILING,
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
DIFFERENCE_HEADERS = ('difference', 'corrected p', 'win/tie/loss', 'dz')


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


def procedure_of(comparison: ComparisonData) -> list[str]:
    """Describe means and intervals in one sentence, and the tests in a second one."""
    settings = comparison.parameters
    terms = comparison.terms
    unit, units = names_of_units(settings)
    subject = 'Means over' if comparison.values else f'{comparison.metrics[-1]} of'
    if settings['range']:
        subject = f'Means of values from {terms.low:g} to {terms.high:g} (more is better) over'
    subject += f' {with_noun(len(comparison.queries), terms.query, terms.queries)}'
    if settings['cluster'] != 'none':
        clusters = with_noun(comparison.counts['units'], unit, units)
        subject += f' in {clusters}, by {settings["cluster"]}'
    if settings['definition']:
        subject += f' ({settings["definition"]})'
    methods = 'expanded ABC; differences: plus2' if comparison.pairs else 'expanded ABC'
    intervals = f'with {percent(settings["level"])} intervals ({methods})'
    if comparison.counts['units'] < FEWEST:
        intervals = f'without intervals, which need {FEWEST} {units}'
    sentence_on_p = [_sentence_on_p(comparison, units)] if comparison.pairs else []
    return [f'{subject}, {intervals}.', *sentence_on_p]


def _sentence_on_p(comparison: ComparisonData, units: str) -> str:
    """Return a sentence about p: its test, and its correction."""
    settings = comparison.parameters
    baseline = settings['baseline']
    pairs = [pair for pair in comparison.pairs if baseline in (None, pair.a, pair.b)]
    n_rounded = sum(not pair.exact for pair in pairs)
    flips = f'{n_rounded:,} of {len(pairs):,} rounded to a grid' if n_rounded else 'exact'
    family = f'all pairs of {comparison.terms.runs}'
    if baseline is not None:
        family = f'the pairs with {printable(baseline)}'
    if len(comparison.metrics) > 1:
        family += ' for each metric'
    correction = CORRECTED_BY[settings['correction']]
    return f'p by {SIGN_FLIPS} of {units} ({flips}), corrected by {correction} over {family}.'


class TitledTable(NamedTuple):
    """A table with a title and a note; the label is its id on a page, and in a paper."""

    label: str
    title: str
    note: str
    grid: Grid


def blocks_for_people(comparison: ComparisonData, headline: str, pairs: bool) -> Iterator[Block]:
    """Yield the verdict, the board, differences, other tables, and the procedure."""
    baseline = comparison.parameters['baseline']
    n_runs = len(comparison.runs)
    metrics = _claimed_first(comparison)
    n_shown = len(metrics) if pairs else int(baseline is None and n_runs <= MOST_RUNS)
    yield from _verdict(comparison, headline)
    yield _board(comparison, metrics[:1])
    if explanations := _explanations(comparison):
        yield _lines(explanations)
    for table in (
        *_against_baseline(comparison, metrics if pairs else metrics[:1]),
        *_differences_of_pairs(comparison, metrics[:n_shown]),
        *_power(comparison),
        *_means_without_floor(comparison),
        *_means_by_group(comparison),
        *_orders(comparison),
    ):
        yield Heading(table.title, table.note)
        yield table.grid
    n_shown = max(n_shown, n_runs == 2)  # the pair, or the difference to the baseline
    end = [*comparison.notes, *procedure_of(comparison)]
    if comparison.pairs and metrics[n_shown:]:
        hidden = join_names(metrics[n_shown:])
        end = [f"Not shown: pairs by {hidden} (--pairs; in Python to_frame('pairs')).", *end]
    yield _lines(end)


def _lines(sentences: Sequence[str]) -> str:
    return ''.join(f'{sentence}\n' for sentence in sentences)


def _claimed_first(comparison: ComparisonData) -> list[str]:
    """Return the metrics; the one that claims are about, which is the last, comes first."""
    *exploratory, claimed = comparison.metrics
    return [claimed, *exploratory]


def _verdict(comparison: ComparisonData, headline: str) -> Iterator[str]:
    """Yield the headline, and the outcome of the gate, if there is one."""
    yield f'{headline}\n'
    if verdicts := comparison.verdicts:
        outcome = 'failed' if any(one.verdict in FAILING for one in verdicts) else 'passed'
        words = dict.fromkeys(one.verdict for one in verdicts if one.verdict != 'passed')
        runs = {word: [one.run for one in verdicts if one.verdict == word] for word in words}
        reasons = '; '.join(f'{word}: {join_names(runs[word])}' for word in words)
        yield f'Gate {outcome}{f" ({reasons})" if reasons else ""}\n'


def _explanations(comparison: ComparisonData) -> list[str]:
    """Explain the marks and ranks of the board, and which of its metrics claims are about."""
    baseline = comparison.parameters['baseline']
    alpha = alpha_of(comparison.parameters['level'])
    sentences = []
    if comparison.pairs:
        runs = comparison.terms.runs.capitalize()
        mark = (
            f'{runs} that share a letter are not significantly different (corrected p > {alpha:g}).'
        )
        if baseline is not None:
            different = f'significantly different from {printable(baseline)}'
            mark = f'{DAGGER}: {different} (corrected p ≤ {alpha:g}).'
        sentences.append(f'{mark} Ranks: best to worst by the tests of all pairs.')
    claimed, *exploratory = _claimed_first(comparison)
    if exploratory:
        verb = 'is' if len(exploratory) == 1 else 'are'
        sentences.append(
            f'Claims are about {claimed}; {join_names(exploratory)} {verb} exploratory.'
        )
    return sentences


def blocks_for_papers(comparison: ComparisonData, headline: str, pairs: bool) -> Iterator[Block]:
    """Yield the tables for a paper: captioned, with the best of each column bold."""
    terms = comparison.terms
    yield from _verdict(comparison, headline)
    number = with_noun(len(comparison.runs), terms.run, terms.runs)
    caption = ' '.join([f'Means of {number}, best in bold.', *_explanations(comparison)])
    board = _board(comparison, comparison.metrics)
    yield Captioned(board, caption, LABEL, ' '.join(procedure_of(comparison)))
    metrics = _claimed_first(comparison) if pairs else []
    pair_tables = _differences_of_pairs(comparison, metrics)
    groups = _means_by_group(comparison)
    for table in *_requested_tables(comparison), *pair_tables, *groups:
        text = f'{table.title}, {table.note}.' if table.note else f'{table.title}.'
        yield Captioned(table.grid, text, f'{LABEL}-{table.label}')


def _board(comparison: ComparisonData, with_interval: Sequence[str]) -> Grid:
    """Return the ranks, and the means by each metric with the marks of their runs.

    A mark is the letters in the compact letter display; with a baseline, a dagger where a mean
    differs from it.
    """
    baseline = comparison.parameters['baseline']
    alpha = alpha_of(comparison.parameters['level'])

    def cell_of(standing: Standing) -> Marked:
        mark = standing.group if comparison.pairs else ''
        if baseline is not None:
            is_different = standing.p_adjusted is not None and standing.p_adjusted <= alpha
            mark = DAGGER if is_different else ''
        detail = _bounds(standing.interval) if standing.metric in with_interval else ''
        return Marked(standing.map, standing.rank == 1, mark, detail)

    grid = _grid_of_runs(comparison, cell_of)
    if not comparison.pairs:
        return grid
    rank_by_run = {
        standing.run: Marked(ranks(standing.rank_interval))
        for standing in comparison.leaderboard
        if not standing.exploratory
    }
    rows = [[run, rank_by_run[run], *cells] for run, *cells in grid.rows]
    return Grid([comparison.terms.run, 'rank', *grid.headers[1:]], rows)


def _grid_of_runs(comparison: ComparisonData, cell_of: Callable[[Standing], Any]) -> Grid:
    """Return a row for each run, and a column for each metric."""
    cells = {
        (standing.metric, standing.run): cell_of(standing) for standing in comparison.leaderboard
    }
    metrics = _claimed_first(comparison)
    rows = [[run, *(cells[metric, run] for metric in metrics)] for run in comparison.runs]
    return Grid([comparison.terms.run, *metrics], rows)


def _against_baseline(comparison: ComparisonData, metrics: Sequence[str]) -> Iterator[TitledTable]:
    """Yield the differences of all runs to the baseline, with their verdicts, if requested."""
    settings = comparison.parameters
    words_by_run = {verdict.run: verdict.words for verdict in comparison.verdicts}
    rules = [f'{percent(settings["level"])} interval']
    if settings['fail_if_worse'] is not None:
        rules.append(f'worse: all of it is below {0 - settings["fail_if_worse"]:g}')
    if settings['require_better']:
        rules.append('not better: not all of it is above 0')
    for metric in metrics if settings['baseline'] is not None else ():
        has_verdicts = words_by_run and metric == comparison.metrics[-1]
        rows = [
            [
                standing.run,
                *([Marked(words_by_run[standing.run])] if has_verdicts else []),
                *_cells_of(standing, standing.difference_interval),
            ]
            for standing in comparison.leaderboard
            if standing.metric == metric and standing.difference is not None
        ]
        headers = [
            comparison.terms.run,
            *(['verdict'] if has_verdicts else []),
            *DIFFERENCE_HEADERS,
        ]
        note = '; '.join([*(rules if has_verdicts else []), *_note_on_counts(comparison)])
        title = f'{metric}: difference to {printable(settings["baseline"])}'
        yield TitledTable(
            'verdicts', title, note, _without_empty_columns(comparison, headers, rows)
        )


def _differences_of_pairs(
    comparison: ComparisonData, metrics: Sequence[str]
) -> Iterator[TitledTable]:
    """Yield the pairs by each of some metrics."""
    notes = [f'first {comparison.terms.run} minus second']
    if comparison.parameters['baseline'] is not None:
        notes.append('corrected over all pairs')
    note = '; '.join([*notes, *_note_on_counts(comparison)])
    for number, metric in enumerate(metrics if comparison.pairs else (), 1):
        pairs = [pair for pair in comparison.pairs if pair.metric == metric]
        rows = [[pair.a, pair.b, *_cells_of(pair, pair.interval)] for pair in pairs]
        headers = ['first', 'second', *DIFFERENCE_HEADERS]
        grid = _without_empty_columns(comparison, headers, rows)
        yield TitledTable(f'pairs-{number}', f'{metric}: differences of pairs', note, grid)


def _note_on_counts(comparison: ComparisonData) -> list[str]:
    is_clustered = comparison.values and comparison.parameters['cluster'] != 'none'
    return [f'win/tie/loss and dz by {comparison.terms.query}'] if is_clustered else []


def _without_empty_columns(
    comparison: ComparisonData, headers: list[str], rows: list[list[Any]]
) -> Grid:
    """Drop the columns after "corrected p" when there are no values by query."""
    end = None if comparison.values else headers.index('corrected p') + 1
    return Grid(headers[:end], [row[:end] for row in rows])


def _cells_of(compared: Standing | Pair, interval: Interval | None) -> list[Any]:
    """Return the cells of `DIFFERENCE_HEADERS`."""
    difference = Marked(compared.difference, detail='' if interval is None else _bounds(interval))
    p = Marked('' if compared.p_adjusted is None else short_p(compared.p_adjusted))
    counts = Marked(f'{compared.wins}/{compared.ties}/{compared.losses}')
    return [difference, p, counts, compared.dz]


def _bounds(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return ''
    return f'[{short(interval.low)},{short(interval.high)}]'


def _means_without_floor(comparison: ComparisonData) -> Iterator[TitledTable]:
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
    title = f'Not the score: means without the {queries} no relevant shot'
    grid = _grid_of_runs(comparison, attrgetter('map_without_floor'))
    yield TitledTable('without-floor', title, f'an empty run has {floor}', grid)


def _orders(comparison: ComparisonData) -> Iterator[TitledTable]:
    """Yield the agreement of orders that differ, and of those by other definitions."""
    rows = [
        (order.a, order.b, order.tau)
        for order in comparison.orders
        if not {order.a, order.b} <= {*comparison.metrics}
        or (len(comparison.runs) > 2 and order.tau not in (None, 1))
    ]
    if rows:
        title = f'Different orders of the {comparison.terms.runs}'
        yield TitledTable('orders', title, "Kendall's tau-b", Grid(['one', 'other', 'tau'], rows))


def _means_by_group(comparison: ComparisonData) -> Iterator[TitledTable]:
    """Yield a table for each metric: a row for each run, a column for each group."""
    group_means = comparison.groups_by
    sizes = {mean.group: mean.n_queries for mean in group_means}
    headers = [comparison.terms.run, *(f'{group} ({size})' for group, size in sizes.items())]
    means = {(mean.metric, mean.run, mean.group): mean.map for mean in group_means}
    note = f'with the number of {comparison.terms.queries}'
    for number, metric in enumerate(_claimed_first(comparison) if sizes else (), 1):
        rows = [
            [run, *(means.get((metric, run, group)) for group in sizes)] for run in comparison.runs
        ]
        title = f'{metric} by {comparison.parameters["by"]}'
        yield TitledTable(f'by-{number}', title, note, Grid(headers, rows))


def _requested_tables(comparison: ComparisonData) -> Iterator[TitledTable]:
    """Yield the verdicts, and the numbers of queries for a difference."""
    if comparison.verdicts:
        yield from _against_baseline(comparison, comparison.metrics[-1:])
    yield from _power(comparison)


def _power(comparison: ComparisonData) -> Iterator[TitledTable]:
    """Yield the numbers of queries for a difference, if requested."""
    if comparison.power:
        _, units = names_of_units(comparison.parameters)
        difference = f'a difference of {comparison.parameters["power"]:g}'
        title = f'{comparison.metrics[-1]}: {units} to tell {difference} at 80 %'
        rows = [(pair.a, pair.b, pair.sd, pair.n_queries) for pair in comparison.power]
        grid = Grid(['first', 'second', 'sd of differences', units], rows)
        yield TitledTable('power', title, 'of one pair, not corrected', grid)


def requested_tables_on_page(comparison: ComparisonData) -> Iterator[TitledTable]:
    """Yield the requested tables of a page; of the means by group, those that claims are about."""
    yield from _requested_tables(comparison)
    yield from (table._replace(label='by') for table in islice(_means_by_group(comparison), 1))
