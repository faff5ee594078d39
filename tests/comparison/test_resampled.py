"""GAP and lwlrap compared: against their accumulators, fed with the rows that are drawn."""

import io
import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas
import pytest
import strategies
from commands import run
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from mediaeval_ap import compare, evaluate_gap, evaluate_lrap, read_results
from mediaeval_ap.comparison import testing
from mediaeval_ap.comparison.comparable_runs import read_runs
from mediaeval_ap.comparison.settings import checked_settings
from mediaeval_ap.errors import Error, FewPermutationsWarning, ParameterError, UndefinedScoreError
from mediaeval_ap.metrics import GlobalAveragePrecision, LabelRankingAveragePrecision
from mediaeval_ap.metrics.ap_of_hits import global_ap_of_counts
from mediaeval_ap.render.formats import render

pytestmark = pytest.mark.filterwarnings(
    'ignore::mediaeval_ap.errors.MissingIdsWarning', 'ignore::mediaeval_ap.errors.NoOverlapWarning'
)

ROOT = Path(__file__).parents[2]
SHAPE = json.loads((ROOT / 'docs/reference/schemas/comparison-1.schema.json').read_text())
SETTINGS = checked_settings(
    baseline=None,
    correction='holm',
    interval=None,
    level=0.95,
    resamples=1,
    permutations=1,
    seed=0,
    cluster=None,
)
CLASSES = ['x', 'y', 'z']
# Of a photo: its true label or none, and the label and level of confidence that is said, or none.
PHOTO = st.tuples(
    st.sampled_from(['a', 'b', None]),
    st.none() | st.tuples(st.sampled_from('ab'), st.integers(0, 3)),
)
# Of a sound: its true classes, and the scores of all classes, or none.
SOUND = st.tuples(
    st.sets(st.sampled_from(range(3))),
    st.none() | st.lists(st.integers(0, 2), min_size=3, max_size=3),
)


def ids(rows):
    return [f'q{place:03}' for place in range(len(rows))]


def gap(photos, ties='expected', name=None):
    """The score of photos; those without a prediction have an empty one, or no row."""
    truth = pandas.DataFrame({'id': ids(photos), 'landmark_id': [true or '' for true, _ in photos]})
    said = [' '.join(map(str, each)) if each else '' for _, each in photos]
    rows = pandas.DataFrame({'id': ids(photos), 'landmarks': said})
    kept = rows[[bool(text) or place % 2 == 0 for place, text in enumerate(said)]]
    return evaluate_gap(truth, kept, ties=ties, missing='zero', name=name, per_query=True)


def lwlrap(sounds, name=None):
    labels = [','.join(CLASSES[each] for each in true) for true, _ in sounds]
    truth = pandas.DataFrame({'fname': ids(sounds), 'labels': labels})
    scored = [
        (place, *scores) for place, (_, scores) in zip(ids(sounds), sounds, strict=True) if scores
    ]
    scores = pandas.DataFrame(scored, columns=['fname', *CLASSES]).astype(
        dict.fromkeys(CLASSES, float)
    )
    return evaluate_lrap(truth, scores, label_weighted=True, missing='zero', name=name)


def gap_of_rows(photos, ties='expected'):
    """Global AP of these rows, by its accumulator."""
    metric = GlobalAveragePrecision(ties)
    metric.update(
        y_true=[true for true, _ in photos],
        y_pred=[said and said[0] for _, said in photos],
        confidence=[said and float(said[1]) for _, said in photos],
    )
    return metric.compute()


def one_hot(labels):
    return [[each in true for each in range(3)] for true in labels]


def lwlrap_of_rows(sounds):
    metric = LabelRankingAveragePrecision(label_weighted=True)
    scored = [(true, scores) for true, scores in sounds if scores is not None]
    others = [true for true, scores in sounds if scores is None]
    if scored:
        metric.update(one_hot([true for true, _ in scored]), [scores for _, scores in scored])
    if others:
        metric.update_missing(one_hot(others))
    return metric.compute()


def draws_of(n_queries):
    return st.lists(
        st.lists(st.integers(0, n_queries - 1), min_size=n_queries, max_size=n_queries),
        min_size=1,
        max_size=5,
    )


