"""The fields of a comparison, and its tables for people, papers, pages and programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import chain, islice
from operator import attrgetter
from typing import Any, NamedTuple

from numpy.typing import NDArray

from mediaeval_ap.choices import alpha_of
from mediaeval_ap.comparison.clusters_and_groups import GroupMean
from mediaeval_ap.comparison.comparable_runs import Agreement
from mediaeval_ap.comparison.comparison_page import be, bounds_of, join_names, percent, ranks
from mediaeval_ap.comparison.comparison_settings import (
    limit_of,
    names_of_units,
    terms_of,
    words_of_test,
)
from mediaeval_ap.comparison.gate import Gate, Power, Verdict
from mediaeval_ap.comparison.intervals import FEWEST, DifferenceInterval, Interval
from mediaeval_ap.comparison.leaderboard import Standing
from mediaeval_ap.comparison.pair_tests import Pair
from mediaeval_ap.comparison.score_files import DATASET_COLUMNS
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
    'by_pairs': ('group_pairs', Pair),
    'power': ('power', Power),
    'verdicts': ('verdicts', Verdict),
}
LABEL = 'tab:comparison'
DAGGER = '†'
MOST_RUNS = 5  # pairs of more runs are shown only on request
MOST_COLUMNS = 4  # that fit into one column of a paper, if only one has names
Compared = tuple[Sequence[Any], Standing | Pair, DifferenceInterval | None]


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
    group_pairs: list[Pair]
    parameters: Mapping[str, Any]
    counts: Mapping[str, int]
    notes: list[str]
    sources: Mapping[str, Provenance]
    inputs: Mapping[str, Provenance]
    warnings: Sequence[DataWarning] = field(default=(), repr=False)
    power: Sequence[Power] = ()
    verdicts: Sequence[Verdict] = ()
    gate: Gate | None = None

    @property
    def terms(self) -> Terms:
        return terms_of(self.parameters, self.metrics[0])


def grid_of(comparison: ComparisonData, table: str) -> Grid:
    """Return one of the tables with every digit, and a column for each bound of an interval."""
    field_name, row_class = TABLES[table]
    columns = {row_field.name: [row_field.name] for row_field in fields(row_class)}
    for name in columns:
        if name == 'rank_interval':
            columns[name] = ['rank_low', 'rank_high']
        elif (table, name) == ('leaderboard', 'interval'):
            columns[name] = [f'interval_{part.name}' for part in fields(Interval)]
        elif name.endswith('interval'):
            columns[name] = [f'{name}_{part.name}' for part in fields(DifferenceInterval)]
    rows = []
    for entry in map(asdict, getattr(comparison, field_name)):
        row: list[Any] = []
        for name, names in columns.items():
            value = entry[name]
            if names == [name]:
                row.append(value)
            elif isinstance(value, dict):
                row += value.values()
            else:
                row += value or [None] * len(names)
        rows.append(row)
    return Grid(list(chain(*columns.values())), rows)


def procedure_of(comparison: ComparisonData) -> list[str]:
    """Describe means and intervals in one sentence, and the tests in a second one."""
    settings = comparison.parameters
    terms = comparison.terms
    subject = _subject_of_means(comparison)
    methods = 'methods: docs/statistics.md of mediaeval_ap'
    intervals = f'with {percent(settings["level"])} intervals ({methods})'
    if comparison.counts['units'] < FEWEST:
        _, units = names_of_units(settings, comparison.metrics[0])
        intervals = f'without intervals, which need {FEWEST} {units}'
    if settings['range']:
        intervals += f'; values from {terms.low:g} to {terms.high:g}, {terms.direction}'
    if not comparison.pairs:
        return [f'{subject}, {intervals}.']
    family = f'all pairs of {terms.runs}'
    if settings['baseline'] is not None:
        family = 'pairs with the baseline'
    if len(comparison.metrics) > 1:
        family += ' for each metric'
    tests = f'{words_of_test(settings, comparison.counts, comparison.metrics[0])} over {family}'
    return [f'{subject}, {intervals}.', f'Tests: {tests}.']


def _subject_of_means(comparison: ComparisonData) -> str:
    """Describe means: by their queries, clusters and definition."""
    settings = comparison.parameters
    terms = comparison.terms
    subject = 'Means over'
    if settings['macro']:
        subject = f'{mean_of_groups(settings, comparison.counts).capitalize()} over'
    elif not comparison.values:
        subject = f'{comparison.metrics[0]} of'
    subject += f' {with_noun(len(comparison.queries), terms.query, terms.queries)}'
    if settings['cluster'] != 'none':
        subject += f' in {with_noun(comparison.counts["units"], "cluster", "clusters")}'
        if settings['cluster'] == 'video':
            subject += ', by video'
    if settings['definition']:
        subject += f' ({settings["definition"]})'
    return subject


def mean_of_groups(settings: Mapping[str, Any], counts: Mapping[str, int]) -> str:
    """Describe a macro mean, for example: mean of 3 datasets."""
    column = settings['macro']
    groups = f'groups by {column}'
    if column == 'corpus':
        groups = 'corpora'
    elif column in DATASET_COLUMNS:
        groups = f'{column}s'
    return f'mean of {with_noun(counts["groups"], f"group by {column}", groups)}'


class TitledTable(NamedTuple):
    """A table with a title and a note; the label is its id on a page, and in a paper."""

    label: str
    title: str
    note: str
    grid: Grid


def blocks_for_people(comparison: ComparisonData, headline: str, pairs: bool) -> Iterator[Block]:
    """Yield the verdict, the board, differences, other tables, and the procedure."""
    n_runs = len(comparison.runs)
    metrics = comparison.metrics
    n_shown = int(comparison.parameters['baseline'] is None and n_runs <= MOST_RUNS)
    compared_metrics = metrics[:1]
    if pairs:
        n_shown = len(metrics)
        compared_metrics = metrics
    yield f'{headline}\n'
    if comparison.gate is not None:
        yield f'{comparison.gate.words}\n'
    yield _board(comparison)
    if explanations := _explanations(comparison):
        yield '\n'.join([*explanations, ''])
    for table in (
        *_against_baseline(comparison, compared_metrics),
        *_differences_of_pairs(comparison, metrics[:n_shown]),
        *_power(comparison),
        *_means_without_floor(comparison),
        *_means_by_group(comparison),
        *_differences_by_group(comparison, pairs),
        *_orders(comparison),
    ):
        yield Heading(table.title, table.note)
        yield table.grid
    end = [*comparison.notes, *procedure_of(comparison)]
    n_shown = n_shown or int(n_runs == 2)  # the difference to the baseline is that of the pair
    if comparison.group_pairs and not [*_differences_by_group(comparison, pairs)]:
        end = [f'Not shown: differences by {comparison.parameters["by"]} (--pairs).', *end]
    if comparison.pairs and metrics[n_shown:]:
        hidden = join_names(metrics[n_shown:])
        end = [f"Not shown: pairs by {hidden} (--pairs; in Python to_frame('pairs')).", *end]
    yield '\n'.join([*end, ''])


def _explanations(comparison: ComparisonData) -> list[str]:
    """Explain the marks and ranks of the board, and which of its metrics claims are about."""
    baseline = comparison.parameters['baseline']
    alpha = alpha_of(comparison.parameters['level'])
    sentences = []
    if comparison.terms.lower_is_better:
        sentences.append('Lower is better.')
    if comparison.pairs:
        alike = f'{comparison.terms.runs.capitalize()} that share a letter are not'
        mark = f'{alike} significantly different (corrected p > {alpha:g}).'
        if baseline is not None:
            different = f'significantly different from {printable(baseline)}'
            mark = f'{DAGGER}: {different} (corrected p ≤ {alpha:g}).'
        sentences.append(f'{mark} Ranks: best to worst by the tests of all pairs.')
    claimed, *exploratory = comparison.metrics
    if comparison.parameters['macro']:
        mean = mean_of_groups(comparison.parameters, comparison.counts)
        sentences.append(f'{claimed}: {mean}, each counts the same.')
    if exploratory:
        others = f'{join_names(exploratory)} {be(exploratory)}'
        sentences.append(f'Claims are about {claimed}; {others} exploratory.')
    return sentences


def blocks_for_papers(comparison: ComparisonData, headline: str, pairs: bool) -> Iterator[Block]:
    """Yield the tables for a paper: captioned, with the best of each column bold."""
    terms = comparison.terms
    if comparison.gate is not None:
        yield f'{comparison.gate.words}\n'
    number = with_noun(len(comparison.runs), terms.run, terms.runs)
    means = f'{headline}. Means of {number}, best in bold.'
    note = ' '.join([*(f'{note}.' for note in comparison.notes), *procedure_of(comparison)])
    yield _captioned(_board(comparison), ' '.join([means, *_explanations(comparison)]), LABEL, note)
    pair_tables = _differences_of_pairs(comparison, comparison.metrics if pairs else [])
    by_group = [*_means_by_group(comparison), *_differences_by_group(comparison, pairs)]
    for table in *_requested_tables(comparison), *pair_tables, *by_group:
        text = f'{", ".join(filter(None, [table.title, table.note]))}.'
        yield _captioned(table.grid, text, f'{LABEL}-{table.label}')


def _captioned(grid: Grid, caption: str, label: str, note: str = '') -> Captioned:
    is_wide = len(grid.headers) > MOST_COLUMNS or 'second' in grid.headers
    return Captioned(grid, caption, label, note=note, is_wide=is_wide)


def _board(comparison: ComparisonData) -> Grid:
    """Return the ranks, and the means with the letters of their runs, or daggers by a baseline."""
    baseline = comparison.parameters['baseline']
    alpha = alpha_of(comparison.parameters['level'])

    def cell_of(standing: Standing) -> Marked:
        mark = ''
        if baseline is None and comparison.pairs:
            mark = standing.group
        elif standing.p_adjusted is not None and standing.p_adjusted <= alpha:
            mark = DAGGER
        detail = '' if standing.exploratory else _bounds(standing.interval)
        return Marked(standing.map, standing.rank == 1, mark, detail)

    grid = _grid_of_runs(comparison, cell_of)
    standings = [row for row in comparison.leaderboard if not row.exploratory]  # best first, too
    columns = {}
    if comparison.pairs:
        columns['rank'] = [Marked(ranks(row.rank_interval)) for row in standings]
    if 'seeds' in comparison.counts:
        columns['seeds'] = [Marked(str(row.n_seeds)) for row in standings]
    rows = [
        [run, *cells, *means]
        for (run, *means), *cells in zip(grid.rows, *columns.values(), strict=True)
    ]
    return Grid([comparison.terms.run, *columns, *grid.headers[1:]], rows)


def _grid_of_runs(comparison: ComparisonData, cell_of: Callable[[Standing], Any]) -> Grid:
    cells = {(row.metric, row.run): cell_of(row) for row in comparison.leaderboard}
    metrics = comparison.metrics
    rows = [[run, *(cells[metric, run] for metric in metrics)] for run in comparison.runs]
    return Grid([comparison.terms.run, *metrics], rows)


def _against_baseline(comparison: ComparisonData, metrics: Sequence[str]) -> Iterator[TitledTable]:
    """Yield the differences of all runs to the baseline, with their verdicts, if requested."""
    settings = comparison.parameters
    words = {verdict.run: [Marked(verdict.words)] for verdict in comparison.verdicts}
    rules = [f'{percent(settings["level"])} interval']
    sign, lower, higher = -1, 'below', 'above'
    if comparison.terms.lower_is_better:
        sign, lower, higher = 1, higher, lower
    if (limit := limit_of(settings)) is not None:
        bound = f'{0 + sign * limit:g}'
        reasons = {one.reason for one in comparison.verdicts if one.verdict == 'not worse'}
        equal = ''.join(f', or {reason}' for reason in reasons if reason)
        rules += [f'worse: all {lower} {bound}', f'not worse: all {higher} {bound}{equal}']
    if settings['require_better']:
        rules.append(f'better: all {higher} 0')
    if settings['baseline'] is None:
        return
    for metric in metrics:
        verdicts = words if metric == comparison.metrics[0] else {}
        rows = [
            ([row.run, *verdicts.get(row.run, [])], row, row.difference_interval)
            for row in comparison.leaderboard
            if row.metric == metric and row.difference is not None
        ]
        headers = [comparison.terms.run]
        notes = [*_notes_on_pairs(comparison, rows)]
        if verdicts:
            headers.append('verdict')
            notes = [*rules, *notes]
        note = '; '.join(notes)
        title = f'{metric}: difference to {printable(settings["baseline"])}'
        yield TitledTable('verdicts', title, note, _grid_of_differences(comparison, headers, rows))


def _differences_of_pairs(
    comparison: ComparisonData, metrics: Sequence[str]
) -> Iterator[TitledTable]:
    """Yield the pairs by each of some metrics."""
    notes = [f'first {comparison.terms.run} minus second']
    if comparison.parameters['baseline'] is not None:
        notes.append('corrected over all pairs')
    if not comparison.pairs:
        return
    for number, metric in enumerate(metrics, 1):
        pairs = [pair for pair in comparison.pairs if pair.metric == metric]
        rows = [([pair.a, pair.b], pair, pair.interval) for pair in pairs]
        note = '; '.join([*notes, *_notes_on_pairs(comparison, rows)])
        grid = _grid_of_differences(comparison, ['first', 'second'], rows)
        yield TitledTable(f'pairs-{number}', f'{metric}: differences of pairs', note, grid)


def _notes_on_pairs(comparison: ComparisonData, rows: Iterable[Compared]) -> Iterator[str]:
    """Name the unit of counts, and the pairs that only their correction makes not significant."""
    alpha = alpha_of(comparison.parameters['level'])
    sign = '<' if comparison.terms.lower_is_better else '>'
    if comparison.terms.lower_is_better:
        yield 'lower is better'
    if comparison.values and comparison.parameters['cluster'] != 'none':
        yield f'win/tie/loss and dz by {comparison.terms.query}'
    if alone := [
        f'{compared.a} {sign} {compared.b}' if isinstance(compared, Pair) else compared.run
        for _, compared, interval in rows
        if interval and interval.excludes_zero and (compared.p_adjusted or 0) > alpha
    ]:
        yield f'alone it would be significant: {join_names(alone)}'


def _grid_of_differences(
    comparison: ComparisonData, headers: Sequence[str], rows: Iterable[Compared]
) -> Grid:
    """Return a row for each difference, after its first cells; counts need values by query."""
    headers = [*headers, 'difference', 'corrected p', 'win/tie/loss', 'dz']
    cells = []
    for names, compared, interval in rows:
        difference = Marked(compared.difference, detail=_bounds(interval))
        p = Marked('' if compared.p_adjusted is None else short_p(compared.p_adjusted))
        counts = Marked(f'{compared.wins}/{compared.ties}/{compared.losses}')
        cells.append([*names, difference, p, counts, compared.dz])
    if not comparison.values:
        return Grid(headers[:-2], [row[:-2] for row in cells])
    return Grid(headers, cells)


def _bounds(interval: Interval | None) -> str:
    return '' if interval is None else bounds_of(asdict(interval), ',')


def _means_without_floor(comparison: ComparisonData) -> Iterator[TitledTable]:
    """Yield the means over queries with a relevant shot, if some queries have none."""
    n_without = comparison.counts.get('queries_without_relevant', 0)
    board = comparison.leaderboard
    if not n_without or all(standing.map_without_floor is None for standing in board):
        return
    floors = {row.metric: short(row.floor) for row in board if row.floor is not None}
    floor = ', '.join(map(' '.join, floors.items()))
    if len({*floors.values()}) == 1:
        floor = next(iter(floors.values()))
    n_queries = len(comparison.queries)
    queries = with_noun(n_queries - n_without, 'query', 'queries')
    title = f'For comparison: means over the {queries} with a relevant shot'
    note = f'an empty run has {floor} over all {n_queries:,}'
    grid = _grid_of_runs(comparison, attrgetter('map_without_floor'))
    yield TitledTable('without-floor', title, note, grid)


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
    if not sizes:
        return
    for number, metric in enumerate(comparison.metrics, 1):
        rows = [
            [run, *(means.get((metric, run, group)) for group in sizes)] for run in comparison.runs
        ]
        title = f'{metric} by {comparison.parameters["by"]}'
        yield TitledTable(f'by-{number}', title, note, Grid(headers, rows))


def _differences_by_group(comparison: ComparisonData, pairs: bool) -> Iterator[TitledTable]:
    """Yield the differences by group: of one pair, with a baseline, or on request."""
    is_shown = pairs or len(comparison.runs) == 2 or comparison.parameters['baseline'] is not None
    if comparison.group_pairs and is_shown:
        rows = [([row.group, row.a, row.b], row, row.interval) for row in comparison.group_pairs]
        grid = _grid_of_differences(comparison, ['group', 'first', 'second'], rows)
        title = f'{comparison.metrics[0]}: differences by {comparison.parameters["by"]}'
        note = f'first {comparison.terms.run} minus second; corrected over the groups of a pair'
        yield TitledTable('by-pairs', title, note, grid)


def _power(comparison: ComparisonData) -> Iterator[TitledTable]:
    """Yield the numbers of queries for a difference, if requested."""
    _, units = names_of_units(comparison.parameters, comparison.metrics[0])
    headers = ['first', 'second', 'sd of differences', units]
    if (limit := limit_of(comparison.parameters)) is not None:
        headers.append(f'gate at {limit:g}')
    rows = []
    for row in comparison.power:
        by_test, by_gate = (
            Marked(reason or f'{number:,}')
            for number, reason in ((row.n_queries, row.reason), (row.n_gate, row.gate_reason))
        )
        rows.append([row.a, row.b, row.sd, by_test, by_gate][: len(headers)])
    if rows:
        difference = f'a difference of {comparison.parameters["power"]:g}'
        title = f'{comparison.metrics[0]}: {units} that show {difference}'
        note = 'with a power of 80 %, by the test of one pair, not corrected'
        if limit is not None:
            note += '; gate: that tell such a loss from its limit'
        yield TitledTable('power', title, note, Grid(headers, rows))


def _requested_tables(comparison: ComparisonData) -> Iterator[TitledTable]:
    """Yield the verdicts, and the numbers of queries for a difference."""
    if comparison.verdicts:
        yield from _against_baseline(comparison, comparison.metrics[:1])
    yield from _power(comparison)


def requested_tables_on_page(comparison: ComparisonData) -> Iterator[TitledTable]:
    """Yield the requested tables of a page; of the means by group, those that claims are about."""
    yield from _requested_tables(comparison)
    yield from (table._replace(label='by') for table in islice(_means_by_group(comparison), 1))
    yield from _differences_by_group(comparison, pairs=True)
