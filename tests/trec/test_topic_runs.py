"""Runs of TREC that are ranked, explained, pooled and judged topic by topic."""

from itertools import combinations

import numpy as np
import oracle
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st
from trec_rows import QRELS, RUN, quiet

from mediaeval_ap import AveragePrecision, TrecTopics, definitions, evaluate_trec
from mediaeval_ap.choices import TREC_TIES, UNJUDGED
from mediaeval_ap.definitions import Definition, Repeats
from mediaeval_ap.diagnosis.loss import NAME_PARTS
from mediaeval_ap.errors import FormatError, ParameterError, UndefinedScoreError
from mediaeval_ap.trec.topic_scores import UNORDERED

K = [1, 3, 100]
# Precisions are added in doubles.
ROUNDING = 1e-14
ORDERED = {
    (definition, ties)
    for definition in definitions.names()
    for ties in TREC_TIES
    if ties not in UNORDERED and (definition != 'hits' or ties.startswith('trec_eval'))
}
MOST_UNJUDGED = 5  # documents of a topic: 32 choices of labels

topics = st.sampled_from(['7', 'b', '?'])
documents = st.sampled_from(['d1', 'd10', 'D2', 'é', 'd/3'])


def rows_of(numbers):
    rows = st.tuples(topics, documents, numbers)
    return st.lists(rows, min_size=1, max_size=12, unique_by=lambda row: row[:2])


qrels = rows_of(st.integers(-1, 2))
# In single precision the last two are equal.
runs = rows_of(st.sampled_from([-1.0, 2.5, 0.5, 0.5 + 1e-12]))


def in_qrels(returned, judged):
    return [row for row in returned if row[0] in {topic for topic, *_ in judged}]


@quiet
@pytest.mark.parametrize(('definition', 'ties'), sorted(ORDERED))
@strategies.examples(1 / 4)
@given(qrels, runs, st.integers(0, 2), st.sampled_from(UNJUDGED), st.sampled_from([(), [-1]]))
def test_rankings_are_those_of_a_sorted_list(
    ties, definition, judged, returned, level, unjudged, ignored
):
    """One topic never sees the documents of another; `?` is a topic like any other."""
    skips = unjudged == 'skip'
    assume(not skips or any(0 <= rel < level for *_, rel in judged))
    assume(not ignored or any(rel == -1 for *_, rel in judged))
    returned = in_qrels(returned, judged)
    assume(returned)
    settings = {
        'definition': definition,
        'ties': ties,
        'relevance_level': level,
        'unjudged': unjudged,
        'ignore': ignored,
        'missing': 'zero',
    }
    evaluator = TrecTopics(judged, K, **settings)
    diagnoses = evaluator.explain_at(returned)
    evaluation = evaluate_trec(judged, returned, K, **settings)
    for column, diagnosis in enumerate(diagnoses):
        assert diagnosis.queries == evaluation.queries == list(dict.fromkeys(r[0] for r in judged))
        assert diagnosis.ap.tolist() == evaluation.ap[:, column].tolist()
        assert evaluator.evaluate(returned).to_dict() == evaluation.to_dict()
        assert sum(diagnosis.mean_parts.values()) == pytest.approx(1 - diagnosis.map)
        assert (diagnosis.confused, diagnosis.near_misses) == ([], [])
    for topic in evaluation.queries:
        rows, relevant = oracle.ranked_trec(judged, returned, topic, ties, level, skips, ignored)
        top = evaluator.rank(returned, topic)
        assert top['docno'].tolist() == [document for _, document in rows]
        assert top['score'].tolist() == [score for score, _ in rows]
        assert top['relevant'].tolist() == [document in relevant for _, document in rows]
        found = diagnoses[-1].of(topic).relevant
        ranks = {document: rank for rank, (_, document) in enumerate(rows, 1)}
        assert {shot.shot: shot.rank for shot in found} == {
            document: ranks.get(document) for document in relevant
        }
        assert {shot.kind for shot in found} <= {'own', 'absent'}
    some = evaluation.queries[::-1][:2]
    of_some = evaluator.evaluate(returned, some)
    assert of_some.queries == some
    assert of_some.ap.tolist() == evaluation.ap[::-1][:2].tolist()


@quiet
@given(qrels, runs)
def test_ties_are_bounded_by_their_best_and_worst_order(judged, returned):
    returned = in_qrels(returned, judged)
    assume(returned)
    for diagnosis in TrecTopics(judged, K, missing='zero').explain_at(returned):
        bounds = diagnosis.ties['equal_confidence']
        for values, ties in (
            (bounds.minimum, 'worst'),
            (bounds.expected, 'expected'),
            (bounds.maximum, 'best'),
        ):
            expected = [
                float(
                    oracle.evaluate_trec(judged, returned, topic, [diagnosis.k], 'trec', ties, 1)[0]
                )
                for topic in diagnosis.queries
            ]
            assert values.tolist() == pytest.approx(expected, abs=ROUNDING)


