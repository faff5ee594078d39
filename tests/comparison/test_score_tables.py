"""Score tables, verdicts, numbers of queries and groups, against means by hand and SciPy."""

import json
import re
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import oracle_comparison as oracle
import pandas
import polars
import pyarrow
import pytest
from compared_runs import several
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import compare
from mediaeval_ap.comparison.score_files import TableOptions
from mediaeval_ap.comparison.score_tables import read_scores
from mediaeval_ap.errors import DataWarning, Error, FormatError, ParameterError
from mediaeval_ap.render.formats import render
from mediaeval_ap.tables.first_look import Kind, kind_of

# Fixed: any values from 0 to 1 would do; a third of the differences are 0.
VALUES = np.random.default_rng(3).random((3, 40))
VALUES[:, ::3] = VALUES[0, ::3]
ITEMS = [f'q{place:03}' for place in range(40)]
MEANS, SUMS = VALUES.round(2).mean(axis=1), VALUES.round(2).sum(axis=1)


def long_frame(values=VALUES, systems='abc', items=ITEMS):
    rows = [
        (item, system, value)
        for system, row in zip(systems, values, strict=True)
        for item, value in zip(items, row, strict=True)
    ]
    return pandas.DataFrame(rows, columns=['item', 'system', 'value'])


def wide_frame(values=VALUES):
    return pandas.DataFrame({'item': ITEMS, **dict(zip('abc', values, strict=True))})


def numbers(comparison):
    """What is said of the runs, but the names of the metric and of the inputs."""
    value = comparison.to_dict()
    for row in [*value['leaderboard'], *value['pairs']]:
        for name in [name for name in row if name in ('metric', 'reason') or 'floor' in name]:
            row.pop(name)
    return json.dumps([value['runs'], value['leaderboard'], value['pairs']])


def written(kind, folder, frame):
    path = folder / f'scores.{kind}'
    match kind:
        case 'parquet':
            frame.to_parquet(path)
        case 'jsonl':
            path.write_text('\n'.join(map(json.dumps, frame.to_dict('records'))))
        case _:
            frame.to_csv(path, index=False, sep='\t' if kind == 'tsv' else ',')
    return path


FRAMES = {
    'pandas': long_frame,
    'wide': wide_frame,
    'shuffled': lambda: long_frame().sample(frac=1, random_state=1),  # fixed: any order would do
    'polars': lambda: polars.from_pandas(long_frame()),
    'pyarrow': lambda: pyarrow.Table.from_pandas(long_frame(), preserve_index=False),
    'several': lambda: [long_frame(VALUES[:2], 'ab'), long_frame(VALUES[2:], 'c')],
    'series': lambda: {
        name: pandas.Series(row, pandas.Index(ITEMS, name='item'), name='value')
        for name, row in zip('abc', VALUES, strict=True)
    },
    'named': lambda: {
        name: pandas.DataFrame({'item': ITEMS, 'value': row})
        for name, row in zip('abc', VALUES, strict=True)
    },
}


@pytest.mark.parametrize('shape', [*FRAMES, 'csv', 'csv.gz', 'tsv', 'parquet', 'jsonl'])
def test_a_table_of_ap_gives_what_the_results_give(shape, tmp_path):
    """Bit for bit, whatever holds the table."""
    table = FRAMES[shape]() if shape in FRAMES else written(shape, tmp_path, long_frame())
    expected = numbers(compare(several(*VALUES, queries=ITEMS), baseline='a'))
    assert numbers(compare(table, baseline='a')) == expected


def test_columns_of_other_names():
    columns = {'item': 'task', 'system': 'model', 'value': 'F1'}
    frame = long_frame().rename(columns=columns)
    found = compare(frame, columns=columns)
    assert found.metrics == ['F1']
    assert numbers(found) == numbers(compare(long_frame()))
    with pytest.raises(FormatError, match=r'no column item in .task,.*name other columns by --col'):
        compare(frame)


def test_true_and_false_are_one_and_zero():
    """As benchmarks of exact answers write them."""
    expected = numbers(compare(long_frame((VALUES > 0.5).astype(float))))
    for frame in long_frame(VALUES > 0.5), wide_frame(VALUES > 0.5):
        assert numbers(compare(frame)) == expected


def test_clusters_are_flipped_together():
    """Two clusters: of four patterns of signs two are as extreme; single items have 2**20."""
    frame = long_frame(np.array([[1.0] * 20, [0.5] * 20]), 'ab', ITEMS[:20])
    frame['cluster'] = ['x' if item < 'q010' else 'y' for item in frame['item']]
    with pytest.warns(DataWarning, match='^2 clusters count as 2.0 of equal size, '):
        together = compare(frame)
    alone = compare(frame, cluster='none')
    assert (together.pairs[0].p, together.counts['units']) == (2 / 4, 2)
    assert (alone.pairs[0].p, alone.counts['units']) == (2 / 2**20, 20)
    assert (together.pairs[0].n_nonzero, together.pairs[0].wins) == (2, 20)
    without = 'Means over 20 items in 2 clusters, without intervals, which need 5 clusters; values'
    assert together.caption().startswith(without)
    assert '(first system minus second; win/tie/loss and dz by item)' in repr(together)
    frame.loc[0, 'cluster'] = 'z'
    with pytest.raises(FormatError, match=r"row 21, cluster: found 'x' for 'q000', expected 'z'"):
        compare(frame)


def test_missing_cells():
    frame = long_frame()
    frame.loc[[0, 45], 'value'] = None  # q000 of a, q005 of b
    message = r"2 of 40 items .* as 'q000' of 'a', .*--missing zero or skip"
    with pytest.raises(ParameterError, match=message):
        compare(frame)
    found = compare(frame, missing='skip')
    kept = [place for place in range(40) if place not in (0, 5)]
    expected = compare(long_frame(VALUES[:, kept], items=[ITEMS[each] for each in kept]))
    assert numbers(found) == numbers(expected)
    assert found.notes == ['2 of 40 items without a value of some system: left out']
    wide = wide_frame()
    wide.loc[0, 'a'] = None
    assert len(compare(wide, missing='skip').queries) == 39


def test_each_word_for_a_missing_value():
    words = ['NA', 'NaN', 'nan', 'null', 'None', '-', '#N/A', ' n/a ']
    wide = wide_frame().astype(object)
    wide.loc[: len(words) - 1, 'a'] = words
    assert len(compare(wide, missing='skip').queries) == len(ITEMS) - len(words)


