"""Whole comparisons: what must not change, what must change how, refusals, official data."""

import io
import json
import pickle
import warnings
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import oracle_comparison as oracle
import pandas
import pytest
import strategies
from compared_runs import several
from hypothesis import example, given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, compare, read_results
from mediaeval_ap.atomic_files import write_whole
from mediaeval_ap.choices import alpha_of
from mediaeval_ap.errors import DataWarning, FormatError, ParameterError, WithoutRelevantWarning
from mediaeval_ap.render.formats import render

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
        return compare(*arguments, **settings)


def described(comparison):
    return json.dumps(comparison.to_dict())


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.lists(st.lists(EIGHTHS, min_size=n, max_size=n), min_size=1, max_size=4)
    ),
    st.sampled_from([{}, {'baseline': 'a'}]),
    st.integers(0, 1),
)
@example([[1] * 5, [0] * 5], {}, 1)
def test_each_null_has_a_reason_beside_it(rows, settings, n_relevant):
    judged = {'n_relevant': [n_relevant] * len(rows[0]), 'definition': 'mediaeval-2016'}
    results = several(*rows, measures={'P@5': rows[0]}, **judged)
    comparison = without_warning(results, **settings)
    value = json.loads(described(comparison), parse_constant=lambda name: pytest.fail(name))
    assert list(without_reason(value)) == []


def without_reason(value, path=()):
    """The nulls that have no reason beside them; in the manifest they were not given."""
    if isinstance(value, list):
        for place, each in enumerate(value):
            yield from without_reason(each, (*path, place))
    elif isinstance(value, dict):
        for name, each in value.items():
            if each is None and not value.get(f'{name}_reason', value.get('reason')):
                yield (*path, name)
            elif (*path, name) != ('manifest',):
                yield from without_reason(each, (*path, name))


@pytest.mark.parametrize(
    ('sizes', 'message'),
    [
        ([1] * 30, ''),  # 30² / (29 · 1² + 1²) equal ones of one query each are enough
        ([1] * 29, '29 clusters count as 29.0 of equal size, and the largest holds 3.4'),
        ([20] * 40 + [100], '41 clusters count as 31.2 of equal size, and the largest holds 11'),
        ([20] * 45 + [100], ''),  # a tenth, and no more
    ],
)
def test_few_or_large_clusters_are_warned_of(sizes, message):
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    items = [f'{place:04}' for place in range(len(clusters))]
    table = pandas.DataFrame({'item': items, 'a': clusters % 3 / 4, 'b': 0.5})
    is_warned = pytest.warns(DataWarning, match=f'^{message}') if message else nullcontext()
    with is_warned:
        found = compare(table.assign(cluster=clusters.astype(str)))
    assert [each.startswith(message) for each in map(str, found.warnings)] == [True] * bool(message)
    assert compare(table).warnings == ()


INDEPENDENT = 'Queries are taken as independent, not by video: '


@pytest.mark.parametrize(
    ('n_videos', 'why'),
    [
        (50, ''),
        (49, 'their relevant shots are in only 49 videos, fewer than 50 (docs/comparison.md)'),
        (1, 'their relevant shots are in only 1 video, fewer than 50 (docs/comparison.md)'),
    ],
)
def test_videos_are_the_units_where_there_are_fifty(n_videos, why):
    """60 queries, and one without a relevant shot, which is a cluster of its own."""
    reference = [('x', f'v{place % n_videos}', str(place), f'n{place:02}') for place in range(60)]
    evaluate = AveragePrecision(reference, K=[10], definition='mediaeval-2016').evaluate
    right, asked = [(*row, 0.5) for row in reference], [*(row[3] for row in reference), 'nobody']
    with pytest.warns(WithoutRelevantWarning):
        results = {'all': evaluate(right, asked), 'some': evaluate(right[:45], asked)}
    by_default = compare(results)
    assert described(by_default) == described(compare(results, reference=reference))
    by_query = compare(results, cluster='none')
    assert not any(note.startswith(INDEPENDENT) for note in by_query.notes)
    n_units = by_default.counts['units']
    if why:
        assert (by_default.parameters['cluster'], n_units) == ('none', 61)
        assert INDEPENDENT + why in by_default.notes
        assert by_default.pairs == by_query.pairs
        return
    assert (by_default.parameters['cluster'], n_units) == ('video', 51)
    by_video = compare(results, cluster='video', reference=reference)
    assert described(by_default) == described(by_video)
    assert by_query.pairs[0].interval != by_default.pairs[0].interval


