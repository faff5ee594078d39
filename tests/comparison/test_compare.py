"""Whole comparisons: what must not change, what must change how, refusals, official data."""

import json
import sys
import warnings

import numpy as np
import pytest
import strategies
from compared_runs import evaluation, several
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mediaeval_ap import AveragePrecision, compare
from mediaeval_ap.choices import alpha_of
from mediaeval_ap.errors import (
    FewPermutationsWarning,
    MissingExtraError,
    NarrowIntervalWarning,
    ParameterError,
    WithoutRelevantWarning,
)

FAST = {'resamples': 60, 'permutations': 300}
EIGHTHS = st.integers(0, 8).map(lambda number: number / 8)


def drawn(seed, n_runs=3, n_queries=60, n_cutoffs=2):
    """Values of runs by query and cutoff, of which a third are equal."""
    generator = np.random.default_rng(seed)
    values = generator.random((n_runs, n_queries, n_cutoffs))
    values[:, ::3] = values[0, ::3]
    return values


def without_warning(*arguments, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', NarrowIntervalWarning)
        return compare(*arguments, **{**FAST, **settings})


def described(comparison):
    return json.dumps(comparison.to_dict())


@strategies.examples(0.6)
@given(
    st.integers(2, 30).flatmap(
        lambda n: st.lists(st.lists(EIGHTHS, min_size=n, max_size=n), min_size=1, max_size=4)
    ),
    st.sampled_from(['holm', 'bh', 'tukey']),
    st.randoms(use_true_random=False),
)
def test_the_order_of_runs_and_queries_changes_no_bit(rows, correction, random):
    names = [f'q{place}' for place in range(len(rows[0]))]
    order = list(range(len(names)))
    random.shuffle(order)
    before = several(*[np.array(row) / 3 for row in rows], queries=names)
    after = several(
        *[np.array([row[place] for place in order]) / 3 for row in rows],
        queries=[names[place] for place in order],
    )
    shuffled = list(after)
    random.shuffle(shuffled)
    one = without_warning(before, correction=correction, baseline='a')
    other = without_warning(
        {name: after[name] for name in shuffled}, correction=correction, baseline='a'
    )
    assert described(one) == described(other)


def test_names_of_runs_change_neither_p_nor_intervals():
    values = drawn(1, n_runs=2)
    found = [
        [(pair.difference, pair.p, pair.interval) for pair in without_warning(results).pairs]
        for results in (several(*values), several(*values[::-1]))
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize('correction', ['holm', 'tukey'])
@pytest.mark.parametrize(('constant', 'rounding'), [(0, 0), (0.25, 1e-15)])  # once more by adding
def test_scaling_scales_differences_and_a_constant_changes_none(correction, constant, rounding):
    values = drawn(3)
    # Not plus2, whose two differences are those that AP can have.
    settings = {'correction': correction, 'interval': 'bca'}
    one = without_warning(several(*values), **settings)
    other = without_warning(several(*(values / 4 + constant)), **settings)  # exact in binary
    for pair, scaled in zip(one.pairs, other.pairs, strict=True):
        assert (scaled.p, scaled.p_adjusted) == (pair.p, pair.p_adjusted)
        assert scaled.difference == pytest.approx(pair.difference / 4, abs=rounding)
        # A power of two is exact but for the interpolation between two resamples.
        assert scaled.interval.low == pytest.approx(pair.interval.low / 4, abs=1e-12)
        assert scaled.interval.high == pytest.approx(pair.interval.high / 4, abs=1e-12)
        assert scaled.dz == pytest.approx(pair.dz, rel=1e-13)


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(EIGHTHS, min_size=n, max_size=n), min_size=1, max_size=4)
    ),
    st.sampled_from(['plus2', 'bca', 't']),
)
def test_nothing_is_nan_and_nothing_lacks_without_a_reason(rows, interval):
    comparison = without_warning(several(*rows), correction='tukey', interval=interval)
    for each in [*comparison.leaderboard, *comparison.pairs]:
        assert (each.interval.low is None) == bool(each.interval.reason)
        assert (each.interval.high is None) == bool(each.interval.reason)
        assert (each.dz is None) == bool(each.reason)
    numbers = json.loads(described(comparison), parse_constant=lambda name: pytest.fail(name))
    assert list(without_reason(numbers)) == []