@pytest.mark.parametrize('kind', ['frame', 'csv', 'tsv', 'jsonl'])
def test_words_for_missing_values_are_missing_cells(kind, tmp_path):
    """Items and systems of these names keep them."""
    wide = wide_frame().rename(columns={'a': 'NA', 'b': '-'}).astype(object)
    wide.loc[0, 'item'] = 'NA'
    wide.loc[7, 'NA'] = None
    expected = numbers(compare(wide.astype({'NA': float, '-': float}), missing='skip'))
    for frame in wide, wide.melt('item', var_name='system'):
        filled = frame.where(frame.notna(), '-')
        table = filled if kind == 'frame' else written(kind, tmp_path, filled)
        with pytest.raises(ParameterError, match=r"1 of 40 items .* as 'q007' of 'NA'"):
            compare(table)
        assert numbers(compare(table, missing='skip')) == expected


@pytest.mark.parametrize('line', ['{"item": 7, "value": NaN}', '{"item": 7, "value": null}'])
def test_nan_in_json_is_a_missing_value(line, tmp_path):
    path = tmp_path / 'scores.jsonl'
    path.write_text(f'{{"item": "nan", "value": 0.5}}\n{line}\n')
    assert compare(path, missing='skip').queries == ['nan']


def test_missing_cells_count_as_zero():
    zeros = VALUES.copy()
    zeros[0, [0, 7]] = zeros[2, 5] = 0  # q000 and q007 of a, q005 of c
    for frame in long_frame(zeros), wide_frame(zeros):
        found = compare(frame.replace(0, float('nan')), missing='zero')
        assert numbers(found) == numbers(compare(frame))
        assert found.notes == ['Items without a value count as 0: 2 of a, 1 of c']


@pytest.mark.parametrize(
    ('values', 'bounds', 'message'),
    [
        ([[-3, -2, None], [-1, -1, -2]], None, '0 is not between -inf and -1, where values are'),
        ([[3, 2, None], [1, 1, 2]], (1, 5), '0 is not between 1 and 5, where values are'),
        ([[3, None, None], [None, 1, 2]], None, '3 of 3 items without a value of some system'),
        ([[3, 2, 1], [None, None, None]], None, '3 of 3 items without a value of some system'),
    ],
)
def test_missing_cells_are_never_better_than_values(values, bounds, message):
    """Nor zeros of systems without a common item, of which one has other ids, or no value."""
    frame = pandas.DataFrame({'item': list('xyz'), **dict(zip('ab', values, strict=True))})
    with pytest.raises(ParameterError, match=message):
        compare(frame.astype({'a': float, 'b': float}), missing='zero', range=bounds)


@pytest.mark.parametrize('declared', [None, (0, 100), (-200, 100)])
def test_intervals_know_the_range_where_few_differences_are_large(declared):
    """m is the width of the range; if none is declared, of the values of the two systems."""
    values = 100 * VALUES
    values[:, 4:] = values[0, 4:]  # at most four differences are left
    found = compare(long_frame(values), range=declared)
    for pair in found.pairs:
        a, b = (values['abc'.index(run)] for run in (pair.a, pair.b))
        width = declared[1] - declared[0] if declared else max(*a, *b) - min(*a, *b)
        bounds = oracle.difference_interval(a - b, [1] * 40, 0.95, width, pair.p)
        # Values are rounded to steps below 1e-10 once.
        assert [pair.interval.low, pair.interval.high] == pytest.approx(bounds, abs=1e-10)


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')  # few clusters
@pytest.mark.parametrize(('kind', 'n'), [('items', 40), ('clusters', 8)])
def test_numbers_of_units_for_a_difference(kind, n):
    """The least number that has a power of 80 %; of equal clusters, of their means."""
    frame = long_frame()
    if kind == 'clusters':
        frame['cluster'] = [f'{int(item[1:]) % n}' for item in frame['item']]
    found = compare(frame, power=0.1, baseline='a', fail_if_worse=0.03)
    assert f'value: {kind} that show a difference of 0.1 (with a power of 80 %' in repr(found)
    for one in found.power:
        a, b = (VALUES['abc'.index(run)].reshape(-1, n).mean(axis=0) for run in (one.a, one.b))
        assert one.sd == pytest.approx(np.std(a - b, ddof=1), rel=1e-12)  # rounded sums
        m = np.sqrt(np.square((a - b)[a != b]).mean())
        numbers = [(one.n_queries, 0), (one.n_gate, -0.03)]
        for number, bound in numbers[: 1 + ('a' in (one.a, one.b))]:
            assert oracle.decides(number, -0.1, bound, one.sd, m, 0.95)
            assert not oracle.decides(number - 1, -0.1, bound, one.sd, m, 0.95)
    alike = compare(frame.assign(value=0.5), power=0.1).power[0]
    assert (alike.n_queries, alike.reason) == (None, f'no {kind[:-1]} differs')
    single = compare(frame.assign(cluster='one'), power=0.1).power[0]
    assert (single.n_queries, single.reason) == (None, 'one cluster has no standard deviation')
    powers = compare(frame, power=0.03, baseline='a', fail_if_worse=0.03).power
    at_limit = next(one for one in powers if 'a' in (one.a, one.b))
    assert at_limit.gate_reason == f'infinitely many {kind}'


def gate(shift, **settings):
    """The comparison of a system that differs from the other by about `shift` on 2,000 items."""
    noise = np.linspace(-0.01, 0.01, 2000)
    rows = np.array([np.full(2000, 0.5), 0.5 + shift + noise])
    items = [f'{place:04}' for place in range(2000)]
    frame = long_frame(rows, ('old', 'new'), items)
    return compare(frame, baseline='old', **settings)


@pytest.mark.parametrize(
    ('shift', 'settings', 'outcome', 'words'),
    [
        # The interval is the shift with about 0.0003 on either side.
        (-0.02, {'fail_if_worse': 0.01}, 'failed', ' (worse: new)'),
        (-0.0098, {'fail_if_worse': 0.01}, 'undecided', ' (new): 2,000 items do not tell'),
        (-0.009, {'fail_if_worse': 0.01}, 'passed', ': not worse by 0.01 or more'),
        (-0.02, {'fail_if_worse': 0}, 'failed', ' (worse: new)'),
        (0, {'fail_if_worse': 0}, 'undecided', ' (new): 2,000 items do not tell'),
        (-0.009, {'require_not_worse': 0.01}, 'passed', ': not worse by 0.01 or more'),
        (-0.0098, {'require_not_worse': 0.01}, 'failed', ' (undecided: new): 2,000 items'),
        (-0.02, {'require_not_worse': 0.01}, 'failed', ' (worse: new)'),
        (0.002, {'require_better': True}, 'passed', ': better'),
        (0.0002, {'require_better': True}, 'failed', ' (not better: new)'),
        (-0.02, {'require_better': True, 'fail_if_worse': 0.01}, 'failed', ' (worse: new)'),
    ],
)
def test_outcomes_of_the_gate(shift, settings, outcome, words):
    found = gate(shift, **settings)
    assert found.gate.outcome == outcome
    assert found.gate.words.startswith(f'Gate {outcome}{words}')
    assert found.to_dict()['gate'] == {'outcome': outcome, 'words': found.gate.words}
    assert f'\n{found.gate.words}\n' in repr(found)
    assert f'\n{found.gate.words}\n' in found.to_markdown()


