"""Queries without a relevant item are scored or left out, everywhere in the same way."""

import pandas
import pytest

from mediaeval_ap import (
    AveragePrecision,
    PersonDiscovery2015,
    challenges,
    collect,
    compare,
    evaluate_trec,
    index,
    read_results,
)
from mediaeval_ap.errors import (
    FormatError,
    ParameterError,
    UndefinedScoreError,
    WithoutRelevantWarning,
)

SKIP = {'queries_without_relevant': 'skip'}
REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'ann'), ('x', 'w', '1', 'bob')]
RUN = [('x', 'v', '1', 'ann', 0.9), ('x', 'w', '2', 'ann', 0.8), ('x', 'w', '1', 'bob', 0.5)]
ASKED = ['zoe', 'ann', 'zoe', 'bob', 'carl']
ANSWERABLE = ['ann', 'bob']
NOTE = '3 of 5 queries have nothing relevant, and are left out'


def made(**settings):
    return AveragePrecision(REFERENCE, [1, 'all'], **settings)


@pytest.fixture
def expected():
    """The result without the queries that are left out, which nobody asked for."""
    return made().evaluate(RUN, ANSWERABLE)


def skips(call):
    with (
        pytest.warns(WithoutRelevantWarning, match=r'^<reference>: 2 of 4 queries are not names'),
        pytest.warns(WithoutRelevantWarning, match=f'^<reference>: {NOTE}$'),
    ):
        return call()


def test_an_evaluation_tells_what_was_left_out(expected):
    found = skips(lambda: made(**SKIP).evaluate(RUN, ASKED, measures='RR'))
    assert (found.queries, found.map.tolist()) == (expected.queries, expected.map.tolist())
    assert found.mean_counts == {'MAP@1': 2, 'MAP': 2, 'RR': 2}
    assert found.notes == [NOTE]
    assert found.counts == {**expected.counts, 'queries_skipped': 3, 'placeholders': 0}
    assert found.to_dict()['manifest']['parameters'] == {'K': [1, 'all'], **SKIP}
    assert made(**SKIP).evaluate(RUN).counts['queries_skipped'] == 0
    assert "queries_without_relevant='skip')" in repr(made(**SKIP))
    with pytest.raises(ParameterError, match="found 'drop', expected one of count, skip"):
        made(queries_without_relevant='drop')


def test_every_way_to_score_leaves_out_the_same(expected, tmp_path):
    average_precision = made(**SKIP)
    store = index(RUN, tmp_path / 'run.store')
    folder = tmp_path / 'blocks'
    ways = [
        lambda: average_precision.evaluate(RUN, ASKED),
        lambda: average_precision.evaluate(store, ASKED, jobs=2),
        lambda: average_precision.evaluate(RUN, ASKED, resume=folder),
        lambda: average_precision.live(RUN).evaluate(ASKED),
        lambda: average_precision.explain(RUN, ASKED, k='all').evaluation,
        lambda: average_precision.report({'one': RUN}, ASKED).evaluations['one'],
    ]
    for way in ways:
        found = skips(way)
        assert (found.queries, found.map[-1]) == (ANSWERABLE, expected.map[-1])
        assert found.notes == [NOTE]
        assert found.counts['queries_skipped'] == 3
    (collected,) = collect(folder)
    again = skips(lambda: average_precision.evaluate(RUN, ASKED, resume=folder))
    assert collected.to_dict() == again.to_dict()
    reason = 'queries_without_relevant: found skip, expected count'
    with pytest.raises(FormatError, match=reason):
        made().evaluate(RUN, ASKED, resume=folder)


def test_a_session_answers_what_it_is_asked():
    live = made(**SKIP).live(RUN)
    with pytest.warns(WithoutRelevantWarning, match='the query is not a name in the reference'):
        assert live.send('zoe') == ([1.0, 1.0], 0)
    assert skips(lambda: live.evaluate(ASKED)).queries == ANSWERABLE


def test_blocks_of_queries_add_what_they_left_out():
    whole = skips(lambda: made(**SKIP).evaluate(RUN, ASKED))
    with pytest.warns(WithoutRelevantWarning):
        parts = [made(**SKIP).evaluate(RUN, each) for each in (ASKED[:2], ASKED[2:])]
    assert type(whole).concat(parts).to_dict() == whole.to_dict()


def test_comparisons_say_it_and_refuse_a_mixture(tmp_path):
    skipped = skips(lambda: made(**SKIP).evaluate(RUN, ASKED))

    comparison = compare([skipped])
    assert comparison.counts['queries_skipped'] == 3
    assert '3 of 5 queries have nothing relevant, and are left out' in comparison.notes
    other = made().evaluate(RUN[:1], ANSWERABLE)
    files = []
    for name, each in {'skip': skipped, 'count': other}.items():
        each.to_json(tmp_path / name, per_query=True)
        files += read_results(tmp_path / name)
    reason = "queries_without_relevant: found '(count|skip)' for '(a|b)', expected '(count|skip)'"
    with pytest.raises(ParameterError, match=reason):
        compare(dict(zip('ab', files, strict=True)))


