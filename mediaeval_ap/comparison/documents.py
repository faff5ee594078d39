"""A comparison as a document: tables for people and papers, and rows for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from mediaeval_ap.choices import alpha_of
from mediaeval_ap.comparison.entries import Agreement, GroupMean, Interval, Pair, Part, Standing
from mediaeval_ap.comparison.power import POWER
from mediaeval_ap.comparison.sign_flips import MOST_ENUMERATED
from mediaeval_ap.errors import printable
from mediaeval_ap.render.document import Block, Captioned, Document, Grid, Heading, Marked, counted
from mediaeval_ap.render.formats import short, short_p

if TYPE_CHECKING:
    from mediaeval_ap.comparison.comparison import Comparison

LABEL = 'tab:comparison'
DAGGER = '†'
MOST_RUNS = 5  # a choice: their pairs are shown to people who did not ask for them


def describe(comparison: Comparison, *, pairs: bool = False) -> Document:
    """Return a comparison as a document, whose rows are runs, or pairs of runs if asked for."""
    return Document(
        lambda: _blocks(comparison, pairs),
        comparison.to_dict,
        lambda: grid_of(comparison, 'pairs' if pairs else 'leaderboard'),
        lambda: _for_papers(comparison, pairs),
    )


def caption(comparison: Comparison) -> str:
    """Return what a table needs: counts, definition, intervals, test, correction, seed."""
    return _caption(comparison, comparison.parameters['baseline'])


def _caption(comparison: Comparison, baseline: str | None) -> str:
    """Return the caption of pairs with a baseline, or of all pairs without one."""
    settings, counts = comparison.parameters, comparison.counts
    unit = of_units = 'queries'
    if settings['cluster'] != 'none':
        unit = 'clusters'
        of_units = f'{counted(counts["units"], "cluster", "clusters")} of queries, by video'
    family = 'all pairs of runs' if baseline is None else f'the pairs with {printable(baseline)}'
    words = {
        'unit': unit,
        'units': of_units,
        'family': family,
        'resamples': counted(settings['resamples'], 'resample', 'resamples'),
        'permutations': counted(settings['permutations'], 'permutation', 'permutations'),
        'flips': _flips(comparison, baseline),
    }
    definition = f' ({settings["definition"]})' if settings['definition'] else ''
    test = f' {TESTS[settings["correction"]].format(**words)}.' if comparison.pairs else ''
    kinds = INTERVALS if comparison.pairs else INTERVALS_OF_MEANS
    return (
        f'Means over {counted(len(comparison.queries), "query", "queries")}{definition}, with '
        f'{_level(comparison)} intervals ({kinds[settings["interval"]].format(**words)}).'
        f'{test} {_exploratory(comparison)}Seed {settings["seed"]}.'
    )


def _exploratory(comparison: Comparison) -> str:
    """Return the sentence that says which metric is what is claimed, if there are several."""
    *others, last = comparison.metrics
    return f'Claims are about {last}; other columns are exploratory. ' if others else ''


BCA, STUDENT = 'BCa bootstrap, {resamples} of {units}', "Student's t over {units}"
INTERVALS_OF_MEANS = {'plus2': BCA, 'bca': BCA, 't': STUDENT}
INTERVALS = {
    'plus2': f'means: {BCA}; differences: plus2 over {{unit}}',
    'bca': BCA,
    't': STUDENT,
}
SIGN_FLIPS, TUKEY = 'paired sign flips', 'randomised Tukey HSD'
CORRECTED_BY = {'holm': 'Holm', 'bh': 'Benjamini and Hochberg'}
PAIRED = f'p by {SIGN_FLIPS} of {{unit}} ({{flips}})'
TESTS = {
    **{
        correction: f'{PAIRED}, corrected by {name} over {{family}} for each metric'
        for correction, name in CORRECTED_BY.items()
    },
    'tukey': f'{PAIRED}; corrected p by {TUKEY} over all pairs of runs for each metric '
    '({permutations} of runs within {unit})',
}


def words_of_test(correction: str) -> str:
    """Return the name of the test, with its correction."""
    if correction == 'tukey':
        return TUKEY
    return f'{SIGN_FLIPS}, corrected by {CORRECTED_BY[correction]}'


def _flips(comparison: Comparison, baseline: str | None) -> str:
    """Return which sign flips gave the p of the pairs: all, random ones, or either."""
    pairs = [pair for pair in comparison.pairs if baseline in (None, pair.a, pair.b)]
    drawn = counted(comparison.parameters['permutations'], 'random flip', 'random flips')
    few = f'at most {MOST_ENUMERATED} differences'
    if not any(pair.exact for pair in pairs):
        return drawn
    if all(pair.exact for pair in pairs):
        return f'exact: {few} are not 0'
    return f'exact for {few} that are not 0, else {drawn}'


def _blocks(comparison: Comparison, pairs: bool) -> Iterator[Block]:
    yield _means(comparison)
    yield Heading('Rank', f'{_level(comparison)} interval, from the tests of all pairs')
    yield _by_run(comparison, {(one.metric, one.run): _rank(one) for one in comparison.leaderboard})
    if comparison.parameters['baseline'] is not None:
        yield from _differences(comparison)
    yield from _without_floor(comparison)
    if comparison.orders:
        yield Heading('Agreement of two orders of the runs', "Kendall's tau-b")
        yield _orders(comparison)
    for metric, grid in _means_by_group(comparison):
        yield Heading(f'{metric} by {comparison.parameters["by"]}', 'number of queries')
        yield grid
    notes = list(comparison.notes)
    has_baseline = comparison.parameters['baseline'] is not None
    if pairs or (not has_baseline and len(comparison.runs) <= MOST_RUNS):
        yield from _pairs(comparison)
    elif not has_baseline:
        n_pairs = len(comparison.pairs) // len(comparison.metrics)
        notes.append(f'{n_pairs} pairs of runs are not shown: ask for pairs, or for a baseline')
    if notes:
        yield ''.join(f'{note}\n' for note in notes)


def _for_papers(comparison: Comparison, pairs: bool) -> Iterator[Block]:
    yield _as_printed(comparison)
    if pairs:
        yield from _pairs_as_printed(comparison)
    if comparison.orders:
        text = "Agreement of two orders of the runs: Kendall's tau-b."
        yield Captioned(_orders(comparison), text, f'{LABEL}-orders')
    for number, (metric, grid) in enumerate(_means_by_group(comparison), 1):
        text = f'{metric} by {comparison.parameters["by"]}, with the number of queries.'
        yield Captioned(grid, text, f'{LABEL}-by-{number}')


def _as_printed(comparison: Comparison) -> Captioned:
    """Return the table of a paper: the best of each column is bold, and differences are marked."""
    means = _means(comparison)
    return replace(means, caption=f'{means.caption} Best in bold.')


def _means(comparison: Comparison) -> Captioned:
    """Return the mean of each run by each metric, with its interval."""
    cells = {}
    for one in comparison.leaderboard:
        mark = _mark(one, comparison)
        cells[one.metric, one.run] = Marked(one.map, one.rank == 1, mark, _bounds(one.interval))
    text = ' '.join([comparison.caption(), *_legend(comparison)])
    return Captioned(_by_run(comparison, cells), text, LABEL)


def _mark(one: Standing, comparison: Comparison) -> str:
    """Return what stands beside a mean: its letters, or a dagger where there is a baseline."""
    if len(comparison.runs) == 1:
        return ''
    if comparison.parameters['baseline'] is None:
        return one.group
    is_different = one.p_adjusted is not None and one.p_adjusted <= _alpha(comparison)
    return DAGGER if is_different else ''


def _legend(comparison: Comparison) -> Iterator[str]:
    baseline = comparison.parameters['baseline']
    if baseline is not None:
        below = f'corrected p ≤ {_alpha(comparison):g}'
        yield f'{DAGGER}: differs from {printable(baseline)}, {below}.'
    elif comparison.pairs:
        yield f'Runs that share a letter are not told apart (corrected p > {_alpha(comparison):g}).'


def _alpha(comparison: Comparison) -> float:
    return alpha_of(comparison.parameters['level'])


def _level(comparison: Comparison) -> str:
    return f'{100 * comparison.parameters["level"]:g} %'


def _titled(comparison: Comparison, metric: str) -> str:
    """Return the name of a metric, and that it is exploratory if it is not the last one."""
    return metric if metric == comparison.metrics[-1] else f'{metric} (exploratory)'


def _by_run(comparison: Comparison, cells: dict[tuple[str, str], Any]) -> Grid:
    """Return a row for each run, and a column for each metric."""
    rows = [
        [run, *(cells[metric, run] for metric in comparison.metrics)] for run in comparison.runs
    ]
    return Grid(['run', *(_titled(comparison, metric) for metric in comparison.metrics)], rows)


def _rank(one: Standing) -> Marked:
    low, high = one.rank_interval
    return Marked(one.rank, detail=f'[{low},{high}]')


def _differences(comparison: Comparison) -> Iterator[Block]:
    baseline = comparison.parameters['baseline']
    for metric in comparison.metrics:
        yield Heading(f'{_titled(comparison, metric)}: difference to {baseline}')
        standings = [one for one in comparison.leaderboard if one.metric == metric]
        yield Grid(
            ['run', *DIFFERENCE],
            [
                [one.run, *_cells_of(one, one.difference_interval)]
                for one in standings
                if one.run != baseline
            ],
        )


def _pairs(comparison: Comparison) -> Iterator[Block]:
    for metric in comparison.metrics:
        yield Heading(f'{_titled(comparison, metric)}: differences of pairs', FIRST_MINUS_SECOND)
        yield _pairs_by(comparison, metric)


def _pairs_as_printed(comparison: Comparison) -> Iterator[Block]:
    for number, metric in enumerate(comparison.metrics, 1):
        titled = _titled(comparison, metric)
        text = f'{titled}: differences of pairs, {FIRST_MINUS_SECOND}. {_caption(comparison, None)}'
        text += f' {FOR_POWER.capitalize()}: of this pair alone, not corrected.'
        if comparison.parameters['cluster'] != 'none':
            text += ' Wins, ties, losses and dz are of queries.'
        yield Captioned(_pairs_by(comparison, metric), text, f'{LABEL}-pairs-{number}')


def _pairs_by(comparison: Comparison, metric: str) -> Grid:
    pairs = [pair for pair in comparison.pairs if pair.metric == metric]
    rows = [[pair.a, pair.b, *_cells_of(pair, pair.interval), pair.n_for_power] for pair in pairs]
    return Grid(['first', 'second', *DIFFERENCE, FOR_POWER], rows)


FIRST_MINUS_SECOND = 'first run minus second'
DIFFERENCE = ('difference', 'p', 'corrected p', 'win/tie/loss', 'dz')
FOR_POWER = f'queries for {POWER:.0%}'.replace('%', ' %')


def _cells_of(one: Standing | Pair, interval: Interval | None) -> list[Any]:
    """Return the cells that say how two runs differ."""
    difference = Marked(one.difference, detail='' if interval is None else _bounds(interval))
    counts = '/'.join(str(each) for each in (one.wins, one.ties, one.losses))
    return [difference, _p(one.p), _p(one.p_adjusted), Marked(counts), one.dz]


def _bounds(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return ''
    return f'[{short(interval.low)},{short(interval.high)}]'


def _p(p: float | None) -> Marked:
    return Marked('' if p is None else short_p(p))


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


def grid_of(comparison: Comparison, table: Part) -> Grid:
    """Return one of the tables of a comparison with every digit."""
    entries: Sequence[Any] = getattr(comparison, 'groups_by' if table == 'by' else table)
    columns = _columns_of(KINDS[table])
    return Grid(columns, [[row[name] for name in columns] for row in map(_flat, entries)])


KINDS = {'leaderboard': Standing, 'pairs': Pair, 'orders': Agreement, 'by': GroupMean}


def _columns_of(kind: Any) -> list[str]:
    """Return the columns of a table of such entries."""
    columns: list[str] = []
    for each in fields(kind):
        if each.name in BOUNDS:
            columns += BOUNDS[each.name]
        else:
            columns.append(each.name)
    return columns


BOUNDS = {
    'interval': ['interval_low', 'interval_high', 'interval_reason'],
    'rank_interval': ['rank_low', 'rank_high'],
    'difference_interval': [
        'difference_interval_low',
        'difference_interval_high',
        'difference_interval_reason',
    ],
}


def _flat(entry: Any) -> dict[str, Any]:
    """Return an entry as values by column, each bound of an interval by itself."""
    row: dict[str, Any] = {}
    for name, value in asdict(entry).items():
        if name not in BOUNDS:
            row[name] = value
            continue
        bounds = value.values() if isinstance(value, dict) else value
        bounds = [None] * len(BOUNDS[name]) if bounds is None else bounds
        row |= dict(zip(BOUNDS[name], bounds, strict=True))
    return row
