"""What a comparison shows to people, prints for papers and draws."""

from itertools import pairwise

import pandas
import pytest
from compared_runs import several

from mediaeval_ap import AveragePrecision, compare
from mediaeval_ap.comparison.comparison_tables import MOST_RUNS
from mediaeval_ap.errors import DataWarning, ParameterError
from mediaeval_ap.render.document import Captioned, Grid, Heading
from mediaeval_ap.render.formats import render, short, short_p

REFERENCE = [('x', f'v{shot % 7}', str(shot), f'name_{shot}') for shot in range(60)]
QUERIES = [f'name_{shot}' for shot in range(60)]


def compared(found, *, queries=QUERIES, K=(1, 10), **settings):
    """Runs by name, each of which answers so many queries, every one right."""
    scorer = AveragePrecision(REFERENCE, K)
    right = [(*row, 0.5) for row in REFERENCE]
    results = {name: scorer.evaluate(right[:count], queries) for name, count in found.items()}
    return compare(results, **settings)


THREE = {'low': 20, 'top': 50, 'same': 20}


def blocks(comparison, **options):
    """The grids that people see: the board, and each other below the name of its heading."""
    found = [*comparison.document(**options).blocks()]
    board = next(block for block in found if isinstance(block, Grid))
    tables = {
        before.name: block for before, block in pairwise(found) if isinstance(before, Heading)
    }
    return {'board': board, **tables}


def lines(comparison, **options):
    return render(comparison.document(**options), 'table').splitlines()


def printed(comparison):
    (table,) = (
        block for block in comparison.document().for_papers() if isinstance(block, Captioned)
    )
    return table


def marks(comparison):
    """The mark of each run at the last cutoff, which follows the rank in the table of a paper."""
    return {run: cells[1].mark for run, *cells in printed(comparison).grid.rows}


def test_runs_and_pairs(comparison):
    rows = printed(compared({'b': 20, 'a': 20, 'c': 10})).grid.rows
    assert {run: cell.is_best for run, _, cell, _ in rows} == {'a': True, 'b': True, 'c': False}
    assert [run for run, *_ in rows] == ['a', 'b', 'c']
    runs = [row['run'] for row in comparison.document().rows().objects()]
    assert runs == ['top', 'low', 'same'] * 3
    pairs = comparison.document(pairs=True).rows().objects()
    assert [(row['a'], row['b']) for row in pairs] == [
        *(('top', 'low'), ('top', 'same'), ('low', 'same'))
    ] * 3
    by_corpus = blocks(comparison)['MAP@1 by corpus']
    assert by_corpus.headers == ['run', 'x (60)']
    assert by_corpus.rows == [['top', 50 / 60], ['low', 20 / 60], ['same', 20 / 60]]
    grid = blocks(comparison)['MAP: differences of pairs']
    assert grid.headers[-1] == 'dz'
    assert [row[-1] for row in grid.rows] == [pytest.approx(0.992, abs=5e-4)] * 2 + [None]


def test_the_verdict_comes_first_and_the_procedure_last():
    text = lines(compared({'low': 20, 'top': 50}))
    # Thirty of sixty differences are 1. With 1 and -1, the mean is 30 / 62, and the sum of squares
    # about it 17.484; t of 61 degrees of freedom is 1.9996: 0.4839 ± 1.9996 · √(17.484 / 61 / 62).
    assert text[0] == 'top is better than low by 0.500 [0.364, 0.636], p < 0.0001, Holm'
    assert text[2] == 'run    rank    MAP@10                MAP@1'
    assert text[7:9] == [
        'Runs that share a letter are not significantly different (corrected p > 0.05). Ranks: '
        'best to worst by the tests of all pairs.',
        'Claims are about MAP@10; MAP@1 is exploratory.',
    ]
    assert text[10] == 'MAP@10: differences of pairs (first run minus second)'
    assert "Not shown: pairs by MAP@1 (--pairs; in Python to_frame('pairs'))." in text
    assert ' '.join(text[-2:]) == compared({'low': 20, 'top': 50}).caption()


def test_a_table_for_a_paper_has_the_verdict_and_one_column_of_intervals():
    comparison = compared({'low': 20, 'top': 50}, K=(1, 10))
    board = printed(comparison)
    verdict = 'top is better than low by 0.500 [0.364, 0.636], p < 0.0001, Holm. Means of 2 runs, '
    assert board.caption.startswith(verdict)
    assert [[bool(cell.detail) for cell in cells] for _, _, *cells in board.grid.rows] == [
        [True, False]
    ] * 2
    assert not board.is_wide
    assert printed(compared({'low': 20, 'top': 50}, K=(1, 5, 10))).is_wide