def test_results_that_were_read_back_do_not_know_their_videos():
    reference = [('x', f'v{place}', '1', f'n{place:02}') for place in range(60)]
    scorer = AveragePrecision(reference, K=[10])
    results = [
        scorer.evaluate([(*row, 0.5) for row in rows], name=name, jobs=2)
        for name, rows in (('all', reference), ('some', reference[:45]))
    ]
    assert compare(results).parameters['cluster'] == 'video'
    assert compare([result.worst_first() for result in results]).parameters['cluster'] == 'video'
    lacking = [replace(result, reference_rows=None) for result in results]
    assert [*map(len, map(pickle.dumps, results))] == [*map(len, map(pickle.dumps, lacking))]
    for read_back in (
        pickle.loads(pickle.dumps(results)),
        [read_results(io.StringIO(each.to_json()))[0] for each in results],
    ):
        comparison = compare(read_back)
        assert comparison.parameters['cluster'] == 'none'
        assert f'{INDEPENDENT}their videos are not known without the reference' in comparison.notes
        mixed = compare(results[0], read_back[1])
        assert described(mixed) == described(compare(results))


def test_results_without_their_reference_name_the_files_to_give(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path('reference.txt').write_text('x v 1 ann\nx w 1 ann\n')
    Path('videos.txt').write_text('x v\n')
    scorer = AveragePrecision('reference.txt', K=[10], subset='videos.txt')
    results = [scorer.evaluate([('x', 'v', '1', 'ann', 0.5)], name=name) for name in 'ab']
    read_back = [read_results(io.StringIO(each.to_json(per_query=True)))[0] for each in results]
    (note,) = (note for note in compare(read_back).notes if note.startswith(INDEPENDENT))
    assert note.endswith('compare reference.txt RESULTS... --subset videos.txt')


def test_runs_are_given_one_by_one_or_in_a_list():
    results = several([0.5] * 6, [0.25] * 6)
    results = [result.called(name) for name, result in results.items()]
    assert described(compare(*results)) == described(compare(results))
    tables = [pandas.DataFrame({'item': [*'abcdef'], name: 0.5}) for name in ('old', 'new')]
    assert compare(*tables, baseline='old').runs == ['new', 'old']
    with pytest.raises(ParameterError, match="compare: found <class 'list'>, expected results"):
        compare(results, results[0])


def test_intervals_of_values_above_one_are_not_cut():
    """Two large differences: m is 1, though values span 1.5; no end is cut at 1."""
    b = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 1.5])
    a = b + np.array([0.9, 0.8, 0, 0, 0, 0])
    ((pair,), (_, standing)) = (found := compare(several(a, b))).pairs, found.leaderboard
    bounds = oracle.difference_interval(a - b, [1] * 6, 0.95, 1, pair.p)
    assert [pair.interval.low, pair.interval.high] == pytest.approx(bounds, abs=1e-10)
    bounds = oracle.expanded_abc(b, [1] * 6, 0.95)
    assert [standing.interval.low, standing.interval.high] == pytest.approx(list(bounds), abs=1e-10)
    assert standing.interval.high > 1


CLUSTERED = st.integers(5, 14).flatmap(
    lambda n: st.tuples(
        *[st.lists(EIGHTHS, min_size=n, max_size=n)] * 3,
        st.lists(st.integers(0, 5), min_size=n, max_size=n),
    )
)


