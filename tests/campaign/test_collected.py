"""Names of runs: short where they can be, and never the same twice."""

from pathlib import Path

import pytest

from mediaeval_ap.campaign.collected import named
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
    assert list(named(runs)) == names
    assert list(named(runs).values()) == list(runs.values() if isinstance(runs, dict) else runs)


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
        named(runs)
