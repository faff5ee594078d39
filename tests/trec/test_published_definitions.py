"""Definitions of other fields: their published loops and figures, and scikit-learn."""

import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle import CLOSE
from trec_rows import quiet

from mediaeval_ap import evaluate_trec, metrics

# Of the README of Clone-detection-POJ-104 in microsoft/CodeXGLUE, which prints MAP@R 0.5833.
CLONES = {'0': '12', '1': '02', '2': '01', '3': '45', '4': '35', '5': '43'}
PREDICTED = {'0': '32', '1': '04', '2': '01', '3': '42', '4': '15', '5': '43'}  # best first


def test_map_at_r_of_code_clones():
    qrels = {code: dict.fromkeys(clones, 1) for code, clones in CLONES.items()}
    run = {code: {first: 2, second: 1} for code, (first, second) in PREDICTED.items()}
    evaluation = evaluate_trec(qrels, run, 'all', definition='map-at-r')
    assert round(evaluation.map[0], 4) == 0.5833
    value = metrics.mean_average_precision_at_k(
        list(map(list, CLONES.values())),
        [list(PREDICTED[code]) for code in CLONES],
        k=499,  # as in the task, where each code has 499 clones
        definition='map-at-r',
    )
    assert round(value, 4) == 0.5833


def test_map_at_r_stops_at_r():
    """A hit at rank 3 does not count for two relevant documents, however large the cutoff is."""
    qrels = {'q': {'a': 1, 'b': 1, 'c': 0}}
    run = {'q': {'a': 3, 'c': 2, 'b': 1}}
    evaluation = evaluate_trec(qrels, run, [1, 2, 3, 'all'], definition='map-at-r')
    assert evaluation.ap[0].tolist() == [0.5] * 4
    assert evaluate_trec(qrels, run, 'all').map[0] == pytest.approx(5 / 6, **CLOSE)


SCORES = [0.0, -0.0, 0.5, 0.25, 1e300, -1e300, 5e-324]


@quiet
@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from(SCORES)), min_size=1, max_size=40))
def test_ties_by_threshold_are_those_of_scikit_learn(rows):
    from sklearn.metrics import auc, average_precision_score, precision_recall_curve

    relevance, scores = zip(*rows, strict=True)
    assume(any(relevance))
    qrels = [('q', f'd{i}', relevant) for i, relevant in enumerate(relevance)]
    run = [('q', f'd{i}', score) for i, score in enumerate(scores)]
    random.Random(len(rows)).shuffle(run)  # the order of the file has no effect
    peer = average_precision_score(relevance, scores)
    value = evaluate_trec(qrels, run, 'all', ties='threshold').map[0]
    # Each adds up to 40 quotients, in another order.
    assert value == pytest.approx(peer, rel=1e-12)
    precision, recall, _ = precision_recall_curve(relevance, scores)
    trapezoids = evaluate_trec(qrels, run, 'all', ties='threshold', definition='oxford').map[0]
    assert trapezoids == pytest.approx(auc(recall, precision), rel=1e-12)
