"""Ids that lost their leading zeros in some rows are told at any overlap, and nothing else is."""

import warnings

import numpy as np
import pandas
import pytest
from challenge_inputs import table
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, challenges, evaluate_trec, index
from mediaeval_ap.errors import NoOverlapWarning
from mediaeval_ap.evaluation.data_warnings import overlap

quiet = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
LENIENT = {'missing': 'zero', 'unknown': 'drop'}


def lost(result):
    return [str(warning) for warning in result.warnings if warning.kind == 'lost-zeros']


def bare(text):
    while text[:1] == '0':
        text = text[1:]
    return text


ids = st.one_of(
    st.text('01a.', min_size=1, max_size=4), st.integers(0, 120).map(str), st.just('d0')
)


@given(st.sets(ids, min_size=1), st.sets(ids, min_size=1), st.sampled_from(['texts', 'bytes']))
def test_lost_ids_are_those_of_a_slow_count(here, there, kind):
    """Without a common id the cause of that is told instead."""
    n_lost = sum(
        text not in there and any(bare(text) == bare(other) for other in there) for text in here
    )
    run, truth = here, there
    if kind == 'bytes':
        run, truth = (np.array([text.encode() for text in texts], 'S8') for texts in (here, there))
    is_known = bool(here & there)
    found = overlap('run', 'ids', run, 'truth', truth, None)
    zeros = any(text[0] == '0' and len(text) > 1 for text in here | there)
    if is_known or zeros:
        assert [warning.kind for warning in found] == (
            ['no-overlap'] if not is_known else ['lost-zeros'] * (n_lost > 0)
        )
    if is_known and n_lost:
        assert found[0].note.number == n_lost
        assert found[0].note.of == len(here)
        shown = found[0].more.partition(': ')[2].partition(';')[0].split(' here, ')
        here_one, there_one = (part.removesuffix(' there').strip("'") for part in shown)
        assert here_one in here - there
        assert there_one in there
        assert bare(here_one) == bare(there_one)


QRELS = {'t1': {'0123': 1, '0456': 1, '789': 1, '0': 0}, '02': {'x': 1, '123x': 0}}


def test_documents_and_topics_of_trec():
    run = {'t1': {'123': 0.9, '456': 0.8, '789': 0.7, '0': 0.6}, '02': {'x': 1.0}}
    with pytest.warns(NoOverlapWarning) as caught:
        evaluation = evaluate_trec(QRELS, run)
    assert [str(warning.message) for warning in caught] == [
        '<run>: 2 of 5 returned documents are spelled otherwise in <qrels>, equal but '
        "for leading zeros: '123' here, '0123' there; read as text"
    ]
    assert caught[0].filename == __file__
    assert lost(evaluation) == [str(caught[0].message)]


@quiet
def test_topics_of_trec():
    (message,) = lost(evaluate_trec(QRELS, {'t1': {'789': 1}, '2': {'x': 1}}, **LENIENT))
    assert (
        "1 of 2 topics are spelled otherwise in <qrels>, equal but for leading zeros: '2' here"
        in message
    )


@quiet
@pytest.mark.parametrize('long', ['', '7' * 70])
@pytest.mark.parametrize('size', ['small', 'blocks'])
def test_zeros_that_the_qrels_lost(tmp_path, monkeypatch, long, size):
    monkeypatch.setattr(
        'mediaeval_ap.tables.reading.BULK_BYTES', 1 if size == 'blocks' else 1 << 20
    )
    (tmp_path / 'qrels').write_text(f'1 0 12{long} 1\n1 0 b 1\n')
    (tmp_path / 'run').write_text(f'1 Q0 012{long} 1 .9 me\n1 Q0 b 2 .8 me\n')
    (message,) = lost(evaluate_trec(tmp_path / 'qrels', tmp_path / 'run'))
    assert '1 of 2 returned documents' in message


@pytest.mark.parametrize(
    'documents',
    [
        {'0': 0.9, '10': 0.8, 'd0': 0.7},  # 0 is no leading zero
        {'007': 0.9, '0123': 0.8},  # the same in both
        {'123': 0.9, '0123': 0.8, '7': 0.7},  # both are in the qrels
        {'a01': 0.9, '5': 0.8, '007': 0.1},
    ],
)
def test_ids_that_lost_nothing(documents):
    qrels = {'01': {'0': 1, '007': 1, '7': 0, '123': 0, '0123': 1, 'a1': 0, '05x': 0}}
    assert evaluate_trec(qrels, {'01': documents}).warnings == ()


REFERENCE = [
    (corpus, video, shot, 'ann')
    for corpus, video, shot in [
        ('01', '001', '000626'),
        ('01', '001', '100000'),
        ('01', 'v2', '100000'),
        ('2', 'v2', '7'),
    ]
]


@pytest.mark.parametrize('field', range(3))
@pytest.mark.parametrize('way', ['rows', 'frame', 'store', 'session'])
def test_each_id_of_a_shot(field, way, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = ('corpus_id', 'video_id', 'shot_id')[field]
    rows = [[*row, 0.5] for row in REFERENCE]
    rows[0][field] = rows[0][field].lstrip('0')
    told = rf'^[^:]*: 1 of \d {name}s are spelled otherwise in [^:]*, equal but for leading zeros: '
    told += f"'{rows[0][field]}' here"
    fields = ['corpus_id', 'video_id', 'shot_id', 'person_name', 'confidence']
    scorer = AveragePrecision(REFERENCE)
    run = rows
    if way == 'frame':
        run = pandas.DataFrame(rows, columns=fields).astype({'confidence': float})
    elif way == 'store':
        run = index(rows, 'stored')
    call = scorer if way == 'session' else scorer.evaluate
    with pytest.warns(NoOverlapWarning, match=told) as caught:
        call(run)
    assert len(caught) == 1


CHALLENGES = {
    'map': (
        challenges.evaluate_map,
        table('customer_id,prediction', ('01', '0108 7'), ('b', '7')),
        lambda name, label: table('customer_id,prediction', (name, f'{label} 7'), ('b', '7')),
    ),
    'gap': (
        challenges.evaluate_gap,
        table('id,landmark_id', ('01', '0108'), ('b', '7')),
        lambda name, label: table('id,landmarks', (name, f'{label} 0.5'), ('b', '7 0.4')),
    ),
    'lrap': (
        challenges.evaluate_lrap,
        table('fname,labels', ('01', 'x'), ('b', 'y')),
        lambda name, label: table('fname,x,y', (name, 0.5, 0.2), ('b', 0.1, 0.2)),
    ),
}


@quiet
@pytest.mark.parametrize('challenge', CHALLENGES)
def test_ids_and_labels_of_challenges(challenge):
    evaluate, truth, predictions = CHALLENGES[challenge]
    assert lost(evaluate(truth, predictions('01', '0108'))) == []
    (message,) = lost(evaluate(truth, predictions('1', '0108'), **LENIENT))
    assert (
        "1 of 2 ids are spelled otherwise in <truth>, equal but for leading zeros: '1' here"
        in message
    )
    if challenge != 'lrap':
        (message,) = lost(evaluate(truth, predictions('01', '108')))
        assert '1 of 2 predicted labels are spelled otherwise in <truth>, equal but' in message
        assert lost(evaluate(truth, predictions('01', '0109'))) == []
    with warnings.catch_warnings():
        warnings.simplefilter('error', NoOverlapWarning)
        with pytest.raises(NoOverlapWarning):
            evaluate(truth, predictions('1', '0108'), **LENIENT)
