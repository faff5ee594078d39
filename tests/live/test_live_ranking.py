"""The ranking of a moment is the frozen one, and holds on to no more than it needs."""

import random

import pytest
from live_sessions import ROW, campaign, order_of, order_of_frozen, quiet

from mediaeval_ap import AveragePrecision, definitions


@quiet
@pytest.mark.parametrize('definition', definitions.names())
def test_more_hypotheses_than_any_cutoff(definition):
    chance = random.Random(3)  # fixed: one example of its size, not a search
    reference, hypotheses = campaign(chance, 3000)
    average_precision = AveragePrecision(reference, [1, 3, 10, 100], definition=definition)
    live = average_precision.live(hypotheses[:2000])
    live.send('a')
    live.extend(hypotheses[2000:])
    session = average_precision(hypotheses)
    for query in [*average_precision.queries[::5], 'zzzz']:  # as far from every name
        assert live.send(query) == session.send(query)
    assert order_of(live, 'zzzz') == order_of_frozen(live.snapshot(), 'zzzz')


def test_what_is_no_longer_used_is_left_behind():
    """A name of 300 hypotheses changes 29 times, and its columns do not hold 29 times 300."""
    rows = [('x', 'v', str(shot), 'ann', 0.5) for shot in range(300)]
    live = AveragePrecision([ROW[:4]], [10]).live(rows)
    confidence = 0.5
    for step in range(1, 30):
        live.update(('x', 'v', '1', 'ann', confidence), confidence=0.5 + step / 100)
        confidence = 0.5 + step / 100
        live.send('ann')
        assert len(live._ranking._columns) <= 2 * 300
    assert live.send('ann') == ([1.0], 1)
