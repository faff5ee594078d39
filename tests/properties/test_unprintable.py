"""Values that Python cannot print, or not on one line: wherever one is quoted, in our words."""

import math

import pytest

from mediaeval_ap import (
    AveragePrecision,
    PersonDiscovery2015,
    evaluate_trec,
    metrics,
    validate,
)
from mediaeval_ap.definitions import Definition, Repeats
from mediaeval_ap.errors import Error, shown
from mediaeval_ap.render.formats import render
from mediaeval_ap.validation import examine
from mediaeval_ap.validation.problems import problems_document

HUGE = 10**5000  # Python prints 4,300 digits at most


class Unshown:
    """Something whose class does not let it be printed."""

    def __repr__(self):
        raise RuntimeError('never')


class Long:
    """Something that is printed at length, and on many lines."""

    def __repr__(self):
        return 'x\n' * 100_000


VALUES = {'huge': HUGE, 'unshown': Unshown(), 'long': Long(), 'nested': {HUGE: [Long()]}}
REFERENCE = [('x', 'v', '1', 'ann')]
RUN = [('x', 'v', '1', 'ann', 0.5)]


DOORS = {
    'cutoff': lambda value: AveragePrecision(REFERENCE, [value]),
    'reference': AveragePrecision,
    'reference-field': lambda value: AveragePrecision([('x', value, '1', 'ann')]),
    'run-row': lambda value: AveragePrecision(REFERENCE).evaluate([value]),
    'live-confidence': lambda value: (
        AveragePrecision(REFERENCE).live(RUN).add(('x', 'v', '1', 'ann', value))
    ),
    'rules': lambda value: validate(RUN, rules=value),
    'ratio': lambda value: PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')], ratio=value),
    'relevance': lambda value: evaluate_trec([('7', 'd', value)], [('7', 'd', 0.5)]),
    'labels': lambda value: metrics.mean_average_precision_at_k([['a']], value),
    'render': lambda value: render(problems_document({'run': examine(RUN)}), value),
    'depth': lambda value: Definition('a', value, ('k',), 0.0, Repeats.DROP, 'b'),
}


@pytest.mark.parametrize('value', VALUES.values(), ids=VALUES)
@pytest.mark.parametrize('door', DOORS.values(), ids=DOORS)
def test_what_cannot_be_printed_is_refused_in_one_line(door, value):
    with pytest.raises(Error) as caught:
        door(value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_limits_may_be_huge():
    """Python refuses to print integers of more than 4,300 digits."""
    findings = examine(RUN, max_problems=HUGE)
    assert findings.problems() == validate(RUN)
    assert '"left_out": {}' in render(problems_document({'run': findings}), 'json')


@pytest.mark.parametrize(
    ('value', 'quoted'),
    [
        (HUGE, f'<int of {math.ceil(5000 * math.log2(10))} bits>'),
        (Unshown(), '<Unshown that cannot be shown>'),
        ([HUGE], '<list that cannot be shown>'),
        (Long(), 'x\\n' * 20 + '…'),
        ('x' * 1000, f"'{'x' * 59}…'"),
        ([1, 'a'], "[1, 'a']"),
    ],
    ids=lambda _: '',
)
def test_quoted(value, quoted):
    assert shown(value) == quoted