def test_nothing_is_left_to_score(tmp_path):
    queries = tmp_path / 'queries'
    queries.write_text('zoe\ncarl\n')
    found = '2 of 2 queries have nothing relevant'
    for call in (made(**SKIP).evaluate, made(**SKIP).explain):
        with pytest.raises(UndefinedScoreError, match=f'^<queries>: {found} in <reference>;'):
            call(RUN, ['zoe', 'carl'])
        with pytest.raises(UndefinedScoreError, match=f'queries: {found} in <reference>;'):
            call(RUN, queries)
    discovery = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')], **SKIP)
    with pytest.raises(UndefinedScoreError, match='1 of 1 queries have nothing relevant'):
        discovery.evaluate([('v', '1', 'ann', 0.5)], queries=['zoe'])
    with pytest.raises(
        UndefinedScoreError, match=r'^<qrels>: 1 of 1 queries have nothing relevant'
    ):
        evaluate_trec({'7': {'d': 0}}, {'7': {'d': 1.0}}, **SKIP)
    truth = pandas.DataFrame({'fname': ['a'], 'labels': ['']})
    scores = pandas.DataFrame({'fname': ['a'], 'rain': [0.5]})
    with pytest.raises(UndefinedScoreError, match='1 of 1 queries have no true label'):
        challenges.evaluate_lrap(truth, scores, **SKIP)


QRELS = {'1': {'d': 1, 'e': 0}, '2': {'d': 0}, '3': {'d': 2}, '4': {'d': 0}}
RETURNED = {'1': {'e': 0.9, 'd': 0.5}, '2': {'d': 0.5}, '3': {'d': 0.5}}


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_topics_of_trec():
    with pytest.raises(FormatError, match="no row for '4'"):
        evaluate_trec(QRELS, RETURNED, 10)
    found = evaluate_trec(QRELS, RETURNED, 10, measures='P@1', **SKIP)  # nobody misses topic 4
    assert (found.queries, found.ap.tolist()) == (['1', '3'], [[0.5], [1.0]])
    assert found.mean_measures == {'P@1': 0.5}
    assert found.mean_counts == {'MAP@10': 2, 'P@1': 2}
    counts = {'queries': 2, 'queries_skipped': 2, 'missing': 0, 'unknown': 0}
    assert {name: found.counts[name] for name in counts} == counts
    assert found.notes == ['2 of 4 queries have nothing relevant, and are left out']
    scored = evaluate_trec(QRELS, RETURNED, 10, missing='zero')
    assert (scored.map.tolist(), scored.mean_counts) == ([0.375], {'MAP@10': 4})
    one = evaluate_trec(QRELS, {'2': {'d': 1}, '3': {'d': 1}}, 10, missing='skip', **SKIP)
    assert (one.queries, one.counts['missing']) == (['3'], 1)
    with pytest.raises(UndefinedScoreError, match='is judged and has a relevant document'):
        evaluate_trec(QRELS, {'2': {'d': 1.0}}, 10, missing='skip', **SKIP)


def test_the_protocol_of_2015():
    shots, reference = [('v', '1'), ('v', '2')], [('v', '1', 'ann'), ('v', '2', 'bob')]
    labels, asked = [('v', '1', 'ann', 0.5)], ['zoe', 'ann', 'bob']
    seen = [('v', '1', 'ann', 'image')]
    given_out = []
    for settings in {}, SKIP:
        task = PersonDiscovery2015(shots, reference, evidence_reference=seen, **settings)
        with pytest.warns(WithoutRelevantWarning):
            given_out.append(task.evaluate(labels, [('ann', 'v', '1', 'image')], asked))
    counted, skipped = given_out
    assert counted.to_dict()['means'] == {
        'MAP': pytest.approx(2 / 3),
        'mean correctness': pytest.approx(2 / 3),
        'EwMAP': pytest.approx(2 / 3),
    }
    assert skipped.to_dict()['means'] == {'MAP': 0.5, 'mean correctness': 0.5, 'EwMAP': 0.5}
    assert set(skipped.mean_counts.values()) == {2}
    assert skipped.notes[0] == '1 of 3 queries have nothing relevant, and are left out'
    assert skipped.to_dict()['manifest']['parameters'] == {'ratio': 0.95, **SKIP}


def test_samples_without_a_label():
    truth = pandas.DataFrame({'fname': ['a', 'b', 'c'], 'labels': ['rain', '', '']})
    scores = pandas.DataFrame({'fname': ['a', 'b'], 'rain': [0.5, 0.5], 'wind': [0.9, 0.5]})
    with pytest.warns(WithoutRelevantWarning, match='2 of 3 queries have no true label, and are'):
        found = challenges.evaluate_lrap(truth, scores, **SKIP)
    counted = challenges.evaluate_lrap(truth, scores.reindex([0, 1, 1]).assign(fname=[*'abc']))
    assert (found.value, found.mean_counts) == (0.5, {'LRAP': 1})
    assert (counted.value, counted.mean_counts) == (pytest.approx(2.5 / 3), {'LRAP': 3})
    assert found.notes[0] == '2 of 3 queries have no true label, and are left out'
    assert (found.counts['queries_skipped'], found.parameters['queries_without_relevant']) == (
        2,
        'skip',
    )