@quiet
@pytest.mark.parametrize('definition', ['trec', 'kaggle', 'oxford', 'map-at-r'])  # without N or H
@strategies.examples(2)
@given(qrels, runs)
def test_the_loss_to_ties_and_to_unjudged_documents(definition, judged, returned):
    """What is won if relevant documents lead their ties, and if no unjudged one is left then.

    At cutoff 1 alone, documents from far below the cutoff may come first.
    """
    returned = in_qrels(returned, judged)
    assume(returned and any(rel == 0 for *_, rel in judged))
    evaluator = TrecTopics(judged, 1, definition=definition, missing='zero')
    for diagnosis in [*evaluator.explain_at(returned), *evaluator.explain_at(returned, K=[2, 100])]:
        for row, topic in enumerate(diagnosis.queries):
            before, after = (
                float(
                    oracle.evaluate_trec(
                        judged, returned, topic, [diagnosis.k], definition, 'best', 1, skips
                    )[0]
                )
                for skips in (False, True)
            )
            parts = {part: losses[row] for part, losses in diagnosis.parts.items()}
            assert diagnosis.ap[row] + parts['ties'] == pytest.approx(before, abs=ROUNDING)
            assert parts['unjudged'] == pytest.approx(after - before, abs=ROUNDING)


def label_choices(pairs):
    for n in range(len(pairs) + 1):
        yield from combinations(pairs, n)


@quiet
@pytest.mark.parametrize('definition', definitions.names())
@strategies.examples(1 / 4)
@given(qrels, runs, runs)
def test_pools_are_those_of_all_labels(definition, judged, first, second):
    """MAP, MAP without a team's own documents, bounds, and the documents to judge."""
    returned = {
        name: rows for name, run in [('a', first), ('b', second)] if (rows := in_qrels(run, judged))
    }
    assume(returned and any(rel == 0 for *_, rel in judged))
    settings = {'definition': definition, 'missing': 'zero'}
    evaluator = TrecTopics(judged, K, **settings)
    pool = evaluator.pool(returned)
    known = {row[:2] for row in judged if row[2] >= 0}
    pairs = {row[:2] for rows in returned.values() for row in rows}
    unjudged = sorted(pairs - known)
    assume(len(unjudged) <= MOST_UNJUDGED)
    assert pool.counts['unjudged'] == len(unjudged)
    for name, rows in returned.items():
        scored = evaluate_trec(judged, rows, K, **settings)
        assert list(pool.means[name].values()) == scored.map.tolist()
        values = []
        others = [row for row in judged if row[:2] not in unjudged]
        for chosen in label_choices(unjudged):
            labelled = others + [(*pair, int(pair in chosen)) for pair in unjudged]
            values.append(evaluate_trec(labelled, rows, K, **settings).map)
        bounds = pool.bounds[name]
        assert list(bounds.low.values()) == pytest.approx(np.min(values, axis=0), abs=ROUNDING)
        assert list(bounds.high.values()) == pytest.approx(np.max(values, axis=0), abs=ROUNDING)
    for without in pool.without:
        own = {row[:2] for row in returned[without.team]}
        own -= {row[:2] for name, rows in returned.items() if name != without.team for row in rows}
        reduced = [(*row[:2], 0 if row[:2] in own else row[2]) for row in judged]
        for name, rows in returned.items():
            scored = evaluate_trec(reduced, rows, K, **settings)
            assert list(without.means[name].values()) == scored.map.tolist()
    queue = evaluator.judge_next(returned, n=100, strategy='depth')
    assert {(line.person_name, line.shot_id) for line in queue.lines} == {*unjudged}


@quiet
def test_a_page_is_that_of_the_exported_names(tmp_path):
    """All of its board, though names of another spelling are behind the exported rankings."""
    reference = [('x', f'v{n}', str(n), f'ann_{n % 4}') for n in range(12)]
    campaign = {
        'a': [(*row, 1 / (n + 1)) for n, row in enumerate(reference) if n % 3],
        'b': [(*row[:3], f'{row[3]}0', n / 12) for n, row in enumerate(reference)],
    }
    of_names = AveragePrecision(reference, [1, 10], definition='trec')
    files = {}
    for name, rows in campaign.items():
        files[name] = tmp_path / f'{name}.run'
        of_names.export_trec(rows, tmp_path / 'qrels', files[name])
    page = of_names.report(campaign, cluster='none').to_dict()
    of_topics = TrecTopics(tmp_path / 'qrels', [1, 10])
    assert (
        of_topics.report(files).to_dict()['comparison']['leaderboard']
        == (page['comparison']['leaderboard'])
    )