def test_pairs_of_many_runs_are_shown_if_asked_for():
    counts = range(10, 10 * MOST_RUNS + 11, 10)
    many = compared({f'run_{count}': count for count in counts}, K=10)
    assert 'MAP@10: differences of pairs' not in blocks(many)
    hidden = "Not shown: pairs by MAP@10 (--pairs; in Python to_frame('pairs'))."
    assert hidden in lines(many)
    assert len(blocks(many, pairs=True)['MAP@10: differences of pairs'].rows) == 15
    assert not any(line.startswith('Not shown') for line in lines(many, pairs=True))


def test_a_pair_that_only_the_correction_makes_not_significant_is_named():
    """p is .03125 for each pair of three with six differences of one sign; Holm's is .09."""
    table = pandas.DataFrame({'item': [*'abcdef'], 'x': 0.5, 'y': 0.4, 'z': 0.3})
    told = 'alone it would be significant: '
    assert f'{told}x > y, x > z and y > z' in repr(compare(table))
    alternating = table.assign(z=[0.1, 0.8] * 3)
    assert f'{told}y < x' in repr(compare(alternating, lower_is_better=True))
    assert 'alone it would be' not in repr(compare(table[['item', 'x', 'y']]))


def test_letters_and_ranks_stand_on_the_board():
    comparison = compared(THREE)
    assert marks(comparison) == {'top': 'a', 'low': 'b', 'same': 'b'}
    note = 'Runs that share a letter are not significantly different (corrected p > 0.05).'
    assert note in printed(comparison).caption
    ranks = [(run, rank.value) for run, rank, *_ in blocks(comparison)['board'].rows]
    assert ranks == [('top', '1'), ('low', '2 to 3'), ('same', '2 to 3')]
    alone = compared({'a': 9})
    assert blocks(alone)['board'].headers == ['run', 'MAP@10', 'MAP@1']
    assert marks(alone) == {'a': ''}
    assert 'letter' not in printed(alone).caption


def test_differences_to_the_baseline():
    comparison = compared(THREE, baseline='low')
    assert marks(comparison) == {'top': '†', 'low': '', 'same': ''}
    mark = '†: significantly different from low (corrected p ≤ 0.05). Ranks: '
    assert mark in printed(comparison).caption
    top, same = blocks(comparison)['MAP@10: difference to low'].rows
    assert (top[0], top[1].value, top[2].value, top[3].value) == ('top', 0.5, '<0.0001', '30/30/0')
    assert round(top[4], 3) == 0.992  # half of them 1, half 0: 0.5 by sqrt(15 / 59)
    # Sixty zeros, 1 and -1: t of 61 degrees of freedom, 1.9996, by sqrt(2 / 61 / 62).
    assert (same[0], same[1].value, same[1].detail) == ('same', 0, '[-0.046,0.046]')
    assert (same[2].value, same[3].value, same[4]) == ('1.0000', '0/60/0', None)
    assert short_p(1 / 20_001) == '<0.0001'  # not zero
    # Of six queries on which runs differ, p is 2/64.
    comparison = compared({'low': 20, 'more': 26}, baseline='low', level=0.99)
    assert marks(comparison)['more'] == ''
    assert 'corrected p ≤ 0.01' in printed(comparison).caption


def test_cutoffs_before_the_last_are_exploratory():
    comparison = compared(THREE, K=(1, 10, 'all'), baseline='low')
    metrics = ['MAP', 'MAP@1', 'MAP@10']
    assert printed(comparison).grid.headers == ['run', 'rank', *metrics]
    assert printed(comparison).caption.endswith(
        'Claims are about MAP; MAP@1 and MAP@10 are exploratory.'
    )
    assert [*blocks(comparison)][1:] == ['MAP: difference to low']
    assert [*blocks(comparison, pairs=True)][1:] == [
        *(f'{metric}: difference to low' for metric in metrics),
        *(f'{metric}: differences of pairs' for metric in metrics),
    ]
    _, *pairs = comparison.document(pairs=True).for_papers()
    ends = ': differences of pairs, first run minus second; corrected over all pairs.'
    assert [each.caption for each in pairs] == [f'{metric}{ends}' for metric in metrics]
    assert 'exploratory' not in printed(compared(THREE, K=10)).caption


