"""The diagnosis of a run, and the names that shots were lost to."""

import math
from unittest import mock

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.diagnosis.diagnosing import letters_that_differ
from mediaeval_ap.diagnosis.findings import ConfusedName, NearMiss, QueryLoss
from mediaeval_ap.errors import NoOverlapWarning, ParameterError
from mediaeval_ap.ranking.frozen_ranking import Ranking

REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob'), ('x', 'v', '3', 'bob')]
RUN = [('x', 'v', '1', 'ann', 0.5), ('x', 'v', '9', 'bob', 0.9), ('x', 'v', '2', 'bob', 0.5)]


@pytest.fixture
def diagnosis():
    return AveragePrecision(REFERENCE, definition='trec').explain(RUN)


def test_each_query_is_ranked_once_for_all_that_is_shown(monkeypatch):
    """One ranking serves the parts, ties, near names and other definitions, at all cutoffs."""
    counted = mock.Mock(wraps=Ranking.top)
    monkeypatch.setattr(Ranking, 'top', lambda *arguments, **given: counted(*arguments, **given))
    run = [*RUN, ('x', 'v', '3', 'bobb', 0.1)]
    found = AveragePrecision(REFERENCE).explain_at(run, ['ann', 'bob'], K=[1, 2], near=0.5)
    for diagnosis in found:
        diagnosis.to_dict()
        diagnosis.to_markdown()
    assert [each.name for each in found[1].near_misses] == ['bobb']
    assert counted.call_count == 2


def test_costliest(diagnosis):
    assert diagnosis.map == 0.625
    assert repr(diagnosis).splitlines()[:2] == [
        "Diagnosis of '<hypothesis>' (trec, 2 queries)",
        '  MAP@100     0.625',
    ]
    frame = diagnosis.to_frame()
    assert frame.loc['bob'].to_dict() == {'ap': 0.25, 'n_relevant': 2, **diagnosis.of('bob').parts}
    bob, ann = diagnosis.costliest()
    assert bob == QueryLoss('bob', 0.25, 2, bob.parts)
    assert {part: loss for part, loss in bob.parts.items() if loss} == {
        'confidence': 0.25,
        'absent': 0.5,
    }
    assert ann.query == 'ann'
    assert not any(ann.parts.values())
    assert diagnosis.costliest(1) == [bob]
    with pytest.raises(ParameterError, match=r'^n: found 0, expected positive integers below'):
        diagnosis.costliest(0)


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.WithoutRelevantWarning')
@pytest.mark.parametrize('definition', definitions.names())
def test_empty_run(definition):
    average_precision = AveragePrecision(REFERENCE, subset=[('x', 'v')], definition=definition)
    with pytest.warns(NoOverlapWarning):
        diagnosis = average_precision.explain([('x', 'w', '1', 'ann', 0.5)], ['ann', 'zoe'], k=1)
    lost = [{part for part in diagnosis.parts if diagnosis.parts[part][row]} for row in (0, 1)]
    counts_as = definitions.get(definition).without_relevant
    assert lost == [{'absent'}, set() if counts_as else {'unanswerable'}]
    assert diagnosis.ap.tolist() == [0, counts_as]
    assert diagnosis.of('ann').ranking == []
    assert diagnosis.of('zoe').relevant == []


def test_dividing_by_hits_is_noted():
    """A negative part looks like a fault where nothing explains it."""
    diagnosis = AveragePrecision(REFERENCE, definition='hits').explain(RUN)
    assert diagnosis.notes[-1] == (
        'hits divides by the number of hits, which repairs change: parts can be negative'
    )


def test_a_snapshot_is_explained_like_a_run(diagnosis):
    average_precision = AveragePrecision(REFERENCE, definition='trec')
    live = average_precision.live(RUN)
    again = average_precision.explain(live.snapshot())
    assert again.to_dict()['queries'] == diagnosis.to_dict()['queries']


@pytest.mark.parametrize(
    ('name', 'value', 'expected'),
    [
        ('k', 0, "positive integers below 2**63 or 'all'"),
        ('k', [1, 2], "positive integers below 2**63 or 'all'"),
        *[('near', value, 'a number from 0 to below 1') for value in (1, -0.1, True, math.nan)],
    ],
)
def test_wrong_settings(name, value, expected):
    with pytest.raises(ParameterError) as caught:
        AveragePrecision(REFERENCE).explain(RUN, **{name: value})
    assert str(caught.value) == f'{name}: found {value!r}, expected {expected}'


def test_cutoffs_that_are_asked_for():
    found = AveragePrecision(REFERENCE).explain(RUN, k=np.int64(10), near=np.float32(0.25))
    assert (found.k, found.near) == (10, 0.25)
    average_precision = AveragePrecision(REFERENCE, K=[1, 10], definition='by-k')
    assert [each.k for each in average_precision.explain_at(RUN)] == [1, 10]
    assert [each.k for each in average_precision.explain_at(RUN, K=5)] == [5]
    with pytest.raises(ParameterError, match='K: found all, expected numbers'):
        average_precision.explain_at(RUN, K=['all'])
    with pytest.raises(ParameterError, match='k: found all, expected numbers: by-k'):
        average_precision.explain(RUN, k='all')