def test_a_gate_says_how_many_items_would_decide():
    """As many as decide a difference of this size, by its definition."""
    found = gate(-0.0098, fail_if_worse=0.01)
    (one,) = found.verdicts
    differences = -0.0098 + np.linspace(-0.01, 0.01, 2000)
    sd, m = differences.std(ddof=1), np.sqrt(np.square(differences).mean())
    for n, is_enough in (one.n_needed, True), (one.n_needed - 1, False):
        assert oracle.decides(n, one.difference, -0.01, sd, m, 0.95) == is_enough
    takes = f'; for a power of 80 %, -0.010 takes {one.n_needed:,} items'
    assert found.gate.words.endswith(takes)
    assert f'undecided (needs {one.n_needed:,})' in repr(found)


@pytest.mark.parametrize(
    ('n', 'settings', 'needed'),
    [
        (4, {'fail_if_worse': 0.01}, 5),
        (1, {'fail_if_worse': 0.5, 'level': 0.99}, 5),
        (2, {'require_better': True, 'level': 0.8}, 5),
    ],
)
def test_no_interval_is_no_verdict(n, settings, needed):
    """A run would pass if no interval counted as none below the limit."""
    message = f'baseline: found {n} items?, expected {needed} items or more for a verdict; new is'
    with pytest.raises(ParameterError, match=message):
        compare(few(n, 1.0), baseline='old', **settings)


def few(n, new):
    return long_frame(np.array([[new] * n, [0.5] * n]), ('new', 'old'), ITEMS[:n])


def test_a_gate_passes_where_no_item_differs_and_never_fails_by_few():
    """Of fewer than six items, no p is 0.05; equal systems are not worse."""
    for n, new, outcome in (5, 0.1, 'undecided'), (6, 0.1, 'failed'), (5, 0.5, 'passed'):
        found = compare(few(n, new), baseline='old', fail_if_worse=0.01)
        assert found.gate.outcome == outcome


def test_an_end_of_zero_is_open_where_p_excludes_it():
    """Where p is .03125, but the formula holds 0: JSON has a flag, and tables a parenthesis."""
    new = [0.2, 0.2, 0.15, 0.9, 0.12, 0.14]
    found = compare(long_frame(np.array([new, [0.1] * 6]), ('new', 'old'), ITEMS[:6]))
    interval = found.to_dict()['pairs'][0]['interval']
    assert (interval['low'], interval['excludes_zero']) == (0, True)
    headline, *rest = repr(found).splitlines()
    assert headline.startswith('new is better than old by 0.185 (0.000, 0.')
    assert any('  0.185 (0.000,0.' in line for line in rest)


def test_the_gate_counts_items_without_a_value():
    frame = long_frame()
    frame.loc[[0, 45], 'value'] = None  # q000 of a, q005 of b
    settings = {'baseline': 'a', 'fail_if_worse': 0.01}
    skipped = compare(frame, missing='skip', **settings).gate.words
    assert skipped.endswith('; 2 of 40 items without a value of some system: left out')
    as_zero = compare(frame, missing='zero', **settings).gate.words
    assert as_zero.endswith('; items without a value count as 0: 1 of a, 1 of b')


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')  # two clusters
@pytest.mark.parametrize('of', ['column', 'cluster', 'frame', 'file', 'results'])
def test_means_of_groups(of, tmp_path):
    groups = np.array(['new' if place % 4 else 'known' for place in range(40)])
    table, frame = pandas.DataFrame({'item': ITEMS, 'group': groups}), long_frame()
    results, by = {
        'column': (frame.assign(kind=[*groups] * 3), 'kind'),
        'cluster': (frame.assign(cluster=[*groups] * 3), 'cluster'),
        'frame': (frame, table),
        'file': (frame, written('csv', tmp_path, table)),
        'results': (several(*VALUES, queries=ITEMS), table),
    }[of]
    found = compare(results, by=by).groups_by
    assert list(dict.fromkeys(each.group for each in found)) == ['known', 'new']
    for each in found:
        mean = np.mean(VALUES['abc'.index(each.run)][groups == each.group])
        assert each.map == pytest.approx(mean, rel=1e-12)  # rounded at each sum by numpy
    assert len(found) == 6
    if of == 'file':
        with pytest.raises(
            FormatError, match=r"scores\.csv, group: found no row of 'other', expec"
        ):
            compare(long_frame(items=[*ITEMS[1:], 'other']), by=by)


IDS = ['2026-01-02', '2026-01-02T03:04:05', '007', 7, 10**25, 'true', 'é', 'NaN', '1e5', '[]']


@pytest.mark.parametrize('bom', ['', '\ufeff'])
def test_ids_in_json_are_as_they_are_written(bom, tmp_path, monkeypatch):
    """Those that are dates, numbers, words of JSON; with and without what all lines have not."""
    monkeypatch.chdir(tmp_path)
    rows = [{'item': each, 'a': n / 10, 'b': n % 2 == 0} for n, each in enumerate(IDS)]
    rows[3] = {'b': 0, 'item': 7, 'a': 0.3}
    Path('scores.jsonl').write_text(bom + '\r\n\n'.join(map(json.dumps, rows)))
    runs = read_scores([('', '', 'scores.jsonl')])
    assert runs.queries == sorted(map(str, IDS))
    by_item = dict(zip(runs.queries, runs.values[0].T.tolist(), strict=True))
    assert by_item == {str(row['item']): [row['a'], float(row['b'])] for row in rows}


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'range': (0, 0.5)}, 'expected a number from 0 to 0.5, the range'),
        ({'columns': {'item': 'value'}}, 'columns: found .*, expected different names'),
        ({'columns': 'item=task'}, "columns: found 'item=task', expected a dictionary"),
        ({'missing': 'none'}, "missing: found 'none', expected one of error, zero"),
        ({'power': -1}, 'power: found -1, expected a number above 0'),
        ({'fail_if_worse': -0.1, 'baseline': 'a'}, 'fail_if_worse: .* expected a number of 0 or m'),
        ({'fail_if_worse': 0.1}, 'fail_if_worse compares with a baseline'),
        ({'fail_if_worse': 1.0, 'baseline': 'a'}, 'found 1, expected less than 1, the largest'),
        ({'require_not_worse': 0, 'fail_if_worse': 0, 'baseline': 'a'}, 'found both, expected one'),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(Error, match=message):
        compare(long_frame(), **settings)