@strategies.examples(0.6)
@given(
    CLUSTERED,
    st.sampled_from([0.5, 0.8, 0.95]),
    st.sampled_from(['cluster', 'macro', 'seed', 'item']),
    st.sampled_from([0, 0.05, 0.3]),
)
def test_p_intervals_verdicts_and_words_never_contradict_each_other(rows, level, kind, limit):
    """Of clusters, groups that count the same, seeds and single items."""
    *values, groups = rows
    table = pandas.DataFrame(dict(zip('abc', values, strict=True)))
    table['item'] = [f'q{place:02}' for place in range(len(table))]
    settings = {}
    if kind == 'seed':
        other = table.assign(seed='2', a=values[1], b=values[2])
        table = pandas.concat([table.assign(seed='1'), other])
    elif kind != 'item':
        table[kind] = [f'g{group}' for group in groups]
        settings = {'macro': 'macro'} if kind == 'macro' else {}
    settings |= {'level': level, 'baseline': 'a'}
    alpha = alpha_of(level)
    found = without_warning(table, **settings)
    for pair in found.pairs:
        low, high = pair.interval.low, pair.interval.high
        if low is None:
            assert found.counts['units'] < 5
            continue
        assert pair.interval.excludes_zero == (pair.p <= alpha)
        assert pair.p > alpha or low >= 0 or high <= 0
        assert pair.p <= alpha or low <= 0 <= high
        assert low - 1e-12 <= pair.difference <= high + 1e-12  # two sums of the same values
    if found.counts['units'] < 5:
        with pytest.raises(ParameterError, match='or more for a verdict'):
            without_warning(table, **settings, fail_if_worse=limit)
        return
    gate = without_warning(table, **settings, fail_if_worse=limit)
    p_of = {standing.run: standing.p for standing in gate.leaderboard}
    for one in gate.verdicts:
        if limit == 0 and p_of[one.run] > alpha:
            differs = (table['a'] != table[one.run]).any()
            assert one.verdict == ('undecided' if differs else 'not worse')
        elif limit == 0 or one.verdict != 'undecided':
            assert (one.verdict == 'worse') == (one.difference < -limit)
    verdicts = {one.verdict for one in gate.verdicts}
    outcome = 'undecided' if 'undecided' in verdicts else 'passed'
    assert gate.gate.outcome == ('failed' if 'worse' in verdicts else outcome)


@pytest.mark.parametrize('scale', [0.5, 30])
@pytest.mark.parametrize('n', [60, 8])
def test_a_third_system_changes_no_pair(scale, n):
    """But the correction of its p: not its interval, verdict, nor where values leave 0 to 1."""
    values = scale * drawn(3, n_queries=n, n_cutoffs=1)[:, :, 0]
    table = pandas.DataFrame({'item': map(str, range(n)), 'a': values[0], 'b': values[1]})
    said = []
    for each in table, table.assign(c=5 * values[2]):
        settings = {'systems': list(each.columns[1:]), 'baseline': 'a', 'fail_if_worse': 0.5}
        found = compare(each, **settings)
        (pair,) = (pair for pair in found.pairs if {pair.a, pair.b} == {'a', 'b'})
        verdict = next(one for one in found.verdicts if one.run == 'b')
        said.append((pair.interval, pair.p, pair.dz, verdict.verdict, verdict.n_needed))
    assert said[0] == said[1]


@pytest.mark.parametrize(('high', 'n'), [(1, 21), (100, 6)])
def test_intervals_are_within_a_declared_range(high, n):
    table = pandas.DataFrame({'item': map(str, range(n)), 'a': [high] * (n - 1) + [0], 'b': 0})
    found = compare(table, range=(0, high))
    interval = next(each.interval for each in found.leaderboard if each.run == 'a')
    assert 0 <= interval.low < interval.high == high
    (pair,) = found.pairs
    assert 0 <= pair.interval.low < pair.interval.high == high