def test_orders_are_compared_where_they_differ():
    """By the first hypothesis a is before b before c; by ten, b before a: 1 of 3 pairs turns."""
    rows = [[1, 0.25], [0.5, 0.5], [0, 0]]
    results = several(*[[row] * 6 for row in rows])
    orders = 'Different orders of the runs'
    assert blocks(compare(results))[orders].rows == [('MAP@10', 'MAP@1', pytest.approx(1 / 3))]
    assert orders not in blocks(compared(THREE))
    two = {name: results[name] for name in 'ab'}
    assert orders not in blocks(compare(two))
    by_definition = blocks(compare(two, also={'other': two}))[orders].rows
    assert by_definition == [(name, f'other {name}', 1) for name in ('MAP@10', 'MAP@1')]


BY_VIDEO = {'cluster': 'video', 'reference': REFERENCE}


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize(
    ('found', 'settings', 'expected'),
    [
        (
            {'low': 1, 'top': 50},
            {},
            'Means over 60 queries (mediaeval-2016), with 95 % intervals (methods: '
            'docs/statistics.md of mediaeval_ap). Tests: paired sign flips of queries, corrected '
            'by Holm over all pairs of runs for each metric.',
        ),
        (
            {'a': 20, 'b': 15},
            {'correction': 'bh', 'level': 0.9},
            'queries, corrected by Benjamini and Hochberg over all',
        ),
        (THREE, {'baseline': 'low'}, 'corrected by Holm over pairs with the baseline'),
        (THREE, BY_VIDEO, 'Means over 60 queries in 7 clusters, by video (mediaeval-2016), with'),
        (THREE, BY_VIDEO, 'Tests: paired sign flips of clusters, corrected'),
        ({'a': 9}, {}, 'intervals (methods: docs/statistics.md of mediaeval_ap).'),
    ],
)
def test_captions_name_the_procedure(found, settings, expected):
    comparison = compared(found, **settings)
    caption = comparison.caption()
    assert expected in caption
    assert printed(comparison).note.endswith(caption)


def test_what_is_counted_by_query_beside_clusters():
    note = '(first run minus second; win/tie/loss and dz by query)'
    with pytest.warns(DataWarning, match='7 clusters'):
        assert f'MAP@10: differences of pairs {note}' in lines(compared(THREE, **BY_VIDEO))


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.WithoutRelevantWarning')
def test_the_floor_is_told_where_there_is_one():
    """Under mediaeval-2016, a query without a relevant shot counts 1."""
    comparison = compared(THREE, queries=[*QUERIES, 'nobody', 'no_one'], K=10)
    text = render(comparison.document(), 'table')
    heading = 'For comparison: means over the 60 queries with a relevant shot'
    note = 'an empty run has 0.032 over all 62'  # 2 / 62
    assert f'{heading} ({note})\n\nrun      MAP@10\n' in text
    rows = blocks(comparison)[heading].rows
    assert dict(rows) == {'top': 50 / 60, 'low': 20 / 60, 'same': 20 / 60}
    note = '2 of 62 queries have nothing relevant: each counts 1, and an empty run has MAP 0.032'
    assert f'\n{note}\n' in text
    assert f'{note}. ' in printed(comparison).note
    assert 'For comparison' not in render(compared(THREE).document(), 'table')


def test_tables_fit_on_a_terminal():
    """Names as long as those of the campaign, four cutoffs, and everything that is shown."""
    found = {'eumssi_contrastive2': 50, 'gtm-uvigo_primary': 30, 'tokyotech_primary': 20}
    for settings in {'by': 'relevant'}, {'baseline': 'gtm-uvigo_primary'}, {'correction': 'bh'}:
        comparison = compared(found, K=(1, 10, 100, 1000), **settings)
        text = render(comparison.document(), 'table', 60)
        tables = [line for line in text.splitlines() if '  ' in line or '---' in line]
        assert all(len(line) <= 60 for line in tables)
        caption, *_ = text.partition('\n\n')
        assert all(len(line) <= 60 for line in caption.splitlines())
        standing = comparison.leaderboard[-1]
        cell = f'{short(standing.map)}{{}} [{short(standing.interval.low)},'
        assert any(cell.format(mark) in text for mark in (standing.group, '†')), text


@pytest.fixture(scope='module')
def comparison():
    settings = {'by': 'corpus', 'reference': REFERENCE}
    return compared(THREE, K=(1, 10, 'all'), **settings)


def test_figures_of_what_is_not_there(comparison):
    plot = comparison.plot
    with pytest.raises(
        ParameterError, match="metric: found 'AP', expected one of MAP, MAP@1, MAP@10"
    ):
        plot.leaderboard('AP')
    with pytest.raises(ParameterError, match="run: found 'none', expected one of 'top'"):
        plot.scatter('top', 'none')


def test_a_call_of_plot_draws_the_board(comparison):
    assert comparison.plot().to_dict() == comparison.plot.leaderboard().to_dict()
