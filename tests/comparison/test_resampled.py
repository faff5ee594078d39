"""lwlrap compared: against its accumulator, fed with the rows that are drawn."""

import io
import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas
import pytest
from scipy import stats

from mediaeval_ap import compare, evaluate_gap, evaluate_lrap, read_results
from mediaeval_ap.errors import DataWarning, ParameterError, UndefinedScoreError
from mediaeval_ap.metrics import LabelRankingAveragePrecision
from mediaeval_ap.render.formats import render

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

ROOT = Path(__file__).parents[2]
SHAPE = json.loads((ROOT / 'docs/reference/schemas/comparison-2.schema.json').read_text())
CLASSES = ['x', 'y', 'z']


def lwlrap(sounds, name=None):
    """The score of sounds: the true classes of each, and the scores of all classes, or None."""
    ids = [f'q{place:03}' for place in range(len(sounds))]
    labels = [','.join(CLASSES[each] for each in true) for true, _ in sounds]
    truth = pandas.DataFrame({'fname': ids, 'labels': labels})
    scored = [(place, *scores) for place, (_, scores) in zip(ids, sounds, strict=True) if scores]
    table = pandas.DataFrame(scored, columns=['fname', *CLASSES])
    return evaluate_lrap(truth, table, label_weighted=True, missing='zero', name=name)


def lwlrap_of_rows(sounds):
    metric = LabelRankingAveragePrecision(label_weighted=True)
    one_hot = [[each in true for each in range(3)] for true, _ in sounds]
    scored = [at for at, (_, scores) in enumerate(sounds) if scores]
    others = [at for at, (_, scores) in enumerate(sounds) if not scores]
    metric.update([one_hot[at] for at in scored], [sounds[at][1] for at in scored])
    if others:
        metric.update_missing([one_hot[at] for at in others])
    return metric.compute()


def sounds_of(seed, n=40, noise=1.0):
    """Sounds of which some have no label, and some no scores."""
    truth, generator = np.random.default_rng(7), np.random.default_rng(seed)
    found = []
    for _ in range(n):
        true = {each for each in range(3) if truth.random() < 0.4}
        scores = [(each in true) + noise * generator.normal() for each in range(3)]
        found.append((true, scores if generator.random() < 0.9 else None))
    return found


ONE, OTHER = sounds_of(1, noise=0.3), sounds_of(2)


def test_intervals_and_p_are_those_of_scipy_on_the_rows():
    """SciPy draws the places, the accumulator scores the rows; all runs have the same draws."""
    comparison = compare(
        {'one': lwlrap(ONE), 'other': lwlrap(OTHER)}, resamples=60, seed=5, level=0.9
    )

    def bootstrap(statistic):
        def of_all(drawn, axis):
            return np.array([statistic(places) for places in drawn])

        return stats.bootstrap(
            (np.arange(len(ONE)),),
            lambda drawn, axis: of_all(np.atleast_2d(drawn), axis).reshape(drawn.shape[:-1]),
            vectorized=True,
            n_resamples=60,
            confidence_level=0.9,
            method='percentile',
            rng=np.random.default_rng(5),
        )

    best, worst = comparison.leaderboard
    assert [best.map, worst.map] == [lwlrap(ONE).value, lwlrap(OTHER).value]
    for standing, rows in (best, ONE), (worst, OTHER):
        interval = bootstrap(lambda places, rows=rows: lwlrap_of_rows([rows[at] for at in places]))
        bounds = standing.interval.low, standing.interval.high
        # The accumulator adds precisions as fractions; here the LRAP of a sample is rounded first.
        assert bounds == pytest.approx(tuple(interval.confidence_interval), abs=1e-12)
    found = bootstrap(
        lambda places: (
            lwlrap_of_rows([ONE[at] for at in places])
            - lwlrap_of_rows([OTHER[at] for at in places])
        )
    )
    (pair,) = comparison.pairs
    bounds = pair.interval.low, pair.interval.high
    assert bounds == pytest.approx(tuple(found.confidence_interval), abs=1e-12)
    assert pair.difference == best.map - worst.map
    below = sum(each <= 1e-12 for each in found.bootstrap_distribution)
    above = sum(each >= -1e-12 for each in found.bootstrap_distribution)
    assert pair.p == min(1, 2 * (min(below, above) + 1) / 61)