@given(
    st.lists(PHOTO, min_size=2, max_size=9).flatmap(
        lambda photos: st.tuples(st.just(photos), draws_of(len(photos)))
    ),
    st.sampled_from(['expected', 'best', 'worst']),
)
def test_gap_of_a_resample_is_that_of_its_rows(photos_and_draws, ties):
    """Bit for bit: the terms are those of the kernel, in its order."""
    photos, draws = photos_and_draws
    rows = np.array(
        [
            (said[1] if said else np.nan, said is not None and said[0] == true, true is not None)
            for true, said in photos
        ]
    )
    counts = np.array([np.bincount(places, minlength=len(photos)) for places in draws])
    for places, found in zip(draws, global_ap_of_counts(rows, ties)(counts), strict=True):
        drawn = [photos[at] for at in places]
        if any(true for true, _ in drawn):
            assert found == gap_of_rows(drawn, ties)
        else:
            assert np.isnan(found)


@strategies.examples(0.5)
@given(
    st.lists(SOUND, min_size=2, max_size=9).flatmap(
        lambda sounds: st.tuples(st.just(sounds), draws_of(len(sounds)))
    )
)
def test_lwlrap_of_a_resample_is_that_of_its_rows(sounds_and_draws):
    sounds, draws = sounds_and_draws
    draws = [places for places in draws if any(sounds[at][0] for at in places)]
    assume(draws and any(scores for _, scores in sounds))
    counts = np.array([np.bincount(places, minlength=len(sounds)) for places in draws])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(testing, 'resampled', lambda statistics, *_: statistics(counts.astype(float)))
        (found,) = testing._drawn(SETTINGS, read_runs([lwlrap(sounds)]))
    expected = [lwlrap_of_rows([sounds[at] for at in places]) for places in draws]
    # The accumulator adds precisions as fractions; here the LRAP of a sample is rounded first.
    assert found.tolist() == pytest.approx(expected, abs=1e-14)


def photos_of(seed, n=60, share=0.6, true=None):
    """Photos of which some have no truth, some no prediction, and some tie."""
    generator = np.random.default_rng(seed)
    known = np.random.default_rng(7).random(n) < 0.7  # the same for all runs
    return [
        ('a' if known[at] else None, said)
        for at in range(n)
        for right, level, is_said in [
            (generator.random() < share, generator.integers(9), generator.random() < 0.9)
        ]
        for said in [('a' if right else 'b', int(level) + 4 * right) if is_said else None]
    ]


def sounds_of(seed, n=40, noise=1.0):
    truth, generator = np.random.default_rng(7), np.random.default_rng(seed)
    found = []
    for _ in range(n):
        true = {each for each in range(3) if truth.random() < 0.4}
        scores = [(each in true) + noise * generator.normal() for each in range(3)]
        found.append((true, scores if generator.random() < 0.9 else None))
    return found


MAKE = {
    'GAP': (gap, gap_of_rows, photos_of(1), photos_of(2, share=0.4)),
    'lwlrap': (lwlrap, lwlrap_of_rows, sounds_of(1, noise=0.3), sounds_of(2)),
}


@pytest.mark.parametrize('metric', MAKE)
def test_intervals_and_p_are_those_of_scipy_on_the_rows(metric):
    """SciPy draws the places, the accumulator scores the rows; all runs have the same draws."""
    score, of_rows, one, other = MAKE[metric]
    comparison = compare(
        {'one': score(one), 'other': score(other)}, resamples=60, seed=5, level=0.9
    )

    def bootstrap(statistic):
        def of_all(drawn, axis):
            return np.array([statistic(places) for places in drawn])

        return stats.bootstrap(
            (np.arange(len(one)),),
            lambda drawn, axis: of_all(np.atleast_2d(drawn), axis).reshape(drawn.shape[:-1]),
            vectorized=True,
            n_resamples=60,
            confidence_level=0.9,
            method='percentile',
            rng=np.random.default_rng(5),
        )

    best, worst = comparison.leaderboard
    assert [best.map, worst.map] == [score(one).value, score(other).value]
    for standing, rows in (best, one), (worst, other):
        interval = bootstrap(lambda places, rows=rows: of_rows([rows[at] for at in places]))
        bounds = standing.interval.low, standing.interval.high
        # Values of the accumulator, rounded in another way (lwlrap).
        assert bounds == pytest.approx(tuple(interval.confidence_interval), abs=1e-12)
    found = bootstrap(
        lambda places: of_rows([one[at] for at in places]) - of_rows([other[at] for at in places])
    )
    (pair,) = comparison.pairs
    bounds = pair.interval.low, pair.interval.high
    assert bounds == pytest.approx(tuple(found.confidence_interval), abs=1e-12)
    assert pair.difference == best.map - worst.map
    below = sum(each <= 1e-12 for each in found.bootstrap_distribution)
    above = sum(each >= -1e-12 for each in found.bootstrap_distribution)
    assert pair.p == min(1, 2 * (min(below, above) + 1) / 61)


