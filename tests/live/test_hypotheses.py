"""Which rows are hypotheses, and that a wrong one changes nothing."""

from collections import deque

import numpy as np
import pytest
from live_sessions import ROW, WRONG_ROWS, check_live

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import FormatError, ParameterError


@pytest.mark.parametrize('wrong', WRONG_ROWS, ids=str)
def test_wrong_rows_change_nothing(wrong):
    live = AveragePrecision([ROW[:4]], [10]).live([ROW])
    calls = [lambda: live.extend([ROW, wrong]), lambda: live.remove(wrong)]
    calls.append(lambda: live.update(wrong, confidence=0.1))
    if isinstance(wrong, tuple) and len(wrong) == 5:
        calls.append(lambda: live.add(wrong))
    for call in calls:
        with pytest.raises(FormatError):
            call()
    assert wrong not in live
    assert len(live) == 1
    check_live(live)
    assert live.send('ann') == ([1.0], 1)


def test_messages_say_what_was_found():
    live = AveragePrecision([ROW[:4]], [10]).live()
    with pytest.raises(FormatError) as caught:
        live.add(('x', 'v', 7, 'ann', 0.5))
    assert str(caught.value) == (
        '<live>, shot_id: found 7 (int), expected non-empty text on one line, '
        'without spaces around it; read them as text (dtype=str), so that leading zeros stay'
    )
    with pytest.raises(ParameterError) as missing:
        live.remove(ROW)
    assert str(missing.value) == "<live>: no hypothesis ('x', 'v', '1', 'ann', 0.5)"
    live.add(ROW)
    with pytest.raises(FormatError, match='<live>, confidence: found nan'):
        live.update(ROW, confidence=float('nan'))
    assert ROW in live
    with pytest.raises(ParameterError):
        live.send(None)


def test_rows_are_any_sequence_of_texts_and_a_number():
    live = AveragePrecision([ROW[:4]], [10]).live([ROW])
    live.update(deque(ROW), confidence=0.4)
    live.remove(deque((*ROW[:4], 0.4)))
    for one in (1, 1.0, np.float32(1), np.int8(1)):
        live.add((*ROW[:4], one))
        assert (*ROW[:4], one) in live
    live.remove((*ROW[:4], 1))
    assert live.snapshot().table.confidence.tolist() == [1.0] * 3
