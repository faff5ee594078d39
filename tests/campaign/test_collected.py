"""Names of runs, short and never the same twice; names that were confused, of all runs."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from mediaeval_ap.campaign.campaign_report import confused_of, marked_letters
from mediaeval_ap.campaign.collected import name_runs
from mediaeval_ap.diagnosis.findings import ConfusedName, NearMiss
from mediaeval_ap.errors import ParameterError


@pytest.mark.parametrize(
    ('runs', 'names'),
    [
        (['a/x.txt', 'b/x.txt', 'b/y.txt'], ['a/x', 'b/x', 'y']),
        ([Path('a/x.txt'), [('x', 'v', '1', 'ann', 1)]], ['x', 'run 2']),
        (['a/run 2', [('x', 'v', '1', 'ann', 1)]], ['a/run 2', 'run 2']),
        ({'one': 'a/x.txt', 'other': 'a/x.txt'}, ['one', 'other']),
        (['a\u202eb.txt'], ['a\\u202eb']),
    ],
)
def test_names(runs, names):
    assert list(name_runs(runs)) == names
    assert list(name_runs(runs).values()) == list(runs.values() if isinstance(runs, dict) else runs)


@pytest.mark.parametrize(
    ('runs', 'message'),
    [
        ([], 'found none'),
        ({}, 'found none'),
        ('x.txt', "found 'x.txt', expected a list of runs"),
        (3, 'found 3, expected a list of runs'),
        (['a/x.txt', 'a/x.txt'], "found 'x' twice"),
        ({'': 'x.txt'}, "found the name '', expected non-empty text"),
        ({1: 'x.txt'}, 'found the name 1, expected non-empty text'),
    ],
)
def test_what_names_no_runs(runs, message):
    with pytest.raises(ParameterError, match=f'^runs: .*{message}'):
        name_runs(runs)


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
