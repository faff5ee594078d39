"""Definitions of other fields: their published loops and figures, and scikit-learn."""

import random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle import CLOSE
from trec_rows import quiet

from mediaeval_ap import evaluate_trec, metrics

GOOD, BAD, JUNK = 1, 0, -1


def oxford_loop(ranking, n_good, k=None):
    """Walk down a ranking as compute_ap.cpp of the Oxford Buildings does, after the junk is out.

    The area under precision over recall, by trapezoids; precision is 1 before the first rank.
    """
    area, hits, recall, precision = 0.0, 0, 0.0, 1.0
    for rank, kind in enumerate([kind for kind in ranking if kind != JUNK][:k], 1):
        hits += kind == GOOD
        area += (hits / n_good - recall) * (precision + hits / rank) / 2
        recall, precision = hits / n_good, hits / rank
    return area


@quiet
@given(st.lists(st.sampled_from([GOOD, BAD, JUNK]), min_size=1, max_size=12), st.integers(0, 2))
def test_the_loop_of_oxford(kinds, n_missed):
    n_good = kinds.count(GOOD) + n_missed
    qrels = {'q': {f'd{rank}': kind for rank, kind in enumerate(kinds)} | {'not returned': JUNK}}
    qrels['q'] |= {f'missed{i}': GOOD for i in range(n_missed)}
    run = {'q': {f'd{rank}': float(-rank) for rank in range(len(kinds))}}
    evaluation = evaluate_trec(qrels, run, [1, 3, 'all'], definition='oxford', ignore=JUNK)
    loop = [oxford_loop(kinds, n_good, k) if n_good else 0 for k in (1, 3, None)]
    assert evaluation.ap[0].tolist() == pytest.approx(loop, **CLOSE)


def mean_precision_of_hits(kinds, k):
    """Average as CalcTopMap of deep hashing does; 0 without a hit."""
    ranks = [rank for rank, kind in enumerate(kinds[:k], 1) if kind == GOOD]
    precisions = [hits / rank for hits, rank in enumerate(ranks, 1)]
    return sum(precisions) / len(precisions) if precisions else 0.0


@given(
    st.lists(st.lists(st.sampled_from([GOOD, BAD]), min_size=5, max_size=5), min_size=1),
    st.integers(1, 6),
)
@quiet
def test_top_map_of_deep_hashing(kinds_by_query, k):
    scores = -np.arange(5.0)[np.newaxis].repeat(len(kinds_by_query), axis=0)
    evaluation = evaluate_trec(np.array(kinds_by_query), scores, k, definition='hits')
    loop = [mean_precision_of_hits(kinds, k) for kinds in kinds_by_query]
    assert evaluation.ap.ravel().tolist() == pytest.approx(loop, **CLOSE)


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