@pytest.mark.parametrize(
    ('settings', 'parameter'),
    [
        ({'ties': 'expected'}, 'ties: found expected, expected an order'),
        ({'ties': 'threshold'}, 'ties: found threshold, expected an order'),
        ({'missing': 'skip'}, 'missing: found skip, expected error or zero'),
        ({'relevance_level': 'high'}, 'relevance_level: found'),
    ],
)
def test_settings_without_a_ranking_are_refused(settings, parameter):
    with pytest.raises(ParameterError, match=f'^{parameter}'):
        TrecTopics(QRELS, **settings)


def test_what_is_wrong_is_told_as_by_scores():
    with pytest.raises(UndefinedScoreError, match='queries have nothing relevant'):
        TrecTopics([('7', 'd1', 0)], queries_without_relevant='skip')
    with pytest.raises(FormatError, match="'d1' again for topic '7'"):
        TrecTopics([('7', 'd1', 0), ('7', 'd1', 1)])
    evaluator = TrecTopics(QRELS)
    with pytest.raises(FormatError, match="no row for '8'"):
        evaluator.explain(RUN[:1])
    with pytest.raises(ParameterError, match='by: found'):
        evaluator.judge_next([RUN], by='shot')


@quiet
def test_condensed_lists_count_the_documents_of_their_topic():
    """N is not the number of judged documents of the run; unjudged ones stay in the queue."""
    judged = [('7', 'd1', 1), ('7', 'd2', 0), ('8', 'd2', 1), ('8', 'd3', 1), ('7', 'd3', 1)]
    returned = [('7', 'd1', 0.9), ('7', 'd9', 0.5), ('8', 'd2', 0.9), ('8', 'd3', 0.5)]
    of_length = Definition('length', ('k',), ('R', 'k', 'N'), 0.0, Repeats.DROP, 'a test')
    settings = {'definition': of_length, 'unjudged': 'skip'}
    expected = evaluate_trec(judged, returned, 10, **settings)
    assert expected.ap.tolist() == [[1.0], [1.0]]
    evaluator = TrecTopics(judged, 10, **settings)
    assert evaluator.explain(returned, k=10).ap.tolist() == [1.0, 1.0]
    queue = evaluator.judge_next({'a': returned}, strategy='depth')
    assert [(line.person_name, line.shot_id) for line in queue.lines] == [('7', 'd9')]
    report = evaluator.report({'a': returned})
    assert report.evaluations['a'].judged.tolist() == [[0.5], [1.0]]  # of whole rankings


@quiet
def test_queries_are_topics():
    """Given ones, unknown ones, those that begin with ?, and those without a relevant document."""
    judged = [*QRELS, ('9', 'd1', 0)]
    returned = [*RUN, ('9', 'd1', 1.0)]
    evaluator = TrecTopics(judged, 10)
    assert evaluator.queries == ['7', '8', '9']
    assert TrecTopics([('?', 'd1', 1), *QRELS]).queries == ['?', '7', '8']
    assert evaluator.explain(returned, ['8', '7']).queries == ['8', '7']
    report = evaluator.report({'a': returned}, ['8', '7'])
    assert report.evaluations == {'a': evaluator.evaluate(returned, ['8', '7'], name='a')}
    skipping = TrecTopics(judged, 10, queries_without_relevant='skip')
    diagnosis = skipping.explain(returned)
    assert diagnosis.queries == ['7', '8']
    assert diagnosis.evaluation.counts['queries_skipped'] == 1
    for ask in evaluator.rank, lambda run, query: evaluator.explain(run, [query]):
        with pytest.raises(ParameterError, match="<qrels>: found no topic 'nobody'"):
            ask(returned, 'nobody')


def test_a_judgement_of_a_topic_leaves_the_queue():
    queue = TrecTopics(QRELS, 10).judge_next({'a': [*RUN, ('8', 'd9', 0.1)]}, strategy='depth')
    assert [(line.person_name, line.shot_id) for line in queue.lines] == [('8', 'd9')]
    assert queue.after(('8', 'd9', 1)).lines == []


def test_runs_are_set_against_each_other_without_names():
    diagnoses = [TrecTopics(QRELS, 10).explain(run) for run in (RUN, RUN[1:])]
    difference = diagnoses[0].against(diagnoses[1])
    assert difference.map == pytest.approx(1 / 8)  # d1 of topic 7 rises from rank 2 to 1
    assert set(difference.mean_parts).isdisjoint(NAME_PARTS)
    assert not set(NAME_PARTS) & {*diagnoses[0].to_frame()}
