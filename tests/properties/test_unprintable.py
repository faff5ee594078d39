"""Values that Python cannot print, or not on one line: wherever one is quoted, in our words."""

import math

import pytest

from mediaeval_ap import (
    AveragePrecision,
    PersonDiscovery2015,
    challenges,
    evaluate_trec,
    metrics,
    validate,
)
from mediaeval_ap.definitions import Definition, Repeats, get
from mediaeval_ap.errors import Error, shown
from mediaeval_ap.render.formats import render
from mediaeval_ap.tables import HYPOTHESIS, SUBSET, read
from mediaeval_ap.validation import examine
from mediaeval_ap.validation.problems import describe

HUGE = 10**5000  # Python prints 4,300 digits at most


class Unshown:
    """Something whose class does not let it be printed."""

    def __repr__(self):
        raise RuntimeError('never')


class Long:
    """Something that is printed at length, and on many lines."""

    def __repr__(self):
        return 'x\n' * 100_000


class Text(str):
    """Text that cannot be printed."""

    def __repr__(self):
        raise KeyError


VALUES = {
    'huge': HUGE,
    'unshown': Unshown(),
    'long': Long(),
    'text': Text(''),
    'list': [HUGE],
    'tuple': (Unshown(),),
    'nested': {HUGE: [Long(), Unshown()]},
}
REFERENCE = [('x', 'v', '1', 'ann')]
RUN = [('x', 'v', '1', 'ann', 0.5)]


def live():
    return AveragePrecision(REFERENCE).live(RUN)


DOORS = {
    'cutoff': lambda value: AveragePrecision(REFERENCE, [value]),
    'cutoffs': lambda value: AveragePrecision(REFERENCE, value),
    'definition': lambda value: AveragePrecision(REFERENCE, definition=value),
    'reference': AveragePrecision,
    'reference-field': lambda value: AveragePrecision([('x', value, '1', 'ann')]),
    'subset': lambda value: AveragePrecision(REFERENCE, subset=value),
    'run': AveragePrecision(REFERENCE).evaluate,
    'run-row': lambda value: AveragePrecision(REFERENCE).evaluate([value]),
    'queries': lambda value: AveragePrecision(REFERENCE).evaluate(RUN, value),
    'query': lambda value: AveragePrecision(REFERENCE).evaluate(RUN, [value]),
    'send': lambda value: AveragePrecision(REFERENCE)(RUN).send(value),
    'rank': lambda value: AveragePrecision(REFERENCE).rank(RUN, value),
    'live': lambda value: live().send(value),
    'live-add': lambda value: live().add(('x', 'v', value, 'ann', 0.5)),
    'live-confidence': lambda value: live().add(('x', 'v', '1', 'ann', value)),
    'live-update': lambda value: live().update(RUN[0], confidence=value),
    'live-remove': lambda value: live().remove(('x', 'v', value, 'ann', 0.5)),
    'validate': validate,
    'rules': lambda value: validate(RUN, rules=value),
    'read': lambda value: read(value, SUBSET),
    'read-number': lambda value: read([('x', 'v', '1', 'ann', value)], HYPOTHESIS),
    'ratio': lambda value: PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')], ratio=value),
    'ties': lambda value: evaluate_trec([('7', 'd', 1)], [('7', 'd', 0.5)], ties=value),
    'relevance': lambda value: evaluate_trec([('7', 'd', value)], [('7', 'd', 0.5)]),
    'map': lambda value: challenges.evaluate_map(value, value),
    'labels': lambda value: metrics.mean_average_precision_at_k([['a']], value),
    'labels-k': lambda value: metrics.mean_average_precision_at_k([['a']], [['a']], k=value),
    'get': get,
    'render': lambda value: render(describe(examine(RUN)), value),
    'depth': lambda value: Definition('a', value, ('k',), 0.0, Repeats.DROP, 'b'),
    'without': lambda value: Definition('a', ('k',), ('k',), value, Repeats.DROP, 'b'),
}


@pytest.mark.parametrize('value', VALUES.values(), ids=VALUES)
@pytest.mark.parametrize('door', DOORS.values(), ids=DOORS)
def test_what_cannot_be_printed_is_refused_in_one_line(door, value):
    with pytest.raises(Error) as caught:
        door(value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_limits_may_be_huge():
    findings = examine(RUN, max_problems=HUGE)
    assert findings.problems() == validate(RUN)
    assert '"left_out": {}' in render(describe(findings), 'json')


@pytest.mark.parametrize(
    ('value', 'quoted'),
    [
        (HUGE, f'<int of {math.ceil(5000 * math.log2(10))} bits>'),
        (-HUGE, f'<int of {math.ceil(5000 * math.log2(10))} bits>'),
        (Unshown(), '<Unshown that cannot be shown>'),
        ([HUGE], '<list that cannot be shown>'),
        (Text('ann'), "'ann'"),
        (Long(), 'x\\n' * 20 + '…'),
        ('x' * 1000, f"'{'x' * 59}…"),
        ('nan', "'nan'"),
        ([1, 'a'], "[1, 'a']"),
    ],
    ids=lambda _: '',
)
def test_quoted(value, quoted):
    assert shown(value) == quoted
