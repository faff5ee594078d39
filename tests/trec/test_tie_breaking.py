"""Ties are broken as asked: as trec_eval does, or over every order."""

import itertools

import oracle
import pytest
import pytrec_eval
import strategies
from hypothesis import given
from hypothesis import strategies as st
from trec_rows import map_column, quiet

from mediaeval_ap import definitions, evaluate_trec
from mediaeval_ap.choices import TREC_TIES

topics = st.sampled_from(['7', 'b', 'ü'])


documents = st.sampled_from(['d1', 'd10', 'D2', 'é', 'd/3', 'x'])


# In single precision some of these are equal.
scores = st.sampled_from([-1e300, -1.0, 0.0, 2.5, 1e-300, 1e39, 1e300, 0.5, 0.5 + 1e-12])


qrels = st.lists(
    st.tuples(topics, documents, st.integers(-1, 3)),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row[:2],
)


runs = st.lists(
    st.tuples(topics, documents, scores),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row[:2],
)


K = [1, 2, 'all', 3, 100]


# Precisions are added in doubles, and expected ones are products of a few quotients.
ROUNDING = 1e-14


LENIENT = {'missing': 'zero', 'unknown': 'drop'}


DEFINED = set(itertools.product(definitions.names(), TREC_TIES)) - {('hits', 'expected')}


@quiet
@pytest.mark.parametrize(('definition', 'ties'), sorted(DEFINED))
@strategies.examples(1 / 2)
@given(judged=qrels, returned=runs, level=st.integers(0, 2))
def test_like_every_order_of_equal_scores(ties, definition, judged, returned, level):
    K_allowed = strategies.allowed(K, definition)
    evaluation = evaluate_trec(
        judged,
        returned,
        K_allowed,
        definition=definition,
        ties=ties,
        relevance_level=level,
        **LENIENT,
    )
    assert evaluation.queries == list(dict.fromkeys(row[0] for row in judged))
    for topic, ap in zip(evaluation.queries, evaluation.ap.tolist(), strict=True):
        expected = oracle.evaluate_trec(judged, returned, topic, K_allowed, definition, ties, level)
        assert ap == pytest.approx([float(value) for value in expected], abs=ROUNDING)


@quiet
@given(qrels, runs, st.integers(1, 2))
def test_trec_is_pytrec_eval(judged, returned, level):
    qrel, run = {}, {}
    for topic, document, relevance in judged:
        qrel.setdefault(topic, {})[document] = relevance
    for topic, document, score in returned:
        run.setdefault(topic, {})[document] = score
    cutoffs = [5, 10, 15, 'all']
    evaluator = pytrec_eval.RelevanceEvaluator(qrel, {'map', 'map_cut'}, relevance_level=level)
    results = evaluator.evaluate(run)
    evaluation = evaluate_trec(
        judged, returned, cutoffs, ties='trec_eval-9', relevance_level=level, **LENIENT
    )
    for topic, ap in zip(evaluation.queries, evaluation.ap.tolist(), strict=True):
        if topic in results:
            expected = [results[topic][map_column(k)] for k in cutoffs]
            assert ap == pytest.approx(expected, abs=ROUNDING)
        else:
            assert ap == [0.0] * 4


def test_trec_eval_10_compares_in_double_precision():
    """d1 is relevant, and first only where its score, greater by 1e-9, is not equal."""
    judged, run = [('7', 'd1', 1)], [('7', 'd2', 0.5), ('7', 'd1', 0.5 + 1e-9)]
    first = {ties: evaluate_trec(judged, run, [1], ties=ties).map[0] for ties in TREC_TIES}
    assert first == {
        'trec_eval': 1.0,
        'trec_eval-9': 0.0,
        'expected': 1.0,
        'best': 1.0,
        'worst': 1.0,
    }
    evaluator = pytrec_eval.RelevanceEvaluator({'7': {'d1': 1}}, {'recip_rank'})
    assert evaluator.evaluate({'7': {d: score for _, d, score in run}})['7']['recip_rank'] == 0.5
