"""lwlrap compared: each sample is a cluster of its labels."""

import io
import json
from fractions import Fraction

import numpy as np
import oracle_comparison as oracle
import pandas
import pytest
from schemas import follow_schema

from mediaeval_ap import compare, evaluate_gap, evaluate_lrap, read_results
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.render.formats import render

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

CLASSES = ['x', 'y', 'z']


def lwlrap(sounds, name=None):
    """The score of sounds: the true classes of each, and the scores of all classes, or None."""
    ids = [f'q{place:03}' for place in range(len(sounds))]
    labels = [','.join(CLASSES[each] for each in true) for true, _ in sounds]
    truth = pandas.DataFrame({'fname': ids, 'labels': labels})
    scored = [(place, *scores) for place, (_, scores) in zip(ids, sounds, strict=True) if scores]
    table = pandas.DataFrame(scored, columns=['fname', *CLASSES])
    return evaluate_lrap(truth, table, label_weighted=True, missing='zero', name=name)


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


def labels_of(sounds):
    """Sum of precisions and number of labels of each sound that has a label, in fractions."""
    units = []
    for true, scores in sounds:
        ranked = sorted(range(3), key=lambda at: -scores[at]) if scores else []
        ranks = [rank for rank, at in enumerate(ranked, 1) if at in true]
        precisions = [Fraction(n, rank) for n, rank in enumerate(ranks, 1)]
        if true:
            units.append((sum(precisions, Fraction(0)), len(true)))
    return units


def test_intervals_and_p_are_those_of_samples_as_clusters():
    """The oracle on sums by sample, in fractions; a sample without scores has the sum 0."""
    sounds = {'one': ONE[:18], 'other': OTHER[:18], 'third': sounds_of(3)[:18]}
    comparison = compare({name: lwlrap(each) for name, each in sounds.items()}, level=0.9)
    for standing in comparison.leaderboard:
        assert standing.map == lwlrap(sounds[standing.run]).value
        if len({total / n for total, n in labels_of(sounds[standing.run])}) == 1:
            assert standing.interval.reason == 'all units have one mean'
            continue
        bounds = oracle.expanded_abc(*zip(*labels_of(sounds[standing.run]), strict=True), 0.9)
        # LRAP of a sample is rounded before it is summed.
        assert [standing.interval.low, standing.interval.high] == pytest.approx(bounds, abs=1e-12)
    pair = comparison.pairs[-1]
    a, b = labels_of(sounds[pair.a]), labels_of(sounds[pair.b])
    sizes = [n for _, n in a]
    differences = [one - other for (one, _), (other, _) in zip(a, b, strict=True)]
    assert pair.difference == lwlrap(sounds[pair.a]).value - lwlrap(sounds[pair.b]).value
    assert pair.p == float(oracle.sign_flip_p(differences))
    assert pair.n_nonzero == sum(each != 0 for each in differences)
    assert comparison.counts['units'] == len(sizes) < comparison.counts['queries'] == 18


def test_what_json_holds_is_enough():
    """Results of JSON, in any order of runs, give the comparison of the scores themselves."""
    reverse = [(true, scores and [-each for each in scores]) for true, scores in ONE]
    scores = {'one': lwlrap(ONE), 'same': lwlrap(ONE), 'less': lwlrap(reverse)}
    read = {
        name: read_results(io.StringIO(each.to_json())) for name, each in reversed(scores.items())
    }
    settings = {'baseline': 'one', 'correction': 'bh', 'fail_if_worse': 0.1, 'power': 0.1}
    comparison = compare(scores, **settings)
    as_json = json.dumps(comparison.to_dict())
    assert json.dumps(compare(read, **settings).to_dict()) == as_json
    follow_schema(json.loads(as_json), 'comparison-3')
    verdicts = {each.run: each.verdict for each in comparison.verdicts}
    assert verdicts == {'same': 'not worse', 'less': 'worse'}
    ranks = {each.run: each.rank for each in comparison.leaderboard}
    assert ranks == {'one': 1, 'same': 1, 'less': 3}
    assert sorted(bool(each.n_queries) for each in comparison.power) == [False, True, True]


def test_what_is_no_mean_has_none_of_what_means_have():
    scores = {name: lwlrap(sounds_of(seed)) for seed, name in enumerate('abc')}
    comparison = compare(scores)
    for pair in comparison.pairs:
        assert [pair.wins, pair.ties, pair.losses, pair.dz] == [None] * 4
        assert pair.reason == 'lwlrap is not a mean over queries: it is a mean over labels'
    assert comparison.values == {}
    assert comparison.caption().startswith('lwlrap of 40 queries, with 95 % intervals (methods')
    assert comparison.caption().endswith('corrected by Holm over all pairs of runs.')
    for text in comparison.to_markdown(), render(comparison.document(pairs=True), 'latex'):
        assert 'corrected p' in text
        assert 'dz' not in text
    values = comparison.plot.leaderboard().to_dict()['data']['values']
    assert [each['run'] for each in values] == comparison.runs
    for made in comparison.plot.scatter, comparison.to_html:
        with pytest.raises(ParameterError, match='metric: found lwlrap, expected a mean over q'):
            made()
    assert 'Tests' not in compare({'a': scores['a']}).caption()
    other = {name: lwlrap(sounds_of(seed)) for seed, name in enumerate('bac')}
    (order,) = compare(scores, also={'other': other}).orders
    assert (order.a, order.b) == ('lwlrap', 'other lwlrap')


def test_what_only_means_have_is_refused():
    groups = pandas.DataFrame({'item': ['q'], 'group': ['g']})
    for settings in {'by': 'relevant'}, {'by': groups}, {'cluster': 'video'}:
        with pytest.raises(ParameterError, match=f'{next(iter(settings))}: found '):
            compare({'a': lwlrap(ONE), 'b': lwlrap(OTHER)}, **settings)


def test_global_ap_has_no_value_by_query():
    files = 'samples/landmarks_truth.csv', 'samples/landmarks_predictions.csv'
    found = 'compare: found GAP of one, expected a metric with a value by query: the rank of a pred'
    with pytest.raises(ParameterError, match=found):
        compare([evaluate_gap(*files, name='one', per_query=True)])