@given(
    st.integers(2, 12).flatmap(
        lambda n: st.lists(st.lists(EIGHTHS, min_size=n, max_size=n), min_size=1, max_size=5)
    ),
    st.sampled_from(['holm', 'bh']),
    st.sampled_from([0.5, 0.8, 0.95]),
    st.sampled_from([None, 'a']),
)
def test_letters_and_ranks_are_those_of_the_pairs(rows, correction, level, baseline):
    comparison = without_warning(
        several(*rows), correction=correction, level=level, baseline=baseline
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
        assert each.rank == 1 + sum(other.map > each.map for other in comparison.leaderboard)
    groups = [{run for run in letters if letter in letters[run]} for letter in 'abcdefghij']
    assert not any(one < other for one in filter(None, groups) for other in groups)


@pytest.mark.parametrize(
    ('name', 'value', 'message'),
    [
        ('baseline', 'z', "found 'z', expected one of 'a', 'b'"),
        ('correction', 'sidak', "found 'sidak', expected one of holm, bh"),
        ('level', 95, 'found 95, expected a number between 0 and 1'),
        ('cluster', 'corpus', "found 'corpus', expected one of none, video"),
        ('by', 'video', "found 'video', expected one of corpus, relevant"),
    ],
)
def test_wrong_arguments_are_refused(name, value, message):
    with pytest.raises(ParameterError, match=f'{name}: {message}'):
        compare(several([1, 0], [0, 1]), **{name: value})


def test_a_comparison_is_shown_as_by_the_command():
    comparison = compare(several(*drawn(7, n_runs=2)))
    assert f'{comparison!r}\n' == render(comparison.document(), 'table')
    headline, *_ = repr(comparison).splitlines()
    assert comparison._repr_html_().startswith(f'<p>{headline}</p>\n\n<table>')


def test_every_shape_has_the_same_numbers():
    comparison = without_warning(several(*drawn(6)), baseline='b')
    frame = comparison.to_frame()
    assert frame['interval_low'].tolist() == [each.interval.low for each in comparison.leaderboard]
    assert frame['rank_high'].tolist() == [each.rank_interval[1] for each in comparison.leaderboard]
    as_json = json.loads(comparison.to_json(per_query=False))
    assert as_json == json.loads(described(comparison))
    assert [each['p'] for each in as_json['pairs']] == [each.p for each in comparison.pairs]
    assert as_json['manifest']['inputs']['reference'] == {'name': 'reference.txt', 'sha256': 'r'}
    with pytest.raises(ParameterError, match='table: found'):
        comparison.to_frame('runs')
    for write in comparison.to_csv, comparison.to_markdown, comparison.to_latex:
        with pytest.raises(ParameterError, match=r'^per_query: found True.* Comparison has'):
            write(per_query=True)


def test_curves_are_of_one_metric():
    found = compare(several([0.5, 0.2], [0.1, 0.3], measures={'nDCG@10': [0.5, 0.1]}))
    with pytest.raises(ParameterError, match=r'found the metrics nDCG@10, MAP@1, expected one'):
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


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=4),
    st.integers(1, 3),
    st.sampled_from([10, 'all']),
    st.booleans(),
)
@example([0, 1], 2, 10, True)
def test_every_format_tells_of_runs_whose_ap_exceeds_1(n_again, n_queries, k, hide_labels):
    """A run that returns its shots once more, or twice, is not better than one that does not."""
    names = [f'name{query}' for query in range(n_queries)]
    rows = [('x', 'v', f'{name}{shot}', name) for name in names for shot in range(2)]
    right = [(*row, 0.5) for row in rows]
    evaluate = AveragePrecision(rows, K=[1, k]).evaluate
    runs = {f'run{run}': [*right, *right * n] for run, n in enumerate(n_again)}
    with warnings.catch_warnings(action='ignore'):
        comparison = compare(
            {name: evaluate(run) for name, run in runs.items()}, hide_labels=hide_labels
        )
    document = comparison.document()
    texts = [render(document, format) for format in ('table', 'markdown', 'json')]
    for text in [*texts, comparison.to_html()]:
        assert (' above 1: mediaeval-2016 counts' in ' '.join(text.split())) == any(n_again)
    if not all(n_again):  # else the note is about all runs, and names none
        note = ''.join(note for note in comparison.notes if 'above 1' in note)
        assert [name in note for name in runs] == [n > 0 for n in n_again]


def test_scores_of_another_metric_may_exceed_1():
    table = pandas.DataFrame({'item': list('abc'), 'one': [0.5, 3.0, 2.0], 'other': [1.0, 2.0, 9]})
    assert not any('above 1' in note for note in compare(table).notes)


@pytest.mark.parametrize('suffix', ['.json', '.json.gz'])
@pytest.mark.parametrize('given', [list, lambda paths: dict(zip('ab', paths, strict=True))])
def test_files_of_results_name_their_reader(suffix, given, tmp_path):
    result = AveragePrecision([('x', 'v', '1', 'ann')], K=[10]).evaluate(
        [('x', 'v', '1', 'ann', 0.5)]
    )
    paths = [tmp_path / f'{name}{suffix}' for name in 'ab']
    for path in paths:
        write_whole(path, result.to_json(per_query=True))
    with pytest.raises(FormatError, match=r'found results, .* compare read_results\(path\)'):
        compare(given(paths))
    compare([read_results(path)[0].called(path.name) for path in paths])
