"""What a comparison shows to people, prints for papers and draws."""

import pytest

from mediaeval_ap import AveragePrecision, compare
from mediaeval_ap.comparison.comparison_tables import MOST_RUNS
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.render.document import Captioned, Heading
from mediaeval_ap.render.formats import render, short_p

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
    """The blocks that people see, each grid below the name of its heading."""
    found = [*comparison.document(**options).blocks()]
    return {
        before.name if isinstance(before, Heading) else 'after': block
        for before, block in zip([None, *found], found, strict=False)
        if not isinstance(block, Heading)
    }


def printed(comparison):
    table, *_ = comparison.document().for_papers()
    assert isinstance(table, Captioned)
    return table


def marks(comparison):
    """The mark of each run at the last cutoff, in the table of a paper."""
    return {run: cells[-1].mark for run, *cells in printed(comparison).grid.rows}


def test_runs_and_pairs(comparison):
    rows = printed(compared({'b': 20, 'a': 20, 'c': 10})).grid.rows
    assert {run: cell.is_best for run, cell, _ in rows} == {'a': True, 'b': True, 'c': False}
    assert [run for run, *_ in rows] == ['a', 'b', 'c']
    runs = [row['run'] for row in comparison.document().rows().objects()]
    assert runs == ['top', 'low', 'same'] * 3
    pairs = comparison.document(pairs=True).rows().objects()
    assert [(row['a'], row['b']) for row in pairs] == [
        *(('top', 'low'), ('top', 'same'), ('low', 'same'))
    ] * 3
    shown = blocks(comparison)
    assert shown['MAP@1 by corpus'].headers == ['run', 'x (60)']
    assert shown['MAP@1 by corpus'].rows == [['top', 50 / 60], ['low', 20 / 60], ['same', 20 / 60]]
    grid = shown['MAP: differences of pairs']
    assert grid.headers[-1] == 'dz'
    assert [row[-1] for row in grid.rows] == [pytest.approx(0.992, abs=5e-4)] * 2 + [None]


def test_pairs_of_many_runs_are_shown_if_asked_for():
    many = compared({f'run_{count}': count for count in range(10, 10 * MOST_RUNS + 11, 10)})
    assert 'MAP@10: differences of pairs' not in blocks(many)
    assert '15 pairs of runs are not shown' in blocks(many)['after']
    assert len(blocks(many, pairs=True)['MAP@10: differences of pairs'].rows) == 15


def test_a_dagger_marks_what_differs_from_the_baseline():
    comparison = compared(THREE, baseline='low')
    assert marks(comparison) == {'top': '†', 'low': '', 'same': ''}
    assert printed(comparison).caption.endswith(
        'other columns are exploratory. †: differs from low, corrected p ≤ 0.05. Best in bold.'
    )
    # Of six queries on which runs differ, p is 2/64.
    comparison = compared({'low': 20, 'more': 26}, baseline='low', level=0.99)
    assert marks(comparison)['more'] == ''
    assert 'corrected p ≤ 0.01' in printed(comparison).caption


def test_letters_of_groups():
    comparison = compared(THREE)
    assert marks(comparison) == {'top': 'a', 'low': 'b', 'same': 'b'}
    note = 'Runs that share a letter are not told apart (corrected p > 0.05).'
    assert note in printed(comparison).caption
    alone = compared({'a': 9})
    assert marks(alone) == {'a': ''}
    assert 'letter' not in printed(alone).caption


def test_cutoffs_before_the_last_are_exploratory():
    comparison = compared(THREE, K=(1, 10, 'all'), baseline='low')
    assert printed(comparison).grid.headers == [
        *('run', 'MAP@1 (exploratory)', 'MAP@10 (exploratory)', 'MAP')
    ]
    assert 'Claims are about MAP; other columns are exploratory.' in comparison.caption()
    assert {'MAP@1 (exploratory): difference to low', 'MAP: difference to low'} <= {
        *blocks(comparison)
    }
    pairs = [each.caption for each in comparison.document(pairs=True).for_papers()][1:4]
    assert [each.partition(':')[0] for each in pairs] == printed(comparison).grid.headers[1:]
    assert 'exploratory' not in compared(THREE, K=10).caption()


