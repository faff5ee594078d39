"""The fields of a comparison, and its tables for people, papers, pages and programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import chain
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


def blocks_for_people(comparison: ComparisonData, headline: str, pairs: bool) -> Iterator[Block]:
    """Yield the verdict, the board, differences, other tables, and the procedure."""
    terms = comparison.terms
    baseline = comparison.parameters['baseline']
    metrics = _claimed_first(comparison)
    yield from _verdict(comparison, headline)
    yield _board(comparison, metrics[:1])
    if explanations := _explanations(comparison):
        yield _lines(explanations)
    for metric in (metrics if pairs else metrics[:1]) if baseline is not None else ():
        rules = _rules(comparison) if comparison.verdicts and metric == metrics[0] else ''
        yield Heading(f'{metric}: difference to {baseline}', _note(comparison, rules))
        yield _grid_against_baseline(comparison, metric)
    is_short = baseline is None and len(comparison.runs) <= MOST_RUNS
    shown_metrics = metrics if pairs else metrics[:is_short]
    for metric in shown_metrics if comparison.pairs else ():
        yield Heading(f'{metric}: differences of pairs', _note_on_pairs(comparison))
        yield _grid_of_pairs(comparison, metric)
    baseline_remedy = '' if is_short or baseline else f', or --baseline {terms.run.upper()}'
    n_shown = max(len(shown_metrics), len(comparison.runs) == 2)  # also against a baseline
    yield from _pairs_not_shown(comparison, metrics[n_shown:], baseline_remedy)
    for table in _requested_tables(comparison):
        if table.label != 'verdicts':  # these stand beside the differences to the baseline
            yield from (Heading(table.title, table.note), table.grid)
    yield from _means_without_floor(comparison)
    if orders := _orders_by_definition(comparison):
        yield Heading(f'Agreement of two orders of the {terms.runs}', "Kendall's tau-b")
        yield orders
    for metric, grid in _means_by_group(comparison):
        yield Heading(f'{metric} by {comparison.parameters["by"]}', f'number of {terms.queries}')
        yield grid
    yield _lines([*_agreement(comparison), *comparison.notes, *procedure_of(comparison)])


def _pairs_not_shown(
    comparison: ComparisonData, metrics: Sequence[str], more_remedies: str
) -> Iterator[Block]:
    """Count the pairs that are not shown, those by these metrics."""
    _, runs, *_ = comparison.terms
    if metrics and (n_pairs := len(comparison.pairs) // len(comparison.metrics)):
        number = with_noun(n_pairs, f'pair of {runs}', f'pairs of {runs}')
        remedy = f"--pairs{more_remedies}; in Python to_frame('pairs')"
        yield f'Not shown: {number} by {join_names(metrics)} ({remedy}).\n'


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
    for table in _requested_tables(comparison):
        yield Captioned(table.grid, f'{table.title}: {table.note}.', f'{LABEL}-{table.label}')
    for count, metric in enumerate(_claimed_first(comparison) if pairs else (), 1):
        text = f'{metric}: differences of pairs, {_note_on_pairs(comparison)}.'
        yield Captioned(_grid_of_pairs(comparison, metric), text, f'{LABEL}-pairs-{count}')
    if orders := _orders_by_definition(comparison):
        text = f"Agreement of two orders of the {terms.runs}: Kendall's tau-b."
        yield Captioned(orders, text, f'{LABEL}-orders')
    for count, (metric, grid) in enumerate(_means_by_group(comparison), 1):
        text = f'{metric} by {comparison.parameters["by"]}, with the number of {terms.queries}.'
        yield Captioned(grid, text, f'{LABEL}-by-{count}')


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


def _grid_against_baseline(comparison: ComparisonData, metric: str) -> Grid:
    """Return the differences of all runs to the baseline, with their verdicts, if requested."""
    rows = [
        [standing.run, *_cells_of(standing, standing.difference_interval)]
        for standing in comparison.leaderboard
        if standing.metric == metric and standing.difference is not None
    ]
    grid = _without_empty_columns(comparison, [comparison.terms.run, *DIFFERENCE_HEADERS], rows)
    words_by_run = {one.run: one.words for one in comparison.verdicts if one.metric == metric}
    if not words_by_run:
        return grid
    rows = [[run, Marked(words_by_run[run]), *cells] for run, *cells in grid.rows]
    return Grid([comparison.terms.run, 'verdict', *grid.headers[1:]], rows)


def _note_on_pairs(comparison: ComparisonData) -> str:
    family = '' if comparison.parameters['baseline'] is None else 'corrected over all pairs'
    return _note(comparison, f'first {comparison.terms.run} minus second', family)


def _note(comparison: ComparisonData, *parts: str) -> str:
    """Join the parts of a note on differences; the last one is about counts, next to clusters."""
    is_clustered = comparison.values and comparison.parameters['cluster'] != 'none'
    counts = f'win/tie/loss and dz by {comparison.terms.query}' if is_clustered else ''
    return '; '.join(filter(None, (*parts, counts)))


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
    p = Marked('' if compared.p_adjusted is None else short_p(compared.p_adjusted))
    counts = Marked(f'{compared.wins}/{compared.ties}/{compared.losses}')
    return [difference, p, counts, compared.dz]


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


def _agreement(comparison: ComparisonData) -> list[str]:
    """Compare the claimed order with those by other metrics, if any of them differs."""
    claimed = comparison.metrics[-1]
    tau_by_metric = {
        order.a: order.tau
        for order in comparison.orders
        if order.b == claimed and order.a in comparison.metrics and order.tau is not None
    }
    if len(comparison.runs) < 3 or all(tau == 1 for tau in tau_by_metric.values()):
        return []
    words = ', '.join(f'{metric} {short(tau)}' for metric, tau in tau_by_metric.items())
    return [f"Kendall's tau-b with the order by {claimed}: {words}."]


def _orders_by_definition(comparison: ComparisonData) -> Grid | None:
    """Return the agreement of orders by several definitions, if there are any."""
    rows = [
        (order.a, order.b, order.tau)
        for order in comparison.orders
        if not {order.a, order.b} <= {*comparison.metrics}
    ]
    return Grid(['one', 'other', 'tau'], rows) if rows else None


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


def _rules(comparison: ComparisonData) -> str:
    """Return the rules of the verdicts."""
    settings = comparison.parameters
    rules = [f'{percent(settings["level"])} interval']
    if settings['fail_if_worse'] is not None:
        rules.append(f'worse: all of it is below {0 - settings["fail_if_worse"]:g}')
    if settings['require_better']:
        rules.append('not better: not all of it is above 0')
    return '; '.join(rules)


def _requested_tables(comparison: ComparisonData) -> Iterator[RequestedTable]:
    """Yield the verdicts, and the numbers of queries for a difference."""
    settings = comparison.parameters
    terms = comparison.terms
    metric = comparison.metrics[-1]
    if comparison.verdicts:
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
        yield RequestedTable('verdicts', title, _rules(comparison), grid)
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
