"""Qrels and runs as dictionaries, and as ir_measures and ranx hold them."""

from collections import defaultdict
from types import MappingProxyType

import ir_measures
import numpy as np
import pandas
import pytest
from trec_rows import QRELS, RUN

from mediaeval_ap import evaluate_trec
from mediaeval_ap.errors import FormatError, ParameterError

JUDGED = {'7': {'d1': 1, 'd2': 0, 'd3': 2}, '8': {'d1': 1}}
RETURNED = {'7': {'d2': 0.9, 'd1': 0.5}, '8': {'d1': 0.5}}


def as_scored(qrels, run):
    evaluation = evaluate_trec(qrels, run, [1, 10])
    return evaluation.queries, evaluation.ap.tolist(), evaluation.n_relevant.tolist()


def test_dictionaries_are_like_rows():
    expected = as_scored(QRELS, RUN)
    assert as_scored(JUDGED, RETURNED) == expected
    assert as_scored(MappingProxyType(JUDGED), defaultdict(dict, RETURNED)) == expected
    assert evaluate_trec(JUDGED, RETURNED).inputs['reference'].name == '<qrels>'


def test_a_topic_may_be_a_series():
    judged, returned = (
        {topic: pandas.Series(numbers) for topic, numbers in by_topic.items()}
        for by_topic in (JUDGED, RETURNED)
    )
    assert as_scored(judged, returned) == as_scored(QRELS, RUN)
    with pytest.raises(FormatError, match=r"^<run>, topic '8', docno 'd1', score: found nan"):
        evaluate_trec(judged, returned | {'8': pandas.Series({'d1': np.nan})})


def test_rows_of_ir_measures_are_read_by_attribute():
    """A Qrel has its relevance in the third place, and one field more than a row."""
    qrels = [ir_measures.Qrel(*row, iteration='Q0') for row in QRELS]
    run = [ir_measures.ScoredDoc(*row) for row in RUN]
    expected = as_scored(QRELS, RUN)
    assert as_scored(qrels, run) == expected
    assert as_scored(iter(qrels), iter(run)) == expected


def test_objects_of_ranx():
    ranx = pytest.importorskip('ranx', reason='ranx is large; the extra benchmarks installs it')
    qrels = {topic: {d: max(n, 1) for d, n in each.items()} for topic, each in JUDGED.items()}
    judged, run = ranx.Qrels(qrels), ranx.Run(RETURNED, name='mine')
    assert as_scored(judged, run) == as_scored(qrels, RETURNED)
    evaluation = evaluate_trec(judged, run, 10)
    assert [source.name for source in evaluation.inputs.values()] == ['<qrels>', '<run>']
    for exchanged in ((run, judged), (run, run), (judged, judged)):
        with pytest.raises(ParameterError, match=r'found (Run|Qrels) of ranx: are .* exchanged\?'):
            evaluate_trec(*exchanged)


@pytest.mark.parametrize(
    ('qrels', 'run', 'message'),
    [
        ({}, RETURNED, r'^<qrels>: found no rows, expected at least one row of 3 fields: qid'),
        (JUDGED, {'7': {}}, r'^<run>: found no rows'),
        ({'7': {}}, RETURNED, r"^<qrels>, topic '7': found no documents, expected at least one"),
        (JUDGED, {'7': ['d1']}, r"^<run>, topic '7': found \['d1'\] \(list\), .* docno to score"),
        (JUDGED, {7: {'d1': 0.5}}, r"topic 7, docno 'd1', qid: found 7 \(int\), .* \(dtype=str\)"),
        (
            JUDGED,
            {'8': {'d1': 1.0}, '7': {'d1': 1.0, 'd2': '0.5'}},
            r"^<run>, topic '7', docno 'd2', score: found '0.5' \(str\), expected a finite",
        ),
        (JUDGED, {'7': {'d1': float('nan')}}, r"docno 'd1', score: found nan \(float\)"),
        ({'7': {'d1': 0.5}}, RETURNED, r'relevance: found 0\.5, expected an integer'),
        ([ir_measures.ScoredDoc(*row) for row in RUN], RUN, r'^<qrels>, row 1, relevance: found'),
        (QRELS, [RUN[0], ir_measures.Qrel('7', 'd1', 1)], r'^<run>, row 2, score: found Qrel'),
    ],
)
def test_what_is_wrong_is_named_with_its_topic(qrels, run, message):
    with pytest.raises(FormatError, match=message):
        evaluate_trec(qrels, run)


def test_arrays_of_text_are_like_files(folder):
    """A relevance is digits there, too, and a score the text of a number."""
    qrels, run = (np.array(rows, dtype=str) for rows in (QRELS, RUN))
    assert as_scored(qrels, run) == as_scored('qrels', 'run')
    objects = np.array(QRELS, dtype=object), np.array(RUN, dtype=object)
    assert as_scored(*objects) == as_scored('qrels', 'run')
    qrels[2, 2] = '1.'
    with pytest.raises(FormatError, match=r"row 3, relevance: found '1\.', expected an integer in"):
        evaluate_trec(qrels, run)
