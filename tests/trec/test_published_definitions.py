"""Definitions of other fields: their published loops and figures, and scikit-learn."""

import pytest
from oracle import CLOSE

from mediaeval_ap import evaluate_trec, metrics

GOOD, BAD, JUNK = 1, 0, -1


def qrels_and_run(kinds_by_topic, n_missed):
    """Judge every document of each ranking, and good ones that it misses."""
    qrels, run = [], []
    for topic, kinds in kinds_by_topic.items():
        for rank, kind in enumerate(kinds):
            qrels.append((topic, f'd{rank}', kind))
            run.append((topic, f'd{rank}', float(-rank)))
        qrels += [(topic, f'missed{i}', GOOD) for i in range(n_missed[topic])]
    return qrels, run


def test_trapezoids_by_hand():
    """Ranks are those without junk."""
    kinds = {
        'a': [BAD, GOOD, GOOD, BAD, BAD],  # ((0 + 1/2)/2 + (1/2 + 2/3)/2) / 3
        'b': [JUNK, GOOD, BAD, JUNK, GOOD],  # ((1 + 1)/2 + (1/2 + 2/3)/2) / 2
        'c': [BAD, BAD, JUNK, GOOD],  # ((0 + 1/3)/2) / 1
    }
    n_missed = {'a': 1, 'b': 0, 'c': 0}
    by_hand = [5 / 18, 19 / 24, 1 / 6]
    evaluation = evaluate_trec(
        *qrels_and_run(kinds, n_missed), 'all', definition='oxford', ignore=JUNK
    )
    assert evaluation.ap[:, 0].tolist() == pytest.approx(by_hand, **CLOSE)
    assert evaluation.map[0] == pytest.approx(89 / 216, **CLOSE)
    assert evaluation.n_relevant.tolist() == [3, 2, 1]


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