CONFUSED = [
    *[('x', 'v', shot, 'anna_bell') for shot in '12345'],
    *[('x', 'v', shot, 'carl') for shot in '56'],
    ('x', 'v', '9', 'dora'),
]
HYPOTHESES = [
    ('x', 'v', '1', 'carl', 0.5),
    ('x', 'v', '1', 'carl', 0.4),  # a shot counts once
    ('x', 'v', '1', 'dora', 0.5),  # and for each name
    ('x', 'v', '2', 'carl', 0.5),
    ('x', 'v', '3', 'carl', 0.5),  # returned under a near name, too: of that kind
    ('x', 'v', '3', 'anna_gell', 0.5),
    ('x', 'v', '4', 'carl', 0.5),  # returned under the query, too
    ('x', 'v', '4', 'anna_bell', 0.5),
    ('x', 'v', '4', 'anna_gell', 0.5),
    ('x', 'v', '5', 'carl', 0.5),  # who is in this shot
    ('x', 'v', '9', 'anna_gell', 0.5),
]


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_counts():
    diagnosis = AveragePrecision(CONFUSED).explain(HYPOTHESES, ['anna_bell', 'dora', 'anna_bell'])
    # Of shots 4, 3, 1, 2, 5 in the ranks 1, 2, 5, 6, 7: shot 1 comes to rank 3, then 2 to rank 4.
    of_1, of_2 = (1 - 3 / 5) / 5, (1 - 4 / 6) / 5
    assert diagnosis.confused == [
        ConfusedName(
            name,
            'anna_bell',
            count,
            float(oracle.normalized_distance('anna_bell', name)),
            letters_that_differ('anna_bell', name),
            pytest.approx(adds, abs=1e-15),  # differences of sums of five doubles
        )
        for name, count, adds in [('carl', 2, of_1 + of_2), ('dora', 1, of_1)]
    ]
    (missed,) = diagnosis.near_misses
    assert missed == NearMiss('anna_gell', 'anna_bell', 1, 3, 1 / 9, ('b→g at 6',), 0, 0)


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.NoOverlapWarning')
@pytest.mark.parametrize('definition', ['mediaeval-2016', 'trec'])
def test_the_name_that_costs_most_comes_first(definition):
    """Two shots at the end of the hits cost less than one before them, and what costs nothing."""
    reference = [('x', 'v', shot, 'anna_bell') for shot in '1234']
    run = [
        ('x', 'v', '1', 'anna_gell', 0.9),
        ('x', 'v', '2', 'anna_gell', 0.8),
        ('x', 'v', '8', 'anna_gell', 0.7),
        ('x', 'v', '3', 'anna_golk', 0.9),
    ]
    diagnosis = AveragePrecision(reference, definition=definition).explain(run, near=0.4)
    assert [(each.name, each.count, each.adds) for each in diagnosis.near_misses] == [
        ('anna_golk', 1, pytest.approx((1 - 3 / 4) / 4, abs=1e-15)),  # as above
        ('anna_gell', 2, 0),
    ]


@given(*[st.text('abé_→+- ', min_size=1, max_size=8)] * 2)
def test_letters_make_the_name_of_the_query(query, name):
    letters = list(query)
    for edit in reversed(letters_that_differ(query, name)):
        what, at = edit.rsplit(' at ', 1)
        at = int(at) - 1
        if len(what) == 3:
            assert letters[at] == what[0]
            letters[at] = what[2]
        elif what[0] == '+':
            letters.insert(at, what[1])
        else:
            assert what == f'-{letters.pop(at)}'
    assert ''.join(letters) == name
    assert len(letters_that_differ(query, name)) == oracle.edit_distance(query, name)
    assert letters_that_differ('ab', 'a\u202eb') == ('+\\u202e at 2',)  # without a place of its own


def test_a_name_is_corrected_in_a_condensed_list():
    """Shots 3 2 1 with hits at ranks 2 and 3 become 1 3 2; the unjudged shot 9 is not in front."""
    reference = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'ann')]
    judged = [('x', 'v', shot) for shot in '123']
    hypotheses = [('9', 'anne', 0.9), ('1', 'anne', 0.85), ('3', 'ann', 0.8), ('2', 'ann', 0.5)]
    run = [('x', 'v', *hypothesis) for hypothesis in hypotheses]
    average_precision = AveragePrecision(reference, judged=judged, unjudged='skip')
    (near_miss,) = average_precision.explain(run, near=0.3).near_misses
    assert near_miss.alone == pytest.approx((1 + 2 / 3) / 2 - (1 / 2 + 2 / 3) / 2)
