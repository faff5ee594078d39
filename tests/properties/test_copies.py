"""Copies: what they answer is right, whatever becomes of the one they were made of, or refused."""

import copy
import pickle

import pytest
from metric_rows import columns_of, update

from mediaeval_ap import AveragePrecision
from mediaeval_ap.metrics import (
    GlobalAveragePrecision,
    LabelRankingAveragePrecision,
    MeanAveragePrecision,
    ReciprocalRank,
)
from mediaeval_ap.tables import HYPOTHESIS, read

COPIES = {
    'copy': copy.copy,
    'deepcopy': copy.deepcopy,
    'pickle': lambda value: pickle.loads(pickle.dumps(value)),
    'oldest pickle': lambda value: pickle.loads(pickle.dumps(value, 0)),
}
each_way = pytest.mark.parametrize('copied', COPIES.values(), ids=COPIES)

REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob')]
RUN = [('x', 'v', '2', 'ann', 0.5), ('x', 'v', '1', 'anna', 0.9), ('x', 'w', '2', 'bob', 0.1)]
average_precision = AveragePrecision(REFERENCE, K=[1, 10])


@each_way
def test_a_live_session_is_refused(copied):
    """A copy shared the hypotheses, kept the ranking, and answered with what was there before."""
    live = average_precision.live(RUN)
    answer = live.send('ann')
    with pytest.raises(TypeError) as caught:
        copied(live)
    assert str(caught.value) == (
        '<live>: a live session cannot be copied or pickled; snapshot() returns a ranking that can '
        'be, and live(snapshot) begins another session'
    )
    assert live.send('ann') == answer


@each_way
def test_a_session(copied):
    session = average_precision(RUN)
    other = copied(session)
    answers = [session.send(query) for query in ('ann', 'bob')]
    session.close()
    assert [other.send(query) for query in ('ann', 'bob')] == answers


@each_way
def test_what_scores_and_what_is_scored(copied):
    evaluation = average_precision.evaluate(RUN)
    snapshot = average_precision.live(RUN).snapshot()
    for scored in (
        copied(average_precision).evaluate(RUN),
        average_precision.evaluate(copied(snapshot)),
        average_precision.evaluate(copied(read(RUN, HYPOTHESIS))),
        copied(evaluation),
    ):
        assert scored.queries == evaluation.queries
        assert scored.ap.tolist() == evaluation.ap.tolist()
        assert scored.map.tolist() == evaluation.map.tolist()
        assert scored.definition == evaluation.definition
        assert scored.definition.repeats is evaluation.definition.repeats
    live = copied(average_precision).live(RUN)
    assert live.send('ann') == average_precision.live(RUN).send('ann')


ACCUMULATORS = {
    'GAP': (GlobalAveragePrecision, ('a', 'a', 0.9), ('a', 'b', 0.95)),
    'MAP': (MeanAveragePrecision, (['a'], ['a']), (['a'], ['b', 'a'])),
    'RR': (ReciprocalRank, ('a', ['a']), ('a', ['b', 'a'])),
    'LRAP': (LabelRankingAveragePrecision, ([1, 0], [0.9, 0.1]), ([1, 0], [0.1, 0.9])),
    'lwlrap': (
        lambda: LabelRankingAveragePrecision(label_weighted=True),
        ([1, 0], [0.9, 0.1]),
        ([1, 0], [0.1, 0.9]),
    ),
}


@each_way
@pytest.mark.parametrize('name', ACCUMULATORS)
def test_accumulators_share_nothing(copied, name):
    """The first piece is right, and worth 1; the second is wrong at first."""
    make, right, wrong = ACCUMULATORS[name]
    metric = make()
    right, wrong = (columns_of(metric, [row]) for row in (right, wrong))
    update(metric, right)
    other = copied(metric)
    update(other, wrong)
    assert metric.compute() == 1.0
    update(metric, right)
    assert metric.compute() == 1.0
    again = make()
    for piece in (right, wrong):
        update(again, piece)
    assert other.compute() == again.compute() < 1.0
