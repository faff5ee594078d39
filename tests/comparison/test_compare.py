"""Whole comparisons: what must not change, what must change how, refusals, official data."""

import json
import sys
import warnings

import numpy as np
import pytest
import strategies
from compared_runs import evaluation, several
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from mediaeval_ap import AveragePrecision, compare
from mediaeval_ap.choices import alpha_of
from mediaeval_ap.errors import (
    DataWarning,
    MissingExtraError,
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
        warnings.simplefilter('ignore', DataWarning)
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


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(EIGHTHS, min_size=n, max_size=n), min_size=1, max_size=4)
    ),
    st.sampled_from(['plus2', 'bca', 't']),
    st.sampled_from([{}, {'baseline': 'a'}, {'correction': 'tukey'}]),
    st.integers(0, 1),
)
@example([[1, 1], [0, 0]], 'bca', {}, 1)
def test_each_null_has_a_reason_beside_it(rows, interval, settings, n_relevant):
    judged = {'n_relevant': [n_relevant] * len(rows[0]), 'definition': 'mediaeval-2016'}
    results = several(*rows, measures={'P@5': rows[0]}, **judged)
    comparison = without_warning(results, interval=interval, **settings)
    value = json.loads(described(comparison), parse_constant=lambda name: pytest.fail(name))
    assert list(without_reason(value)) == []


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


def test_pairs_that_differ_little_are_counted_in_one_warning():
    few, many = np.zeros(60), np.zeros(60)
    few[:10], many[:50] = 0.5, 0.5
    with pytest.warns(DataWarning, match='^1 pair of runs differs on fewer than 50 que'):
        compare(several(few, 0 * few), interval='bca', **FAST)
    with pytest.warns(DataWarning, match='^2 of 3 pairs of runs differ on fewer'):
        compare(several(few, 0 * few, many), interval='bca', **FAST)
    assert compare(several(0 * many, many, 0 * many), interval='bca', **FAST).warnings == ()
    message = (
        'all 3 pairs of runs differ on fewer than 50 queries by some metric: t intervals of their '
        'differences may be too narrow; take plus2'
    )
    with pytest.warns(DataWarning, match=message) as found:
        comparison = compare(several(*drawn(4)), interval='t', **FAST)
    assert [each.filename for each in found] == [__file__]
    assert list(map(str, comparison.warnings)) == [str(found[0].message)]
    assert compare(several(*drawn(4)), **FAST).warnings == ()


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
    with pytest.warns(DataWarning, match=message):
        compare(results, permutations=enough - 1, **settings)
    exact = compare(several([1] * 8, [0] * 8), permutations=1, resamples=50)  # needs none
    assert (exact.pairs[0].p, exact.warnings) == (2 / 2**8, ())


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
    with pytest.warns(DataWarning, match='on fewer than 50 clusters of queries: '):
        compare(results, interval='bca', **settings, **FAST)
    of_queries, of_videos = without_warning(results), without_warning(results, **settings)
    note = (
        'p, intervals and numbers of differences that are not 0 are of clusters; wins, ties, '
        'losses and dz are of queries'
    )
    assert [note in each.notes for each in (of_queries, of_videos)] == [False, True]
    (by_query,), (by_video,) = of_queries.pairs, of_videos.pairs
    assert (by_query.p, by_query.n_nonzero) == (2 / 2**18, 18)
    assert (by_video.p, by_video.n_nonzero) == (2 / 4, 2)
    assert by_video.difference == by_query.difference == 0.9
    assert (by_video.wins, by_video.ties) == (18, 2)


INDEPENDENT = 'queries are taken as independent, not by video: '