BY_VIDEO = {'cluster': 'video', 'reference': REFERENCE}


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize(
    ('found', 'settings', 'expected'),
    [
        (
            {'low': 1, 'top': 50},
            {},
            '(means: expanded ABC over queries; differences: plus2 over queries). p by paired sign '
            'flips of queries (exact), corrected by Holm over all pairs of runs for each metric. '
            'Claims are about MAP@10; other columns are exploratory.',
        ),
        (
            {'a': 20, 'b': 15},
            {'correction': 'bh', 'level': 0.9},
            '90 % intervals (means: expanded ABC over queries; differences: plus2 over queries). p '
            'by paired sign flips of queries (exact), corrected by Benjamini and Hochberg over all',
        ),
        (
            THREE,
            {'baseline': 'low', **BY_VIDEO},
            'p by paired sign flips of clusters (exact), corrected by Holm over the pairs with low',
        ),
        (
            THREE,
            BY_VIDEO,
            '(means: expanded ABC over 7 clusters of queries, by video; differences: plus2 over '
            'clusters). p by paired sign flips of clusters (',
        ),
        ({'a': 9}, {}, 'with 95 % intervals (means: expanded ABC over queries). Claims'),
    ],
)
def test_captions_name_the_procedure(found, settings, expected):
    comparison = compared(found, **settings)
    assert expected in comparison.caption()
    assert comparison.caption() in printed(comparison).caption
    if settings == BY_VIDEO:
        captions = [each.caption for each in comparison.document(pairs=True).for_papers()]
        note = '. Wins, ties, losses and dz are of queries.'
        assert [each.endswith(note) for each in captions] == [False, True, True, False]


def test_differences_to_the_baseline():
    found = blocks(compared(THREE, baseline='low'))
    grid = found['MAP@10: difference to low']
    assert [row[0] for row in grid.rows] == ['top', 'same']
    _, difference, p, corrected, counts, dz = grid.rows[0]
    assert (difference.value, counts.value) == (0.5, '30/30/0')
    assert (p.value, corrected.value) == ('<0.0001', '<0.0001')  # 2 / 2**30, and twice that
    assert round(dz, 3) == 0.992  # half of them 1, half 0: 0.5 by sqrt(15 / 59)
    _, difference, p, corrected, counts, dz = grid.rows[1]
    # Sixty zeros, 1 and -1: t of 61 degrees of freedom, 1.9996, by sqrt(2 / 61 / 62).
    assert (difference.value, difference.detail) == (0, '[-0.046,0.046]')
    assert counts.value == '0/60/0'
    assert (p.value, dz) == ('1.0000', None)
    assert short_p(1 / 20_001) == '<0.0001'  # not zero


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.WithoutRelevantWarning')
def test_the_floor_is_told_where_there_is_one():
    """Under mediaeval-2016, a query without a relevant shot counts 1."""
    comparison = compared(THREE, queries=[*QUERIES, 'nobody', 'no_one'], K=10)
    text = render(comparison.document(), 'table')
    heading = 'Not the score: means without the 2 queries that have no relevant shot'
    assert f'{heading} (an empty run has {2 / 62:.3f})\n\nrun      MAP@10\n' in text
    rows = blocks(comparison)[heading].rows
    assert dict(rows) == {'top': 50 / 60, 'low': 20 / 60, 'same': 20 / 60}
    assert 'Without' not in render(compared(THREE).document(), 'table')


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
        assert '[0.' in text


@pytest.fixture(scope='module')
def comparison():
    settings = {'by': 'corpus', 'reference': REFERENCE}
    return compared(THREE, K=(1, 10, 'all'), **settings)


def test_figures_of_what_is_not_there(comparison):
    plot = comparison.plot
    with pytest.raises(ParameterError, match="metric: found 'AP', expected one of MAP@1, MAP@10"):
        plot.leaderboard('AP')
    with pytest.raises(ParameterError, match="run: found 'none', expected one of 'top'"):
        plot.scatter('top', 'none')
