"""Ids that do not meet are told, with their likely cause, and never scored in silence."""

import os
import warnings

import pytest
from challenge_inputs import table
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, challenges, evaluate_trec
from mediaeval_ap.cli import main
from mediaeval_ap.errors import (
    FormatError,
    NoOverlapWarning,
    ParameterError,
    UndefinedScoreError,
    WithoutRelevantWarning,
)
from mediaeval_ap.evaluation.data_warnings import likely_cause

REFERENCE = [
    ('INA', 'F2', f'{shot:06}', name) for shot in range(1, 30) for name in ('ann_lee', 'bob_ray')
]


def run(*, corpus='INA', video='F2', shot=lambda number: f'{number:06}'):
    return [(corpus, video, shot(number), 'ann_lee', 1 / number) for number in range(3, 13)]


CAUSES = {
    'zeros': (run(shot=str), "(1 of 1 videos); shot_id is equal but for leading zeros: '10' here"),
    'case': (run(video='f2'), "(0 of 1 videos); video_id is equal but for case: 'f2' here, 'F2'"),
    'suffix': (
        run(video='F2.mp4'),
        "(0 of 1 videos); video_id is equal but for '.mp4' at the end: 'F2.mp4' here, 'F2' there",
    ),
    'folder and suffix': (
        run(video='/data/F2.mp4'),
        "video_id is equal but for '/data/' at the beginning and '.mp4' at the end",
    ),
    'corpus': (run(corpus='DW'), "(0 of 1 videos); corpus_id differs: 'DW' here, 'INA' there"),
    'columns': (
        [(row[1], row[0], *row[2:]) for row in run()],
        'corpus_id here holds values of video_id there, video_id here holds values of corpus_id '
        'there: are columns exchanged?',
    ),
    'another year': (
        run(corpus='X', video='other', shot=lambda number: f'x{number}y'),
        '(0 of 1 videos); are these files of the same data?',
    ),
}


@pytest.mark.parametrize('cause', CAUSES)
def test_no_shot_in_the_reference(cause):
    rows, told = CAUSES[cause]
    shots = len({row[:3] for row in rows})
    with pytest.warns(NoOverlapWarning) as caught:
        evaluation = AveragePrecision(REFERENCE, [10]).evaluate(rows)
    (message,) = (str(each.message) for each in caught)
    assert f': 0 of {shots} returned shots occur in <reference> (' in message
    assert told in message
    assert evaluation.map == 0
    assert evaluation.counts['shots_in_reference'] == 0


@pytest.mark.parametrize('cause', CAUSES)
def test_no_hypothesis_in_the_subset(cause):
    """For the same cause, which the reference tells here, too."""
    rows, told = CAUSES[cause]
    with pytest.warns(NoOverlapWarning) as caught:
        AveragePrecision(REFERENCE, subset=[('INA', 'F2')]).evaluate(rows)
    message = str(caught[0].message)
    assert ('none of its 10 hypotheses is in the subset' in message) == (cause != 'zeros')
    if cause != 'another year':
        assert told.rpartition('videos); ')[2] in message


def test_only_the_subset_counts():
    """The reference's own video is not in the subset: what is left of both does not meet."""
    reference = [*REFERENCE, ('INA', 'F3', '1', 'ann_lee')]
    run_of_both = [*run(), ('INA', 'F3', '2', 'ann_lee', 0.5)]
    scorer = AveragePrecision(reference, subset=[('INA', 'F3')])
    with pytest.warns(NoOverlapWarning, match=r'0 of 1 returned shots .* \(1 of 1 videos\)'):
        scorer.evaluate(run_of_both)
    with pytest.warns(NoOverlapWarning, match='none of its 10 hypotheses is in the') as caught:
        scorer.evaluate(run())
    assert len(caught) == 1


QUERIES = {
    'separators': (['ann-lee', 'bob ray'], "equal but for separators: 'ann-lee' here, 'ann_lee'"),
    'case': (['Ann_Lee'], "equal but for case: 'Ann_Lee' here, 'ann_lee' there"),
    'a slip': (['zoe', 'amn_lee'], "; the nearest to 'amn_lee' is 'ann_lee'"),
    'others': (['zoe'], 'are these files of the same data?'),
}


@pytest.mark.parametrize('queries', QUERIES)
def test_no_query_in_the_reference(queries):
    asked, told = QUERIES[queries]
    scorer = AveragePrecision(REFERENCE)
    for call in (lambda: scorer.evaluate(run(), asked), lambda: scorer.live(run()).evaluate(asked)):
        with pytest.warns(NoOverlapWarning) as caught:
            call()
        (message,) = (str(each.message) for each in caught)
        assert message.startswith(f'<queries>: 0 of {len(asked)} queries occur in <reference>; ')
        assert told in message
        assert caught[0].filename == __file__


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.WithoutRelevantWarning')
@pytest.mark.parametrize(
    ('definition', 'told'),
    [
        ('mediaeval-2016', 'each counts 1, and an empty run has MAP 0.667'),
        ('trec', 'each counts 0'),
    ],
)
def test_the_floor_is_told(definition, told):
    scorer = AveragePrecision(REFERENCE, definition=definition)
    note = f'2 of 3 queries have nothing relevant: {told}'
    asked = ['ann_lee', 'zoe', 'yves']
    with pytest.warns(WithoutRelevantWarning, match=f'^<reference>: {note}$'):
        evaluation = scorer.evaluate(run(), asked)
    assert evaluation.to_dict()['notes'] == [note]
    with pytest.warns(WithoutRelevantWarning):
        empty = scorer.live().evaluate(asked)
    assert [f'{value:.3f}' for value in empty.map] == ['0.667' if '0.667' in told else '0.000'] * 4