@pytest.mark.parametrize(
    ('interval', 'of_differences'),
    [('plus2', ''), ('bca', 'all differences are 0.25'), ('t', 'all differences are 0.25')],
)
def test_equal_values_have_no_interval_but_a_reason(interval, of_differences):
    found = without_warning(several([1 / 3 + 0.25] * 4, [1 / 3] * 4), interval=interval)
    assert found.leaderboard[1].interval.reason == 'all values are 0.333333'
    assert found.pairs[0].interval.reason == of_differences
    alone = without_warning(several([0.5], [0.25]), interval=interval)
    assert alone.leaderboard[0].interval.reason == 'one query'
    assert alone.pairs[0].interval.reason == ('one query' if of_differences else '')


def without_reason(value, path=()):
    """The nulls of a JSON value that have no reason beside them.

    Those of the manifest stand for what was not given.
    """
    if isinstance(value, list):
        for place, each in enumerate(value):
            yield from without_reason(each, (*path, place))
    elif isinstance(value, dict):
        for name, each in value.items():
            if each is None and not value.get(f'{name}_reason', value.get('reason')):
                yield (*path, name)
            elif (*path, name) != ('manifest',):
                yield from without_reason(each, (*path, name))


@pytest.mark.parametrize('settings', [{}, {'baseline': 'a'}, {'correction': 'tukey'}])
@pytest.mark.parametrize(
    'results',
    [
        several([1, 0.5], [1, 0.5], measures={'P@5': [1, 0.5]}),
        several([1], [0.5], n_relevant=[0], definition='mediaeval-2016'),
        several([1, 1], [0, 0]),
    ],
)
def test_each_null_has_a_reason_beside_it(results, settings):
    whole = without_warning(results, **settings).to_dict()
    assert 'null' in json.dumps({**whole, 'manifest': {}})
    assert list(without_reason(whole)) == []


def test_fewer_than_fifty_differences_are_warned_of_once():
    values = drawn(4)
    message = (
        'all 3 pairs of runs differ on fewer than 50 queries by some metric: t intervals of their '
        'differences may be too narrow; take plus2'
    )
    with pytest.warns(NarrowIntervalWarning, match=message) as found:
        comparison = compare(several(*values), interval='t', **FAST)
    assert len(found) == 1
    assert found[0].filename == __file__
    assert list(map(str, comparison.warnings)) == [str(found[0].message)]
    assert compare(several(*values), **FAST).warnings == ()


def test_pairs_that_differ_little_are_counted():
    few, many = np.zeros(60), np.zeros(60)
    few[:10], many[:50] = 0.5, 0.5
    with pytest.warns(NarrowIntervalWarning, match='^1 pair of runs differs on fewer than 50 que'):
        compare(several(few, 0 * few), interval='bca', **FAST)
    with pytest.warns(NarrowIntervalWarning, match='^2 of 3 pairs of runs differ on fewer'):
        compare(several(few, 0 * few, many), interval='bca', **FAST)
    assert compare(several(0 * many, many, 0 * many), interval='bca', **FAST).warnings == ()


@pytest.mark.parametrize(
    ('correction', 'enough', 'message'),
    [
        # At least 1 / 19, thrice 1 / 60 by Holm, and 1 / 20.
        ('tukey', 19, '18 permutations give no corrected p below 0.0526, and 0.05 is what tells'),
        ('holm', 59, '58 permutations give no corrected p below 0.0508, and .*: take 60 or more'),
        ('bh', 19, '18 permutations give no corrected p below 0.0526, .*: take 20 or more'),
    ],
)
@pytest.mark.parametrize('baseline', [None, 'a'])  # letters are of all pairs in either case
def test_permutations_by_which_nothing_can_differ(correction, enough, message, baseline):
    results = several(*np.random.default_rng(8).random((3, 60)))  # fixed: some values, whichever
    settings = {'correction': correction, 'resamples': 50, 'baseline': baseline}
    assert compare(results, permutations=enough, **settings).warnings == ()
    with pytest.warns(FewPermutationsWarning, match=message):
        compare(results, permutations=enough - 1, **settings)