@pytest.mark.parametrize('metric', MAKE)
def test_what_json_holds_is_enough(metric):
    """Results of JSON, in any order of runs, give the comparison of the scores themselves."""
    score, _, one, other = MAKE[metric]
    scores = {'one': score(one), 'other': score(other)}
    read = {
        name: read_results(io.StringIO(each.to_json(per_query=True)))
        for name, each in reversed(scores.items())
    }
    settings = {'resamples': 100, 'baseline': 'one', 'correction': 'bh'}
    written = json.dumps(compare(scores, **settings).to_dict())
    assert json.dumps(compare(read, **settings).to_dict()) == written
    jsonschema.Draft202012Validator(SHAPE).validate(json.loads(written))


def test_what_is_no_mean_has_none_of_what_means_have():
    scores = {name: gap(photos_of(seed)) for seed, name in enumerate('abc')}
    comparison = compare(scores, resamples=200)
    why = 'GAP is no mean over queries: the rank of a prediction depends on those of all queries'
    for pair in comparison.pairs:
        assert [pair.wins, pair.ties, pair.losses, pair.dz, pair.n_nonzero] == [None] * 5
        assert pair.reason == pair.n_for_power_reason == why
    assert comparison.values == {}
    assert comparison.caption() == (
        'GAP of 60 queries, with 95 % intervals (percentiles of 200 resamples of queries, of each '
        'of which GAP was computed again). p by the same resamples, corrected by Holm over all '
        'pairs of runs for each metric. Seed 0.'
    )
    for text in comparison.to_markdown(), render(comparison._document(pairs=True), 'latex'):
        assert 'corrected p' in text
        assert 'dz' not in text
        assert 'queries for 80' not in text.lower()
    values = comparison.plot.leaderboard().to_dict()['data']['values']
    assert [each['run'] for each in values] == comparison.runs
    with pytest.raises(ParameterError, match='metric: found GAP, expected a mean over queries'):
        comparison.plot.scatter()
    alone = compare({'a': scores['a']}, resamples=100)
    assert 'p by' not in alone.caption()
    other = {name: gap(photos_of(seed), 'worst') for seed, name in enumerate('abc')}
    (order,) = compare(scores, also={'worst': other}, resamples=200).orders
    assert (order.a, order.b) == ('GAP', 'worst GAP')


def test_equal_runs_are_not_told_apart_and_pass():
    scores = {
        'one': gap(photos_of(1)),
        'same': gap(photos_of(1)),
        'less': gap(photos_of(2, share=0)),
    }
    comparison = compare(scores, resamples=200, baseline='one', fail_if_worse=0.1)
    (pair,) = (each for each in comparison.pairs if 'less' not in (each.a, each.b))
    assert (pair.p, pair.interval.low) == (1, None)
    assert pair.interval.reason == 'all resamples have one value'
    by_run = {each.run: each for each in comparison.leaderboard}
    assert [by_run[name].rank for name in ('one', 'same', 'less')] == [1, 1, 3]
    assert by_run['one'].group == by_run['same'].group != by_run['less'].group
    assert {each.run: each.verdict for each in comparison.verdicts} == {
        'same': 'passed',
        'less': 'worse',
    }
    single = compare({'a': gap([('a', ('a', 1))]), 'b': gap([('a', ('b', 1))])}, resamples=50)
    assert [each.interval.reason for each in single.leaderboard] == [
        'all resamples have one value'
    ] * 2


@pytest.mark.parametrize(
    ('settings', 'found'),
    [
        ({'interval': 'plus2'}, "interval: found 'plus2' for GAP, expected another or none: "),
        ({'interval': 't'}, "interval: found 't' for GAP"),
        ({'permutations': 50}, 'permutations: found 50 for GAP'),
        ({'correction': 'tukey'}, "correction: found 'tukey' for GAP"),
        ({'by': 'relevant'}, "by: found 'relevant' for GAP"),
        ({'by': pandas.DataFrame({'item': ['q'], 'group': ['g']})}, 'by: found .* for GAP'),
        ({'cluster': 'video'}, "cluster: found 'video' for GAP"),
        ({'power': 0.1}, 'power: found 0.1 for GAP'),
        ({'anytime': True}, 'anytime: found True for GAP'),
    ],
)
def test_what_only_means_have_is_refused(settings, found):
    with pytest.raises(ParameterError, match=found) as error:
        compare({'a': gap(photos_of(1)), 'b': gap(photos_of(2))}, **settings)
    assert '\n' not in str(error.value)


