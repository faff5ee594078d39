"""The names that stand in the place of a query, with counts and letters."""

import oracle
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision
from mediaeval_ap.diagnosis.explaining import letters_that_differ
from mediaeval_ap.diagnosis.findings import ConfusedName, NearMiss

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


def test_the_name_that_costs_most_comes_first():
    """Two shots at the end of the hits cost less than one before them, and what costs nothing."""
    reference = [('x', 'v', shot, 'anna_bell') for shot in '1234']
    run = [
        ('x', 'v', '1', 'anna_gell', 0.9),
        ('x', 'v', '2', 'anna_gell', 0.8),
        ('x', 'v', '8', 'anna_gell', 0.7),
        ('x', 'v', '3', 'anna_golk', 0.9),
    ]
    diagnosis = AveragePrecision(reference).explain(run, near=0.4)
    assert [(each.name, each.count, each.adds) for each in diagnosis.near_misses] == [
        ('anna_golk', 1, pytest.approx((1 - 3 / 4) / 4, abs=1e-15)),  # as above
        ('anna_gell', 2, 0),
    ]


@pytest.mark.parametrize(
    ('run', 'alone'),
    [
        # 9 stands behind 1, and before it if the name is corrected.
        ([('1', 'ann_lee', 0.5), ('9', 'anne_lee', 0.9)], {'anne_lee': (1 - 1 / 2) / 2}),
        # 1, which is wrong, comes before 9, and 8 stays where it is.
        (
            [('9', 'ann_lee', 0.5), ('1', 'anne_lee', 0.9), ('8', 'anne_lee', 0.4)],
            {'anne_lee': (1 / 2 - 1) / 2},
        ),
        # Each name alone brings its shot before 1; both together add 5/12, and not 1/2.
        (
            [('1', 'ann_lee', 0.5), ('9', 'anne_lee', 0.9), ('8', 'ann_leo', 0.9)],
            {'anne_lee': (1 - 1 / 2) / 2, 'ann_leo': (1 - 1 / 2) / 2},
        ),
        # Under one name 9 is the third in time of its confidence, and not the first.
        (
            [('1', 'ann_lee', 0.5), ('2', 'ann_lee', 0.5), ('9', 'anne_lee', 0.5)],
            {'anne_lee': 0},
        ),
    ],
)
def test_what_a_correction_alone_adds(run, alone):
    reference = [('x', 'v', '8', 'ann_lee'), ('x', 'v', '9', 'ann_lee')]
    run = [('x', 'v', *row) for row in run]
    found = AveragePrecision(reference, definition='trec').explain(run)
    assert {each.name: each.alone for each in found.near_misses} == pytest.approx(alone, abs=1e-15)


@given(strategies.reference_rows, strategies.hypothesis_rows, st.integers(1, 30))
@strategies.examples(2)
def test_names_add_what_their_shots_add(reference, run, k):
    query = reference[0][3]
    diagnosis = AveragePrecision(reference).explain(run, [query], k=k)
    relevant = diagnosis.of(query).relevant
    for kind, names in ('confused', diagnosis.confused), ('spelling', diagnosis.near_misses):
        for each in names:
            added = sum(
                shot.adds
                for shot in relevant
                if shot.kind == kind
                and each.name in shot.names
                and (shot.corpus, shot.video, shot.shot, each.name) not in reference
            )
            assert each.adds == pytest.approx(added, abs=1e-12)  # sums in another order


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