def test_an_exact_p_needs_no_permutations():
    comparison = without_warning(several([1] * 8, [0] * 8), permutations=1)
    assert comparison.pairs[0].p == 2 / 2**8
    assert comparison.warnings == ()


def test_one_run_has_a_leaderboard_without_pairs():
    comparison = compare({'a': evaluation(drawn(5)[0])}, correction='tukey', baseline='a', **FAST)
    assert [(each.rank, each.group) for each in comparison.leaderboard] == [(1, 'a')] * 2
    assert comparison.pairs == []
    assert comparison.to_frame('pairs').empty


def test_clusters_are_flipped_whole():
    """Two videos of 10 queries: of 4 patterns of signs, two are as extreme."""
    reference = [('x', f'v{place // 10}', str(place), f'n{place:02}') for place in range(20)]
    evaluate = AveragePrecision(reference, K=[10]).evaluate
    right = [(*row, 0.5) for row in reference]
    results = {'all': evaluate(right), 'few': evaluate([right[0], right[10]])}
    settings = {'cluster': 'video', 'reference': reference}
    with pytest.warns(NarrowIntervalWarning, match='on fewer than 50 clusters of queries: '):
        compare(results, interval='bca', **settings, **FAST)
    of_queries, of_videos = without_warning(results), without_warning(results, **settings)
    note = (
        'p, intervals and numbers of differences that are not 0 are of clusters; wins, ties, '
        'losses, dz and queries for 80 % are of queries'
    )
    assert [note in each.notes for each in (of_queries, of_videos)] == [False, True]
    (by_query,), (by_video,) = of_queries.pairs, of_videos.pairs
    assert (by_query.p, by_query.n_nonzero) == (2 / 2**18, 18)
    assert (by_video.p, by_video.n_nonzero) == (2 / 4, 2)
    assert by_video.difference == by_query.difference == 0.9
    assert (by_video.wins, by_video.ties) == (18, 2)


INDEPENDENT = 'queries are taken as independent, not by video: '


def of_videos(n_videos):
    """A reference of 60 queries in so many videos, and results of a run that has all, or some."""
    reference = [('x', f'v{place % n_videos}', str(place), f'n{place:02}') for place in range(60)]
    evaluate = AveragePrecision(reference, K=[10], definition='mediaeval-2016').evaluate
    right, asked = [(*row, 0.5) for row in reference], [*(row[3] for row in reference), 'nobody']
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', WithoutRelevantWarning)
        return reference, {'all': evaluate(right, asked), 'some': evaluate(right[:45], asked)}


@pytest.mark.parametrize('correction', ['holm', 'tukey'])
def test_videos_are_the_units_where_there_are_fifty(correction):
    reference, results = of_videos(50)
    settings = {'reference': reference, 'correction': correction}
    by_default = compare(results, **settings, **FAST)
    assert by_default.parameters['cluster'] == 'video'
    assert by_default.counts['units'] == 51  # and the query without a relevant shot
    assert '51 clusters of queries, by video' in by_default.caption()
    assert described(by_default) == described(compare(results, cluster='video', **settings, **FAST))
    by_query = compare(results, cluster='none', **settings, **FAST)
    assert by_query.pairs[0].interval != by_default.pairs[0].interval