def test_runs_that_cannot_be_resampled():
    one, other = gap(photos_of(1)), gap(photos_of(2))
    with pytest.raises(ParameterError, match="ties: found 'stable' for GAP, expected another"):
        compare({'a': gap(photos_of(1), 'stable'), 'b': gap(photos_of(2), 'stable')})
    with pytest.raises(ParameterError, match="ties: found 'best' for 'b', expected 'expected'"):
        compare({'a': one, 'b': gap(photos_of(2), 'best')})
    value = json.loads(one.to_json(per_query=True))
    value['results'][0]['run'] = 'old'
    del value['results'][0]['without_prediction']  # as version 0.2 wrote it
    (old,) = read_results(io.StringIO(json.dumps(value)))
    with pytest.raises(
        ParameterError, match=r'^old: without_prediction: found nothing, .* score the'
    ):
        compare({'a': old, 'b': other})
    truth = [('a', said) for _, said in photos_of(2)]
    with pytest.raises(ParameterError, match=r'found 1 relevant shots of .* for'):
        compare({'a': one, 'b': gap(truth)})
    few = [('a', ('a', 1)), (None, ('a', 2)), (None, None)]
    with pytest.raises(
        UndefinedScoreError, match='of 50 resamples of 3 queries have no true label'
    ):
        compare({'a': gap(few)}, resamples=50)


@pytest.mark.parametrize(
    ('change', 'found'),
    [
        (
            lambda gap: gap['without_prediction'].append({'query': 'x', 'has_truth': False}),
            'n_queries: found 60, expected 61',
        ),
        (lambda gap: gap['without_prediction'].pop(), 'GAP: found .*, expected that of conf'),
        (
            lambda gap: gap['without_prediction'].append(7),
            'without_prediction: found .*, expected an object',
        ),
        (lambda gap: gap['without_prediction'][1].update(has_truth=1), r'query 2 .*, has_truth: f'),
        (lambda gap: gap['without_prediction'][0].pop('query'), 'query 1, query: found nothing'),
        (lambda gap: gap['queries'][0].update(truth=None), 'GAP: found .*, expected that of conf'),
        (
            lambda gap: gap['queries'][0].update(correct=False),
            'GAP: found .*, expected that of conf',
        ),
        (
            lambda gap: gap['queries'][0].update(confidence=-1),
            'GAP: found .*, expected that of conf',
        ),
        (
            lambda gap: gap['manifest']['parameters'].update(ties='any'),
            "ties: found 'any', expected",
        ),
        (
            lambda gap: gap.update(without_prediction={}),
            r'without_prediction: found {}, expected a l',
        ),
    ],
)
def test_what_json_says_of_gap_must_give_its_value(change, found):
    value = json.loads(gap(photos_of(1)).to_json(per_query=True))
    first = value['results'][0]['queries'][0]
    assert first['correct']
    assert first['truth']
    change(value['results'][0])
    with pytest.raises(Error, match=found) as error:
        read_results(io.StringIO(json.dumps(value)))
    assert '\n' not in str(error.value)


def test_resamples_by_which_nothing_can_differ():
    """The least p is 2 / 40, thrice that by Holm."""
    scores = {name: gap(photos_of(seed)) for seed, name in enumerate('abc')}
    message = '118 resamples give no corrected p below 0.0504, .*: take 120 or more'
    with pytest.warns(FewPermutationsWarning, match=message):
        compare(scores, resamples=118)
    assert compare(scores, resamples=120).warnings == ()


def test_from_the_shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth, predictions = (
        ROOT / f'samples/landmarks_{each}.csv' for each in ('truth', 'predictions')
    )
    header, *lines = predictions.read_text().splitlines()
    half = [line if place % 3 else f'{line.partition(",")[0]},' for place, line in enumerate(lines)]
    Path('half.csv').write_text('\n'.join([header, *half]) + '\n')
    for options, name in ([], 'plain'), (['--per-query'], 'whole'):
        files = [str(truth), str(predictions), 'half.csv']
        written = run('gap', *files, '--format', 'json', *options, '-o', f'{name}.json')
        assert written.exit_code == 0, written.output
    result = run('compare', 'whole.json', '--resamples', '100', '--format', 'json')
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    assert value['runs'] == ['landmarks_predictions', 'half']
    assert value['manifest']['parameters']['interval'] == 'percentile'
    result = run('compare', 'plain.json')
    assert result.exit_code == 1
    assert 'expected the values of each query: write the file with --format json' in result.stderr
    gate = '--baseline', 'landmarks_predictions', '--require-better'
    assert run('compare', 'whole.json', '--resamples', '200', *gate, '--quiet').exit_code == 3
