"""The names that stand in the place of a query, with counts and letters."""

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision
from mediaeval_ap.diagnosis.confused_names import letters_that_differ
from mediaeval_ap.diagnosis.rows import ConfusedName, NearMiss

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

REFERENCE = [
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


def test_counts():
    diagnosis = AveragePrecision(REFERENCE).explain(HYPOTHESES, ['anna_bell', 'dora', 'anna_bell'])
    assert diagnosis.confused == [
        ConfusedName(
            name,
            'anna_bell',
            count,
            float(oracle.normalized_distance('anna_bell', name)),
            letters_that_differ('anna_bell', name),
        )
        for name, count in [('carl', 2), ('dora', 1)]
    ]
    assert diagnosis.near_misses == [NearMiss('anna_gell', 'anna_bell', 1, 3, 1 / 9, ('b→g at 6',))]


def test_another_query_confuses_a_person_who_is_not_in_the_reference():
    explain = AveragePrecision(REFERENCE).explain
    hypotheses = [('x', 'v', '9', 'emil', 0.5)]
    assert explain(hypotheses, ['dora']).confused == []
    assert [each.name for each in explain(hypotheses, ['dora', 'emil']).confused] == ['emil']


def test_names_without_a_place_on_a_terminal():
    assert letters_that_differ('ab', 'a\u202eb') == ('+\\u202e at 2',)


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