@pytest.mark.parametrize(
    ('n_videos', 'why'),
    [
        (50, ''),
        (49, 'their relevant shots are in 49 videos, and 50 are needed'),
        (1, 'their relevant shots are in 1 video, and 50 are needed'),
    ],
)
def test_videos_are_the_units_where_there_are_fifty(n_videos, why):
    """60 queries, and one without a relevant shot, which is a cluster of its own."""
    reference = [('x', f'v{place % n_videos}', str(place), f'n{place:02}') for place in range(60)]
    evaluate = AveragePrecision(reference, K=[10], definition='mediaeval-2016').evaluate
    right, asked = [(*row, 0.5) for row in reference], [*(row[3] for row in reference), 'nobody']
    with pytest.warns(WithoutRelevantWarning):
        results = {'all': evaluate(right, asked), 'some': evaluate(right[:45], asked)}
    by_default = compare(results, reference=reference, **FAST)
    by_query = compare(results, cluster='none', **FAST)
    assert not any(note.startswith(INDEPENDENT) for note in by_query.notes)
    n_units = by_default.counts['units']
    if why:
        assert (by_default.parameters['cluster'], n_units) == ('none', 61)
        assert INDEPENDENT + why in by_default.notes
        assert by_default.pairs == by_query.pairs
        return
    assert (by_default.parameters['cluster'], n_units) == ('video', 51)
    by_video = compare(results, cluster='video', reference=reference, **FAST)
    assert described(by_default) == described(by_video)
    assert by_query.pairs[0].interval != by_default.pairs[0].interval


def test_kinds_of_intervals():
    """Of means they are BCa, unless all are Student's."""
    plus2, bca, t = (
        without_warning(several(*drawn(9)), interval=each) for each in ('plus2', 'bca', 't')
    )
    means = [[each.interval for each in found.leaderboard] for found in (plus2, bca, t)]
    assert means[0] == means[1] != means[2]
    assert {each.metric: each.exploratory for each in [*t.pairs, *t.leaderboard]} == {
        'MAP@1': True,
        'MAP@10': False,
    }
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
    for pair, of_plus2 in zip(bca.pairs, plus2.pairs, strict=True):
        assert pair.interval.low < pair.difference < pair.interval.high
        assert pair.interval != of_plus2.interval


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
    groups = [{run for run in letters if letter in letters[run]} for letter in 'abcdefghij']
    assert not any(one < other for one in filter(None, groups) for other in groups)


@pytest.mark.parametrize(
    ('name', 'value', 'message'),
    [
        ('baseline', 'z', "found 'z', expected one of 'a', 'b'"),
        ('correction', 'sidak', "found 'sidak', expected one of holm, bh"),
        ('interval', 'bootstrap', "found 'bootstrap', expected one of plus2, bca, t"),
        ('level', 95, 'found 95, expected a number between 0 and 1'),
        ('cluster', 'corpus', "found 'corpus', expected one of none, video"),
        ('by', 'video', "found 'video', expected one of corpus, relevant"),
        ('resamples', 0, 'found 0, expected a positive integer'),
        ('permutations', 1.5, 'found 1.5, expected a positive'),
        ('seed', -1, 'found -1, expected an integer from 0'),
    ],
)
def test_wrong_arguments_are_refused(name, value, message):
    with pytest.raises(ParameterError, match=f'{name}: {message}'):
        compare(several([1, 0], [0, 1]), **{name: value})


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, 'scipy', None)
    message = r"scipy is not installed; pip install 'mediaeval-ap\[compare\]'"
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


def test_curves_are_of_one_metric():
    measures = {'nDCG@10': [0.5, 0.1]}
    runs = several([0.5, 0.2], [0.1, 0.3], measures=measures)
    found = compare(runs, resamples=20, permutations=10)
    with pytest.raises(ParameterError, match=r'found the metrics MAP@1, nDCG@10, expected one'):
        found.plot.map_by_k()


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_the_floor_of_a_campaign(official_data):
    folder = official_data / '2016'
    reference = folder / 'reference/reference.2016-10-16.txt'
    scorer = AveragePrecision(reference, K=[100], subset=folder / 'reference/test.eval')
    queries = folder / 'reference/queries.txt'
    run = scorer.evaluate(folder / 'submissions/gtm-uvigo_primary.txt', queries)
    (standing,) = without_warning([run]).leaderboard
    assert standing.map == run.map[0]
    assert standing.floor == pytest.approx(0.1436, abs=5e-5)  # as it was published
    assert standing.interval.low < standing.map < standing.interval.high