@pytest.mark.parametrize(
    ('n_videos', 'is_given', 'why'),
    [
        (49, True, 'their relevant shots are in 49 videos, and 50 are needed'),
        (1, True, 'their relevant shots are in 1 video, and 50 are needed'),
        (50, False, 'their videos are not known without the reference'),
    ],
)
def test_queries_are_the_units_where_videos_cannot_be(n_videos, is_given, why):
    reference, results = of_videos(n_videos)
    given = {'reference': reference} if is_given else {}
    comparison = compare(results, **given, **FAST)
    assert (comparison.parameters['cluster'], comparison.counts['units']) == ('none', 61)
    assert INDEPENDENT + why in comparison.notes
    by_choice = compare(results, cluster='none', **given, **FAST)
    assert comparison.pairs == by_choice.pairs
    assert not any(note.startswith(INDEPENDENT) for note in by_choice.notes)


def test_kinds_of_intervals():
    """Of means they are BCa, unless all are Student's."""
    plus2, bca, t = (
        without_warning(several(*drawn(9)), interval=each) for each in ('plus2', 'bca', 't')
    )
    means = [[each.interval for each in found.leaderboard] for found in (plus2, bca, t)]
    assert means[0] == means[1] != means[2]
    rows = t.values['MAP@10']
    expected = [*zip([each.interval for each in t.leaderboard[-3:]], rows, strict=True)]
    for appended, found in (([1, -1], plus2), ([], t)):
        pair = found.pairs[-1]
        a, b = (rows[found.runs.index(run)] for run in (pair.a, pair.b))
        expected.append((pair.interval, [*(a - b), *appended]))
    for interval, values in expected:
        bounds = stats.ttest_1samp(values, 0).confidence_interval()
        # Values are rounded to steps below 1e-12 once.
        assert [interval.low, interval.high] == pytest.approx(list(bounds), abs=1e-12)
    assert [each.interval for each in bca.pairs] != [each.interval for each in plus2.pairs]


@given(
    st.integers(2, 12).flatmap(
        lambda n: st.lists(st.lists(EIGHTHS, min_size=n, max_size=n), min_size=2, max_size=5)
    ),
    st.sampled_from(['holm', 'bh', 'tukey']),
    st.sampled_from([0.5, 0.8, 0.95]),
    st.sampled_from([None, 'a']),
)
def test_letters_and_ranks_are_those_of_the_pairs(rows, correction, level, baseline):
    comparison = without_warning(
        several(*rows), correction=correction, level=level, baseline=baseline, permutations=40
    )
    apart = {(pair.a, pair.b) for pair in comparison.pairs if pair.p_adjusted <= alpha_of(level)}
    letters = {each.run: {*each.group} for each in comparison.leaderboard}
    for pair in comparison.pairs:
        assert ((pair.a, pair.b) in apart) == (not letters[pair.a] & letters[pair.b])
    for each in comparison.leaderboard:
        better = sum(run == each.run for _, run in apart)
        worse = sum(run == each.run for run, _ in apart)
        assert each.rank_interval == (1 + better, len(rows) - worse)
        assert 1 + better <= each.rank <= len(rows) - worse


def test_all_metrics_but_the_last_are_exploratory():
    comparison = without_warning(several(*drawn(10)))
    for entries in comparison.leaderboard, comparison.pairs:
        found = {each.metric: each.exploratory for each in entries}
        assert found == {'MAP@1': True, 'MAP@10': False}


@pytest.mark.parametrize(
    ('name', 'value', 'message'),
    [
        ('baseline', 'z', "found 'z', expected one of 'a', 'b'"),
        ('correction', 'sidak', "found 'sidak', expected one of holm, bh"),
        ('interval', 'z', "found 'z', expected one of plus2, bca, t"),
        ('level', 95, 'found 95, expected a number between 0 and 1'),
        ('level', '0.9', "found '0.9'"),
        ('cluster', 'corpus', "found 'corpus', expected one of none, video"),
        ('by', 'video', "found 'video', expected one of corpus, relevant"),
        ('resamples', 0, 'found 0, expected a positive integer'),
        ('permutations', 1.5, 'found 1.5, expected a positive'),
        ('seed', -1, 'found -1, expected an integer from 0'),
        ('seed', True, 'found True, expected an integer from 0'),
    ],
)
def test_wrong_arguments_are_refused(name, value, message):
    with pytest.raises(ParameterError, match=f'{name}: {message}'):
        compare(several([1, 0], [0, 1]), **{name: value})