def test_what_json_holds_is_enough():
    """Results of JSON, in any order of runs, give the comparison of the scores themselves."""
    scores = {'one': lwlrap(ONE), 'other': lwlrap(OTHER)}
    read = {
        name: read_results(io.StringIO(each.to_json(per_query=True)))
        for name, each in reversed(scores.items())
    }
    settings = {'resamples': 100, 'baseline': 'one', 'correction': 'bh'}
    written = json.dumps(compare(scores, **settings).to_dict())
    assert json.dumps(compare(read, **settings).to_dict()) == written
    jsonschema.Draft202012Validator(SHAPE).validate(json.loads(written))
    assert json.loads(written)['manifest']['parameters']['interval'] == 'percentile'


def test_what_is_no_mean_has_none_of_what_means_have():
    scores = {name: lwlrap(sounds_of(seed)) for seed, name in enumerate('abc')}
    comparison = compare(scores, resamples=200)
    for pair in comparison.pairs:
        assert [pair.wins, pair.ties, pair.losses, pair.dz, pair.n_nonzero] == [None] * 5
        assert pair.reason == 'lwlrap is no mean over queries: it is a mean over labels'
    assert comparison.values == {}
    assert comparison.caption() == (
        'lwlrap of 40 queries, with 95 % intervals (percentiles of 200 resamples of queries, of '
        'each of which lwlrap was computed again). p by the same resamples, corrected by Holm over '
        'all pairs of runs for each metric. Seed 0.'
    )
    for text in comparison.to_markdown(), render(comparison._document(pairs=True), 'latex'):
        assert 'corrected p' in text
        assert 'dz' not in text
    values = comparison.plot.leaderboard().to_dict()['data']['values']
    assert [each['run'] for each in values] == comparison.runs
    for made in comparison.plot.scatter, comparison.to_html:
        with pytest.raises(ParameterError, match='metric: found lwlrap, expected a mean over q'):
            made()
    assert 'p by' not in compare({'a': scores['a']}, resamples=100).caption()
    other = {name: lwlrap(sounds_of(seed)) for seed, name in enumerate('bac')}
    (order,) = compare(scores, also={'other': other}, resamples=200).orders
    assert (order.a, order.b) == ('lwlrap', 'other lwlrap')


def test_equal_runs_are_not_told_apart_and_pass():
    reverse = [(true, scores and [-each for each in scores]) for true, scores in ONE]
    scores = {'one': lwlrap(ONE), 'same': lwlrap(ONE), 'less': lwlrap(reverse)}
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
    single = compare({'a': lwlrap([({0}, [1.0, 0.5, 0])])}, resamples=50)
    assert single.leaderboard[0].interval.reason == 'all resamples have one value'


@pytest.mark.parametrize(
    ('settings', 'found'),
    [
        ({'interval': 'plus2'}, "interval: found 'plus2' for lwlrap, expected another or none: "),
        ({'permutations': 50}, 'permutations: found 50 for lwlrap'),
        ({'correction': 'tukey'}, "correction: found 'tukey' for lwlrap"),
        ({'by': 'relevant'}, "by: found 'relevant' for lwlrap"),
        ({'by': pandas.DataFrame({'item': ['q'], 'group': ['g']})}, 'by: found .* for lwlrap'),
        ({'cluster': 'video'}, "cluster: found 'video' for lwlrap"),
        ({'power': 0.1}, 'power: found 0.1 for lwlrap'),
    ],
)
def test_what_only_means_have_is_refused(settings, found):
    with pytest.raises(ParameterError, match=found) as error:
        compare({'a': lwlrap(ONE), 'b': lwlrap(OTHER)}, **settings)
    assert '\n' not in str(error.value)


def test_runs_that_cannot_be_resampled():
    few = [({0}, [1.0, 0.5, 0]), (set(), [0, 0, 1.0]), (set(), None)]
    message = 'of 50 resamples of 3 queries have no true label'
    with pytest.raises(UndefinedScoreError, match=message):
        compare({'a': lwlrap(few)}, resamples=50)


def test_global_ap_has_no_value_by_query():
    files = 'samples/landmarks_truth.csv', 'samples/landmarks_predictions.csv'
    score = evaluate_gap(*files, name='one', per_query=True)
    (read,) = read_results(io.StringIO(score.to_json(per_query=True)))
    for each in score, read:
        with pytest.raises(
            ParameterError,
            match='compare: found GAP of one, expected a metric with a value by query: the rank of '
            'a prediction depends on those of all queries',
        ):
            compare([each])


def test_few_resamples_are_warned_of():
    with pytest.warns(DataWarning, match='^20 resamples give no .*: take 40 or more$'):
        compare({'a': lwlrap(ONE), 'b': lwlrap(OTHER)}, resamples=20)