def test_placeholders_are_asked_for_by_name_only():
    reference = [*REFERENCE, ('INA', 'F2', '000003', '?unknown?'), ('INA', 'F2', '000004', '?1')]
    scorer = AveragePrecision(reference, [1])
    assert scorer.queries == ['ann_lee', 'bob_ray']
    evaluation = scorer.evaluate(run())
    assert evaluation.queries == scorer.queries
    assert evaluation.counts['placeholders'] == 2
    assert evaluation.notes == [
        '2 placeholders of the reference (names that begin with ?) are left out of the queries'
    ]
    asked = scorer.evaluate(run(), ['ann_lee', '?unknown?'])
    assert (asked.n_relevant.tolist(), asked.counts['placeholders']) == ([29, 1], 0)
    assert scorer(run()).send('?1').n_relevant == 1


def test_a_reference_of_placeholders_has_nobody_to_ask_for():
    scorer = AveragePrecision([('INA', 'F2', '000003', '?')], [1])
    assert scorer.queries == []
    with pytest.raises(ParameterError, match=r'^<reference>: every name .* begins with \?,'):
        scorer.evaluate(run())
    assert scorer.evaluate([*run(), (*run()[0][:3], '?', 0)], ['?']).map.tolist() == [1.0]


def test_strict_makes_it_an_error_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in ('reference', REFERENCE), ('strange', run(shot=str)):
        (tmp_path / name).write_text(''.join(f'{" ".join(map(str, row))}\n' for row in rows))
    words = 'export-trec reference strange --qrels q --run r --strict'.split()
    strict = CliRunner().invoke(main, words, catch_exceptions=False)
    assert (strict.exit_code, strict.stdout) == (1, '')
    assert strict.stderr.startswith('Error: strange: 0 of 10 returned shots occur in reference (')
    assert sorted(os.listdir()) == ['reference', 'strange']


QRELS = [('07', 'd1', 1), ('08', 'd2', 1), ('08', 'd3', 0)]


def trec_run(topic='{:02}', document='d{}'):
    return [(topic.format(each), document.format(each - 6), 0.5) for each in (7, 8)]


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_trec_files_that_do_not_meet():
    told = "0 of 2 returned documents occur in <qrels>; equal but for case: 'D1' here, 'd1' there"
    with pytest.warns(NoOverlapWarning, match=told) as caught:
        evaluation = evaluate_trec(QRELS, trec_run(document='D{}'))
    assert [each.filename for each in caught] == [__file__]
    assert (evaluation.counts['relevant'], evaluation.counts['relevant_returned']) == (2, 0)


def test_a_run_of_other_topics_alone_is_an_error():
    with pytest.raises(UndefinedScoreError, match=r'no topic of this run is judged; .* leading'):
        evaluate_trec(QRELS, trec_run('{}'), missing='skip', unknown='drop')


CHALLENGES = {
    'map': (
        challenges.evaluate_map,
        table('customer_id,prediction', ('01', '0108 0109'), ('02', '0109')),
        lambda name, label: table(
            'customer_id,prediction', (name.format('01'), label.format('0108'))
        ),
    ),
    'gap': (
        challenges.evaluate_gap,
        table('id,landmark_id', ('a', '01'), ('b', '02')),
        lambda name, label: table('id,landmarks', (name.format('a'), f'{label.format("01")} 0.5')),
    ),
}
DROPPING = {'missing': 'zero', 'unknown': 'drop'}


@pytest.mark.parametrize('challenge', CHALLENGES)
@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_challenges_whose_ids_or_labels_do_not_meet(challenge):
    evaluate, truth, predictions = CHALLENGES[challenge]
    suffixed = "equal but for '.0' at the end"
    with pytest.raises(FormatError, match=f'no id is in both files: {suffixed}'):
        evaluate(truth, predictions('{}.0', '{}'))
    for names, told in [
        (('{}.0', '{}'), f'^<predictions>: 0 of 1 ids occur in <truth>; {suffixed}'),
        (('{}', '{}.0'), f'^<predictions>: 0 of 1 predicted labels occur in <truth>; {suffixed}'),
    ]:
        with pytest.warns(NoOverlapWarning, match=told) as caught:
            assert evaluate(truth, predictions(*names), **DROPPING).value == 0
        told_here = [each.filename for each in caught if each.category is NoOverlapWarning]
        assert told_here == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter('error', NoOverlapWarning)
        assert evaluate(truth, predictions('{}', '{}'), **DROPPING).value > 0


def test_samples_and_classes_that_do_not_meet():
    truth = table('fname,labels', ('1.wav', 'bark'))
    scores = table('fname,bark,meow', ('1', 0.5, 0.2))
    with pytest.raises(FormatError, match=r"no id is in both files: equal but for '\.wav' at the"):
        challenges.evaluate_lrap(truth, scores)
    scores = table('fname,Bark,Meow', ('1.wav', 0.5, 0.2))
    with pytest.raises(FormatError, match="no label is a class: equal but for case: 'bark' here"):
        challenges.evaluate_lrap(truth, scores)


ids = st.text('aA0:./', min_size=1, max_size=5)


@given(st.sets(ids, min_size=1), st.sets(ids, min_size=1))
def test_any_ids_may_be_compared(here, there):
    """The example that is given is one of the ids, on both sides."""
    cause = likely_cause(here - there, there)
    assert cause == likely_cause(list(here - there)[::-1], sorted(there))
    if cause:
        pair = cause.rpartition(': ')[2]
        assert pair in {f'{one!r} here, {other!r} there' for one in here for other in there}