def test_wrong_frames_are_refused():
    for frame, message in (
        (pandas.concat([long_frame()] * 2), "row 121, item: found 2 rows for 'q000' of 'a', exp"),
        ([long_frame()] * 2, "row 1, item: found 'q000' of 'a' again, .* one system by NAME=FILE"),
        (
            long_frame().pivot_table(index='item', columns='system', values=['value']),
            r'its columns have levels: \.droplevel\(0, axis=1\)$',
        ),
        ({'x': long_frame()}, "the name 'x' for <x>, a table of 3 systems"),
        (long_frame().assign(item=''), 'item: found nothing, expected text'),
        (long_frame().assign(value='x'), 'value: found .*, expected numbers'),
        (wide_frame().rename(columns={'a': 'system'}), 'system: found numbers alone, expec'),
    ):
        with pytest.raises(Error, match=message):
            compare(frame)


JSON = {
    '{"item": 1}\n\n{"item"\n': 'scores.jsonl, line 3: found no JSON: .*, expected an object of J',
    '{"item": 1}\n[1]\n': r'line 2: found \[1\], expected an object',
    '{"item": 1, "a": 1}\n\n{"item": 1.5, "a": 1}': (
        r'scores.jsonl, line 3, item: found 1.5 \(float\), expected text or an integer'
    ),
    '{"item": 1, "value": "0.5"}': r"line 1, value: found '0.5' \(str\), expected a finite number",
    f'{{"item": 1, "value": {2**53 + 1}}}': 'line 1, value: found 9007199254740993',
    '{"item": 7, "value": 1}\n\n\n{"item": "7", "value": 1}': (
        "line 4, item: found 2 rows for '7' of 'scores', expected one"
    ),
    '{"item": "a\\ud800", "value": 1}': "line 1, item: found 'a.ud800' .str., expected text",
    '{"item": "a", "a": 1, "b": 0, "meta": {}}': r'meta: found \{\} .*, expected a .*; .*--systems',
    '{"item": null, "value": 1}': 'line 1, item: found nothing',
    '{"item": 1, "value": Infinity}': r'line 1, value: found inf \(float\), expected a finite',
}


CSV = {
    'Item,SYSTEM,value\nq,a,0.5\n': "line 1: found column 'Item', expected 'item'; names of",
    'item,system,score\nq,a,0.5\nq,b,0.5\n': "system: found 'a', .* other columns by --columns",
    **{
        f'item,value\n1,0.5\n2,{word}\n': f"line 3, value: found '{word}', expected a finite dec"
        for word in ('--', 'N.A.', 'inf', 'missing', 'nana', '- 1')
    },
}


