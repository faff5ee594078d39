"""What the template shows, from values made by hand."""

from types import SimpleNamespace

import pytest

from mediaeval_ap.campaign.campaign_report import confused_of, marked_letters
from mediaeval_ap.comparison.comparison_page import boards_of
from mediaeval_ap.diagnosis.findings import ConfusedName, NearMiss


@pytest.mark.parametrize(
    ('query', 'name', 'pieces'),
    [
        ('ann', 'ann', [('same', 'ann')]),
        ('anna', 'anne', [('same', 'ann'), ('lacks', 'a'), ('has', 'e')]),
        ('bob_lee', 'bob_le', [('same', 'bob_le'), ('lacks', 'e')]),
        ('bob', 'bobby', [('same', 'bob'), ('has', 'by')]),
        ('ann', 'zoe', [('same', 'zoe')]),
    ],
)
def test_letters_that_differ(query, name, pieces):
    assert marked_letters(query, name) == pieces


def test_confused_names_of_all_runs_are_put_together():
    confused = ConfusedName('bob', 'ann', 2, 1.0, (), 0.5)
    near = NearMiss('anne', 'ann', 3, 9, 0.25, (), 0.5, 0.5)
    never = NearMiss('annn', 'ann', 0, 9, 0.25, (), 0.5, 0.5)
    diagnoses = {
        'one': SimpleNamespace(confused=[confused], near_misses=[near, never]),
        'other': SimpleNamespace(confused=[confused], near_misses=[]),
    }
    found = [(each['name'], each['kind'], each['counts']) for each in confused_of(diagnoses)]
    assert found == [
        ('bob', 'another person', {'one': 2, 'other': 2}),
        ('anne', 'another spelling', {'one': 3}),
    ]


def test_the_last_cutoff_comes_first_and_intervals_are_in_their_places():
    row = {'run': 'a', 'map': 0.5, 'floor': 0.0, 'interval': {'low': 0.25, 'high': 1.0}}
    unsure = {**row, 'interval': {'low': None, 'high': None}}
    comparison = {
        'metrics': ['MAP@1', 'MAP@5'],
        'leaderboard': [{**row, 'metric': 'MAP@1'}, {**unsure, 'metric': 'MAP@5'}],
        'pairs': [],
        'manifest': {'parameters': {'level': 0.95}},
    }
    last, first = boards_of(comparison)
    assert (last['metric'], first['metric']) == ('MAP@5', 'MAP@1')
    ((shown,), (without,)) = first['rows'], last['rows']
    assert shown['at'] == {'map': '50.0%', 'floor': '0.0%', 'low': '25.0%', 'high': '100.0%'}
    assert without['at']['low'] is None