@pytest.mark.parametrize('library', ['scipy', 'statsmodels'])
def test_without_the_extra(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    message = rf"{library} is not installed; pip install 'mediaeval-ap\[insight\]'"
    with pytest.raises(MissingExtraError, match=message):
        compare(several([1, 0]))


def test_what_is_not_known_of_the_floor_is_said():
    comparison = compare({'a': evaluation([1, 0], measures={'P@5': [1, 0.5]})}, **FAST)
    assert [each.floor for each in comparison.leaderboard] == [0, None]
    assert comparison.notes == [
        INDEPENDENT + 'their videos are not known without the reference',
        'P@5: no floor, as the mean of an empty run is not known',
    ]


def test_few_lines_say_who_leads():
    results = several(*[[place / 10] * 50 for place in range(12)])
    lines = repr(without_warning(results, correction='tukey')).splitlines()
    assert lines[0] == 'Comparison of 12 runs, 50 queries, tukey; MAP@1:'
    assert lines[1] == "  1  'l'  1.100 [none, none]"
    assert (len(lines), lines[-1]) == (12, '  … and 2 more')


def test_every_shape_has_the_same_numbers():
    comparison = without_warning(several(*drawn(6)), baseline='b')
    frame = comparison.to_frame()
    assert frame['interval_low'].tolist() == [each.interval.low for each in comparison.leaderboard]
    assert frame['rank_high'].tolist() == [each.rank_interval[1] for each in comparison.leaderboard]
    as_json = json.loads(comparison.to_json())
    assert as_json == json.loads(described(comparison))
    assert [each['p'] for each in as_json['pairs']] == [each.p for each in comparison.pairs]
    assert as_json['manifest']['inputs']['reference'] == {'name': 'reference.txt', 'sha256': 'r'}
    with pytest.raises(ParameterError, match='table: found'):
        comparison.to_frame('runs')


RUNS = ['eumssi_contrastive2', 'gtm-uvigo_primary', 'tokyotech_primary']


@pytest.fixture(scope='module')
def campaign(official_data):
    """(reference, subset, results) of three real runs."""
    folder = official_data / '2016'
    reference = folder / 'reference/reference.2016-10-16.txt'
    subset = folder / 'reference/test.eval'
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # tests/official/test_official.py looks at them
        evaluate = AveragePrecision(reference, K=[1, 10, 100, 1000], subset=subset).evaluate
        results = {
            run: evaluate(folder / f'submissions/{run}.txt', folder / 'reference/queries.txt')
            for run in RUNS
        }
    return reference, subset, results


def test_real_runs(campaign):
    _, _, results = campaign
    comparison = without_warning(results, baseline=RUNS[0])
    for standing in comparison.leaderboard:
        at = comparison.metrics.index(standing.metric)
        assert standing.map == results[standing.run].map[at]
        assert standing.floor == pytest.approx(0.1436, abs=5e-5)  # as it was published
        assert standing.interval.low < standing.map < standing.interval.high
    n_queries = len(results[RUNS[0]].queries)
    assert {pair.wins + pair.ties + pair.losses for pair in comparison.pairs} == {n_queries}


def test_real_runs_by_video(campaign):
    reference, subset, results = campaign
    settings = {'reference': reference, 'subset': subset, 'cluster': 'video', 'by': 'corpus'}
    comparison = without_warning(results, **settings)
    assert comparison.counts['units'] < comparison.counts['queries']
    by_query = [each.map for each in without_warning(results).leaderboard]
    assert [each.map for each in comparison.leaderboard] == by_query
    groups = comparison.to_frame('by')
    of_one = groups[(groups['run'] == RUNS[0]) & (groups['metric'] == 'MAP@1')]
    mean = np.average(of_one['map'], weights=of_one['n_queries'])
    assert mean == pytest.approx(results[RUNS[0]].map[0], rel=1e-12)  # sums in another order
    with pytest.raises(ParameterError, match='its subset'):
        compare(results, **{**settings, 'subset': None})