@pytest.mark.parametrize(('text', 'message'), [*JSON.items(), *CSV.items()])
def test_wrong_lines_are_refused(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path('scores.jsonl').write_text(text)
    with pytest.raises(Error, match=message):
        compare('scores.jsonl')


def test_settings_of_tables_are_refused_for_results():
    """They would be ignored silently."""
    columns = {'item': 'id'}
    for settings in {'missing': 'skip'}, {'columns': columns}, {'range': (0, 1)}, {'systems': 'a'}:
        with pytest.raises(ParameterError, match='found results, expected score tables'):
            compare(several(*VALUES), **settings)


def test_each_item_needs_a_cluster_if_there_are_any():
    more = long_frame(systems='def').assign(cluster='one')
    with pytest.warns(DataWarning, match='1 cluster counts'):
        assert compare([long_frame(), more]).counts['units'] == 1
    without = more[more['item'] == 'q007'].drop(columns='cluster')
    with pytest.raises(FormatError, match="cluster: found no row of 'q007', expected one with the"):
        compare([long_frame(), more[more['item'] != 'q007'], without])


@pytest.mark.parametrize(
    'name',
    [
        *('All', 'mean', 'AVG.', 'average', '(Total)', 'sum', 'Macro', 'weighted avg', 'overall'),
        *('micro', 'Means (Task)', 'average [40]', 'macro_avg', 'SUM-OF-SCORES', 'all queries'),
    ],
)
def test_totals_among_the_items_are_refused(name, tmp_path):
    """Of one system or of all; with another value they are items, of which a warning tells."""
    wide = wide_frame()
    wide.loc[40] = [name, *VALUES.mean(axis=1)]
    message = f"line 42, item: found '{re.escape(name)}', whose values are the means of the others"
    for columns in 'abc', 'b':
        with pytest.raises(FormatError, match=message):
            compare(written('csv', tmp_path, wide[['item', *columns]]))
    wide.loc[40, 'c'] += 0.0101
    with pytest.warns(DataWarning, match=f'named like totals: .{re.escape(name)}.$'):
        found = compare(wide)
    assert (len(found.queries), [each.kind for each in found.warnings]) == (41, ['total-names'])
    wide.loc[40, ['a', 'b', 'c']] = None  # a total that nobody wrote
    assert len(compare(wide, missing='skip').queries) == 40


@pytest.mark.parametrize(
    ('total', 'kind'),
    [
        (MEANS.round(1), 'means of the others,'),
        (MEANS + 0.0049, 'means of the others,'),  # as of items with more digits
        ((100 * MEANS).round(1), 'means of the others in percent'),
        (SUMS.round(1), 'sums of the others,'),
        ((100 * SUMS).round(), 'sums of the others in percent'),
    ],
)
def test_rounded_totals_and_totals_in_percent_are_refused(total, kind):
    """By half a unit of the last digit of the total, and of the items."""
    wide = wide_frame(VALUES.round(2))
    wide.loc[40] = ['mean', *total]
    with pytest.raises(FormatError, match=f'{kind}.* leave it out, or keep it under another'):
        compare(wide, range=(0, 1e4))


def test_totals_of_right_and_wrong_are_exact():
    """Of answers that are right or wrong, 1 is not a mean of 0.97 in one digit."""
    right = np.array([[1.0] * 39 + [0], [0.0] + [1] * 39, [1.0] * 38 + [0, 0]])
    wide = wide_frame(right)
    wide.loc[40] = ['sum', 1, 1, 1]
    with pytest.warns(DataWarning, match="named like totals: 'sum'"):
        assert len(compare(wide).queries) == 41
    wide.loc[40] = ['sum', 39, 39, 38]
    with pytest.raises(FormatError, match="'sum', whose values are the sums of the others"):
        compare(wide)


@pytest.mark.parametrize(
    'name',
    [
        *('Summer', 'meaning', 'Overall_Build', 'averages_jane', 'alliance', 'Sum of All Fears'),
        *('50 ', '(40)'),
    ],
)
def test_other_names_are_items_with_any_value(name):
    """Even with the means of the others; no warning tells of them."""
    wide = wide_frame()
    wide.loc[40] = [name, *VALUES.mean(axis=1)]
    assert len(compare(wide).queries) == 41


def test_summaries_of_pandas_are_no_items():
    """Without `mean`, too; one such name alone may be an item, and is warned of."""
    wide = wide_frame()
    summary = wide.set_index('item').describe().rename_axis('item').reset_index()
    for rows in ['min', 'std'], ['75%', 'count'], ['25%', '50%', 'max']:
        table = pandas.concat([wide, summary[summary['item'].isin(rows)]])
        shown = ', '.join(map(repr, rows))
        with pytest.raises(FormatError, match=f'item: found {shown}, as describe.. of pandas has'):
            compare(table)
    with pytest.raises(FormatError, match='and 5 more, as describe'):
        compare(pandas.concat([wide, summary]))
    for row in 'std', 'max', '50%':
        table = pandas.concat([wide, summary[summary['item'] == row]])
        with pytest.warns(DataWarning, match=f"counted as items, but named like totals: '{row}'$"):
            assert len(compare(table).queries) == 41


def test_systems_are_chosen(tmp_path):
    """In a wide table other columns are passed over, of text, too; in a long one other systems."""
    expected = numbers(compare(long_frame(VALUES[:2], 'ab')))
    other = long_frame(1000 * VALUES[2:], 'c')
    wide = wide_frame().assign(c=other['value'], language='fr', a_tokens=range(40))
    path = written('jsonl', tmp_path, wide.assign(c='x'))
    tables = wide, pandas.concat([long_frame(VALUES[:2], 'ab'), other])
    for table in *tables, [wide[['item', 'b', 'c']], wide[['a', 'item', 'language']]]:
        assert numbers(compare(table, systems=['b', 'a'])) == expected
    assert sorted(compare(path, systems=['b', 'a']).runs) == ['a', 'b']
    for table in tables:
        with pytest.raises(ParameterError, match="systems: found 'd', which no table has"):
            compare(table, systems=['a', 'd'])
    with pytest.raises(ParameterError, match="systems: found 'a', expected a list"):
        compare(wide, systems='a')


def test_one_system_of_each_of_several_tables(tmp_path):
    named = compare({'x': wide_frame(), 'y': wide_frame()}, systems=['b'])
    assert (named.runs, named.pairs[0].n_nonzero) == (['x', 'y'], 0)
    texts = wide_frame().assign(topic='what')
    for table in written('csv', tmp_path, texts), texts:
        with pytest.raises(FormatError, match=r'topic: found .*, expected .*numbers?; .*--systems'):
            compare(table)
        assert sorted(compare(table, systems=['a', 'b']).runs) == ['a', 'b']


def test_columns_of_other_numbers_are_refused(tmp_path):
    """Beside columns from 0 to 1; not where the range holds them, or no column is from 0 to 1."""
    wide = wide_frame().assign(seconds=np.arange(40) / 4)  # the sixth is the first above 1
    path = written('tsv', tmp_path, wide)
    message = r"line 7, seconds: found 1.25 of 'seconds', expected a number from 0 to 1, as 'a' has"
    with pytest.raises(FormatError, match=f'{message}: .*--systems .*--range'):
        compare(path)
    assert len(compare(path, range=(0, 10)).runs) == 4
    others = wide.assign(**{name: 2 * wide[name] for name in 'abc'})
    assert len(compare(others).runs) == 4
    assert compare(wide.drop(columns='seconds')).parameters['range'] == [0, 1]


def scores_in(folder, frame):
    folder.mkdir()
    return written('csv', folder, frame)


def test_systems_of_one_name_are_told_apart_by_files(tmp_path):
    """If their tables have no other system; a third system keeps its name."""
    given = zip('xyz', VALUES, ('m', 'm', 'bm25'), strict=True)
    paths = [scores_in(tmp_path / name, long_frame([row], [of])) for name, row, of in given]
    expected = {'x/scores': VALUES[0], 'y/scores': VALUES[1], 'bm25': VALUES[2]}
    named = {name: long_frame([row], ['m']) for name, row in expected.items()}
    assert numbers(compare(paths)) == numbers(compare(named))
    assert numbers(compare({'': paths[0], 'y/scores': paths[1], 'bm25': paths[2]})) == numbers(
        compare({'m': named['x/scores'], 'y/scores': named['y/scores'], 'bm25': named['bm25']})
    )
    halves = [long_frame([VALUES[0][at::2]], 'm', ITEMS[at::2]) for at in (0, 1)]
    parts = [scores_in(tmp_path / f'part{n}', half) for n, half in enumerate(halves)]
    assert compare(parts).runs == ['m']
    tables = [scores_in(tmp_path / f'all{n}', long_frame()) for n in range(2)]
    with pytest.raises(FormatError, match=r"all1.*line 2, item: found 'q000' of 'a' again.*NAME=F"):
        compare(tables)


def repeated(values, **others):
    """Two rows for each item, of which a column tells the fold."""
    frame = long_frame(values, 'ab', ITEMS[:6])
    both = [frame.assign(fold=fold, value=frame['value'] * fold) for fold in (1, 0.5)]
    return pandas.concat([each.assign(**others) for each in both], ignore_index=True)


@pytest.mark.parametrize('shape', ['frame', 'polars', 'csv', 'parquet', 'jsonl'])
def test_rows_of_an_item_name_the_column_that_differs(shape, tmp_path):
    frame = repeated(VALUES[:2, :6], year=2016)
    frames = {'frame': frame, 'polars': polars.from_pandas(frame)}
    table = frames[shape] if shape in frames else written(shape, tmp_path, frame)
    message = (
        "item: found 2 rows for 'q000' of 'a', as fold differs, expected one: average.*cluster=i"
    )
    with pytest.raises(FormatError, match=message):
        compare(table)
    more = pandas.concat([frame, frame.assign(prompt='x', fold=3)])
    with pytest.raises(FormatError, match="found 4 rows for 'q000' of 'a', as fold differs, exp"):
        compare(more)
    with pytest.raises(FormatError, match=r'2 rows .*, as fold, year differ, expected'):
        compare(frame.assign(year=range(24)))
    with pytest.raises(FormatError, match=r"2 rows for 'q000' of 'a' .seed '1'., as fold differs"):
        compare(frame.assign(seed='1'))


def test_rows_with_ids_are_clusters_of_items():
    frame = repeated(VALUES[:2, :6]).assign(id=[*range(6), *range(6), *range(6, 12), *range(6, 12)])
    runs = read_scores([('', '', frame)], TableOptions(columns={'item': 'id', 'cluster': 'item'}))
    assert (runs.names, len(runs.queries), sorted({*runs.clusters})) == (['a', 'b'], 12, ITEMS[:6])


# Fixed: any values would do. Three seeds of a, two of b, and one of c.
N_SEEDS = {'a': 3, 'b': 2, 'c': 1}
SEEDS = {name: np.random.default_rng(n).random((n, 40)) for name, n in N_SEEDS.items()}


def by_seed(seeds=SEEDS):
    return {
        (name, number): row for name, rows in seeds.items() for number, row in enumerate(rows, 1)
    }


def frames_of_seeds(seeds=SEEDS):
    return [
        long_frame([row], [name]).assign(seed=str(number))
        for (name, number), row in by_seed(seeds).items()
    ]


def results_of_seeds():
    return {key: several(row, queries=ITEMS)['a'] for key, row in by_seed().items()}


@pytest.mark.parametrize('shape', ['wide', 'files', 'keys', 'csv', 'jsonl', 'parquet', 'results'])
def test_seeds_in_each_shape(shape, tmp_path):
    long = pandas.concat(frames_of_seeds()).sample(frac=1, random_state=1)  # any order would do
    wide = long.pivot(index=['item', 'seed'], columns='system', values='value')
    tables = {
        'wide': wide.reset_index().rename_axis(columns=None),
        'files': frames_of_seeds(),
        'results': results_of_seeds(),
        'keys': {
            key: pandas.DataFrame({'item': ITEMS, 'value': row}) for key, row in by_seed().items()
        },
    }
    table = tables[shape] if shape in tables else written(shape, tmp_path, long)
    assert numbers(compare(table)) == numbers(compare(long))


def test_seeds_and_items_are_both_drawn():
    """p, interval, mean and counts, from the formulas; with one seed each, p is of sign flips."""
    found = compare(frames_of_seeds())
    means = {name: rows.mean(axis=0) for name, rows in SEEDS.items()}
    between = {
        name: (rows.mean(axis=1).var(ddof=1) / len(rows), len(rows) - 1)
        for name, rows in SEEDS.items()
        if len(rows) > 1
    }
    ones = [1] * 40
    for pair in found.pairs:
        differences = means[pair.a] - means[pair.b]
        terms = [between[name] for name in (pair.a, pair.b) if name in between]
        more = oracle.with_more_units(
            differences, ones, oracle.size_of_more_units(differences, ones, 1)
        )
        own, extended = (float(oracle.ratio(*units)[1]) for units in ((differences, ones), more))
        p = oracle.t_test_p(differences.mean(), [*terms, (max(own, extended), 39)])
        assert pair.p == pytest.approx(p, rel=1e-9)  # quotients of rounded sums
        bounds = oracle.difference_interval(differences, ones, 0.95, 1, p, terms)
        # Values are rounded to steps below 1e-12 once.
        assert [pair.interval.low, pair.interval.high] == pytest.approx(bounds, abs=1e-12)
        assert (pair.wins, pair.losses) == ((differences > 0).sum(), (differences < 0).sum())
        assert pair.dz == pytest.approx(differences.mean() / differences.std(ddof=1), rel=1e-9)
    assert {each.run: each.n_seeds for each in found.leaderboard} == N_SEEDS
    for standing in found.leaderboard:
        assert standing.map == pytest.approx(means[standing.run].mean(), rel=1e-12)
    assert 'c has one seed: tests are about this very seed' in found.notes
    header = repr(found).splitlines()[2].split()
    assert header == ['system', 'rank', 'seeds', 'value']


def test_one_seed_is_none():
    """A column of one seed changes no digit."""
    assert numbers(compare(long_frame().assign(seed='7'))) == numbers(compare(long_frame()))
    renamed = long_frame().assign(run='7').rename(columns={'run': 'init'})
    assert compare(renamed, columns={'seed': 'init'}).counts == compare(long_frame()).counts


def test_systems_whose_seeds_differ_are_not_alike():
    """Their averages are equal on each item, but other seeds might not be."""
    old = np.linspace(0.2, 0.8, 40)
    settings = {'baseline': 'b', 'fail_if_worse': 0.01}
    found = compare(
        frames_of_seeds({'a': np.array([old - 0.1, old + 0.1]), 'b': old[None]}), **settings
    )
    assert (found.gate.outcome, found.verdicts[0].reason) == ('undecided', 'more seeds')
    assert found.verdicts[0].n_needed is None
    assert found.gate.words.endswith(' takes more seeds')
    alike = compare(frames_of_seeds({'a': np.array([old] * 3), 'b': old[None]}), **settings)
    assert alike.pairs[0].n_nonzero == 0
    assert (alike.values['value'][0] == alike.values['value'][1]).all()  # to the bit, as drawn
    assert alike.verdicts[0].words == 'not worse (no item differs)'


@given(st.lists(st.sampled_from([-0.125, -0.015625, 0, 0.25]), min_size=6, max_size=40))
def test_a_verdict_is_that_of_the_interval_beside_it_or_says_why(changes):
    items = [f'q{number}' for number in range(len(changes))]
    frame = pandas.DataFrame({'item': items, 'old': 0.5, 'new': np.array(changes) + 0.5})
    found = compare(frame, baseline='old', fail_if_worse=0.01)
    (verdict,) = found.verdicts
    table = render(found.document(), 'table')
    if verdict.verdict == 'worse':
        assert verdict.interval.high < -0.01
    elif verdict.verdict == 'not worse' and any(changes):
        assert verdict.interval.low > -0.01
    assert ('above -0.01, or no item differs)' in table) == (not any(changes))
    assert ('not worse (no item differs)' in table) == (not any(changes))


def test_seeds_are_checked():
    frames = frames_of_seeds()
    percent = [frames[0].assign(value=100 * frames[0]['value']), *frames[1:]]
    with pytest.raises(FormatError, match="of 'a', expected a number from 0 to 1, as "):
        compare(percent)
    without = [frames[0].assign(seed=''), *frames[1:]]
    with pytest.raises(FormatError, match="item: found no seed of 'a', expected one, as its other"):
        compare(without)
    with pytest.raises(FormatError, match='seed: found a column of floats, expected text or integ'):
        compare(pandas.concat(frames).assign(seed=1.5))
    few = compare(long_frame().assign(seed='1')[:1].assign(system='a'))
    assert few.pairs == []


def test_each_seed_must_have_the_same_items():
    frames = frames_of_seeds()
    frames[1] = frames[1].drop(index=[4, 9])
    with pytest.raises(ParameterError, match=r"2 of 40 items .*, as 'q004' of 'a' .seed '2'., ex"):
        compare(frames)
    skipped = compare(frames, missing='skip')
    assert (len(skipped.queries), skipped.counts['seeds']) == (38, 3)
    as_zero = compare(frames, missing='zero')
    assert as_zero.notes[0] == 'Items without a value count as 0: 2 of a'
    lost = SEEDS['a'][1, [4, 9]].sum() / SEEDS['a'].size
    (mean,) = (each.map for each in as_zero.leaderboard if each.run == 'a')
    assert mean == pytest.approx(SEEDS['a'].mean() - lost, rel=1e-12)
    results = results_of_seeds()
    results['a', 2] = several(SEEDS['a'][1, 1:], queries=ITEMS[1:])['a']
    with pytest.raises(ParameterError, match=r"'q000' only for 'a .seed 1.'.*expected the same"):
        compare(results)


GROUPS = np.repeat(['big', 'small', 'tiny'], (25, 10, 5))


def test_each_group_counts_the_same():
    """Means are means of means; p and intervals are those of weighted values."""
    found = compare(long_frame().assign(dataset=[*GROUPS] * 3), macro='dataset')
    assert numbers(compare(wide_frame().assign(dataset=GROUPS), macro='dataset')) == numbers(found)
    weights = 40 / 3 / np.array([{'big': 25, 'small': 10, 'tiny': 5}[name] for name in GROUPS])
    n_effective = sum(weights**2) ** 2 / sum(weights**4)
    of_group = {
        name: [VALUES[row][group == GROUPS].mean() for group in ('big', 'small', 'tiny')]
        for row, name in enumerate('abc')
    }
    for standing in found.leaderboard:
        assert standing.map == pytest.approx(np.mean(of_group[standing.run]), rel=1e-12)
        weighted = weights * VALUES['abc'.index(standing.run)]
        bounds = oracle.expanded_abc(weighted, weights, 0.95, n_effective)
        ends = standing.interval.low, standing.interval.high
        assert ends == pytest.approx(bounds, abs=1e-12)  # values are rounded once
    for pair in found.pairs:
        a, b = (weights * VALUES['abc'.index(run)] for run in (pair.a, pair.b))
        bounds = oracle.difference_interval(a - b, weights, 0.95, 1, pair.p, (), n_effective)
        assert [pair.interval.low, pair.interval.high] == pytest.approx(bounds, abs=1e-12)
    assert 'value: mean of 3 datasets, each counts the same.' in repr(found)
    assert found.caption().startswith('Mean of 3 datasets over 40 items, with 95 % intervals')
    assert found.notes == [
        'Fewer than 10 items in tiny (5): intervals of a mean over groups may be too narrow'
    ]


@pytest.mark.parametrize('macro', ['item', 'system', 'value', 'seed', 'cluster', 'none', ['group']])
def test_groups_that_count_the_same_need_a_column_of_groups(macro):
    for frame in long_frame(), wide_frame():
        with pytest.raises(Error, match='macro: found '):
            compare(frame, macro=macro)
    clusters = long_frame().assign(cluster=[*GROUPS] * 3)
    with pytest.warns(DataWarning):
        assert compare(clusters, macro='cluster').counts['groups'] == 3


def test_a_group_is_never_lost_silently():
    frame = long_frame().assign(dataset=[*GROUPS] * 3)
    frame.loc[(frame['dataset'] == 'tiny') & (frame['system'] == 'b'), 'value'] = None
    with pytest.raises(ParameterError, match="macro: found no item of 'tiny' with a value of each"):
        compare(frame, macro='dataset', missing='skip')
    assert compare(frame, macro='dataset', missing='zero').counts['groups'] == 3


def test_ids_that_repeat_over_datasets_are_told_to_differ():
    """As in BEIR, where every dataset has a query 1."""
    frame = long_frame(items=[*ITEMS[:20]] * 2).assign(dataset=[*'x' * 20, *'y' * 20] * 3)
    message = (
        "2 rows for 'q000' of 'a', as dataset differs, expected ids that tell items apart, as da"
    )
    for settings in {}, {'macro': 'dataset'}, {'by': 'dataset'}:
        with pytest.raises(FormatError, match=message):
            compare(frame, **settings)


def test_p_of_weighted_differences():
    """By enumeration; equal groups change nothing."""
    values = VALUES[:, 1:16:3]
    frame = long_frame(values, items=ITEMS[:5]).assign(part=[*'xxxxy'] * 3)
    found = compare(frame, macro='part')
    for pair in found.pairs:
        a, b = (values['abc'.index(run)] for run in (pair.a, pair.b))
        weighted = [Fraction(x) - Fraction(y) for x, y in zip(a, b, strict=True)]
        weighted[4] *= 4  # the weight of y is that of four items of x
        assert pair.p == oracle.sign_flip_p(weighted)
    halves = long_frame().assign(part=[*'xy'] * 60)
    assert numbers(compare(halves, macro='part')) == numbers(compare(long_frame()))


def test_datasets_of_different_sizes_are_noted():
    table = long_frame().assign(dataset=[*GROUPS] * 3, split='test')
    (note,) = compare(table).notes
    assert note == (
        'dataset has 3 values (25 of big, 10 of small, 5 of tiny): larger ones weigh more; '
        '--macro dataset counts each the same, --by dataset shows each'
    )
    wide = wide_frame().assign(dataset=GROUPS)
    assert compare(wide).notes == [note]
    assert compare(polars.from_pandas(wide)).notes == [note]
    assert compare(table, by='dataset').notes == [note.partition(', --by')[0]]
    assert compare(long_frame().assign(task=[*'xy'] * 60)).notes == []  # of one size
    with pytest.raises(ParameterError, match="macro: found 'lang', which no table has, expected"):
        compare(table, macro='lang')
    with pytest.raises(ParameterError, match='macro: found results, expected score tabl'):
        compare(several(*VALUES), macro='dataset')


@pytest.mark.parametrize('baseline', [None, 'b'])
def test_differences_of_groups(baseline):
    """Each group is compared as if it were alone; p is corrected over the groups of a pair."""
    frame = long_frame().assign(dataset=[*GROUPS] * 3)
    found = compare(frame, by='dataset', baseline=baseline)
    assert len(found.group_pairs) == 3 * (3 if baseline is None else 2)
    for one in found.group_pairs:
        alone = compare(frame[frame['dataset'] == one.group], baseline=baseline)
        (pair,) = (pair for pair in alone.pairs if {pair.a, pair.b} == {one.a, one.b})
        sign = 1 if one.a == pair.a else -1
        assert one.b == (baseline or one.b)
        assert (one.p, one.n_queries) == (pair.p, pair.n_queries)
        assert one.difference == pytest.approx(sign * pair.difference, abs=1e-15)
        bounds = sorted(sign * end for end in (pair.interval.low, pair.interval.high))
        assert [one.interval.low, one.interval.high] == pytest.approx(bounds, abs=1e-12)
    of_pair = found.group_pairs[:3]
    expected = oracle.holm([one.p for one in of_pair])
    assert [one.p_adjusted for one in of_pair] == pytest.approx(expected, rel=1e-12)
    assert len({(one.a, one.b) for one in of_pair}) == 1
    assert ('value: differences by dataset' in repr(found)) == (baseline is not None)


@pytest.mark.parametrize('shape', ['tables', 'long'])
def test_percent_beside_shares_is_refused(shape):
    """Not error rates above 1, nor where a range is stated."""

    def scores(factor):
        values = [VALUES[0] / 2 + 0.5, factor * (VALUES[1] / 2 + 0.5)]
        tables = [long_frame([row], [name]) for row, name in zip(values, 'ab', strict=True)]
        return tables if shape == 'tables' else pandas.concat(tables)

    message = "of 'b', expected a number from 0 to 1, as 'a' has: divide 'b' by 100 if it is in pe"
    with pytest.raises(FormatError, match=message):
        compare(scores(100))
    assert compare(scores(100), range=(0, 100)).runs == ['b', 'a']
    assert compare(scores(1.5)).runs == ['b', 'a']


@pytest.mark.parametrize('value', [1e101, -3e205, 1e308, 2e-101, -5e-324])
def test_values_that_cannot_be_added_are_refused(value, tmp_path):
    """Before anything is computed from them; those at the bounds can be compared."""
    for shape, frame in ('wide', wide_frame()), ('long', long_frame()):
        frame.loc[3, 'a' if shape == 'wide' else 'value'] = value
        path = written('csv', tmp_path, frame)
        for bounds in None, (-1, 1):
            with pytest.raises(FormatError, match=r'line 5, .*: found .*e.*, expected 0, or a siz'):
                compare(path, range=bounds)
    with pytest.raises(ParameterError, match='range: found'):
        compare(wide_frame(), range=(0, 1e101))


@pytest.mark.parametrize('size', [1e-100, 1e100])
def test_values_at_the_bounds_are_compared(size):
    with np.errstate(all='raise'):
        found = compare(long_frame(VALUES.round() * size))
    values = [standing.map / size for standing in found.leaderboard]
    assert sorted(values) == pytest.approx(sorted(VALUES.round().mean(axis=1)), rel=1e-12)


def test_other_fields_of_json_are_passed_over(tmp_path):
    """As harnesses write them: nested, of several types, and not in each record."""
    rows = [
        {'doc': {'choices': ['a', 'b']}, 'task_id': number, 'acc': bool(value > 0.5)}
        for number, value in enumerate(VALUES[0])
    ]
    rows[3] |= {'resps': [[1.5, True]], 'doc': None, 'perplexity': float('nan')}
    text = '\n'.join(map(json.dumps, rows))
    path = tmp_path / 'samples'
    path.write_text(text)
    named = {'item': 'task_id', 'value': 'acc'}
    (one,) = compare(path, columns=named).leaderboard
    assert one.map == pytest.approx(np.mean(VALUES[0] > 0.5), rel=1e-12)
    path.write_text(text.replace('task_id', 'item').replace('acc', 'value'))
    assert kind_of(path) is Kind.SCORES
    assert numbers(compare(path)) == numbers(compare(path, columns={'item': 'item'}))


def test_row_numbers_are_no_items_beside_another_column(tmp_path):
    """The rows of two files would be paired by their order."""
    files = [tmp_path / 'a.csv', tmp_path / 'b.csv']
    for path, row in zip(files, VALUES, strict=False):
        frame = pandas.DataFrame({'topic': ITEMS, 'value': row}).sort_values('value')
        frame.reset_index(drop=True).to_csv(path)
    frames = [pandas.read_csv(path) for path in files]
    from_one = [frame.assign(**{'Unnamed: 0': frame['Unnamed: 0'] + 1}) for frame in frames]
    again = [frame.sort_values('topic') for frame in frames]
    for tables in files, frames, from_one, again, map(polars.read_csv, files):
        with pytest.raises(FormatError, match=r'row numbers as items, .* --columns item=topic'):
            compare(list(tables))
    named = compare(files, columns={'item': 'topic'})
    assert numbers(named) == numbers(compare(long_frame(VALUES[:2], 'ab')))


@pytest.mark.parametrize('missing', ['error', 'skip', 'zero'])
def test_items_that_lost_their_zeros_are_told(missing):
    """Of the items 01 to 40, nine are 1 to 9 in one file; others match."""
    items = [f'{number:02}' for number in range(1, 41)]
    tables = [
        pandas.DataFrame({'item': names, 'value': row})
        for names, row in zip((items, [item.lstrip('0') for item in items]), VALUES, strict=False)
    ]
    told = "18 of 49 items are others but for leading zeros, as '01' and '1'; read as text$"
    is_error = pytest.raises(ParameterError, match='18 of 49 items without a value')
    with pytest.warns(DataWarning, match=told), is_error if missing == 'error' else nullcontext():
        compare(tables, missing=missing)


@pytest.mark.parametrize('kind', ['frame', 'csv', 'wide', 'json lines'])
def test_rows_where_columns_have_a_text(kind, tmp_path):
    """As if the other rows were not there; errors name the lines of the whole file."""
    frame = wide_frame() if kind == 'wide' else long_frame()
    other = frame.assign(**{name: 0.5 for name in frame if frame[name].dtype == 'float64'})
    whole = pandas.concat(
        [frame.assign(filter='7', task='qa'), other.assign(filter='8', task='qa')]
    )
    whole = whole.sample(frac=1, random_state=4, ignore_index=True)  # any order would do
    table = whole
    if kind != 'frame':
        table = str(tmp_path / 'scores')
        if kind == 'json lines':
            rows = whole.to_dict('records')
            Path(table).write_text(''.join(f'{json.dumps(row)}\n' for row in rows))
        else:
            whole.to_csv(table, index=False)
    systems = ['a', 'b', 'c'] if kind == 'wide' else None
    with pytest.raises(FormatError, match=r'found no column split in .* for --where split$'):
        compare(table, where={'filter': 7, 'split': 'test'}, systems=systems)
    kept = compare(table, where={'filter': 7, 'task': 'qa'}, systems=systems)
    alone = compare(frame)
    assert kept.pairs == alone.pairs
    assert kept.leaderboard == alone.leaderboard
    assert 'Only rows with filter 7 and task qa' in kept.notes


@pytest.mark.parametrize(
    ('where', 'told'),
    [
        ({'filter': 'strict'}, "filter: found no 'strict', expected one of '7', '8'"),
        ({'filters': '7'}, 'found no column filters'),
        ({'item': 'q000'}, "where: found 'item', expected a column without a role"),
        ('filter=7', "where: found 'filter=7', expected a dictionary"),
        (['filter'], "where: found ['filter'], expected a dictionary"),
    ],
)
def test_rows_that_no_table_has(where, told):
    frame = pandas.concat([long_frame().assign(filter='7'), long_frame().assign(filter='8')])
    with pytest.raises(Error, match=re.escape(told)):
        compare(frame, where=where)
    with pytest.raises(
        FormatError, match=r'as filter differs, .*, or keep one by --where filter=…'
    ):
        compare(frame)


@pytest.mark.parametrize('more', [[], ['cluster']])
def test_a_column_of_systems_under_another_name_is_named(more):
    frame = long_frame().rename(columns={'system': 'night'})
    frame[more] = frame[['item'] * len(more)]
    with pytest.raises(FormatError, match=r', or name systems by --columns system=night ') as found:
        compare(frame)
    role, _, column = str(found.value).rpartition('--columns ')[2].split()[0].partition('=')
    assert compare(frame, columns={role: column}).runs == compare(long_frame()).runs
    with pytest.raises(FormatError, match='--where filter=… ') as found:
        compare(pandas.concat([long_frame().assign(filter=each) for each in '78']))
    assert 'name systems' not in str(found.value)
