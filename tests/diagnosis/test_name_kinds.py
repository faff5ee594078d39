"""The kind of a relevant shot is the first that one of its names is of."""

import pytest

from mediaeval_ap import AveragePrecision
from mediaeval_ap.diagnosis.loss import words

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

SHOT = ('x', 'v', '1')
REFERENCE = [
    (*SHOT, 'jean_martin'),
    (*SHOT, 'right_person'),
    ('x', 'v', '2', 'wrong_person'),
    (*SHOT, '?unknown?'),
]


def kind_of(names, queries=('jean_martin',), near=0.2):
    hypotheses = [(*SHOT, name, 0.5) for name in names] or [('x', 'v', '2', 'jean_martin', 0.5)]
    diagnosis = AveragePrecision(REFERENCE).explain(hypotheses, queries, near=near)
    return diagnosis.of('jean_martin').relevant[0].kind


@pytest.mark.parametrize(
    ('names', 'kind'),
    [
        ([], 'absent'),
        (['jean_martin'], 'own'),
        (['jean_martiin'], 'spelling'),
        (['wrong_person'], 'confused'),
        (['right_person'], 'copresent'),
        (['martin'], 'part_of_name'),
        (['Martin, the baker'], 'part_of_name'),
        (['martinet'], 'noise'),
        (['?unknown?'], 'noise'),  # stands for nobody, although it is right
        # the first kind of several names, whatever their order in the ranking
        (['wrong_person', 'jean_martin'], 'own'),
        (['wrong_person', 'jean_marti'], 'spelling'),
        (['martin', 'wrong_person', 'right_person'], 'confused'),
        (['noise', 'right_person', 'martin'], 'part_of_name'),
        (['right_person', 'noise'], 'noise'),
    ],
)
def test_kinds(names, kind):
    assert kind_of(names) == kind
    assert kind_of(names[::-1]) == kind


def test_a_query_is_a_person():
    assert kind_of(['someone']) == 'noise'
    assert kind_of(['someone'], ['jean_martin', 'someone']) == 'confused'
    assert kind_of(['?1?'], ['jean_martin', '?1?']) == 'noise'


def test_the_limit_is_within_reach():
    assert kind_of(['jean_marti'], near=0.09) == 'part_of_name'
    assert kind_of(['jean_marti'], near=1 / 11) == 'spelling'
    assert kind_of(['jean_marti'], near=0) == 'part_of_name'


@pytest.mark.parametrize(
    ('name', 'expected'),
    [
        ('jean-pierre_O’Neil 2', {'jean', 'pierre', 'o', 'neil', '2'}),
        ('STRASSE_straße', {'strasse'}),
        ('__', set()),
        ('élodie', {'élodie'}),
    ],
)
def test_words(name, expected):
    assert words(name) == expected
