"""Scores that are decisions, and files in the wrong order."""

import numpy
import pandas
import pytest
from challenge_inputs import written

from mediaeval_ap import challenges
from mediaeval_ap.errors import FormatError

quiet = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
EVALUATE = {'lrap': challenges.evaluate_lrap, 'macro-ap': challenges.evaluate_macro_ap}
IDS = [f's{number}' for number in range(6)]
TRUTH = pandas.DataFrame({'fname': IDS, 'labels': ['x', 'y', 'x', 'y', 'x', 'z']})


def frame(numbers):
    return pandas.DataFrame({'fname': IDS, **dict(zip('xyz', numbers.T.tolist(), strict=True))})


def doubts(name, numbers, **settings):
    score = EVALUATE[name](TRUTH, frame(numbers), **settings)
    return [str(doubt) for doubt in score.warnings if doubt.kind == 'doubtful-scores']


DECISIONS = numpy.eye(3)[[0, 1, 1, 1, 2, 0]]


@quiet
def test_decisions():
    told = '<scores>: 18 of 18 scores are 0 or 1, as decisions are; give probabilities'
    assert doubts('lrap', DECISIONS) == [told]
    expected = f"{told}, or --ties expected, in Python ties='expected'"
    for ties in 'threshold', 'stable', 'expected', 'best', 'worst':
        is_told = ties in ('threshold', 'stable')
        assert doubts('macro-ap', DECISIONS, ties=ties) == [expected] * is_told


@quiet
@pytest.mark.parametrize('name', EVALUATE)
def test_scores_that_are_no_decisions(name):
    for position in (0, 0), (5, 2):
        numbers = DECISIONS.copy()
        numbers[position] = 0.5
        assert doubts(name, numbers) == []
    two = TRUTH[:3], frame(DECISIONS)[:3]
    assert EVALUATE[name](*two).warnings == ()  # just 9 scores


EXCHANGED = {
    'gap': (challenges.evaluate_gap, 'id,landmark_id\na,7\n', 'id,landmarks\na,7 0.5\n', {}),
    'lrap': (challenges.evaluate_lrap, 'fname,labels\na,"x,y"\n', 'fname,x,y\na,.5,.1\n', {}),
    'macro-ap': (
        challenges.evaluate_macro_ap,
        'clip,tag\na,x\n',
        'clip,x,y\na,.5,.1\n',
        {'columns': {'id': 'clip'}, 'truth_columns': {'id': 'clip', 'label': 'tag'}},
    ),
}


@pytest.mark.parametrize('challenge', EXCHANGED)
def test_exchanged_files(challenge, tmp_path):
    evaluate, *texts, columns = EXCHANGED[challenge]
    truth, predictions = written(tmp_path, *texts)
    evaluate(truth, predictions, **columns)
    for files in (predictions, truth), map(pandas.read_csv, (predictions, truth)):
        with pytest.raises(FormatError, match=r'; are two files exchanged\?'):
            evaluate(*files, **columns)
    with predictions.open() as one, truth.open() as other, pytest.raises(FormatError) as caught:
        evaluate(one, other, **columns)  # not read again
    assert 'files exchanged' not in str(caught.value)


def test_files_of_first_hits_exchanged(tmp_path):
    """Both have the same columns; only predictions have several labels in a field."""
    truth, predictions = written(tmp_path, 'Image,Id\na,x\nb,y\n', 'Image,Id\na,x y\nb,y\n')
    with pytest.raises(FormatError, match=r'line 2, Id: .*white space; are two files exchanged\?$'):
        challenges.evaluate_first_hit(predictions, truth)
    with pytest.raises(FormatError, match=r'without white space$'):
        challenges.evaluate_first_hit(predictions, predictions)


@pytest.mark.parametrize(
    ('truth', 'predictions'),
    [
        ('id,landmark_id\na,7\n', 'id,landmark\na,7 0.5\n'),
        ('id,landmarks\na,7 .5\n', 'id,landmarks\na,7 0.5\n'),
        ('id,landmark_id\na,7\nb\n', 'id,landmarks\na,7 0.5\n'),
    ],
)
def test_files_with_another_fault(truth, predictions, tmp_path):
    with pytest.raises(FormatError) as caught:
        challenges.evaluate_gap(*written(tmp_path, truth, predictions))
    assert 'files exchanged' not in str(caught.value)
